//! Random folds with operators of their own, regrouped at random loops: what is accepted is legal and
//! has the same results.

use super::in_order::results;
use super::moves::{call, reproduction};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use std::sync::Arc;
use teml::ir::{Constant, Elem, Expr, LoopRef, Name, Nest, Operator, Shape, Tensor, parse_expr};
use teml::legality::{self, Reductions, Verdict};
use teml::transform::Arg;
use teml::transform::nest::regroup::REGROUP;
use teml::transform::nest::stripmine::STRIPMINE;
use teml::transform::tensor::fold::FOLD;
use teml::transform::tensor::with_shapes;

const I64: Elem = Elem::I64;

/// An operator, by the texts of its components.
pub fn operator(name: &str, elems: &[Elem], values: &[&str], identity: &[i64]) -> Operator {
    let (left, right) = (Operator::operand("a", elems), Operator::operand("b", elems));
    let declared = |t: &Tensor| format!("{} {}[]\n", t.elem(), t.label());
    let declared: String = left.iter().chain(&right).map(declared).collect();
    let value = |text: &&str| {
        let parsed = parse_expr(&format!("{declared}{text}")).unwrap_or_else(|e| panic!("{e}"));
        with_shapes(&parsed).unwrap_or_else(|e| panic!("{e}"))
    };
    let constants = identity.iter().zip(elems);
    Operator {
        name: Name::new(name).expect("a name"),
        values: values.iter().map(value).collect(),
        identity: constants
            .map(|(value, elem)| Constant::of_integer(*elem, *value).expect("a small number"))
            .collect(),
        left,
        right,
    }
}

/// Associative operators. The first ones commute.
fn operators() -> Vec<Operator> {
    vec![
        operator("total", &[I64], &["a0[] + b0[]"], &[0]),
        operator(
            "best",
            &[I64, I64],
            &[
                "max(a0[], b0[])",
                "select(a0[] > b0[], a1[], select(a0[] == b0[], min(a1[], b1[]), b1[]))",
            ],
            &[-1_000_000, 1_000_000],
        ),
        operator(
            "linear",
            &[I64, I64],
            &["a0[] * b0[]", "a1[] * b0[] + b1[]"],
            &[1, 0],
        ),
        operator("first", &[I64], &["select(a0[] == 0, b0[], a0[])"], &[0]),
        operator(
            "matrices",
            &[I64; 4],
            &[
                "a0[] * b0[] + a1[] * b2[]",
                "a0[] * b1[] + a1[] * b3[]",
                "a2[] * b0[] + a3[] * b2[]",
                "a2[] * b1[] + a3[] * b3[]",
            ],
            &[1, 0, 0, 1],
        ),
    ]
}

/// Plain numbers, so that failures shrink.
#[derive(Clone, Debug)]
struct Folded {
    operator: usize,
    extents: [i64; 3],
    loops: usize,
    is_running: bool,
    /// The loop, and the factor by which it is cut. Without a factor it is regrouped.
    steps: Vec<(usize, Option<i64>)>,
}

fn folded() -> impl Strategy<Value = Folded> {
    let step = (0..8usize, prop::option::of(1..=4i64));
    (
        0..operators().len(),
        [1..=3i64, 1..=7i64, 1..=4i64],
        1..=2usize,
        prop::bool::weighted(0.3),
        prop::collection::vec(step, 1..=5),
    )
        .prop_map(|(operator, extents, loops, is_running, steps)| Folded {
            operator,
            extents,
            loops,
            is_running,
            steps,
        })
}

