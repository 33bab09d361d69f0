//! Questions about a nest: whether each operation is legal at each loop.

use crate::ir::{Loop, Name, Nest};
use crate::nest::distribute::DISTRIBUTE;
use crate::nest::fuse::FUSE;
use crate::nest::interchange::INTERCHANGE;
use crate::nest::mode::{PARALLELIZE, VECTORIZE};
use crate::nest::reverse::REVERSE;
use crate::nest::rfactor::RFACTOR;
use crate::nest::unroll_and_jam::UNROLL_AND_JAM;

/// The operation of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    Parallelize,
    Vectorize,
    Interchange,
    /// A function of the library.
    Tile,
    Fuse,
    Distribute,
    Reverse,
    UnrollAndJam,
    Rfactor,
}

impl What {
    const ALL: [What; 9] = [
        What::Parallelize,
        What::Vectorize,
        What::Interchange,
        What::Tile,
        What::Fuse,
        What::Distribute,
        What::Reverse,
        What::UnrollAndJam,
        What::Rfactor,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            What::Parallelize => PARALLELIZE.name,
            What::Vectorize => VECTORIZE.name,
            What::Interchange => INTERCHANGE.name,
            What::Tile => "tile",
            What::Fuse => FUSE.name,
            What::Distribute => DISTRIBUTE.name,
            What::Reverse => REVERSE.name,
            What::UnrollAndJam => UNROLL_AND_JAM.name,
            What::Rfactor => RFACTOR.name,
        }
    }
}

/// The names of all operations of moves.
pub const OPERATIONS: [&str; What::ALL.len()] = {
    let mut names = [""; What::ALL.len()];
    let mut k = 0;
    while k < names.len() {
        names[k] = What::ALL[k].name();
        k += 1;
    }
    names
};

/// The moves to find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    All,
    /// Moves at one loop.
    At(Name),
    /// Moves at the loops of this many outer levels.
    Levels(usize),
    /// Moves of some of the [`OPERATIONS`].
    Of(Vec<&'static str>),
}

impl Scope {
    /// Whether a loop inside `outer` others is in scope.
    pub fn has(&self, l: &Loop, outer: usize) -> bool {
        match self {
            Scope::All | Scope::Of(_) => true,
            Scope::At(name) => l.name == *name,
            Scope::Levels(levels) => outer < *levels,
        }
    }

    fn asks(&self, what: What) -> bool {
        match self {
            Scope::Of(some) => some.contains(&what.name()),
            Scope::All | Scope::At(_) | Scope::Levels(_) => true,
        }
    }
}

/// Whether one operation is legal at one loop.
#[derive(Clone)]
pub(super) struct Question<'n> {
    /// The number of the loop, in the order of printing.
    number: usize,
    pub(super) what: What,
    pub(super) outer: Vec<&'n Loop>,
    pub(super) l: &'n Loop,
}

impl Question<'_> {
    /// The questions of a scope, by band: loops that are directly nested in each other.
    pub(super) fn by_band<'n>(nest: &'n Nest, scope: &Scope) -> Vec<Vec<Question<'n>>> {
        let mut bands: Vec<Vec<Question<'n>>> = Vec::new();
        for (number, (outer, l)) in nest.loops().into_iter().enumerate() {
            if outer.last().is_none_or(|o| o.body.len() != 1) {
                bands.push(Vec::new());
            }
            let asked = What::ALL
                .into_iter()
                .filter(|what| scope.has(l, outer.len()) && scope.asks(*what));
            let questions = asked.map(|what| Question {
                number,
                what,
                outer: outer.clone(),
                l,
            });
            if let Some(band) = bands.last_mut() {
                band.extend(questions);
            }
        }
        bands.retain(|band| !band.is_empty());
        bands
    }

    /// The position of the question in the order of printing.
    pub(super) fn place(&self) -> (usize, What) {
        (self.number, self.what)
    }

    /// Whether it concerns partial results of a reduction. These proofs take longest.
    pub(super) fn regroups(&self) -> bool {
        self.what == What::Rfactor
    }
}
