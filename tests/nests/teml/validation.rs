//! Translation validation: what it accepts, what it finds, and how it says so.

use teml::interp::Fault;
use teml::interp::symbolic::{Answer, Policy, compare};
use teml::ir::{Nest, parse_expr, parse_nest};
use teml::lower::build::build;
use teml::transform::tensor::with_shapes;

/// The nest `lines`, as if it had come of these assignments.
fn nest(definition: &[&str], lines: &[&str]) -> Nest {
    let built = definition.iter().map(|text| {
        let assignment = with_shapes(&parse_expr(text).unwrap()).unwrap();
        build(&assignment).unwrap()
    });
    let join = |a: Nest, b: Nest| a.joined(&b, Vec::new());
    let trees = parse_nest(&lines.join("\n")).unwrap().trees().to_vec();
    built.reduce(join).unwrap().with_trees(trees)
}

fn check(nest: &Nest, policy: Policy) -> Result<Answer, Fault> {
    compare(std::slice::from_ref(nest), policy, &|| false)
}

#[track_caller]
fn accepts(definition: &[&str], lines: &[&str], policy: Policy) {
    let answer = check(&nest(definition, lines), policy).unwrap();
    assert!(matches!(answer, Answer::Equal { .. }), "{answer}");
}

#[track_caller]
fn finds(definition: &[&str], lines: &[&str], expected: &str) {
    let answer = check(&nest(definition, lines), Policy::Reassociate).unwrap();
    assert_eq!(answer.to_string(), expected);
}

const ROW_SUMS: &str = "f64 s[3], A[3][4]\ns[i] = sum(j: A[i][j])";
const DOUBLED: &str = "f64 B[4], A[4]\nB[i] = A[i] + A[i]";
/// A consumer that reads its producer's neighbor.
const STENCIL: &[&str] = &[DOUBLED, "f64 C[2], B[4]\nC[i] = B[i + 1] * B[i + 2]"];

#[test]
fn another_order_of_iterations_is_accepted_where_it_is_legal() {
    let interchanged = [
        "f64 s[3], A[3][4]",
        "fill s[0..3] = 0",
        "for j in 0..4",
        "  for i in 0..3",
        "    s[i] += A[i][j]",
    ];
    accepts(&[ROW_SUMS], &interchanged, Policy::Strict);
    let reversed = [
        "f64 s[3], A[3][4]",
        "fill s[0..3] = 0",
        "for i in 0..3",
        "  for j in -3..1",
        "    s[i] += A[i][-j]",
    ];
    accepts(&[ROW_SUMS], &reversed, Policy::Reassociate);
    let strict = check(&nest(&[ROW_SUMS], &reversed), Policy::Strict).unwrap();
    assert_eq!(
        strict.to_string(),
        "s[0] has another value than in the definition: there it is last set by \
         `s[0] += A[0][3]` at i = 0, j = 3; here it is last set by `s[0] += A[0][0]` at i = 0, \
         j = 0"
    );
}

#[test]
fn partial_results_and_buffers_are_seen_through() {
    let partial = [
        "f64 s[3], A[3][4]",
        "for i in 0..3",
        "  local f64 p[2]",
        "  fill p[0..2] = 0",
        "  for j in 0..2",
        "    p[0] += A[i][2*j]",
        "    p[1] += A[i][2*j + 1]",
        "  s[i] = p[1]",
        "  s[i] += p[0]",
    ];
    accepts(&[ROW_SUMS], &partial, Policy::Reassociate);
    let register = [
        "f64 s[3], A[3][4]",
        "parallel for i in 0..3",
        "  local f64 t[]",
        "  t[] = 0",
        "  for j in 0..4",
        "    t[] += A[i][j]",
        "  s[i] = t[]",
    ];
    accepts(&[ROW_SUMS], &register, Policy::Strict);
    // The intermediate result keeps one element at a time, which suffices.
    let contracted = [
        "f64 C[2], A[4]",
        "for i in 0..2",
        "  local f64 t[2]",
        "  for k in 0..2",
        "    t[k] = A[i + k + 1] + A[i + k + 1]",
        "  C[i] = t[0] * t[1]",
    ];
    accepts(STENCIL, &contracted, Policy::Strict);
}

