//! Tests of the REPL without a terminal.

use super::*;
use crate::verbs::Workbench;

fn repl() -> Repl {
    Repl::new(Session::new(Box::new(std::io::sink()), Workbench::default()).unwrap())
}

fn text(repl: &mut Repl, line: &str) -> String {
    match repl.handle_line(line) {
        Outcome::Text(text) => text,
        Outcome::Nothing => String::new(),
        Outcome::Failed(error) => panic!("{line}: {}", error.render(false)),
        Outcome::Leave => "leave".to_owned(),
    }
}

fn failure(repl: &mut Repl, line: &str) -> String {
    match repl.handle_line(line) {
        Outcome::Failed(error) => error.render(false),
        other => panic!("{line}: {other:?}"),
    }
}

/// A file of this process alone.
fn place(name: &str) -> String {
    let name = format!("teml-repl-{}-{name}", std::process::id());
    std::env::temp_dir().join(name).display().to_string()
}

#[test]
fn definitions_persist() {
    let mut repl = repl();
    for (line, shown) in [
        ("n = 40", ""),
        ("let f = |x| x + n", ""),
        ("f.call(2)", "=> 42"),
        ("fn g(x) { x * 2 }", ""),
        ("g(n)", "=> 80"),
        ("fn g(x) { x * 3 }", ""),
        ("g(n)", "=> 120"),
        ("n = 50; g(n)", "=> 150"),
        ("f.call(2)", "=> 52"),
        ("import \"std/strategies\" as s", ""),
        ("s::chain(1, [|x| g(x)])", "=> 3"),
        ("fn h(x) { s::chain(x, [|y| y + 1]) }", ""),
        ("h(1)", "=> 2"),
        ("\"a\\\"b\"", "=> \"a\\\"b\""),
        ("[1, \"x\", [i, 2.0]]", "=> [1, \"x\", [i, 2.0]]"),
        ("let A = tensor([4]);", ""),
        ("A", "f64 A[4]"),
        ("fn eq_of(t) { let B = eq(t, [i] -> [i]); B }", ""),
        (
            "build(eq_of(A))",
            "f64 B[4], A[4]\nfor i in 0..4\n  B[i] = A[i]",
        ),
    ] {
        assert_eq!(text(&mut repl, line), shown, "{line}");
    }
    assert!(text(&mut repl, ":vars").contains("n = 50"));
}

#[test]
fn a_failed_line_changes_nothing() {
    let mut repl = repl();
    text(&mut repl, "let n = 1; let f = || n; let list = [1, 2];");
    for line in [
        "n = 2; list.push(3); let count = 4; fn bad() { 1 } nope",
        "n = 2; list[0] = 7; throw 1",
        "let n = ;",
        "import \"nowhere\" as x; n = 5",
    ] {
        failure(&mut repl, line);
        assert_eq!(text(&mut repl, "n"), "=> 1", "{line}");
        assert_eq!(text(&mut repl, "f.call()"), "=> 1", "{line}");
        assert_eq!(text(&mut repl, "list"), "=> [1, 2]", "{line}");
        assert!(failure(&mut repl, "count").contains("nothing is named `count`"));
        let shown = failure(&mut repl, "bad()");
        assert!(shown.contains("no function `bad`"), "{shown}");
    }
}

#[test]
fn errors_point_into_the_line_that_holds_them() {
    let mut repl = repl();
    text(&mut repl, "import \"std/strategies\" as s");
    text(&mut repl, "fn f(x) {\n    x.nope()\n}");
    let shown = failure(&mut repl, "let y = 1; f(y)");
    assert!(shown.contains("<line 2>:2:7"), "{shown}");
    assert!(shown.contains("<line 3>:1:12"), "{shown}");
}

#[test]
fn values_are_shown_in_words() {
    let mut repl = repl();
    text(
        &mut repl,
        "let A = tensor([3, 4]); let B = eq(A, [i, j] -> [i, j]);",
    );
    text(&mut repl, "let p = build(B).interchange(1, 2);");
    for (line, shown) in [
        (
            "[check(p), p.path(), random(3)]",
            "=> [legal, a path of 2 steps, random numbers with the seed 3]",
        ),
        ("random(3)", "random numbers with the seed 3"),
        ("#{a: codegen(p)}", "=> #{a: code p}"),
    ] {
        assert_eq!(text(&mut repl, line), shown);
    }
    assert!(text(&mut repl, "p.path()").ends_with("    .interchange(1, 2)"));
    assert!(text(&mut repl, "check(p)").starts_with("legal"));
    let wrong = failure(&mut repl, "build(check(p))");
    assert!(wrong.contains("what `check` says"), "{wrong}");
}

