//! Calls that rearrange the loops of a nest and are refused.

use crate::refusals::Case;
use crate::trees::{self, copy, it, level, name, named};
use teml::analysis::position::NoLoop;
use teml::analysis::project::Division;
use teml::analysis::verify::Invalid;
use teml::ir::{Affine, NameError, Nest};
use teml::transform::nest::distribute::DISTRIBUTE;
use teml::transform::nest::fuse::FUSE;
use teml::transform::nest::move_before::MOVE_BEFORE;
use teml::transform::nest::peel::PEEL;
use teml::transform::nest::rename::RENAME;
use teml::transform::nest::reorder::REORDER;
use teml::transform::nest::repeat::REPEAT;
use teml::transform::nest::reverse::REVERSE;
use teml::transform::nest::separate::SEPARATE;
use teml::transform::nest::shift::SHIFT;
use teml::transform::nest::skew::SKEW;
use teml::transform::nest::split_at::SPLIT_AT;
use teml::transform::nest::stripmine::STRIPMINE;
use teml::transform::nest::unroll::UNROLL;
use teml::transform::nest::unroll_and_jam::UNROLL_AND_JAM;
use teml::transform::{Arg, ErrorKind, LoopRef, Op};

pub fn loops() -> Vec<Case> {
    [block_cases(), order_cases(), bound_cases(), sibling_cases()]
        .into_iter()
        .flatten()
        .collect()
}

fn on<const N: usize>(nest: &Nest, args: [Arg; N]) -> Vec<Arg> {
    [Arg::Nest(nest.clone())].into_iter().chain(args).collect()
}

fn word(text: &str) -> Arg {
    Arg::Word(text.to_owned())
}

fn listed(names: &[&str]) -> Arg {
    let loops = names.iter().map(|n| LoopRef::Name((*n).to_owned()));
    Arg::Loops(loops.collect())
}

/// A refusal about `i`, of an operation that takes a loop and more.
fn about_i(op: &'static Op, nest: &Nest, more: &[Arg], kind: impl Into<ErrorKind>) -> Case {
    let mut args = on(nest, [named("i")]);
    args.extend_from_slice(more);
    Case::new(op, args, kind).because_of(&["i"])
}

fn stepped() -> Nest {
    trees::nest(&["f64 A[9]", "for i in 0..9 step 3", "  A[i] = A[i]"])
}

/// The number of iterations of `j` depends on `i`.
fn triangle() -> Nest {
    trees::nest(&[
        "f64 A[9][9]",
        "for i in 0..9",
        "  for j in 0..i",
        "    A[i][j] = A[i][j]",
    ])
}

/// `i` has several bounds that are no constants apart.
fn clipped() -> Nest {
    trees::nest(&[
        "f64 A[9]",
        "for k in 0..4",
        "  for i in max(k, 2)..min(k + 3, 5)",
        "    A[i] = A[i]",
    ])
}

fn not_constant(loop_name: &str, range: &str) -> ErrorKind {
    let (name, range) = (name(loop_name), range.to_owned());
    ErrorKind::NotConstant { name, range }
}

fn not_positive(parameter: &'static str, value: i64) -> ErrorKind {
    ErrorKind::NotPositive { parameter, value }
}

fn clash(taken: &str) -> ErrorKind {
    ErrorKind::NameClash { name: name(taken) }
}

