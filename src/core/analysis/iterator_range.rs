//! The values of an iterator.

use crate::ir::{Affine, Digit, Name, Range};

/// The half-open range of an iterator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IteratorRange {
    /// The iterator.
    pub name: Name,
    /// The first value.
    pub low: i64,
    /// One past the last value.
    pub high: i64,
    /// The least extent among the dimensions that the iterator indexes alone, if there are any.
    pub alone: Option<u64>,
    /// The range that the definition gives. `low` and `high` are then a box around it.
    pub given: Option<Range>,
}

impl IteratorRange {
    /// All values of an iterator that is alone in a dimension of this extent.
    pub fn of_dim(name: Name, extent: Affine) -> IteratorRange {
        let most = extent.ends().map_or(i64::MAX, |(_, most)| most.max(0));
        let is_number = extent.as_constant().is_some();
        let given = Range::between(Affine::constant(0), extent);
        IteratorRange {
            name,
            low: 0,
            high: most,
            alone: is_number.then(|| most.unsigned_abs()),
            given: (!is_number).then_some(given),
        }
    }

    /// The range for a loop.
    pub fn range(&self) -> Range {
        let whole = || Range::constant(self.low, self.high);
        self.given.clone().unwrap_or_else(whole)
    }

    /// The same without bounds that are read: more values.
    #[must_use]
    pub fn affine(&self) -> IteratorRange {
        IteratorRange {
            given: self.given.as_ref().map(Range::affine),
            ..self.clone()
        }
    }

    /// Whether nothing says which values it takes.
    pub fn is_unknown(&self) -> bool {
        self.low >= self.high && self.alone.is_none() && self.given.is_none()
    }

    /// The range of the iterator that this is a digit of, as far as the digit tells, or itself.
    pub(super) fn of_base(self) -> IteratorRange {
        let Some(digit) = Digit::named(&self.name) else {
            return self;
        };
        let (low, high) = match digit.modulus {
            None => {
                let first = |value: i64| value.saturating_mul(digit.divisor) - digit.offset;
                (first(self.low), first(self.high))
            }
            Some(_) => (0, 0),
        };
        IteratorRange {
            name: digit.of,
            low,
            high,
            alone: None,
            given: None,
        }
    }

    /// Leaves the values that another range of the iterator allows as well.
    pub(super) fn narrow(&mut self, other: &IteratorRange) {
        if self.is_unknown() {
            *self = other.clone();
        } else if !other.is_unknown() {
            self.low = self.low.max(other.low);
            self.high = self.high.min(other.high).max(self.low);
            self.alone = self.alone.or(other.alone);
        }
    }

    /// Whether it takes all values from `low` to before `high`.
    pub fn is_whole(&self) -> bool {
        let given = self.given.as_ref();
        given.is_none_or(|range| range.step == 1 && range.as_constant().is_some())
    }

    /// The number of values, if it does not depend on other iterators.
    pub fn count(&self) -> Option<u64> {
        let Some(range) = &self.given else {
            return Some(self.extent());
        };
        let (low, high) = range.as_constant()?;
        let values = high.saturating_sub(low).max(0).unsigned_abs();
        Some(values.div_ceil(range.step.unsigned_abs()))
    }

    /// The number of its values, in terms of sizes. A range may have bounds with iterators, or
    /// several bounds that sizes leave open. Then the box around it counts.
    pub fn dim(&self) -> Affine {
        let sized = self.given.as_ref().filter(|range| {
            let mut sizes = range.bounds().flat_map(Affine::sizes);
            sizes.next().is_some()
        });
        match sized.map(|range| (&range.lower[..], &range.upper[..])) {
            Some(([low], [high])) if low.is_fixed() && high.is_fixed() => high.minus(low),
            _ => Affine::constant(i64::try_from(self.extent()).unwrap_or(i64::MAX)),
        }
    }

    /// The number of values in the box.
    pub fn extent(&self) -> u64 {
        (self.high - self.low).unsigned_abs()
    }
}

/// The greatest value (`sign` 1) or the least one (`sign` -1) of an index, in terms of sizes.
/// `None` if several bounds leave it open.
pub fn extreme(index: &Affine, ranges: &[IteratorRange], sign: i64) -> Option<Affine> {
    let mut index = index.clone();
    // Each bound has iterators further out only.
    for _ in 0..=ranges.len() {
        let Some(name) = index.iterators().next().cloned() else {
            return Some(index);
        };
        let range = ranges.iter().find(|r| r.name == name)?.range();
        let ([low], [high]) = (&range.lower[..], &range.upper[..]) else {
            return None;
        };
        let value = if index.coefficient(&name) * sign > 0 {
            high.plus_constant(-1)
        } else {
            low.clone()
        };
        index = index.substitute(&|other| (*other == name).then(|| value.clone()));
    }
    None
}
