//! Given ranges: boxes around them, and whether indices stay inside in all of their iterations.

use super::{Form, Given, Solver, Span, Stays, Use, stays};
use crate::analysis::mismatch::Mismatch;
use crate::ir::{Affine, Name};

impl Solver {
    /// Computes the boxes around given ranges with known bounds. Returns whether there is a new
    /// one.
    pub(super) fn enclose(&mut self) -> bool {
        let mut found = Vec::new();
        for (v, var) in self.vars.iter().enumerate() {
            let Some(given) = var.given.as_ref().filter(|_| !var.bounded) else {
                continue;
            };
            let is_known = |v: usize| self.vars[v].bounded;
            if given.outer.iter().all(|(_, outer)| is_known(*outer)) {
                found.push((v, self.enclosing(given)));
            }
        }
        for (v, (low, high)) in &found {
            let var = &mut self.vars[*v];
            (var.low, var.high, var.bounded) = (*low, (*low).max(*high), true);
        }
        !found.is_empty()
    }

    fn enclosing(&self, given: &Given) -> (i64, i64) {
        let mut empty = false;
        for (_, outer) in &given.outer {
            empty |= self.vars[*outer].low >= self.vars[*outer].high;
        }
        let bounds = |name: &Name| {
            let (_, outer) = given.outer.iter().find(|(n, _)| n == name)?;
            let var = &self.vars[*outer];
            Some((var.low, var.high - 1))
        };
        let low = given.range.lower.iter().filter_map(|b| b.interval(&bounds));
        let high = given.range.upper.iter().filter_map(|b| b.interval(&bounds));
        let low = low.map(|(least, _)| least).max().unwrap_or(0);
        if empty {
            (low, low)
        } else {
            (low, high.map(|(_, most)| most).min().unwrap_or(low))
        }
    }

    /// Checks that all iterators of an assignment have values.
    pub(super) fn have_values(&mut self) -> Result<(), Mismatch> {
        for v in 0..self.vars.len() {
            let var = &self.vars[v];
            if var.bounded {
                continue;
            }
            let iterator = var.name.clone();
            let is_used = self.uses.iter().any(|u| u.vars.contains(&v));
            match (&var.given, self.complete) {
                (Some(_), true) if self.waits_for_itself(v) => {
                    return Err(Mismatch::Circle { iterator });
                }
                (None, true) if !is_used => return Err(Mismatch::Unlimited { iterator }),
                // Its range comes with the assignment.
                (_, false) if self.open || !is_used || self.has_given() => {
                    let var = &mut self.vars[v];
                    (var.low, var.high, var.bounded) = (0, 0, true);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn has_given(&self) -> bool {
        self.vars.iter().any(|v| v.given.is_some())
    }

    fn waits_for_itself(&self, v: usize) -> bool {
        let mut seen = vec![v];
        let mut next = 0;
        while let Some(&at) = seen.get(next) {
            for (_, outer) in self.vars[at].given.iter().flat_map(|g| &g.outer) {
                if *outer == v {
                    return true;
                }
                if !seen.contains(outer) {
                    seen.push(*outer);
                }
            }
            next += 1;
        }
        false
    }

    /// Whether an iterator around an index has a given range.
    pub(super) fn depends_on_given(&self, u: &Use) -> bool {
        u.is_sized() || self.around(u).any(|v| self.vars[v].given.is_some())
    }

    /// The iterators of the loops around an index.
    fn around<'s>(&'s self, u: &'s Use) -> impl Iterator<Item = usize> + 's {
        let free = (0..self.vars.len()).filter(|v| self.vars[*v].free || self.is_size(*v));
        free.chain(u.scope.iter().copied())
    }

    /// Checks that an index stays inside in each iteration. While ranges are missing, every index
    /// passes.
    pub(super) fn stays_inside_given(&self, u: &Use) -> Result<(), Mismatch> {
        if !self.complete {
            return Ok(());
        }
        let mut counts: Vec<usize> = u.vars.clone();
        counts.extend(u.place.extent.sizes().filter_map(|name| self.size(name)));
        counts.extend(self.around(u).filter(|v| self.may_be_empty(*v)));
        let mut next = 0;
        while let Some(&v) = counts.get(next) {
            let outer = self.vars[v].given.iter().flat_map(|g| &g.outer);
            let new: Vec<usize> = outer.map(|(_, v)| *v).collect();
            counts.extend(
                new.into_iter()
                    .filter(|v| !counts.contains(v))
                    .collect::<Vec<_>>(),
            );
            next += 1;
        }
        let mut open: Vec<usize> = self.around(u).filter(|v| counts.contains(v)).collect();
        let mut loops: Vec<(usize, Span)> = Vec::with_capacity(open.len());
        while !open.is_empty() {
            let waits = |v: &usize| {
                let outer = self.vars[*v].given.iter().flat_map(|g| &g.outer);
                outer.into_iter().any(|(_, outer)| open.contains(outer))
            };
            let Some(at) = open.iter().position(|v| !waits(v)) else {
                let iterator = self.vars[open[0]].name.clone();
                return Err(Mismatch::Circle { iterator });
            };
            let v = open.remove(at);
            loops.push((v, self.span(v)));
        }
        let number = |name: &Name| {
            let k = u.index.terms().iter().position(|(n, _)| n == name);
            k.map_or_else(|| self.size(name), |k| Some(u.vars[k]))
        };
        let (index, place) = (u.index.clone(), u.place.clone());
        let extent = form(&place.extent, &number);
        match stays(&form(&u.index, &number), &extent, &loops, &[]) {
            Stays::Inside => Ok(()),
            Stays::Open => Err(Mismatch::Unclear { index, place }),
            Stays::Leaves(value, values) => {
                let names = loops.iter().map(|(v, _)| self.vars[*v].name.clone());
                let at = names.zip(values).collect();
                Err(Mismatch::Leaves {
                    index,
                    value,
                    at,
                    place,
                })
            }
        }
    }

    fn may_be_empty(&self, v: usize) -> bool {
        let var = &self.vars[v];
        let depends = var.given.as_ref().is_some_and(|g| !g.outer.is_empty());
        depends || var.low >= var.high
    }

    fn span(&self, v: usize) -> Span {
        let var = &self.vars[v];
        match &var.given {
            None => Span {
                lower: vec![number(var.low)],
                upper: vec![number(var.high)],
                step: 1,
            },
            Some(given) => {
                let outer = |name: &Name| {
                    let found = given.outer.iter().find(|(n, _)| n == name);
                    found.map(|(_, v)| *v)
                };
                let forms = |bounds: &[Affine]| bounds.iter().map(|b| form(b, &outer)).collect();
                Span {
                    lower: forms(&given.range.lower),
                    upper: forms(&given.range.upper),
                    step: given.range.step,
                }
            }
        }
    }
}

fn number(offset: i64) -> Form {
    let terms = Vec::new();
    Form { offset, terms }
}

fn form(affine: &Affine, variable: &dyn Fn(&Name) -> Option<usize>) -> Form {
    let terms = affine.terms().iter();
    let terms = terms.filter_map(|(name, c)| Some((variable(name)?, *c)));
    Form {
        offset: affine.offset(),
        terms: terms.collect(),
    }
}
