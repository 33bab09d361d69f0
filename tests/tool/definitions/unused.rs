//! Unused results, and scripts that show nothing.

use crate::definitions::{dialog, teml};

const NEST: &str = "let A = tensor([30, 40]);
let C = eq(A, [i, j] -> [i, j]);
let c = build(C);
";

/// The statements that a script is warned about, after the nest `c` was built.
fn warned(script: &str) -> Vec<String> {
    let script = format!("{NEST}{script}\nprint(\"done\");");
    let (mut session, _) = dialog();
    if let Err(error) = session.run_text("test.rhai", &script) {
        panic!("{}", error.render(false));
    }
    let warnings = session.warnings(false);
    let marked = warnings.iter().map(|text| {
        let lines: Vec<&str> = text.lines().collect();
        let marks = lines.iter().position(|l| l.contains('^')).unwrap();
        let (first, last) = (lines[marks].find('^'), lines[marks].rfind('^'));
        lines[marks - 1][first.unwrap()..=last.unwrap()].to_owned()
    });
    marked.collect()
}

#[test]
fn results_that_are_dropped_are_told() {
    for (script, statements) in [
        ("c.parallelize(\"i\");", vec!["c.parallelize(\"i\")"]),
        (
            "c.parallelize(\"i\")\nlet d = c;",
            vec!["c.parallelize(\"i\")"],
        ),
        ("vectorize(c, \"j\");", vec!["vectorize(c, \"j\")"]),
        ("c;", vec!["c"]),
        (
            "@A: eq(C, [i, j] -> [i, j]);",
            vec!["@A: eq(C, [i, j] -> [i, j])"],
        ),
        ("eq(C, [i, j] -> [i, j]);", vec!["eq(C, [i, j] -> [i, j])"]),
        ("C + A;", vec!["C + A"]),
        (
            "[2, 4].map(|n| c.tile(n));",
            vec!["[2, 4].map(|n| c.tile(n))"],
        ),
        ("for n in [2, 4] { c.tile(n); }", vec!["c.tile(n)"]),
        ("for n in [2, 4] { c.tile(n) }", vec!["c.tile(n)"]),
        ("if true { c.tile(2) } else { c }", vec!["c.tile(2)"]),
        ("if true { c.tile(2); }", vec!["c.tile(2)"]),
        ("try { c.tile(2) } catch { }", vec!["c.tile(2)"]),
        (
            "fn f(l) { l.tile(2); l.tile(4); }\nlet d = f(c);",
            vec!["l.tile(2)"],
        ),
        (
            "let f = |l| { l.tile(2); l.tile(4) }; let d = f.call(c);",
            vec!["l.tile(2)"],
        ),
        ("check(c);", vec!["check(c)"]),
        ("c.moves();", vec!["c.moves()"]),
        ("path(c);", vec!["path(c)"]),
    ] {
        assert_eq!(warned(script), statements, "{script}");
    }
    for script in [
        "let d = c.tile(2);",
        "let d = c; d = d.tile(2); let n = 1; n += 2;",
        "let l = [c]; l.push(c); l.pop(); l += [c, c]; l.remove(0); l.shift();",
        "fn f(l) { l.tile(2) }\nlet d = f(c);",
        "fn f(l) { return l.tile(2); }\nlet d = f(c);",
        "fn f(l) { if true { l.tile(2) } else { l } }\nlet d = f(c);",
        "let d = if true { c.tile(2) } else { c };",
        "let d = [2].map(|n| c.tile(n));",
        "let d = c.chain([|l| l.tile(2)]);",
        "let d = switch 1 { 1 => c.tile(2), _ => c };",
        "init(A, 1.0); reductions(\"reassoc\"); codegen(c);",
        "print(c); 3; \"text\"; depth(c);",
    ] {
        assert_eq!(warned(script), Vec::<String>::new(), "{script}");
    }
}

#[test]
fn the_warning_says_what_to_write_and_the_script_goes_on() {
    let script = format!("{NEST}c.parallelize(\"i\");\nprint(c);");
    let (code, out, err) = teml(&["run"], &script);
    let expected = "warning: the nest that this makes is not used
  --> test.rhai:4:1
  |
4 | c.parallelize(\"i\");
  | ^^^^^^^^^^^^^^^^^^
  |
  = help: steps leave the nest as it is and return a new one: `c = c.parallelize(\"i\")`
";
    assert_eq!((code, err.as_str()), (0, expected));
    assert!(out.starts_with("f64 C[30][40]"), "{out}");
    // The warning also appears if the script fails.
    let (code, _, err) = teml(&["run"], &format!("{NEST}c.unroll(\"j\");\nnope;"));
    assert_eq!(code, 1);
    assert!(
        err.starts_with("warning: the nest") && err.contains("error: nothing is named"),
        "{err}"
    );
}

#[test]
fn the_value_of_a_script_is_dropped_with_it() {
    for last in ["c.tile(2)", "c.tile(2);", "if true { c.tile(2) }"] {
        let (code, _, err) = teml(&["run"], &format!("{NEST}print(\"\");\n{last}"));
        assert_eq!(code, 0);
        assert!(
            err.starts_with("warning: the nest that this makes"),
            "{last}: {err}"
        );
    }
}

#[test]
fn a_script_that_shows_nothing_says_so() {
    let silent =
        "warning: this script has no effect: it prints, compares, runs and saves nothing\n";
    let (code, out, err) = teml(&["run"], &format!("{NEST}let plan = c.tile(2);"));
    assert_eq!((code, out.as_str()), (0, ""));
    assert!(err.starts_with(silent), "{err}");
    let (code, _, err) = teml(&["run"], "");
    assert!(code == 0 && err.starts_with(silent), "{err}");
    for shows in [
        "print(c);",
        "debug(1);",
        "let r = run(c);",
        "save(codegen(c), \"c.c\");",
    ] {
        let (code, _, err) = teml(&["run"], &format!("{NEST}{shows}"));
        assert_eq!((code, err.as_str()), (0, ""), "{shows}");
    }
    let codegen = format!("{NEST}codegen(c);");
    let (_, _, err) = teml(&["run"], &codegen);
    assert!(err.starts_with(silent), "{err}");
    assert!(err.contains("`codegen` made the C function `c`"), "{err}");
    assert!(
        err.contains("`teml emit` prints the C of a script"),
        "{err}"
    );
    assert_eq!(teml(&["emit"], &codegen).2, "");
    assert_eq!(teml(&["check"], &codegen).2, "");
    // After an error, there is no such warning.
    let (_, _, err) = teml(&["run"], "nope");
    assert!(!err.contains("warning"), "{err}");
}

#[test]
fn a_dialog_shows_values_and_warns_of_none() {
    let (mut session, _) = dialog();
    session.eval_line(NEST).unwrap();
    let shown = session
        .eval_line("c.unroll(\"j\"); c.parallelize(\"i\")")
        .unwrap();
    assert!(shown.unwrap().contains("parallel for i"));
    assert!(session.warnings(false).is_empty());
}
