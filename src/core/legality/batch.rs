//! Legality of many variants of one definition, with the shared work done once.
//!
//! All variants share the dependences of the definition. The sequential order of a variant is
//! judged apart from its parallel and vector loops. Whether one loop is independent does not depend
//! on how the others are marked.

use super::check::{check, in_sequence, outside};
use super::concurrent::{Marked, is_independent, marked};
use super::dense::{dense, has_blocks};
use super::directions::Directions;
use super::independence::first_race;
use super::inplace::Run;
use super::limit::OPERATIONS;
use super::program::{Program, What};
use super::reassociation::{Reductions, reassociates};
use super::reroll::Reroll;
use super::sequence;
use super::sizes::for_all_sizes;
use super::verdict::{Undecided, Verdict};
use crate::ir::{Loop, Mode, Name, Nest, Origin, Part, Tree};
use crate::poly;
use std::borrow::Cow;
use std::cell::OnceCell;

/// Answers for many variants of nests what [`check`](fn@super::check) answers for one.
pub struct BatchProver<'a> {
    nests: Cow<'a, [Nest]>,
    reductions: Reductions,
    known: Vec<KnownVariant>,
    directions: Vec<Directions>,
    /// The loops whose directions could not be determined.
    without_directions: Vec<Name>,
    /// The rerolled trees of the nests, computed at the first request for directions.
    rolled: OnceCell<Vec<Vec<Tree>>>,
}

/// A variant without its parallel and vector loops, with the verdicts about it.
struct KnownVariant {
    trees: Vec<Vec<Tree>>,
    /// The instances that its statements and fills execute, in textual order.
    origins: Vec<Option<Origin>>,
    /// The tensors whose final contents are dead.
    donated: Vec<Name>,
    in_sequence: bool,
    independent: Vec<Independence>,
}

/// A loop of a nest, by number and name; its lanes, and the policy on its atomic updates; and whether
/// its iterations are independent.
type Independence = (usize, Name, Option<i64>, Option<Reductions>, bool);