#[test]
fn a_consumer_too_early_is_found() {
    let fused = [
        "f64 B[4], A[4], C[2]",
        "for i in 0..4",
        "  B[i] = A[i] + A[i]",
        "  for k in max(i - 1, 0)..min(i, 2)",
        "    C[k] = B[k + 1] * B[k + 2]",
    ];
    finds(
        STENCIL,
        &fused,
        "C[0] has another value than in the definition: there it is last set by \
         `C[0] = B[1] * B[2]` at i = 0; here it is last set by `C[0] = B[1] * B[2]` at i = 1, \
         k = 0",
    );
}

#[test]
fn what_is_lost_or_done_twice_is_found() {
    let dropped = ["f64 B[4], A[4]", "for i in 0..3", "  B[i] = A[i] + A[i]"];
    finds(
        &[DOUBLED],
        &dropped,
        "B[3] has another value than in the definition: there it is last set by \
         `B[3] = A[3] + A[3]` at i = 3; here it is never set",
    );
    let twice = [
        "f64 s[3], A[3][4]",
        "fill s[0..3] = 0",
        "for i in 0..3",
        "  for j_o in 0..2",
        "    for j in 3*j_o..min(3*j_o + 4, 4)",
        "      s[i] += A[i][j]",
    ];
    finds(
        &[ROW_SUMS],
        &twice,
        "s[0] has another value than in the definition: there it is last set by \
         `s[0] += A[0][3]` at i = 0, j = 3; here it is last set by `s[0] += A[0][3]` at i = 0, \
         j_o = 1, j = 3",
    );
    let filled_late = [
        "f64 s[3], A[3][4]",
        "for i in 0..3",
        "  for j in 0..4",
        "    s[i] += A[i][j]",
        "fill s[0..3] = 0",
    ];
    finds(
        &[ROW_SUMS],
        &filled_late,
        "s[0] has another value than in the definition: there it is last set by \
         `s[0] += A[0][3]` at i = 0, j = 3; here it is last set by `fill s[0..3] = 0`",
    );
    let not_filled = [
        "f64 s[3], A[3][4]",
        "for i in 0..3",
        "  for j in 0..4",
        "    s[i] += A[i][j]",
    ];
    let answer = check(&nest(&[ROW_SUMS], &not_filled), Policy::Reassociate);
    assert!(matches!(answer, Ok(Answer::Differs(_))));
    let beyond = ["f64 B[4], A[4]", "for i in 0..5", "  B[i] = A[i] + A[i]"];
    let answer = check(&nest(&[DOUBLED], &beyond), Policy::Reassociate);
    assert!(matches!(answer, Err(Fault::OutOfBounds { .. })));
}

#[test]
fn buffers_that_do_not_cover_or_are_not_stored_back_are_found() {
    let not_covered = [
        "f64 B[4], A[4]",
        "local f64 t[4]",
        "for k in 0..3",
        "  t[k] = A[k]",
        "for i in 0..4",
        "  B[i] = t[i] + t[i]",
    ];
    finds(
        &[DOUBLED],
        &not_covered,
        "t[3] is read before it is set: `B[3] = t[3] + t[3]` at i = 3",
    );
    // Each iteration has another one.
    let forgotten = [
        "f64 s[3], A[3][4]",
        "for i in 0..3",
        "  for j in 0..4",
        "    local f64 t[]",
        "    t[] += A[i][j]",
        "    s[i] = t[]",
    ];
    finds(
        &[ROW_SUMS],
        &forgotten,
        "t is read before it is set: `t[] += A[0][0]` at i = 0, j = 0",
    );
    let not_stored = [
        "f64 B[4], A[4]",
        "local f64 t[4]",
        "for i in 0..4",
        "  t[i] = A[i] + A[i]",
    ];
    finds(
        &[DOUBLED],
        &not_stored,
        "B[0] has another value than in the definition: there it is last set by \
         `B[0] = A[0] + A[0]` at i = 0; here it is never set",
    );
    let scratch = [
        "f64 B[4], A[4], t[4]",
        "for i in 0..4",
        "  t[i] = A[i]",
        "  B[i] = t[i] + t[i]",
    ];
    finds(
        &[DOUBLED],
        &scratch,
        "t[0] has another value than in the definition: there it is never set; here it is last \
         set by `t[0] = A[0]` at i = 0",
    );
}

