//! Refusals of operations whose bounds and indices are read from tensors.

use crate::teml::refusals::Case;
use teml::ir::{
    Affine, Arrow, Domain, Elem, Entries, Expr, Index, Lookup, Name, Nest, Order, Shape, Tensor,
};
use teml::transform::nest::stripmine::STRIPMINE;
use teml::transform::nest::text::NEST;
use teml::transform::tensor::eq::EQ;
use teml::transform::tensor::indices::INDICES;
use teml::transform::tensor::scatter::SCATTER;
use teml::transform::tensor::sorted::SORTED;
use teml::transform::tensor::vat::VAT;
use teml::transform::{Arg, LoopRef, apply};

fn it(name: &str) -> Affine {
    Affine::iterator(Name::new(name).unwrap())
}

fn tensor(name: &str, extent: i64, elem: Elem) -> Tensor {
    let shape = Shape::new(&[extent], elem).unwrap();
    Tensor::new(shape, elem).named(Name::new(name).unwrap())
}

fn nest(lines: &[&str]) -> Nest {
    let nest = apply(&NEST, &[Arg::Word(lines.join("\n"))], None);
    nest.and_then(|value| value.nest()).unwrap()
}

pub fn sparse() -> Vec<Case> {
    let (x, unknown) = (tensor("x", 6, Elem::F64), tensor("col", 9, Elem::I64));
    let known = unknown.with_entries(Entries {
        low: Affine::constant(0),
        high: Affine::constant(6),
        order: Order::Any,
        rows: None,
    });
    let bounds = tensor("ptr", 5, Elem::I64).with_entries(Entries {
        low: Affine::constant(0),
        high: Affine::constant(10),
        order: Order::Increasing,
        rows: None,
    });
    let of_rows = |entries: &Tensor, rows: &Tensor| {
        let both = [entries, rows].map(|tensor| Arg::Expr(Expr::of_tensor(tensor.clone())));
        both.to_vec()
    };
    let read = |of: &Tensor| Lookup::new(of.clone(), vec![it("e")]).as_index();
    let whole = Expr::of_tensor(x.clone());
    let value = Expr::access(tensor("V", 9, Elem::F64), Index::At(vec![it("e")]));
    let on_device = [
        "f64 y[4], V[9]",
        "i64 ptr[5] increasing in 0..10",
        "grid.x for i in 0..4",
        "  for e in ptr[i]..ptr[i + 1]",
        "    y[i] += V[e]",
    ];
    let rows = nest(&[
        "f64 y[4], V[9]",
        "i64 ptr[5] increasing in 0..10",
        "for i in 0..4",
        "  for e in ptr[i]..ptr[i + 1]",
        "    y[i] += V[e]",
    ]);
    let blocks = |nest: &Nest, name: &str, tail: &str| {
        vec![
            Arg::Nest(nest.clone()),
            Arg::Loop(LoopRef::Name(name.to_owned())),
            Arg::Int(8),
            Arg::Word(tail.to_owned()),
        ]
    };
    let gathered = nest(&[
        "f64 y[9], x[6]",
        "i64 col[9] in 0..6",
        "for e in 0..9",
        "  let c = col[e]",
        "    y[e] = x[c]",
    ]);
    let to = Arrow {
        from: Vec::new(),
        to: vec![read(&known)],
    };
    vec![
        Case::new(
            &VAT,
            vec![Arg::Expr(whole), Arg::Iters(vec![read(&unknown)])],
            "nothing is known of the entries of col, and an index is read from it",
        )
        .at(0),
        Case::new(
            &SCATTER,
            vec![Arg::Expr(value.clone()), Arg::Iters(vec![it("e")])],
            "none of these indices, and no range, is read from a tensor",
        )
        .at(1),
        Case::new(
            &EQ,
            vec![Arg::Expr(value), Arg::Arrow(to)],
            "`col[e]` is read from a tensor, and several values may go to one element",
        )
        .at(1),
        Case::new(
            &INDICES,
            vec![
                Arg::Extents(vec![Affine::constant(9)]),
                Arg::Extents(vec![Affine::constant(6)]),
                Arg::Word("any".to_owned()),
                Arg::Elem(Elem::F32),
            ],
            "entries of type f32 cannot be indices",
        )
        .at(3),
        Case::new(
            &SORTED,
            of_rows(&unknown, &bounds),
            "this is not a tensor of entries with one dimension",
        )
        .at(0),
        Case::new(
            &SORTED,
            of_rows(&known, &known),
            "the entries of col need not increase",
        )
        .at(1),
        Case::new(
            &NEST,
            vec![Arg::Word(on_device.join("\n"))],
            "line 1, column 1: the bounds of `e` are read from a tensor, and loops on devices have \
             affine ones",
        )
        .at(0),
        Case::new(
            &STRIPMINE,
            blocks(&gathered, "c", "guard"),
            "the bounds of `c` are read from `col[e]`, and this needs affine ones",
        )
        .because_of(&["c"]),
        Case::new(
            &STRIPMINE,
            blocks(&rows, "e", "cut"),
            "`e` has as many iterations as entries say",
        )
        .at(3)
        .because_of(&["e"]),
    ]
}

/// The domain of a definition says what it reads, as its text does.
#[test]
fn texts_have_what_is_read() {
    let text = "f64 h[4], w[9]\ni64 bin[9] in 0..4\n\
                h[b] = sum(e where b in bin[e]..bin[e] + 1: w[e]) elsewhere 0";
    let read = teml::ir::parse_expr(text).unwrap();
    assert_eq!(read.to_string(), text);
    let lookups = |e: &Expr| match e.node() {
        teml::ir::Node::Reduce { within, .. } => Domain::lookups(within).count(),
        _ => 0,
    };
    assert_eq!(lookups(read.children()[1]), 2);
}
