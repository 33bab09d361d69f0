//! Proofs against translation validation: arbitrary steps, legal or not, on random programs of
//! several statements. What is proved legal is equal, instance by instance, and what is refused
//! is wrong, but for a few nests that are right by accident.
//!
//! `TEML_CASES` sets the number of cases. With `TEML_COMPILED=1` the C of all that is legal is
//! compiled and run, too; otherwise the interpreter executes it.

use super::buffers::{buffer, buffered};
use super::compiled::runs_as_defined;
use super::generator::{Recipe, recipe, store};
use super::moves::reproduction;
use super::oracle::{DAMAGES, Damage, broken};
use super::programs::{Program, program, program_moves, transformed};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::{Cell, RefCell};
use teml::codegen::{self, NoCode};
use teml::interp::symbolic::{Answer, Policy, compare};
use teml::interp::{definition, execute};
use teml::ir::{Elem, Expr, Nest, Tree};
use teml::legality::{self, Reductions, Verdict};

/// What a case computes.
#[derive(Clone, Debug)]
enum Source {
    Several(Program),
    /// One statement, of any element type and up to six loops and two sums.
    One(Recipe),
}

impl Source {
    fn definition(&self) -> Vec<Expr> {
        match self {
            Source::Several(program) => program.definition(),
            Source::One(recipe) => vec![recipe.assignment("")],
        }
    }

    /// Whether all that is computed has a part in the results.
    fn loses_nothing(&self) -> bool {
        match self {
            Source::Several(program) => program.loses_nothing(),
            Source::One(_) => true,
        }
    }
}

/// How many cases of each kind there were.
#[derive(Default)]
struct Counts {
    legal: Cell<u32>,
    illegal: Cell<u32>,
    /// Of those, where everything that is computed has a part in the results.
    refused: Cell<u32>,
    harmless: Cell<u32>,
    undecided: Cell<u32>,
    /// The smallest of what was refused needlessly, or not decided.
    samples: RefCell<Vec<(usize, String)>>,
}

impl Counts {
    fn sample(&self, nests: &[Nest], text: String) {
        let size = nests.iter().flat_map(|n| n.trees()).map(Tree::size).sum();
        self.samples.borrow_mut().push((size, text));
    }
}

fn more(count: &Cell<u32>) {
    count.set(count.get() + 1);
}

/// The scripts that make the nests, and the nests.
fn text(nests: &[Nest]) -> String {
    let scripts: Vec<String> = nests.iter().map(reproduction).collect();
    scripts.join("\n\n")
}

/// The results of running the nests equal those of their definition, in numbers.
fn computes(nests: &[Nest], definition: &[Expr]) -> bool {
    let mut expected = store(definition);
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
    runs_as_defined(definition, kernel, store(definition), rounding)
}

#[test]
fn proofs_and_instances_agree() {
    let number = std::env::var("TEML_CASES").ok();
    let number = number.map_or(500, |n| n.parse().expect("a number of cases"));
    let compiles = std::env::var_os("TEML_COMPILED").is_some();
    let counts = Counts::default();
    let damage = (
        prop::sample::select(DAMAGES.to_vec()),
        0..3usize,
        0..12usize,
    );
    let damage = prop::option::weighted(0.15, damage);
    let orders = prop::sample::select(vec![
        (Reductions::Strict, Policy::Strict),
        (Reductions::Reassociate, Policy::Reassociate),
    ]);
    let source = prop_oneof![
        4 => program().prop_map(Source::Several),
        1 => recipe().prop_map(Source::One),
    ];
    let buffers = prop_oneof![2 => prop::collection::vec((0..3usize, buffer()), 0), 1 => prop::collection::vec((0..3usize, buffer()), 1..=2)];
    let cases = (source, program_moves(8), (buffers, damage), orders);
    let mut runner = TestRunner::new(super::config(number));
    let result = runner.run(
        &cases,
        |(source, moves, (buffers, damage), (reductions, policy))| {
            let definition = source.definition();
            let mut nests = transformed(&definition, &moves);
            for (which, buffer) in &buffers {
                let which = which % nests.len();
                if let Some(with) = buffered(&nests[which], buffer) {
                    nests[which] = with;
                }
            }
            if let Some((damage, which, place)) = damage {
                let which = which % nests.len();
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
                        text(&nests)
                    );
                    prop_assert!(computes(&nests, &definition), "{}", text(&nests));
                    if compiles {
                        runs(&nests, &definition)?;
                    }
                }
                Verdict::Illegal(violation) => {
                    more(&counts.illegal);
                    // What nobody needs can be computed wrongly without harm.
                    let counts_all = damage.is_none() && source.loses_nothing();
                    if counts_all {
                        more(&counts.refused);
                    }
                    if is_equal && counts_all {
                        more(&counts.harmless);
                        let text = text(&nests);
                        counts.sample(&nests, format!("harmless: {violation}\n{policy:?} {text}"));
                    }
                }
                Verdict::Undecided(why) => {
                    more(&counts.undecided);
                    let text = text(&nests);
                    counts.sample(&nests, format!("undecided: {why}\n{policy:?} {text}"));
                }
            }
            Ok(())
        },
    );
    let (legal, illegal): (u32, u32) = (counts.legal.get(), counts.illegal.get());
    let (refused, harmless) = (counts.refused.get(), counts.harmless.get());
    let undecided = counts.undecided.get();
    println!(
        "{legal} legal; {illegal} illegal, {refused} of them where all matters, {harmless} of \
         those harmless; {undecided} undecided"
    );
    let mut samples = counts.samples.take();
    samples.sort();
    samples
        .iter()
        .take(5)
        .for_each(|(_, text)| println!("{text}\n"));
    assert!(
        result.is_ok(),
        "{}",
        result.err().map_or(String::new(), |e| e.to_string())
    );
    assert!(
        10 * legal > number && 20 * refused > number,
        "the cases are lopsided"
    );
    assert!(
        50 * harmless < refused,
        "too much is refused that does no harm"
    );
}

fn damaged(nest: &Nest, damage: Damage, place: usize) -> Nest {
    let size: usize = nest.trees().iter().map(Tree::size).sum();
    let countdown = Cell::new(place % size.max(1));
    nest.with_trees(broken(nest.trees(), damage, &countdown))
}
