//! Whether a step preserves what a nest computes, judged only where it changes the nest.
//!
//! The nest acts as its own definition: its statements and fills, in the order of its loops. A step
//! is legal if the changed trees execute the same instances, each once, and keep the order of two
//! that touch one element. The question concerns one iteration of the outer loops, which run as
//! before. The rest of the nest and its definition do not matter. A legal step keeps a legal nest
//! legal.
//!
//! If this test fails, the result may still be legal.

use super::concurrent::{is_independent, marked};
use super::dense::reads_bounds;
use super::independence::first_race;
use super::limit::OPERATIONS;
use super::misread::{Execution, Readings};
use super::order;
use super::program::{Leaf, Original, Program, What, leaves};
use super::reassociation::{Reductions, reassociates};
use super::reordered::keeps_locals;
use super::reversed::Reversed;
use super::sizes::for_all_sizes;
use super::verdict::Undecided;
use crate::ir::{Affine, Fill, Loop, Name, Nest, Origin, Stmt, Tree};
use crate::poly;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// A nest whose statements and fills are their own origins. After a step, the origins tell what
/// became of each.
pub struct Numbered {
    nest: Nest,
    /// The instances of the definition that its statements and fills execute.
    origins: Vec<Option<Origin>>,
}

impl Numbered {
    /// The trees of `nest`, with new origins.
    pub fn of(nest: &Nest) -> Numbered {
        let mut origins = Vec::new();
        let trees = nest.trees().iter();
        let numbered = trees.map(|tree| number(tree, &mut Vec::new(), &mut origins));
        let nest = nest.with_trees(numbered.collect());
        Numbered { nest, origins }
    }

    /// The nest to apply steps to.
    pub fn nest(&self) -> &Nest {
        &self.nest
    }
}

fn number(tree: &Tree, around: &mut Vec<Affine>, origins: &mut Vec<Option<Origin>>) -> Tree {
    let mut numbered = |origin: &Option<Origin>| {
        origins.push(origin.clone());
        Some(Origin {
            assignment: origins.len() - 1,
            point: around.clone(),
        })
    };
    match tree {
        Tree::Local(_) => tree.clone(),
        Tree::Stmt(s) => Tree::Stmt(Arc::new(Stmt {
            origin: numbered(&s.origin),
            ..(**s).clone()
        })),
        Tree::Fill(fill) => Tree::Fill(Arc::new(Fill {
            origin: numbered(&fill.origin),
            ..(**fill).clone()
        })),
        Tree::Loop(l) => {
            around.push(Affine::iterator(l.name.clone()));
            let body = l.body.iter().map(|tree| number(tree, around, origins));
            let body = body.collect();
            around.pop();
            Tree::of_loop(Loop {
                body,
                ..(**l).clone()
            })
        }
    }
}

/// The verdict on a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It preserves what the nest computes.
    Yes,
    /// It does not. It runs conflicting iterations at the same time, or reorders the updates of an
    /// element.
    No,
    /// Neither is known.
    Unknown,
}

/// The most pairs of leaves in which a counterexample is searched if the order alone proves
/// nothing.
const PAIRS: usize = 8;

/// A nest as the definition of its steps.
pub struct Steps<'a> {
    trees: &'a [Tree],
    origins: &'a [Option<Origin>],
    /// Number k is the leaf that executes assignment k.
    leaves: Vec<Leaf<'a>>,
    originals: Rc<[Original<'a>]>,
    reductions: Reductions,
}

