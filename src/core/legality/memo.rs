//! Verdicts that are known: a script asks for one several times, as a schedule proves what it makes,
//! then `check`, then the C.
//!
//! A verdict depends on nothing but what is compared here. Each thread has its own, as it has its
//! own polyhedral library, so that what a script is told depends on the script alone. A thread that
//! works in place of another one takes over what that one knows ([`Verdicts`]).

use super::reassociation::Reductions;
use super::verdict::Verdict;
use crate::analysis::position;
use crate::ir::{Loop, Name, Nest, Origin, Part, Tree};
use std::cell::RefCell;
use std::collections::VecDeque;

/// How many verdicts are kept.
const KEPT: usize = 32;

thread_local! {
    /// The last ones.
    static VERDICTS: RefCell<VecDeque<(Inquiry, Verdict)>> = const { RefCell::new(VecDeque::new()) };
}

/// What a thread knows.
pub struct Verdicts(VecDeque<(Inquiry, Verdict)>);

impl Verdicts {
    /// Those of this thread, which knows none afterwards.
    pub fn take() -> Verdicts {
        Verdicts(VERDICTS.take())
    }

    /// Makes them those of this thread.
    pub fn give(self) {
        VERDICTS.set(self.0);
    }
}

/// What is asked about nests: all that an answer depends on.
#[derive(PartialEq)]
pub struct Inquiry {
    nests: Vec<Query>,
    reductions: Reductions,
}

/// What is asked about a nest.
#[derive(PartialEq)]
struct Query {
    trees: Vec<Tree>,
    origins: Vec<Option<Origin>>,
    definition: Vec<Part>,
    meant: Vec<Option<Origin>>,
    donated: Vec<Name>,
    context: Vec<Loop>,
}

/// The verdict on nests, which `decide` finds where it is not known. One that is open is asked for
/// again: a question with a higher limit may have an answer.
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

/// Whether nests are legal, if that was asked before.
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
            context: nest.context().to_vec(),
        }
    }
}

/// Which instances statements and fills execute, of which trees that are equal may differ: a loop
/// that none mentions runs the same forwards and backwards.
pub(super) fn origins(trees: &[Tree]) -> Vec<Option<Origin>> {
    let mut found = Vec::new();
    position::walk(trees, &mut |_, _, tree| match tree {
        Tree::Stmt(s) => found.push(s.origin.clone()),
        Tree::Fill(fill) => found.push(fill.origin.clone()),
        Tree::Loop(_) | Tree::Local(_) => {}
    });
    found
}
