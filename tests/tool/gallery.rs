//! The gallery of wrong scripts: each file in `tests/gallery` fails, and the message that its
//! author would see is kept beside it. `INSTA_UPDATE=always` accepts new messages: read them
//! first, they have to teach.

use crate::folder::scripts;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use teml::script::Session;
use teml::verbs::Workbench;

fn message(path: &Path) -> String {
    let mut session = Session::new(Box::new(std::io::sink()), Workbench::default()).unwrap();
    match session.run_file(path) {
        Ok(()) => panic!("{} does not fail", path.display()),
        Err(error) => error.render(false),
    }
}

/// Runs a task that waits for scripts. Scripts have their own threads, and their parallel work
/// needs the global thread pool, so the waiting task must use another pool.
fn beside<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new()
        .build()
        .unwrap()
        .install(run)
}

#[test]
fn wrong_scripts_get_messages_that_teach() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("gallery/messages");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let files = scripts("tests/tool/gallery");
    assert!(files.len() >= 20, "only {} scripts", files.len());
    let messages: Vec<String> = beside(|| files.par_iter().map(|file| message(file)).collect());
    settings.bind(|| {
        for (file, message) in files.iter().zip(messages) {
            let name = file.file_stem().unwrap().to_str().unwrap();
            insta::assert_snapshot!(name, message);
        }
    });
}

/// Scripts with missing or doubled parts get a message about the script.
#[test]
fn damaged_scripts_are_no_internal_errors() {
    let files = scripts("tests/tool/gallery");
    let damage = |(k, file): (usize, &PathBuf)| {
        let mut seed = k as u64;
        let mut random = |below: usize| {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 33) as usize % below.max(1)
        };
        let text: Vec<char> = std::fs::read_to_string(file).unwrap().chars().collect();
        for _ in 0..6 {
            let mut damaged = text.clone();
            for _ in 0..=random(3) {
                let at = random(damaged.len());
                match random(3) {
                    0 => drop(damaged.remove(at)),
                    1 => damaged.insert(at, ['(', ']', '{', '"', '`', '=', '-', 'é'][random(8)]),
                    _ => damaged.truncate(at),
                }
                damaged.push(' ');
            }
            let damaged: String = damaged.into_iter().collect();
            let mut session =
                Session::new(Box::new(std::io::sink()), Workbench::default()).unwrap();
            if let Err(error) = session.run_text("damaged.rhai", &damaged) {
                let shown = error.render(false);
                assert!(!shown.contains("internal error"), "{damaged}\n{shown}");
                assert!(!shown.contains("teml_"), "{damaged}\n{shown}");
                let has_place = !error.diagnostic.labels.is_empty();
                assert!(has_place, "{damaged}\n{shown}");
            }
        }
    };
    beside(|| files.par_iter().enumerate().for_each(damage));
}
