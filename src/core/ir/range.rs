//! What is said of a loop's iterations: which there are, who runs them, and how.

use super::affine::Affine;
use super::name::Name;
use std::sync::Arc;

/// Lower bound, upper bound and step: (lb, ub, st) of TeML §3.1, the upper bound exclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// The iterator starts at the greatest of these; never empty.
    pub lower: Vec<Affine>,
    /// The iterator stays below the least of these; never empty.
    pub upper: Vec<Affine>,
    /// At least 1.
    pub step: i64,
}

impl Range {
    /// `lower..upper` with step 1.
    pub fn constant(lower: i64, upper: i64) -> Range {
        let (lower, upper) = (Affine::constant(lower), Affine::constant(upper));
        Range {
            lower: vec![lower],
            upper: vec![upper],
            step: 1,
        }
    }

    /// The bounds, when no outer iterator occurs in them.
    pub fn as_constant(&self) -> Option<(i64, i64)> {
        let value = |bounds: &[Affine]| -> Option<Vec<i64>> {
            bounds.iter().map(Affine::as_constant).collect()
        };
        let lower = value(&self.lower)?.into_iter().max()?;
        let upper = value(&self.upper)?.into_iter().min()?;
        Some((lower, upper))
    }

    /// Whether no iterator is ever in the range, whatever the iterators in the bounds are.
    pub fn is_never_entered(&self) -> bool {
        let span = |lower: &Affine, upper: &Affine| upper.minus(lower).as_constant();
        let mut pairs = self
            .lower
            .iter()
            .flat_map(|l| self.upper.iter().map(move |u| (l, u)));
        pairs.any(|(lower, upper)| span(lower, upper).is_some_and(|values| values <= 0))
    }

    /// Whether a bound depends on `name`.
    pub fn mentions(&self, name: &Name) -> bool {
        self.bounds().any(|b| b.mentions(name))
    }

    /// Lower and upper bounds.
    pub fn bounds(&self) -> impl Iterator<Item = &Affine> {
        self.lower.iter().chain(&self.upper)
    }

    /// From `lower` on, `extent` values.
    pub fn of_extent(lower: &Affine, extent: i64) -> Range {
        Range {
            lower: vec![lower.clone()],
            upper: vec![lower.plus_constant(extent)],
            step: 1,
        }
    }

    /// The range without constant bounds that another bound implies, given the least and the
    /// greatest value of each.
    #[must_use]
    pub fn without_slack(&self, interval: &dyn Fn(&Affine) -> Option<(i64, i64)>) -> Range {
        let binding = |bounds: &[Affine], least: bool| -> Vec<Affine> {
            let met = |a: &Affine| {
                let Some(constant) = a.as_constant() else {
                    return false;
                };
                let mut others = bounds.iter().filter(|b| *b != a).filter_map(interval);
                others.any(|(low, high)| {
                    if least {
                        low >= constant
                    } else {
                        high <= constant
                    }
                })
            };
            bounds.iter().filter(|a| !met(a)).cloned().collect()
        };
        Range {
            lower: binding(&self.lower, true),
            upper: binding(&self.upper, false),
            step: self.step,
        }
    }

    /// The range with `by` added to all bounds.
    #[must_use]
    pub fn shifted(&self, by: &Affine) -> Range {
        let shift = |bounds: &[Affine]| bounds.iter().map(|b| b.plus(by)).collect();
        Range {
            lower: shift(&self.lower),
            upper: shift(&self.upper),
            step: self.step,
        }
    }

    /// The range with iterators in its bounds replaced. Of several bounds that differ by a constant
    /// only the one that counts stays.
    #[must_use]
    pub fn substitute(&self, map: &dyn Fn(&Name) -> Option<Affine>) -> Range {
        let replace = |bounds: &[Affine], tighter: fn(i64, i64) -> i64| -> Vec<Affine> {
            let bounds: Vec<Affine> = bounds.iter().map(|b| b.substitute(map)).collect();
            let counts = |(k, bound): &(usize, &Affine)| {
                let mut others = bounds.iter().enumerate();
                !others.any(|(other, b)| match b.minus(bound).as_constant() {
                    Some(0) => other < *k,
                    Some(apart) => tighter(apart, 0) == apart,
                    None => false,
                })
            };
            let binding = bounds.iter().enumerate().filter(counts);
            binding.map(|(_, bound)| bound.clone()).collect()
        };
        Range {
            lower: replace(&self.lower, i64::max),
            upper: replace(&self.upper, i64::min),
            step: self.step,
        }
    }
}

