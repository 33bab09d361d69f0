//! Buffers: their contents, tails and odd indices, and refusals.

use crate::teml::refusals::Case;
use crate::teml::trees::{
    becomes, eq, level, name, named, nest, results, tensor, transform, vop, word,
};
use teml::analysis::verify::Invalid;
use teml::ir::BinaryOp::{Add, Mul};
use teml::ir::{Elem, Nest, ShapeError};
use teml::lower::build::build;
use teml::transform::Arg;
use teml::transform::nest::fuse_outer::fuse_outer;
use teml::transform::nest::localize::{LOCALIZE, localize};
use teml::transform::nest::pack::PACK;
use teml::transform::nest::pad_buffer::PAD_BUFFER;
use teml::transform::nest::panels::PANELS;
use teml::transform::nest::stage::STAGE;
use teml::transform::tensor::declare;

/// A copy with a stencil: windows of 3 elements, the first starting below 0.
const WINDOWS: &[&str] = &[
    "f64 B[10], A[10]",
    "for h_o in 0..3",
    "  for h in max(4*h_o, 1)..min(4*h_o + 4, 9)",
    "    for k in 0..3",
    "      B[h] += A[h + k - 1]",
];

#[test]
fn windows_of_tails_stay_inside_of_the_tensor() {
    becomes(
        &PACK,
        WINDOWS,
        &[named("h_o"), word("A")],
        &[
            "for h_o in 0..3",
            "  local f64 A_pack[6]",
            "  for A_pack_1 in max(0, 1 - 4*h_o)..min(6, 11 - 4*h_o)",
            "    A_pack[A_pack_1] = A[A_pack_1 + 4*h_o - 1]",
            "  for h in max(4*h_o, 1)..min(4*h_o + 4, 9)",
            "    for k in 0..3",
            "      B[h] += A_pack[h + k - 4*h_o]",
        ],
    );
}

#[test]
fn one_buffer_holds_all_accesses_of_an_iteration() {
    becomes(
        &PACK,
        &[
            "f64 B[4], A[9]",
            "for i in 0..4",
            "  B[i] = A[2*i] + A[2*i + 2] * A[8 - 2*i]",
        ],
        &[named("i"), word("A")],
        &[
            "for i in 0..4",
            "  local f64 A_pack[9]",
            "  for A_pack_1 in max(2*i - 4, 0)..9",
            "    A_pack[A_pack_1] = A[A_pack_1]",
            "  B[i] = A_pack[2*i] + A_pack[2*i + 2] * A_pack[8 - 2*i]",
        ],
    );
    becomes(
        &PACK,
        &[
            "f64 B[4], A[9]",
            "for i in 0..4",
            "  B[i] = A[2*i] + A[2*i + 2]",
        ],
        &[named("i"), word("A")],
        &[
            "for i in 0..4",
            "  local f64 A_pack[3]",
            "  for A_pack_1 in 0..3",
            "    A_pack[A_pack_1] = A[A_pack_1 + 2*i]",
            "  B[i] = A_pack[0] + A_pack[2]",
        ],
    );
}

#[test]
fn single_elements_need_no_loop_but_where_there_may_be_none() {
    becomes(
        &PACK,
        &[
            "f64 B[3][4], A[3][1]",
            "for i in 0..3",
            "  for j in 0..4",
            "    B[i][j] = A[i][0]",
        ],
        &[named("i"), word("A")],
        &[
            "for i in 0..3",
            "  local f64 A_pack[]",
            "  A_pack[] = A[i][0]",
            "  for j in 0..4",
            "    B[i][j] = A_pack[]",
        ],
    );
    becomes(
        &PACK,
        &[
            "f64 B[5], A[3]",
            "for i in 0..5",
            "  for j in i..min(i + 1, 3)",
            "    B[i] = A[j]",
        ],
        &[named("i"), word("A")],
        &[
            "for i in 0..5",
            "  local f64 A_pack[]",
            "  for A_pack_1 in 0..min(1, 3 - i)",
            "    A_pack[] = A[A_pack_1 + i]",
            "  for j in i..min(i + 1, 3)",
            "    B[i] = A_pack[]",
        ],
    );
}