fn block_cases() -> Vec<Case> {
    let nest = copy("B", "A", &[10], "i");
    let (stepped, triangle) = (stepped(), triangle());
    let step = ErrorKind::Stepped {
        name: name("i"),
        step: 3,
    };
    let no_tail = |given: &str| ErrorKind::NotOneOf {
        parameter: "tail",
        word: given.to_owned(),
        allowed: &["guard", "grid", "aligned", "cut", "exact"],
    };
    let not_divisible = ErrorKind::NotDivisible {
        name: name("i"),
        extent: "10".to_owned(),
        factor: 4,
    };
    let depends = ErrorKind::BoundsDepend {
        inner: name("j"),
        outer: name("i"),
    };
    let too_large = |trees| ErrorKind::Invalid(Invalid::TooLarge { trees });
    let strip = |nest: &Nest, l, factor, tail| {
        let args = on(nest, [l, Arg::Int(factor), word(tail)]);
        move |kind: ErrorKind| Case::new(&STRIPMINE, args, kind)
    };
    let (four, two) = ([Arg::Int(4)], [Arg::Int(2)]);
    let long = copy("B", "A", &[100_000], "i");
    let many = [Arg::Int(70_000)];
    let copies = copy("B", "A", &[4, 4, 2], "i j_u1 j");
    vec![
        strip(&nest, level(1), 4, "mask")(no_tail("mask")).at(3),
        strip(&nest, level(1), 4, "pad")(no_tail("pad")).at(3),
        strip(&nest, level(1), 4, "exact")(not_divisible)
            .at(2)
            .because_of(&["i"]),
        strip(&triangle, named("j"), 4, "exact")(not_constant("j", "0..i")).because_of(&["j"]),
        strip(&triangle, level(2), 4, "cut")(not_constant("j", "0..i")).because_of(&["j"]),
        strip(&copy("B", "A", &[10, 4], "i i_r"), level(1), 4, "cut")(clash("i_r"))
            .because_of(&["i_r", "i"]),
        strip(&stepped, level(1), 4, "cut")(step.clone()).because_of(&["i"]),
        Case::new(
            &UNROLL,
            on(&nest, [level(1), Arg::Int(0)]),
            not_positive("factor", 0),
        )
        .at(2),
        Case::new(
            &UNROLL,
            on(&triangle, [level(2), Arg::Int(2)]),
            not_constant("j", "0..i"),
        )
        .because_of(&["j"]),
        about_i(&UNROLL, &stepped, &two, step.clone()),
        about_i(&UNROLL, &copies, &two, clash("j_u1")),
        about_i(&UNROLL, &long, &many, too_large(70_000)),
        Case::new(
            &UNROLL_AND_JAM,
            on(&nest, [level(1), Arg::Int(-1)]),
            not_positive("factor", -1),
        )
        .at(2),
        Case::new(
            &UNROLL_AND_JAM,
            on(&triangle, [level(2), Arg::Int(2)]),
            not_constant("j", "0..i"),
        )
        .because_of(&["j"]),
        Case::new(
            &REPEAT,
            on(&nest, [word("t"), Arg::Int(0)]),
            not_positive("steps", 0),
        )
        .at(2),
        Case::new(&RENAME, on(&copies, [named("i"), word("j")]), clash("j"))
            .at(2)
            .because_of(&["j", "i"]),
        Case::new(
            &RENAME,
            on(&nest, [named("i"), word("for")]),
            ErrorKind::Name(NameError::Keyword("for".to_owned())),
        )
        .at(2),
        Case::new(&REPEAT, on(&nest, [word("i"), Arg::Int(2)]), clash("i"))
            .at(1)
            .because_of(&["i"]),
        Case::new(
            &REPEAT,
            on(&nest, [word("for"), Arg::Int(2)]),
            ErrorKind::Name(NameError::Keyword("for".to_owned())),
        )
        .at(1),
        about_i(&UNROLL_AND_JAM, &stepped, &two, step),
        about_i(&UNROLL_AND_JAM, &triangle, &four, depends).because_of(&["i", "j"]),
        about_i(&UNROLL_AND_JAM, &long, &many, too_large(70_000)),
        about_i(
            &UNROLL_AND_JAM,
            &copy("B", "A", &[4, 4], "i i_o"),
            &two,
            clash("i_o"),
        )
        .because_of(&["i_o", "i"]),
    ]
}

