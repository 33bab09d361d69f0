//! Tests of the candidates that completion offers.

use super::*;
use crate::script::Session;
use crate::verbs::Workbench;

fn repl() -> Repl {
    let session = Session::new(Box::new(std::io::sink()), Workbench::default()).unwrap();
    let mut repl = Repl::new(session);
    for line in [
        "let A = tensor([8, 8]); let B = tensor([8, 8]); let C = einsum(\"ik,kj->ij\", A, B);",
        "let naive = build(C); let options = #{width: 4, height: 2};",
        "fn twice(x) { x }",
    ] {
        repl.handle_line(line);
    }
    repl
}

fn texts(repl: &mut Repl, text: &str) -> Vec<String> {
    let found = repl.completion(text, true).candidates.into_iter();
    found.map(|c| c.text).collect()
}

#[test]
fn the_type_before_the_dot_counts() {
    let mut repl = repl();
    let has = |found: &[String], name: &str| found.iter().any(|f| f == name);
    let nest = texts(&mut repl, "let x = naive.");
    assert!(has(&nest, "interchange") && has(&nest, "tile") && has(&nest, "check"));
    assert!(has(&nest, "twice") && !has(&nest, "vadd") && !has(&nest, "einsum"));
    let tensor = texts(&mut repl, "A.");
    assert!(has(&tensor, "vat") && has(&tensor, "transpose") && !has(&tensor, "interchange"));
    let chained = texts(&mut repl, "naive.tile(4).inter");
    assert_eq!(chained, ["interchange", "interchange_n"]);
    assert_eq!(texts(&mut repl, "build(C).inter"), chained);
    assert_eq!(texts(&mut repl, "options."), ["height", "width"]);
    assert_eq!(texts(&mut repl, "0.."), [] as [&str; 0]);
    assert_eq!(
        texts(&mut repl, "schedules::ge"),
        ["schedules::gemm", "schedules::gemm_at"]
    );
}

#[test]
fn trees_have_fields() {
    let mut repl = repl();
    repl.handle_line("let t = tree(naive);");
    assert_eq!(texts(&mut repl, "t."), ["body", "kind", "of"]);
    assert_eq!(texts(&mut repl, "t.body[1].mo"), ["mode"]);
    let fields = texts(&mut repl, "C.value.op");
    assert!(fields.contains(&"op".to_owned()) && fields.contains(&"operands".to_owned()));
    let chained = texts(&mut repl, "C.value.operands[0].el");
    assert!(chained.contains(&"elem".to_owned()), "{chained:?}");
    assert!(texts(&mut repl, "naive.bo").contains(&"body".to_owned()));
}

#[test]
fn loops_and_words_in_strings() {
    let mut repl = repl();
    assert_eq!(texts(&mut repl, "naive.interchange(\""), ["i", "j", "k"]);
    assert_eq!(texts(&mut repl, "interchange(naive, \"i\", \"k"), ["k"]);
    let tiled = "naive.stripmine(\"i\", 4).interchange(\"i_";
    assert_eq!(texts(&mut repl, tiled), ["i_i", "i_o"]);
    let words = texts(&mut repl, "naive.stripmine(\"i\", 4, \"");
    assert!(words.contains(&"guard".to_owned()), "{words:?}");
    let options = texts(&mut repl, "naive.parallelize(\"i\", #{");
    assert!(options.contains(&"schedule".to_owned()), "{options:?}");
    let schedules = texts(&mut repl, "naive.parallelize(\"i\", #{schedule: \"d");
    assert_eq!(schedules, ["dynamic"]);
    assert_eq!(texts(&mut repl, "find_loops(naive, \"inn"), ["innermost"]);
    assert_eq!(texts(&mut repl, "path(naive, #{"), ["unfold"]);
    assert_eq!(texts(&mut repl, "build(C).path().rep"), ["replay"]);
}

#[test]
fn handles_are_loops() {
    let mut repl = repl();
    repl.handle_line("let tiled = naive.stripmine(\"j\", 4); let parts = tiled.made();");
    repl.handle_line("let blocks = parts.outer; let other = naive.stripmine(\"i\", 4).made();");
    assert_eq!(texts(&mut repl, "parts."), ["inner", "outer"]);
    assert!(texts(&mut repl, "tiled.made().ou").contains(&"outer".to_owned()));
    assert_eq!(texts(&mut repl, "blocks."), ["iter", "name"]);
    // Those of other nests are not offered.
    assert_eq!(
        texts(&mut repl, "tiled.parallelize("),
        [
            "\"i\"",
            "\"j_i\"",
            "\"j_o\"",
            "\"k\"",
            "blocks",
            "parts.inner",
            "parts.outer"
        ]
    );
    assert_eq!(texts(&mut repl, "tiled.interchange(\"i\", bl"), ["blocks"]);
    // One of the functions of this name takes loops.
    assert_eq!(texts(&mut repl, "tiled.tile([parts.i"), ["inner"]);
    assert!(texts(&mut repl, "tiled.tile([").contains(&"parts.outer".to_owned()));
    assert_eq!(texts(&mut repl, "naive.stripmine(\"i\", "), [] as [&str; 0]);
}

#[test]
fn commands_and_their_arguments() {
    let mut repl = repl();
    assert_eq!(texts(&mut repl, ":comp"), ["compare"]);
    assert_eq!(texts(&mut repl, ":c na"), ["naive"]);
    assert_eq!(texts(&mut repl, ":asm "), ["i", "j", "k", "naive"]);
    assert_eq!(texts(&mut repl, ":kernels mt"), ["mttkrp"]);
    assert_eq!(texts(&mut repl, ":branch m"), ["main"]);
    assert_eq!(texts(&mut repl, ":load Cargo.t"), ["Cargo.toml"]);
    assert_eq!(texts(&mut repl, "?unroll_"), ["unroll_and_jam"]);
    assert!(texts(&mut repl, "import \"std/str").contains(&"std/strategies".to_owned()));
}

#[test]
fn hints_are_what_remains_and_the_signature() {
    let mut repl = repl();
    let hint = repl.hint("naive.unroll_").unwrap();
    assert_eq!(hint.0, "and_jam");
    assert!(hint.1.contains("unroll_and_jam(nest"), "{hint:?}");
    let hint = repl.hint("naive.interchange(\"i\", ").unwrap();
    assert_eq!(
        (hint.0.as_str(), hint.1.contains("interchange(nest")),
        ("", true)
    );
    assert_eq!(repl.hint("let x = 4"), None);
}
