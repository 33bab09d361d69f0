//! Refusals of operations that need known sizes.

use crate::teml::refusals::Case;
use crate::teml::trees;
use teml::ir::{Affine, Arrow, BinaryOp, Elem, Expr, Index, Name, Nest, Shape, Size, Tensor};
use teml::transform::nest::localize::LOCALIZE;
use teml::transform::nest::peel::PEEL;
use teml::transform::nest::place_init::PLACE_INIT;
use teml::transform::nest::prefer::PREFER;
use teml::transform::nest::specialize::SPECIALIZE;
use teml::transform::nest::stripmine::STRIPMINE;
use teml::transform::nest::text::NEST;
use teml::transform::tensor::eq::EQ;
use teml::transform::tensor::vop::vop;
use teml::transform::tensor::vreduce::VSUM;
use teml::transform::{Arg, LoopRef, apply};

fn it(name: &str) -> Affine {
    Affine::iterator(Name::new(name).unwrap())
}

fn size(name: &str) -> Affine {
    Affine::iterator(Name::new(name).unwrap().with_size(Size::default()))
}

/// A vector of this extent, at an index.
fn at(name: &str, extent: Affine, index: Affine) -> Expr {
    let shape = Shape::of_dims(vec![extent], Elem::F64).unwrap();
    let tensor = Tensor::new(shape, Elem::F64).named(Name::new(name).unwrap());
    Expr::access(tensor, Index::At(vec![index]))
}

fn nest(text: &str) -> Nest {
    let nest = apply(&NEST, &[Arg::Word(text.to_owned())], None);
    nest.and_then(|value| value.nest()).unwrap()
}

