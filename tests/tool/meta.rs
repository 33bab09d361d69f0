//! Scripts that rewrite expressions and nests. Each compares what it makes and throws if it differs.

use std::process::Command;

#[test]
fn scripts_of_rewrites_hold() {
    let table = std::fs::read_to_string("scripts/README.md").unwrap();
    let files = std::fs::read_dir("scripts/meta").unwrap();
    let files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= 5, "{files:?}");
    for file in files {
        let mut command = Command::new(env!("CARGO_BIN_EXE_teml"));
        let output = command.arg("run").arg(&file).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {error}", file.display());
        assert!(!output.stdout.is_empty(), "{}", file.display());
        let row = format!("`meta/{}`", file.file_name().unwrap().to_str().unwrap());
        assert!(table.contains(&row), "{row} is not in scripts/README.md");
    }
}