#[test]
fn buffers_are_packed_again() {
    let before = [
        "f64 B[6][5], A[6][5]",
        "for i in 0..6",
        "  for j in 0..5",
        "    B[i][j] = A[i][j]",
    ];
    let once = crate::teml::trees::transformed(&PACK, &nest(&before), &[level(0), word("A")]);
    let again = [named("i"), word("A_pack")];
    let twice = crate::teml::trees::transformed(&PACK, &once, &again);
    let lines: Vec<String> = twice.lines().iter().map(ToString::to_string).collect();
    assert_eq!(
        lines[4..],
        [
            "for i in 0..6",
            "  local f64 A_pack_pack[5]",
            "  for A_pack_pack_2 in 0..5",
            "    A_pack_pack[A_pack_pack_2] = A_pack[i][A_pack_pack_2]",
            "  for j in 0..5",
            "    B[i][j] = A_pack_pack[j]",
        ]
    );
}

#[test]
fn names_that_are_taken_are_counted_on() {
    let lines = [
        "f64 B[4], A[4], A_pack[1]",
        "for A_pack2_1 in 0..4",
        "  B[A_pack2_1] = A[A_pack2_1]",
        "A_pack[0] = A[0]",
    ];
    becomes(
        &PACK,
        &lines,
        &[level(1), word("A")],
        &[
            "for A_pack2_1 in 0..4",
            "  local f64 A_pack3[]",
            "  A_pack3[] = A[A_pack2_1]",
            "  B[A_pack2_1] = A_pack3[]",
            "A_pack[0] = A[0]",
        ],
    );
}

#[test]
fn what_is_set_first_is_not_loaded() {
    let stage = |head: &str, middle: &[&str], after: &[&str]| {
        let before = [&["f64 y[4], A[4][5]", head], middle].concat();
        becomes(&STAGE, &before, &[level(1), word("y")], after);
    };
    stage(
        "for i in 0..4",
        &[
            "  fill y[i..+1] = 0",
            "  for j in 0..5",
            "    y[i] += A[i][j]",
        ],
        &[
            "for i in 0..4",
            "  local f64 y_tile[]",
            "  fill y_tile[] = 0",
            "  for j in 0..5",
            "    y_tile[] += A[i][j]",
            "  y[i] = y_tile[]",
        ],
    );
    stage(
        "for o in 0..2",
        &[
            "  for i in 3*o..min(3*o + 3, 4)",
            "    y[i] = A[i][0]",
            "  for j in 3*o..min(3*o + 3, 4)",
            "    y[j] += A[j][1]",
        ],
        &[
            "for o in 0..2",
            "  local f64 y_tile[3]",
            "  for i in 3*o..min(3*o + 3, 4)",
            "    y_tile[i - 3*o] = A[i][0]",
            "  for j in 3*o..min(3*o + 3, 4)",
            "    y_tile[j - 3*o] += A[j][1]",
            "  for y_store_1 in 0..min(3, 4 - 3*o)",
            "    y[3*o + y_store_1] = y_tile[y_store_1]",
        ],
    );
}

/// Whether `stage` in the outermost loop loads the elements of `y` that `lines` leave.
fn loads(lines: &[&str]) -> bool {
    let before = nest(&[&["f64 y[12], A[12]"], lines].concat());
    let after = crate::teml::trees::transformed(&STAGE, &before, &[level(1), word("y")]);
    after.has_loop(&name("y_load_1"))
}

