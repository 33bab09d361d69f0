//! The gallery of wrong scripts: each file in `tests/gallery` fails, and the message that its
//! author would see is kept beside it. `INSTA_UPDATE=always` accepts new messages: read them
//! first, they have to teach.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use teml::script::Session;

fn scripts(directory: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "rhai"))
        .collect();
    files.sort();
    files
}

fn message(path: &Path) -> String {
    let mut session = Session::new(Box::new(std::io::sink()), &[]).unwrap();
    match session.run_file(path) {
        Ok(()) => panic!("{} does not fail", path.display()),
        Err(error) => error.render(false),
    }
}

#[test]
fn wrong_scripts_get_messages_that_teach() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("gallery/messages");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let files = scripts("tests/gallery");
    assert!(files.len() >= 20, "only {} scripts", files.len());
    settings.bind(|| {
        for file in files {
            let name = file.file_stem().unwrap().to_str().unwrap();
            insta::assert_snapshot!(name, message(&file));
        }
    });
}
