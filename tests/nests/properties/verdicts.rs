//! Proofs against translation validation: arbitrary steps, legal or not, on random programs of
//! several statements. Nests that are proved legal are equal, instance by instance. Refused nests
//! are wrong, except for a few that are right by accident.
//!
//! `TEML_CASES` sets the number of cases. With `TEML_COMPILED=1`, the C of all legal nests is also
//! compiled and run; otherwise the interpreter executes them.

use super::compiled::{POISONED, runs_as_defined};
use super::detours::{Detour, by_way, detours};
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
use teml::ir::{Elem, Expr, Name, Nest, Tree};
use teml::legality::{self, Reductions, Verdict};
use teml::lower::program::program as read_program;

/// The computation of a case.
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

    /// Whether every computed value contributes to the results.
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
    /// Cases among them in which every computed value contributes to the results.
    refused: Cell<u32>,
    harmless: Cell<u32>,
    undecided: Cell<u32>,
    /// The smallest needless refusals and undecided cases.
    samples: RefCell<Vec<(usize, String)>>,
}

impl Counts {
    fn show(&self) {
        println!(
            "{} legal; {} illegal, {} of them where all matters, {} of those harmless; {} undecided",
            self.legal.get(),
            self.illegal.get(),
            self.refused.get(),
            self.harmless.get(),
            self.undecided.get(),
        );
        let mut samples = self.samples.take();
        samples.sort();
        let smallest = samples.iter().take(5);
        smallest.for_each(|(_, text)| println!("{text}\n"));
    }

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

/// Whether the nests compute the numbers of their definition.
fn computes(nests: &[Nest], definition: &[Expr]) -> bool {
    let mut expected = store(definition);
    let mut actual = expected.clone();
    definition::run(definition, &mut expected).expect("a value");
    let ran = nests.iter().all(|n| execute::run(n, &mut actual).is_ok());
    // Intermediate tensors may exist only as local ones.
    let writes = |nest: &Nest, name: &Name| {
        let is_local = nest.locals().iter().any(|t| t.name() == Some(name));
        let mut targets = nest.lines().into_iter().filter_map(|line| match line.tree {
            Tree::Stmt(s) => s.target.name(),
            Tree::Fill(fill) => fill.target.name(),
            Tree::Loop(_) | Tree::Local(_) => None,
        });
        !is_local && targets.any(|target| target == name)
    };
    let both = expected
        .iter()
        .filter_map(|(n, a)| Some((n, a, actual.get(n)?)));
    let mut both = both.filter(|(name, ..)| nests.iter().any(|nest| writes(nest, name)));
    ran && both.all(|(_, a, b)| super::comparable(a) == super::comparable(b))
}

/// A line with other names of loops.
fn with_names(line: &str, loops: &[(usize, String, String)]) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut named = String::new();
    for part in line.split_inclusive(|c: char| !is_part(c)) {
        let word = part.trim_end_matches(|c: char| !is_part(c));
        let own = loops.iter().rev().find(|(_, found, _)| found == word);
        named.push_str(own.map_or(word, |(_, _, meant)| meant));
        named.push_str(&part[word.len()..]);
    }
    named
}

