//! Results of `run` as values: indexed, iterated, compared, reduced and printed.

use std::process::Command;

use crate::data::{run, teml};

/// Declares a matrix `B`, whose elements are `10*i + j`, and `out`, which holds it.
const MATRIX: &str = "let A = tensor([2, 3]);\nlet B = eq(2 * A, [i, j] -> [i, j]);\n\
                      init(A, |i, j| 5 * i + 0.5 * j);\nlet out = run(build(B));\n";

fn printed(script: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    run(directory.path(), &format!("{MATRIX}{script}")).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(script: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    run(directory.path(), &format!("{MATRIX}{script}")).expect_err(script)
}

#[test]
fn elements_have_indices() {
    let script = "print(out.B[[1, 2]]); let r = out.B; let i = 1;\n\
                  for j in 0..3 { print(r[[i, j]] == 10 + j); }\n\
                  let n = tensor([3], \"i64\"); let m = eq(2 * n, [k] -> [k]); init(n, |k| k);\n\
                  let s = sum(m); let y = run([build(m), build(s)]);\n\
                  print(y.m[2]); print(y.s[[]]); print(y.m.len); print(out.B.len());";
    assert_eq!(printed(script), "12.0\ntrue\ntrue\ntrue\n4\n6\n3\n6\n");
}

#[test]
fn wrong_indices_are_explained() {
    let cases = [
        (
            "print(out.B[1]);",
            "an index of f64[2][3] has 2 numbers, and this one has 1 number",
        ),
        ("print(out.B[1]);", "`x[[i, j]]` is an element of it"),
        (
            "print(out.B[[0, 3]]);",
            "index 2 of f64[2][3] is 3, but it counts from 0 to 2",
        ),
        (
            "print(out.B[[-1, 0]]);",
            "index 1 of f64[2][3] is -1, but it counts from 0 to 1",
        ),
        (
            "print(out.B[[0, 1.5]]);",
            "an index is `1.5`, not an integer",
        ),
    ];
    for (script, expected) in cases {
        let error = refused(script);
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("script.rhai:5"), "{error}");
    }
}

#[test]
fn elements_come_in_row_major_order() {
    let script = "let all = []; for x in out.B { all.push(x); } print(all);";
    assert_eq!(printed(script), "[0.0, 1.0, 2.0, 10.0, 11.0, 12.0]\n");
}