#[test]
fn what_is_legal_next() {
    let mut repl = repl();
    text(&mut repl, "let A = tensor([4, 5]); let B = tensor([4])");
    text(&mut repl, "let B = eq(vsum(vat(A, [i, j]), [j]), [i])");
    text(&mut repl, "let l = build(B)");
    let table = text(&mut repl, ":moves");
    assert_eq!(text(&mut repl, ":moves l"), table);
    // The table of the script, with the predictions of the cost model.
    assert!(
        table.contains("interchange") && table.contains("x |"),
        "{table}"
    );
    assert!(table.contains("the cost model expects"), "{table}");
    let listed = text(&mut repl, "moves(l)");
    let expected = "\
| loop | parallelize | vectorize | interchange | tile | reverse | unroll_and_jam |
|------|-------------|-----------|-------------|------|---------|----------------|
| i    | yes         | yes       | j           | i, j | yes     | yes            |
| · j  |             |           | i           |      |         |                |";
    assert_eq!(listed, expected);
    let one = text(&mut repl, ":moves l, \"j\"");
    assert!(one.contains("| · j") && !one.contains("\n| i "), "{one}");
    assert!(failure(&mut repl, ":moves l, \"k\"").contains("`k`"));
    assert!(failure(&mut repl, ":moves A").contains("must be a nest"));
    assert!(failure(&mut repl, ":movesl").contains("not a command"));
}

/// A table of all loops of a long nest would be unreadable: inner loops are only counted.
#[test]
fn what_is_legal_next_in_a_long_nest() {
    let mut repl = repl();
    let loops =
        |k: usize| format!("for i{k} in 0..4\n  for j{k} in 0..4\n    A[i{k}][j{k}] = {k}\n");
    let nest = |count: usize| format!("f64 A[4][4]\n{}", (0..count).map(loops).collect::<String>());
    text(&mut repl, &format!("let l = nest({:?})", nest(25)));
    let table = text(&mut repl, ":moves");
    assert!(table.contains("· … 1 loop"), "{table}");
    assert!(
        table.contains("25 loops further inside are left out"),
        "{table}"
    );
    text(&mut repl, &format!("let l = nest({:?})", nest(24)));
    let table = text(&mut repl, ":moves");
    assert!(
        table.contains("· j23") && !table.contains("left out"),
        "{table}"
    );
}

#[test]
fn commands() {
    let mut repl = repl();
    let help = text(&mut repl, ":help");
    for part in [":moves [NEST", "schedules", "Tab completes"] {
        assert!(help.contains(part), "{help}");
    }
    assert!(text(&mut repl, ":help transformations").contains("interchange(nest"));
    assert!(text(&mut repl, ":help exploring").contains(":branches"));
    assert!(text(&mut repl, ":help undo").starts_with("undo(nest"));
    assert!(text(&mut repl, ":help :undo").starts_with(":undo [LINES]"));
    assert!(text(&mut repl, ":help interchange").starts_with("interchange(nest"));
    let scheduled = text(&mut repl, ":help schedules::gemm");
    assert!(scheduled.starts_with("schedules::gemm(nest"), "{scheduled}");
    assert_eq!(text(&mut repl, ":help gemm"), scheduled);
    for unknown in ["nothing", "schedules::einsum", "std_roles"] {
        assert!(failure(&mut repl, &format!(":help {unknown}")).contains("no help"));
    }
    let near = failure(&mut repl, ":help interchnge");
    assert!(near.contains("did you mean `interchange`?"), "{near}");
    assert!(failure(&mut repl, ":mvoes").contains("did you mean `:moves`?"));
    assert!(failure(&mut repl, ":re").contains("`:redo`, `:reset`"));
    assert!(failure(&mut repl, ":x").contains("not a command"));
    assert_eq!(text(&mut repl, ":vars"), "no variables yet");
    assert!(failure(&mut repl, ":moves").contains("no variable holds a nest"));
    assert!(text(&mut repl, ":search diagonal").contains("trace(t)"));
    assert!(failure(&mut repl, ":search qwertz").contains("no help has the word"));
    assert_eq!(text(&mut repl, ":quit"), "leave");
    assert!(repl.has_failed());
}

#[test]
fn words_lead_somewhere() {
    for line in ["quit", "exit", "exit()", ":q"] {
        assert_eq!(text(&mut repl(), line), "leave", "{line}");
    }
    let mut repl = repl();
    for line in [
        "?tile",
        "help(tile)",
        "help tile",
        ":help tile",
        "help(\"tile\")",
    ] {
        assert!(text(&mut repl, line).starts_with("tile(nest"), "{line}");
    }
    assert!(text(&mut repl, "help").contains(":help TOPIC"));
    assert!(text(&mut repl, "ls").contains("`ls`, so it is an iterator"));
    text(&mut repl, "let quit = 1; let ls = 2;");
    assert_eq!(text(&mut repl, "quit"), "=> 1");
    assert_eq!(text(&mut repl, "ls"), "=> 2");
    let wrong = failure(&mut repl, "tenor([3])");
    assert!(wrong.contains("tensor"), "{wrong}");
}