#[test]
fn what_may_not_be_set_is_loaded() {
    // All of it, in one loop, in blocks, backwards, and in blocks with a partial last one.
    for whole in [
        &["for t in 0..2", "  for i in 0..12", "    y[i] = A[i]"][..],
        &["for t in 0..2", "  for i in 0..12", "    y[11 - i] = A[i]"],
        &[
            "for t in 0..2",
            "  for o in 0..3",
            "    for i in 0..4",
            "      y[4*o + i] = A[i]",
        ],
        &[
            "for t in 0..2",
            "  for o in 0..3",
            "    for i in 5*o..min(5*o + 5, 12)",
            "      y[i] = A[i]",
        ],
    ] {
        assert!(!loads(whole), "{whole:?}");
    }
    // Holes, a diagonal, blocks that do not touch, loops that may not run, a value from before.
    for part in [
        &["for t in 0..2", "  for i in 0..6", "    y[2*i] = A[i]"][..],
        &[
            "for t in 0..2",
            "  for i in 0..12 step 2",
            "    y[i] = A[i]",
        ],
        &[
            "for t in 0..2",
            "  for o in 0..3",
            "    for i in 4*o..min(4*o + 4, 3*o + 2)",
            "      y[i] = A[i]",
        ],
        &[
            "for t in 0..2",
            "  for o in 0..3",
            "    for i in 0..min(4, t + 2)",
            "      y[4*o + i] = A[i]",
        ],
        &[
            "for t in 0..2",
            "  for k in 0..t",
            "    for i in 0..12",
            "      y[i] = A[i]",
        ],
        &["for t in 0..2", "  for i in 0..12", "    y[i] += A[i]"],
        &[
            "for t in 0..2",
            "  for i in 0..6",
            "    y[i] = A[i]",
            "  for j in 6..12",
            "    y[j] = A[j]",
        ],
    ] {
        assert!(loads(part), "{part:?}");
    }
    let diagonal = nest(&[
        "f64 y[4][4], A[4]",
        "for t in 0..2",
        "  for i in 0..4",
        "    y[i][i] = A[i]",
    ]);
    let staged = crate::teml::trees::transformed(&STAGE, &diagonal, &[level(1), word("y")]);
    assert!(staged.has_loop(&name("y_load_1")));
}

#[test]
fn threads_have_their_own() {
    let lines = [
        "f64 y[8], A[8][5]",
        "parallel for o in 0..2",
        "  for j in 0..5",
        "    for i in 4*o..4*o + 4",
        "      y[i] += A[i][j]",
    ];
    let staged = crate::teml::trees::transformed(&STAGE, &nest(&lines), &[named("o"), word("y")]);
    let packed = crate::teml::trees::transformed(&PACK, &staged, &[named("o"), word("A")]);
    assert_eq!(teml::legality::independence::first_race(&packed), None);
}

/// `D = A * A`, `E = D + A` in common loops down to `level`.
fn squares(level: i64) -> Nest {
    let a = tensor("A", &[6, 5]);
    let lists = ["i j", "i j"];
    let d = eq("D", &vop(Mul, &a, &a, lists), "ε", "i j");
    let e = eq("E", &vop(Add, &d, &a, lists), "ε", "i j");
    fuse_outer(&build(&d).unwrap(), &build(&e).unwrap(), level).unwrap()
}

#[test]
fn temporaries_are_as_small_as_the_loops_in_common_allow() {
    let all = |level: i64| {
        let before = squares(level);
        let after = localize(&before, "D").unwrap();
        let names: Vec<String> = after
            .tensors()
            .iter()
            .map(|t| t.label().to_owned())
            .collect();
        assert_eq!(names, ["A", "E"]);
        assert_eq!(results(&after)["E"], results(&before)["E"]);
        let locals = after.locals();
        locals[0].to_string()
    };
    assert_eq!([1, 2].map(all), ["D[5]", "D[]"]);
}

#[test]
fn a_value_that_is_assigned_once_more_is_a_result() {
    let a = tensor("A", &[6]);
    let d = eq("D", &a, "i", "i");
    let e = eq("E", &d, "i", "i");
    let again = eq("D", &e, "i", "i");
    let nests = [d, e, again].map(|x| build(&x).unwrap());
    let [first, second, third] = &nests;
    let joined = fuse_outer(&fuse_outer(first, second, 1).unwrap(), third, 1).unwrap();
    let error = localize(&joined, "D").unwrap_err();
    let text = "D is not computed for a later assignment of the nest alone";
    assert_eq!(error.text, text);
}

