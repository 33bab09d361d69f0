//! The fastest of the baseline's variants, by measured times.

use std::process::Command;

#[test]
fn all_options_are_tried_and_the_fastest_is_named_after_its_own() {
    let script = r#"
        let A = tensor([12, 13]);
        let B = tensor([13, 14]);
        let C = contract(A, B, [2, 1]);
        let T = eq(C, [i, j] -> [j, i]);
        let nests = [build(C), build(T)];
        let best = pluto_best(nests, #{fuse: ["smartfuse", "nofuse"], tile: [true, false]});
        print(check(best).message);
        let rows = compare([nests, best]);
        print(rows[1].name);
        try { pluto_best(nests, #{tiles: [true]}); } catch (e) { print(e.message); }"#;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("best.rhai");
    std::fs::write(&file, script).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_teml"))
        .arg("run")
        .arg(&file)
        .env("TEML_CACHE_DIR", directory.path())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "legal", "{text}");
    let named = |line: &&&str| line.starts_with("pluto_") && line.contains("fuse_");
    assert!(lines.iter().any(|line| named(&line)), "{text}");
    let last = lines.last().unwrap();
    assert!(last.contains("there is no option `tiles`"), "{text}");
}