impl<'a> BatchProver<'a> {
    /// A prover for variants of `nests`, which run in order.
    pub fn of(nests: &'a [Nest], reductions: Reductions) -> BatchProver<'a> {
        BatchProver {
            nests: dense(nests).unwrap_or(Cow::Borrowed(nests)),
            reductions,
            known: Vec::new(),
            directions: Vec::new(),
            without_directions: Vec::new(),
            rolled: OnceCell::new(),
        }
    }

    /// Whether `variant`, which has the definition of the nests, computes that definition.
    ///
    /// # Errors
    /// The question is undecided.
    pub fn is_legal(&mut self, variant: &[Nest]) -> Result<bool, Undecided> {
        // Blocks of rows have more iterators in the definition, and dimensions read as one have fewer.
        let is_joined = || {
            variant
                .iter()
                .flat_map(Nest::tensors)
                .any(|t| t.is_joined())
        };
        if has_blocks(variant) || is_joined() {
            return match check(variant, self.reductions) {
                Verdict::Legal => Ok(true),
                Verdict::Illegal(_) => Ok(false),
                Verdict::Undecided(why) => Err(why),
            };
        }
        let variant = dense(variant)?;
        for_all_sizes(&variant, || self.is_legal_at_sizes(&variant))
    }

    fn is_legal_at_sizes(&mut self, variant: &[Nest]) -> Result<bool, Undecided> {
        let defined = variant.iter().all(|n| !n.originals().is_empty());
        if !defined || !definition(variant).eq(definition(&self.nests)) {
            return Err(Undecided::NoDefinition);
        }
        let trees = trees(variant);
        let rolled = rolled(&trees);
        let program = Program::of(variant, &rolled);
        let bare: Vec<Vec<Tree>> = rolled.iter().map(|trees| bare(trees)).collect();
        let origins = origins(&program);
        let same = |j: &KnownVariant| {
            j.trees == bare
                && j.origins == origins
                && j.donated.iter().eq(program.donated.iter().copied())
        };
        let k = match self.known.iter().position(same) {
            Some(k) => k,
            None => {
                let in_sequence = self.in_sequence(&program, variant)?;
                self.known.push(KnownVariant {
                    trees: bare,
                    origins,
                    donated: program.donated.iter().map(|name| (*name).clone()).collect(),
                    in_sequence,
                    independent: Vec::new(),
                });
                self.known.len() - 1
            }
        };
        let known = &mut self.known[k];
        if !known.in_sequence {
            return Ok(false);
        }
        // The quick test suffices for most variants.
        if variant.iter().all(|nest| first_race(nest).is_none()) {
            return Ok(true);
        }
        for marked in marked(&program, self.reductions) {
            if !known.is_independent(&program, &marked)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether no two iterations that run at the same time in parallel and vector loops conflict.
    /// It ignores everything else that may be wrong.
    ///
    /// # Errors
    /// The question is undecided.
    pub fn is_independent(&self, variant: &[Nest]) -> Result<bool, Undecided> {
        if variant.iter().all(|nest| first_race(nest).is_none()) {
            return Ok(true);
        }
        let trees = trees(variant);
        let program = Program::of(variant, &trees);
        let mut marked = marked(&program, self.reductions).into_iter();
        for_all_sizes(variant, || {
            marked.try_fold(true, |all, marked| {
                Ok(all && is_independent(&program, &marked)?)
            })
        })
    }

    /// Whether any reduction may be reassociated.
    pub fn regroups(&self) -> bool {
        let trees = trees(&self.nests);
        let program = Program::of(&self.nests, &trees);
        (0..program.originals.len()).any(|a| reassociates(&program, a, self.reductions))
    }

    /// Whether the (legal) nests stay legal when a perfect band is permuted or reversed. `None` if
    /// the dependence directions do not decide it.
    pub fn allows(&mut self, runs: &[Run]) -> Option<bool> {
        let name = &runs.first()?.iterator;
        if !self.without_directions.contains(name)
            && !self.directions.iter().any(|d| d.concern(name))
        {
            match self.directions_of(name) {
                Some(found) => self.directions.push(found),
                None => self.without_directions.push(name.clone()),
            }
        }
        let found = self.directions.iter().find(|d| d.concern(name))?;
        found.allow(runs)
    }

    fn directions_of(&self, name: &Name) -> Option<Directions> {
        let rolled = self.rolled.get_or_init(|| rolled(&trees(&self.nests)));
        let program = Program::of(&self.nests, rolled);
        let reassociates = |a: usize| reassociates(&program, a, self.reductions);
        let found = || Directions::of(&program, name, &reassociates);
        let found = for_all_sizes(&self.nests, || poly::bounded(OPERATIONS, found)).ok()??;
        // A rerolled loop may have absorbed others.
        let own: Vec<&Loop> = self
            .nests
            .iter()
            .flat_map(Nest::loops)
            .map(|(_, l)| l)
            .collect();
        let is_whole = |name: &Name| {
            let mut rolled = program.leaves.iter().flat_map(|leaf| &leaf.loops);
            let range = |l: &Loop| (l.name == *name).then(|| l.range.clone());
            own.iter().find_map(|l| range(l)) == rolled.find_map(|l| range(l))
        };
        Some(found.of_parts(is_whole))
    }

    /// Whether it is legal when executed sequentially.
    fn in_sequence(&self, program: &Program, variant: &[Nest]) -> Result<bool, Undecided> {
        let reassociates = |a: usize| reassociates(program, a, self.reductions);
        let wrong = |piece: &Program| Ok((!sequence::holds(piece, &reassociates)?).then_some(()));
        Ok(in_sequence(program, variant, &wrong)?.is_none() && outside(variant)?.is_none())
    }
}

fn definition(nests: &[Nest]) -> impl Iterator<Item = &Part> {
    nests.iter().flat_map(Nest::originals)
}

fn trees(nests: &[Nest]) -> Vec<Vec<Tree>> {
    nests.iter().map(|n| n.trees().to_vec()).collect()
}

fn rolled(trees: &[Vec<Tree>]) -> Vec<Vec<Tree>> {
    let mut reroll = Reroll::default();
    trees.iter().map(|t| reroll.sequence(t)).collect()
}

impl KnownVariant {
    fn is_independent(&mut self, program: &Program, marked: &Marked) -> Result<bool, Undecided> {
        let key = (marked.nest(), marked.name(), marked.lanes, marked.atomic);
        let known =
            |(nest, name, lanes, atomic, _): &&Independence| (*nest, name, *lanes, *atomic) == key;
        if let Some((.., independent)) = self.independent.iter().find(known) {
            return Ok(*independent);
        }
        let independent = is_independent(program, marked)?;
        let (nest, name, lanes, atomic) = key;
        self.independent
            .push((nest, name.clone(), lanes, atomic, independent));
        Ok(independent)
    }
}

/// The trees with all loops serial.
fn bare(trees: &[Tree]) -> Vec<Tree> {
    let bare = trees.iter().map(|tree| match tree {
        Tree::Loop(l) => Tree::of_loop(Loop {
            mode: Mode::Serial,
            body: bare(&l.body),
            ..(**l).clone()
        }),
        other => other.clone(),
    });
    bare.collect()
}

fn origins(program: &Program) -> Vec<Option<Origin>> {
    let leaves = program.leaves.iter().map(|leaf| match leaf.what {
        What::Stmt(s) => s.origin.clone(),
        What::Fill(fill) => fill.origin.clone(),
    });
    leaves.collect()
}
