//! Producers that are computed at their reads: indices, tails and names.

use crate::teml::trees::{
    bind, eq, initial, it, level, lists, loops, named, nest, results, tensor, transform,
};
use teml::interp::execute;
use teml::ir::BinaryOp::Add;
use teml::ir::Expr;
use teml::lower::build::build;
use teml::transform::nest::compute_at::COMPUTE_AT;
use teml::transform::nest::inline::INLINE;
use teml::transform::tensor::{eq as assign, vop};
use teml::transform::{Arg, Arrow, Op};

/// Applies `op` to two nests, checks that the result computes what they do one after the other,
/// and compares it as it prints.
fn becomes(op: &'static Op, nests: [&[&str]; 2], place: Option<&str>, after: &[&str]) {
    let place = place.map(|place| match place {
        "" => level(0),
        place => named(place),
    });
    becomes_in(op, nests, place, after);
}

/// The same in any loop, or in several.
fn becomes_in(op: &'static Op, nests: [&[&str]; 2], place: Option<Arg>, after: &[&str]) {
    let [producer, consumer] = nests.map(nest);
    let args = [Arg::Nest(producer.clone()), Arg::Nest(consumer.clone())];
    let args: Vec<Arg> = args.into_iter().chain(place).collect();
    let result = transform(op, &args).unwrap_or_else(|e| panic!("{}: {e}", op.name));
    let lines: Vec<String> = result.lines().iter().map(ToString::to_string).collect();
    assert_eq!(lines, after);

    let mut expected = initial(&consumer);
    expected.extend(initial(&producer));
    execute::run(&producer, &mut expected).unwrap();
    // Local tensors of the consumer disappear, and so do tensors with their names.
    let mut after = expected.clone();
    execute::run(&consumer, &mut after).unwrap();
    expected.extend(after);
    let found = results(&result);
    expected.retain(|name, _| found.contains_key(name));
    assert_eq!(found, expected, "{result}");
}

const DOUBLED: &[&str] = &["f64 A[12], T[12]", "for i in 0..12", "  T[i] = A[i] + A[i]"];

#[test]
fn inline_substitutes_indices() {
    becomes(
        &INLINE,
        [
            &[
                "f64 A[12][5], T[14][5], x[5]",
                "for j in 0..5",
                "  for i in 1..12",
                "    T[i + 2][j] = A[i - 1][j] * x[j]",
            ],
            &[
                "f64 B[5], T[14][5]",
                "for i in 0..5",
                "  B[i] = T[12 - 2*i][i] + T[3][0]",
                "B[0] += T[13][4]",
            ],
        ],
        None,
        &[
            "for i in 0..5",
            "  B[i] = A[9 - 2*i][i] * x[i] + A[0][0] * x[0]",
            "B[0] += A[10][4] * x[4]",
        ],
    );
}

#[test]
fn inline_inserts_scalars_and_constants() {
    let read = ["f64 B[3], T[2][3]", "for j in 0..3", "  B[j] = T[1][j]"];
    let set = ["f64 T[2][3]", "for i in 0..3", "  T[1][i] = 7"];
    becomes(
        &INLINE,
        [&set, &read],
        None,
        &["for j in 0..3", "  B[j] = 7"],
    );
    let read = ["f64 B[3], t", "for j in 0..3", "  B[j] = t * t"];
    let after = ["for j in 0..3", "  B[j] = A[2] * A[2]"];
    becomes(&INLINE, [&["f64 t, A[3]", "t = A[2]"], &read], None, &after);
}

#[test]
fn local_tensors_of_the_consumer_keep_out_of_the_way() {
    becomes(
        &INLINE,
        [
            DOUBLED,
            &[
                "f64 B[12], T[12]",
                "for i in 0..12",
                "  local f64 A[]",
                "  A[] = T[i]",
                "  B[i] = A[]",
            ],
        ],
        None,
        &[
            "for i in 0..12",
            "  local f64 A_2[]",
            "  A_2[] = A[i] + A[i]",
            "  B[i] = A_2[]",
        ],
    );
}

