//! Producers that are computed where they are read: what becomes of indices, tails and names.

use crate::refusals::Case;
use crate::trees::{
    bind, eq, initial, it, level, lists, name, named, nest, results, tensor, transform,
};
use teml::analysis::position::NoLoop;
use teml::analysis::verify::Invalid;
use teml::interp::execute;
use teml::ir::BinaryOp::Add;
use teml::ir::{Expr, Nest};
use teml::lower::build::build;
use teml::transform::nest::compute_at::COMPUTE_AT;
use teml::transform::nest::inline::INLINE;
use teml::transform::nest::producer::NoProducer;
use teml::transform::tensor::{eq as assign, vop};
use teml::transform::{Arg, Arrow, ErrorKind, Op};

/// Applies `op` to two nests, checks that the result computes what they do one after the other,
/// and compares it as it prints.
fn becomes(op: &'static Op, nests: [&[&str]; 2], place: Option<&str>, after: &[&str]) {
    let [producer, consumer] = nests.map(nest);
    let args = [Arg::Nest(producer.clone()), Arg::Nest(consumer.clone())];
    let place = place.map(|place| match place {
        "" => level(0),
        place => named(place),
    });
    let args: Vec<Arg> = args.into_iter().chain(place).collect();
    let result = transform(op, &args).unwrap_or_else(|e| panic!("{}: {}", op.name, e.kind));
    let lines: Vec<String> = result.lines().iter().map(ToString::to_string).collect();
    assert_eq!(lines, after);

    let mut expected = initial(&consumer);
    expected.extend(initial(&producer));
    execute::run(&producer, &mut expected).unwrap();
    // Local tensors of the consumer are gone afterwards, and so is what has their names.
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
                "  B[i] = T[-2*i + 12][i] + T[3][0]",
                "B[0] += T[13][4]",
            ],
        ],
        None,
        &[
            "for i in 0..5",
            "  B[i] = A[-2*i + 9][i] * x[i] + A[0][0] * x[0]",
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
                "    B[i] = T[-i + 14]",
            ],
        ],
        Some("o"),
        &[
            "for o in 3..4",
            "  local f64 T[9]",
            "  for i_2 in -o + 5..-o + 14",
            "    T[i_2 - 2] = A[i_2 - 2]",
            "  for i in o..o + 9",
            "    B[i] = T[-i + 11]",
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
                "  B[i] = T[2*i] + T[-2*i + 11]",
            ],
        ],
        Some("i"),
        &[
            "for i in 0..5",
            "  local f64 T[12]",
            "  for i_2 in max(2*i - 5, 0)..min(-2*i + 17, 12)",
            "    T[i_2] = A[i_2] + A[i_2]",
            "  B[i] = T[2*i] + T[-2*i + 11]",
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
                "    C[k] = T[-k + 6][i]",
                "    C[k] += T[-k + 5][0]",
            ],
        ],
        Some("k"),
        &[
            "for k in 1..6",
            "  local f64 T[6][1]",
            "  fill T[0..6][0..1] = 0",
            "  for i_2 in max(-k + 2, 0)..6",
            "    parallel for j in 0..1",
            "      for k_2 in 0..7",
            "        T[i_2][j] += A[i_2][k_2]",
            "  B[k] = T[k][0]",
            "  for i in 0..1",
            "    C[k] = T[-k + 6][i]",
            "    C[k] += T[-k + 5][0]",
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
        "  for i_3 in i..i + 3",
        "    T[i_3 - i] = A[i_3] + A[i_3]",
        "  local f64 U[1]",
        "  for i_2 in i + 1..i + 2",
        "    U[i_2 - i - 1] = T[i_2 - i - 1] + T[i_2 - i + 1]",
        "  V[i] = U[0] + U[0]",
    ];
    assert_eq!(all.to_string(), lines.join("\n"));
    assert_eq!(all.definition().len(), 3);
    let merged = transform(&INLINE, &[first, second]).unwrap();
    let merged = transform(&INLINE, &[Arg::Nest(merged), third]).unwrap();
    assert_eq!(results(&merged), results(&all));
}

