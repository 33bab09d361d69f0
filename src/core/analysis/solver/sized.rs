//! Ranges of iterators in dimensions whose extents have sizes.
//!
//! The rules are those of numbers ([`crate::analysis::shape`]). A range that follows from a size is
//! like one that the definition gives: it is affine, and each index is proved to stay inside for
//! all sizes. Of several bounds that differ by a number, the tighter one counts. Others are kept
//! side by side, as `min(M, N)`.

use super::{Given, Solver, Use, Var};
use crate::analysis::mismatch::Mismatch;
use crate::ir::{Affine, Name, Range, ceil_div};

/// The values of an iterator: from the greatest of the lower to before the least of the upper.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Ends {
    lower: Vec<Affine>,
    upper: Vec<Affine>,
}

impl Ends {
    /// The values that both allow.
    fn both(&self, other: &Ends) -> Ends {
        let all = |a: &[Affine], b: &[Affine]| a.iter().chain(b).cloned().collect();
        let range = Range {
            lower: all(&self.lower, &other.lower),
            upper: all(&self.upper, &other.upper),
            step: 1,
            within: None,
        };
        // Substitution drops bounds that differ from others by a number.
        let Range { lower, upper, .. } = range.substitute(&|_| None);
        Ends { lower, upper }
    }

    fn range(&self) -> Range {
        Range {
            lower: self.lower.clone(),
            upper: self.upper.clone(),
            step: 1,
            within: None,
        }
    }
}

impl Use {
    /// The only iterator of the index. A size is not an iterator.
    fn only_iterator(&self) -> Option<(&Name, usize, i64)> {
        let terms = self.index.terms().iter().zip(&self.vars);
        let mut own = terms.filter(|((name, _), _)| name.size().is_none());
        match (own.next(), own.next()) {
            (Some(((name, c), v)), None) => Some((name, *v, *c)),
            _ => None,
        }
    }

    /// The values x with `0 <= c*x + rest < extent` for all values of `rest` between `least` and
    /// `most`. `None` if they are not affine.
    fn ends(&self, c: i64, least: &Affine, most: &Affine) -> Option<Ends> {
        let end = self.place.extent.minus(most);
        let start = least.times(-1);
        let up = |a: &Affine| match a.as_constant() {
            Some(number) => Some(Affine::constant(ceil_div(number, c.abs()))),
            None => a.divided(c.abs()),
        };
        // The greatest number at most a / |c|, plus 1.
        let beyond = |a: &Affine| Some(up(&a.times(-1))?.times(-1).plus_constant(1));
        let (lower, upper) = if c > 0 {
            (up(&start)?, up(&end)?)
        } else {
            (beyond(&end.times(-1))?, beyond(&start.times(-1))?)
        };
        Some(Ends {
            lower: vec![lower],
            upper: vec![upper],
        })
    }
}

impl Solver {
    /// Whether a variable is a size.
    pub(super) fn is_size(&self, v: usize) -> bool {
        self.vars[v].name.size().is_some()
    }

    /// The variable of a size.
    pub(super) fn size(&self, name: &Name) -> Option<usize> {
        let is_it = |v: &Var| v.name == *name && v.name.size().is_some();
        self.vars.iter().position(is_it)
    }

    /// The values that an index allows its only iterator, which is `v`.
    fn allows(&self, u: &Use, v: usize) -> Option<Ends> {
        let (name, own, c) = u.only_iterator()?;
        if own != v {
            return None;
        }
        let rest = u.index.minus(&Affine::iterator(name.clone()).times(c));
        u.ends(c, &rest, &rest)
    }

    /// Rules 1 to 3 and 5 for iterators in dimensions with sizes.
    pub(super) fn give_sized(&mut self) -> Result<(), Mismatch> {
        for v in 0..self.vars.len() {
            let of_one = |u: &&Use| u.only_iterator().is_some_and(|(_, own, _)| own == v);
            let uses: Vec<&Use> = self.uses.iter().filter(of_one).collect();
            let is_sized = uses.iter().any(|u| u.is_sized());
            if self.is_size(v) || self.vars[v].given.is_some() || !is_sized {
                continue;
            }
            let mut found = Ends::default();
            for u in &uses {
                let Some(allowed) = self.allows(u, v) else {
                    return Err(self.not_affine(v, u));
                };
                found = found.both(&allowed);
            }
            if !self.is_open(v) {
                self.agree_on_sizes(v, &uses)?;
            }
            if !self.vars[v].free {
                self.is_whole_for_all_sizes(v, &uses, &found)?;
            }
            self.give_range(v, found.range());
        }
        Ok(())
    }

    fn not_affine(&self, v: usize, u: &Use) -> Mismatch {
        Mismatch::NotAffine {
            iterator: self.vars[v].name.clone(),
            index: u.index.clone(),
            place: u.place.clone(),
        }
    }

