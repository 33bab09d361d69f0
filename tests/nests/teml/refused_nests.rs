//! Calls on nests that are refused.

use crate::teml::refusals::Case;
use crate::teml::trees::*;
use teml::analysis::position::NoLoop;
use teml::analysis::verify::Invalid;
use teml::ir::BinaryOp::Mul;
use teml::ir::{Axis, Nest, Sharing};
use teml::lower::build::build;
use teml::transform::nest::bind::{BIND, bind};
use teml::transform::nest::build::BUILD;
use teml::transform::nest::fuse_inner::FUSE_INNER;
use teml::transform::nest::fuse_outer::{FUSE_OUTER, fuse_outer};
use teml::transform::nest::interchange::INTERCHANGE;
use teml::transform::nest::mode::{PARALLELIZE, VECTORIZE, parallelize, vectorize};
use teml::transform::nest::stripmine::{STRIPMINE, Tail, stripmine};
use teml::transform::nest::unroll::UNROLL;
use teml::transform::tensor::vreduce::vsum;
use teml::transform::{Arg, LoopRef};

fn by_name(text: &str) -> LoopRef {
    LoopRef::Name(text.to_owned())
}

fn on<const N: usize>(nest: &Nest, args: [Arg; N]) -> Vec<Arg> {
    [Arg::Nest(nest.clone())].into_iter().chain(args).collect()
}

fn parallel(nest: &Nest, l: &str, collapse: usize) -> Nest {
    let sharing = Sharing {
        collapse,
        ..Sharing::default()
    };
    parallelize(nest, &by_name(l), sharing).unwrap()
}

fn both(first: &Nest, second: &Nest, level: i64) -> Vec<Arg> {
    on(first, [Arg::Nest(second.clone()), Arg::Int(level)])
}

/// `i`, below it `j` and `j_2` side by side.
fn branching() -> Nest {
    let (first, second) = (
        copy("B", "A", &[4, 4], "i j"),
        copy("D", "C", &[4, 4], "i j"),
    );
    fuse_outer(&first, &second, 1).unwrap()
}