fn order_cases() -> Vec<Case> {
    let nest = copy("B", "A", &[4, 4], "i j");
    let imperfect = trees::nest(&[
        "f64 A[4], B[4][4]",
        "for i in 0..4",
        "  A[i] = A[i]",
        "  for j in 0..4",
        "    B[i][j] = A[i]",
        "  for k in 0..4",
        "    B[i][k] = A[i]",
    ]);
    let not_nested = ErrorKind::NotNested {
        first: name("j"),
        second: name("k"),
    };
    let not_perfect = ErrorKind::NotPerfect {
        outer: name("i"),
        inner: name("j"),
        culprit: name("i"),
    };
    let depends = ErrorKind::BoundsDepend {
        inner: name("j"),
        outer: name("i"),
    };
    let division = ErrorKind::NeedsDivision(Division {
        of: name("j"),
        by: name("i"),
        factor: 3,
    });
    let moved = |range: &str| {
        let head = format!("  for j in {range}");
        trees::nest(&["f64 A[9]", "for i in 0..9", &head, "    A[i] = A[i]"])
    };
    let (stepped, sheared) = (moved("i..9 step 2"), moved("-3*i..9"));
    let no_name = NoLoop::NoName {
        name: "k".to_owned(),
        have: vec![name("i"), name("j")],
    };
    let twice = ErrorKind::Repeated {
        iterator: name("i"),
    };
    let mixed = vec![LoopRef::Name("i".to_owned()), LoopRef::Level(1)];
    let not_inside = |inner: &str, outer: &str| ErrorKind::NotInside {
        inner: name(inner),
        outer: name(outer),
    };
    let skew = |nest: &Nest, inner: Arg, outer: Arg| on(nest, [inner, outer, Arg::Int(1)]);
    vec![
        Case::new(&REORDER, on(&nest, [listed(&["j", "k"])]), no_name).at(1),
        Case::new(&REORDER, on(&nest, [Arg::Loops(mixed)]), twice).at(1),
        Case::new(&REORDER, on(&imperfect, [listed(&["j", "k"])]), not_nested)
            .because_of(&["j", "k"]),
        Case::new(&REORDER, on(&imperfect, [listed(&["j", "i"])]), not_perfect).because_of(&["i"]),
        Case::new(&REORDER, on(&stepped, [listed(&["j", "i"])]), depends).because_of(&["i", "j"]),
        Case::new(&REORDER, on(&sheared, [listed(&["j", "i"])]), division).because_of(&["i", "j"]),
        Case::new(
            &SKEW,
            skew(&nest, named("i"), named("j")),
            not_inside("i", "j"),
        )
        .because_of(&["i", "j"]),
        Case::new(
            &SKEW,
            skew(&nest, named("i"), level(1)),
            not_inside("i", "i"),
        )
        .because_of(&["i", "i"]),
        Case::new(
            &SKEW,
            skew(&imperfect, named("j"), named("k")),
            not_inside("j", "k"),
        )
        .because_of(&["j", "k"]),
    ]
}

fn bound_cases() -> Vec<Case> {
    let nest = copy("B", "A", &[10], "i");
    let square = copy("B", "A", &[4, 4], "i j");
    let (stepped, clipped) = (stepped(), clipped());
    let step = ErrorKind::Stepped {
        name: name("i"),
        step: 3,
    };
    let too_deep = |level| NoLoop::TooDeep { level, depth: 1 };
    let several = |end| ErrorKind::SeveralBounds {
        name: name("i"),
        end,
        range: "max(k, 2)..min(k + 3, 5)".to_owned(),
    };
    let no_end = ErrorKind::NotOneOf {
        parameter: "end",
        word: "top".to_owned(),
        allowed: &["front", "back"],
    };
    let far = 1 << 40;
    let beyond = Affine::constant(far);
    vec![
        about_i(&REVERSE, &stepped, &[], step.clone()),
        Case::new(&REVERSE, on(&nest, [level(2)]), too_deep(2)).at(1),
        Case::new(&SHIFT, on(&nest, [level(3), Arg::Int(1)]), too_deep(3)).at(1),
        Case::new(
            &SHIFT,
            on(&nest, [level(1), Arg::Int(far)]),
            Invalid::IndexTooLarge { index: beyond },
        ),
        Case::new(
            &SKEW,
            on(&square, [level(2), level(1), Arg::Int(far)]),
            Invalid::IndexTooLarge {
                index: it("i").times(far),
            },
        ),
        Case::new(
            &PEEL,
            on(&nest, [level(1), Arg::Int(0), word("front")]),
            not_positive("count", 0),
        )
        .at(2),
        Case::new(
            &PEEL,
            on(&nest, [level(1), Arg::Int(1), word("top")]),
            no_end,
        )
        .at(3),
        about_i(&PEEL, &stepped, &[Arg::Int(1), word("back")], step),
        about_i(
            &PEEL,
            &clipped,
            &[Arg::Int(1), word("front")],
            several("front"),
        ),
        about_i(
            &PEEL,
            &clipped,
            &[Arg::Int(1), word("back")],
            several("back"),
        ),
        about_i(
            &PEEL,
            &copy("B", "A", &[10, 4], "i i_b"),
            &[Arg::Int(1), word("back")],
            clash("i_b"),
        )
        .because_of(&["i_b", "i"]),
    ]
}