#[test]
fn arrays_are_compared() {
    let script = "let C = [[0, 1, 2], [10, 11, 12]];\n\
                  print(close(out.B, C)); print(difference(out.B, C));\n\
                  C[1][2] = 15; print(close(out.B, C)); print(difference(out.B, C));\n\
                  print(out.B.close(C, 0.2)); print(close(out.B, out.B, 0));\n\
                  print(close(1, 1 + 1e-12)); print(close(1, 2)); print(difference(3, 4));\n\
                  print(close([0.0 / 0.0, 1.0 / 0.0], [0.0 / 0.0, 1.0 / 0.0]));\n\
                  print(difference([0.0 / 0.0], [1.0]));";
    let expected = "true\n0.0\nfalse\n0.2\ntrue\ntrue\ntrue\nfalse\n0.25\ntrue\ninf\n";
    assert_eq!(printed(script), expected);
    for (call, expected) in [
        (
            "close(out.B, [1, 2])",
            "argument 2 `b` is i64[2], but the first one is f64[2][3]",
        ),
        (
            "close(out.B, [[1, 2], [3]])",
            "argument 2 `b` has lists of different lengths or depths",
        ),
        (
            "close(out.B, [[1], 3])",
            "argument 2 `b` has lists of different lengths or depths",
        ),
        (
            "close(A, out.B)",
            "argument 1 `a` must be an array of numbers",
        ),
        (
            "close(out.B, out.B, \"x\")",
            "argument 3 `tolerance` must be a number",
        ),
        ("norm(out.B, \"min\")", "argument 2 `which` must be \"max\""),
    ] {
        let error = refused(&format!("print({call});"));
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn arrays_are_reduced() {
    let script = "print(sum(out.B)); print(out.B.max()); print(min(out.B)); print(mean(out.B));\n\
                  print(norm([3, 4])); print(norm(out.B, \"max\")); print(max(2, 3));\n\
                  let n = tensor([2], \"i64\"); let m = eq(n, [i] -> [i]);\n\
                  init(n, [9223372036854775807, -1]); print(sum(run(build(m)).m));\n\
                  print(min(run(build(m)).m));";
    let expected = "36.0\n12.0\n0.0\n6.0\n5.0\n12.0\n3\n9223372036854775806\n-1\n";
    assert_eq!(printed(script), expected);
    let wide = "let n = tensor([2], \"i64\"); let m = eq(n, [i] -> [i]);\n\
                init(n, 9223372036854775807); print(sum(run(build(m)).m));";
    let expected = "the sum of i64[2] does not fit in an integer";
    assert!(refused(wide).contains(expected));
}

/// Nothing runs, and scripts that use results still go through.
#[test]
fn without_runs_all_elements_are_zero() {
    let directory = tempfile::tempdir().unwrap();
    let script = format!(
        "{MATRIX}if out.B[[1, 2]] > 0 {{ throw \"ran\"; }}\nfor x in out.B {{ throw \"ran\"; }}\n\
         if !close(out.B, [[1, 1, 1], [1, 1, 1]]) || sum(out.B) != 0 || max(out.B) != 0.0 \
         {{ throw \"differs\"; }}\nprint(out.B); print(norm(out.B));"
    );
    let emitted = teml("emit", directory.path(), &script);
    assert!(emitted.is_ok(), "{emitted:?}");
}

/// The examples in the help of functions.
#[test]
fn help_shows_what_scripts_print() {
    let output = Box::new(std::io::sink());
    let session = teml::script::Session::new(output, teml::verbs::Workbench::default());
    let session = session.unwrap_or_else(|e| panic!("{}", e.render(false)));
    let topics = ["results", "queries", "trees", "paths", "programs"];
    let catalog = session.catalog().into_iter();
    let own = catalog
        .filter(|e| topics.contains(&e.topic) || ["elem", "operator"].contains(&e.name.as_str()));
    let directory = tempfile::tempdir().unwrap();
    let (mut examples, mut wrong) = (Vec::new(), Vec::new());
    for entry in own {
        let help = session.help(&entry.name).unwrap();
        for example in help.split("```rhai\n").skip(1) {
            let (script, rest) = example.split_once("```\n\n```text\n").unwrap();
            let (expected, _) = rest.split_once("```").unwrap();
            let printed = run(directory.path(), script);
            if printed.as_deref() != Ok(expected) {
                wrong.push(format!("{}: {printed:?}, not {expected:?}", entry.name));
            }
            examples.push(entry.name.clone());
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    for name in [
        "run", "close", "tree", "untree", "replace", "equal", "rule", "elem", "operator",
    ] {
        assert!(examples.iter().any(|known| known == name), "{examples:?}");
    }
}

/// A definition whose iterators have no values keeps its target.
#[test]
fn what_no_iteration_writes_keeps_its_elements() {
    let script = "let x = tensor([1]); let y = tensor([1]);\n\
                  y = eq(x, [i] -> [i], #{i: 1..1});\n\
                  init(y, [7]); print(run(build(y)).y[0]);";
    assert_eq!(printed(script), "7.0\n");
}

/// The terms of a long sum in f32, one after the other, lose more digits than those of a short one.
#[test]
fn long_sums_in_f32_may_be_rounded() {
    let directory = tempfile::tempdir().unwrap();
    let script = "reductions(\"reassoc\");\n\
                  let A = tensor([1000, 1000], \"f32\"); let B = tensor([1000, 1000], \"f32\");\n\
                  init(A, |i, j| ((i * 7 + j * 3) % 11) / 11.0);\n\
                  init(B, |i, j| ((i * 7 + j * 3) % 11) / 11.0);\n\
                  let R = einsum(\"ij,ji->\", A, B);\n\
                  compare([schedules::optimize(build(R))]);";
    let shown = run(directory.path(), script).unwrap_or_else(|error| panic!("{error}"));
    assert!(shown.contains("1.1e-4"), "{shown}");
}

#[test]
fn contents_for_likely_sizes_are_given_again_at_others() {
    let directory = tempfile::tempdir().unwrap();
    let script = "let n = size(\"N\", #{likely: 5}); let D = tensor([n, n]);\n\
                  init(D, |i, j| 10.0 * i + j); let y = sum(D, [2]);\n\
                  compare([build(y), build(y).stripmine(\"i1\", 4)]);";
    run(directory.path(), script).unwrap_or_else(|error| panic!("{error}"));
}

/// Expressions with operands and short rows: results have the shapes that scripts declare.
#[test]
fn rows_that_are_read_as_one_are_rows() {
    let script = "\
let A = tensor([4, 3, 5]);
init(A, |i, j, k| 100 * i + 10 * j + k);
let W = tensor([2, 4]);
init(W, |f, i| f + i);
let B = einsum(\"ijk,fi->fjk\", A, W);
let naive = build(B);
let joined = naive.collapse(\"j\");
for plan in [naive, joined, schedules::optimize(joined), joined.parallelize(\"j\")] {
    let out = run(plan);
    print(`${out.B.shape} ${out.B[[1, 2, 4]]}`);
}
let E = sqrt(A) * 2 + A;
for plan in [build(E), schedules::optimize(build(E))] { print(run(plan).E[[3, 2, 4]]); }
compare([build(E), schedules::optimize(build(E))]);
print(joined);
";
    let directory = tempfile::tempdir().unwrap();
    let printed = run(directory.path(), script).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(printed.matches("[2, 3, 5] 2240.0").count(), 4, "{printed}");
    assert_eq!(printed.matches("360.0").count(), 2, "{printed}");
    assert!(
        printed.contains("f64 B[2][3 x 5], A[4][3 x 5], W[2][4]"),
        "{printed}"
    );
}

/// One nest reads dimensions as one, and others that run with it do not, or read others as one.
#[test]
fn nests_that_read_rows_differently_run_together() {
    let script = "\
let A = tensor([6, 4, 3, 5]);
init(A, |i, j, k, l| (i * 7 + j * 5 + k * 3 + l) % 11);
let B = eq(vat(A, [i, j, k, l]) * 2, [i, j, k, l]);
let C = eq(vat(B, [i, j, k, l]) + vat(A, [i, j, k, l]), [i, j, k, l]);
let D = eq(vat(C, [i, j, 0, l]) + vat(B, [i, j, 2, l]), [i, j, l]);
let all = [build(B), build(C), build(D)];
let first = all[0].collapse(\"k\").collapse(\"j\").parallelize(\"i\");
let second = all[1].collapse(\"i\").vectorize(\"l\");
let third = all[1].collapse(\"k\").stripmine(\"k\", 4, \"cut\").vectorize(\"k_i\");
for plan in [[first, second, all[2]], [first, third, all[2]], [all[0], second, all[2]], [first, all[1], all[2]]] {
    print(check(plan).legal);
    compare([all, plan]);
}
let a = tensor([6, 20]);
let b = eq(vat(a, [i, j]) + 1, [i, j]);
let c = eq(vat(b, [i, j]) * 2, [i, j]);
let both = fuse_outer(build(b).collapse(\"i\"), build(c).collapse(\"i\"), 0);
print(check(both.fuse(\"i\", \"i_2\")).legal);
print(check(both.shift(\"i_2\", -1).fuse(\"i\", \"i_2\")).legal);
";
    let directory = tempfile::tempdir().unwrap();
    let printed = run(directory.path(), script).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(printed.matches("true\n").count(), 5, "{printed}");
    assert_eq!(
        printed.matches("elements equal the definition").count(),
        4,
        "{printed}"
    );
    assert!(printed.ends_with("false\n"), "{printed}");
}

/// Ties, infinite numbers and NaN, in the order of the loop and with accumulators for lanes and threads.
#[test]
fn operators_of_the_library_have_these_values() {
    let script = "\
reductions(\"reassoc\");
let x = tensor([11]);
let x32 = tensor([11], \"f32\");
let k = tensor([11], \"i32\");
let low = tensor([6]);
let y = tensor([8]);
let v = tensor([]); let at = tensor([], \"i64\"); let v32 = tensor([], \"f32\"); let vk = tensor([], \"i32\");
let m = tensor([]); let s = tensor([]); let count = tensor([]); let mean = tensor([]); let squares = tensor([]);
init(x, |i| if i == 2 { 0.0 / 0.0 } else { [1, 7, 0, -3, 7, 2, -3, 5, 7, -1, 0][i] });
init(x32, |i| [1, 7, 0, -3, 7, 2, -3, 5, 7, -1, 0][i]);
init(k, |i| -5 - i % 4);
init(y, |i| [-3, 7, 2, -3, 5, 7, -1, 0][i]);
init(low, |i| -1.0 / 0.0);
fn shows(naive, op) {
    let lanes = naive.stripmine(1, 4);
    lanes = lanes.regroup(lanes.made().inner, op);
    for nest in [naive, lanes, schedules::optimize(naive)] {
        let out = run(nest);
        let line = \"\";
        for name in out.keys() { line += `${name} ${round(1000.0 * out[name][[]].to_float()) / 1000.0} `; }
        print(line);
    }
}
shows(fold(operators::argmax(\"f64\"), [vat(x, [i]), vindex(i)], [i], [v, at]), operators::argmax(\"f64\"));
shows(fold(operators::argmin(\"f64\"), [vat(x, [i]), vindex(i)], [i], [v, at]), operators::argmin(\"f64\"));
shows(fold(operators::argmax(\"f64\"), [vat(low, [i]), vindex(i)], [i], [v, at]), operators::argmax(\"f64\"));
shows(fold(operators::argmin(\"f32\"), [vat(x32, [i]), vindex(i)], [i], [v32, at]), operators::argmin(\"f32\"));
shows(fold(operators::argmax(\"i32\"), [vat(k, [i]), vindex(i)], [i], [vk, at]), operators::argmax(\"i32\"));
shows(fold(operators::logsumexp(\"f64\"), [vat(y, [i]), 1], [i], [m, s]), operators::logsumexp(\"f64\"));
shows(fold(operators::moments(\"f64\"), [1, vat(y, [i]), 0], [i], [count, mean, squares]), operators::moments(\"f64\"));
let long = tensor([1003]);
init(long, |i| 7 * i % 101);
let naive = fold(operators::argmax(\"f64\"), [vat(long, [i]), vindex(i)], [i], [v, at]);
let split = naive.peel(\"i\", 3, \"back\").stripmine(\"i\", 250);
let blocks = split.made();
split = split.regroup(blocks.outer, operators::argmax(\"f64\")).parallelize(blocks.outer);
for nest in [naive, split, schedules::program(naive, #{lanes: 4, threads: 2000, region: 1})] {
    let out = run(nest);
    print(`at ${out.at[[]]} v ${out.v[[]]}`);
}
";
    let directory = tempfile::tempdir().unwrap();
    let printed = run(directory.path(), script).unwrap_or_else(|error| panic!("{error}"));
    let values = [
        "at 1.0 v 7.0 ",
        "at 3.0 v -3.0 ",
        "at 0.0 v -inf ",
        "at 3.0 v32 -3.0 ",
        "at 0.0 vk -5.0 ",
        "m 7.0 s 2.143 ",
        "count 8.0 mean 1.75 squares 121.5 ",
    ];
    let lines: Vec<&str> = printed.lines().filter(|l| !l.contains("::")).collect();
    let mut expected: Vec<&str> = values.iter().flat_map(|line| [*line; 3]).collect();
    expected.extend(["at 72 v 100.0"; 3]);
    assert_eq!(lines, expected);
}

/// The target is fixed: on this machine, the measured cost of threads decides.
#[test]
fn long_folds_are_shared_by_threads() {
    let script = "\
reductions(\"reassoc\");
let long = tensor([100003]);
let v = tensor([]); let at = tensor([], \"i64\");
let naive = fold(operators::argmax(\"f64\"), [vat(long, [i]), vindex(i)], [i], [v, at]);
for threads in [1, 2] {
    let plan = schedules::program(naive, #{lanes: 4, threads: threads, region: 1});
    let steps = path(plan, #{unfold: true}).to_string();
    print(`${steps.contains(\"regroup\")} ${steps.contains(\"parallelize\")}`);
}
codegen(naive);
";
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fold.rhai");
    std::fs::write(&path, script).unwrap();
    let teml = Command::new(env!("CARGO_BIN_EXE_teml"))
        .args(["emit", "--target", "avx2", "-o", "fold.c", "fold.rhai"])
        .current_dir(&directory)
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&teml.stderr);
    assert!(shown.starts_with("true false\ntrue true\n"), "{teml:?}");
}