pub fn nests() -> Vec<Case> {
    [
        position_cases(),
        order_cases(),
        block_cases(),
        fusion_cases(),
        invalid_cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn position_cases() -> Vec<Case> {
    let nest = copy("B", "A", &[4, 4], "i j");
    let no_name = |wanted: &str| NoLoop::NoName {
        name: wanted.to_owned(),
        have: vec![name("i"), name("j")],
    };
    let ambiguous = NoLoop::Ambiguous {
        level: 2,
        candidates: vec![name("j"), name("j_2")],
    };
    let too_deep = NoLoop::TooDeep { level: 3, depth: 2 };
    vec![
        Case::new(&UNROLL, on(&nest, [level(0)]), NoLoop::NoLevel { level: 0 }).at(1),
        Case::new(
            &PARALLELIZE,
            on(&nest, [level(-1)]),
            NoLoop::NoLevel { level: -1 },
        )
        .at(1),
        Case::new(
            &FUSE_INNER,
            on(&nest, [level(0)]),
            NoLoop::NoLevel { level: 0 },
        )
        .at(1),
        Case::new(&INTERCHANGE, on(&nest, [level(1), level(3)]), too_deep).at(2),
        Case::new(
            &INTERCHANGE,
            on(&nest, [named("k"), level(1)]),
            no_name("k"),
        )
        .at(1),
        Case::new(&STRIPMINE, on(&nest, [named(""), Arg::Int(2)]), no_name("")).at(1),
        Case::new(&VECTORIZE, on(&branching(), [level(2)]), ambiguous).at(1),
        Case::new(&UNROLL, on(&nest, []), "`loop` is missing").at(1),
    ]
}

fn order_cases() -> Vec<Case> {
    let branching = branching();
    let mined = stripmine(
        &copy("B", "A", &[4, 4], "i j"),
        &by_name("i"),
        2,
        Tail::Guard,
    )
    .unwrap();
    let not_perfect =
        "`i` and `j_2` are not perfectly nested: `i` has more in it than a single loop".to_owned();
    let not_nested = "neither of `j` and `j_2` is inside the other".to_owned();
    let division = || {
        "the bounds of `i_i` hold 2*i_o: with `i_o` inside of it, new bounds would need division"
            .to_owned()
    };
    let stepped = nest(&[
        "f64 A[9][9]",
        "for i in 0..9",
        "  for j in 0..i step 2",
        "    A[i][j] = A[i][j]",
    ]);
    let depends = "the bounds of `j` depend on `i`, so `j` cannot move outside of it".to_owned();
    vec![
        Case::new(
            &INTERCHANGE,
            on(&branching, [named("j_2"), named("i")]),
            not_perfect,
        )
        .because_of(&["i"]),
        Case::new(
            &INTERCHANGE,
            on(&branching, [named("j"), named("j_2")]),
            not_nested,
        )
        .because_of(&["j", "j_2"]),
        Case::new(&INTERCHANGE, on(&stepped, [level(1), level(2)]), depends)
            .because_of(&["i", "j"]),
        // The inner loop would leave the loop over its blocks ...
        Case::new(&INTERCHANGE, on(&mined, [level(1), level(2)]), division())
            .because_of(&["i_o", "i_i"]),
        // ... or that loop would move inside of it.
        Case::new(
            &INTERCHANGE,
            on(&mined, [named("i_o"), named("j")]),
            division(),
        )
        .because_of(&["i_o", "i_i"]),
    ]
}

fn block_cases() -> Vec<Case> {
    let nest = copy("B", "A", &[10], "i");
    let mined = stripmine(&nest, &by_name("i"), 4, Tail::Guard).unwrap();
    let not_positive = |value| format!("`factor` must be at least 1, and {value} is not");
    // Only nests that were read, or made by hand, have steps and several lower bounds.
    let stepped = crate::teml::trees::nest(&["f64 A[9]", "for i in 0..9 step 3", "  A[i] = A[i]"]);
    let clipped = crate::teml::trees::nest(&[
        "f64 A[9]",
        "for i in 0..4",
        "  for j in max(i, 2)..9",
        "    A[j] = A[i]",
    ]);
    let not_constant = |loop_name: &str, range: &str| {
        format!("the number of iterations of `{loop_name}` is not constant: {range}")
    };
    let clash = |taken: &str| {
        format!("the new loop would be named `{taken}`, and there is a loop of that name")
    };
    let named_apart = copy("B", "A", &[4, 4], "i i_o");
    let unrolled = copy("B", "A", &[2, 2, 2], "i j_u1 j");
    vec![
        Case::new(
            &STRIPMINE,
            on(&nest, [level(1), Arg::Int(0)]),
            not_positive(0),
        )
        .at(2),
        Case::new(
            &STRIPMINE,
            on(&nest, [level(1), Arg::Int(-4)]),
            not_positive(-4),
        )
        .at(2),
        Case::new(
            &STRIPMINE,
            on(&stepped, [level(1), Arg::Int(2)]),
            "`i` has the step 3, and this is for loops of step 1".to_owned(),
        )
        .because_of(&["i"]),
        Case::new(
            &STRIPMINE,
            on(&clipped, [level(2), Arg::Int(2)]),
            not_constant("j", "max(i, 2)..9"),
        )
        .because_of(&["j"]),
        Case::new(
            &UNROLL,
            on(&mined, [level(2)]),
            not_constant("i_i", "4*i_o..min(4*i_o + 4, 10)"),
        )
        .because_of(&["i_i"]),
        Case::new(
            &STRIPMINE,
            on(&named_apart, [named("i"), Arg::Int(2)]),
            clash("i_o"),
        )
        .because_of(&["i_o", "i"]),
        Case::new(&UNROLL, on(&unrolled, [named("i")]), clash("j_u1")).because_of(&["i"]),
    ]
}

fn fusion_cases() -> Vec<Case> {
    let nest = copy("B", "A", &[4, 4], "i j");
    let longer = copy("D", "C", &[4, 5], "k l");
    let ranges = |second: &str| format!("`j` runs over 0..4 and `{second}` over 0..5");
    let side_by_side = fuse_outer(&nest, &longer, 1).unwrap();
    let modes = |first: &str, second: &str| {
        format!("`{first}` and `{second}` run in different modes, or have different hints")
    };
    let parallel = parallel(&copy("D", "C", &[4, 4], "k l"), "k", 1);
    let vector = vectorize(&branching(), &by_name("j_2"), None).unwrap();
    let not_perfect = |which, level, found: &str| {
        format!("the {which} nest is not perfect down to level {level}: {found}")
    };
    let scalar = build(&eq("r", &tensor("q", &[]), "", "")).unwrap();
    // The fill of the second nest would move before what the first one does with the tensor.
    let (a, x) = (tensor("A", &[4, 4]), tensor("x", &[4]));
    let rows = vsum(
        &vop(Mul, &a, &x, ["i j", "j"]),
        &list("j"),
        teml::ir::Domain::default(),
    )
    .unwrap();
    let reduction = build(&eq("B", &rows, "ε", "i")).unwrap();
    let reader = copy("C", "B", &[4], "k");
    let beside = crate::teml::trees::nest(&[
        "f64 A[4], B[4]",
        "for i in 0..4",
        "  for j in 0..4",
        "    B[j] = A[i]",
        "  B[i] = A[i]",
    ]);
    let not_a_loop = "`B[i] = A[i]` is beside the loops at this level and is not a loop".to_owned();
    let negative = "`level` must be at least 0, and -1 is not".to_owned();
    vec![
        Case::new(&FUSE_OUTER, both(&nest, &longer, 2), ranges("l"))
            .at(1)
            .because_of(&["l"]),
        Case::new(&FUSE_INNER, on(&side_by_side, [level(2)]), ranges("l")).because_of(&["j", "l"]),
        Case::new(&FUSE_OUTER, both(&nest, &parallel, 1), modes("i", "k"))
            .at(1)
            .because_of(&["k"]),
        Case::new(&FUSE_INNER, on(&vector, [level(2)]), modes("j", "j_2"))
            .because_of(&["j", "j_2"]),
        Case::new(&FUSE_OUTER, both(&nest, &longer, -1), negative).at(2),
        Case::new(
            &FUSE_OUTER,
            both(&nest, &longer, 3),
            not_perfect("first", 3, "it has 2 levels"),
        )
        .at(0),
        Case::new(
            &FUSE_OUTER,
            both(&nest, &branching(), 2),
            not_perfect("second", 2, "it has 2 trees side by side at level 2"),
        )
        .at(1),
        Case::new(
            &FUSE_OUTER,
            both(&scalar, &nest, 1),
            not_perfect("first", 1, "it has 0 levels"),
        )
        .at(0),
        Case::new(
            &FUSE_OUTER,
            both(&reader, &reduction, 1),
            "the second nest initializes B, which the first one uses".to_owned(),
        )
        .at(1),
        Case::new(&FUSE_INNER, on(&beside, [level(2)]), not_a_loop)
            .at(1)
            .because_of(&["j"]),
        Case::new(
            &FUSE_INNER,
            on(&nest, [level(2)]),
            "there is only one loop at this level, so there is nothing to fuse".to_owned(),
        )
        .at(1)
        .because_of(&["j"]),
        Case::new(
            &FUSE_INNER,
            on(&reader, [level(2)]),
            NoLoop::TooDeep { level: 2, depth: 1 },
        )
        .at(1),
        Case::new(
            &FUSE_INNER,
            on(&reader, [level(1)]),
            "there is only one loop at this level, so there is nothing to fuse".to_owned(),
        )
        .at(1)
        .because_of(&["k"]),
    ]
}

fn invalid_cases() -> Vec<Case> {
    let nest = copy("B", "A", &[4, 4], "i j");
    let inside = |mode| Invalid::InsideVector {
        outer: name("i"),
        inner: name("j"),
        mode,
    };
    let outer = vectorize(&nest, &by_name("i"), None).unwrap();
    let inner = parallel(&nest, "j", 1);
    let how = |nest: &Nest, option: &str, value| {
        let options = Arg::Options(vec![(option.to_owned(), value)]);
        on(nest, [level(1), options])
    };
    let shared = |nest: &Nest, n| how(nest, "collapse", Arg::Int(n));
    let collapse = |of: &str, collapse| Invalid::NotCollapsible {
        name: name(of),
        collapse,
    };
    let collapsed = parallel(&nest, "i", 2);
    let triangle = crate::teml::trees::nest(&[
        "f64 A[4][4]",
        "for i in 0..4",
        "  for j in 0..i",
        "    A[i][j] = A[i][j]",
    ]);
    let below_1 = |parameter| {
        let kind = format!("`{parameter}` must be at least 1, and 0 is not");
        Case::new(&PARALLELIZE, how(&nest, parameter, Arg::Int(0)), kind).at(2)
    };
    let no_schedule =
        "`schedule` must be one of \"static\", \"dynamic\", \"guided\", \"balanced\", \
         not \"fair\""
            .to_owned();
    let no_axis = "`axis` must be one of \"grid.x\", \"grid.y\", \"grid.z\", \"block.x\", \
                   \"block.y\", \"block.z\", \"lane\", not \"warp\""
        .to_owned();
    let grid = Axis::from_word("grid.x").unwrap();
    let bound = bind(&nest, &"i".into(), grid).unwrap();
    let fair = how(&nest, "schedule", word("fair"));
    let balanced = ("schedule".to_owned(), word("balanced"));
    let chunks_of_rows = vec![balanced, ("chunk".to_owned(), Arg::Int(4))];
    let huge = |extent| copy("B", "A", &[extent], "i");
    let start = it("i_o").times(1 << 40);
    let names: Vec<String> = (0..129).map(|k| format!("l{k}")).collect();
    let iterators = names.join(" ");
    let deep = eq("B", &tensor("A", &[1; 129]), &iterators, &iterators);
    // No operation makes such a nest, and none passes it on.
    let broken = crate::teml::trees::nest(&["f64 A[4]", "for i in 0..4", "  A[k] = A[i]"]);
    vec![
        Case::new(&VECTORIZE, on(&outer, [named("j")]), inside("vector")).because_of(&["i", "j"]),
        Case::new(&VECTORIZE, on(&inner, [named("i")]), inside("parallel")).because_of(&["i", "j"]),
        Case::new(
            &UNROLL,
            on(&huge(65_537), [level(1)]),
            Invalid::TooLarge { trees: 65_537 },
        )
        .because_of(&["i"]),
        Case::new(
            &STRIPMINE,
            on(&huge(10), [level(1), Arg::Int(1 << 40)]),
            Invalid::IndexTooLarge { index: start },
        ),
        Case::new(&PARALLELIZE, shared(&nest, 3), collapse("i", 3)).because_of(&["i"]),
        Case::new(&PARALLELIZE, shared(&triangle, 2), collapse("i", 2)).because_of(&["i"]),
        Case::new(&PARALLELIZE, shared(&branching(), 2), collapse("i", 2)).because_of(&["i"]),
        Case::new(&PARALLELIZE, shared(&inner, 2), collapse("i", 2)).because_of(&["i"]),
        Case::new(&VECTORIZE, on(&collapsed, [named("j")]), collapse("i", 2)).because_of(&["i"]),
        Case::new(&UNROLL, on(&collapsed, [named("j")]), collapse("i", 2)).because_of(&["i"]),
        below_1("collapse"),
        below_1("chunk"),
        below_1("threshold"),
        below_1("work"),
        Case::new(&PARALLELIZE, fair, no_schedule).at(2),
        Case::new(
            &PARALLELIZE,
            on(&nest, [level(1), Arg::Options(chunks_of_rows)]),
            "`\"balanced\"` decides how many rows each thread gets".to_owned(),
        )
        .at(2),
        Case::new(
            &PARALLELIZE,
            how(&nest, "schedule", word("balanced")),
            "no loop in `i` has the entries of its rows".to_owned(),
        )
        .at(2)
        .because_of(&["i"]),
        Case::new(
            &VECTORIZE,
            on(&nest, [level(2), Arg::Int(3)]),
            "`lanes` must be 2, 4, 8, 16, 32 or 64, not 3".to_owned(),
        )
        .at(2),
        Case::new(
            &BIND,
            on(&bound, [named("j"), word("grid.x")]),
            "loop `i` already runs on grid.x, and one is inside the other".to_owned(),
        )
        .at(1)
        .because_of(&["j", "i"]),
        Case::new(&BIND, on(&nest, [named("j"), word("warp")]), no_axis).at(2),
        Case::new(&BUILD, vec![Arg::Expr(deep)], Invalid::TooDeep),
        Case::new(
            &PARALLELIZE,
            on(&broken, [level(1)]),
            Invalid::Malformed("`k` uses `k` outside of its loop".to_owned()),
        ),
    ]
}
