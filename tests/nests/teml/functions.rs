//! Functions, numbers and reductions as trees: notation, counted work, what `build` makes.

use crate::teml::trees::*;
use teml::analysis::work::flops;
use teml::ir::BinaryOp::{Div, Mul, Sub};
use teml::ir::{Comparison, Elem, Expr, Function, Nest, Number, Reduction};
use teml::lower::build::build;
use teml::transform::Arrow;
use teml::transform::tensor::select::vselect;
use teml::transform::tensor::vfunction::{Unary, vfunction};
use teml::transform::tensor::vreduce::{vmean, vreduce, vsum};
use teml::transform::tensor::{declare, eq, vop};

fn to(target: &str, value: &Expr, index: &str) -> Nest {
    let arrow = Arrow {
        from: vec![],
        to: list(index),
    };
    build(&bind(target, eq::eq(value, &arrow).unwrap())).unwrap()
}

fn negative(e: &Expr) -> Expr {
    vfunction(Unary::Function(Function::Neg), e, &None).unwrap()
}

#[test]
fn the_notation_shows_functions_numbers_and_reductions() {
    let a = tensor("A", &[4, 5]);
    let value = vop::vop(Mul, &a, Number::Float(0.5), &lists(["i j"])).unwrap();
    let chosen = [(&value).into(), Number::Int(0).into()];
    let value = vselect(chosen, Comparison::Less, chosen, &[]).unwrap();
    let greatest = vreduce(
        Reduction::Max,
        &negative(&value),
        &list("j"),
        teml::ir::Domain::default(),
    )
    .unwrap();
    let half = "⟨(*, [4, 5], •), [⟨(A, [4, 5], [i, j]), []⟩, ⟨(0.5, [], •), []⟩]⟩";
    assert_eq!(
        greatest.notation(),
        format!(
            "⟨(max [j], [4], •), [⟨(neg, [4, 5], •), [⟨(select <, [4, 5], •), \
             [{half}, ⟨(0, [], •), []⟩, {half}, ⟨(0, [], •), []⟩]⟩]⟩]⟩"
        )
    );
}

#[test]
fn reductions_start_from_what_changes_nothing() {
    let fill = |elem, reduction| {
        let x = bind("x", declare::tensor(&[5], elem).unwrap());
        let squares = vop(Mul, &x, &x, ["i", "i"]);
        let nest = to(
            "y",
            &vreduce(reduction, &squares, &list("i"), teml::ir::Domain::default()).unwrap(),
            "",
        );
        nest.lines()[0].to_string()
    };
    use Reduction::{Max, Min, Prod, Sum};
    assert_eq!(fill(Elem::F32, Sum), "fill y[] = 0");
    assert_eq!(fill(Elem::F64, Prod), "fill y[] = 1");
    assert_eq!(fill(Elem::F64, Min), "fill y[] = ∞");
    assert_eq!(fill(Elem::F32, Max), "fill y[] = -∞");
    assert_eq!(fill(Elem::I32, Min), "fill y[] = 2147483647");
    assert_eq!(fill(Elem::I64, Max), "fill y[] = -9223372036854775808");
}

#[test]
fn sums_move_out_of_products_quotients_and_neg() {
    let (a, x) = (tensor("A", &[4, 5]), tensor("x", &[5]));
    let product = vop(Mul, &a, &x, ["i j", "j"]);
    let mean = vmean(&product, &list("j"), teml::ir::Domain::default()).unwrap();
    let scaled = vop::vop(Mul, Number::Int(2), &negative(&mean), &[]).unwrap();
    let nest = to("y", &scaled, "i");
    assert_eq!(
        nest.to_string(),
        "f64 y[4], A[4][5], x[5]\n\
         fill y[0..4] = 0\n\
         for i in 0..4\n\
         \x20 for j in 0..5\n\
         \x20   y[i] += 2 * neg(A[i][j] * x[j] / 5)"
    );
    // Each function counts one, and so does the update.
    assert_eq!(flops(&nest), Some(20.0 * 5.0));
}

#[test]
fn reductions_of_one_kind_become_one() {
    let a = tensor("A", &[4, 5]);
    let squares = vop(Mul, &a, &a, ["i j", "i j"]);
    let least = |e: &Expr, over: &str| {
        vreduce(Reduction::Min, e, &list(over), teml::ir::Domain::default()).unwrap()
    };
    let nest = to("m", &least(&least(&squares, "j"), "i"), "");
    assert_eq!(
        nest.to_string(),
        "f64 m[], A[4][5]\n\
         fill m[] = ∞\n\
         for i in 0..4\n\
         \x20 for j in 0..5\n\
         \x20   m[] min= A[i][j] * A[i][j]"
    );
}

#[test]
fn targets_go_on_from_what_they_hold() {
    let (a, y) = (tensor("A", &[4, 5]), tensor("y", &[4]));
    let squares = vop(Mul, &a, &a, ["i j", "i j"]);
    let old = vop::vop(Mul, &y, Number::Int(1), &lists(["i"])).unwrap();
    let old = old.children()[0].clone();
    for (op, reduction) in [
        (Mul, Reduction::Prod),
        (Sub, Reduction::Sum),
        (teml::ir::BinaryOp::Max, Reduction::Max),
    ] {
        let reduced =
            vreduce(reduction, &squares, &list("j"), teml::ir::Domain::default()).unwrap();
        let value = vop::vop(op, &old, &reduced, &[]).unwrap();
        let nest = to("y", &value, "i");
        let text = nest.to_string();
        let update = format!("y[i] {}= A[i][j] * A[i][j]", op.symbol());
        assert!(text.contains(&update) && !text.contains("fill"), "{text}");
    }
    let quotient = vop::vop(
        Div,
        &old,
        &vsum(&squares, &list("j"), teml::ir::Domain::default()).unwrap(),
        &[],
    )
    .unwrap();
    let assignment = eq::eq(&quotient, &arrow([], "i")).unwrap();
    // Each element is divided once, by the whole sum.
    let text = build(&bind("y", assignment)).unwrap().to_string();
    assert!(text.contains("y[i] /= y_sum[]"), "{text}");
}