impl<'a> Steps<'a> {
    pub fn of(numbered: &'a Numbered, reductions: Reductions) -> Steps<'a> {
        let trees = numbered.nest.trees();
        let leaves = leaves(trees);
        let statements = leaves.iter().filter_map(|leaf| match leaf.what {
            What::Stmt(stmt) => Some(stmt),
            What::Fill(_) => None,
        });
        let some = statements.clone().next();
        // Only the originals of statements are used.
        let originals = leaves.iter().filter_map(|leaf| {
            let (stmt, fill) = match leaf.what {
                What::Stmt(stmt) => (Some(stmt), None),
                What::Fill(fill) => (some, Some(fill)),
            };
            let loops = leaf.loops.clone();
            Some(Original {
                fill,
                loops,
                stmt: stmt?,
            })
        });
        Steps {
            trees,
            origins: &numbered.origins,
            originals: originals.collect(),
            leaves,
            reductions,
        }
    }

    /// Whether the steps that turned the numbered nest into `after` preserve what it computes.
    /// `in_order` says that they are known to keep the order.
    pub fn keep(&self, after: &Nest, in_order: bool) -> Kept {
        for_all_sizes(std::slice::from_ref(after), || self.kept(after, in_order))
    }

    fn kept(&self, after: &Nest, in_order: bool) -> Kept {
        if self.leaves.iter().any(Leaf::reads_bounds) || reads_bounds(after) {
            return Kept::Unknown;
        }
        let change = Change::between(self.trees, after.trees());
        let crosses = |(k, l): (usize, &&Loop)| l.collapse() > change.outer.len() - k;
        if change.outer.iter().enumerate().any(crosses) || !after.outer_loops().is_empty() {
            return Kept::Unknown;
        }
        let all = leaves(after.trees());
        let own = |leaf: &&Leaf| change.holds(leaf, &change.after);
        let program = Program {
            originals: self.originals.clone(),
            assignments: 0..0,
            definition: self.before(&change),
            leaves: all.iter().filter(own).cloned().collect(),
            donated: Vec::new(),
            outputs: Vec::new(),
        };
        if !in_order {
            match self.order(&program, &change, &all) {
                Kept::Yes => {}
                other => return other,
            }
        }
        let trees = change.trees(after.trees()).to_vec();
        if first_race(&after.part(trees, &change.outer, Vec::new())).is_none() {
            return Kept::Yes;
        }
        match are_independent(&program, change.outer.len(), self.reductions) {
            Ok(true) => Kept::Yes,
            Ok(false) => Kept::No,
            Err(_) => Kept::Unknown,
        }
    }

    /// The leaves of the changed part, before the step.
    fn before(&self, change: &Change) -> Vec<Leaf<'a>> {
        let leaves = self.leaves.iter();
        let own = leaves.filter(|leaf| change.holds(leaf, &change.before));
        own.cloned().collect()
    }