#[test]
fn concepts_have_pages_and_shared_help_has_one_line() {
    let mut repl = repl();
    let concepts = text(&mut repl, ":help concepts");
    for word in ["broadcasting", "iterators and ranges", "time steps"] {
        assert!(concepts.contains(word), "{concepts}");
        let page = text(&mut repl, &format!(":help {word}"));
        assert!(page.contains(word) && page.contains("    let "), "{page}");
    }
    assert!(text(&mut repl, ":help ranges").contains("    let T = eq("));
    let tensors = text(&mut repl, ":help tensors");
    assert!(
        tensors.contains("`:help tensors and expressions`"),
        "{tensors}"
    );
    let expressions = text(&mut repl, ":help expressions");
    assert_eq!(
        expressions
            .matches("combine two tensor expressions")
            .count(),
        1
    );
    assert!(!expressions.contains("vmul(left"), "{expressions}");
    assert!(text(&mut repl, ":search NumPy").contains(":help broadcasting"));
}

const MATMUL: &str = "let A = tensor([8, 8]); let B = tensor([8, 8]); \
    let C = einsum(\"ik,kj->ij\", A, B); let naive = build(C)";

#[test]
fn each_step_has_a_line() {
    let mut repl = repl();
    let mut told_of = |line: &str| {
        let told = text(&mut repl, line);
        let (told, expected) = told.split_once("; predicted ").unwrap();
        assert!(expected.contains('s'), "{expected}");
        told.to_owned()
    };
    assert_eq!(told_of(MATMUL), "naive: legal; loops i, j, k");
    let plan = "let plan = naive.interchange(\"j\", \"k\").vectorize(\"j\");";
    let told = "plan: legal; 2 steps after naive; loops i, k, j (vector)";
    assert_eq!(told_of(plan), told);
    let told = "tiled: legal; 1 step after naive; loops i_o, j_o, k_o, i_i, j_i, k_i";
    assert_eq!(told_of("let tiled = naive.tile(4);"), told);
    let wrong = text(&mut repl, "let wrong = naive.parallelize(\"k\");");
    let told = "wrong: illegal, loop `k` cannot be parallelized";
    assert!(wrong.starts_with(told), "{wrong}");
    let shown = text(&mut repl, ":check");
    assert!(shown.contains("at i = 0, j = 0, k = 0"), "{shown}");
    assert_eq!(text(&mut repl, ":check plan"), "legal");
}

#[test]
fn a_dot_continues_the_last_line() {
    let mut repl = repl();
    text(&mut repl, MATMUL);
    text(&mut repl, "let plan = naive;");
    text(&mut repl, ".interchange(\"j\", \"k\")");
    text(&mut repl, "    .vectorize(\"j\");");
    assert!(text(&mut repl, "plan").contains("vector for j"));
    text(&mut repl, "let other = plan");
    assert!(failure(&mut repl, ".nope()").contains("nope"));
    assert!(text(&mut repl, "other").contains("vector for j"));
    assert!(text(&mut repl, ".depth()").contains("=> 3"));
    // All of it is one line.
    text(&mut repl, ":undo 2");
    assert!(failure(&mut repl, "plan").contains("nothing is named `plan`"));
    let alone = failure(&mut repl, ".depth()");
    assert!(
        alone.contains("no line that this one could continue"),
        "{alone}"
    );
}

#[test]
fn undo_redo_and_branches() {
    let mut repl = repl();
    text(&mut repl, MATMUL);
    text(&mut repl, "let list = [1]; let f = || list;");
    text(&mut repl, "list.push(2);");
    assert_eq!(text(&mut repl, "f.call()"), "=> [1, 2]");
    // A line that only shows something is not undone.
    assert_eq!(text(&mut repl, ":undo"), "undone: list.push(2);");
    assert_eq!(text(&mut repl, "f.call()"), "=> [1]");
    assert_eq!(text(&mut repl, ":redo"), "redone: list.push(2);");
    assert_eq!(text(&mut repl, "list"), "=> [1, 2]");
    assert!(failure(&mut repl, ":redo").contains("nothing to redo"));
    // A call of the library is one line.
    text(&mut repl, "let plan = naive.tile(4);");
    text(&mut repl, "plan = plan.vectorize(\"j_i\");");
    text(&mut repl, ":undo");
    assert_eq!(text(&mut repl, "plan.path().len()"), "=> 2");
    text(&mut repl, ":undo");
    assert!(failure(&mut repl, "plan").contains("nothing is named `plan`"));
    assert!(text(&mut repl, "naive").contains("for i in 0..8"));
    // Branches go their own ways.
    assert_eq!(text(&mut repl, ":branch wide"), "branch wide begins here");
    text(&mut repl, "let plan = naive.vectorize(\"j\");");
    assert_eq!(text(&mut repl, ":branch main"), "now on branch main");
    assert!(failure(&mut repl, "plan").contains("nothing is named `plan`"));
    let branches = "* main  3 lines, naive, not timed\n  wide  4 lines, plan, not timed";
    assert_eq!(text(&mut repl, ":branches"), branches);
    assert!(failure(&mut repl, ":undo 9").contains("only 3 lines"));
    text(&mut repl, ":reset");
    assert!(failure(&mut repl, "naive").contains("nothing is named `naive`"));
    text(&mut repl, ":undo");
    assert!(text(&mut repl, "naive").contains("for i in 0..8"));
}