#[test]
fn the_last_block_computes_less() {
    becomes(
        &COMPUTE_AT,
        [
            DOUBLED,
            &[
                "f64 B[12], T[12]",
                "for o in 0..3",
                "  for i in 5*o + 1..min(5*o + 6, 11)",
                "    B[i] = T[i + 1] + T[i - 1]",
            ],
        ],
        Some("o"),
        &[
            "for o in 0..3",
            "  local f64 T[7]",
            "  for i_2 in 5*o..min(5*o + 7, 12)",
            "    T[i_2 - 5*o] = A[i_2] + A[i_2]",
            "  for i in 5*o + 1..min(5*o + 6, 11)",
            "    B[i] = T[i - 5*o + 1] + T[i - 5*o - 1]",
        ],
    );
}

#[test]
fn each_of_several_loops_has_its_own_part() {
    becomes_in(
        &COMPUTE_AT,
        [
            &[
                "f64 A[12], T[12], T_part[12]",
                "for i in 0..12",
                "  T[i] = A[i] + T_part[i]",
            ],
            &[
                "f64 B[12], T[12]",
                "for i_f in 1..2",
                "  B[i_f] = T[i_f]",
                "for o in 0..2",
                "  for i in 4*o + 2..4*o + 6",
                "    B[i] = T[i + 1] + T[i - 1]",
                "for p in 0..1",
                "  for k in 10..12",
                "    B[k] = T[k]",
                "for q in 0..1",
                "  for l in 0..2",
                "    B[l] += T[l + 2]",
            ],
        ],
        Some(loops(&["p", "o", "i_f", "q"])),
        &[
            "for i_f in 1..2",
            "  local f64 T_part3[]",
            "  T_part3[] = A[i_f] + T_part[i_f]",
            "  B[i_f] = T_part3[]",
            "for o in 0..2",
            "  local f64 T_part2[6]",
            "  for i_3 in 4*o + 1..4*o + 7",
            "    T_part2[i_3 - 4*o - 1] = A[i_3] + T_part[i_3]",
            "  for i in 4*o + 2..4*o + 6",
            "    B[i] = T_part2[i - 4*o] + T_part2[i - 4*o - 2]",
            "for p in 0..1",
            "  local f64 T[2]",
            "  for i_2 in 10..12",
            "    T[i_2 - 10] = A[i_2] + T_part[i_2]",
            "  for k in 10..12",
            "    B[k] = T[k - 10]",
            "for q in 0..1",
            "  local f64 T[2]",
            "  for i_4 in 2..4",
            "    T[i_4 - 2] = A[i_4] + T_part[i_4]",
            "  for l in 0..2",
            "    B[l] += T[l]",
        ],
    );
}

#[test]
fn no_more_is_computed_than_the_producer_sets() {
    // An iteration reads 8 of the 9 elements that are set, or all of them.
    let set = [
        "f64 A[12], T[12]",
        "for i in 2..11",
        "  T[i + 1] = A[i - 2]",
    ];
    becomes(
        &COMPUTE_AT,
        [
            &set,
            &[
                "f64 B[12], T[12]",
                "for o in 3..5",
                "  for i in o..o + 8",
                "    B[i] = T[i]",
            ],
        ],
        Some("o"),
        &[
            "for o in 3..5",
            "  local f64 T[8]",
            "  for i_2 in o - 1..o + 7",
            "    T[i_2 - o + 1] = A[i_2 - 2]",
            "  for i in o..o + 8",
            "    B[i] = T[i - o]",
        ],
    );
    becomes(
        &COMPUTE_AT,
        [
            &set,
            &[
                "f64 B[12], T[12]",
                "for o in 3..4",
                "  for i in o..o + 9",
                "    B[i] = T[14 - i]",
            ],
        ],
        Some("o"),
        &[
            "for o in 3..4",
            "  local f64 T[9]",
            "  for i_2 in 5 - o..14 - o",
            "    T[i_2 - 2] = A[i_2 - 2]",
            "  for i in o..o + 9",
            "    B[i] = T[11 - i]",
        ],
    );
}

