//! The computation of a nest: the roles of its loops, independently of their names.

use crate::config;
use crate::dialog;
#[allow(dead_code)]
use config::config;
use dialog::shown;
use proptest::prelude::*;
use teml::analysis::computation::{Assignment, Computation, computation, product, window};
use teml::ir::parse_nest;

/// Nests with the iterators `$0`, `$1` …, and what they compute.
const CASES: &[(&str, &str)] = &[
    (
        "f64 C[37][41], A[37][29], B[29][41]
fill C[0..37][0..41] = 0
for $0 in 0..37
  for $1 in 0..41
    for $2 in 0..29
      C[$0][$1] += A[$0][$2] * B[$2][$1]",
        "product: rows $0, columns $1, terms $2, sums [], batch [], left [0], right [1], main 0 1",
    ),
    (
        // Rows are those of the operand without columns, in any order of dimensions and loops.
        "f64 C[37][41], A[29][37], B[41][29]
for $0 in 0..29
  for $1 in 0..41
    for $2 in 0..37
      C[$2][$1] += B[$1][$0] * A[$0][$2]",
        "product: rows $2, columns $1, terms $0, sums [], batch [], left [1], right [0], main 1 0",
    ),
    (
        // The longest loop that can be the rows; the innermost of the sums.
        "f64 C[5][20][7], A[5][20][3][2], B[3][2][7]
for $0 in 0..5
  for $1 in 0..20
    for $2 in 0..7
      for $3 in 0..3
        for $4 in 0..2
          C[$0][$1][$2] += A[$0][$1][$3][$4] * B[$3][$4][$2]",
        "product: rows $1, columns $2, terms $4, sums [$3], batch [$0], left [0], right [1], main 0 1",
    ),
    (
        "f64 D[11][12], A[11][13], B[12][13]
for $0 in 0..11
  for $1 in 0..12
    for $2 in 0..13
      D[$0][$1] += (A[$0][$2] - B[$1][$2]) * (A[$0][$2] - B[$1][$2])",
        "product: rows $0, columns $1, terms $2, sums [], batch [], left [0, 2], right [1, 3], main 0 1",
    ),
    (
        "f64 y[37], A[37][29], x[29]
for $0 in 0..37
  for $1 in 0..29
    y[$0] += A[$0][$1] * x[$1]",
        "reduction: sums [$1]",
    ),
    (
        // One row makes no product.
        "f64 C[1][41], A[1][29], B[29][41]
for $0 in 0..1
  for $1 in 0..41
    for $2 in 0..29
      C[$0][$1] += A[$0][$2] * B[$2][$1]",
        "reduction: sums [$2]",
    ),
    (
        "f64 O[30][40], I[32][42], F[3][3]
for $0 in 0..30
  for $1 in 0..40
    for $2 in 0..3
      for $3 in 0..3
        O[$0][$1] += I[$0 + $2][$1 + $3] * F[$2][$3]",
        "window: rows $0, columns $1, window [$2, $3], across true, sums [], batch [], image 0",
    ),
    (
        "f64 O[30][40], I[30][44], F[5]
for $0 in 0..30
  for $1 in 0..40
    for $2 in 0..5
      O[$0][$1] += I[$0][$1 + $2] * F[$2]",
        "window: rows $0, columns $1, window [$2], across false, sums [], batch [], image 0",
    ),
    (
        "f64 O[8][30][40], I[3][32][42], F[8][3][3][3]
for $0 in 0..8
  for $1 in 0..30
    for $2 in 0..40
      for $3 in 0..3
        for $4 in 0..3
          for $5 in 0..3
            O[$0][$1][$2] += I[$3][$1 + $4][$2 + $5] * F[$0][$3][$4][$5]",
        "product: rows $0, columns $2, terms $5, sums [$3, $4], batch [$1], left [1], right [0], main 1 0",
    ),
    (
        "f64 C[6][5][99], A[6][4][99], B[4][5][99]
for $0 in 0..6
  for $1 in 0..5
    for $2 in 0..99
      for $3 in 0..4
        C[$0][$1][$2] += A[$0][$3][$2] * B[$3][$1][$2]",
        "interleaved: rows $0, columns $1, lanes $2, sums [$3], batch []",
    ),
    (
        "f64 C[50][50], A[50][20]
for $0 in 0..50
  for $1 in 0..$0 + 1
    for $2 in 0..20
      C[$0][$1] += A[$0][$2] * A[$1][$2]",
        "triangle: rows $0, columns $1, terms $2, lower true, 50 x 20, right [(1, 1)]",
    ),
    (
        "f64 C[50][50], A[20][50]
for $0 in 0..50
  for $2 in 0..20
    for $1 in $0..50
      C[$0][$1] += A[$2][$0] * A[$2][$1]",
        "triangle: rows $0, columns $1, terms $2, lower false, 50 x 20, right [(1, 0)]",
    ),
    (
        "f64 B[60][70], A[60][70]
for $0 in 1..59
  for $1 in 0..70
    B[$0][$1] = A[$0 - 1][$1] + A[$0 + 1][$1]",
        "stencil: rows $0, columns $1",
    ),
    (
        "f64 B[60][70], A[70][60]
for $0 in 0..60
  for $1 in 0..70
    B[$0][$1] = A[$1][$0]",
        "elementwise",
    ),
    (
        "f64 x[60]
for $0 in 1..60
  x[$0] += x[$0 - 1]",
        "recurrence: must read no elements of `x` but the one that it assigns",
    ),
    (
        "f64 x[60], L[60][60]
for $0 in 0..60
  for $1 in 0..$0
    x[$0] += L[$0][$1]",
        "recurrence: has bounds of `$1` that are not numbers",
    ),
    (
        "f64 x[60], y[60]
for $0 in 0..60
  x[$0] = 1
  y[$0] = 2",
        "recurrence: has more than one assignment",
    ),
    (
        "f64 x[60], y[60]
for $0 in 0..60 step 2
  x[$0] = y[$0]",
        "recurrence: has bounds of `$0` that are not numbers",
    ),
];

