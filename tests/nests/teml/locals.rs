//! Local tensors: their contents, their legal positions, and how transformations treat them.

use crate::teml::refusals::Case;
use crate::teml::trees::{becomes, level, named, nest, results};
use teml::analysis::verify::{Invalid, verify};
use teml::codegen::{generate, generate_for};
use teml::ir::Nest;
use teml::legality::Reductions;
use teml::lower::build::build;
use teml::target::Target;
use teml::transform::Arg;
use teml::transform::nest::distribute::DISTRIBUTE;
use teml::transform::nest::fuse_inner::FUSE_INNER;
use teml::transform::nest::fuse_outer::fuse_outer;
use teml::transform::nest::mode::{PARALLELIZE, VECTORIZE};
use teml::transform::nest::stripmine::STRIPMINE;
use teml::transform::nest::unroll::UNROLL;
use teml::transform::nest::unroll_and_jam::UNROLL_AND_JAM;

/// Squares of rows, by way of a tensor of one row.
const ROWS: &[&str] = &[
    "f64 A[6][5], B[6][5]",
    "for i in 0..6",
    "  local f64 t[5]",
    "  for j in 0..5",
    "    t[j] = A[i][j] * A[i][j]",
    "  for k in 0..5",
    "    B[i][k] = t[k]",
];

#[test]
fn lanes_behind_a_loop_are_overwritten_where_its_own_tensor_has_no_use_for_them() {
    let text = |read: u64| {
        let nest = nest(&[
            "f64 A[6][14], B[6][14]",
            "for i in 0..6",
            "  local f64 t[16]",
            "  for j in 0..14",
            "    t[j] = A[i][j]",
            "  vector for k in 0..13",
            "    t[k] = 2 * A[i][k]",
            &format!("  for l in 0..{read}"),
            "    B[i][l] = t[l]",
            "for o in 0..6",
            "  local f64 t[16]",
            "  for p in 0..13",
            "    t[p] = A[o][p]",
            "  for q in 0..13",
            "    B[o][q] = t[q]",
        ]);
        let target = Target::named("avx512").unwrap();
        let kernel = generate_for(&[nest], "kernel", Reductions::Strict, &target);
        kernel.unwrap_or_else(|e| panic!("{e}")).function
    };
    let whole = "f64xn(t[k]) = 2.0 * f64xn_part(A[i][k], 13 - k);";
    assert!(text(13).contains(whole), "{}", text(13));
    // Of the other tensor of that name 13 elements are read.
    let part = "TEML_F64XN_SET(t[k], 13 - k, 2.0 * f64xn_part(A[i][k], 13 - k));";
    assert!(text(14).contains(part), "{}", text(14));
}

#[test]
fn they_are_no_argument_of_the_nest() {
    let nest = nest(ROWS);
    let names: Vec<String> = nest
        .tensors()
        .iter()
        .map(|t| t.label().to_owned())
        .collect();
    assert_eq!(names, ["A", "B"]);
    assert_eq!(nest.locals().len(), 1);
    assert_eq!(nest.to_string(), ROWS.join("\n"));
    assert!(nest.notation().contains("(local, •, •)"));
}

#[test]
fn what_is_not_set_before_it_is_read_shows() {
    let unset = nest(&[
        "f64 B[2]",
        "for i in 0..2",
        "  local f64 t[]",
        "  B[i] = t[]",
    ]);
    let results = format!("{:?}", results(&unset));
    assert!(results.contains("NaN"), "{results}");
}

#[test]
fn other_nests_keep_what_has_their_name() {
    let other = nest(&["f64 t[2]", "for i in 0..2", "  t[i] = 7"]);
    let mut store = results(&other);
    let rows = nest(ROWS);
    store.extend(results(&rows));
    let before = store.clone();
    teml::interp::execute::run(&rows, &mut store).unwrap();
    assert_eq!(
        store.get(&crate::teml::trees::name("t")),
        before.get(&crate::teml::trees::name("t"))
    );
    assert!(store.contains_key(&crate::teml::trees::name("t")));
}

#[test]
fn blocks_keep_them_inside() {
    becomes(
        &STRIPMINE,
        ROWS,
        &[named("i"), Arg::Int(4)],
        &[
            "for i_o in 0..2",
            "  for i_i in 4*i_o..min(4*i_o + 4, 6)",
            "    local f64 t[5]",
            "    for j in 0..5",
            "      t[j] = A[i_i][j] * A[i_i][j]",
            "    for k in 0..5",
            "      B[i_i][k] = t[k]",
        ],
    );
}