pub fn sizes() -> Vec<Case> {
    let (n, k, h) = (size("N"), it("k"), it("h"));
    let shifted = [
        at("A", n.clone(), k.clone()),
        at("B", n.clone(), k.plus_constant(-1)),
    ];
    let shifted = vop(BinaryOp::Mul, &shifted[0], &shifted[1], &[]).unwrap();
    let sum = vec![Arg::Expr(shifted), Arg::Iters(vec![k])];
    let strided = at("A", n, h.times(2));
    let to = Arrow {
        from: Vec::new(),
        to: vec![h],
    };
    let named_alike = "size N\nf64 A[N]\nfor N in 1..4\n  A[0] = 1";
    let copies =
        nest("size N\nf64 A[N], T[N]\nfor i in 0..N\n  T[i] = 1\nfor j in 0..N\n  A[j] = T[j]");
    let loops = nest("size N\nf64 A[N]\nfor i in 0..N\n  A[i] = 1");
    let blocks = vec![
        Arg::Nest(loops.clone()),
        Arg::Loop(LoopRef::Name("i".to_owned())),
        Arg::Int(8),
        Arg::Word("exact".to_owned()),
    ];
    let plan = nest("size N\nf64 A[N]\nfor i in 0..N\n  A[i] = 1");
    let scaled = nest("size N\nf64 A[N], s, beta\ns = 1\nfor i in 0..N\n  A[i] = beta * s");
    let plain = nest("size N\nf64 A[N], beta\nfor i in 0..N\n  A[i] = select(beta == 0, 1, 2)");
    let other = nest("size N\nf64 A[N]\nfor i in 0..N\n  A[i] = 2");
    let slabs = trees::nest(&[
        "size N least 3",
        "size M multiple 2",
        "size M_2 = M / 2",
        "size N_3 = N / 3",
        "size N_3_2 = N_3 / 2",
        "f64 R[4][N][2*M_2], A[4][N][2*M_2]",
        "fill R[0..4][0..N][0..2*M_2] = 0",
        "for a in 0..4",
        "  for s in 0..N_3_2 + M_2",
        "    for i in max(0, 2*s - 2*M_2 + 1)..min(N_3, 2*s + 2)",
        "      for c in max(0, 2*s - i)..min(2*M_2, 2*s - i + 2)",
        "        R[a][3*i][c] += A[a][3*i][c]",
        "        R[a][3*i + 1][c] += A[a][3*i + 1][c]",
        "        R[a][3*i + 2][c] += A[a][3*i + 2][c]",
        "  for r in 3*N_3..N",
        "    for d in 0..2*M_2",
        "      R[a][r][d] += A[a][r][d]",
    ]);
    let under = |nest: &Nest, condition: &str| {
        let args = [Arg::Nest(nest.clone()), Arg::Word(condition.to_owned())];
        let narrowed = apply(&SPECIALIZE, &args, None);
        narrowed.and_then(|value| value.nest()).unwrap()
    };
    let on = |nest: &Nest, arg: Arg| vec![Arg::Nest(nest.clone()), arg];
    let small = under(&plan, "N <= 4");
    let chosen = apply(&PREFER, &on(&plan, Arg::Nest(small.clone())), None);
    let chosen = chosen.and_then(|value| value.nest()).unwrap();
    let alike = at("A", size("h"), it("h"));
    let of_alike = Arrow {
        from: Vec::new(),
        to: vec![it("h")],
    };
    vec![
        Case::new(
            &EQ,
            vec![Arg::Expr(alike), Arg::Arrow(of_alike)],
            "`h` is an iterator here, and also the name of a size",
        )
        .at(1),
        Case::new(
            &VSUM,
            sum,
            "the reduction over `k` would take only 1..N, and `k` in dimension 1 of A (extent N) has \
             more",
        )
        .at(1),
        Case::new(
            &EQ,
            vec![Arg::Expr(strided), Arg::Arrow(to)],
            "the range of `h` in `2*h` in dimension 1 of A (extent N) cannot be inferred: its bounds \
             are not affine in the sizes",
        )
        .at(1),
        Case::new(
            &LOCALIZE,
            vec![Arg::Nest(copies), Arg::Word("T".to_owned())],
            "the local tensor T would have the shape [N], and local tensors need numbers",
        ),
        Case::new(
            &PLACE_INIT,
            vec![
                Arg::Nest(slabs),
                Arg::Loops(vec![LoopRef::Name("a".to_owned())]),
            ],
            "what `a` uses of R is not a box of constant size within `fill R[0..4][0..N][0..2*M_2] = \
             0`",
        )
        .because_of(&["a"]),
        Case::new(
            &NEST,
            vec![Arg::Word(named_alike.to_owned())],
            "line 1, column 1: the loop `N` has the name of a size",
        )
        .at(0),
        Case::new(
            &STRIPMINE,
            blocks,
            "8 does not divide the N iterations of `i` for all sizes",
        )
        .at(2)
        .because_of(&["i"]),
        Case::new(
            &SPECIALIZE,
            on(&plan, Arg::Word("M <= 4".to_owned())),
            "the nest has no size or scalar `M`: it has N",
        )
        .at(1),
        Case::new(
            &SPECIALIZE,
            on(&plan, Arg::Word("N <= M".to_owned())),
            "`N <= M` is not a comparison of a size or a scalar with an integer, such as `N <= 32`, \
             `N % 8 == 0` or `beta == 0`",
        )
        .at(1),
        Case::new(
            &SPECIALIZE,
            on(&scaled, Arg::Word("beta <= 1".to_owned())),
            "`beta` is a scalar: a condition says which integer it is",
        )
        .at(1),
        Case::new(
            &SPECIALIZE,
            on(&scaled, Arg::Word("s == 1".to_owned())),
            "the nest has no size or scalar `s`: it has N, beta",
        )
        .at(1),
        Case::new(
            &PEEL,
            vec![
                Arg::Nest(plan.clone()),
                Arg::Loop(LoopRef::Name("i".to_owned())),
                Arg::Int(8),
                Arg::Word("rest".to_owned()),
                Arg::Int(9),
            ],
            "`least` is a number from 1 to 8, with the end \"rest\"",
        )
        .at(4),
        Case::new(
            &SPECIALIZE,
            on(&small, Arg::Word("N >= 8".to_owned())),
            "no `N` is left: `N >= 8`, and N <= 4",
        )
        .at(1),
        Case::new(
            &PREFER,
            on(&plan, Arg::Nest(plan.clone())),
            "the variant is for all sizes, so the nest would never run",
        )
        .at(1),
        Case::new(
            &PREFER,
            on(&plan, Arg::Nest(under(&other, "N <= 4"))),
            "the variant computes something else: its definition is another one",
        )
        .at(1),
        Case::new(
            &PREFER,
            on(&plan, Arg::Nest(chosen.clone())),
            "the variant is for all sizes, so the nest would never run",
        )
        .at(1),
        Case::new(
            &PREFER,
            on(&small, Arg::Nest(under(&plan, "N >= 8"))),
            "the variant would never run: `N <= 4`, and `N >= 8`",
        )
        .at(1),
        Case::new(
            &PREFER,
            on(&loops, Arg::Nest(under(&plain, "beta == 0"))),
            "the variant is for some `beta`, and the nest has none",
        )
        .at(1),
        Case::new(
            &STRIPMINE,
            vec![
                Arg::Nest(chosen),
                Arg::Loop(LoopRef::Name("i".to_owned())),
                Arg::Int(8),
            ],
            "the nest has variants for some sizes, and each is a plan of its own",
        ),
    ]
}
