//! The listed next steps of random programs after random steps. A listed step applies, and is legal
//! by a proof from scratch and by translation validation. A step that is not listed is refused.

use super::moves::reproduction;
use super::programs::{program, program_moves, transformed};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use std::collections::BTreeMap;
use teml::advice::{self, Move, Scope};
use teml::interp::symbolic::{Answer, Policy, compare};
use teml::ir::{Arg, LoopRef, Nest};
use teml::legality::{Reductions, Verdict, check};
use teml::transform::nest::interchange::INTERCHANGE;
use teml::transform::nest::mode::{PARALLELIZE, VECTORIZE};
use teml::transform::nest::reverse::REVERSE;
use teml::transform::{Op, Value, apply};

fn is_legal(nest: &Nest, reductions: Reductions) -> bool {
    check(std::slice::from_ref(nest), reductions) == Verdict::Legal
}

fn by_name(name: &str) -> Arg {
    Arg::Loop(LoopRef::Name(name.to_owned()))
}

/// The nest after a step that is not listed, if it is legal nevertheless.
fn missed(nest: &Nest, op: &'static Op, args: &[Arg], reductions: Reductions) -> Option<Nest> {
    let args: Vec<Arg> = [Arg::Nest(nest.clone())]
        .iter()
        .chain(args)
        .cloned()
        .collect();
    match apply(op, &args, None) {
        Ok(Value::Nest(after)) if is_legal(&after, reductions) => Some(after),
        _ => None,
    }
}

#[test]
fn what_is_listed_is_legal_and_what_is_not_is_not() {
    let orders = prop::sample::select(vec![
        (Reductions::Strict, Policy::Strict),
        (Reductions::Reassociate, Policy::Reassociate),
    ]);
    let listed = std::cell::RefCell::new(BTreeMap::new());
    let refused = Cell::new(0);
    let cases = (program(), program_moves(6), orders);
    let mut runner = TestRunner::new(super::config(super::verdicts::cases(25)));
    let result = runner.run(&cases, |(program, steps, (reductions, policy))| {
        for nest in transformed(&program.definition(), &steps) {
            let legal = is_legal(&nest, reductions);
            let Ok(moves) = advice::moves(&nest, &Scope::All, reductions) else {
                prop_assert!(!legal, "not decided\n{}", reproduction(&nest));
                continue;
            };
            prop_assert_eq!(moves.legal, legal, "{}", reproduction(&nest));
            for m in &moves.list {
                *listed.borrow_mut().entry(m.op).or_insert(0) += 1;
                let after = m.apply(&nest, None);
                let after = after.map_err(|e| TestCaseError::fail(e.to_string()))?;
                let shown = || format!("{}\n{}", m.call, reproduction(&nest));
                prop_assert!(is_legal(&after, reductions), "refused: {}", shown());
                let answer = compare(&[after], policy, &|| false);
                let is_equal = matches!(answer, Ok(Answer::Equal { .. }));
                prop_assert!(is_equal, "{:?}: {}", answer, shown());
            }
            let has = |op: &Op, at: &str, with: Option<&str>| {
                let same =
                    |m: &Move| (m.op, m.at.as_str(), m.with.as_deref()) == (op.name, at, with);
                moves.list.iter().any(same)
            };
            for (outer, l) in nest.loops() {
                let (at, own) = (l.name.as_str(), by_name(l.name.as_str()));
                for op in [&PARALLELIZE, &VECTORIZE, &REVERSE] {
                    let marked = (op.name == PARALLELIZE.name && l.is_parallel())
                        || (op.name == VECTORIZE.name && l.is_vector());
                    if marked || has(op, at, None) {
                        continue;
                    }
                    let after = missed(&nest, op, std::slice::from_ref(&own), reductions);
                    prop_assert!(after.is_none(), "{} {at}\n{}", op.name, reproduction(&nest));
                    refused.set(refused.get() + 1);
                }
                for other in outer {
                    let other = other.name.as_str();
                    if has(&INTERCHANGE, at, Some(other)) {
                        prop_assert!(has(&INTERCHANGE, other, Some(at)));
                        continue;
                    }
                    let args = [own.clone(), by_name(other)];
                    let after = missed(&nest, &INTERCHANGE, &args, reductions);
                    prop_assert!(after.is_none(), "{at} {other}\n{}", reproduction(&nest));
                    refused.set(refused.get() + 1);
                }
            }
        }
        Ok(())
    });
    println!("listed: {:?}; refused: {}", listed.borrow(), refused.get());
    assert!(
        result.is_ok(),
        "{}",
        result.err().map_or(String::new(), |e| e.to_string())
    );
    // Each kind occurred.
    let listed = listed.borrow();
    for op in [
        "parallelize",
        "vectorize",
        "interchange",
        "tile",
        "fuse",
        "distribute",
        "reverse",
        "unroll_and_jam",
        "rfactor",
    ] {
        assert!(listed.contains_key(op), "no {op}");
    }
    assert!(refused.get() > 50);
}