#[test]
fn copies_have_their_own() {
    let before = [
        "f64 B[2], A[2]",
        "for i in 0..2",
        "  local f64 t[]",
        "  t[] = A[i]",
        "  B[i] = t[]",
    ];
    becomes(
        &UNROLL,
        &before,
        &[level(1)],
        &[
            "local f64 t_u0[]",
            "t_u0[] = A[0]",
            "B[0] = t_u0[]",
            "local f64 t_u1[]",
            "t_u1[] = A[1]",
            "B[1] = t_u1[]",
        ],
    );
    becomes(
        &UNROLL_AND_JAM,
        &before,
        &[level(1), Arg::Int(2)],
        &[
            "for i_o in 0..1",
            "  local f64 t_u0[]",
            "  local f64 t_u1[]",
            "  t_u0[] = A[2*i_o]",
            "  t_u1[] = A[2*i_o + 1]",
            "  B[2*i_o] = t_u0[]",
            "  B[2*i_o + 1] = t_u1[]",
        ],
    );
}

#[test]
fn iterations_with_their_own_are_independent() {
    let parallel = |lines: &[&str], l: &str| {
        let args = [Arg::Nest(nest(lines)), named(l)];
        let nest = crate::teml::trees::transform(&PARALLELIZE, &args).unwrap();
        teml::legality::independence::first_race(&nest).is_none()
    };
    assert!(parallel(ROWS, "i"));
    // One for all of them is shared.
    let mut shared = ROWS.to_vec();
    shared.swap(1, 2);
    shared[1] = "local f64 t[5]";
    assert!(!parallel(&shared, "i"));
}

/// The C of a nest with these lines.
fn c(lines: &[&str]) -> String {
    let kernel = generate(
        std::slice::from_ref(&nest(lines)),
        "kernel",
        Reductions::Strict,
    );
    kernel.unwrap().source()
}

#[test]
fn small_ones_are_variables_whatever_large_ones_there_are() {
    let text = c(&[
        "f64 B[8]",
        "local f64 large[16384]",
        "large[0] = 1",
        "for i in 0..8",
        "  local f64 small[]",
        "  small[] = large[0]",
        "  B[i] = small[]",
    ]);
    assert!(text.contains("TEML_SPACE(double, large, [16384]);"));
    assert!(text.contains("TEML_LOCAL_ZERO(double, small, [1]);"));
}

#[test]
fn lanes_share_nothing() {
    let lanes = |declaration: &str| {
        let text = c(&[
            "f64 B[8]",
            "vector for i in 0..8",
            declaration,
            "  t[0] = 1",
            "  for k in 0..i",
            "    t[0] = 2",
            "  B[i] = t[0]",
        ]);
        text.contains("#pragma omp simd")
    };
    assert!(lanes("  local f64 t[1]"));
    // gcc stores it as if it were aligned.
    assert!(!lanes("  local f64 t[4]"));
    // One place for each thread.
    assert!(!lanes("  local f64 t[16384]"));
}

#[test]
fn nests_that_are_fused_have_names_apart() {
    let a = build(&crate::teml::trees::eq(
        "B",
        &crate::teml::trees::tensor("A", &[2]),
        "i",
        "i",
    ))
    .unwrap();
    let with = |nest: &Nest| {
        let local = teml::ir::parse_nest("local f64 t[3]").unwrap();
        let trees = local.trees().iter().chain(nest.trees()).cloned();
        nest.with_trees(trees.collect())
    };
    let fused = fuse_outer(&with(&a), &with(&a), 1).unwrap();
    assert_eq!(verify(&fused), Ok(()));
    let lines = [
        "f64 B[2], A[2]",
        "local f64 t[3]",
        "local f64 t_2[3]",
        "for i in 0..2",
        "  B[i] = A[i]",
        "  B[i] = A[i]",
    ];
    assert_eq!(fused.to_string(), lines.join("\n"));
}

pub fn locals() -> Vec<Case> {
    let rows = nest(ROWS);
    let scope = Invalid::OutOfScope {
        tensor: "t".to_owned(),
    };
    let clash = Invalid::LocalClash {
        tensor: "t".to_owned(),
    };
    let twins = nest(&[
        "f64 B[2]",
        "for i in 0..2",
        "  local f64 t[]",
        "  t[] = 1",
        "for j in 0..2",
        "  local f64 t[]",
        "  B[j] = t[]",
    ]);
    let huge = nest(&[
        "f64 B[2]",
        "local f64 t[200000000]",
        "for i in 0..2",
        "  B[i] = 1",
    ]);
    let too_large = Invalid::LocalTooLarge {
        tensor: "t".to_owned(),
        bytes: 1_600_000_000,
    };
    vec![
        Case::new(
            &DISTRIBUTE,
            vec![Arg::Nest(rows), named("i")],
            scope.to_string(),
        ),
        Case::new(
            &FUSE_INNER,
            vec![Arg::Nest(twins), level(1)],
            clash.to_string(),
        ),
        Case::new(
            &VECTORIZE,
            vec![Arg::Nest(huge), level(1)],
            too_large.to_string(),
        ),
    ]
}