pub fn buffers() -> Vec<Case> {
    let copy = nest(&[
        "f64 B[4][5], A[4][5]",
        "for i in 0..4",
        "  for j in 0..5",
        "    B[i][j] = A[i][j]",
    ]);
    let own = nest(&["f64 A[4]", "for i in 1..4", "  A[i] = A[i - 1]"]);
    let huge = nest(&[
        "f64 B[200000000], A[200000000]",
        "for i in 0..200000000",
        "  B[i] = A[i]",
    ]);
    let too_large = Invalid::LocalTooLarge {
        tensor: "A_pack".to_owned(),
        bytes: 1_600_000_000,
    };
    let unnamed = Arg::Expr(declare::tensor(&[4], Elem::F64).unwrap());
    let not_used = |tensor: &str, l: Option<&str>| {
        let place = l.map_or("the nest".to_owned(), |l| format!("loop `{l}`"));
        format!("{place} does not use {tensor}: it uses B, A")
    };
    let carried = "the nest writes A, but would read a copy of it: A[i] = A[i - 1]".to_owned();
    let only_read = "the nest only reads A".to_owned();
    let no_order =
        |order: &[i64]| format!("{order:?} does not list each of the 2 dimensions of A once");
    let pack = |nest: &Nest, l: Arg, tensor: Arg, kind: String| {
        Case::new(&PACK, vec![Arg::Nest(nest.clone()), l, tensor], kind)
    };
    let ordered = |order: &[i64]| {
        let order_arg = Arg::Order(order.to_vec());
        let args = vec![Arg::Nest(copy.clone()), level(0), word("A"), order_arg];
        Case::new(&PACK, args, no_order(order)).at(3)
    };
    let no_read = |read: i64| {
        let order = Arg::Order(vec![2, 1]);
        let args = vec![
            Arg::Nest(copy.clone()),
            level(0),
            word("A"),
            order,
            Arg::Int(read),
        ];
        let kind = format!("the nest reads A once: {read} is not between 1 and 1");
        Case::new(&PACK, args, kind).at(4)
    };
    let stage = |nest: &Nest, l: Arg, kind: String| {
        Case::new(&STAGE, vec![Arg::Nest(nest.clone()), l, word("A")], kind)
    };
    let local = |nest: &Nest, tensor: &str, kind: String| {
        Case::new(&LOCALIZE, vec![Arg::Nest(nest.clone()), word(tensor)], kind)
    };
    [
        vec![
            pack(
                &copy,
                level(1),
                unnamed,
                "this tensor has no name yet".to_owned(),
            )
            .at(2),
            pack(&copy, level(1), word("X"), not_used("X", Some("i")))
                .at(2)
                .because_of(&["i"]),
            pack(&copy, level(0), word(""), not_used("", None)).at(2),
            pack(&own, level(0), word("A"), carried),
            pack(&huge, level(0), word("A"), too_large.to_string()),
            no_read(0),
            no_read(2),
            no_read(i64::MIN),
            ordered(&[1]),
            ordered(&[1, 1]),
            ordered(&[0, 1]),
            ordered(&[3, 2]),
            ordered(&[2, 1, 2]),
            ordered(&[i64::MIN, i64::MAX]),
            stage(&copy, level(0), only_read),
        ],
        rows(&copy),
        panel_cases(),
        temporaries(&copy, &local),
    ]
    .concat()
}

fn panel_cases() -> Vec<Case> {
    let diagonal = nest(&[
        "f64 B[8], A[8]",
        "local f64 t[16]",
        "fill t[0..16] = 0",
        "for i in 0..8",
        "  for j in 0..8",
        "    t[i + j] = A[i]",
        "for i_2 in 0..8",
        "  B[i_2] = t[i_2]",
    ]);
    let split = |dimension: i64, size: i64, kind: String| {
        let numbers = [Arg::Int(dimension), Arg::Int(size)];
        let args = [Arg::Nest(diagonal.clone()), word("t")];
        Case::new(&PANELS, args.into_iter().chain(numbers).collect(), kind)
    };
    let no_dimension = |dimension| {
        format!("t has no dimension {dimension}: its only dimension is 1 (dimensions count from 1)")
    };
    let (parameter, value) = ("size", 0);
    let not_local = "A is not a local tensor of the nest: those are t";
    let across = "`fill t[0..16] = 0` does not stay in one panel of 4 elements of t".to_owned();
    let of_an_argument = vec![
        Arg::Nest(diagonal.clone()),
        word("A"),
        Arg::Int(1),
        Arg::Int(4),
    ];
    vec![
        Case::new(&PANELS, of_an_argument, not_local.to_string()).at(1),
        split(0, 4, no_dimension(0)).at(2),
        split(2, 4, no_dimension(2)).at(2),
        split(
            1,
            0,
            format!("`{parameter}` must be at least 1, and {value} is not"),
        )
        .at(3),
        split(1, 4, across).at(1),
    ]
}

