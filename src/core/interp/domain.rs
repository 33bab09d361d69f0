//! The domain of each iterator, computed independently of `analysis`. An iterator takes the values
//! for which no index leaves its dimension. Indices with a single iterator decide first. An
//! iterator without such an index takes the values for which its other indices stay inside, for all
//! values of the other iterators. Given ranges are taken as they are.

use super::Fault;
use crate::ir::{Affine, Domain, Expr, Index, Name, Node, Range, Tensor};
use std::collections::HashMap;
use std::iter::StepBy;
use std::ops;
use std::sync::Arc;

type Ranges = HashMap<Name, (i64, i64)>;

/// A linear form over slots.
#[derive(Clone, Debug, Default)]
pub struct Linear {
    pub(super) offset: i64,
    pub(super) strides: Vec<(usize, i64)>,
}

impl Linear {
    pub(super) fn at(&self, slots: &[i64]) -> i64 {
        let terms = self.strides.iter();
        terms.fold(self.offset, |sum, (slot, s)| sum + slots[*slot] * s)
    }
}

/// A bound that is read from a tensor.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub(super) entries: Arc<[i64]>,
    /// The index of each dimension, and its extent.
    pub(super) index: Vec<(Linear, i64)>,
    pub(super) plus: Linear,
}

impl Read {
    /// The bound. `None` if its index leaves the tensor, which proofs exclude.
    fn at(&self, slots: &[i64]) -> Option<i64> {
        let mut flat = 0;
        for (index, extent) in &self.index {
            let value = index.at(slots);
            if !(0..*extent).contains(&value) {
                return None;
            }
            flat = flat * extent + value;
        }
        let entry = self.entries.get(usize::try_from(flat).ok()?)?;
        Some(entry + self.plus.at(slots))
    }
}

/// The values of an iterator: from the greatest of `lower` to before the least of `upper`.
#[derive(Clone, Debug)]
pub struct Span {
    pub(super) lower: Vec<Linear>,
    pub(super) upper: Vec<Linear>,
    pub(super) step: i64,
    /// A lower and an upper bound that are read.
    pub(super) within: Option<[Read; 2]>,
    /// A half-open range around all values, for any values of other iterators.
    pub(super) around: (i64, i64),
}

impl Span {
    pub(super) fn whole((low, high): (i64, i64)) -> Span {
        let number = |offset| Linear {
            offset,
            strides: Vec::new(),
        };
        Span {
            lower: vec![number(low)],
            upper: vec![number(high)],
            step: 1,
            within: None,
            around: (low, high),
        }
    }

    /// The values. `slots` has the values of outer iterators.
    pub fn values(&self, slots: &[i64]) -> StepBy<ops::Range<i64>> {
        let (low, high) = self.ends(slots);
        (low..high).step_by(usize::try_from(self.step).unwrap_or(1))
    }

    /// Whether it has a value.
    pub(super) fn has(&self, slots: &[i64], value: i64) -> bool {
        let (low, high) = self.ends(slots);
        (low..high).contains(&value) && (value - low) % self.step == 0
    }

    /// The value at `fraction` of the way through all values, with `fraction` in 0..1.
    pub fn value(&self, slots: &[i64], fraction: f64) -> Option<i64> {
        let (low, high) = self.ends(slots);
        let values = (high - low).max(0).unsigned_abs();
        let values = values.div_ceil(self.step.unsigned_abs());
        let at = (fraction * values as f64) as i64;
        (values > 0).then(|| low + at * self.step)
    }

    /// The first value, and an exclusive upper bound of all values.
    pub(super) fn ends(&self, slots: &[i64]) -> (i64, i64) {
        let low = self.lower.iter().map(|l| l.at(slots)).max().unwrap_or(0);
        let high = self.upper.iter().map(|l| l.at(slots)).min().unwrap_or(0);
        match &self.within {
            None => (low, high),
            Some([first, end]) => match (first.at(slots), end.at(slots)) {
                (Some(first), Some(end)) => (low.max(first), high.min(end)),
                _ => (low, low),
            },
        }
    }

    /// The greatest number of values.
    pub(super) fn most(&self) -> f64 {
        let (low, high) = self.around;
        ((high - low) as f64 / self.step as f64).ceil()
    }
}

pub(super) struct Domains(Ranges);

impl Domains {
    /// The domains of the free iterators.
    pub(super) fn of(expr: &Expr) -> Result<Domains, Fault> {
        let none = Domain::default();
        let within = match expr.node() {
            Node::Assign { within, .. } => within,
            _ => &none,
        };
        Domains::under(expr, &expr.iterators(), within, &[])
    }