#[test]
fn iterations_at_the_same_time_are_kept_apart() {
    let reduction = [
        "f64 s[3], A[3][4]",
        "fill s[0..3] = 0",
        "for i in 0..3",
        "  parallel for j in 0..4",
        "    s[i] += A[i][j]",
    ];
    finds(
        &[ROW_SUMS],
        &reduction,
        "iterations 0 and 1 of the parallel loop `j` both touch s[0]: `s[0] += A[0][0]` at i = 0, \
         j = 0, and `s[0] += A[0][1]` at i = 0, j = 1",
    );
    let collapsed = [
        "f64 s[3], A[3][4]",
        "fill s[0..3] = 0",
        "parallel collapse(2) for i in 0..3",
        "  for j in 0..4",
        "    s[i] += A[i][j]",
    ];
    let answer = check(&nest(&[ROW_SUMS], &collapsed), Policy::Reassociate).unwrap();
    assert!(
        answer
            .to_string()
            .starts_with("iterations 0 and 1 of the parallel loop `j`")
    );
    let shared = [
        "f64 B[4], A[4]",
        "local f64 t[]",
        "vector for i in 0..4",
        "  t[] = A[i]",
        "  B[i] = t[] + t[]",
    ];
    finds(
        &[DOUBLED],
        &shared,
        "iterations 0 and 1 of the vector loop `i` both touch t: `t[] = A[0]` at i = 0, and \
         `t[] = A[1]` at i = 1",
    );
    let mut private = shared;
    private.swap(1, 2);
    private[2] = "  local f64 t[]";
    accepts(&[DOUBLED], &private, Policy::Strict);
    // Any number of iterations may read elements that none writes, and a later loop may write them.
    let later = [
        "f64 B[4], A[4]",
        "for k in 0..2",
        "  parallel for i in 0..4",
        "    B[i] = A[0] + A[3]",
        "  parallel for j in 0..4",
        "    B[3 - j] = A[3 - j] + A[3 - j]",
    ];
    accepts(&[DOUBLED], &later, Policy::Strict);
}

#[test]
fn nests_are_compared_one_after_the_other() {
    let nests: Vec<Nest> = STENCIL
        .iter()
        .map(|text| nest(&[text], &["f64 A[1]"]))
        .collect();
    let parts = [
        nests[0].with_trees(nests[0].originals()[0].trees.to_vec()),
        nests[1].with_trees(nests[1].originals()[0].trees.to_vec()),
    ];
    let answer = |nests: &[Nest]| compare(nests, Policy::Strict, &|| false);
    assert_eq!(answer(&parts), Ok(Answer::Equal { elements: 6 }));
    let read = parse_nest("f64 A[1]\nA[0] = 1").unwrap();
    assert!(matches!(answer(&[read]), Err(Fault::Unknown(_))));
    assert_eq!(
        compare(&parts, Policy::Strict, &|| true),
        Err(Fault::Stopped)
    );
    let huge = nest(
        &["f64 B[2000000], A[2000000]\nB[i] = A[i] * A[i]"],
        &["f64 B[2000000]", "B[0] = 1"],
    );
    let fault = answer(&[huge]).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "A[2000000] has more than 1048576 elements, which are too many to follow one by one"
    );
}

const PADDED: &str = "f64 P[6], A[4]\nP[i + 1] = A[i] elsewhere 0";

#[test]
fn a_border_is_part_of_what_is_computed() {
    let head = "f64 P[6], A[4]";
    let reversed = [
        head,
        "fill P[0..6] = 0",
        "for i in -3..1",
        "  P[1 - i] = A[-i]",
    ];
    accepts(&[PADDED], &reversed, Policy::Strict);
    finds(
        &[PADDED],
        &[head, "for i in 0..4", "  P[i + 1] = A[i]"],
        "P[0] has another value than in the definition: there it is last set by \
         `fill P[0..6] = 0`; here it is never set",
    );
    finds(
        &[PADDED],
        &[
            head,
            "for i in 0..4",
            "  P[i + 1] = A[i]",
            "fill P[0..6] = 0",
        ],
        "P[1] has another value than in the definition: there it is last set by \
         `P[1] = A[0]` at i = 0; here it is last set by `fill P[0..6] = 0`",
    );
}
