//! A cache of verdicts. A script asks for most verdicts several times: a schedule proves its
//! result, then `check` asks, then the C.
//!
//! A verdict depends only on what [`Inquiry`] compares. Each thread has its own cache, as it has
//! its own polyhedral library, so that answers depend on the script alone. A thread that works in
//! place of another one takes over its cache ([`Verdicts`]).

use super::reassociation::Reductions;
use super::verdict::Verdict;
use crate::analysis::position;
use crate::ir::{Loop, Name, Nest, Origin, Part, Tree};
use std::cell::RefCell;
use std::collections::VecDeque;

/// The number of cached verdicts.
const KEPT: usize = 32;

thread_local! {
    /// The most recent verdicts.
    static VERDICTS: RefCell<VecDeque<(Inquiry, Verdict)>> = const { RefCell::new(VecDeque::new()) };
}

/// The cached verdicts of a thread.
pub struct Verdicts(VecDeque<(Inquiry, Verdict)>);

impl Verdicts {
    /// Takes the verdicts of this thread and leaves it none.
    pub fn take() -> Verdicts {
        Verdicts(VERDICTS.take())
    }

    /// Makes these the verdicts of this thread.
    pub fn give(self) {
        VERDICTS.set(self.0);
    }
}

/// A question about nests: everything that the answer depends on.
#[derive(PartialEq)]
pub struct Inquiry {
    nests: Vec<Query>,
    reductions: Reductions,
}

/// The part of a question that concerns one nest.
#[derive(PartialEq)]
struct Query {
    trees: Vec<Tree>,
    origins: Vec<Option<Origin>>,
    definition: Vec<Part>,
    meant: Vec<Option<Origin>>,
    donated: Vec<Name>,
    outputs: Vec<Name>,
    context: Vec<Loop>,
}

/// The cached verdict on nests, or the one that `decide` finds. An undecided question is asked
/// again, since a larger budget may decide it.
pub(super) fn known(
    nests: &[Nest],
    reductions: Reductions,
    decide: impl FnOnce(&[Nest], Reductions) -> Verdict,
) -> Verdict {
    let question = Inquiry::of(nests, reductions);
    if let Some(verdict) = question.remembered() {
        return verdict;
    }
    let verdict = decide(nests, reductions);
    if !matches!(verdict, Verdict::Undecided(_)) {
        VERDICTS.with_borrow_mut(|verdicts| {
            if verdicts.len() == KEPT {
                verdicts.pop_front();
            }
            verdicts.push_back((question, verdict.clone()));
        });
    }
    verdict
}

/// Whether nests are legal, if the verdict is cached.
pub fn remembered(nests: &[Nest], reductions: Reductions) -> Option<bool> {
    let verdict = Inquiry::of(nests, reductions).remembered()?;
    Some(verdict == Verdict::Legal)
}

impl Inquiry {
    /// A question about nests that run in order.
    pub fn of(nests: &[Nest], reductions: Reductions) -> Inquiry {
        Inquiry {
            nests: nests.iter().map(Query::of).collect(),
            reductions,
        }
    }

    fn remembered(&self) -> Option<Verdict> {
        VERDICTS.with_borrow(|verdicts| {
            let mut known = verdicts.iter().rev();
            let found = known.find(|(asked, _)| asked == self);
            found.map(|(_, verdict)| verdict.clone())
        })
    }
}

impl Query {
    fn of(nest: &Nest) -> Query {
        let parts = nest.originals();
        Query {
            trees: nest.trees().to_vec(),
            origins: origins(nest.trees()),
            definition: parts.to_vec(),
            meant: parts.iter().flat_map(|part| origins(&part.trees)).collect(),
            donated: nest.donated().to_vec(),
            outputs: nest.outputs().cloned().collect(),
            context: nest.context().to_vec(),
        }
    }
}

/// The instances that statements and fills execute. Equal trees may differ in them: a loop whose
/// iterator no statement mentions runs the same forwards and backwards.
pub(super) fn origins(trees: &[Tree]) -> Vec<Option<Origin>> {
    let mut found = Vec::new();
    position::walk(trees, &mut |_, _, tree| match tree {
        Tree::Stmt(s) => found.push(s.origin.clone()),
        Tree::Fill(fill) => found.push(fill.origin.clone()),
        Tree::Loop(_) | Tree::Local(_) => {}
    });
    found
}
