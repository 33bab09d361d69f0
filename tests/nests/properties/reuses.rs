//! Values that reuse memory, correctly or not, in random programs. Nests that are proved legal are
//! equal, instance by instance and in numbers; refused ones are wrong.

use crate::config::config;
use crate::properties::generator::store;
use crate::properties::moves::{built, call, fused, reproduction};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use std::collections::BTreeSet;
use teml::interp::symbolic::{self, Answer, Policy};
use teml::interp::{definition, execute};
use teml::ir::{Expr, Name, Nest, Tensor, parse_expr};
use teml::legality::{self, Reductions, Verdict};
use teml::transform::Arg;
use teml::transform::nest::avoid_copy::AVOID_COPY;
use teml::transform::nest::donate::DONATE;
use teml::transform::nest::localize::LOCALIZE;
use teml::transform::nest::reduce_cache_miss::REDUCE_CACHE_MISS;
use teml::transform::nest::reuse_buffer::REUSE_BUFFER;
use teml::transform::tensor::with_shapes;

/// One assignment: its form, its target and what it reads, among T0, T1 …
type Statement = (usize, usize, [usize; 2]);

const TENSORS: usize = 5;
const EXTENT: usize = 4;

/// Statements mostly read earlier results.
fn statements() -> impl Strategy<Value = Vec<Statement>> {
    let one = (0..8usize, any::<u8>(), [any::<u8>(), any::<u8>()]);
    prop::collection::vec(one, 2..=4).prop_map(|all| {
        let number = |k: usize, fresh: usize, choice: u8| match choice % 6 {
            0 => usize::from(choice / 6) % TENSORS,
            _ if fresh == 0 => k + 1,
            _ => k,
        };
        let statements = all.into_iter().enumerate();
        statements
            .map(|(k, (form, target, reads))| {
                (
                    form,
                    number(k, 0, target) % TENSORS,
                    reads.map(|r| number(k, 1, r) % TENSORS),
                )
            })
            .collect()
    })
}

