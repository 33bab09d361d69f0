//! Padded tensors whose zeros an assignment would not keep.

use crate::teml::refusals::Case;
use crate::teml::trees::*;
use teml::ir::{Affine, Domain, Expr, Function, Name, Range};
use teml::transform::tensor::eq::EQ;
use teml::transform::tensor::pad::{PAD_TENSOR, pad};
use teml::transform::tensor::vat::vat;
use teml::transform::tensor::vfunction::{Unary, vfunction};
use teml::transform::{Arg, Arrow};

pub fn padded() -> Vec<Case> {
    let a = tensor("A", &[5]);
    let stored = pad(&a, 4).unwrap();
    let i = Name::new("i").unwrap();
    let element = vat(&stored, &list("i")).unwrap();
    let next = vat(&stored, &[Affine::iterator(i.clone()).plus_constant(1)]).unwrap();
    let exp = vfunction(Unary::Function(Function::Exp), &element, &None).unwrap();
    let assigned = |value: &Expr| {
        let arrow = Arrow {
            from: vec![],
            to: list("i"),
        };
        let ranges = Domain::new([(i.clone(), Range::constant(0, 6))]);
        vec![
            Arg::Expr(value.clone()),
            Arg::Arrow(arrow),
            Arg::Ranges(ranges),
        ]
    };
    let padded = |of: &Expr, multiple: i64| vec![Arg::Expr(of.clone()), Arg::Int(multiple)];
    vec![
        Case::new(
            &EQ,
            assigned(&exp),
            "behind the extents of a padded tensor, this is not 0 at `i`: exp(A[i])",
        ),
        Case::new(
            &EQ,
            assigned(&next),
            "the index i + 1 of A may reach the zeros behind its elements",
        ),
        Case::new(
            &PAD_TENSOR,
            padded(&element, 4),
            "A[i] is not a tensor without indices",
        )
        .at(0),
        Case::new(
            &PAD_TENSOR,
            padded(&a, 0),
            "extents become multiples of 1 or more, not of 0",
        )
        .at(1),
    ]
}
