//! What can be asked of a nest: what each operation could do at each loop.

use crate::ir::{Loop, Name, Nest};
use crate::nest::distribute::DISTRIBUTE;
use crate::nest::fuse::FUSE;
use crate::nest::interchange::INTERCHANGE;
use crate::nest::mode::{PARALLELIZE, VECTORIZE};
use crate::nest::reverse::REVERSE;
use crate::nest::rfactor::RFACTOR;
use crate::nest::unroll_and_jam::UNROLL_AND_JAM;

/// What moves do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    Parallelize,
    Vectorize,
    Interchange,
    /// A call of the library.
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

/// The operations of moves.
pub const OPERATIONS: [&str; What::ALL.len()] = {
    let mut names = [""; What::ALL.len()];
    let mut k = 0;
    while k < names.len() {
        names[k] = What::ALL[k].name();
        k += 1;
    }
    names
};

/// Which moves are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of them.
    All,
    /// Those at one loop.
    At(Name),
    /// Those at the loops of so many outer levels.
    Levels(usize),
    /// Those of some of the [`OPERATIONS`].
    Of(Vec<&'static str>),
}

impl Scope {
    /// Whether anything is asked of a loop inside so many others.
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

/// What one operation could do at one loop.
#[derive(Clone)]
pub(super) struct Question<'n> {
    /// The number of the loop, as printed.
    number: usize,
    pub(super) what: What,
    pub(super) outer: Vec<&'n Loop>,
    pub(super) l: &'n Loop,
}

impl Question<'_> {
    /// Those that a scope asks of a nest, by band: by loops that are nested directly in each other.
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

    /// Where it is among all, as people read them.
    pub(super) fn place(&self) -> (usize, What) {
        (self.number, self.what)
    }

    /// Whether it is about partial results of a reduction, which take the longest proofs.
    pub(super) fn regroups(&self) -> bool {
        self.what == What::Rfactor
    }
}
