//! Random sweeps, which read their own results, in time loops, through random steps. Steps that are
//! proved legal are equal, instance by instance and in numbers; refused steps are wrong.

use super::moves::{Move, call, fused, moves, reproduction, step};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use teml::interp::execute;
use teml::interp::symbolic::{Answer, Policy, compare};
use teml::ir::{Expr, Nest, parse_expr};
use teml::legality::{self, Reductions, Verdict};
use teml::transform::Arg;
use teml::transform::nest::repeat::REPEAT;
use teml::transform::nest::sweep::SWEEP;
use teml::transform::tensor::with_shapes;

/// Plain numbers, so that failures shrink.
#[derive(Clone, Debug)]
pub struct Recurrences {
    extents: [i64; 2],
    two_dimensions: bool,
    /// The assigned tensor, and the tensors that are read, with their offsets from the element.
    statements: Vec<(usize, [Operand; 2])>,
    steps: Option<i64>,
}

/// A tensor, the offset at which it is read, and the element that the offset is relative to.
type Operand = (usize, [i64; 2], From);

/// The element that offsets are relative to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum From {
    /// The assigned element.
    Own,
    /// The one of its row on the diagonal.
    Diagonal,
    /// The first one of its row.
    First,
}

/// The maximum offset of a read.
const REACH: i64 = 2;
/// The margin of tensors. It exceeds `REACH`, so that no index is a bare iterator, which would
/// range over the whole dimension.
const MARGIN: i64 = REACH + 1;

pub fn recurrences() -> impl Strategy<Value = Recurrences> {
    let offset = || prop_oneof![1 => Just(0), 2 => -1..=1i64, 1 => -REACH..=REACH];
    let offsets = (offset(), offset()).prop_map(|(a, b)| [a, b]);
    let from = prop_oneof![8 => Just(From::Own), 1 => Just(From::Diagonal), 1 => Just(From::First)];
    let operand = (prop_oneof![2 => Just(0), 1 => Just(1usize)], offsets, from);
    let statement = (0..2usize, [operand.clone(), operand]);
    (
        [1..=4i64, 1..=4i64],
        any::<bool>(),
        prop::collection::vec(statement, 1..=2),
        prop::option::weighted(0.6, 1..=3i64),
    )
        .prop_map(|(extents, two_dimensions, statements, steps)| Recurrences {
            extents,
            two_dimensions,
            statements,
            steps,
        })
}

impl Recurrences {
    /// The nest that executes them in order.
    pub fn nest(&self) -> Nest {
        let swept = self.statements.iter().map(|(target, operands)| {
            let assignment = self.assignment(*target, operands);
            teml::transform::apply(&SWEEP, &[Arg::Expr(assignment)], None)
        });
        let mut nests = swept.map(|nest| match nest {
            Ok(teml::transform::Value::Nest(nest)) => nest,
            other => panic!("{other:?}"),
        });
        let first = nests.next().expect("a statement");
        let all = nests.fold(first, |all, nest| {
            fused(&all, &nest, 0).expect("a sequence")
        });
        match self.steps {
            None => all,
            Some(steps) => {
                let args = [Arg::Word("t".to_owned()), Arg::Int(steps)];
                call(&all, &REPEAT, args).expect("a time loop")
            }
        }
    }

    fn assignment(&self, target: usize, operands: &[Operand; 2]) -> Expr {
        let element = |tensor: usize, offsets: [i64; 2], from: From| {
            let [a, b] = offsets.map(|o| MARGIN + o);
            match (self.two_dimensions, from) {
                (true, From::Own) => format!("P{tensor}[i + {a}][j + {b}]"),
                (true, From::Diagonal) => format!("P{tensor}[i + {a}][i + {b}]"),
                (true, From::First) => format!("P{tensor}[i + {a}][{b}]"),
                (false, From::First) => format!("P{tensor}[{a}]"),
                (false, _) => format!("P{tensor}[i + {a}]"),
            }
        };
        let [first, second] =
            operands.map(|(tensor, offsets, from)| element(tensor, offsets, from));
        let [m, n] = self.extents;
        let [rows, columns] = [m.max(n) + 2 * MARGIN; 2];
        let (declared, exact) = if self.two_dimensions {
            (
                format!("P0[{rows}][{columns}], P1[{rows}][{columns}], E[{m}][{n}]"),
                "E[i][j]",
            )
        } else {
            (format!("P0[{rows}], P1[{rows}], E[{m}]"), "E[i]")
        };
        let target = element(target, [0, 0], From::Own);
        // The old value contributes to the new one, so that no reordering of updates is harmless.
        let value = format!("3 * {target} + {first} - 2 * {second} + {exact}");
        let text = format!("i64 {declared}\n{target} = {value}");
        let parsed = parse_expr(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        with_shapes(&parsed).unwrap_or_else(|e| panic!("{e}\n{text}"))
    }
}

/// The nest after all moves that are accepted.
fn transformed(nest: Nest, moves: &[Move]) -> Nest {
    moves
        .iter()
        .fold(nest, |nest, chosen| step(&nest, chosen).unwrap_or(nest))
}

/// The results of the nest and of its definition.
pub fn results(nest: &Nest) -> [Vec<String>; 2] {
    let store = super::store(nest.definition());
    let run = |nests: &[Nest]| {
        let mut store = store.clone();
        for nest in nests {
            execute::run(nest, &mut store).expect("a value");
        }
        let mut names: Vec<_> = store.keys().cloned().collect();
        names.sort();
        let data = names.iter().map(|n| super::comparable(&store[n]));
        data.collect()
    };
    [run(std::slice::from_ref(nest)), run(&nest.untransformed())]
}

#[test]
fn proofs_and_instances_agree_on_sweeps() {
    let number = super::verdicts::cases(300);
    let (legal, refused, harmless) = (Cell::new(0u32), Cell::new(0u32), Cell::new(0u32));
    let more = |count: &Cell<u32>| count.set(count.get() + 1);
    let mut runner = TestRunner::new(super::config(number));
    let result = runner.run(&(recurrences(), moves(6)), |(source, moves)| {
        let nest = transformed(source.nest(), &moves);
        let nests = std::slice::from_ref(&nest);
        let answer = compare(nests, Policy::Strict, &|| false);
        let is_equal = matches!(answer, Ok(Answer::Equal { .. }));
        match legality::check(nests, Reductions::Strict) {
            Verdict::Legal => {
                more(&legal);
                prop_assert!(is_equal, "legal, but {answer:?}\n{}", reproduction(&nest));
                let [found, meant] = results(&nest);
                prop_assert_eq!(found, meant, "{}", reproduction(&nest));
            }
            Verdict::Illegal(violation) => {
                // All time steps execute the same: swapping two of them is harmless.
                let counts = source.steps.is_none_or(|steps| steps == 1);
                if counts {
                    more(&refused);
                }
                if is_equal && counts {
                    more(&harmless);
                    println!("harmless: {violation}\n{}\n{nest}\n", reproduction(&nest));
                }
            }
            Verdict::Undecided(why) => prop_assert!(false, "{why}\n{}", reproduction(&nest)),
        }
        Ok(())
    });
    assert!(
        result.is_ok(),
        "{}",
        result.err().map_or(String::new(), |e| e.to_string())
    );
    let (legal, refused, harmless) = (legal.get(), refused.get(), harmless.get());
    println!("{legal} legal; {refused} illegal, {harmless} of them harmless");
    assert!(5 * legal > number && 40 * refused > number, "lopsided");
    assert!(50 * harmless < refused, "needless refusals");
}
