//! Calls on tensor expressions that are refused, `build` included.

use crate::teml::refusals::Case;
use crate::teml::trees::*;
use teml::analysis::shape::{Dimension, Mismatch};
use teml::ir::BinaryOp::{Add, Mul};
use teml::ir::{Affine, Constant, Elem, Expr, Index, Node, ShapeError};
use teml::lower::build::NoNest;
use teml::transform::nest::{build::BUILD, sweep::SWEEP};
use teml::transform::tensor::declare::{self, TENSOR};
use teml::transform::tensor::eq::{self, EQ};
use teml::transform::tensor::op::ADD;
use teml::transform::tensor::vat::VAT;
use teml::transform::tensor::vcontract::{VCONTRACT, vcontract};
use teml::transform::tensor::veq::VEQ;
use teml::transform::tensor::vop::{VADD, VMUL};
use teml::transform::tensor::vreduce::{VSUM, vsum};
use teml::transform::{Arg, Arrow, Number};

fn place(tensor: &str, dimension: usize, extent: i64) -> Dimension {
    Dimension {
        tensor: tensor.to_owned(),
        dimension,
        extent: Affine::constant(extent),
    }
}

fn expr(e: &Expr) -> Arg {
    Arg::Expr(e.clone())
}

fn operands(left: &Expr, right: &Expr, of: [&str; 2]) -> Vec<Arg> {
    vec![expr(left), expr(right), Arg::IterLists(lists(of))]
}

/// A list of indices that are not single iterators.
fn indexing(e: &Expr, index: Vec<Affine>, to: &str) -> Vec<Arg> {
    let (from, to) = (vec![Some(index)], list(to));
    vec![expr(e), Arg::Arrow(Arrow { from, to })]
}

