//! Reads at quotients and remainders that are refused.

use crate::teml::refusals::Case;
use crate::teml::trees::*;
use teml::ir::BinaryOp::Mul;
use teml::ir::{Affine, Domain, Expr, Range};
use teml::transform::nest::inline::INLINE;
use teml::transform::tensor::eq::{EQ, eq};
use teml::transform::tensor::partition::PARTITION;
use teml::transform::tensor::vat::{VAT, vat};
use teml::transform::tensor::veq::{VEQ, veq};
use teml::transform::tensor::vindex::vindex;
use teml::transform::tensor::vop::vop as combined;
use teml::transform::tensor::vreduce::VSUM;
use teml::transform::{Arg, Arrow};

fn to(index: Vec<Affine>) -> Arrow {
    let from = vec![];
    Arrow { from, to: index }
}

/// `left[of_left] * right[of_right]`.
fn product([left, right]: [&Expr; 2], of_left: Affine, of_right: Affine) -> Expr {
    let (left, right) = (
        vat(left, &[of_left]).unwrap(),
        vat(right, &[of_right]).unwrap(),
    );
    combined(Mul, &left, &right, &[]).unwrap()
}

pub fn quotients() -> Vec<Case> {
    [definitions(), virtual_tensors(), inlined()]
        .into_iter()
        .flatten()
        .collect()
}

fn definitions() -> Vec<Case> {
    let (a, b, x) = (tensor("A", &[4]), tensor("B", &[5]), tensor("x", &[14]));
    let i = it("i");
    let quotient = i.quotient(5).unwrap();
    let remainder = |shift: i64, by: i64| i.plus_constant(shift).remainder(by).unwrap();
    let assigned = |value: &Expr| vec![Arg::Expr(value.clone()), Arg::Arrow(to(list("i")))];
    let apart = product([&a, &b], quotient.clone(), remainder(0, 3));
    let do_not_nest = "`i` is divided by 3 and by 5, and neither divides the other";
    let cycle = vat(&b, &[remainder(0, 5)]).unwrap();
    let every_second = Range {
        step: 2,
        ..Range::constant(0, 15)
    };
    let ranges = Arg::Ranges(Domain::new([(name("i"), every_second)]));
    vec![
        Case::new(&EQ, assigned(&apart), do_not_nest).at(1),
        Case::new(
            &VSUM,
            vec![Arg::Expr(apart), Arg::Iters(list("i"))],
            do_not_nest,
        )
        .at(1),
        Case::new(
            &EQ,
            assigned(&product([&a, &b], quotient.clone(), remainder(1, 5))),
            "`(i + 1)%5` and `i/5` count blocks from different places",
        )
        .at(1),
        Case::new(
            &EQ,
            assigned(&cycle),
            "the range of `i` is unknown, since only remainders of it index tensors",
        )
        .at(1),
        Case::new(
            &EQ,
            [assigned(&cycle), vec![ranges]].concat(),
            "`i` has the step 2, and quotients and remainders need all values",
        ),
        Case::new(
            &EQ,
            assigned(&product([&a, &x], quotient, it("i"))),
            "`i` takes the values 0..14, so that `i/5` takes 0..3, and its dimension has 0..4",
        )
        .at(1),
    ]
}

fn virtual_tensors() -> Vec<Case> {
    let (a, b) = (tensor("A", &[3]), tensor("B", &[5]));
    let blocks = it("i").times(5).plus(&it("k"));
    let value = product([&a, &b], it("i"), it("k"));
    let kron = veq(&value, &to(vec![blocks.clone()])).unwrap();
    let indices = combined(
        Mul,
        &vindex(&it("k")).unwrap(),
        &vindex(&it("i")).unwrap(),
        &[],
    )
    .unwrap();
    let piece = eq(&vat(&b, &list("i")).unwrap(), &to(list("i"))).unwrap();
    let refused = |value: &Expr, index: Vec<Affine>, why: &str| {
        let index_text = index[0].to_string();
        let args = vec![Arg::Expr(value.clone()), Arg::Arrow(to(index))];
        let text =
            format!("a virtual tensor has one element for each value of `{index_text}`: {why}");
        Case::new(&VEQ, args, text).at(1)
    };
    let shifted = product([&a, &b], it("i"), it("k").plus_constant(-1));
    let read = |index: Affine, text: &str| {
        let args = vec![Arg::Expr(kron.clone()), Arg::Iters(vec![index])];
        Case::new(&VAT, args, text).at(0)
    };
    vec![
        refused(
            &value,
            vec![it("k").times(2), it("i")],
            "`k` has the factor 2, and 1 takes each once",
        ),
        refused(
            &value,
            vec![it("i").times(4).plus(&it("k"))],
            "`i` has the factor 4, and 5 takes each once",
        ),
        refused(&value, vec![Affine::constant(2)], "it has no iterator"),
        refused(
            &shifted,
            vec![blocks.clone()],
            "`k` takes 1..6, and has to begin at 0",
        ),
        refused(&indices, vec![blocks], "the range of `k` is unknown"),
        Case::new(
            &PARTITION,
            vec![Arg::Exprs(vec![piece]), Arg::Expr(kron.clone())],
            "the other elements have one iterator for each dimension, and this value is read at \
             `_2/5`",
        )
        .at(1),
        read(
            it("n").times(2),
            "the quotient and the remainder of `2*n` by 5 are not affine",
        ),
        read(
            it("n").plus(&it("m")),
            "the quotient and the remainder of `m + n` by 5 are not affine",
        ),
    ]
}

fn inlined() -> Vec<Case> {
    let producer = nest(&[
        "f64 A[3], B[5], K[15]",
        "for i in 0..3",
        "  for k in 0..5",
        "    K[5*i + k] = A[i] * B[k]",
    ]);
    let consumer = |line: &str| nest(&["f64 K[15], y[15]", "for n in 2..9", line]);
    let refused = |line: &str, read: &str| {
        let args = vec![Arg::Nest(producer.clone()), Arg::Nest(consumer(line))];
        let text = format!(
            "the tensor is set at `5*i + k` and read at `{read}`, whose quotient by 5 is not affine"
        );
        Case::new(&INLINE, args, text).at(1)
    };
    vec![
        refused("  y[n] = K[2*n]", "2*n"),
        refused("  y[n] = K[n] + K[n - 2]", "n_i - 2"),
    ]
}
