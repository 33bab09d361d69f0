//! Pieces that are not those of one assignment, and matrices that are none.

use crate::teml::refusals::Case;
use crate::teml::trees::*;
use teml::analysis::shape::Mismatch;
use teml::ir::{Domain, Elem, Expr, Name, Number, Order, Range};
use teml::lower::partition::NoPartition;
use teml::transform::tensor::aligned::ALIGNED;
use teml::transform::tensor::eq::{eq_over, eq_within};
use teml::transform::tensor::indices::indices;
use teml::transform::tensor::partition::PARTITION;
use teml::transform::tensor::strided::STRIDED;
use teml::transform::tensor::triangular::TRIANGULAR;
use teml::transform::tensor::vat::vat;
use teml::transform::{Arg, Arrow};

fn arrow(iterators: &str) -> Arrow {
    Arrow {
        from: vec![],
        to: list(iterators),
    }
}

fn rows(value: &Expr, low: i64, high: i64) -> Expr {
    let i = Name::new("i").unwrap();
    let ranges = Domain::new([(i, Range::constant(low, high))]);
    eq_over(value, &arrow("i"), ranges).unwrap()
}

fn refused(why: NoPartition) -> String {
    why.to_string()
}

pub fn partitions() -> Vec<Case> {
    let (a, matrix) = (tensor("A", &[9]), tensor("M", &[9, 9]));
    let value = vat(&a, &list("i")).unwrap();
    let integers = {
        let shape = teml::ir::Shape::new(&[9], Elem::I32).unwrap();
        let tensor = teml::ir::Tensor::new(shape, Elem::I32).named(Name::new("K").unwrap());
        Expr::of_tensor(tensor)
    };
    let entries = {
        let n = teml::ir::Affine::constant(9);
        let declared = indices(std::slice::from_ref(&n), &n, Order::Any, Elem::I64);
        bind("col", declared.unwrap())
    };
    let scalar = tensor("s", &[]);
    let of_integers = rows(&vat(&integers, &list("i")).unwrap(), 5, 9);
    let pieces = |pieces: &[&Expr], why: String| {
        let pieces = pieces.iter().map(|piece| (*piece).clone()).collect();
        Case::new(&PARTITION, vec![Arg::Exprs(pieces)], why).at(0)
    };
    let with_rest = |piece: &Expr, rest: Arg, why: String| {
        Case::new(&PARTITION, vec![Arg::Exprs(vec![piece.clone()]), rest], why)
    };
    let upper = rows(&value, 0, 5);
    let everywhere = eq_within(
        &value,
        &arrow("i"),
        &[teml::ir::Affine::constant(9)],
        Some(Number::Int(0)),
        Domain::default(),
    );
    let everywhere = everywhere.unwrap();
    let square = eq_over(
        &vat(&matrix, &list("i j")).unwrap(),
        &arrow("i j"),
        Domain::default(),
    );
    let square = square.unwrap();
    let digits = teml::ir::parse_expr("f64 x[81], M[9][9]\nx[9*i + j] = M[i][j] where i in 0..4")
        .map(|e| teml::transform::tensor::with_shapes(&e).unwrap())
        .unwrap();
    let not_a_matrix = |expr: &Expr, what: &str| {
        let args = vec![Arg::Expr(expr.clone()), Arg::Word("lower".to_owned())];
        let what = what.to_owned();
        Case::new(
            &TRIANGULAR,
            args,
            format!("{what} is not a tensor with 2 dimensions"),
        )
        .at(0)
    };
    let unaligned = |expr: &Expr, bytes: i64, message: &str| {
        let args = vec![Arg::Expr(expr.clone()), Arg::Int(bytes)];
        Case::new(&ALIGNED, args, message)
    };
    vec![
        unaligned(&square, 64, "□ is not a declared tensor").at(0),
        Case::new(
            &STRIDED,
            vec![Arg::Expr(square.clone())],
            "□ is not a declared tensor",
        )
        .at(0),
        Case::new(
            &STRIDED,
            vec![Arg::Expr(a.clone())],
            "a tensor with fewer than two dimensions has no rows that could lie apart",
        )
        .at(0),
        Case::new(
            &STRIDED,
            vec![Arg::Expr(scalar), Arg::Word("all".to_owned())],
            "a tensor without dimensions has one element, which lies apart from nothing",
        )
        .at(0),
        Case::new(
            &STRIDED,
            vec![Arg::Expr(entries), Arg::Word("all".to_owned())],
            "bounds read the entries of this tensor where they are adjacent",
        )
        .at(0),
        unaligned(&a, 24, "an alignment is 8, 16, 32 or 64 bytes, not 24").at(1),
        not_a_matrix(&a, "A"),
        not_a_matrix(&square, "□"),
        pieces(&[], refused(NoPartition::Empty)),
        pieces(
            &[&upper, &a],
            refused(NoPartition::NotAnAssignment { piece: 2 }),
        ),
        pieces(&[&everywhere], refused(NoPartition::Elsewhere { piece: 1 })),
        pieces(
            &[&upper, &rows(&value, 3, 9)],
            refused(NoPartition::Overlap {
                pieces: [1, 2],
                element: "the element [3]".to_owned(),
                iterations: ["i = 3".to_owned(), "i = 3".to_owned()],
            }),
        ),
        pieces(
            &[&upper, &square],
            refused(NoPartition::Ranks {
                piece: 2,
                rank: 2,
                first: 1,
            }),
        ),
        pieces(
            &[&upper, &of_integers],
            Mismatch::Elems {
                left: "the target".to_owned(),
                left_elem: Elem::F64,
                right: "the assigned value".to_owned(),
                right_elem: Elem::I32,
            }
            .to_string(),
        ),
        with_rest(
            &digits,
            Arg::Number(Number::Int(0)),
            refused(NoPartition::NoLoops { piece: 1 }),
        )
        .at(0),
        with_rest(
            &upper,
            Arg::Expr(integers),
            Mismatch::Elems {
                left: "the pieces".to_owned(),
                left_elem: Elem::F64,
                right: "the value of other elements".to_owned(),
                right_elem: Elem::I32,
            }
            .to_string(),
        )
        .at(1),
    ]
}