#[test]
fn saved_lines_lead_to_the_same_state() {
    let file = place("saved.rhai");
    let mut repl = repl();
    for line in [
        MATMUL,
        "fn twice(x) { 2 * x }",
        "let factor = twice(2) // four",
        "let plan = naive",
        ".tile(factor)",
        "import \"std/strategies\" as s",
        "plan",
        "factor + 1",
        "let abandoned = 1",
        ":undo",
        "plan = s::chain(plan, [|n| n.vectorize(\"j_i\")])",
    ] {
        text(&mut repl, line);
    }
    failure(&mut repl, "let nothing = nope()");
    let plan = text(&mut repl, "plan");
    let saved = text(&mut repl, &format!(":save {file}"));
    assert!(saved.starts_with("6 lines saved"), "{saved}");
    let saved = std::fs::read_to_string(&file).unwrap();
    for left_out in ["nope", "abandoned", "factor + 1"] {
        assert!(!saved.contains(left_out), "{saved}");
    }
    let mut other = self::repl();
    text(&mut other, &format!(":load {file}"));
    assert_eq!(text(&mut other, "plan"), plan);
    assert_eq!(text(&mut other, "twice(4)"), "=> 8");
    assert_eq!(text(&mut other, "s::chain(1, [|x| twice(x)])"), "=> 2");
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn nests_are_seen_from_all_sides() {
    let mut repl = repl();
    text(&mut repl, MATMUL);
    text(
        &mut repl,
        "let plan = naive.interchange(\"j\", \"k\").vectorize(\"j\");",
    );
    let shown = text(&mut repl, ":show");
    insta::assert_snapshot!(shown, @r"
    f64 C[8][8], A[8][8], B[8][8]
    fill C[0..8][0..8] = 0
    for i in 0..8
      for k in 0..8
        vector for j in 0..8
          C[i][j] += A[i][k] * B[k][j]

    loop   iterations  operations  touches
    i               8       1.0 k  1.5 KiB
      k             8         128    640 B
        j           8          16    136 B
    Operations and bytes are those of all iterations of a loop, each time that it runs.
    ");
    assert!(text(&mut repl, ":c").contains("void plan("));
    let path = text(&mut repl, ":path");
    assert!(path.ends_with("    .vectorize(\"j\")"), "{path}");
    let diff = text(&mut repl, ":diff naive, plan");
    assert!(diff.contains('+') && diff.contains("vectorize"), "{diff}");
    for kind in ["svg", "html"] {
        let file = place(&format!("plan.{kind}"));
        text(&mut repl, &format!(":{kind} {file}"));
        let drawn = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        let xml = drawn.trim_start_matches("<!DOCTYPE html>");
        roxmltree::Document::parse(xml.trim()).unwrap();
    }
    assert!(failure(&mut repl, ":asm z").contains("there are i, k, j"));
    text(&mut repl, "let wrong = naive.parallelize(\"k\")");
    assert!(failure(&mut repl, ":c").contains("`wrong` has no code"));
}

#[test]
fn kernels_are_loaded_without_being_timed() {
    let mut repl = repl();
    let list = text(&mut repl, ":kernels");
    assert!(
        list.contains("mttkrp") && list.contains("jacobi-2d"),
        "{list}"
    );
    let loaded = text(&mut repl, ":kernels mm");
    assert!(loaded.contains("legal"), "{loaded}");
    assert!(text(&mut repl, ":path").contains("schedules::"));
    assert!(failure(&mut repl, ":kernels mmt").contains("did you mean"));
}

#[test]
fn narrow_windows() {
    let mut repl = repl();
    repl.look(40, false);
    text(&mut repl, MATMUL);
    for command in [
        ":help",
        ":help transformations",
        ":moves",
        "?interchange",
        ":kernels",
        ":tutorial",
    ] {
        let shown = text(&mut repl, command);
        let is_code = |l: &&str| l.starts_with("    ") || l.contains('(') || l.contains('|');
        for line in shown.lines().filter(|l| !is_code(l)) {
            assert!(line.chars().count() <= 40, "{command}: {line}");
        }
    }
}
