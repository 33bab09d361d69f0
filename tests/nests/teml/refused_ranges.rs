//! Calls with ranges of iterators that are refused.

use crate::teml::refusals::Case;
use crate::teml::trees::*;
use teml::analysis::shape::{Dimension, Mismatch};
use teml::ir::BinaryOp::Mul;
use teml::ir::{Affine, Domain, Name, Range};
use teml::transform::tensor::eq::EQ;
use teml::transform::tensor::vat::vat;
use teml::transform::tensor::vreduce::{VMEAN, VSUM, vsum};
use teml::transform::{Arg, Arrow};

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn range(lower: Affine, upper: Affine) -> Range {
    Range {
        lower: vec![lower],
        upper: vec![upper],
        step: 1,
        within: None,
    }
}

fn number(value: i64) -> Affine {
    Affine::constant(value)
}

fn domain<const N: usize>(ranges: [(&str, Range); N]) -> Domain {
    Domain::new(ranges.map(|(text, range)| (name(text), range)))
}

pub fn ranges() -> Vec<Case> {
    let (a, x) = (tensor("A", &[4, 5]), tensor("x", &[5]));
    let to = |iterators: &str| {
        Arg::Arrow(Arrow {
            from: vec![],
            to: list(iterators),
        })
    };
    let up_to = |iterator: &str, more: i64| {
        let upper = it(iterator).plus_constant(more);
        range(number(0), upper)
    };
    let place = |tensor: &str, dimension, extent| Dimension {
        tensor: tensor.to_owned(),
        dimension,
        extent: Affine::constant(extent),
    };
    let rows = vat(&a, &list("i j")).unwrap();
    let element = vat(&x, &list("j")).unwrap();
    let leaves = Mismatch::Leaves {
        index: it("j"),
        value: 5,
        at: vec![(name("i"), 3), (name("j"), 5)],
        place: place("A", 2, 5),
    };
    // Of several bounds, a step counts from the greatest one.
    let never = Range {
        lower: vec![
            it("i").plus(&it("j")).plus_constant(1),
            it("i").times(2).plus_constant(1),
        ],
        step: 2,
        ..range(number(0), number(1))
    };
    let never = vsum(&element, &list("k"), domain([("k", never)])).unwrap();
    let long = [
        ("i", Range::constant(0, 3000)),
        ("j", Range::constant(0, 3000)),
    ];
    let unclear = Mismatch::Unclear {
        index: it("j"),
        place: place("x", 1, 5),
    };
    let alone = vsum(&element, &list("j"), domain([("j", up_to("i", 1))])).unwrap();
    let eq = |value: &teml::ir::Expr, target: &str, ranges: Domain, why: String| {
        let args = vec![Arg::Expr(value.clone()), to(target), Arg::Ranges(ranges)];
        Case::new(&EQ, args, why)
    };
    let circle = domain([("i", up_to("j", 0)), ("j", up_to("i", 0))]);
    let product = vop(Mul, &a, &x, ["i j", "j"]);
    let reduce = |op, over: &str, ranges: Domain, why: String| {
        let args = vec![
            Arg::Expr(product.clone()),
            Arg::Iters(list(over)),
            Arg::Ranges(ranges),
        ];
        Case::new(op, args, why)
    };
    let not_reduced =
        "gives a range to `i`, which is not among the iterators that are reduced over".to_owned();
    let no_mean = "the mean over `j` has no fixed number of values".to_owned();
    let no_iterator =
        "gives a range to `k`, which the assignment does not have: its iterators are [i, j]"
            .to_owned();
    vec![
        eq(
            &rows,
            "i j",
            domain([("j", up_to("i", 3))]),
            leaves.to_string(),
        ),
        eq(&never, "i j", domain(long), unclear.to_string()),
        eq(
            &alone,
            "i",
            Domain::default(),
            Mismatch::Unlimited {
                iterator: name("i"),
            }
            .to_string(),
        )
        .at(1),
        eq(
            &rows,
            "i j",
            circle,
            Mismatch::Circle {
                iterator: name("i"),
            }
            .to_string(),
        ),
        eq(&rows, "i j", domain([("k", up_to("i", 1))]), no_iterator).at(4),
        reduce(&VSUM, "j", domain([("i", up_to("j", 1))]), not_reduced).at(3),
        reduce(&VMEAN, "j", domain([("j", up_to("i", 1))]), no_mean),
    ]
}
