//! Paths as values: printed, fed back, replayed, undone, compared.

use teml::script::Session;
use teml::verbs::Workbench;

/// A session that has run `script`, whose output is lost.
fn session(script: &str) -> Session {
    let mut session = Session::new(Box::new(std::io::sink()), Workbench::default())
        .unwrap_or_else(|e| panic!("{}", e.render(false)));
    if !script.is_empty() {
        value(&mut session, script);
    }
    session
}

/// The REPL's output for `line`.
fn value(session: &mut Session, line: &str) -> String {
    match session.eval_line(line) {
        Ok(shown) => shown.unwrap_or_default(),
        Err(error) => panic!("{}", error.render(false)),
    }
}

fn refusal(session: &mut Session, line: &str) -> String {
    match session.eval_line(line) {
        Ok(shown) => panic!("{line} gives {shown:?}"),
        Err(error) => error.render(false),
    }
}

/// The value of a string, without the REPL's quotes.
fn text(session: &mut Session, line: &str) -> String {
    let shown = value(session, &format!("out = {line}; out"));
    let json = shown.trim_start_matches("=> ");
    serde_json::from_str(json).unwrap_or_else(|_| panic!("{shown}"))
}

const PROGRAM: &str = r#"
let n = 10;
let B = tensor([n, n, n]);
let C = tensor([n, n]);
let D = tensor([n, n]);
let BD = vmul(B, D, [[i, k, l], [l, j]]);
let A = eq(vsum(vmul(BD, C, [(), [k, j]]), [k, l]), [i, j]);
let plan = build(A).interchange("j", "k").interchange("j", "l").stripmine("i", 4).parallelize("i_o").vectorize("j");
let Dt = transpose(D, [[1, 2]]);
let copy = build(Dt).stripmine(1, 3).unroll(1);
let q = scalar("i32");
let v = tensor([7], "i32");
let w = tensor([7], "i32");
w = mul(v, q, [[i], ] -> [i]);
w = add(w, v, [[i], [i]] -> [i]);
let scaled = build(w);
let s = scalar();
let e = tensor([9]);
s = add(s, vmul(e, e, [[i], [i]]), [(), ()] -> []);
let dot = build(s);
let b = tensor([12]);
let f = tensor([12]);
f = vadd_of(b);
fn vadd_of(b) { add(b, b, [[x - 1], [x + 1]] -> [x]) }
let stencil = build(f).stripmine(1, 4);
let P = contract(C, D, [2, 1]);
let product = build(P);
let one = eq(C, [i, j] -> [i, j]);
let two = eq(one, [i, j] -> [i, j]);
let both = fuse_outer(build(one).stripmine(1, 4), build(two).stripmine(1, 4), 2).fuse_inner(3).interchange(2, 3);
let inner = build(A).stripmine("i", 4).at("j", |sub| sub.interchange(1, 2).at(2, |deep| deep.stripmine(1, 3).unroll(1)));
let moved = build(A).reorder(["k", 1]).reverse("l").place_init(0, A).stripmine("i", 4, "cut").skew("j", "k", 1).unroll("l", 3);
let g = tensor([5, 6], "f32");
let act = eq(vmean(vselect(g, "<", -0.0, vmul(vexp(g, [i, j]), 0.1), vmaximum(g, 1.0e30, [[i, j], ]), [[i, j]]), [j]), [i]);
let activation = build(act).stripmine("j", 4);
let top = eq(vmax(vneg(vabs(D, [i, j])), [j]), [i]);
let greatest = build(top).interchange(1, 2);
let low = tensor([10]);
low = minimum(low, vpow(D, 2, [[i, j], ]), [[i], ()] -> [i]);
let lowest = build(low).stripmine("i", 3);
let buffered = build(A).pack(0, D, [2, 1]).pack("k", "D_pack").stage("i", A).parallelize("i");
let local = fuse_outer(build(one), build(two), 2).localize(one).stage("i", two);
let T = eq(vsum(vmul(B, D, [[i, k, l], [l, j]]), [k, l]), [i, j]);
let U = add(T, T, [[i - 1, j], [i + 1, j]] -> [i, j]);
let parts = build(T).stripmine("k", 4).rfactor("k_i").vectorize("k_i");
let placed = build(T).interchange(1, 2).compute_at(build(U).stripmine("i", 3), "i_o").unroll("k", 5);
let V = eq(vneg(C, [i, j]), [i, j]);
let W = sub(V, V, [[i - 1, j], [j, i + 1]] -> [i, j]);
let merged = build(V).inline(build(W).interchange(1, 2)).parallelize(1);
let border = padded(g, [1, [0, 2]], -0.1);
let bordered = build(border).stripmine(1, 4);
let rows = eq(vsum(vat(D, [i, j]), [j]), [i + 1], [12], 0);
let summed = build(rows).pack(0, D).pad_buffer("D_pack", #{multiple: 8, extra: 1}).reverse("i");
let h = tensor([12]);
h = eq(vadd(h, h, [[i - 1], [i - 2]]), [i]);
let backwards = build(h).stripmine("i", 3);
let r = tensor([12]);
r = eq(vadd(r, r, [[i - 1], [i + 1]]), [i]);
let twice = build(r).parallelize("i_2");
let t = tensor([10]);
t = eq(vsum(vmul(C, t, [[k, k], [i]]), [k]), [i]);
let traced = build(t).reverse("i");
let m = eq(vadd(b, f, [[x], [x]]), [x]);
let o = eq(vmul(m, m, [[x], [x]]), [x]);
let kept = fuse_outer(build(m), build(o), 0).donate(b).reduce_cache_miss(m);
let gram = contract(D, D, [1, 1]);
let squared = build(gram).pack(0, D, [2, 1], 2);
let out = "";
"#;

const NESTS: [&str; 24] = [
    "inner",
    "plan",
    "copy",
    "scaled",
    "dot",
    "stencil",
    "product",
    "both",
    "moved",
    "activation",
    "greatest",
    "lowest",
    "buffered",
    "local",
    "parts",
    "placed",
    "merged",
    "bordered",
    "summed",
    "backwards",
    "twice",
    "traced",
    "kept",
    "squared",
];

#[test]
fn a_printed_path_makes_the_nest_again() {
    let mut session = session(PROGRAM);
    for nest in NESTS {
        let script = text(&mut session, &format!("{nest}.path().to_string()"));
        let printed = value(&mut session, nest);
        let again = value(&mut self::session(""), &script);
        assert_eq!(again, printed, "{script}");
    }
}

#[test]
fn a_path_in_json_makes_the_nest_again() {
    let mut session = session(PROGRAM);
    for nest in NESTS {
        let same = value(&mut session, &format!("replay(json({nest})) == {nest}"));
        assert_eq!(same, "=> true", "{nest}");
    }
    assert!(refusal(&mut session, "replay(\"[1]\")").contains("this is not a path"));
    assert!(refusal(&mut session, "replay(\"[{}]\")").contains("this is not a path"));
    let unknown = "replay(\"[{\\\"op\\\": \\\"explode\\\", \\\"args\\\": []}]\")";
    assert!(refusal(&mut session, unknown).contains("no such operation"));
}

#[test]
fn a_path_is_written_as_the_paper_does() {
    let mut session = session(PROGRAM);
    let plan = "interchange(l, 2, 3)\ninterchange(l, 3, 4)\nstripmine(l, 1, 4)\n\
                parallelize(l, 1)\nvectorize(l, 5)";
    assert_eq!(text(&mut session, "paper(plan)"), plan);
    let both = "stripmine(l, 1, 4)\nstripmine(l2, 1, 4)\nfuse_outer(l, l2, 2)\n\
                fuse_inner(l, 3)\ninterchange(l, 2, 3)";
    assert_eq!(text(&mut session, "paper(both)"), both);
    let moved = "reorder(l, [3, 1])\nreverse(l, 4)\nplace_init(l, 0, A)\n\
                 stripmine(l, 3, 4, \"cut\")\nskew(l, 2, 1, 1)\nunroll(l, \"l\", 3)";
    assert_eq!(text(&mut session, "paper(moved)"), moved);
    let buffered = "pack(l, 0, D, [2, 1])\npack(l, \"k\", \"D_pack\")\n\
                    stage(l, \"i\", A)\nparallelize(l, \"i\")";
    assert_eq!(text(&mut session, "paper(buffered)"), buffered);
    // The loop is the consumer's.
    let placed = "interchange(l, 1, 2)\nstripmine(l2, 1, 3)\ncompute_at(l, l2, 1)\n\
                  unroll(l, \"k\", 5)";
    assert_eq!(text(&mut session, "paper(placed)"), placed);
}

#[test]
fn a_path_is_replayed_on_another_nest() {
    let mut session = session(PROGRAM);
    // The same names of loops, other tensors and extents.
    value(
        &mut session,
        "let X = tensor([5, 5]); let Y = eq(vsum(vmul(X, X, [[i, k], [k, l]]), [k]), [i, l]);",
    );
    let blocked = |base: &str| format!("build({base}).stripmine(\"i\", 2).parallelize(\"i_o\")");
    let replayed = format!(
        "{}.path().replay(build(Y)) == {}",
        blocked("A"),
        blocked("Y")
    );
    assert_eq!(value(&mut session, &replayed), "=> true");
    let message = refusal(&mut session, "plan.path().replay(build(w))");
    assert!(
        message.contains("step 1, interchange(\"j\", \"k\")"),
        "{message}"
    );
}

#[test]
fn a_part_of_a_nest_is_transformed_like_a_nest() {
    let mut session = session(PROGRAM);
    let same = "build(A).stripmine(\"i\", 4).interchange(3, 4).stripmine(4, 3).unroll(4)";
    assert_eq!(value(&mut session, &format!("inner == {same}")), "=> true");
    let path = "|sub| sub.interchange(1, 2).at(2, |sub| sub.stripmine(1, 3).unroll(1))";
    let shown = text(&mut session, "paper(inner)");
    assert_eq!(shown, format!("stripmine(l, 1, 4)\nat(l, 3, {path})"));
    // The steps of another nest, and a refusal.
    let again = "build(A).at(1, plan.path()) == plan";
    assert_eq!(value(&mut session, again), "=> true");
    let message = refusal(&mut session, "build(A).at(2, |sub| sub.interchange(1, 4))");
    assert!(
        message.contains("no level 4: the nest has 3 levels"),
        "{message}"
    );
    let message = refusal(&mut session, "build(A).at(2, |sub| build(A))");
    assert!(message.contains("must return what it makes"), "{message}");
    // Parts have sizes of their own, which steps make.
    value(
        &mut session,
        "let n = size(\"N\"); let s = tensor([n, n]); let t = build(eq(s * s, [i, j]))",
    );
    let same = "t.at(\"j\", |sub| sub.stripmine(1, 4, \"cut\")) == t.stripmine(\"j\", 4, \"cut\")";
    assert_eq!(value(&mut session, same), "=> true");
    let message = refusal(&mut session, "build(A).at(2, 3)");
    assert!(
        message.contains("a function from nest to nest"),
        "{message}"
    );
    let message = refusal(&mut session, "both.undo(2).at(\"k_none\", |s| s)");
    assert!(message.contains("no loop is named `k_none`"), "{message}");
    let message = refusal(
        &mut session,
        "codegen(build(A).at(2, |sub| { codegen(sub); sub }))",
    );
    assert!(
        message.contains("a part of a nest, inside loop `i`"),
        "{message}"
    );
}

#[test]
fn operators_and_texts_with_sizes_make_the_nest_again() {
    let script = r#"
        let n = size("N", #{least: 1});
        let best = operator("best", ["f64", "i64"],
            |a, b| [vmaximum(a[0], b[0]), vselect(a[0], ">=", b[0], a[1], b[1])], [-1.0 / 0.0, 0]);
        let x = tensor([n, 60]);
        let v = tensor([n]);
        let k = tensor([n], "i64");
        let plan = fold(best, [vat(x, [i, j]), vindex(j)], [j], [v, k])
            .stripmine("j", 16).regroup("j_o", best).parallelize("i");
    "#;
    let mut session = session(script);
    assert_eq!(value(&mut session, "replay(json(plan)) == plan"), "=> true");
    assert_eq!(value(&mut session, "check(replay(json(plan)))"), "legal");
    let printed = text(&mut session, "path(plan).to_string()");
    let shown = value(&mut session, "out = `${plan}`; out");
    let again = format!("let made = {{ {printed} }}; `${{made}}`");
    let mut fresh = self::session("");
    assert_eq!(value(&mut fresh, &again), shown, "{printed}");
}

#[test]
fn steps_are_undone() {
    let mut session = session(PROGRAM);
    let undone = "plan.undo(2) == build(A).interchange(2, 3).interchange(3, 4).stripmine(1, 4)";
    assert_eq!(value(&mut session, undone), "=> true");
    assert_eq!(value(&mut session, "both.undo() == both"), "=> false");
    assert_eq!(value(&mut session, "plan.undo(5) == build(A)"), "=> true");
    assert!(refusal(&mut session, "plan.undo(6)").contains("6 steps cannot be undone"));
    assert!(refusal(&mut session, "plan.undo(-1)").contains("cannot be undone"));
}

#[test]
fn paths_are_compared() {
    let mut session = session(PROGRAM);
    value(&mut session, "let base = build(A).interchange(1, 2);");
    value(&mut session, "let a = base.stripmine(1, 4).parallelize(1);");
    value(&mut session, "let z = base.vectorize(4).stripmine(1, 4);");
    let shown = text(&mut session, "diff(a, z)");
    let expected = "  build(A)\n  interchange(1, 2)\n+ vectorize(4)\n  stripmine(1, 4)\n\
                    - parallelize(1)";
    assert_eq!(shown, expected);
    assert_eq!(value(&mut session, "a.path() == a.path()"), "=> true");
    assert_eq!(value(&mut session, "a.path() == z.path()"), "=> false");
}

const LIBRARY: &str = r#"
let A = tensor([30, 40]);
let B = tensor([40, 50]);
let b = tensor([50]);
let D = contract(A, B, [2, 1]);
let l = build(D);
let E = add(D, b, [[i, j], [j]] -> [i, j]);
let tiled = l.tile([4, 8]).parallelize("i1_o");
let twice = tile(l, ["i1"], [8]).tile(["i1_i"], [2]);
let product = schedules::gemm(l, #{threads: 1, mr: 4, nr: 8});
let both = schedules::gemm_at(l, build(E), #{threads: 1, mr: 4, nr: 8});
let chosen = schedules::optimize([l, build(E)]);
let chained = l.chain([|n| n.tile(4), |n| n.parallelize("i1_o")]);
let G = contract(B, B, [1, 1]);
let replayed = path(l.tile([4, 8])).replay(build(G));
let out = "";
"#;

#[test]
fn a_call_of_the_library_is_one_step() {
    let mut session = session(LIBRARY);
    let lines = |text: String| -> Vec<String> {
        let steps = text.lines().filter(|l| !l.ends_with(';'));
        steps.map(|l| l.trim().to_owned()).collect()
    };
    let mut steps = |of: &str| lines(text(&mut session, &format!("path({of}).to_string()")));
    assert_eq!(
        steps("tiled"),
        ["build(D)", ".tile([4, 8])", ".parallelize(\"i1_o\")"]
    );
    assert_eq!(
        steps("twice"),
        ["build(D)", ".tile([\"i1\"], [8])", ".tile([\"i1_i\"], [2])"]
    );
    assert_eq!(
        steps("product"),
        ["schedules::gemm(build(D), #{mr: 4, nr: 8, threads: 1})"]
    );
    assert_eq!(
        steps("both"),
        ["schedules::gemm_at(nest_1, nest_2, #{mr: 4, nr: 8, threads: 1})"]
    );
    assert_eq!(steps("chosen"), ["schedules::optimize([nest_1, nest_2])"]);
    // A step inside a closure of the script is a step of its own.
    assert_eq!(
        steps("chained"),
        ["build(D)", ".tile(4)", ".parallelize(\"i1_o\")"]
    );
    assert_eq!(value(&mut session, "tiled.path().len()"), "=> 3");
    assert_eq!(value(&mut session, "tiled.undo(2) == l"), "=> true");
    assert_eq!(
        value(&mut session, "twice.undo() == l.tile([\"i1\"], [8])"),
        "=> true"
    );
    assert_eq!(value(&mut session, "product.undo() == l"), "=> true");
    assert!(refusal(&mut session, "tiled.undo(3)").contains("has taken 2 since it was built"));
}

#[test]
fn a_call_of_the_library_can_be_unfolded() {
    let mut session = session(LIBRARY);
    let unfolded = text(&mut session, "path(tiled, #{unfold: true}).to_string()");
    let expected = "build(D)
    // tile([4, 8])
    .stripmine(\"i1\", 4)
    .stripmine(\"i2\", 8)
    .interchange(\"i1_i\", \"i2_o\")
    .parallelize(\"i1_o\")";
    assert!(unfolded.ends_with(expected), "{unfolded}");
    let length = value(&mut session, "path(tiled, #{unfold: true}).len()");
    assert_eq!(length, "=> 5");
    for wrong in [
        "path(l, 3)",
        "path(l, #{unfold: 1})",
        "path(l, #{fold: true})",
    ] {
        assert!(refusal(&mut session, wrong).contains("unfold"), "{wrong}");
    }
}

#[test]
fn calls_of_the_library_make_the_nest_again() {
    let mut session = session(LIBRARY);
    let nests = [
        "tiled", "twice", "product", "both", "chosen", "chained", "replayed",
    ];
    for nest in nests {
        let printed = value(&mut session, nest);
        for path in [
            format!("path({nest})"),
            format!("path({nest}, #{{unfold: true}})"),
        ] {
            let script = text(&mut session, &format!("{path}.to_string()"));
            let again = value(&mut self::session(""), &script);
            assert_eq!(again, printed, "{script}");
        }
        let same = value(&mut session, &format!("replay(json({nest})) == {nest}"));
        assert_eq!(same, "=> true", "{nest}");
    }
    // On another nest, the steps of the call are there, and not the nest that was its argument.
    let replayed = text(&mut session, "path(replayed).to_string()");
    assert!(
        replayed.contains("// tile([4, 8])\n    .stripmine(\"i1\", 4)"),
        "{replayed}"
    );
    assert!(text(&mut session, "json(tiled)").contains("\"of\": \"tile([4, 8])\""));
}

#[test]
fn paths_with_calls_of_the_library_are_compared() {
    let mut session = session(LIBRARY);
    let mut diff =
        |first: &str, second: &str| text(&mut session, &format!("diff({first}, {second})"));
    assert_eq!(
        diff("l.tile([4, 4])", "tiled"),
        "  build(D)\n- tile([4, 4])\n+ tile([4, 8])\n+ parallelize(\"i1_o\")"
    );
    assert_eq!(
        diff("l.tile([4, 8])", "tiled.undo()"),
        "  build(D)\n  tile([4, 8])"
    );
    assert_eq!(
        diff("path(l.tile([4, 4]), #{unfold: true})", "l.tile([4, 8])"),
        "  build(D)\n  stripmine(\"i1\", 4)\n- stripmine(\"i2\", 4)\n+ stripmine(\"i2\", 8)\n  \
         interchange(\"i1_i\", \"i2_o\")"
    );
    // Calls that only look the same.
    let other = "schedules::pointwise(build(E), #{threads: 1})";
    let same = "schedules::pointwise(build(E).interchange(1, 2), #{threads: 1})";
    let shown = diff(other, same);
    assert!(shown.contains("interchange(1, 2)"), "{shown}");
}

#[test]
fn the_c_names_the_call_and_the_line_of_the_script() {
    let mut session = Session::new(Box::new(std::io::sink()), Workbench::default()).unwrap();
    let script = format!("{LIBRARY}\nlet first = codegen(tiled);\nlet second = codegen(product);");
    session.run_text("mine.rhai", &script).unwrap();
    let c = session.emitted().unwrap();
    assert!(!c.contains("std/"), "{c}");
    assert!(
        c.contains("//   tile([4, 8]), mine.rhai:8\n//   parallelize(\"i1_o\"), mine.rhai:8"),
        "{c}"
    );
    assert!(c.contains("// tile([4, 8]), mine.rhai:8"), "{c}");
    let gemm = "schedules::gemm(…, #{mr: 4, nr: 8, threads: 1}), mine.rhai:10";
    assert!(c.contains(&format!("//   {gemm}\n")), "{c}");
}

#[test]
fn what_was_legal_before_names_the_call() {
    let mut session = session(
        "let x = tensor([100]); x = eq(vadd(x, x, [[i], [i - 1]]), [i]);
         let s = sweep(x);
         let bad = s.chain([|n| n.stripmine(1, 10)]).interchange_n(1, 0).reverse(\"i_i\");",
    );
    let message = refusal(&mut session, "codegen(bad)");
    assert!(
        message.contains("the nest was legal before `reverse(\"i_i\")` at "),
        "{message}"
    );
    value(
        &mut session,
        "let A = tensor([20, 20]); A = eq(vat(A, [i - 1, j + 1]), [i, j], [20, 20]); \
         let t = sweep(A).tile(4);",
    );
    let message = refusal(&mut session, "codegen(t)");
    assert!(message.contains("in `tile(4)` at <line"), "{message}");
}