#[test]
fn panels_follow_each_other() {
    let before = [
        "f64 B[10], A[10]",
        "local f64 t[10]",
        "for i in 0..10",
        "  t[i] = A[i]",
        "for j_o in 0..3",
        "  for j in 4*j_o..min(4*j_o + 4, 10)",
        "    B[j] = t[j]",
    ];
    let after = [
        "local f64 t[3][4]",
        "for i_o in 0..3",
        "  for i_i in 4*i_o..min(4*i_o + 4, 10)",
        "    t[i_o][i_i - 4*i_o] = A[i_i]",
        "for j_o in 0..3",
        "  for j in 4*j_o..min(4*j_o + 4, 10)",
        "    B[j] = t[j_o][j - 4*j_o]",
    ];
    let args = [word("t"), Arg::Int(1), Arg::Int(4)];
    becomes(&PANELS, &before, &args, &after);
}

fn how(options: &[(&str, i64)]) -> Arg {
    let option = |(name, value): &(&str, i64)| ((*name).to_owned(), Arg::Int(*value));
    Arg::Options(options.iter().map(option).collect())
}

fn rows(copy: &Nest) -> Vec<Case> {
    let buffered = nest(&[
        "f64 B[4], A[4]",
        "local f64 t[4]",
        "local f64 s[]",
        "for i in 0..4",
        "  t[i] = A[i]",
        "s[] = t[0]",
        "for j in 0..4",
        "  B[j] = t[j] + s[]",
    ]);
    let pad = |nest: &Nest, tensor: &str, options: &[(&str, i64)], kind: String| {
        let args = vec![Arg::Nest(nest.clone()), word(tensor), how(options)];
        Case::new(&PAD_BUFFER, args, kind)
    };
    let not_local = |tensor: &str, have: &[&str]| {
        let have = match have {
            [] => ", which has none".to_owned(),
            have => format!(": those are {}", have.join(", ")),
        };
        format!("{tensor} is not a local tensor of the nest{have}")
    };
    let no_rows = "s has no dimensions, and so no rows".to_owned();
    let (parameter, value) = ("multiple", 0);
    let not_positive = format!("`{parameter}` must be at least 1, and {value} is not");
    let (parameter, value) = ("extra", -1);
    let negative = format!("`{parameter}` must be at least 0, and {value} is not");
    let shape = format!("[{}]", 1i64 << 62);
    let endless = ShapeError::TooLarge { shape }.to_string();
    let too_large = Invalid::LocalTooLarge {
        tensor: "t".to_owned(),
        bytes: 1_600_000_000,
    };
    vec![
        pad(copy, "A", &[], not_local("A", &[])).at(1),
        pad(&buffered, "A", &[("extra", 1)], not_local("A", &["t", "s"])).at(1),
        pad(&buffered, "s", &[("extra", 1)], no_rows).at(1),
        pad(&buffered, "t", &[("multiple", 0)], not_positive).at(2),
        pad(&buffered, "t", &[("extra", -1)], negative).at(2),
        pad(&buffered, "t", &[("multiple", 1 << 62)], endless),
        pad(
            &buffered,
            "t",
            &[("multiple", 200_000_000)],
            too_large.to_string(),
        ),
    ]
}

