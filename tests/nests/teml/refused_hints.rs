//! Prefetches and remarks that are refused.

use crate::teml::refusals::Case;
use crate::teml::trees::{self, eq, level, name, tensor, word};
use teml::analysis::position::NoLoop;
use teml::analysis::verify::Invalid;
use teml::ir::{Affine, Elem, Expr, Nest, Sharing};
use teml::lower::build::build;
use teml::transform::nest::annotate::ANNOTATE;
use teml::transform::nest::mode::{VECTORIZE, parallelize, vectorize};
use teml::transform::nest::prefetch::{PREFETCH, prefetch};
use teml::transform::nest::stream::STREAM;
use teml::transform::tensor::declare;
use teml::transform::{Arg, LoopRef};

fn by_name(text: &str) -> LoopRef {
    LoopRef::Name(text.to_owned())
}

fn on<const N: usize>(nest: &Nest, args: [Arg; N]) -> Vec<Arg> {
    [Arg::Nest(nest.clone())].into_iter().chain(args).collect()
}

fn collapsed(nest: &Nest) -> Nest {
    let sharing = Sharing {
        collapse: 2,
        ..Sharing::default()
    };
    parallelize(nest, &by_name("i"), sharing).unwrap()
}

pub fn hints() -> Vec<Case> {
    let a = tensor("A", &[4, 4]);
    let nest = build(&eq("B", &a, "i j", "i j")).unwrap();
    let unnamed = declare::tensor(&[4], Elem::F64).unwrap();
    let ahead = |nest: &Nest, l, tensor: &Expr, distance| {
        on(nest, [l, Arg::Expr(tensor.clone()), Arg::Int(distance)])
    };
    let nothing = |tensor: &str| {
        format!("no access to {tensor} in `j` moves from one iteration of it to the next")
    };
    let still = trees::nest(&[
        "f64 A[4][4]",
        "for i in 0..4",
        "  for j in 0..4",
        "    A[i][0] += A[i][1]",
    ]);
    let word_loop = |l: &str| Arg::Loop(by_name(l));
    let shared = |nest: &Nest, of, inner| {
        let a = Arg::Expr(tensor("A", &[4, 4]));
        on(nest, [word_loop(of), a, Arg::Int(1), word_loop(inner)])
    };
    let further = |nest: &Nest, by| {
        let a = Arg::Expr(tensor("A", &[4, 4]));
        let args = [word_loop("i"), a, Arg::Int(1), word_loop("j"), Arg::Int(by)];
        on(nest, args)
    };
    let rows = trees::nest(&[
        "f64 A[4][4], B[4][4]",
        "for i in 0..2",
        "  for j in 0..4",
        "    for k in 2*i..2*i + 2",
        "      B[j][k] = A[j][k]",
    ]);
    let columns = trees::nest(&[
        "f64 A[4][4], B[4][4]",
        "for i in 0..4",
        "  for j in 0..4",
        "    for k in 0..4",
        "      B[i][j] += A[k][i]",
    ]);
    let endless = trees::nest(&[
        "f64 A[4][4], B[4][4]",
        "for i in 0..4",
        "  for j in max(0, i)..4",
        "    B[i][j] = A[i][j]",
    ]);
    let not_positive = "`distance` must be at least 1, and 0 is not".to_owned();
    let far = 1 << 40;
    let in_vector = |outer: &str, inner: &str| Invalid::PrefetchInVector {
        outer: name(outer),
        inner: name(inner),
    };
    let collapsed = collapsed(&nest);
    let not_collapsible = Invalid::NotCollapsible {
        name: name("i"),
        collapse: 2,
    };
    let prefetching = prefetch(&nest, &by_name("j"), &name("A"), 2).unwrap();
    let vector = |l: &str| vectorize(&nest, &by_name(l), None).unwrap();
    let remark = |text: &str| {
        let kind = format!("{text:?} cannot be a remark");
        Case::new(&ANNOTATE, on(&nest, [level(1), word(text)]), kind).at(2)
    };
    let two_levels = NoLoop::TooDeep { level: 3, depth: 2 };
    let stream = |nest: &Nest, l: &str, tensor: &Expr| {
        let args = [Arg::Loop(by_name(l)), Arg::Expr(tensor.clone())];
        on(nest, args)
    };
    let no_k = NoLoop::NoName {
        name: "k".to_owned(),
        have: vec![name("i"), name("j")],
    };
    let nothing_stored =
        |name_of: &str, tensor: &str| format!("`{name_of}` stores nothing to {tensor} in memory");
    let read_there = |name_of: &str, tensor: &str| {
        format!("`{name_of}` reads {tensor}, and should find it in the caches")
    };
    let kept = trees::nest(&[
        "f64 A[4]",
        "local f64 t[4]",
        "for i in 0..4",
        "  t[i] = A[i]",
        "for j in 0..4",
        "  A[j] = t[j]",
        "for k in 0..4",
        "  A[k] = A[k] + t[0]",
    ]);
    let prefetch_in = |args, kind: Invalid, culprits: &'static [&'static str]| {
        Case::new(&PREFETCH, args, kind).because_of(culprits)
    };
    vec![
        Case::new(&PREFETCH, ahead(&nest, level(3), &a, 1), two_levels.clone()).at(1),
        Case::new(
            &PREFETCH,
            ahead(&nest, level(1), &unnamed, 1),
            "this tensor has no name yet".to_owned(),
        )
        .at(2),
        Case::new(&PREFETCH, ahead(&nest, level(1), &a, 0), not_positive).at(3),
        Case::new(&PREFETCH, ahead(&still, level(2), &a, 1), nothing("A"))
            .at(2)
            .because_of(&["j"]),
        Case::new(
            &PREFETCH,
            ahead(&nest, level(2), &tensor("C", &[4]), 1),
            nothing("C"),
        )
        .at(2)
        .because_of(&["j"]),
        Case::new(
            &PREFETCH,
            ahead(&nest, level(1), &a, far),
            Invalid::IndexTooLarge {
                index: Affine::constant(far),
            },
        ),
        prefetch_in(
            ahead(&vector("j"), level(2), &a, 1),
            in_vector("j", "j"),
            &["j", "j"],
        ),
        prefetch_in(
            ahead(&vector("i"), level(2), &a, 1),
            in_vector("i", "j"),
            &["i", "j"],
        ),
        Case::new(
            &VECTORIZE,
            on(&prefetching, [level(1)]),
            in_vector("i", "j"),
        )
        .because_of(&["i", "j"]),
        prefetch_in(ahead(&collapsed, level(1), &a, 1), not_collapsible, &["i"]),
        Case::new(
            &PREFETCH,
            shared(&nest, "j", "i"),
            "`i` is not inside of `j`".to_owned(),
        )
        .at(4)
        .because_of(&["i", "j"]),
        Case::new(
            &PREFETCH,
            on(
                &still,
                [
                    word_loop("i"),
                    Arg::Expr(tensor("C", &[4])),
                    Arg::Int(1),
                    word_loop("j"),
                ],
            ),
            "no access to C in `i` moves from one iteration of it to the next".to_owned(),
        )
        .at(2)
        .because_of(&["i"]),
        Case::new(
            &PREFETCH,
            shared(&columns, "i", "j"),
            "what an iteration of `i` touches of A lies here and there in memory".to_owned(),
        )
        .at(2)
        .because_of(&["i"]),
        Case::new(
            &PREFETCH,
            shared(&endless, "i", "j"),
            "the number of iterations of `j` is not constant: max(0, i)..4".to_owned(),
        )
        .at(4)
        .because_of(&["j"]),
        Case::new(
            &PREFETCH,
            further(&rows, 0),
            "`further` must be at least 1, and 0 is not".to_owned(),
        )
        .at(5),
        Case::new(
            &PREFETCH,
            further(&rows, far),
            Invalid::IndexTooLarge {
                index: Affine::constant(far),
            },
        ),
        Case::new(&STREAM, stream(&nest, "k", &a), no_k).at(1),
        Case::new(
            &STREAM,
            stream(&nest, "j", &unnamed),
            "this tensor has no name yet".to_owned(),
        )
        .at(2),
        Case::new(&STREAM, stream(&nest, "i", &a), nothing_stored("i", "A"))
            .at(2)
            .because_of(&["i"]),
        Case::new(
            &STREAM,
            stream(&kept, "i", &tensor("t", &[4])),
            nothing_stored("i", "t"),
        )
        .at(2)
        .because_of(&["i"]),
        Case::new(
            &STREAM,
            stream(&kept, "k", &tensor("A", &[4])),
            read_there("k", "A"),
        )
        .at(2)
        .because_of(&["k"]),
        Case::new(&STREAM, stream(&still, "j", &a), read_there("j", "A"))
            .at(2)
            .because_of(&["j"]),
        Case::new(&ANNOTATE, on(&nest, [level(3), word("hot")]), two_levels).at(1),
        remark(""),
        remark(" indented"),
        remark("goes on \\"),
        remark("ends */ int x; /*"),
        remark("a trigraph ??/"),
        remark("one line\nsystem(0);"),
        remark("tab\there"),
        remark("turned \u{202e} around"),
    ]
}
