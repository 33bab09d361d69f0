//! The range of a loop, how threads share it, and its hints.
//!
//! Properties of a loop beside its range belong to its iterations. `stripmine` gives sharing to the
//! loop over blocks, and the rest to the inner loop. Hints change no result. Only two refusals
//! depend on them: a vector loop that prefetches, and the fusion of loops whose hints differ.

use super::affine::Affine;
use super::name::Name;
use super::segment::{Lookup, Segment};
use super::tensor::Tensor;
use std::sync::Arc;

/// Lower bound, upper bound and step: (lb, ub, st) of TeML §3.1, the upper bound exclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// The iterator starts at the greatest of these. Never empty.
    pub lower: Vec<Affine>,
    /// The iterator stays below the least of these. Never empty.
    pub upper: Vec<Affine>,
    /// At least 1.
    pub step: i64,
    /// Bounds that are read from tensors, within the others. The step is 1 then: the bounds that are
    /// read have one of their own.
    pub within: Option<Segment>,
}

impl Range {
    /// `lower..upper` with step 1.
    pub fn constant(lower: i64, upper: i64) -> Range {
        Range::between(Affine::constant(lower), Affine::constant(upper))
    }

    /// `lower..upper` with step 1.
    pub fn between(lower: Affine, upper: Affine) -> Range {
        Range {
            lower: vec![lower],
            upper: vec![upper],
            step: 1,
            within: None,
        }
    }

    /// The bounds, if no outer iterator occurs in them.
    pub fn as_constant(&self) -> Option<(i64, i64)> {
        if self.within.is_some() {
            return None;
        }
        let value = |bounds: &[Affine]| -> Option<Vec<i64>> {
            bounds.iter().map(Affine::as_constant).collect()
        };
        let lower = value(&self.lower)?.into_iter().max()?;
        let upper = value(&self.upper)?.into_iter().min()?;
        Some((lower, upper))
    }

    /// The first value, and one past the last, at the likely sizes. `None` if a bound has iterators.
    pub fn likely(&self) -> Option<(i64, i64)> {
        let value =
            |bounds: &[Affine]| -> Option<Vec<i64>> { bounds.iter().map(Affine::likely).collect() };
        let lower = value(&self.lower)?.into_iter().max()?;
        let upper = value(&self.upper)?.into_iter().min()?;
        Some((lower, upper))
    }

