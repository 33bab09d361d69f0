//! Calls on tensor expressions that are refused, `build` included.

use crate::refusals::Case;
use crate::trees::*;
use teml::analysis::shape::{Mismatch, Place};
use teml::ir::BinaryOp::{Add, Mul};
use teml::ir::{
    Affine, Comparison, Elem, Expr, Function, Index, Node, Reduction, Shape, ShapeError,
};
use teml::lower::build::NoNest;
use teml::transform::nest::build::BUILD;
use teml::transform::tensor::declare::{self, TENSOR};
use teml::transform::tensor::entrywise::{OPPOSITE, PLUS};
use teml::transform::tensor::eq::{self, EQ};
use teml::transform::tensor::function::{EXP, RELU};
use teml::transform::tensor::op::ADD;
use teml::transform::tensor::select::{SELECT, VSELECT};
use teml::transform::tensor::vcontract::{VCONTRACT, vcontract};
use teml::transform::tensor::vfunction::{Unary, VABS, VEXP, VNEG, vfunction};
use teml::transform::tensor::vop::{VADD, VMUL, VPOW};
use teml::transform::tensor::vreduce::{VMAX, VSUM, vmean, vreduce, vsum};
use teml::transform::{Arg, Arrow, ErrorKind, Number};

fn place(tensor: &str, dimension: usize, extent: u64) -> Place {
    Place {
        tensor: tensor.to_owned(),
        dimension,
        extent,
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
        number_cases(),
        function_cases(),
        operator_cases(),
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
    let missing = |what: &str, rank| ErrorKind::IteratorsMissing {
        what: what.to_owned(),
        rank,
    };
    let has = vec![name("i"), name("j")];
    let product = vcontract(&a, &tensor("B", &[5, 6]), [2, 1]).unwrap();
    vec![
        Case::new(
            &EQ,
            vec![expr(&unnamed), Arg::Arrow(arrow(["i"], "i"))],
            ErrorKind::Unnamed,
        )
        .at(0),
        Case::new(
            &VADD,
            operands(&a, &unnamed, ["i j", "i"]),
            ErrorKind::Unnamed,
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
            vec![expr(&product), Arg::Arrow(arrow([], "i j"))],
            missing("`[_1, _2] -> sum(_3: A[_1][_3] * B[_3][_2])`", 2),
        )
        .at(0),
        Case::new(
            &VMUL,
            operands(&sum, &a, ["i j", "i j"]),
            ErrorKind::IteratorsGiven { has },
        )
        .at(0),
        Case::new(
            &VADD,
            operands(&a, &s, ["i j", "i"]),
            ErrorKind::ScalarIndexed {
                scalar: "s".to_owned(),
            },
        )
        .at(1),
        Case::new(
            &VADD,
            vec![
                expr(&a),
                expr(&a),
                Arg::IterLists(lists(["i j", "i j", "i j"])),
            ],
            ErrorKind::TooManyLists {
                given: 3,
                operands: 2,
            },
        )
        .at(2),
        Case::new(
            &EQ,
            vec![expr(&a), Arg::Arrow(arrow(["i j", "i j"], "i j"))],
            ErrorKind::TooManyLists {
                given: 2,
                operands: 1,
            },
        )
        .at(1),
        Case::new(
            &VADD,
            operands(&huge, &huge, ["ε", "ε"]),
            ErrorKind::TooComplex,
        ),
        Case::new(
            &VADD,
            operands(&deep, &a, ["ε", "i j"]),
            ErrorKind::TooComplex,
        ),
        Case::new(
            &EQ,
            vec![expr(&deep), Arg::Arrow(arrow(["ε"], "i j"))],
            ErrorKind::TooComplex,
        ),
        Case::new(
            &VSUM,
            vec![expr(&deep), Arg::Iters(list("j"))],
            ErrorKind::TooComplex,
        ),
        Case::new(&EQ, vec![expr(&a)], ErrorKind::Misdeclared),
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
        iterator: name("i"),
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
    let window = vec![
        expr(&a),
        expr(&x),
        Arg::IterLists(vec![iters("i j"), Some(vec![sum.clone()])]),
    ];
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
    let beyond = vec![
        expr(&x),
        expr(&x),
        Arg::IterLists(vec![iters("i"), Some(vec![far])]),
    ];
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
    let extents_of = |extents: &[i64]| vec![Arg::Extents(extents.to_vec())];
    vec![
        Case::new(&VADD, operands(&a, &x, ["i", "i"]), rank).at(0),
        Case::new(&VADD, operands(&a, &x, ["i j", "i"]), extents).at(2),
        Case::new(&VADD, window, outside).at(2),
        Case::new(&EQ, indexing(&x, vec![sum], "i j"), no_range).at(1),
        Case::new(&EQ, indexing(&x, list("i"), "k"), free_target).at(1),
        Case::new(&VADD, beyond, empty).at(2),
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
    let contraction = |dimensions| vec![expr(&a), expr(&x), Arg::Dimensions(dimensions)];
    let dimension = |what: &str, rank, dimension| ErrorKind::NoDimension {
        what: what.to_owned(),
        rank,
        dimension,
    };
    let differ = ErrorKind::ContractedExtents {
        first: place("A", 1, 4),
        second: place("x", 1, 5),
    };
    let product = vop(Mul, &a, &x, ["i j", "j"]);
    let over = |iterators: &str| vec![expr(&product), Arg::Iters(list(iterators))];
    let not_free = |iterator: &str| ErrorKind::NotFree {
        iterator: iterator.to_owned(),
        has: vec![name("i"), name("j")],
    };
    vec![
        Case::new(&VCONTRACT, contraction([0, 1]), dimension("A", 2, 0)).at(2),
        Case::new(&VCONTRACT, contraction([2, 2]), dimension("x", 1, 2)).at(2),
        Case::new(&VCONTRACT, contraction([1, 1]), differ).at(2),
        Case::new(&VSUM, over("k"), not_free("k")).at(1),
        Case::new(&VMAX, over("k"), not_free("k")).at(1),
        Case::new(
            &VSUM,
            vec![expr(&product), Arg::Iters(vec![it("i").plus_constant(1)])],
            not_free("i + 1"),
        )
        .at(1),
        Case::new(
            &VSUM,
            over("j i j"),
            ErrorKind::Repeated {
                iterator: name("j"),
            },
        )
        .at(1),
    ]
}

fn int(value: i64) -> Arg {
    Arg::Number(Number::Int(value))
}

fn float(value: f64) -> Arg {
    Arg::Number(Number::Float(value))
}

/// A tensor `n` of integers.
fn integers() -> Expr {
    bind("n", declare::tensor(&[5], Elem::I32).unwrap())
}

fn number_cases() -> Vec<Case> {
    let (n, x) = (integers(), tensor("x", &[5]));
    let single = bind("f", declare::tensor(&[5], Elem::F32).unwrap());
    let with = |e: &Expr, number: Arg| {
        let lists = lists(["i", "ε"]);
        vec![expr(e), number, Arg::IterLists(lists)]
    };
    let no_value = |number: &str, elem| ErrorKind::NotRepresentable {
        number: number.to_owned(),
        elem,
    };
    let indexed = vec![expr(&x), int(2), Arg::IterLists(lists(["i", "i"]))];
    vec![
        Case::new(&VMUL, with(&n, float(1.5)), no_value("1.5", Elem::I32)).at(1),
        Case::new(
            &VMUL,
            with(&n, int(1 << 31)),
            no_value("2147483648", Elem::I32),
        )
        .at(1),
        Case::new(
            &VMUL,
            with(&single, float(1e300)),
            no_value("1e300", Elem::F32),
        )
        .at(1),
        Case::new(&VADD, with(&x, float(f64::NAN)), no_value("NaN", Elem::F64)).at(1),
        Case::new(&VADD, vec![int(1), float(2.0)], ErrorKind::OnlyNumbers),
        Case::new(
            &VADD,
            indexed,
            ErrorKind::ScalarIndexed {
                scalar: "2".to_owned(),
            },
        )
        .at(1),
    ]
}

fn function_cases() -> Vec<Case> {
    let (n, x) = (integers(), tensor("x", &[5]));
    let needs_float = |function| ErrorKind::NeedsFloat {
        function,
        elem: Elem::I32,
    };
    let missing = |rank| ErrorKind::IteratorsMissing {
        what: "x".to_owned(),
        rank,
    };
    let rank = Mismatch::Rank {
        tensor: "x".to_owned(),
        rank: 1,
        given: 2,
        list: "i, j".to_owned(),
    };
    let unnamed = declare::tensor(&[4], Elem::F64).unwrap();
    let less = Arg::Comparison(Comparison::Less);
    let choose = |left: &Expr, right: Arg, last: Arg| {
        let (yes, no) = (int(1), int(0));
        vec![expr(left), less.clone(), right, yes, no, last]
    };
    let elems = Mismatch::Elems {
        left: "x".to_owned(),
        left_elem: Elem::F64,
        right: "n".to_owned(),
        right_elem: Elem::I32,
    };
    vec![
        Case::new(
            &VEXP,
            vec![expr(&n), Arg::Iters(list("i"))],
            needs_float("exp"),
        )
        .at(0),
        Case::new(
            &EXP,
            vec![expr(&n), Arg::Arrow(arrow(["i"], "i"))],
            needs_float("exp"),
        )
        .at(0),
        Case::new(
            &VPOW,
            vec![expr(&n), int(2), Arg::IterLists(lists(["i"]))],
            needs_float("pow"),
        ),
        Case::new(&VABS, vec![expr(&x)], missing(1)).at(0),
        Case::new(
            &RELU,
            vec![expr(&x), Arg::Arrow(arrow(["i", "i"], "i"))],
            ErrorKind::TooManyLists {
                given: 2,
                operands: 1,
            },
        )
        .at(1),
        Case::new(&VNEG, vec![expr(&x), Arg::Iters(list("i j"))], rank).at(0),
        Case::new(
            &VNEG,
            vec![expr(&unnamed), Arg::Iters(list("i"))],
            ErrorKind::Unnamed,
        )
        .at(0),
        Case::new(
            &VSELECT,
            choose(&x, expr(&n), Arg::IterLists(lists(["i", "i"]))),
            elems,
        ),
        Case::new(
            &VSELECT,
            choose(&x, expr(&x), Arg::IterLists(lists(["i"]))),
            missing(1),
        )
        .at(2),
        Case::new(
            &SELECT,
            choose(&x, float(0.5), Arg::Arrow(arrow(["i"], "k"))),
            Mismatch::Unbound {
                iterator: name("k"),
            },
        )
        .at(5),
        Case::new(&SELECT, vec![expr(&x)], ErrorKind::Misdeclared),
    ]
}

fn operator_cases() -> Vec<Case> {
    let (a, b, x) = (
        tensor("A", &[4, 5]),
        tensor("B", &[5, 4]),
        tensor("x", &[5]),
    );
    let differ = |left: &str, left_shape: &[u64], right: &str, right_shape: &[u64]| {
        let shape = |extents: &[u64]| Shape::of_extents(extents.iter().copied());
        ErrorKind::ShapesDiffer {
            left: left.to_owned(),
            left_shape: shape(left_shape),
            right: right.to_owned(),
            right_shape: shape(right_shape),
        }
    };
    // Its values start at 1, so that entries at the same position have different iterators.
    let inner = vec![it("i").plus_constant(-1)];
    let shifted = vec![iters("i"), Some(inner)];
    let shifted = teml::transform::tensor::vop::vop(Add, &x, &x, &shifted).unwrap();
    let four = tensor("v", &[4]);
    vec![
        Case::new(
            &PLUS,
            vec![expr(&a), expr(&b)],
            differ("A", &[4, 5], "B", &[5, 4]),
        ),
        Case::new(
            &PLUS,
            vec![expr(&a), expr(&x)],
            differ("A", &[4, 5], "x", &[5]),
        ),
        Case::new(
            &PLUS,
            vec![expr(&shifted), expr(&four)],
            differ("`x[i] + x[i - 1]`", &[4], "v", &[4]),
        ),
        Case::new(
            &OPPOSITE,
            vec![expr(&declare::tensor(&[4], Elem::F64).unwrap())],
            ErrorKind::Unnamed,
        ),
    ]
}

fn build_cases() -> Vec<Case> {
    let (a, x) = (tensor("A", &[5, 5]), tensor("x", &[5]));
    let total = vsum(&vop(Mul, &x, &x, ["i", "i"]), &list("i")).unwrap();
    let rows = vsum(&vop(Mul, &a, &x, ["i j", "j"]), &list("j")).unwrap();
    let doubled = |e: &Expr, of: [&str; 2]| vop(Mul, e, e, of);
    let greatest = vreduce(Reduction::Max, &doubled(&x, ["i", "i"]), &list("i")).unwrap();
    let squares = doubled(&a, ["i j", "i j"]);
    let greatest_of_rows = vreduce(Reduction::Max, &squares, &list("j")).unwrap();
    let n = integers();
    let mean_of_integers = vmean(&doubled(&n, ["i", "i"]), &list("i")).unwrap();
    let to = |value: &Expr, index: Vec<Affine>| {
        let arrow = Arrow {
            from: vec![None],
            to: index,
        };
        bind("y", eq::eq(value, &arrow).unwrap())
    };
    let transposed = op("A", Add, [&a, &x], ["j i", "i"], "i j");
    let diagonal = eq("d", &a, "i j", "i");
    let onto_anti_diagonals = to(
        &vop(Add, &a, &a, ["i j", "i j"]),
        vec![it("i").plus(&it("j"))],
    );
    // No operation makes such a tree: they infer the target's shape or check it.
    let misshapen = Expr::new(Node::Assign {
        target: Expr::access(
            tensor("y", &[4]).tensor().unwrap().clone(),
            Index::At(list("i")),
        ),
        value: Expr::access(x.tensor().unwrap().clone(), Index::At(list("i"))),
    });
    let extents = Mismatch::Extents {
        iterator: name("i"),
        first: place("y", 1, 4),
        second: place("x", 1, 5),
    };
    let build =
        |assignment: &Expr, why: NoNest| Case::new(&BUILD, vec![expr(assignment)], why).at(0);
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
        build(
            &to(&vop(Add, &total, &x, ["ε", "k"]), list("k")),
            NoNest::NotLinear {
                reduction: "sum",
                op: "+",
            },
        ),
        build(
            &to(&vop(Mul, &greatest, &x, ["ε", "k"]), list("k")),
            NoNest::NotLinear {
                reduction: "max",
                op: "*",
            },
        ),
        build(
            &to(&vsum(&greatest_of_rows, &list("i")).unwrap(), vec![]),
            NoNest::NotLinear {
                reduction: "max",
                op: "sum",
            },
        ),
        build(
            &to(
                &vfunction(Unary::Function(Function::Exp), &total, &None).unwrap(),
                vec![],
            ),
            NoNest::NotLinear {
                reduction: "sum",
                op: "exp",
            },
        ),
        build(
            &to(&mean_of_integers, vec![]),
            NoNest::NotLinear {
                reduction: "sum",
                op: "/",
            },
        ),
        build(
            &to(&vop(Mul, &tensor("y", &[]), &total, ["ε", "ε"]), vec![]),
            NoNest::NotLinear {
                reduction: "sum",
                op: "*",
            },
        ),
        build(
            &transposed,
            NoNest::ReadsTarget {
                read: "A[j][i]".to_owned(),
                target: "A[i][j]".to_owned(),
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
        build(&misshapen, NoNest::Shape(extents)),
    ]
}