/// How the iterations of a parallel loop are shared among threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// The number of perfectly nested loops, from this one on, whose iterations are shared all
    /// together; at least 1.
    pub collapse: usize,
    /// Which iterations a thread gets; `None` leaves it to OpenMP.
    pub schedule: Option<Schedule>,
    /// How many a thread gets at a time, if there is a schedule; `None` leaves it to OpenMP.
    pub chunk: Option<i64>,
    /// How many iterations there have to be; with fewer, one thread runs all.
    pub threshold: Option<i64>,
}

impl Default for Sharing {
    fn default() -> Sharing {
        Sharing {
            collapse: 1,
            schedule: None,
            chunk: None,
            threshold: None,
        }
    }
}

/// What is said of a loop to the machine and to readers, and changes no result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// What is fetched ahead.
    pub prefetch: Vec<Prefetch>,
    /// Tensors to which vectors are stored past the caches.
    pub stream: Vec<Name>,
    /// A remark.
    pub remark: Option<Arc<str>>,
}

/// What iterations of a loop fetch of a tensor before it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefetch {
    /// The tensor.
    pub tensor: Name,
    /// How many iterations ahead.
    pub distance: i64,
    /// How many more with each iteration of the loops inside of `of`, of which the first one fetches
    /// `distance` iterations ahead.
    pub further: i64,
    /// The loop around whose iterations these are, and of which those inside fetch equal shares;
    /// `None` for the elements that the loop itself touches first. Where there is no such loop
    /// around, nothing is fetched.
    pub of: Option<Name>,
}

impl Hints {
    /// The hints with tensors renamed.
    #[must_use]
    pub fn rename_tensors(&self, rename: &dyn Fn(&Name) -> Option<Name>) -> Hints {
        let renamed = |name: &Name| rename(name).unwrap_or_else(|| name.clone());
        let prefetch = self.prefetch.iter().map(|fetch| Prefetch {
            tensor: renamed(&fetch.tensor),
            ..fetch.clone()
        });
        Hints {
            prefetch: prefetch.collect(),
            stream: self.stream.iter().map(renamed).collect(),
            remark: self.remark.clone(),
        }
    }

    /// The hints with loops renamed.
    #[must_use]
    pub fn rename_loops(&self, rename: &dyn Fn(&Name) -> Option<Name>) -> Hints {
        let mut hints = self.clone();
        for of in hints
            .prefetch
            .iter_mut()
            .filter_map(|fetch| fetch.of.as_mut())
        {
            if let Some(name) = rename(of) {
                *of = name;
            }
        }
        hints
    }

    /// Whether `text` may stand in a comment of C, in a line of its own, and is no more than that:
    /// letters, digits, spaces and punctuation, but nothing that C reads even there.
    pub fn is_remark(text: &str) -> bool {
        let plain = |c: char| c.is_alphanumeric() || c == ' ' || c.is_ascii_punctuation();
        let read = ["\\", "*/", "/*", "??"];
        text.chars().all(plain)
            && !read.iter().any(|token| text.contains(token))
            && !text.is_empty()
            && text.trim() == text
    }
}

/// Which iterations a thread gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// An equal part, decided beforehand.
    Static,
    /// The next one, whenever it is done with one.
    Dynamic,
    /// The next ones, of which there are fewer and fewer.
    Guided,
}

impl Schedule {
    /// All schedules, as scripts and C name them.
    pub const WORDS: &[&str] = &["static", "dynamic", "guided"];

    /// The schedule of that name.
    pub fn from_word(word: &str) -> Option<Schedule> {
        let all = [Schedule::Static, Schedule::Dynamic, Schedule::Guided];
        all.into_iter().find(|s| s.word() == word)
    }

    /// The name.
    pub fn word(self) -> &'static str {
        match self {
            Schedule::Static => "static",
            Schedule::Dynamic => "dynamic",
            Schedule::Guided => "guided",
        }
    }
}