fn assignment((form, target, [a, b]): Statement) -> Expr {
    let last = EXTENT - 1;
    let value = match form {
        0 => format!("T{a}[i]"),
        1 => format!("T{a}[i] * 2 + T{b}[i]"),
        2 => format!("T{a}[i] + T{b}[-i + {last}]"),
        3 => format!("T{a}[i + 1] - T{b}[i]"),
        4 => format!("sum(k: w[i][k] * T{a}[k])"),
        5 => format!("sum(k: w[k][k] * T{a}[i])"),
        6 => format!("T{a}[i - 1] + 3 elsewhere 1"),
        _ => format!("T{target}[i] + T{a}[i] * T{b}[i]"),
    };
    let tensors: Vec<String> = (0..TENSORS).map(|k| format!("T{k}[{EXTENT}]")).collect();
    let tensors = tensors.join(", ");
    let text = format!("f64 {tensors}, w[{EXTENT}][{EXTENT}]\nT{target}[i] = {value}");
    let parsed = parse_expr(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    with_shapes(&parsed).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// An operation, with the tensors that it takes.
#[derive(Clone, Debug)]
enum Step {
    Spend(usize),
    Localize(usize),
    AvoidCopy(usize),
    ReduceCacheMiss(usize, Option<usize>),
    ReuseBuffer(usize, Option<usize>),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let t = 0..8usize;
    let other = || prop::option::of(0..8usize);
    let one = prop_oneof![
        2 => t.clone().prop_map(Step::Spend),
        1 => t.clone().prop_map(Step::Localize),
        2 => t.clone().prop_map(Step::AvoidCopy),
        4 => (t.clone(), other()).prop_map(|(t, o)| Step::ReduceCacheMiss(t, o)),
        4 => (t, other()).prop_map(|(t, o)| Step::ReuseBuffer(t, o)),
    ];
    prop::collection::vec(one, 1..12)
}

fn apply(nest: &Nest, step: &Step) -> Option<Nest> {
    let locals = nest.locals().into_iter().cloned();
    let all: Vec<Tensor> = nest.tensors().into_iter().chain(locals).collect();
    let tensor = |k: &usize| Arg::Word(all[k % all.len()].label().to_owned());
    let with = |op, t: &usize, other: &Option<usize>| match other {
        Some(other) => call(nest, op, [tensor(t), tensor(other)]),
        None => call(nest, op, [tensor(t)]),
    };
    match step {
        Step::Spend(t) => call(nest, &DONATE, [tensor(t)]),
        Step::Localize(t) => call(nest, &LOCALIZE, [tensor(t)]),
        Step::AvoidCopy(t) => call(nest, &AVOID_COPY, [tensor(t)]),
        Step::ReduceCacheMiss(t, other) => with(&REDUCE_CACHE_MISS, t, other),
        Step::ReuseBuffer(t, other) => with(&REUSE_BUFFER, t, other),
    }
    .ok()
}

/// Whether the nest computes all live-out values.
fn computes(nest: &Nest) -> bool {
    let mut expected = store(nest.definition());
    let mut found = expected.clone();
    definition::run(nest.definition(), &mut expected).expect("a value");
    execute::run(nest, &mut found).expect("a value");
    let arguments = nest.tensors();
    let needed = |name: &Name| {
        let is = arguments.iter().any(|t| t.name() == Some(name));
        is && !nest.donated().contains(name)
    };
    expected
        .iter()
        .filter(|(name, _)| needed(name))
        .all(|(name, data)| super::comparable(data) == super::comparable(&found[name]))
}

#[test]
fn what_is_kept_elsewhere_is_right_or_refused() {
    let counts: [Cell<u32>; 3] = Default::default();
    let [legal, illegal, harmless] = &counts;
    let taken = std::cell::RefCell::new(BTreeSet::new());
    let more = |count: &Cell<u32>| count.set(count.get() + 1);
    let mut runner = TestRunner::new(config(700));
    let cases = (statements(), steps(), 0..3i64);
    let result = runner.run(&cases, |(statements, steps, level)| {
        let mut nests = statements.into_iter().map(|s| built(&assignment(s)));
        let first = nests.next().expect("a statement");
        // Some share a loop, legal or not.
        let mut nest = nests.fold(first, |all, next| {
            let shared = fused(&all, &next, i64::from(level == 2));
            shared.unwrap_or_else(|_| fused(&all, &next, 0).expect("one after the other"))
        });
        for step in &steps {
            let Some(after) = apply(&nest, step) else {
                continue;
            };
            let nests = std::slice::from_ref(&after);
            let answer = symbolic::compare(nests, Policy::Strict, &|| false);
            let is_equal = matches!(answer, Ok(Answer::Equal { .. }));
            match legality::check(nests, Reductions::Strict) {
                Verdict::Legal => {
                    let text = || format!("{answer:?}\n{}", reproduction(&after));
                    prop_assert!(is_equal && computes(&after), "{}", text());
                    more(legal);
                    let op = after.path().steps().last().map_or("", |step| step.op);
                    taken.borrow_mut().insert(op);
                    nest = after;
                }
                Verdict::Illegal(violation) => {
                    more(illegal);
                    if is_equal {
                        more(harmless);
                        println!("harmless: {violation}\n{}", reproduction(&after));
                    }
                }
                Verdict::Undecided(why) => {
                    let text = format!("{why}\n{}", reproduction(&after));
                    return Err(TestCaseError::fail(text));
                }
            }
        }
        Ok(())
    });
    let [legal, illegal, harmless] = counts.map(|c| c.get());
    println!("{legal} steps are legal, {illegal} are not, {harmless} of those do no harm");
    assert!(result.is_ok(), "{result:?}");
    assert!(legal > 200 && illegal > 50);
    let ops = [
        "avoid_copy",
        "localize",
        "reduce_cache_miss",
        "reuse_buffer",
        "donate",
    ];
    assert_eq!(taken.take(), BTreeSet::from(ops));
}
