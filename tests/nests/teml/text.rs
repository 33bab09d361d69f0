//! The canonical text of nests: what is printed is read back as it was, and anything else is
//! refused at the line at fault.

use crate::teml::trees::*;
use teml::ir::BinaryOp::{Add, Div, Mul, Sub};
use teml::ir::{Nest, parse_expr, parse_nest};
use teml::lower::build::build;
use teml::transform::nest::{fuse_outer, interchange, mode, stripmine, unroll};
use teml::transform::tensor::{vcontract, vreduce, with_shapes};
use teml::transform::{Arg, Op};

fn assert_reads_back(nest: &Nest) {
    let text = nest.to_string();
    match parse_nest(&text) {
        Ok(read) => assert_eq!(read, *nest, "{text}"),
        Err(e) => panic!("{e}\n{text}"),
    }
}

pub const TEXTS: &[&str] = &[
    "f64 B[4][5], A[4][5]\nfor i in 0..4\n  for j in 0..5\n    B[i][j] = A[i][j]",
    "f64 y[4], A[4][5], x[5]\nfill y[0..4] = 0\nparallel for i in 0..4\n  for j in 0..5\n    \
     y[i] += A[i][j] * x[j]",
    "f64 B[10], A[10]\nparallel vector for i_o in 0..3\n  \
     for i_i in 4*i_o..min(4*i_o + 4, 10)\n    B[i_i] = A[i_i]",
    // Rank 0, scalars, and statements outside of loops.
    "f64 r[], q[], s, t\nr[] = q[] + s\ns = t\ns /= r[]\nfill r[] = 1\nfill t = 0",
    // All element types, each with a line of its own.
    "f64 a[2]\nf32 b[2]\ni32 c[2]\ni64 d[2]\nfor i in 0..2\n  a[i] = a[i]\n  b[i] = b[i]\n  \
     c[i] -= c[i]\n  d[i] *= d[i]",
    // Rank 8.
    "f64 B[1][2][1][2][1][2][1][2], A[2]\nfor i in 0..2\n  B[0][i][0][1][0][i][0][i] = A[1 - i]",
    // Indices and bounds: steps, constants, negative offsets, several bounds on both sides.
    "f64 B[9], A[30]\nfor i in -3..6 step 2\n  \
     for j in max(i - 1, -2*i, 0)..min(2*i + 3, 9 - i, 9)\n    B[j] = A[3*j - 2*i + 7]",
    // Parts of tensors, also where they vary.
    "f64 y[9][9]\nfill y[0..9][2..7] = 0\nfor i in 0..9\n  fill y[i..+1][0..9] = -1",
    // Operators group to the left; the parentheses below are all needed.
    "f64 b, a\nb = a - (a - a) + a / (a * a) - (a + a) * a / a",
    // Words of the notation as names.
    "f64 fill, vector, parallel, f64, A[4]\nfill = vector\nvector += parallel\nf64 = f64 * fill\n\
     parallel = f64\nfor in in 0..4\n  for min in in..min(in + 2, 4)\n    \
     for step in min..4 step 2\n      A[step] = fill",
];