fn sibling_cases() -> Vec<Case> {
    let side_by_side = |ranges: [&str; 2]| {
        let [first, second] = ranges;
        trees::nest(&[
            "f64 A[9][9], B[9][9]",
            "for k in 0..9",
            &format!("  for i in {first}"),
            "    A[k][i] = A[k][i]",
            &format!("  for j in {second}"),
            "    B[k][j] = B[k][j]",
        ])
    };
    let apart = trees::nest(&[
        "f64 A[9], B[9]",
        "for i in 0..9",
        "  A[i] = A[i]",
        "A[0] = A[0]",
        "for j in 0..9",
        "  B[j] = B[j]",
    ]);
    let parallel = trees::nest(&[
        "f64 A[9], B[9]",
        "for i in 0..9",
        "  A[i] = A[i]",
        "parallel for j in 0..9",
        "  B[j] = B[j]",
    ]);
    let clashing = trees::nest(&[
        "f64 A[9], B[9]",
        "for i in 0..9",
        "  for i_f in 0..9",
        "    A[i] = A[i_f]",
        "for j in 1..9",
        "  B[j] = B[j]",
    ]);
    let equal = side_by_side(["0..9", "0..9"]);
    let not_adjacent = |first: &str, second: &str| ErrorKind::NotAdjacent {
        first: name(first),
        second: name(second),
    };
    let no_ends = ErrorKind::NotOneOf {
        parameter: "ends",
        word: "cut".to_owned(),
        allowed: &["peel", "guard"],
    };
    let differ_in = |ends: &[Arg], first: &str, second: &str| {
        let kind = ErrorKind::RangesDiffer {
            first: name("i"),
            first_range: first.to_owned(),
            second: name("j"),
            second_range: second.to_owned(),
        };
        let mut args = on(&side_by_side([first, second]), [named("i"), named("j")]);
        args.extend_from_slice(ends);
        Case::new(&FUSE, args, kind).because_of(&["i", "j"])
    };
    let differ = |first: &str, second: &str| differ_in(&[], first, second);
    let fuse = |nest: &Nest, first: &str, second: &str, kind| {
        Case::new(&FUSE, on(nest, [named(first), named(second)]), kind)
    };
    let move_before = |first: &str, second: &str| {
        let kind = ErrorKind::NotBeside {
            first: name(first),
            second: name(second),
        };
        let args = on(&equal, [named(first), named(second)]);
        Case::new(&MOVE_BEFORE, args, kind)
    };
    let modes = ErrorKind::ModesDiffer {
        first: name("i"),
        second: name("j"),
    };
    let not_an_index = ErrorKind::NotAnIndex {
        text: "4**i".to_owned(),
        what: "expected a name before `*i`".to_owned(),
    };
    let nothing = ErrorKind::NothingToDistribute { name: name("i") };
    let guarded = trees::nest(&[
        "f64 B[9]",
        "for i in 0..9",
        "  for k in 0..1",
        "    for i_h in max(i, k)..min(i + 1, 9)",
        "      B[i_h] = B[i_h]",
    ]);
    let not_guarded = ErrorKind::NotGuarded { name: name("i") };
    let inseparable = ErrorKind::Inseparable { name: name("i") };
    let by_three = ErrorKind::Stepped {
        name: name("i"),
        step: 3,
    };
    vec![
        about_i(&SEPARATE, &copy("B", "A", &[4], "i"), &[], not_guarded),
        about_i(&SEPARATE, &stepped(), &[], by_three),
        // By a loop further in.
        about_i(&SEPARATE, &guarded, &[], inseparable),
        Case::new(
            &SPLIT_AT,
            on(&copy("B", "A", &[4], "i"), [level(1), word("4**i")]),
            not_an_index,
        )
        .at(2),
        about_i(&DISTRIBUTE, &copy("B", "A", &[4], "i"), &[], nothing),
        fuse(&apart, "i", "j", not_adjacent("i", "j")).because_of(&["i", "j"]),
        move_before("i", "i").because_of(&["i", "i"]),
        move_before("k", "j").because_of(&["k", "j"]),
        fuse(&equal, "j", "i", not_adjacent("j", "i")).because_of(&["j", "i"]),
        fuse(&equal, "i", "i", not_adjacent("i", "i")).because_of(&["i", "i"]),
        fuse(&equal, "k", "j", not_adjacent("k", "j")).because_of(&["k", "j"]),
        fuse(&parallel, "i", "j", modes).because_of(&["i", "j"]),
        fuse(&clashing, "i", "j", clash("i_f")).because_of(&["i_f", "i"]),
        // Nothing in common, bounds that are no constants apart, other steps.
        differ("0..4", "4..9"),
        differ("0..9", "0..k"),
        differ("0..9", "0..9 step 2"),
        differ("0..0", "0..9"),
        differ_in(&[word("guard")], "0..9", "0..9 step 2"),
        Case::new(
            &FUSE,
            on(&equal, [named("i"), named("j"), word("cut")]),
            no_ends,
        )
        .at(3),
    ]
}
