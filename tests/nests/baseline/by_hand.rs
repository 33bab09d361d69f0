//! C written by hand from Pluto's transformations computes the same as the loops of the
//! definitions. `benches/by_hand.sh` times it beside the baseline's C.

use std::path::PathBuf;
use std::process::Command;

#[test]
fn c_by_hand_computes_the_same() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/nests/baseline/by_hand");
    let directory = tempfile::tempdir().unwrap();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "c") {
            continue;
        }
        count += 1;
        let program = directory.path().join(path.file_stem().unwrap());
        let mut compiler = Command::new("cc");
        compiler.args([
            "-O1",
            "-fopenmp",
            "-Wall",
            "-Werror",
            "-Wno-unknown-pragmas",
        ]);
        let compiled = compiler
            .arg(&path)
            .arg("-o")
            .arg(&program)
            .arg("-lm")
            .output();
        let compiled = compiled.unwrap();
        let error = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{}: {error}", path.display());
        let run = Command::new(&program).output().unwrap();
        let text = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success(), "{}: {text}", path.display());
    }
    assert!(count >= 10, "{count}");
}
