//! Calls that rearrange the loops of a nest and are refused.

use crate::teml::refusals::Case;
use crate::teml::trees::{self, copy, it, level, name, named};
use teml::analysis::position::NoLoop;
use teml::analysis::verify::Invalid;
use teml::ir::{Affine, NameError, Nest, parse_expr};
use teml::lower::build::build;
use teml::transform::nest::collapse::COLLAPSE;
use teml::transform::nest::distribute::DISTRIBUTE;
use teml::transform::nest::double_buffer::DOUBLE_BUFFER;
use teml::transform::nest::fuse::FUSE;
use teml::transform::nest::isolate::ISOLATE;
use teml::transform::nest::move_before::MOVE_BEFORE;
use teml::transform::nest::pad::PAD;
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
use teml::transform::nest::text::NEST;
use teml::transform::nest::unroll::UNROLL;
use teml::transform::nest::unroll_and_jam::UNROLL_AND_JAM;
use teml::transform::tensor::with_shapes;
use teml::transform::{Arg, LoopRef, Op};

pub fn loops() -> Vec<Case> {
    [
        block_cases(),
        order_cases(),
        bound_cases(),
        sibling_cases(),
        collapse_cases(),
    ]
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
fn about_i(op: &'static Op, nest: &Nest, more: &[Arg], kind: impl std::fmt::Display) -> Case {
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

/// `i` has several bounds whose differences are not constant.
fn clipped() -> Nest {
    trees::nest(&[
        "f64 A[9]",
        "for k in 0..4",
        "  for i in max(k, 2)..min(k + 3, 5)",
        "    A[i] = A[i]",
    ])
}

fn not_constant(loop_name: &str, range: &str) -> String {
    let (name, range) = (name(loop_name), range.to_owned());
    format!("the number of iterations of `{name}` is not constant: {range}")
}

fn not_positive(parameter: &'static str, value: i64) -> String {
    format!("`{parameter}` must be at least 1, and {value} is not")
}

fn clash(taken: &str) -> String {
    format!("the new loop would be named `{taken}`, and there is a loop of that name")
}

fn block_cases() -> Vec<Case> {
    let nest = copy("B", "A", &[10], "i");
    let (stepped, triangle) = (stepped(), triangle());
    let step = "`i` has the step 3, and this is for loops of step 1".to_owned();
    let no_tail = |given: &str| {
        format!(
            "`tail` must be one of \"guard\", \"grid\", \"aligned\", \"cut\", \"exact\", not \"{given}\""
        )
    };
    let not_divisible = "4 does not divide the 10 iterations of `i`".to_owned();
    let depends = "the bounds of `j` depend on `i`, so `j` cannot move outside of it".to_owned();
    let too_large = |trees| Invalid::TooLarge { trees }.to_string();
    let strip = |nest: &Nest, l, factor, tail| {
        let args = on(nest, [l, Arg::Int(factor), word(tail)]);
        move |kind: String| Case::new(&STRIPMINE, args, kind)
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
        about_i(&PAD, &stepped, &four, &step),
        Case::new(
            &PAD,
            on(&nest, [level(1), Arg::Int(0)]),
            not_positive("multiple", 0),
        )
        .at(2),
        Case::new(
            &PAD,
            on(&triangle, [named("j"), Arg::Int(4)]),
            not_constant("j", "0..i"),
        )
        .because_of(&["j"]),
        about_i(
            &PAD,
            &clipped(),
            &four,
            not_constant("i", "max(k, 2)..min(k + 3, 5)"),
        ),
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
            on(&nest, [named("i"), word("_i")]),
            NameError::Reserved("_i".to_owned()).to_string(),
        )
        .at(2),
        Case::new(&REPEAT, on(&nest, [word("i"), Arg::Int(2)]), clash("i"))
            .at(1)
            .because_of(&["i"]),
        Case::new(
            &REPEAT,
            on(&nest, [word("_i"), Arg::Int(2)]),
            NameError::Reserved("_i".to_owned()).to_string(),
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

fn collapse_cases() -> Vec<Case> {
    let built = |text: &str| {
        let assignment = with_shapes(&parse_expr(text).unwrap()).unwrap();
        build(&assignment).unwrap()
    };
    let case = |nest: &Nest, text: &str| about_i(&COLLAPSE, nest, &[], text).at(1);
    let apart = |tensor: &str, why: &str| {
        format!("the dimensions of {tensor} are not read as one: it {why}")
    };
    let of_text = |lines: &str| trees::transform(&NEST, &[word(lines)]).unwrap();
    let changed = "a step has changed this nest, and dimensions are read as one from the start";
    let turned = "`B[i][j] = A[j][i]` does not index by `i` and `j` as one";
    vec![
        case(
            &trees::transformed(
                &STRIPMINE,
                &copy("B", "A", &[4, 4], "i j"),
                &[named("j"), Arg::Int(2), word("guard")],
            ),
            changed,
        ),
        case(
            &built("f64 B[4], A[4]\nB[i] = A[i]"),
            "`i` does not hold one loop and nothing else",
        ),
        case(
            &built("f64 B[4][4], A[4][4]\nB[i][j] = A[i][j - 1]"),
            "`j` does not run from 0 to a number",
        ),
        case(&built("f64 B[4][4], A[4][4]\nB[i][j] = A[j][i]"), turned),
        case(
            &built("f64 B[4][4], A[4][4]\nB[i][j] = A[i][j] + A[i][j + 1]"),
            &apart("B", "has rows of other lengths"),
        ),
        case(
            &built("size N\nf64 B[N][4], A[N][4]\nB[i][j] = A[i][j]"),
            &apart("B", "has sizes"),
        ),
        case(
            &of_text(
                "f64 strided A[4][4]\nf64 B[4][4]\nfor i in 0..4\n  for j in 0..4\n    B[i][j] = A[i][j]",
            ),
            &apart("A", "has strides, or known elements"),
        ),
        case(
            &of_text(
                "f64 B[4][4]\nfill B[0..2][1..3] = 0\nfor i in 0..4\n  for j in 0..4\n    B[i][j] += 1",
            ),
            &apart("B", "is filled in parts of several rows"),
        ),
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
    let not_nested = "neither of `j` and `k` is inside the other".to_owned();
    let not_perfect =
        "`i` and `j` are not perfectly nested: `i` has more in it than a single loop".to_owned();
    let depends = "the bounds of `j` depend on `i`, so `j` cannot move outside of it".to_owned();
    let division =
        "the bounds of `j` hold 3*i: with `i` inside of it, new bounds would need division"
            .to_owned();
    let moved = |range: &str| {
        let head = format!("  for j in {range}");
        trees::nest(&["f64 A[9]", "for i in 0..9", &head, "    A[i] = A[i]"])
    };
    let (stepped, sheared) = (moved("i..9 step 2"), moved("-3*i..9"));
    let no_name = NoLoop::NoName {
        name: "k".to_owned(),
        have: vec![name("i"), name("j")],
    };
    let twice = "`i` is listed twice".to_owned();
    let mixed = vec![LoopRef::Name("i".to_owned()), LoopRef::Level(1)];
    let not_inside = |inner: &str, outer: &str| format!("`{inner}` is not inside of `{outer}`");
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
    let step = "`i` has the step 3, and this is for loops of step 1".to_owned();
    let too_deep = |level| NoLoop::TooDeep { level, depth: 1 };
    let several = |end| format!("`i` has several bounds at its {end}: max(k, 2)..min(k + 3, 5)");
    let no_end = "`end` must be one of \"front\", \"back\", \"rest\", not \"top\"".to_owned();
    let far = 1 << 40;
    let beyond = Affine::constant(far);
    vec![
        about_i(&REVERSE, &stepped, &[], step.clone()),
        about_i(&DOUBLE_BUFFER, &stepped, &[], step.clone()),
        about_i(
            &DOUBLE_BUFFER,
            &nest,
            &[],
            "`i` copies nothing that it then reads: no local tensor in it is set by one assignment",
        ),
        about_i(
            &DOUBLE_BUFFER,
            &trees::nest(&["f64 B[9], A[9]", "parallel for i in 0..9", "  B[i] = A[i]"]),
            &[],
            "the iterations of `i` do not run in order",
        )
        .at(1),
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
    let not_adjacent =
        |first: &str, second: &str| format!("`{first}` and `{second}` are not adjacent");
    let no_ends = "`ends` must be one of \"peel\", \"guard\", not \"cut\"".to_owned();
    let differ_in = |ends: &[Arg], first: &str, second: &str| {
        let kind = format!("`i` runs over {first} and `j` over {second}");
        let mut args = on(&side_by_side([first, second]), [named("i"), named("j")]);
        args.extend_from_slice(ends);
        Case::new(&FUSE, args, kind).because_of(&["i", "j"])
    };
    let differ = |first: &str, second: &str| differ_in(&[], first, second);
    let fuse = |nest: &Nest, first: &str, second: &str, kind| {
        Case::new(&FUSE, on(nest, [named(first), named(second)]), kind)
    };
    let move_before = |first: &str, second: &str| {
        let kind = format!("`{first}` and `{second}` are not two loops of one body");
        let args = on(&equal, [named(first), named(second)]);
        Case::new(&MOVE_BEFORE, args, kind)
    };
    let modes = "`i` and `j` run in different modes, or have different hints".to_owned();
    let not_an_index = "\"4**i\" is not an index expression such as \"8*k + 8\": expected a name \
                        before `*i`"
        .to_owned();
    let nothing =
        "there is only one loop or statement in `i`, so there is nothing to distribute".to_owned();
    let guarded = trees::nest(&[
        "f64 B[9]",
        "for i in 0..9",
        "  for k in 0..1",
        "    for i_h in max(i, k)..min(i + 1, 9)",
        "      B[i_h] = B[i_h]",
    ]);
    let not_guarded =
        "`i` holds no loop of one iteration or none that `fuse` made for it".to_owned();
    let inseparable = "all guards in `i` begin and end where loops further in say".to_owned();
    let nothing_alone = "`i` has no iteration that alone runs a statement inside of it".to_owned();
    let alone = trees::nest(&[
        "f64 B[9]",
        "for i in 0..9",
        "  B[i] = B[i]",
        "  for j in max(i, 1)..min(i + 1, 2)",
        "    B[j] = B[j]",
        "  for k in max(i, 3)..min(i + 1, 4)",
        "    B[k] = B[k]",
        "  for l in max(i, 5)..min(i + 1, 6)",
        "    B[l] = B[l]",
        "  for m in max(i, 7)..min(i + 1, 8)",
        "    B[m] = B[m]",
    ]);
    let by_three = "`i` has the step 3, and this is for loops of step 1".to_owned();
    vec![
        about_i(&SEPARATE, &copy("B", "A", &[4], "i"), &[], not_guarded),
        about_i(&SEPARATE, &stepped(), &[], by_three),
        // By a loop further in.
        about_i(&SEPARATE, &guarded, &[], inseparable),
        about_i(&ISOLATE, &copy("B", "A", &[4], "i"), &[], nothing_alone),
        about_i(
            &ISOLATE,
            &alone,
            &[],
            "`i` would be cut into 9 parts, and 6 are the most",
        ),
        Case::new(
            &SPLIT_AT,
            on(&copy("B", "A", &[4], "i"), [level(1), word("4**i")]),
            not_an_index,
        )
        .at(2),
        Case::new(
            &SPLIT_AT,
            on(&copy("B", "A", &[4], "i"), [level(1), word("k")]),
            "`k` uses `k`, and no loop around `i` has this name",
        )
        .at(2)
        .because_of(&["i"]),
        about_i(&DISTRIBUTE, &copy("B", "A", &[4], "i"), &[], nothing),
        fuse(&apart, "i", "j", not_adjacent("i", "j")).because_of(&["i", "j"]),
        move_before("i", "i").because_of(&["i", "i"]),
        move_before("k", "j").because_of(&["k", "j"]),
        fuse(&equal, "j", "i", not_adjacent("j", "i")).because_of(&["j", "i"]),
        fuse(&equal, "i", "i", not_adjacent("i", "i")).because_of(&["i", "i"]),
        fuse(&equal, "k", "j", not_adjacent("k", "j")).because_of(&["k", "j"]),
        fuse(&parallel, "i", "j", modes).because_of(&["i", "j"]),
        fuse(&clashing, "i", "j", clash("i_f")).because_of(&["i_f", "i"]),
        // Disjoint ranges, bounds whose difference is not constant, other steps.
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