#[test]
fn texts_are_printed_as_they_were_read() {
    for text in TEXTS {
        let nest = parse_nest(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(nest.to_string(), *text);
    }
}

#[test]
fn quotients_of_sizes_are_read_as_they_are_printed() {
    let text = "size N\nsize N_3 = N / 3\nsize N_p2_3 = (N + 2) / 3\nf64 A[N]\n\
                for i in 0..N_3\n  A[i] = 1\nfor j in 0..N_p2_3\n  A[j] = 2";
    assert_eq!(nest(&[text]).to_string(), text);
}

#[test]
fn blank_lines_do_not_matter() {
    let nest = nest(&["f64 A[4]", "", "for i in 0..4", "", "  A[i] = A[i]", ""]);
    assert_eq!(nest.to_string(), "f64 A[4]\nfor i in 0..4\n  A[i] = A[i]");
}

#[test]
fn built_nests_are_read_back() {
    let [a, b] = ["A", "B"].map(|name| tensor(name, &[6, 6]));
    let x = tensor("x", &[6]);
    let product = vcontract::vcontract(&a, &b, &[[2, 1]]).unwrap();
    let nested = vop(Div, &vop(Sub, &a, &b, ["i j", "j i"]), &x, ["ε", "j"]);
    let sum = vreduce::vsum(
        &vop(Mul, &a, &x, ["i j", "j"]),
        &list("j"),
        teml::ir::Domain::default(),
    )
    .unwrap();
    let eighth = tensor("E", &[1, 2, 3, 1, 2, 3, 1, 2]);
    let old = tensor("old", &[6]);
    for definition in [
        eq("C", &product, "i j", "i j"),
        eq("C", &nested, "ε", "j i"),
        eq("y", &sum, "ε", "i"),
        eq(
            "n",
            &vreduce::vsum(&sum, &list("i"), teml::ir::Domain::default()).unwrap(),
            "ε",
            "",
        ),
        eq("F", &eighth, "a b c d e f g h", "h g f e d c b a"),
        eq("z", &tensor("r", &[]), "", ""),
        op("old", Add, [&old, &a], ["i", "i j"], "i"),
    ] {
        assert_reads_back(&build(&definition).unwrap_or_else(|e| panic!("{e}: {definition}")));
    }
}

#[test]
fn transformed_nests_are_read_back() {
    let [a, b] = ["A", "B"].map(|name| tensor(name, &[10, 10]));
    let product = vcontract::vcontract(&a, &b, &[[2, 1]]).unwrap();
    let nest = build(&eq("C", &product, "i j", "i j")).unwrap();
    let steps: [(&'static Op, &[Arg]); 7] = [
        (&stripmine::STRIPMINE, &[named("i"), Arg::Int(4)]),
        (&stripmine::STRIPMINE, &[named("i_i"), Arg::Int(3)]),
        (&interchange::INTERCHANGE, &[named("j"), named("i3")]),
        (&stripmine::STRIPMINE, &[named("j"), Arg::Int(5)]),
        (&mode::PARALLELIZE, &[named("i_o")]),
        (&mode::VECTORIZE, &[named("j_i")]),
        (&unroll::UNROLL, &[named("i_i_o")]),
    ];
    let mut nest = nest;
    for (op, args) in steps {
        nest = transformed(op, &nest, args);
        assert_reads_back(&nest);
    }
    let other = copy("E", "D", &[7, 7], "i j");
    let fused = fuse_outer::fuse_outer(&copy("B", "A", &[7, 7], "i j"), &other, 1).unwrap();
    assert_reads_back(&fused);
}

#[test]
fn errors_name_the_line_and_what_is_wrong() {
    let cases: &[(&str, usize, &str)] = &[
        ("f64 A[4]\nB[0] = A[0]", 2, "tensor B is not declared"),
        ("f64 A[4]\nA[0] = B", 2, "tensor B is not declared"),
        ("f64 A[4], A[5]", 1, "declared twice"),
        ("f64 A[4]\nf32 A[4]", 2, "declared twice"),
        ("f64 A[0]", 1, "at least 1"),
        ("f64 A[4", 1, "expected `]`"),
        ("f64 _x", 1, "reserved"),
        ("f64 A[4] B[4]", 1, "`B[4]` is left over"),
        ("f64 A[4]\nA[0][0] = A[0]", 2, "A takes 1 index, not 2"),
        ("f64 A[4]\nA[0] A[0]", 2, "expected `=`"),
        ("f64 A[4]\nA[0] = A[0] A[1]", 2, "left over"),
        ("f64 A[4]\nA[0] = (A[0]", 2, "expected `)`"),
        ("f64 A[4]\nA[0] = A[0] +", 2, "expected a value"),
        (
            "f64 A[4]\n\nfor i in 0.4\n  A[i] = A[i]",
            3,
            "expected `..`",
        ),
        ("f64 A[4]\nfor i in 0..4 step 0\n  A[i] = A[i]", 2, "step"),
        (
            "f64 A[4]\nfor i in 0..min(4\n  A[i] = A[i]",
            2,
            "expected `)`",
        ),
        ("f64 A[4]\nfor _1 in 0..4\n  A[0] = A[0]", 2, "reserved"),
        (
            "f64 A[4]\nfor i in 0..99999999999999999999\n  A[i] = A[i]",
            2,
            "not an integer",
        ),
        ("f64 A[4]\nfill A[0..0] = 0", 2, "empty region"),
        ("f64 A[4]\nfill A[3..1] = 0", 2, "empty region"),
        (
            "f64 A[4]\nfill A[-9223372036854775807..9223372036854775807] = 0",
            2,
            "too large",
        ),
        ("f64 A[4][4]\nfill A[0..4] = 0", 2, "A takes 2 indices"),
        ("f64 A[4]\nfor i in 0..4\n    A[i] = A[i]", 3, "indentation"),
        ("f64 A[4]\nfor i in 0..4\n A[i] = A[i]", 3, "indentation"),
        (
            "f64 A[4]\nA[0] = A[0]\nf64 B[4]",
            3,
            "a declaration comes before",
        ),
        // The first line at fault counts, not the innermost.
        (
            "f64 A[4]\nfor i in 0..4 twice\n  B[i] = A[i]",
            2,
            "left over",
        ),
    ];
    for (text, line, what) in cases {
        let error = parse_nest(text).expect_err(text);
        assert_eq!(error.line, *line, "{error}\n{text}");
        assert!(error.what.contains(what), "{error}\n{text}");
    }
}

#[test]
fn texts_that_nest_too_deep_are_refused() {
    let parentheses = format!("f64 a\na = {}a{}", "(".repeat(100_000), ")".repeat(100_000));
    let chain = format!("f64 a\na = a{}", " + a".repeat(100_000));
    let loops = |k: usize| format!("{}for l{k} in 0..1\n", "  ".repeat(k));
    let loops: String = (0..1_500).map(loops).collect();
    let calls = |name: &str| {
        format!(
            "f64 a\na = {}a{}",
            name.repeat(100_000),
            ")".repeat(100_000)
        )
    };
    let [functions, choices] = ["neg(", "select(a < "].map(calls);
    for text in [parentheses, chain, loops, functions, choices] {
        let error = parse_nest(&text).unwrap_err();
        assert!(error.what.contains("deeper"), "{error}");
    }
}

/// Expressions of every kind, as they print.
const EXPRESSIONS: &[&str] = &[
    "f64 A[4][5]",
    "f32 s",
    "i64 r[]",
    "f64 A[4][5], x[5]\nA[i][j] + x[j]",
    "f64 A[4], s\n(A[i] - s) * A[i] / (s - A[i])",
    "f64 A[4][5], B[5][6]\n[_1, _2] -> sum(_3: A[_1][_3] * B[_3][_2])",
    "f64 x[5]\n[] -> sum(_1: x[_1] * x[_1])",
    "f64 y[4], x[5], A[4][5]\ny[i] = x[0] * sum(j, k: A[i][j] * (A[i][k] - x[j]))",
    "f64 b[9], a[9]\nb[x] = a[x - 1] + a[x + 1]",
    "i32 d[3], e[3]\nd[i] = e[i]",
    "f64 A[4]\n2 * A[i] - -0.1 / (1e300 - ∞)",
    "f32 A[4]\nA[i] * 16777216 + -∞",
    "i64 n[4]\nn[i] - -9223372036854775808",
    "f64 A[4], min, exp\nmin(A[i], max(min, exp(exp)))",
    "f64 m, A[4], s\nm = min(i: min(A[i], s))",
    "f64 A[4][5]\nmax(j: prod(i: neg(A[i][j]) * abs(A[i][j])))",
    "f64 A[4]\npow(A[i], 2) + tanh(log(sqrt(sin(cos(A[i])))))",
    "f64 A[4]\nselect(A[i] <= 0 - A[i], select(A[i] != 1, 1, 2), A[i])",
    "f64 b[3], A[3][4]\nb[i] = sum(j: A[i][j]) / 4",
    "f64 P[6], A[4]\nP[i + 1] = A[i] elsewhere 0",
    "i32 P[9], A[4]\nP[2*i] = A[i] * A[i] elsewhere -3",
    "f64 elsewhere\nelsewhere = elsewhere elsewhere -∞",
];

#[test]
fn expressions_are_read_back() {
    for text in EXPRESSIONS {
        let expr = parse_expr(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let expr = with_shapes(&expr).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let declared = text
            .lines()
            .filter(|l| !l.starts_with("f32 y"))
            .collect::<Vec<_>>();
        assert_eq!(expr.to_string(), declared.join("\n"));
    }
}

#[test]
fn what_operations_make_is_read_back() {
    let (a, b) = (tensor("A", &[4, 5]), tensor("B", &[5, 6]));
    let product = vcontract::vcontract(&a, &b, &[[2, 1]]).unwrap();
    let sum = vreduce::vsum(
        &vop(Mul, &a, &b, ["i k", "k j"]),
        &list("k"),
        teml::ir::Domain::default(),
    )
    .unwrap();
    for expr in [product, sum, eq("C", &a, "i j", "j i")] {
        let read = parse_expr(&expr.to_string()).unwrap();
        assert_eq!(with_shapes(&read).unwrap(), expr);
    }
}

#[test]
fn what_is_no_expression_is_refused() {
    for text in [
        "",
        "f64 A[4]\nA[i] +",
        "f64 A[4]\nsum(i A[i])",
        "f64 A[4]\nA[i]\nA[i]",
        "f64 A[4], B[4]",
        "f64 A[4]\n[_1] A[_1]",
        "f64 A[4]\nA[i] + 1.5.5",
        "f64 A[4]\nA[i] + 1e999",
        "f64 A[4]\nA[i] + -NaN",
        "f64 A[4]\nA[i] + - 1",
        "i32 n[4]\nn[i] + 0.5",
        "i32 n[4]\nn[i] + 2147483648",
        "i32 n[4]\nn[i] + ∞",
        "f64 A[4]\nexp(A[i], A[i])",
        "f64 A[4]\nmin(A[i])",
        "f64 A[4]\nselect(A[i], 1, 2)",
        "f64 A[4]\nselect(A[i] < 1, 2)",
        "f64 A[4]\nsum(A[i], A[i])",
        "f64 P[6], A[4]\nP[i] = A[i] elsewhere",
        "f64 P[6], A[4]\nP[i] = A[i] elsewhere A[0]",
        "f64 A[4]\nA[i] elsewhere 0",
        "i32 P[6], A[4]\nP[i] = A[i] elsewhere 0.5",
    ] {
        assert!(parse_expr(text).is_err(), "{text}");
    }
}