    /// The domains of the iterators `wanted`, which are free in `expr`, inside others with the
    /// ranges `scope`, innermost last. `within` gives ranges to some of them.
    pub(super) fn under(
        expr: &Expr,
        wanted: &[Name],
        within: &Domain,
        scope: &[(Name, (i64, i64))],
    ) -> Result<Domains, Fault> {
        let around: Ranges = scope.iter().cloned().collect();
        let mut found = HashMap::new();
        let inferred: Vec<Name> = wanted
            .iter()
            .filter(|n| within.get(n).is_none())
            .cloned()
            .collect();
        narrow(expr, &inferred, &Ranges::new(), &mut found);
        for lookup in within.lookups() {
            let at = (&lookup.tensor, &lookup.index[..]);
            narrow_by(at, &inferred, &Ranges::new(), &mut found);
        }
        while found.len() < wanted.len() {
            let mut known = around.clone();
            known.retain(|name, _| !wanted.contains(name));
            known.extend(found.clone());
            let open: Vec<Name> = wanted
                .iter()
                .filter(|n| !found.contains_key(*n))
                .cloned()
                .collect();
            let mut fitted = HashMap::new();
            for name in &open {
                let range = within.get(name);
                if let Some(around) = range.and_then(|range| around_of(range, &known)) {
                    fitted.insert(name.clone(), around);
                }
            }
            if fitted.is_empty() {
                let inferred = open.iter().filter(|n| within.get(n).is_none());
                let inferred: Vec<Name> = inferred.cloned().collect();
                narrow(expr, &inferred, &known, &mut fitted);
                for lookup in within.lookups() {
                    let at = (&lookup.tensor, &lookup.index[..]);
                    narrow_by(at, &inferred, &known, &mut fitted);
                }
            }
            if fitted.is_empty() {
                return Err(Fault::Meaningless(open[0].to_string()));
            }
            found.extend(fitted);
        }
        Ok(Domains(found))
    }

    pub(super) fn get(&self, name: &Name) -> (i64, i64) {
        self.0.get(name).copied().unwrap_or((0, 0))
    }
}

/// Narrows each wanted iterator by the indices in which it is the only unknown.
fn narrow(expr: &Expr, wanted: &[Name], known: &Ranges, found: &mut Ranges) {
    match expr.node() {
        Node::Access {
            tensor,
            index: Index::At(index),
        } => return narrow_by((tensor, index), wanted, known, found),
        Node::Assign { within, .. } => {
            for lookup in within.lookups() {
                narrow_by((&lookup.tensor, &lookup.index), wanted, known, found);
            }
        }
        Node::Reduce {
            over, within, body, ..
        } => {
            let mut wanted = wanted.to_vec();
            wanted.retain(|n| !over.contains(n));
            let mut known = known.clone();
            let scope: Vec<_> = known.clone().into_iter().collect();
            for name in over {
                known.remove(name);
            }
            if let Ok(Domains(own)) = Domains::under(body, over, within, &scope) {
                known.extend(own);
            }
            for lookup in within.lookups() {
                narrow_by((&lookup.tensor, &lookup.index), &wanted, &known, found);
            }
            narrow(body, &wanted, &known, found);
            return;
        }
        _ => {}
    }
    for child in expr.children() {
        narrow(child, wanted, known, found);
    }
}

/// Narrows the only unknown iterator of each index by its dimension.
fn narrow_by(
    (tensor, index): (&Tensor, &[Affine]),
    wanted: &[Name],
    known: &Ranges,
    found: &mut Ranges,
) {
    for (index, &extent) in index.iter().zip(tensor.shape().extents()) {
        let mut open = index.terms().iter().filter(|(n, _)| !known.contains_key(n));
        let (Some((name, c)), None) = (open.next(), open.next()) else {
            continue;
        };
        if wanted.contains(name) {
            let inside = values_inside(index, (name, *c), known, extent);
            let range = found.entry(name.clone()).or_insert(inside);
            *range = (range.0.max(inside.0), range.1.min(inside.1));
        }
    }
}

/// The box around a given range, if the boxes of the iterators in its bounds are known.
fn around_of(range: &Range, known: &Ranges) -> Option<(i64, i64)> {
    let interval = |bound: &Affine| {
        bound
            .terms()
            .iter()
            .try_fold((bound.offset(), bound.offset()), |(low, high), (n, c)| {
                let (first, end) = known.get(n)?;
                let ends = (c * first, c * (end - 1));
                Some((low + ends.0.min(ends.1), high + ends.0.max(ends.1)))
            })
    };
    let low: Option<Vec<i64>> = range.lower.iter().map(|b| Some(interval(b)?.0)).collect();
    let high: Option<Vec<i64>> = range.upper.iter().map(|b| Some(interval(b)?.1)).collect();
    let low = low?.into_iter().max()?;
    Some((low, high?.into_iter().min()?.max(low)))
}

/// The values of an iterator for which `index` lies in 0..extent, computed from the end points.
fn values_inside(
    index: &Affine,
    (name, c): (&Name, i64),
    known: &Ranges,
    extent: u64,
) -> (i64, i64) {
    let last = i64::try_from(extent).unwrap_or(0) - 1;
    let (mut low, mut high) = (index.offset(), index.offset());
    for (other, c) in index.terms().iter().filter(|(n, _)| n != name) {
        let (first, end) = known.get(other).copied().unwrap_or((0, 1));
        low += (c * first).min(c * (end - 1));
        high += (c * first).max(c * (end - 1));
    }
    if -low > last - high {
        return (0, 0);
    }
    let solve = |value: i64| value as f64 / c as f64;
    let (a, b) = (solve(-low), solve(last - high));
    (a.min(b).ceil() as i64, a.max(b).floor() as i64 + 1)
}