pub fn expressions() -> Vec<Case> {
    [
        operand_cases(),
        shape_cases(),
        contraction_cases(),
        placement_cases(),
        build_cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn operand_cases() -> Vec<Case> {
    let a = tensor("A", &[4, 5]);
    let s = bind("s", declare::scalar(Elem::F64));
    let unnamed = declare::tensor(&[4], Elem::F64).unwrap();
    let sum = vop(Add, &a, &a, ["i j", "i j"]);
    let huge = (0..14).fold(sum.clone(), |x, _| vop(Add, &x, &x, ["ε", "ε"]));
    let deep = (0..498).fold(sum.clone(), |x, _| vop(Add, &x, &a, ["ε", "i j"]));
    let missing = |what: &str, rank| {
        format!(
            "{what} has no iterators yet, and none are given for its {rank} dimension{}",
            if rank == 1 { "" } else { "s" }
        )
    };
    let product = vcontract(&a, &tensor("B", &[5, 6]), &[[2, 1]]).unwrap();
    let elsewhere = vec![
        expr(&a),
        Arg::Arrow(arrow(["i j"], "i j")),
        Arg::Extents([4, 5].map(Affine::constant).to_vec()),
        Arg::Number(Number::Float(f64::NAN)),
    ];
    let no_value = format!(
        "NaN is not a value of type {}, the element type of the other operand",
        Elem::F64
    );
    vec![
        Case::new(
            &EQ,
            vec![expr(&unnamed), Arg::Arrow(arrow(["i"], "i"))],
            "this tensor has no name yet".to_owned(),
        )
        .at(0),
        Case::new(
            &VADD,
            operands(&a, &unnamed, ["i j", "i"]),
            "this tensor has no name yet".to_owned(),
        )
        .at(1),
        Case::new(
            &ADD,
            vec![expr(&a), expr(&a), Arg::Arrow(arrow(["i j", "ε"], "i j"))],
            missing("A", 2),
        )
        .at(1),
        Case::new(
            &EQ,
            vec![expr(&product), Arg::Arrow(arrow([], "j i"))],
            missing("`[_1, _2] -> sum(_3: A[_1][_3] * B[_3][_2])`", 2),
        )
        .at(0),
        Case::new(
            &VMUL,
            operands(&sum, &a, ["i j", "i j"]),
            "this operand carries iterators already: [i, j]",
        )
        .at(0),
        Case::new(
            &VADD,
            operands(&a, &s, ["i j", "i"]),
            "s is a scalar and takes no iterators".to_owned(),
        )
        .at(1),
        Case::new(
            &VADD,
            vec![
                expr(&a),
                expr(&a),
                Arg::IterLists(lists(["i j", "i j", "i j"])),
            ],
            "3 lists of iterators are given for 2 operands".to_owned(),
        )
        .at(2),
        Case::new(
            &EQ,
            vec![expr(&a), Arg::Arrow(arrow(["i j", "i j"], "i j"))],
            "2 lists of iterators are given for 1 operand".to_owned(),
        )
        .at(1),
        Case::new(
            &VADD,
            operands(&huge, &huge, ["ε", "ε"]),
            "the expression would be deeper than 500 operations or larger than 100000".to_owned(),
        ),
        Case::new(
            &VADD,
            operands(&deep, &a, ["ε", "i j"]),
            "the expression would be deeper than 500 operations or larger than 100000".to_owned(),
        ),
        Case::new(
            &EQ,
            vec![expr(&deep), Arg::Arrow(arrow(["ε"], "i j"))],
            "the expression would be deeper than 500 operations or larger than 100000".to_owned(),
        ),
        Case::new(
            &VSUM,
            vec![expr(&deep), Arg::Iters(list("j"))],
            "the expression would be deeper than 500 operations or larger than 100000".to_owned(),
        ),
        Case::new(&EQ, vec![expr(&a)], "`iterators` is missing").at(1),
        Case::new(&EQ, vec![expr(&a), Arg::Int(2)], "`iterators` cannot be 2").at(1),
        Case::new(
            &BUILD,
            vec![expr(&a), Arg::Int(2)],
            "2 arguments are given for 1 parameter",
        ),
        Case::new(&EQ, elsewhere, no_value).at(3),
    ]
}

fn shape_cases() -> Vec<Case> {
    let (a, x) = (tensor("A", &[4, 5]), tensor("x", &[5]));
    let floats = bind("f", declare::tensor(&[5], Elem::F32).unwrap());
    let rank = Mismatch::Rank {
        tensor: "A".to_owned(),
        rank: 2,
        given: 1,
        list: "i".to_owned(),
    };
    let extents = Mismatch::Extents {
        index: it("i"),
        first: place("A", 1, 4),
        second: place("x", 1, 5),
    };
    let sum = it("i").plus(&it("j"));
    let outside = Mismatch::OutOfBounds {
        index: sum.clone(),
        low: 0,
        high: 7,
        place: place("x", 1, 5),
    };
    let assigned = |value: &Expr, to: &str| {
        let (from, to) = (vec![None], list(to));
        vec![expr(value), Arg::Arrow(Arrow { from, to })]
    };
    let added = |index: Vec<Affine>, left: &Expr, of: &str| {
        teml::transform::tensor::vop::vop(Add, left, &x, &[iters(of), Some(index)]).unwrap()
    };
    let no_range = Mismatch::NoRange {
        iterator: name("i"),
        index: sum.clone(),
        place: place("x", 1, 5),
    };
    let free_target = Mismatch::Unbound {
        iterator: name("k"),
    };
    let far = it("i").plus_constant(5);
    let empty = Mismatch::Empty {
        iterator: name("i"),
        index: far.clone(),
        place: place("x", 1, 5),
    };
    let elems = Mismatch::Elems {
        left: "x".to_owned(),
        left_elem: Elem::F64,
        right: "f".to_owned(),
        right_elem: Elem::F32,
    };
    let steep = it("i").times(1 << 40);
    let too_large = Mismatch::TooLarge {
        index: steep.clone(),
        place: place("x", 1, 5),
    };
    let extents_of = |extents: &[i64]| {
        vec![Arg::Extents(
            extents.iter().copied().map(Affine::constant).collect(),
        )]
    };
    vec![
        Case::new(&VADD, operands(&a, &x, ["i", "i"]), rank).at(0),
        Case::new(&EQ, assigned(&added(list("i"), &a, "i j"), "i j"), extents).at(1),
        Case::new(
            &EQ,
            assigned(&added(vec![sum.clone()], &a, "i j"), "i j"),
            outside,
        )
        .at(1),
        Case::new(&EQ, indexing(&x, vec![sum], "i j"), no_range).at(1),
        Case::new(&EQ, indexing(&x, list("i"), "k"), free_target).at(1),
        Case::new(&EQ, assigned(&added(vec![far], &x, "i"), "i"), empty).at(1),
        Case::new(&VADD, operands(&x, &floats, ["i", "i"]), elems).at(1),
        Case::new(&EQ, indexing(&x, vec![steep], "i"), too_large).at(1),
        Case::new(
            &TENSOR,
            extents_of(&[3, 0]),
            ShapeError::NotPositive {
                dimension: 2,
                extent: 0,
            },
        )
        .at(0),
        Case::new(
            &TENSOR,
            extents_of(&[1 << 45]),
            ShapeError::TooLarge {
                shape: format!("[{}]", 1u64 << 45),
            },
        )
        .at(0),
    ]
}

fn contraction_cases() -> Vec<Case> {
    let (a, x) = (tensor("A", &[4, 5]), tensor("x", &[5]));
    let contraction = |pair| vec![expr(&a), expr(&x), Arg::Dimensions(vec![pair])];
    let dimension = |what: &str, rank, dimension| {
        let has = match rank {
            1 => "its only dimension is 1 (dimensions count from 1)",
            _ => "its dimensions are 1 and 2 (counted from 1)",
        };
        format!("{what} has no dimension {dimension}: {has}")
    };
    let differ = format!(
        "{} cannot be contracted with {}",
        place("A", 1, 4),
        place("x", 1, 5)
    );
    let product = vop(Mul, &a, &x, ["i j", "j"]);
    let over = |iterators: &str| vec![expr(&product), Arg::Iters(list(iterators))];
    let not_free = |iterator: &str| {
        format!("`{iterator}` is not an iterator of the expression, whose iterators are [i, j]")
    };
    vec![
        Case::new(&VCONTRACT, contraction([0, 1]), dimension("A", 2, 0)).at(2),
        Case::new(&VCONTRACT, contraction([2, 2]), dimension("x", 1, 2)).at(2),
        Case::new(&VCONTRACT, contraction([1, 1]), differ).at(2),
        Case::new(&VSUM, over("k"), not_free("k")).at(1),
        Case::new(
            &VSUM,
            vec![expr(&product), Arg::Iters(vec![it("i").plus_constant(1)])],
            not_free("i + 1"),
        )
        .at(1),
        Case::new(&VSUM, over("j i j"), "`j` is listed twice".to_owned()).at(1),
    ]
}

/// `at`, `veq`, and contractions of several pairs.
fn placement_cases() -> Vec<Case> {
    let a = tensor("A", &[4, 5]);
    let rank = Mismatch::Rank {
        tensor: "A".to_owned(),
        rank: 2,
        given: 1,
        list: "i".to_owned(),
    };
    let at = |iterators: &str| vec![expr(&a), Arg::Iters(list(iterators))];
    let virtual_of = |from: &str, to: Vec<Affine>| {
        let from = vec![iters(from)];
        vec![expr(&a), Arg::Arrow(Arrow { from, to })]
    };
    let iterator = name("j");
    let repeated = "`i` is listed twice".to_owned();
    let pairs = Arg::Dimensions(vec![[1, 1], [2, 1]]);
    let twice = "dimension 1 of A is listed twice".to_owned();
    vec![
        Case::new(&VAT, at("i"), rank).at(0),
        Case::new(
            &VEQ,
            virtual_of("i j", list("i")),
            format!("`{iterator}` indexes the value but is not a dimension of the virtual tensor"),
        )
        .at(1),
        Case::new(&VEQ, virtual_of("i j", list("i i j")), repeated).at(1),
        Case::new(&VCONTRACT, vec![expr(&a), expr(&a), pairs], twice).at(2),
    ]
}

fn build_cases() -> Vec<Case> {
    let (a, x) = (tensor("A", &[5, 5]), tensor("x", &[5]));
    let total = vsum(
        &vop(Mul, &x, &x, ["i", "i"]),
        &list("i"),
        teml::ir::Domain::default(),
    )
    .unwrap();
    let rows = vsum(
        &vop(Mul, &a, &x, ["i j", "j"]),
        &list("j"),
        teml::ir::Domain::default(),
    )
    .unwrap();
    let to = |value: &Expr, index: Vec<Affine>| {
        let arrow = Arrow {
            from: vec![None],
            to: index,
        };
        bind("y", eq::eq(value, &arrow).unwrap())
    };
    let diagonal = eq("d", &a, "i j", "i");
    let onto_anti_diagonals = to(
        &vop(Add, &a, &a, ["i j", "i j"]),
        vec![it("i").plus(&it("j"))],
    );
    let within = |value: &Expr, extent, elsewhere| {
        let to = arrow(["ε"], "i");
        let elsewhere = Some(Number::Int(elsewhere));
        bind(
            "y",
            eq::eq_within(
                value,
                &to,
                &[Affine::constant(extent)],
                elsewhere,
                teml::ir::Domain::default(),
            )
            .unwrap(),
        )
    };
    let of_itself = bind("x", eq::eq(&rows, &arrow(["ε"], "i")).unwrap());
    let onto_itself = within(&vop(Add, &tensor("y", &[5]), &x, ["i", "i"]), 5, 0);
    // No operation makes such a tree: they infer the target's shape or check it.
    let misshapen = Expr::new(Node::Assign {
        target: Expr::access(
            tensor("y", &[4]).tensor().unwrap().clone(),
            Index::At(list("i")),
        ),
        value: Expr::access(x.tensor().unwrap().clone(), Index::At(list("i"))),
        elsewhere: None,
        within: teml::ir::Domain::default(),
    });
    let extents = Mismatch::Extents {
        index: it("i"),
        first: place("y", 1, 4),
        second: place("x", 1, 5),
    };
    let build =
        |assignment: &Expr, why: NoNest| Case::new(&BUILD, vec![expr(assignment)], why).at(0);
    let sweep =
        |assignment: &Expr, why: NoNest| Case::new(&SWEEP, vec![expr(assignment)], why).at(0);
    vec![
        build(
            &a,
            NoNest::NotAnAssignment {
                what: "a tensor without a value",
            },
        ),
        build(
            &total,
            NoNest::NotAnAssignment {
                what: "a virtual expression",
            },
        ),
        build(&eq::eq(&x, &arrow(["i"], "i")).unwrap(), NoNest::Unnamed),
        build(
            &diagonal,
            NoNest::UnassignedIterator {
                iterator: name("j"),
                target: "d[i]".to_owned(),
            },
        ),
        sweep(
            &of_itself,
            NoNest::ReadsTarget {
                read: "x[j]".to_owned(),
                target: "x[i]".to_owned(),
            },
        ),
        sweep(
            &onto_itself,
            NoNest::ReadsTarget {
                read: "y[i]".to_owned(),
                target: "y[i]".to_owned(),
            },
        ),
        build(
            &onto_anti_diagonals,
            NoNest::NotInjective {
                target: "y[i + j]".to_owned(),
                iterator: name("i"),
            },
        ),
        build(
            &to(&rows, vec![it("i").times(2)]),
            NoNest::Scattered {
                target: "y[2*i]".to_owned(),
            },
        ),
        build(
            &within(&rows, 6, 1),
            NoNest::TwoConstants {
                reduction: "sum",
                identity: Constant::F64(0.0),
                target: "y[i]".to_owned(),
                elsewhere: Constant::F64(1.0),
            },
        ),
        build(&misshapen, NoNest::Shape(extents)),
    ]
}