    /// Whether the order is kept; `all` are the leaves of the nest that the program is a part of.
    fn order(&self, program: &Program, change: &Change, all: &[Leaf<'_>]) -> Kept {
        if program.is_in_place() {
            return Kept::Yes;
        }
        let is_executed = |leaf: &Leaf| {
            let meant = leaf.assignment.and_then(|a| self.leaves.get(a));
            meant.is_some_and(|meant| change.holds(meant, &change.before) && executes(leaf, meant))
        };
        let is_same = program.leaves.iter().all(is_executed) && keeps_locals(program);
        let reassociates = |a: usize| {
            let is_statement = self
                .leaves
                .get(a)
                .map(|leaf| matches!(leaf.what, What::Stmt(_)));
            is_statement == Some(true) && reassociates(program, a, self.reductions)
        };
        let misreads = |reversed: Option<Reversed>| match reversed {
            Some(reversed) => self.misreads(all, &reversed, &reassociates),
            None => Ok(false),
        };
        let decide = || {
            let is_wrong = if is_same {
                match order::holds(program, &reassociates) {
                    Ok(order::Kept::Yes) => return Ok(Kept::Yes),
                    Ok(order::Kept::No(reversed)) => {
                        order::reverses_updates(program, &reassociates)? || misreads(reversed)?
                    }
                    Ok(order::Kept::Repeated) | Err(_) => false,
                }
            } else {
                misreads(order::some_reversed(program, &reassociates, PAIRS)?)?
            };
            Ok(if is_wrong { Kept::No } else { Kept::Unknown })
        };
        poly::bounded(OPERATIONS, decide).unwrap_or(Kept::Unknown)
    }

    /// Whether one of two reversed executions certainly reads a wrong value.
    fn misreads(
        &self,
        all: &[Leaf<'_>],
        reversed: &Reversed,
        free: &dyn Fn(usize) -> bool,
    ) -> Result<bool, poly::Error> {
        let readings = Readings {
            before: &self.leaves,
            origins: self.origins,
            after: all,
        };
        let Some(pair) = reversed.sample()? else {
            return Ok(false);
        };
        for (place, at) in reversed.places.iter().zip(pair).rev() {
            let Some(leaf) = all.iter().position(|leaf| leaf.place == *place) else {
                continue;
            };
            let meant = all[leaf].assignment.and_then(|a| self.leaves.get(a));
            if !meant.is_some_and(|meant| executes(&all[leaf], meant)) {
                continue;
            }
            if readings.are_wrong(&Execution { leaf, at }, free)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether the loops inside the change that run several iterations at the same time are
/// independent.
fn are_independent(
    program: &Program,
    outer: usize,
    reductions: Reductions,
) -> Result<bool, Undecided> {
    for marked in marked(program, reductions) {
        if marked.depth() >= outer && !is_independent(program, &marked)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a leaf does the same as another one in the iteration that its origin gives.
fn executes(leaf: &Leaf, meant: &Leaf) -> bool {
    let Some(origin) = leaf.origin() else {
        return false;
    };
    let map = |name: &Name| {
        let k = meant.loops.iter().position(|l| l.name == *name)?;
        origin.point.get(k).cloned()
    };
    match (leaf.what, meant.what) {
        (What::Stmt(found), What::Stmt(meant)) => meant.substitute(&map) == *found,
        (What::Fill(found), What::Fill(meant)) => {
            let region = meant.region.iter();
            let region = region.map(|(low, n)| (low.substitute(&map), n.clone()));
            (&found.target, found.value) == (&meant.target, meant.value)
                && region.eq(found.region.iter().cloned())
        }
        _ => false,
    }
}

/// The difference between two versions of a nest: subsequences of one sequence.
struct Change<'t> {
    /// The unchanged loops around, and the position of each in its sequence.
    outer: Vec<&'t Loop>,
    at: Vec<usize>,
    before: Range<usize>,
    after: Range<usize>,
}

impl<'t> Change<'t> {
    fn between(mut before: &'t [Tree], mut after: &'t [Tree]) -> Change<'t> {
        let (mut outer, mut at) = (Vec::new(), Vec::new());
        loop {
            let both = || before.iter().zip(after);
            let first = both().take_while(|(a, b)| are_same(a, b)).count();
            let (own, others) = (&before[first..], &after[first..]);
            let last = own.iter().rev().zip(others.iter().rev());
            let last = last.take_while(|(a, b)| are_same(a, b)).count();
            let (end, other_end) = (before.len() - last, after.len() - last);
            if let ([Tree::Loop(a)], [Tree::Loop(b)]) =
                (&before[first..end], &after[first..other_end])
                && a.has_head_of(b)
            {
                outer.push(&**a);
                at.push(first);
                (before, after) = (&a.body, &b.body);
                continue;
            }
            return Change {
                outer,
                at,
                before: first..end,
                after: first..other_end,
            };
        }
    }

    /// Whether a leaf is in these trees of the sequence.
    fn holds(&self, leaf: &Leaf, trees: &Range<usize>) -> bool {
        let (around, own) = leaf.place[1..].split_at(self.at.len().min(leaf.place.len() - 1));
        around == self.at && own.first().is_some_and(|k| trees.contains(k))
    }

    /// The new trees.
    fn trees<'n>(&self, all: &'n [Tree]) -> &'n [Tree] {
        let inside = |trees: &'n [Tree], k: &usize| -> &'n [Tree] {
            let l = trees.get(*k).and_then(Tree::as_loop);
            l.map_or(&[], |l| &l.body)
        };
        let sequence = self.at.iter().fold(all, inside);
        sequence.get(self.after.clone()).unwrap_or_default()
    }
}

/// Whether two trees are equal and execute the same instances.
fn are_same(a: &Tree, b: &Tree) -> bool {
    match (a, b) {
        (Tree::Loop(a), Tree::Loop(b)) => {
            let mut bodies = a.body.iter().zip(&b.body);
            Arc::ptr_eq(a, b)
                || a.has_head_of(b)
                    && a.body.len() == b.body.len()
                    && bodies.all(|(a, b)| are_same(a, b))
        }
        (Tree::Stmt(a), Tree::Stmt(b)) => Arc::ptr_eq(a, b) || a == b && a.origin == b.origin,
        (Tree::Fill(a), Tree::Fill(b)) => Arc::ptr_eq(a, b) || a == b && a.origin == b.origin,
        (Tree::Local(a), Tree::Local(b)) => a == b,
        _ => false,
    }
}
