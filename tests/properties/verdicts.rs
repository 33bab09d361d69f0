//! Proofs against translation validation: arbitrary steps, legal or not, on random programs of
//! several statements. What is proved legal is equal, instance by instance, and what is refused
//! is wrong, but for a few nests that are right by accident.
//!
//! `TEML_CASES` is the number of cases, and lets the C of everything that is legal be compiled
//! and run; without it a few hundred cases are executed by the interpreter alone.

use super::compiled::runs_as_defined;
use super::oracle::{DAMAGES, Damage, broken};
use super::programs::{program, program_moves, transformed};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::{Cell, RefCell};
use teml::codegen::{self, NoCode};
use teml::interp::symbolic::{Answer, Policy, compare};
use teml::interp::{definition, execute};
use teml::ir::{Elem, Expr, Nest, Tree};
use teml::legality::{self, Reductions, Verdict};

/// How many cases of each kind there were.
#[derive(Default)]
struct Counts {
    legal: Cell<usize>,
    illegal: Cell<usize>,
    harmless: Cell<usize>,
    undecided: Cell<usize>,
    /// The smallest of what was refused needlessly, or not decided.
    samples: RefCell<Vec<(usize, String)>>,
}

impl Counts {
    fn sample(&self, nests: &[Nest], text: String) {
        let size = nests.iter().flat_map(|n| n.trees()).map(Tree::size).sum();
        self.samples.borrow_mut().push((size, text));
    }
}

fn more(count: &Cell<usize>) {
    count.set(count.get() + 1);
}

fn text(nests: &[Nest], moves: &[String]) -> String {
    let definition = nests.iter().flat_map(|n| n.definition().iter());
    let parts = definition.map(Expr::to_string);
    let parts: Vec<String> = parts.chain(nests.iter().map(Nest::to_string)).collect();
    format!("{}\n{}", moves.join(", "), parts.join("\n"))
}

/// The results of running the nests equal those of their definition, in numbers.
fn computes(nests: &[Nest], definition: &[Expr]) -> bool {
    let mut expected = super::generator::store(definition);
    let mut actual = expected.clone();
    definition::run(definition, &mut expected).expect("a value");
    let ran = nests.iter().all(|n| execute::run(n, &mut actual).is_ok());
    ran && expected
        .iter()
        .all(|(name, data)| super::comparable(data) == super::comparable(&actual[name]))
}

fn runs(nests: &[Nest], definition: &[Expr]) -> Result<(), TestCaseError> {
    let kernel = match codegen::generate(nests, "kernel") {
        Ok(kernel) => kernel,
        // Codegen looks at dimensions one by one.
        Err(NoCode::Race { .. }) => return Ok(()),
        Err(e) => return Err(TestCaseError::fail(e.to_string())),
    };
    let rounding = |tensor: &teml::ir::Tensor| match tensor.elem() {
        Elem::F32 => 1e-6,
        _ => 1e-12,
    };
    runs_as_defined(definition, kernel, super::generator::store(definition), rounding)
}

#[test]
fn proofs_and_instances_agree() {
    let nightly: Option<u32> = std::env::var("TEML_CASES").ok().and_then(|n| n.parse().ok());
    let counts = Counts::default();
    let damage = (prop::sample::select(DAMAGES.to_vec()), 0..3usize, 0..12usize);
    let damage = prop::option::weighted(0.25, damage);
    let orders = prop::sample::select(vec![
        (Reductions::Strict, Policy::Strict),
        (Reductions::Reassociate, Policy::Reassociate),
    ]);
    let cases = (program(), program_moves(8), damage, orders);
    let mut runner = TestRunner::new(super::config(nightly.unwrap_or(500)));
    let result = runner.run(&cases, |(program, moves, damage, (reductions, policy))| {
        let (mut nests, mut moves) = transformed(&program, &moves);
        if let Some((damage, which, place)) = damage {
            let which = which % nests.len();
            moves.push(format!("{damage:?}"));
            nests[which] = damaged(&nests[which], damage, place);
        }
        let answer = compare(&nests, policy, &|| false);
        let is_equal = matches!(answer, Ok(Answer::Equal { .. }));
        match legality::check(&nests, reductions) {
            Verdict::Legal => {
                more(&counts.legal);
                prop_assert!(
                    is_equal,
                    "proved legal, but {:?}\n{:?}\n{}",
                    answer,
                    policy,
                    text(&nests, &moves)
                );
                let definition = program.definition();
                prop_assert!(computes(&nests, &definition), "{}", text(&nests, &moves));
                if nightly.is_some() {
                    runs(&nests, &definition)?;
                }
            }
            Verdict::Illegal(violation) => {
                more(&counts.illegal);
                if is_equal {
                    more(&counts.harmless);
                    let text = text(&nests, &moves);
                    counts.sample(&nests, format!("harmless: {violation}\n{policy:?} {text}"));
                }
            }
            Verdict::Undecided(why) => {
                more(&counts.undecided);
                let text = text(&nests, &moves);
                counts.sample(&nests, format!("undecided: {why}\n{policy:?} {text}"));
            }
        }
        Ok(())
    });
    let (legal, illegal) = (counts.legal.get(), counts.illegal.get());
    let (harmless, undecided) = (counts.harmless.get(), counts.undecided.get());
    println!(
        "{legal} legal; {illegal} illegal, {harmless} of them harmless; {undecided} undecided"
    );
    let mut samples = counts.samples.take();
    samples.sort();
    samples.iter().take(5).for_each(|(_, text)| println!("{text}\n"));
    assert!(result.is_ok(), "{}", result.err().map_or(String::new(), |e| e.to_string()));
    assert!(legal > 100 && illegal > 100, "the cases are lopsided");
    assert!(50 * harmless < illegal, "too much is refused that does no harm");
}

fn damaged(nest: &Nest, damage: Damage, place: usize) -> Nest {
    let size: usize = nest.trees().iter().map(Tree::size).sum();
    let countdown = Cell::new(place % size.max(1));
    nest.with_trees(broken(nest.trees(), damage, &countdown))
}