    fn give_range(&mut self, v: usize, range: Range) {
        let names = range.bounds().flat_map(Affine::sizes);
        let outer = names.filter_map(|name| Some((name.clone(), self.size(name)?)));
        let outer = outer.collect();
        self.vars[v].given = Some(Given { range, outer });
    }

    /// Rule 3.
    fn agree_on_sizes(&self, v: usize, uses: &[&Use]) -> Result<(), Mismatch> {
        for (k, first) in uses.iter().enumerate().filter(|(_, u)| u.whole) {
            for second in uses[k + 1..].iter().filter(|u| u.whole) {
                if first.index != second.index || first.place.extent == second.place.extent {
                    continue;
                }
                let others = uses.iter().filter(|u| u.whole && u.index != second.index);
                let limit = others.filter_map(|u| self.allows(u, v));
                let limit = limit.fold(Ends::default(), |limit, ends| limit.both(&ends));
                let left = |u: &Use| self.allows(u, v).map(|ends| limit.both(&ends));
                if left(first) != left(second) {
                    return Err(Mismatch::Extents {
                        index: second.index.clone(),
                        first: first.place.clone(),
                        second: second.place.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    /// Rule 5.
    fn is_whole_for_all_sizes(
        &self,
        v: usize,
        uses: &[&Use],
        range: &Ends,
    ) -> Result<(), Mismatch> {
        let is_alone = |u: &Use| u.index.as_iterator().is_some();
        let allows = |u: &Use| self.allows(u, v);
        if uses
            .iter()
            .any(|u| is_alone(u) && allows(u).as_ref() == Some(range))
        {
            return Ok(());
        }
        for u in uses {
            let own = uses.iter().filter(|other| other.access == u.access);
            let own = own.filter_map(|u| allows(u));
            let own = own.fold(Ends::default(), |own, ends| own.both(&ends));
            if own != *range {
                return Err(Mismatch::Omits {
                    iterator: self.vars[v].name.clone(),
                    range: range.range().to_string(),
                    index: u.index.clone(),
                    place: u.place.clone(),
                });
            }
        }
        Ok(())
    }

    /// Rule 4 for indices with sizes, one round. Returns whether an iterator got its range.
    pub(super) fn fit_sized_windows(&mut self) -> Result<bool, Mismatch> {
        let mut fitted: Vec<(usize, Ends)> = Vec::new();
        for u in self.uses.iter().filter(|u| u.is_sized()) {
            let Some(v) = self.only_open(u) else {
                continue;
            };
            let open = Affine::iterator(self.vars[v].name.clone());
            let c = u.index.coefficient(&self.vars[v].name);
            let rest = u.index.minus(&open.times(c));
            let ends = [-1, 1].map(|sign| self.extreme(u, &rest, sign));
            let ends = match ends {
                [Some(least), Some(most)] => u.ends(c, &least, &most),
                _ => None,
            };
            let Some(ends) = ends else {
                return Err(self.not_affine(v, u));
            };
            if !self.vars[v].free && !self.open {
                return Err(Mismatch::Omits {
                    iterator: self.vars[v].name.clone(),
                    range: ends.range().to_string(),
                    index: u.index.clone(),
                    place: u.place.clone(),
                });
            }
            match fitted.iter_mut().find(|(known, _)| *known == v) {
                Some((_, known)) => *known = known.both(&ends),
                None => fitted.push((v, ends)),
            }
        }
        let is_new = !fitted.is_empty();
        for (v, ends) in fitted {
            self.give_range(v, ends.range());
        }
        Ok(is_new)
    }

    /// The greatest value (`sign` 1) or the least one (`sign` -1) of a part of an index, in terms
    /// of sizes.
    fn extreme(&self, u: &Use, part: &Affine, sign: i64) -> Option<Affine> {
        let mut sum = Affine::constant(part.offset());
        for (name, c) in part.terms() {
            let term = |value: Affine| value.times(*c);
            if name.size().is_some() {
                sum = sum.plus(&term(Affine::iterator(name.clone())));
                continue;
            }
            let k = u.index.terms().iter().position(|(n, _)| n == name)?;
            let var = &self.vars[u.vars[k]];
            let range = match &var.given {
                Some(given) => given.range.clone(),
                None => Range::constant(var.low, var.high),
            };
            let ([low], [high]) = (&range.lower[..], &range.upper[..]) else {
                return None;
            };
            let value = if c * sign > 0 {
                high.plus_constant(-1)
            } else {
                low.clone()
            };
            if !value.is_fixed() {
                return None;
            }
            sum = sum.plus(&term(value));
        }
        Some(sum)
    }
}