    /// Whether the range is empty, whatever the iterators in the bounds are.
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
        let mut segments = self.within.iter();
        self.bounds().any(|b| b.mentions(name)) || segments.any(|s| s.mentions(name))
    }

    /// The iterators in the bounds, as often as they occur.
    pub fn iterators(&self) -> impl Iterator<Item = &Name> {
        let read = self.within.iter().flat_map(Segment::parts);
        self.bounds().chain(read).flat_map(Affine::iterators)
    }

    /// The range with the tensors that it reads replaced.
    #[must_use]
    pub fn map_tensors(&self, map: &dyn Fn(&Tensor) -> Tensor) -> Range {
        Range {
            within: self.within.as_ref().map(|s| s.map_tensors(map)),
            ..self.clone()
        }
    }

    /// The entry that is the only value, if there is one.
    pub fn single(&self) -> Option<&Lookup> {
        self.within.as_ref().and_then(Segment::as_single)
    }

    /// The range of the values between bounds that are read. `None` if nothing is known of the
    /// entries.
    pub fn of_segment(segment: &Segment) -> Option<Range> {
        Some(Range {
            within: Some(segment.clone()),
            ..Range::between(segment.low()?, segment.high()?)
        })
    }

    /// The part of a row from the greatest of `lower` to before the least of `upper` and of an entry
    /// that is read. `None` if nothing is known of the entries.
    pub fn of_part(lower: Vec<Affine>, upper: Vec<Affine>, end: &Lookup) -> Option<Range> {
        let segment = Segment {
            lower: None,
            upper: end.clone(),
            step: 1,
        };
        let high = segment.high()?;
        let upper = upper.into_iter().filter(|bound| *bound != high);
        let upper = upper.chain([high.clone()]).collect();
        Some(Range {
            lower,
            upper,
            step: 1,
            within: Some(segment),
        })
    }

    /// Whether it is a part of a row that is read.
    pub fn is_part(&self) -> bool {
        self.within.as_ref().is_some_and(|s| s.lower.is_none())
    }

    /// The affine upper bounds that do not follow from the entries that are read.
    pub fn own_upper(&self) -> impl Iterator<Item = &Affine> {
        let high = self.within.as_ref().and_then(Segment::high);
        self.upper
            .iter()
            .filter(move |bound| Some(*bound) != high.as_ref())
    }

    /// The step between values.
    pub fn stride(&self) -> i64 {
        self.within
            .as_ref()
            .map_or(self.step, |segment| segment.step)
    }

    /// The lower bounds, with an entry that is read in place of what follows from it.
    pub fn written_lower(&self) -> Vec<Affine> {
        let read = self.within.as_ref().and_then(|s| s.lower.as_ref());
        read.map_or_else(|| self.lower.clone(), |lower| vec![lower.as_index()])
    }

    /// The upper bounds, with an entry that is read in place of what follows from it.
    pub fn written_upper(&self) -> Vec<Affine> {
        match &self.within {
            None => self.upper.clone(),
            Some(segment) if segment.lower.is_some() => vec![segment.upper.as_index()],
            Some(segment) => self
                .own_upper()
                .cloned()
                .chain([segment.upper.as_index()])
                .collect(),
        }
    }

    /// The range with these bounds, some of which may be entries. `Err` with the tensor if nothing is
    /// known of its entries.
    ///
    /// # Errors
    /// The label of that tensor.
    pub fn written(lower: Vec<Affine>, upper: Vec<Affine>, step: i64) -> Result<Range, String> {
        let ends = (&lower[..], upper.iter().filter_map(Lookup::of).next());
        let range = match ends {
            (_, None) => {
                return Ok(Range {
                    lower,
                    upper,
                    step,
                    within: None,
                });
            }
            ([first], Some(end)) if let Some(first) = Lookup::of(first) => {
                let unknown = [&first, &end].map(|lookup| lookup.tensor.clone());
                let of = Segment {
                    step,
                    ..Segment::between(first, end)
                };
                (Range::of_segment(&of), unknown.to_vec())
            }
            (_, Some(end)) => {
                let own = upper.iter().filter(|bound| Lookup::of(bound).is_none());
                let range = Range::of_part(lower.clone(), own.cloned().collect(), &end);
                (range, vec![end.tensor.clone()])
            }
        };
        let (range, read) = range;
        let unknown = read.iter().find(|tensor| tensor.entries().is_none());
        range.ok_or_else(|| unknown.map_or("", Tensor::label).to_owned())
    }

    /// The range without the bounds that it reads: more iterations.
    #[must_use]
    pub fn affine(&self) -> Range {
        Range {
            within: None,
            ..self.clone()
        }
    }

    /// The lower and the upper bounds.
    pub fn bounds(&self) -> impl Iterator<Item = &Affine> {
        self.lower.iter().chain(&self.upper)
    }

    /// A range of `extent` values from `lower` on.
    pub fn of_extent(lower: &Affine, extent: i64) -> Range {
        Range::between(lower.clone(), lower.plus_constant(extent))
    }

    /// Drops constant bounds that another bound implies. `interval` gives the least and the
    /// greatest value of a bound.
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
            ..self.clone()
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
            within: self.within.as_ref().map(|s| Segment {
                lower: s.lower.as_ref().map(|lower| lower.plus(by)),
                upper: s.upper.plus(by),
                step: s.step,
            }),
        }
    }

    /// The range with iterators in its bounds replaced. If bounds differ only by a constant, the
    /// tightest one is kept.
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
            within: self.within.as_ref().map(|s| s.map(&|a| a.substitute(map))),
        }
    }
}

/// Notes on a loop for the machine and for readers, without effect on results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// The tensors to prefetch.
    pub prefetch: Vec<Prefetch>,
    /// Tensors with nontemporal vector stores, which bypass the caches.
    pub stream: Vec<Name>,
    /// A comment for readers.
    pub remark: Option<Arc<str>>,
}

/// A prefetch of a tensor by the iterations of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefetch {
    pub tensor: Name,
    /// The prefetch distance, in iterations.
    pub distance: i64,
    /// Inner iteration n of `of` prefetches `distance` + n * `further` iterations ahead.
    pub further: i64,
    /// The outer loop whose iterations are counted. Its inner iterations prefetch equal shares.
    /// `None` prefetches the elements that the loop itself touches first. If the named loop is
    /// gone, nothing is prefetched.
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

    /// Whether `text` fits on one line: letters, digits, spaces and punctuation.
    pub fn is_remark(text: &str) -> bool {
        let fits = |c: char| c.is_alphanumeric() || c == ' ' || c.is_ascii_punctuation();
        text.chars().all(fits) && !text.is_empty() && text.trim() == text
    }
}