#[test]
fn rows_become_longer_and_indices_stay() {
    let lines = |row: &str| {
        [
            "f64 A[6], B[6]".to_owned(),
            "for i in 0..2".to_owned(),
            format!("  local f64 t[1]{row}"),
            "  fill t[0..1][0..3] = 0".to_owned(),
            "  for j in 0..3".to_owned(),
            "    t[0][j] += A[3*i + j]".to_owned(),
            "  for k in 0..3".to_owned(),
            "    B[3*i + k] = t[0][k] * t[0][2]".to_owned(),
        ]
    };
    let before = lines("[3]");
    let before: Vec<&str> = before.iter().map(String::as_str).collect();
    for (options, row) in [
        (&[][..], "[3]"),
        (&[("multiple", 4)], "[4]"),
        (&[("multiple", 3)], "[3]"),
        (&[("extra", 2)], "[5]"),
        (&[("multiple", 8), ("extra", 1)], "[9]"),
    ] {
        let after = lines(row);
        let after: Vec<&str> = after[1..].iter().map(String::as_str).collect();
        becomes(&PAD_BUFFER, &before, &[word("t"), how(options)], &after);
    }
}

fn temporaries(copy: &Nest, local: &dyn Fn(&Nest, &str, String) -> Case) -> Vec<Case> {
    // E[i] = D[i] + A[i] in the iteration of another D[i].
    let shifted = |by: i64| {
        let a = tensor("A", &[6]);
        let d = eq("D", &a, "i", "i");
        let e = eq("E", &d, "i", "i");
        let nests = [&d, &e].map(|x| build(x).unwrap());
        let joined = fuse_outer(&nests[0], &nests[1], 1).unwrap();
        let trees = joined.trees().iter().map(|t| {
            let teml::ir::Tree::Loop(l) = t else {
                panic!("a loop")
            };
            let mut l = (**l).clone();
            let later = |n: &teml::ir::Name| {
                (n.as_str() == "i").then(|| crate::teml::trees::it("i").plus_constant(by))
            };
            l.body[1] = l.body[1].substitute(&later);
            l.range = teml::ir::Range::constant(1, 5);
            teml::ir::Tree::of_loop(l)
        });
        joined.with_trees(trees.collect())
    };
    let not_temporary =
        |tensor: &str| format!("{tensor} is not computed for a later assignment of the nest alone");
    let carried = |text: &str| format!("`{text}` may use what another iteration of `i` sets");
    // The fusion of a nest of its own: the second one's loop runs first.
    let early = {
        let nest = squares(1);
        let teml::ir::Tree::Loop(l) = &nest.trees()[0] else {
            panic!("a loop")
        };
        let trees = l.body.iter().rev().map(|t| {
            let teml::ir::Tree::Loop(inner) = t else {
                panic!("a loop")
            };
            teml::ir::Tree::of_loop(teml::ir::Loop {
                body: vec![t.clone()],
                name: name(&format!("{}_i", inner.name)),
                ..(**l).clone()
            })
        });
        let trees = trees.map(|t| {
            let teml::ir::Tree::Loop(outer) = &t else {
                panic!("a loop")
            };
            let outer = outer.name.clone();
            t.substitute(&|n| {
                (n.as_str() == "i").then(|| teml::ir::Affine::iterator(outer.clone()))
            })
        });
        nest.with_trees(trees.collect())
    };
    let unset =
        "`E[j_2_i][j_2] = D[j_2_i][j_2] + A[j_2_i][j_2]` may use what nothing has set before"
            .to_owned();
    vec![
        local(copy, "A", not_temporary("A")).at(1),
        local(
            &squares(1).declaring(name("D"), true),
            "D",
            "D is an output of the program, not a temporary".to_owned(),
        )
        .at(1),
        local(&squares(1), "E", not_temporary("E")).at(1),
        local(&squares(1), "A", not_temporary("A")).at(1),
        local(
            copy,
            "X",
            "the nest does not use X: it uses B, A".to_owned(),
        )
        .at(1),
        local(&shifted(1), "D", carried("E[i + 1] = D[i + 1]")).because_of(&["i"]),
        local(&shifted(-1), "D", carried("E[i - 1] = D[i - 1]")).because_of(&["i"]),
        local(&early, "D", unset),
    ]
}

#[test]
fn refusals_name_the_place() {
    let lines = ["f64 A[4]", "for i in 0..4", "  A[i] = 1"];
    let args = [Arg::Nest(nest(&lines)), level(1), word("A")];
    let error = transform(&PACK, &args).unwrap_err();
    assert_eq!(
        error.text,
        "loop `i` writes A, but would read a copy of it: A[i] = 1"
    );
}
