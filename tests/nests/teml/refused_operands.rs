//! Numbers, functions, operators and reductions that are refused, `build` included.

use crate::teml::refusals::Case;
use crate::teml::trees::*;
use teml::analysis::shape::{Allowed, Dimension, Mismatch};
use teml::analysis::verify::Invalid;
use teml::ir::BinaryOp::Mul;
use teml::ir::{Affine, Comparison, Elem, Expr, Name, Shape};
use teml::transform::tensor::cast::{CAST, VCAST};
use teml::transform::tensor::declare;
use teml::transform::tensor::entrywise::{OPPOSITE, PLUS};
use teml::transform::tensor::eq::EQ;
use teml::transform::tensor::function::{EXP, RELU};
use teml::transform::tensor::masks::AND;
use teml::transform::tensor::select::{SELECT, VSELECT};
use teml::transform::tensor::vat::vat;
use teml::transform::tensor::vfunction::{VEXP, VNEG};
use teml::transform::tensor::vindex::{VINDEX, vindex};
use teml::transform::tensor::vop::{VADD, VMOD, VMUL, VPOW};
use teml::transform::tensor::vreduce::{VMAX, VSUM, vsum};
use teml::transform::{Arg, Number};

fn expr(e: &Expr) -> Arg {
    Arg::Expr(e.clone())
}

