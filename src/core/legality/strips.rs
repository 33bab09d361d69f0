//! Loops over strips, merged with the loops inside.
//!
//! ```text
//! for i_o in 0..N_p7_8                       for i in 0..min(8*N_p7_8, N)
//!   for i in 8*i_o..min(8*i_o + 8, N)
//! ```
//!
//! Both run the same values of `i`. Where `i_o` has no other use, sets of these values need no
//! quotient, which makes questions about them many times cheaper.

use crate::ir::{Affine, Loop, Name, Range};
use std::borrow::Cow;

/// The ranges of loops; `None` for a loop over strips that is merged. `is_used` tells which iterators
/// have other uses.
pub(super) fn without_strips<'a>(
    loops: &[&'a Loop],
    is_used: &dyn Fn(&Name) -> bool,
) -> Vec<Option<Cow<'a, Range>>> {
    let all = loops.iter().map(|l| Some(Cow::Borrowed(&l.range)));
    let mut ranges: Vec<Option<Cow<Range>>> = all.collect();
    for (k, l) in loops.iter().enumerate().rev() {
        let mentions =
            |range: &Option<Cow<Range>>| range.as_ref().is_some_and(|r| r.mentions(&l.name));
        let mut inside = (0..ranges.len()).filter(|m| mentions(&ranges[*m]));
        let (Some(m), None, false) = (inside.next(), inside.next(), is_used(&l.name)) else {
            continue;
        };
        let both = ranges[k].as_deref().zip(ranges[m].as_deref());
        if let Some(range) = both.and_then(|(strips, range)| merged(&l.name, strips, range)) {
            ranges[m] = Some(Cow::Owned(range));
            ranges[k] = None;
        }
    }
    ranges
}

/// The values that `range` has in all strips, if they follow each other. `strip` is the iterator over
/// `strips`.
fn merged(strip: &Name, strips: &Range, range: &Range) -> Option<Range> {
    let is_plain = |r: &Range| r.step == 1 && r.within.is_none();
    if !is_plain(strips) || !is_plain(range) {
        return None;
    }
    let only = |bounds: &[Affine]| -> Option<usize> {
        let mut all = (0..bounds.len()).filter(|k| bounds[*k].mentions(strip));
        all.next().filter(|_| all.next().is_none())
    };
    let (low, high) = (only(&range.lower)?, only(&range.upper)?);
    let begin = &range.lower[low];
    let length = begin.coefficient(strip);
    if length < 1 || range.upper[high] != begin.plus_constant(length) {
        return None;
    }
    let at = |bounds: &[Affine], which: usize, ends: &[Affine]| -> Option<Vec<Affine>> {
        let others = bounds.iter().enumerate().filter(|(k, _)| *k != which);
        let ends = ends
            .iter()
            .map(|end| begin.substitute(&|name| (name == strip).then(|| end.clone())));
        let all: Vec<Affine> = others.map(|(_, b)| b.clone()).chain(ends).collect();
        all.iter().all(Affine::is_in_limits).then_some(all)
    };
    Some(Range {
        lower: at(&range.lower, low, &strips.lower)?,
        upper: at(&range.upper, high, &strips.upper)?,
        ..range.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn it(name: &str) -> Affine {
        Affine::iterator(Name::new(name).unwrap())
    }

    fn run(name: &str, lower: Affine, upper: Vec<Affine>) -> Loop {
        let range = Range {
            upper,
            ..Range::between(lower, Affine::constant(0))
        };
        Loop::serial(Name::new(name).unwrap(), range, Vec::new())
    }

    /// The values of the last iterator.
    fn values(ranges: &[Option<Cow<Range>>], names: &[&str], known: &[(&str, i64)]) -> Vec<i64> {
        let Some((range, others)) = ranges.split_first() else {
            return known.last().map(|(_, value)| *value).into_iter().collect();
        };
        let Some(range) = range else {
            return values(others, &names[1..], known);
        };
        let at = |a: &Affine| {
            let point = |name: &Name| {
                let mut known = known.iter();
                known
                    .find(|(n, _)| name.as_str() == *n)
                    .map(|(_, value)| *value)
            };
            a.evaluate(&point).unwrap()
        };
        let low = range.lower.iter().map(at).max().unwrap();
        let high = range.upper.iter().map(at).min().unwrap();
        let each = (low..high).flat_map(|x| {
            let known = [known, &[(names[0], x)]].concat();
            values(others, &names[1..], &known)
        });
        each.collect()
    }

    #[test]
    fn merged_loops_run_the_same_values() {
        let names = ["a", "b", "i"];
        for n in 0..40 {
            let blocks = run(
                "a",
                Affine::constant(0),
                vec![Affine::constant((n + 11) / 12)],
            );
            let strips = run(
                "b",
                it("a").times(3),
                vec![it("a").times(3).plus_constant(3)],
            );
            let end = it("b").times(4).plus_constant(6);
            let each = run(
                "i",
                it("b").times(4).plus_constant(2),
                vec![end, Affine::constant(n)],
            );
            let loops = [&blocks, &strips, &each];
            let all: Vec<_> = loops
                .iter()
                .map(|l| Some(Cow::Borrowed(&l.range)))
                .collect();
            let merged = without_strips(&loops, &|_| false);
            assert!(merged[0].is_none() && merged[1].is_none());
            assert_eq!(values(&merged, &names, &[]), values(&all, &names, &[]));
        }
    }

    #[test]
    fn other_uses_and_gaps_keep_the_loop() {
        let strips = run("a", Affine::constant(0), vec![Affine::constant(4)]);
        let gaps = run(
            "i",
            it("a").times(8),
            vec![it("a").times(8).plus_constant(7)],
        );
        let each = run(
            "i",
            it("a").times(8),
            vec![it("a").times(8).plus_constant(8)],
        );
        let is_kept = |inner: &Loop, used: bool| {
            without_strips(&[&strips, inner], &|name| used && name.as_str() == "a")[0].is_some()
        };
        assert!(is_kept(&gaps, false));
        assert!(is_kept(&each, true));
        assert!(!is_kept(&each, false));
    }
}