#[test]
fn reads_in_both_directions_need_all() {
    becomes(
        &COMPUTE_AT,
        [
            DOUBLED,
            &[
                "f64 B[5], T[12]",
                "for i in 0..5",
                "  B[i] = T[2*i] + T[11 - 2*i]",
            ],
        ],
        Some("i"),
        &[
            "for i in 0..5",
            "  local f64 T[12]",
            "  for i_2 in max(2*i - 5, 0)..min(17 - 2*i, 12)",
            "    T[i_2] = A[i_2] + A[i_2]",
            "  B[i] = T[2*i] + T[11 - 2*i]",
        ],
    );
}

#[test]
fn reductions_begin_in_the_loop() {
    becomes(
        &COMPUTE_AT,
        [
            &[
                "f64 A[6][7], T[6][1]",
                "fill T[0..6][0..1] = 0",
                "for i in 0..6",
                "  parallel for j in 0..1",
                "    for k in 0..7",
                "      T[i][j] += A[i][k]",
            ],
            &[
                "f64 B[6], C[6], T[6][1]",
                "for k in 1..6",
                "  B[k] = T[k][0]",
                "  for i in 0..1",
                "    C[k] = T[6 - k][i]",
                "    C[k] += T[5 - k][0]",
            ],
        ],
        Some("k"),
        &[
            "for k in 1..6",
            "  local f64 T[6]",
            "  fill T[0..6] = 0",
            "  for i_2 in max(2 - k, 0)..6",
            "    for k_2 in 0..7",
            "      T[i_2] += A[i_2][k_2]",
            "  B[k] = T[k]",
            "  for i in 0..1",
            "    C[k] = T[6 - k]",
            "    C[k] += T[5 - k]",
        ],
    );
}

#[test]
fn the_whole_nest_can_hold_it() {
    becomes(
        &COMPUTE_AT,
        [
            &["f64 A[12], t", "t = A[3]"],
            &["f64 B[4], t", "B[0] = t", "for i in 1..4", "  B[i] = t"],
        ],
        Some(""),
        &[
            "local f64 t",
            "t = A[3]",
            "B[0] = t",
            "for i in 1..4",
            "  B[i] = t",
        ],
    );
}

#[test]
fn three_stages_share_a_loop() {
    let stage = |name: &str, of: &Expr| {
        let [left, right] = [it("i").plus_constant(-1), it("i").plus_constant(1)];
        let value = vop::vop(Add, of, of, &[Some(vec![left]), Some(vec![right])]).unwrap();
        let to = vec![it("i").plus_constant(-1)];
        bind(
            name,
            assign::eq(&value, &Arrow { from: vec![], to }).unwrap(),
        )
    };
    let middle = |name: &str, of: &Expr| {
        let twice = vop::vop(Add, of, of, &lists(["i", "i"])).unwrap();
        eq(name, &twice, "ε", "i")
    };
    let first = middle("T", &tensor("A", &[20]));
    let second = stage("U", &first);
    let third = middle("V", &second);
    let [first, second, third] = [&first, &second, &third].map(|e| Arg::Nest(build(e).unwrap()));
    let both = transform(&COMPUTE_AT, &[second.clone(), third.clone(), named("i")]).unwrap();
    let all = transform(&COMPUTE_AT, &[first.clone(), Arg::Nest(both), named("i")]).unwrap();
    let lines = [
        "f64 A[20], V[18]",
        "for i in 0..18",
        "  local f64 T[3]",
        "  for i_2 in i..i + 3",
        "    T[i_2 - i] = A[i_2] + A[i_2]",
        "  local f64 U[]",
        "  U[] = T[0] + T[2]",
        "  V[i] = U[] + U[]",
    ];
    assert_eq!(all.to_string(), lines.join("\n"));
    assert_eq!(all.definition().len(), 3);
    let merged = transform(&INLINE, &[first, second]).unwrap();
    let merged = transform(&INLINE, &[Arg::Nest(merged), third]).unwrap();
    assert_eq!(results(&merged), results(&all));
}