/// Some of the names are prefixes or suffixes of others.
const NAMES: &[&str] = &[
    "i", "j", "k", "kh", "kw", "jk", "h", "w", "n2", "j_o", "ik", "p",
];

fn described(text: &str) -> String {
    let list = |names: &[teml::ir::Name]| {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        format!("[{}]", names.join(", "))
    };
    let found = computation(&parse_nest(text).unwrap());
    let kind = found.kind();
    match found {
        Computation::Sparse { reads } => format!("{kind}: reads {}", list(&reads)),
        Computation::Product(p) => format!(
            "{kind}: rows {}, columns {}, terms {}, sums {}, batch {}, left {:?}, right {:?}, main {} {}",
            p.rows,
            p.columns,
            p.terms,
            list(&p.sums),
            list(&p.batch),
            p.left,
            p.right,
            p.main_left,
            p.main_right
        ),
        Computation::Interleaved(p) => format!(
            "{kind}: rows {}, columns {}, lanes {}, sums {}, batch {}",
            p.rows,
            p.columns,
            p.lanes,
            list(&p.sums),
            list(&p.batch)
        ),
        Computation::Window(w) => format!(
            "{kind}: rows {}, columns {}, window {}, across {}, sums {}, batch {}, image {}",
            w.rows,
            w.columns,
            list(&w.window),
            w.is_across,
            list(&w.sums),
            list(&w.batch),
            w.image
        ),
        Computation::Triangle(t) => format!(
            "{kind}: rows {}, columns {}, terms {}, lower {}, {} x {}, right {:?}",
            t.rows, t.columns, t.terms, t.is_lower, t.size, t.depth, t.right
        ),
        Computation::Reduction { sums } => format!("{kind}: sums {}", list(&sums)),
        Computation::Stencil { rows, columns } => {
            format!("{kind}: rows {rows}, columns {columns}")
        }
        Computation::Elementwise => kind.to_owned(),
        Computation::Recurrence(why) => format!("{kind}: {why}"),
    }
}

