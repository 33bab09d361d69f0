//! Random sums of products in which dimensions are read as one: the nests compute their definition, by
//! the interpreter and by the C, also after further steps.

use super::compiled::{POISONED, runs_as_defined};
use super::generator::store;
use super::moves::{Move, built, call, moves};
use super::{advance, check, check_text};
use crate::config::config;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use teml::codegen::{self, NoCode};
use teml::ir::{Expr, parse_expr};
use teml::legality::{self, Reductions, Verdict, Violation};
use teml::transform::nest::collapse::COLLAPSE;
use teml::transform::tensor::with_shapes;
use teml::transform::{Arg, LoopRef};

const ITERATORS: [&str; 4] = ["i", "j", "k", "l"];

/// The extents of the iterators, those of the target and of each operand, and whether the last operand
/// has its dimensions in another order.
#[derive(Clone, Debug)]
struct Case {
    extents: [i64; 4],
    sets: [u8; 3],
    is_turned: bool,
    /// Loops to collapse, by number.
    collapsed: Vec<usize>,
    moves: Vec<Move>,
}

fn cases() -> impl Strategy<Value = Case> {
    let extents = prop::array::uniform4(1..5i64);
    let sets = prop::array::uniform3(1..16u8);
    let collapsed = prop::collection::vec(0..4usize, 1..4);
    (
        extents,
        sets,
        prop::bool::weighted(0.2),
        collapsed,
        moves(12),
    )
        .prop_map(|(extents, sets, is_turned, collapsed, moves)| Case {
            extents,
            sets,
            is_turned,
            collapsed,
            moves,
        })
}

impl Case {
    fn assignment(&self) -> Expr {
        let [target, a, b] = self.sets;
        let all = (0..4).filter(|k| (target | a | b) & (1 << k) != 0);
        let all: Vec<usize> = all.collect();
        // All iterators are of an operand, and the first one has long rows.
        let a = a | target;
        let of = |set: u8, is_turned: bool| -> Vec<usize> {
            let mut of: Vec<usize> = (0..4).filter(|k| set & (1 << k) != 0).collect();
            if is_turned {
                of.reverse();
            }
            of
        };
        let shape = |of: &[usize]| -> String {
            of.iter()
                .map(|k| format!("[{}]", self.extents[*k]))
                .collect()
        };
        let index = |of: &[usize]| -> String {
            of.iter().map(|k| format!("[{}]", ITERATORS[*k])).collect()
        };
        let (y, a, b) = (of(target, false), of(a, false), of(b, self.is_turned));
        let sums: Vec<&str> = all
            .iter()
            .filter(|k| !y.contains(k))
            .map(|k| ITERATORS[*k])
            .collect();
        let product = format!("A{} * B{}", index(&a), index(&b));
        let value = match sums.is_empty() {
            true => product,
            false => format!("sum({}: {product})", sums.join(", ")),
        };
        let text = format!(
            "f64 Y{}, A{}, B{}\nY{} = {value}",
            shape(&y),
            shape(&a),
            shape(&b),
            index(&y)
        );
        let parsed = parse_expr(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        with_shapes(&parsed).unwrap_or_else(|e| panic!("{e}\n{text}"))
    }
}

#[test]
fn dimensions_that_are_read_as_one_change_no_value() {
    let (accepted, compiled) = (Cell::new(0), Cell::new(0));
    let config = config(300);
    let tried = config.cases;
    let mut runner = TestRunner::new(config);
    let outcome = runner.run(&cases(), |case| {
        let assignment = case.assignment();
        let mut nest = built(&assignment);
        for number in &case.collapsed {
            let loops = nest.loops();
            let name = loops[number % loops.len()].1.name.to_string();
            let args = [Arg::Loop(LoopRef::Name(name))];
            if let Ok(made) = call(&nest, &COLLAPSE, args) {
                nest = made;
                accepted.set(accepted.get() + 1);
                check(std::slice::from_ref(&nest))?;
                check_text(&nest)?;
                let verdict = legality::check(std::slice::from_ref(&nest), Reductions::Strict);
                prop_assert_eq!(verdict, Verdict::Legal, "{}", nest);
            }
        }
        let nest = advance(nest, &case.moves, 4, |after| {
            check(std::slice::from_ref(after))
        })?;
        let nests = std::slice::from_ref(&nest);
        match codegen::generate(nests, "kernel", Reductions::Reassociate) {
            Ok(kernel) if compiled.get() < 20 => {
                compiled.set(compiled.get() + 1);
                let definition = std::slice::from_ref(&assignment);
                let given: Vec<_> = definition[0].tensor().into_iter().cloned().collect();
                prop_assert_eq!(kernel.params[0].tensor.shape(), given[0].shape());
                runs_as_defined(definition, kernel, POISONED, store(definition), |_| 0.0)
            }
            Ok(_) => Ok(()),
            Err(NoCode::Illegal(why)) if matches!(*why, Violation::Concurrent { .. }) => Ok(()),
            Err(error) => Err(TestCaseError::fail(format!("{error}\n{nest}"))),
        }
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    // A few cases may have few loops that collapse.
    let accepted = accepted.get();
    assert!(
        5 * accepted > tried || tried < 100,
        "{accepted} loops collapsed in {tried} cases"
    );
}
