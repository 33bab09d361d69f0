//! Temporaries that share memory with other tensors: random programs keep their outputs.

use super::{Choices, computed, elements, sizes};
use proptest::prelude::*;
use std::cell::Cell;
use teml::analysis::program::temporaries;
use teml::ir::Program;
use teml::lang::{self, Notation};
use teml::transform::memory::{over_last_operands, without_copied_temporaries};

fn read(text: &str) -> Program {
    lang::read(Notation::Model, text, &sizes(&[])).unwrap_or_else(|p| panic!("{text}\n{p:?}"))
}

const TENSORS: [(&str, &str); 6] = [
    ("input", "a"),
    ("input", "b"),
    ("", "s"),
    ("", "t"),
    ("", "u"),
    ("output", "y"),
];

/// A program of copies, sums and transpositions. Inputs may be assigned.
fn random(choices: &mut Choices<'_>) -> Program {
    let declared = TENSORS.map(|(role, name)| format!("var {role} {name} : [3 3]"));
    let mut lines = declared.to_vec();
    // Every tensor is set before it is read.
    let mut known = vec!["a", "b"];
    for k in 0..8 {
        // Most temporaries are assigned once, since others share no memory.
        let target = match (k, choices.below(4)) {
            (7, _) => "y",
            (0..3, 1..) => ["s", "t", "u"][k],
            (_, 0) => ["s", "t", "u"][choices.below(3)],
            _ => ["y", "b"][choices.below(2)],
        };
        let latest = known[known.len() - 1];
        let mut operand = || match choices.below(2) {
            0 => latest,
            _ => known[choices.below(known.len())],
        };
        let (x, y) = (operand(), operand());
        let value = match choices.below(6) {
            0 | 1 => format!("{x} + {y}"),
            2 => format!("{x} ^ [1 2]"),
            3 => format!("{x} + {y} ^ [1 2]"),
            _ => x.to_owned(),
        };
        lines.push(format!("{target} = {value}"));
        if !known.contains(&target) {
            known.push(target);
        }
    }
    read(&lines.join("\n"))
}

#[test]
fn temporaries_share_memory_and_outputs_remain() {
    let (copies, overs) = (Cell::new(0), Cell::new(0));
    let strategy = prop::collection::vec(any::<u32>(), 30..50);
    let mut runner = proptest::test_runner::TestRunner::default();
    let result = runner.run(&strategy, |numbers| {
        let program = random(&mut Choices(numbers.iter()));
        let before = computed(&program);
        let (direct, placed) = without_copied_temporaries(&program);
        let (over, reused) = over_last_operands(&direct, &temporaries(&direct));
        copies.set(copies.get() + placed.len());
        overs.set(overs.get() + reused.len());
        for made in [&direct, &over] {
            let after = computed(made);
            let (old, new) = (elements(&before, "y"), elements(&after, "y"));
            prop_assert_eq!(old, new, "{}\n{}", program, made);
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    assert!(copies.get() > 0 && overs.get() > 0, "{copies:?} {overs:?}");
}

#[test]
fn figures_of_the_thesis() {
    let program = read(
        "var input s : [] var input x : [9] var output y : [9] var t : [9]
         t = s * x
         x = t
         y = x + x",
    );
    let (direct, _) = without_copied_temporaries(&program);
    assert_eq!(direct.assignments().len(), 2, "{direct}");

    // Here `x` is needed in between.
    let program = read(
        "var input s : [] var input x : [9] var output y : [9] var t : [9]
         t = s * x
         y = x + x
         x = t
         y = x + y",
    );
    let (direct, placed) = without_copied_temporaries(&program);
    assert!(placed.is_empty(), "{direct}");

    let program = read(
        "var input s : [] var input x : [9] var output y : [9] var t : [9] var u : [9]
         t = s * x
         u = t + t
         y = u + x",
    );
    let (over, _) = over_last_operands(&program, &temporaries(&program));
    let lines: Vec<String> = over.to_string().lines().map(str::to_owned).collect();
    assert_eq!(
        lines.last().map(String::as_str),
        Some("y[i1] = t[i1] + x[i1]")
    );
}