pub fn operands() -> Vec<Case> {
    [
        number_cases(),
        function_cases(),
        operator_cases(),
        reduction_cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
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
    let no_value = |number: &str, elem| {
        format!("{number} is not a value of type {elem}, the element type of the other operand")
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
        Case::new(
            &VADD,
            vec![int(1), float(2.0)],
            "all operands are numbers, and at least one has to be a tensor".to_owned(),
        ),
        Case::new(
            &VADD,
            indexed,
            "2 is a scalar and takes no iterators".to_owned(),
        )
        .at(1),
    ]
}

fn function_cases() -> Vec<Case> {
    let (n, x) = (integers(), tensor("x", &[5]));
    let a = tensor("A", &[4, 5]);
    let needs_float = |function| {
        format!(
            "`{function}` takes floating-point numbers, and these elements are of type {}",
            Elem::I32
        )
    };
    let missing = |rank| {
        format!(
            "x has no iterators yet, and none are given for its {rank} dimension{}",
            if rank == 1 { "" } else { "s" }
        )
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
            &VMOD,
            vec![expr(&x), int(2), Arg::IterLists(vec![Some(list("i"))])],
            format!(
                "`mod` takes integers, and these elements are of type {}",
                Elem::F64
            ),
        ),
        Case::new(
            &VINDEX,
            vec![Arg::Iters(vec![it("i").times(1 << 41)])],
            Invalid::IndexTooLarge {
                index: it("i").times(1 << 41),
            }
            .to_string(),
        )
        .at(0),
        Case::new(
            &EQ,
            vec![expr(&vindex(&it("i")).unwrap()), Arg::Arrow(arrow([], "i"))],
            Mismatch::Unlimited {
                iterator: Name::new("i").unwrap(),
            }
            .to_string(),
        )
        .at(1),
        Case::new(
            &VCAST,
            vec![expr(&x), Arg::Elem(Elem::F32), Arg::Iters(list("i j"))],
            rank.clone().to_string(),
        )
        .at(0),
        Case::new(
            &CAST,
            vec![expr(&a), Arg::Elem(Elem::F32), Arg::Arrow(arrow([], "j i"))],
            "A has no iterators yet, and none are given for its 2 dimensions".to_owned(),
        )
        .at(0),
        Case::new(
            &VPOW,
            vec![expr(&n), int(2), Arg::IterLists(lists(["i"]))],
            needs_float("pow"),
        ),
        Case::new(
            &RELU,
            vec![expr(&x), Arg::Arrow(arrow(["i", "i"], "i"))],
            "2 lists of iterators are given for 1 operand".to_owned(),
        )
        .at(1),
        Case::new(&VNEG, vec![expr(&x), Arg::Iters(list("i j"))], rank).at(0),
        Case::new(
            &VNEG,
            vec![expr(&unnamed), Arg::Iters(list("i"))],
            "this tensor has no name yet".to_owned(),
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
        Case::new(&SELECT, vec![expr(&x)], "`comparison` is missing").at(1),
    ]
}

fn operator_cases() -> Vec<Case> {
    let (a, b, x) = (
        tensor("A", &[4, 5]),
        tensor("B", &[5, 4]),
        tensor("x", &[5]),
    );
    let y = tensor("y", &[4]);
    let differ = |left: &str, left_shape: &[u64], right: &str, right_shape: &[u64]| {
        let shape = |extents: &[u64]| Shape::of_extents(extents.iter().copied());
        format!(
            "{left} has the shape {} and {right} {}: from the last dimension on, extents are equal or 1",
            shape(left_shape),
            shape(right_shape)
        )
    };
    let at = teml::transform::tensor::vat::vat(&x, &[it("i")]).unwrap();
    let one_side = "A has no iterators yet, and x carries [i]".to_owned();
    vec![
        Case::new(
            &PLUS,
            vec![expr(&a), expr(&b)],
            differ("A", &[4, 5], "B", &[5, 4]),
        ),
        Case::new(
            &PLUS,
            vec![expr(&a), expr(&y)],
            differ("A", &[4, 5], "y", &[4]),
        ),
        Case::new(
            &AND,
            vec![expr(&a), expr(&a)],
            "A is not a comparison, and `&`, `|` and `!` combine comparisons".to_owned(),
        )
        .at(0),
        Case::new(&PLUS, vec![expr(&at), expr(&a)], one_side.clone()).at(1),
        Case::new(&PLUS, vec![expr(&a), expr(&at)], one_side).at(0),
        Case::new(
            &OPPOSITE,
            vec![expr(&declare::tensor(&[4], Elem::F64).unwrap())],
            "this tensor has no name yet".to_owned(),
        ),
    ]
}

fn reduction_cases() -> Vec<Case> {
    let (a, x) = (tensor("A", &[5, 5]), tensor("x", &[5]));
    let doubled = |e: &Expr, of: [&str; 2]| vop(Mul, e, e, of);
    let squares = doubled(&a, ["i j", "i j"]);
    let not_free =
        "`k` is not an iterator of the expression, whose iterators are [i, j]".to_owned();
    let at = |t: &Expr, index: Vec<Affine>| vat(t, &index).unwrap();
    let scalar = bind("s", declare::scalar(Elem::F64));
    let nothing = |what: &str, rank| match rank {
        0 => format!("nothing is left to reduce over: {what} has no dimensions"),
        _ => "nothing is left to reduce over: the list is empty".to_owned(),
    };
    let place = |tensor: &str, dimension, extent| Dimension {
        tensor: tensor.to_owned(),
        dimension,
        extent: Affine::constant(extent),
    };
    let before = it("i").plus_constant(-1);
    let shifted = vop(Mul, &x, &at(&x, vec![before.clone()]), ["i", "ε"]);
    let allowed = |index: Affine, values| Allowed {
        index,
        place: place("x", 1, 5),
        values,
    };
    let cut = Mismatch::Cut {
        iterator: name("i"),
        range: (1, 5),
        by: Box::new([allowed(before, (1, 6)), allowed(it("i"), (0, 5))]),
    };
    let band = it("i").minus(&it("j"));
    let rows = tensor("B", &[5, 7]);
    let banded = vop(Mul, &at(&rows, vec![it("i"), band.clone()]), &x, ["ε", "i"]);
    let sum = vsum(&banded, &list("j"), teml::ir::Domain::default()).unwrap();
    let window = Mismatch::Window {
        iterator: name("j"),
        range: (-2, 1),
        index: band,
        place: place("B", 2, 7),
    };
    vec![
        Case::new(&VMAX, vec![expr(&squares), Arg::Iters(list("k"))], not_free).at(1),
        Case::new(&VSUM, vec![expr(&a), Arg::Iters(vec![])], nothing("A", 2)).at(1),
        Case::new(&VSUM, vec![expr(&scalar)], nothing("s", 0)).at(0),
        Case::new(
            &VSUM,
            vec![
                expr(&squares),
                Arg::Iters(list("j")),
                Arg::Options(vec![("keep".to_owned(), Arg::Flag(true))]),
            ],
            "`A[i][j] * A[i][j]` carries iterators, and has no dimensions to keep".to_owned(),
        )
        .at(2),
        Case::new(&VSUM, vec![expr(&shifted), Arg::Iters(list("i"))], cut).at(1),
        Case::new(&EQ, vec![expr(&sum), Arg::Arrow(arrow(["ε"], "i"))], window).at(1),
    ]
}