impl Folded {
    fn nest(&self, operator: &Operator) -> Nest {
        let [rows, columns, depth] = self.extents;
        let (declared, element) = match self.loops {
            1 => (format!("{rows}][{columns}"), "i][j"),
            _ => (format!("{rows}][{columns}][{depth}"), "i][j][k"),
        };
        let value = |k: usize| {
            let text = match k {
                1 => "index(2*j + 1)".to_owned(),
                _ => format!("V{k}[{element}] + 1"),
            };
            let text = format!("i64 V{k}[{declared}]\n{text}");
            let parsed = parse_expr(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            Arg::Expr(with_shapes(&parsed).unwrap_or_else(|e| panic!("{e}\n{text}")))
        };
        let count = operator.left.len();
        let result = |k: usize| {
            let shape = Shape::new(&[rows], I64).expect("a small extent");
            let name = Name::new(&format!("R{k}")).expect("a name");
            Expr::of_tensor(Tensor::new(shape, I64).named(name))
        };
        let over = ["j", "k"][..self.loops].iter();
        let over = over.map(|name| teml::ir::Affine::iterator(Name::new(name).expect("a name")));
        let args = [
            Arg::Operator(Arc::new(operator.clone())),
            Arg::Operands((0..count).map(value).collect()),
            Arg::Iters(over.collect()),
            Arg::Exprs((0..count).map(result).collect()),
        ];
        let nest = match teml::transform::apply(&FOLD, &args, None) {
            Ok(teml::transform::Value::Nest(nest)) => nest,
            other => panic!("{other:?}"),
        };
        match self.is_running {
            true => running(&nest, operator, &format!("Y[{element}]"), &declared),
            false => nest,
        }
    }
}

/// The nest that also stores the first component of the accumulator after each value.
fn running(nest: &Nest, operator: &Operator, element: &str, declared: &str) -> Nest {
    let text = nest.to_string();
    let own = format!("{}_0[]", operator.name);
    let mut lines: Vec<String> = vec![format!("i64 Y[{declared}]")];
    lines.extend(text.lines().map(str::to_owned));
    let last = format!("R0[i] = {own}");
    let end = lines
        .iter()
        .position(|line| line.trim() == last)
        .expect("a result");
    let deep = &lines[end - 1];
    let indent = &deep[..deep.len() - deep.trim_start().len()];
    let stored = format!("{indent}{element} = {own}");
    lines.insert(end, stored);
    let text = lines.join("\n");
    teml::lower::program::program(&text).unwrap_or_else(|faults| panic!("{faults:?}\n{text}"))
}

#[test]
fn regrouped_values_are_the_same() {
    let number = super::verdicts::cases(300);
    let all = operators();
    let (regrouped, refused) = (Cell::new(0u32), Cell::new(0u32));
    let mut runner = TestRunner::new(super::config(number));
    let result = runner.run(&folded(), |source| {
        let operator = &all[source.operator];
        let mut nest = source.nest(operator);
        for (k, factor) in &source.steps {
            let loops = nest.loops();
            let name = loops[k % loops.len()].1.name.to_string();
            let at = Arg::Loop(LoopRef::Name(name));
            let changed = match factor {
                Some(factor) => call(&nest, &STRIPMINE, [at, Arg::Int(*factor)]),
                None => {
                    let operator = Arg::Operator(Arc::new(operator.clone()));
                    let changed = call(&nest, &REGROUP, [at, operator]);
                    let count = if changed.is_ok() {
                        &regrouped
                    } else {
                        &refused
                    };
                    count.set(count.get() + 1);
                    changed
                }
            };
            nest = changed.unwrap_or(nest);
        }
        let nests = std::slice::from_ref(&nest);
        let verdict = legality::check(nests, Reductions::Strict);
        prop_assert_eq!(verdict, Verdict::Legal, "{}\n{}", reproduction(&nest), nest);
        let [found, meant] = results(&nest);
        prop_assert_eq!(found, meant, "{}\n{}", reproduction(&nest), nest);
        Ok(())
    });
    let text = result.err().map_or(String::new(), |e| e.to_string());
    assert!(text.is_empty(), "{text}");
    let (regrouped, refused) = (regrouped.get(), refused.get());
    println!("{regrouped} regrouped, {refused} refused");
    assert!(3 * regrouped > number && 20 * refused > number, "lopsided");
}