fn with_names(text: &str, names: &[&str]) -> String {
    let numbered = names.iter().enumerate().rev();
    numbered.fold(text.to_owned(), |text, (k, name)| {
        text.replace(&format!("${k}"), name)
    })
}

proptest! {
    #![proptest_config(config(64))]
    #[test]
    fn roles_follow_from_the_structure(
        names in Just(NAMES.to_vec()).prop_shuffle(),
        case in 0..CASES.len(),
    ) {
        let (text, expected) = CASES[case];
        prop_assert_eq!(described(&with_names(text, &names)), with_names(expected, &names));
    }
}

#[test]
fn every_case_has_its_roles() {
    for (text, expected) in CASES {
        assert_eq!(
            described(&with_names(text, NAMES)),
            with_names(expected, NAMES)
        );
    }
}

#[test]
fn what_is_missing_is_said() {
    let of = |text: &str| Assignment::of(&parse_nest(text).unwrap()).unwrap();
    let why = |text: &str| product(&of(text)).unwrap_err().to_string();
    let outer =
        "f64 C[7][9], a[7], b[9]\nfor i in 0..7\n  for j in 0..9\n    C[i][j] = a[i] * b[j]";
    assert_eq!(
        why(outer),
        "must have rows, which one operand shares with the result, and a sum"
    );
    let rows =
        "f64 y[7], A[7][9], x[9]\nfor i in 0..7\n  for j in 0..9\n    y[i] += A[i][j] * x[j]";
    assert_eq!(
        why(rows),
        "must have rows, which one operand shares with the result, and a sum"
    );
    let alone = "f64 y[7], A[7][9]\nfor i in 0..7\n  for j in 0..9\n    y[i] += A[i][j]";
    assert_eq!(why(alone), "must be a sum of products of two tensors");
    let both =
        "f64 y[7], A[7][9], B[7][9]\nfor i in 0..7\n  for j in 0..9\n    y[i] += A[i][j] * B[i][j]";
    assert_eq!(
        why(both),
        "must have one operand that `i` indexes, and one that it does not"
    );
    let wide = "f64 O[7][8], I[7][80], F[73]
for i in 0..7
  for j in 0..8
    for p in 0..73
      O[i][j] += I[i][j + p] * F[p]";
    assert_eq!(
        window(&of(wide)).unwrap_err().to_string(),
        "must have a window of at most 64 elements, and several rows"
    );
    let strided = "f64 O[7][8], I[7][30], F[3]
for i in 0..7
  for j in 0..8
    for p in 0..3
      O[i][j] += I[i][2*j + p] * F[p]";
    assert_eq!(
        window(&of(strided)).unwrap_err().to_string(),
        "must have one operand in which neighbors in the result are neighbors"
    );
}

#[test]
fn scripts_ask_by_name() {
    let script = "let A = tensor([37, 29]); let B = tensor([29, 41]); let x = tensor([41]);
        let C = contract(A, B, [2, 1]); let y = einsum(\"ij,j->i\", B, x);
        let p = computation(build(C), \"product\");";
    let value = |expression: &str| shown(script, expression);
    assert_eq!(
        value("[p.kind, p.rows, p.columns, p.terms, p.main_left.tensor, p.target.tensor]").unwrap(),
        r#"=> ["product", "i1", "i2", "i3", "A", "C"]"#
    );
    assert_eq!(
        value("computation(build(y)).kind").unwrap(),
        r#"=> "reduction""#
    );
    let refused = value("computation(build(y), \"product\")").unwrap_err();
    assert!(
        refused.contains("argument 1 `nest` must have rows, which one operand shares"),
        "{refused}"
    );
    let unknown = value("computation(build(y), \"gemm\")").unwrap_err();
    assert!(
        unknown.contains("argument 2 `kind` must be \"product\""),
        "{unknown}"
    );
}
