//! The candidates that are legal.

use super::candidates::Candidates;
use crate::ir::{Arg, Loop, LoopRef, Name, Nest, Site};
use crate::legality::{
    Judge, Numbered, Reductions, Steps, Undecided, remembered, together, within,
};
use crate::transform::{Error, Op, apply};
use std::collections::HashMap;
use std::sync::Arc;

/// A step, or several that belong together.
#[derive(Clone)]
pub struct Move {
    /// What scripts call: an operation, or a function of the library.
    pub op: &'static str,
    /// The loop that it is about.
    pub at: Name,
    /// What else it is about, for tables: other loops, or a number of lanes.
    pub with: Option<String>,
    /// The call in method form, such as `interchange("i", "j")`.
    pub call: String,
    /// The steps: operations and their arguments after the nest.
    pub(super) steps: Arc<[(&'static Op, Vec<Arg>)]>,
}

/// What is legal next.
#[derive(Clone)]
pub struct Moves {
    /// The nest that is asked about.
    pub nest: Nest,
    /// The loop that is asked about; `None` for all of them.
    pub at: Option<Name>,
    /// Whether it is legal itself. If it is not, the moves make it so.
    pub legal: bool,
    /// By loop, in the order in which loops are printed.
    pub list: Vec<Move>,
    /// How many candidates no proof decided.
    pub undecided: usize,
}

impl Move {
    /// The names of its loops, in the order of the call.
    pub fn loops(&self) -> Vec<&str> {
        let args = self.steps.iter().flat_map(|(_, args)| args);
        let names = args.filter_map(|arg| match arg {
            Arg::Loop(LoopRef::Name(name)) => Some(name.as_str()),
            _ => None,
        });
        names.collect()
    }

    /// What the move makes of a nest; `site` says where it was asked for.
    ///
    /// # Errors
    /// Those of its steps, on a nest that it was not made for.
    pub fn apply(&self, nest: &Nest, site: Option<&Site>) -> Result<Nest, Error> {
        self.steps
            .iter()
            .try_fold(nest.clone(), |nest, (op, args)| {
                let args: Vec<Arg> = [Arg::Nest(nest)].into_iter().chain(args.clone()).collect();
                apply(op, &args, site.cloned())?.nest()
            })
    }
}

/// Which moves are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of them.
    All,
    /// Those at one loop.
    At(Name),
    /// Those of some of the [`OPERATIONS`](super::OPERATIONS).
    Of(Vec<&'static str>),
}

impl Scope {
    fn includes(&self, l: &Loop) -> bool {
        match self {
            Scope::At(name) => l.name == *name,
            Scope::All | Scope::Of(_) => true,
        }
    }

    pub(super) fn asks_for(&self, op: &str) -> bool {
        match self {
            Scope::Of(some) => some.contains(&op),
            Scope::All | Scope::At(_) => true,
        }
    }
}

/// How much the proofs of the moves at all loops may take of the polyhedral library: somebody waits
/// for them. Those at one loop have the limit of a single proof.
const OF_ALL_LOOPS: u64 = 300_000;

/// The moves that are legal now. To ask for few of them is quicker. Where proofs take long, some
/// candidates are left undecided.
///
/// # Errors
/// Nothing is known of the nest: it has no definition, or there is no proof.
pub fn moves(nest: &Nest, scope: &Scope, reductions: Reductions) -> Result<Moves, Undecided> {
    let nests = std::slice::from_ref(nest);
    let mut judge = Judge::of(nests, reductions);
    let legal = match remembered(nests, reductions) {
        Some(legal) => legal,
        None => judge.is_legal(nests)?,
    };
    let numbered = Numbered::of(nest);
    let mut candidates = Candidates {
        nest,
        scope,
        regroups: judge.regroups(),
        judge,
        is_legal: legal,
        numbered: &numbered,
        steps: Steps::of(&numbered, reductions),
        exchanged: HashMap::new(),
        banded: Vec::new(),
        undecided: 0,
        is_spent: false,
    };
    let loops = nest.loops();
    let mut found: Vec<(usize, Move)> = Vec::new();
    let mut ask = || {
        let all = || {
            loops
                .iter()
                .enumerate()
                .filter(|(_, (_, l))| scope.includes(l))
        };
        for (k, (outer, l)) in all() {
            let own = candidates.at(outer, l).into_iter();
            found.extend(own.map(|m| (k, m)));
        }
        for (k, (_, l)) in all() {
            found.extend(candidates.regrouped(l).map(|m| (k, m)));
        }
    };
    // One limit for all: each proof may take seconds, and nests have hundreds of candidates.
    match scope {
        Scope::At(_) => together(&mut ask),
        // Without the polyhedral library nothing takes long.
        Scope::All | Scope::Of(_) => within(OF_ALL_LOOPS, &mut ask).unwrap_or_else(&mut ask),
    }
    found.sort_by_key(|(k, _)| *k);
    let at = match scope {
        Scope::At(name) => Some(name.clone()),
        Scope::All | Scope::Of(_) => None,
    };
    Ok(Moves {
        undecided: candidates.undecided,
        nest: nest.clone(),
        at,
        legal,
        list: found.into_iter().map(|(_, m)| m).collect(),
    })
}