pub fn producers() -> Vec<Case> {
    let doubled = nest(DOUBLED);
    let reader = nest(&["f64 B[12], T[12]", "for i in 0..12", "  B[i] = T[i]"]);
    let merge = |producer: &Nest, consumer: &Nest, kind: NoProducer| {
        let nests = [producer, consumer].map(|nest| Arg::Nest(nest.clone()));
        Case::new(&INLINE, nests.to_vec(), kind)
    };
    let place = |producer: &Nest, consumer: &Nest, at: Arg, kind: ErrorKind| {
        let nests = [producer, consumer].map(|nest| Arg::Nest(nest.clone()));
        let args = nests.into_iter().chain([at]).collect();
        Case::new(&COMPUTE_AT, args, kind)
    };
    let not_plain = |lines: &[&str], found: &str| {
        let found = found.to_owned();
        merge(&nest(lines), &reader, NoProducer::NotPlain { found }).at(0)
    };
    let tensor = || "T".to_owned();
    let reads_target = |lines: &[&str]| {
        let kind = NoProducer::ReadsTarget { tensor: tensor() };
        place(&nest(lines), &reader, level(1), kind.into()).at(0)
    };
    let overwritten = |line: &str, written: &str| {
        let consumer = [
            "f64 B[12], T[12], A[12]",
            "for i in 0..12",
            "  B[i] = T[i]",
            line,
        ];
        let (written, tensor) = (written.to_owned(), tensor());
        let kind = NoProducer::Overwritten { written, tensor };
        merge(&doubled, &nest(&consumer), kind).at(1)
    };
    let not_set = |index: &str, read: &str| {
        let line = format!("  B[i] = T[{index}]");
        let consumer = nest(&["f64 B[12], T[12]", "for i in 0..11", &line]);
        let producer = nest(&["f64 A[12], T[12]", "for i in 1..11", "  T[i] = A[i]"]);
        let (read, set) = (read.to_owned(), "T[1..11]".to_owned());
        let kind = NoProducer::NotSet { read, set };
        place(&producer, &consumer, level(1), kind.into()).at(1)
    };
    let other_shape = nest(&["f64 B[12], T[13]", "for i in 0..12", "  B[i] = T[i]"]);
    let not_read = |consumer: &Nest| {
        let kind = NoProducer::NotRead { tensor: tensor() };
        merge(&doubled, consumer, kind).at(1)
    };
    let twice = [
        "f64 B[12], T[12]",
        "for i in 0..12",
        "  B[i] = T[i]",
        "for j in 0..12",
        "  B[j] += T[j]",
    ];
    let elsewhere = NoProducer::ReadElsewhere {
        tensor: tensor(),
        name: name("i"),
    };
    let reduction = [
        "f64 A[12][3], T[12]",
        "fill T[0..12] = 0",
        "for i in 0..12",
        "  for k in 0..3",
        "    T[i] += A[i][k]",
    ];
    let reduces = NoProducer::Reduces { tensor: tensor() };
    let partly = [&[reduction[0], "fill T[0..11] = 0"], &reduction[2..]].concat();
    let have = vec![name("i")];
    let no_loop = NoLoop::NoName {
        name: "k".to_owned(),
        have,
    };
    let vector = nest(&["f64 B[12], T[12]", "vector for o in 0..12", "  B[o] = T[o]"]);
    let modes = Invalid::InsideVector {
        outer: name("o"),
        inner: name("i"),
        mode: "vector",
    };
    let marked = nest(&["f64 A[12], T[12]", "vector for i in 0..12", "  T[i] = A[i]"]);
    vec![
        not_plain(
            &[
                "f64 A[12], T[12]",
                "for o in 0..3",
                "  for i in 5*o..min(5*o + 5, 12)",
                "    T[i] = A[i]",
            ],
            "`i` runs over 5*o..min(5*o + 5, 12)",
        )
        .because_of(&["i"]),
        not_plain(
            &["f64 A[12], T[12]", "T[0] = A[0]", "T[1] = A[1]"],
            "2 loops or statements are side by side",
        ),
        not_plain(
            &["f64 T[12]", "for i in 0..12", "  T[i] = 1", "  T[i] = 2"],
            "2 loops or statements are side by side",
        )
        .because_of(&["i"]),
        not_plain(
            &["f64 T[12]", "fill T[0..12] = 0"],
            "there is no assignment",
        ),
        not_plain(
            &["f64 T[12]", "for i in 0..6", "  T[2*i] = 1"],
            "T is indexed by `2*i`",
        ),
        not_plain(
            &["f64 T[12][12]", "for i in 0..12", "  T[i][i] = 1"],
            "`i` indexes several dimensions",
        ),
        not_plain(
            &[
                "f64 A[3], T[12]",
                "for i in 0..12",
                "  for k in 0..3",
                "    T[i] = A[k]",
            ],
            "`k` indexes the value alone",
        ),
        Case::new(
            &INLINE,
            vec![
                Arg::Nest(nest(&["f64 T[12]", "for i in 0..12 step 2", "  T[i] = 1"])),
                Arg::Nest(reader.clone()),
            ],
            ErrorKind::Stepped {
                name: name("i"),
                step: 2,
            },
        )
        .at(0)
        .because_of(&["i"]),
        merge(&nest(&reduction), &reader, reduces).at(0),
        reads_target(&[&reduction[..1], &reduction[2..]].concat()),
        reads_target(&partly),
        reads_target(&["f64 T[12]", "for i in 0..12", "  T[i] = T[i]"]),
        not_read(&nest(&[
            "f64 B[12], A[12]",
            "for i in 0..12",
            "  B[i] = A[i]",
        ])),
        not_read(&other_shape),
        overwritten("  A[i] = 0", "A"),
        overwritten("  T[i] = 0", "T"),
        overwritten("fill A[0..12] = 0", "A"),
        not_set("i", "T[0..11]"),
        not_set("i + 1", "T[1..12]"),
        not_set("11", "T[11..12]"),
        place(&doubled, &nest(&twice), named("i"), elsewhere.into())
            .at(2)
            .because_of(&["i"]),
        place(&doubled, &reader, named("k"), no_loop.into()).at(2),
        place(&marked, &vector, level(1), modes.into()).because_of(&["o", "i"]),
        too_complex(),
    ]
}

/// Sums of sums, of which the sixth would have a million operands.
fn too_complex() -> Case {
    let stage = |k: usize| {
        let (target, source) = (format!("T{k}"), format!("T{}", k.max(1) - 1));
        let terms = vec![format!("{source}[i]"); 10].join(" + ");
        nest(&[
            &format!("f64 {target}[2], {source}[2]"),
            "for i in 0..2",
            &format!("  {target}[i] = {terms}"),
        ])
    };
    let all = (2..5).fold(stage(1), |producer, k| {
        let args = [Arg::Nest(producer), Arg::Nest(stage(k))];
        transform(&INLINE, &args).unwrap()
    });
    let args = vec![Arg::Nest(all), Arg::Nest(stage(5))];
    Case::new(&INLINE, args, ErrorKind::TooComplex).at(1)
}