/// A printed nest is a text of the same nest, in which `v = e + v` is an update.
pub fn reads_back(nest: &Nest) -> Result<(), TestCaseError> {
    let mut lines = nest.lines().into_iter();
    if !lines.any(|line| matches!(line.tree, Tree::Stmt(_))) {
        // A text has to assign something.
        return Ok(());
    }
    let text = nest.to_string();
    let read = match read_program(&text) {
        Ok(read) => read,
        // A fill in loops of its own begins nothing in a text.
        Err(why) if why.to_string().contains("begins nothing") => return Ok(()),
        Err(why) => return Err(TestCaseError::fail(format!("{why}\n{text}"))),
    };
    let (meant, found) = (nest.lines(), read.lines());
    prop_assert_eq!(meant.len(), found.len());
    // Loops of one name, one after the other, have names of their own when they are read.
    let mut loops: Vec<(usize, String, String)> = Vec::new();
    for (meant, found) in meant.iter().zip(&found) {
        loops.retain(|(depth, ..)| *depth < found.depth);
        if let (Tree::Loop(a), Tree::Loop(b)) = (meant.tree, found.tree) {
            let (a, b) = (a.name.to_string(), b.name.to_string());
            loops.push((found.depth, b, a));
        }
        let is_update = matches!((meant.tree, found.tree), (Tree::Stmt(a), Tree::Stmt(b))
            if a.update.is_none() && b.update.is_some());
        let same = meant.to_string() == with_names(&found.to_string(), &loops);
        prop_assert!(is_update || same, "{}\n{}", text, read);
    }
    let is_same = read == *nest || read.to_string() != text;
    prop_assert!(is_same, "{}", text);
    let again = read_program(&read.to_string());
    prop_assert_eq!(again.as_ref(), Ok(&read));
    Ok(())
}

fn runs(nests: &[Nest], definition: &[Expr]) -> Result<(), TestCaseError> {
    let kernel = match codegen::generate(nests, "kernel", Reductions::Reassociate) {
        Ok(kernel) => kernel,
        // Codegen looks at dimensions one by one.
        Err(NoCode::Race { .. }) => return Ok(()),
        Err(e) => return Err(TestCaseError::fail(e.to_string())),
    };
    let rounding = |tensor: &teml::ir::Tensor| match tensor.elem() {
        Elem::F32 => 1e-6,
        _ => 1e-12,
    };
    runs_as_defined(definition, kernel, POISONED, store(definition), rounding)
}

/// Runs this many cases, with local tensors put into nests.
fn count(number: u32, detours: impl Strategy<Value = Vec<(usize, Detour)>>) -> Counts {
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
    let cases = (source, program_moves(8), (detours, damage), orders);
    let mut runner = TestRunner::new(super::config(number));
    let result = runner.run(
        &cases,
        |(source, moves, (detours, damage), (reductions, policy))| {
            let definition = source.definition();
            let mut nests = transformed(&definition, &moves);
            for (which, detour) in &detours {
                let which = which % nests.len();
                if let Some(with) = by_way(&nests[which], detour) {
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
                    nests.iter().try_for_each(reads_back)?;
                    if compiles {
                        runs(&nests, &definition)?;
                    }
                }
                Verdict::Illegal(violation) => {
                    more(&counts.illegal);
                    // Errors in values that nobody needs are harmless.
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
    assert!(
        result.is_ok(),
        "{}",
        result.err().map_or(String::new(), |e| e.to_string())
    );
    counts.show();
    counts
}

/// The number of cases in the environment variable.
pub fn cases(default: u32) -> u32 {
    let number = std::env::var("TEML_CASES").ok();
    number.map_or(default, |n| n.parse().expect("a number of cases"))
}

#[test]
fn proofs_and_instances_agree() {
    let number = cases(500);
    let counts = count(number, Just(Vec::new()));
    let (legal, refused) = (counts.legal.get(), counts.refused.get());
    assert!(
        10 * legal > number && 20 * refused > number,
        "the cases are lopsided"
    );
    assert!(
        50 * counts.harmless.get() < refused,
        "too much is refused that does no harm"
    );
}

#[test]
fn proofs_follow_values_through_local_tensors() {
    let number = cases(150);
    let counts = count(number, detours());
    assert!(10 * counts.legal.get() > number, "the cases are lopsided");
}

fn damaged(nest: &Nest, damage: Damage, place: usize) -> Nest {
    let size: usize = nest.trees().iter().map(Tree::size).sum();
    let countdown = Cell::new(place % size.max(1));
    nest.with_trees(broken(nest.trees(), damage, &countdown))
}
