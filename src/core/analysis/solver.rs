//! Solves for the ranges of iterators, by the rules in the header of [`super::shape`].

mod given;
mod sized;

use super::inside::{Form, Span, Stays, stays};
use super::iterator_range::IteratorRange;
use super::mismatch::{Allowed, Dimension, Mismatch};
use crate::ir::{Affine, Domain, Expr, Index, Name, Node, Range, Segment, Tensor, ceil_div};
use std::collections::{BTreeMap, HashMap};

/// The iterators of an expression and their indices.
#[derive(Default)]
pub struct Solver {
    vars: Vec<Var>,
    uses: Vec<Use>,
    accesses: usize,
    /// The number of uses that belong to the target. They come first.
    of_target: usize,
    /// Whether no further ranges can be given, as in an assignment.
    complete: bool,
    /// Whether free iterators may still get ranges, so that errors about them are deferred.
    open: bool,
    /// The free iterators in their order, if it is not the one in which they are found.
    order: Vec<Name>,
}

struct Var {
    name: Name,
    /// Whether it is free in the whole expression, not bound by a reduction.
    free: bool,
    bounded: bool,
    /// The values allowed so far, from `low` to before `high`.
    low: i64,
    high: i64,
    /// The window that determined its range by excluding some values.
    window: Option<usize>,
    given: Option<Given>,
}

/// The range that the definition gives to an iterator.
struct Given {
    range: Range,
    /// The iterators in its bounds.
    outer: Vec<(Name, usize)>,
}

/// An index of a dimension. Its iterators are positions in `Solver::vars`.
struct Use {
    index: Affine,
    vars: Vec<usize>,
    place: Dimension,
    /// The access that it belongs to.
    access: usize,
    /// Whether its iterator takes all values that it allows, if nothing else narrows it.
    whole: bool,
    /// The iterators of the reductions around it, outermost first.
    scope: Vec<usize>,
}

/// Whether bounds in an expression are read from tensors.
fn reads_bounds(expr: &Expr) -> bool {
    let own = match expr.node() {
        Node::Reduce { within, .. } | Node::Assign { within, .. } => {
            within.lookups().next().is_some()
        }
        _ => false,
    };
    own || expr.children().into_iter().any(reads_bounds)
}

const UNBOUNDED: (i64, i64) = (i64::MIN / 4, i64::MAX / 4);

impl Solver {
    /// The solver for an expression.
    pub fn of(expr: &Expr) -> Solver {
        let mut solver = Solver {
            of_target: 0,
            complete: expr.is_assignment(),
            ..Solver::default()
        };
        solver.collect(expr, &mut Vec::new());
        if reads_bounds(expr) {
            solver.order = expr.iterators();
        }
        solver
    }

    /// Like [`Solver::of`], for the value of an assignment with the given ranges `domain`.
    #[must_use]
    pub fn within(mut self, domain: &Domain) -> Solver {
        self.complete = true;
        self.given(domain)
    }

    /// Gives ranges to iterators.
    #[must_use]
    pub fn given(mut self, domain: &Domain) -> Solver {
        self.give(domain, &[]);
        self
    }

    /// Defers errors of free iterators that may still get ranges.
    #[must_use]
    pub fn so_far(mut self) -> Solver {
        self.open = !self.complete;
        self
    }

    fn collect(&mut self, expr: &Expr, scope: &mut Vec<usize>) {
        let depth = scope.len();
        match expr.node() {
            Node::Access {
                tensor,
                index: Index::At(index),
            } => self.access(tensor, index, scope),
            Node::Index(index) => {
                for name in index.iterators() {
                    self.lookup(name, scope);
                }
            }
            Node::Assign {
                target,
                value,
                within,
                elsewhere,
            } => {
                let first = self.uses.len();
                self.collect(target, scope);
                self.of_target = self.uses.len();
                if elsewhere.is_some() {
                    self.uses[first..].iter_mut().for_each(|u| u.whole = false);
                }
                self.collect(value, scope);
                self.give(within, scope);
                return;
            }
            Node::Reduce {
                over, within, body, ..
            } => {
                for name in over {
                    scope.push(self.declare(name, false));
                }
                self.collect(body, scope);
                self.give(within, scope);
                scope.truncate(depth);
                return;
            }
            Node::Virtual { formals, .. } => {
                for name in formals {
                    scope.push(self.declare(name, true));
                }
            }
            _ => {}
        }
        for child in expr.children() {
            self.collect(child, scope);
        }
        scope.truncate(depth);
    }

    fn declare(&mut self, name: &Name, free: bool) -> usize {
        let ((low, high), bounded) = match name.size() {
            Some(size) => ((size.least, size.most.saturating_add(1)), true),
            None => (UNBOUNDED, false),
        };
        self.vars.push(Var {
            name: name.clone(),
            free: free && name.size().is_none(),
            bounded,
            low,
            high,
            window: None,
            given: None,
        });
        self.vars.len() - 1
    }

    fn give(&mut self, domain: &Domain, scope: &[usize]) {
        for (name, range) in domain.iter() {
            let v = self.lookup(name, scope);
            for lookup in range.within.iter().flat_map(Segment::lookups) {
                self.access(&lookup.tensor, &lookup.index, scope);
            }
            let names = range.bounds().flat_map(Affine::terms);
            let outer = names.map(|(name, _)| (name.clone(), self.lookup(name, scope)));
            let outer = outer.collect();
            let range = range.clone();
            self.vars[v].given = Some(Given { range, outer });
        }
    }

    fn access(&mut self, tensor: &Tensor, index: &[Affine], scope: &[usize]) {
        for (d, (index, extent)) in index.iter().zip(tensor.shape().dims()).enumerate() {
            for size in extent.sizes() {
                self.lookup(size, scope);
            }
            let vars = index
                .terms()
                .iter()
                .map(|(name, _)| self.lookup(name, scope));
            let vars = vars.collect();
            // Operands have names, but a target may lack one.
            let tensor = tensor.name().map_or("the target", Name::as_str).to_owned();
            let dimension = d + 1;
            let place = Dimension {
                tensor,
                dimension,
                extent,
            };
            self.uses.push(Use {
                index: index.clone(),
                vars,
                place,
                access: self.accesses,
                whole: true,
                scope: scope.to_vec(),
            });
        }
        self.accesses += 1;
    }

    fn lookup(&mut self, name: &Name, scope: &[usize]) -> usize {
        let bound = scope.iter().rev().find(|&&v| self.vars[v].name == *name);
        if let Some(&v) = bound {
            return v;
        }
        let is_size = name.size().is_some();
        let is_it = |v: &Var| match v.name.size().is_some() {
            true => is_size && v.name == *name,
            false => v.free && !is_size && v.name == *name,
        };
        let known = self.vars.iter().position(is_it);
        known.unwrap_or_else(|| self.declare(name, true))
    }

    /// The ranges of the free iterators, in order of first appearance.
    ///
    /// # Errors
    /// The first mismatch.
    pub fn solve(self) -> Result<Vec<IteratorRange>, Mismatch> {
        let order = self.order.clone();
        let mut ranges = self.solve_for(|v| v.free)?;
        let place = |r: &IteratorRange| order.iter().position(|name| *name == r.name.base());
        if !order.is_empty() {
            ranges.sort_by_key(|r| place(r).unwrap_or(order.len()));
        }
        Ok(ranges)
    }

    /// The ranges of all iterators, including reduction iterators.
    ///
    /// # Errors
    /// The first mismatch.
    pub fn solve_for_all(self) -> Result<Vec<IteratorRange>, Mismatch> {
        self.solve_for(|v| v.name.size().is_none())
    }

    fn solve_for(mut self, asked: impl Fn(&Var) -> bool) -> Result<Vec<IteratorRange>, Mismatch> {
        for u in &self.uses {
            if !u.index.is_in_limits() {
                let (index, place) = (u.index.clone(), u.place.clone());
                return Err(Mismatch::TooLarge { index, place });
            }
        }
        for v in self.vars.iter().filter(|v| v.name.size().is_none()) {
            if self.size(&v.name).is_some() {
                return Err(Mismatch::IteratorIsSize(v.name.clone()));
            }
        }
        self.give_sized()?;
        self.agree()?;
        // Process single iterators first, for better messages.
        for alone in [true, false] {
            for u in &self.uses {
                let (Some(v), Some(allowed)) = (u.single(), u.allowed()) else {
                    continue;
                };
                if alone == (u.whole && u.index.as_iterator().is_some())
                    && self.vars[v].given.is_none()
                {
                    let open = self.is_open(v);
                    self.vars[v].narrow(allowed, u, open)?;
                }
            }
        }
        while self.enclose() || self.fit_windows()? || self.fit_sized_windows()? {}
        self.have_values()?;
        // The value determines a target with inferred extents, so check its uses first.
        let (target, rest) = self.uses.split_at(self.of_target);
        let mut uses = rest.iter().chain(target);
        uses.try_for_each(|u| self.stays_inside(u))?;
        (0..self.vars.len()).try_for_each(|v| self.is_whole(v))?;
        let asked = self.vars.iter().enumerate().filter(|(_, v)| asked(v));
        let ranges = asked.map(|(k, v)| IteratorRange {
            name: v.name.clone(),
            low: v.low,
            high: v.high,
            alone: self.alone(k),
            given: v.given.as_ref().map(|given| given.range.clone()),
        });
        Ok(ranges.collect())
    }

    /// The indices whose only iterator is `v`, and the values that they allow.
    fn of_one(&self, v: usize) -> impl Iterator<Item = (&Use, (i64, i64))> {
        let uses = self.uses.iter().filter(move |u| u.single() == Some(v));
        uses.filter_map(|u| Some((u, u.allowed()?)))
    }

    /// Whether an iterator may still get a range.
    fn is_open(&self, v: usize) -> bool {
        self.open && self.vars[v].free
    }

    fn alone(&self, v: usize) -> Option<u64> {
        let alone = self.of_one(v).filter(|(u, _)| u.whole);
        let alone = alone.filter(|(u, _)| u.index.as_iterator().is_some());
        alone.filter_map(|(u, _)| u.extent()).min()
    }

    /// Rule 3.
    fn agree(&self) -> Result<(), Mismatch> {
        let mut known: HashMap<(usize, &Affine), &Use> = HashMap::new();
        for second in self.uses.iter().filter(|u| u.whole) {
            let Some(v) = second.single() else {
                continue;
            };
            if self.vars[v].given.is_some() || self.is_open(v) {
                continue;
            }
            let first = *known.entry((v, &second.index)).or_insert(second);
            if first.place.extent == second.place.extent {
                continue;
            }
            let others = self
                .of_one(v)
                .filter(|(u, _)| u.whole && u.index != second.index);
            let limit = others.fold(UNBOUNDED, |limit, (_, allowed)| both(limit, allowed));
            let left = |u: &Use| u.allowed().map(|allowed| both(limit, allowed));
            if left(first) != left(second) {
                return Err(Mismatch::Extents {
                    index: second.index.clone(),
                    first: first.place.clone(),
                    second: second.place.clone(),
                });
            }
        }
        Ok(())
    }

    /// Rule 4, one round. Returns whether an iterator got its range.
    fn fit_windows(&mut self) -> Result<bool, Mismatch> {
        let mut fitted: Vec<usize> = Vec::new();
        for (k, u) in self.uses.iter().enumerate() {
            let Some(v) = self.only_open(u).filter(|_| !u.is_sized()) else {
                continue;
            };
            let mut others = u.index.clone();
            let mut factor = 0;
            for ((name, c), &var) in u.index.terms().iter().zip(&u.vars) {
                if var == v {
                    factor = *c;
                    others = others.minus(&Affine::iterator(name.clone()).times(*c));
                }
            }
            let others = others.plus_constant(-u.index.offset());
            let (low, high) = self.interval(u, &others);
            let allowed = u.allowed_of(factor, [low, high]);
            let open = self.open;
            let var = &mut self.vars[v];
            let before = (var.low, var.high);
            if open && !var.free && low != high {
                (var.low, var.high, var.bounded) = (0, 0, true)
            } else {
                var.narrow(allowed, u, open)?
            }
            if low != high && (var.low, var.high) != before {
                var.window = Some(k);
            }
            // It stays open until all its windows are processed.
            var.bounded = false;
            fitted.push(v);
        }
        for &v in &fitted {
            self.vars[v].bounded = true;
        }
        Ok(!fitted.is_empty())
    }

    /// The only iterator of an index that has no range yet.
    fn only_open(&self, u: &Use) -> Option<usize> {
        let mut open = u.vars.iter().filter(|v| !self.vars[**v].bounded);
        match (open.next(), open.next()) {
            (Some(v), None) if self.vars[*v].given.is_none() => Some(*v),
            _ => None,
        }
    }

    /// The least and the greatest value of `part`, a part of the index `u`.
    fn interval(&self, u: &Use, part: &Affine) -> (i64, i64) {
        let bounds = |name: &Name| {
            let k = u.index.terms().iter().position(|(n, _)| n == name)?;
            let var = &self.vars[u.vars[k]];
            Some((var.low, var.high - 1))
        };
        part.interval(&bounds).unwrap_or((0, 0))
    }

    fn stays_inside(&self, u: &Use) -> Result<(), Mismatch> {
        if self.open && !u.vars.is_empty() {
            return Ok(());
        }
        if let Some(&v) = u.vars.iter().find(|&&v| !self.vars[v].bounded) {
            let iterator = self.vars[self.unlimited(v)].name.clone();
            let (index, place) = (u.index.clone(), u.place.clone());
            return Err(Mismatch::NoRange {
                iterator,
                index,
                place,
            });
        }
        if self.depends_on_given(u) {
            return self.stays_inside_given(u);
        }
        let (low, high) = self.interval(u, &u.index);
        if low >= 0
            && u.extent()
                .is_some_and(|extent| high.unsigned_abs() < extent)
        {
            return Ok(());
        }
        let (index, place) = (u.index.clone(), u.place.clone());
        Err(Mismatch::OutOfBounds {
            index,
            low,
            high,
            place,
        })
    }

    /// Rule 5.
    fn is_whole(&self, v: usize) -> Result<(), Mismatch> {
        let var = &self.vars[v];
        if var.free || var.given.is_some() {
            return Ok(());
        }
        let (iterator, range) = (var.name.clone(), (var.low, var.high));
        if let Some(u) = var.window.and_then(|k| self.uses.get(k)) {
            if self.open {
                return Ok(());
            }
            let (index, place) = (u.index.clone(), u.place.clone());
            return Err(Mismatch::Window {
                iterator,
                range,
                index,
                place,
            });
        }
        let mut of_accesses: BTreeMap<usize, (i64, i64)> = BTreeMap::new();
        for (u, allowed) in self.of_one(v) {
            let limit = of_accesses.entry(u.access).or_insert(UNBOUNDED);
            *limit = both(*limit, allowed);
        }
        let mut alone = self
            .of_one(v)
            .filter(|(u, allowed)| *allowed == range && u.index.as_iterator().is_some());
        if alone.next().is_some() || of_accesses.values().all(|allowed| *allowed == range) {
            return Ok(());
        }
        let cutting = |cuts: &dyn Fn((i64, i64)) -> bool| {
            let mut uses = self.of_one(v).filter(|(_, allowed)| cuts(*allowed));
            uses.next().map(|(u, values)| Allowed {
                index: u.index.clone(),
                place: u.place.clone(),
                values,
            })
        };
        // The access that cuts the range and one that would not, or the accesses that cut its two
        // ends.
        let both_ends = (cutting(&|a| a.0 == range.0), cutting(&|a| a.1 == range.1));
        let by = match (cutting(&|a| a == range), cutting(&|a| a != range)) {
            (Some(narrow), Some(wide)) => (Some(narrow), Some(wide)),
            _ => both_ends,
        };
        match by {
            (Some(first), Some(last)) => Err(Mismatch::Cut {
                iterator,
                range,
                by: Box::new([first, last]),
            }),
            // Only a window bounds it.
            _ => Ok(()),
        }
    }

    /// The iterator without a range that leaves `v` without values. It is `v` itself, or an
    /// iterator in the bounds of its range.
    fn unlimited(&self, v: usize) -> usize {
        let outer = self.vars[v].given.iter().flat_map(|given| &given.outer);
        let mut missing = outer.filter(|(_, outer)| !self.vars[*outer].bounded);
        match missing.next() {
            Some((_, outer)) if self.vars[*outer].given.is_none() => *outer,
            _ => v,
        }
    }
}

impl Use {
    /// The only iterator of the index.
    fn single(&self) -> Option<usize> {
        match (self.index.terms(), self.vars.as_slice()) {
            ([_], [v]) if !self.is_sized() => Some(*v),
            _ => None,
        }
    }

    /// The extent of its dimension, if it is a number.
    fn extent(&self) -> Option<u64> {
        self.place.extent.as_constant().map(i64::unsigned_abs)
    }

    /// Whether sizes are in the index or in the extent.
    fn is_sized(&self) -> bool {
        let all = [&self.index, &self.place.extent];
        all.iter().any(|a| a.sizes().next().is_some())
    }

    /// The values of its only iterator that keep the index inside.
    fn allowed(&self) -> Option<(i64, i64)> {
        match self.index.terms() {
            [(_, c)] => Some(self.allowed_of(*c, [0, 0])),
            _ => None,
        }
    }

    /// The values x with `0 <= c*x + offset + rest <= extent - 1` for any `rest` in the given
    /// interval. The interval of x is half-open.
    fn allowed_of(&self, c: i64, rest: [i64; 2]) -> (i64, i64) {
        let last = self.place.extent.as_constant().unwrap_or(i64::MAX / 4) - 1;
        let offset = self.index.offset();
        let (at_zero, at_last) = (-offset - rest[0], last - offset - rest[1]);
        let (low, high) = if c > 0 {
            (ceil_div(at_zero, c), at_last.div_euclid(c))
        } else {
            (ceil_div(-at_last, -c), (-at_zero).div_euclid(-c))
        };
        (low, high + 1)
    }
}

impl Var {
    /// Keeps the values that `u` allows. It is an error if none remain, unless a range may follow.
    fn narrow(&mut self, allowed: (i64, i64), u: &Use, open: bool) -> Result<(), Mismatch> {
        (self.low, self.high) = both((self.low, self.high), allowed);
        self.bounded = true;
        if self.low < self.high {
            return Ok(());
        }
        if open {
            self.high = self.low;
            return Ok(());
        }
        Err(Mismatch::Empty {
            iterator: self.name.clone(),
            index: u.index.clone(),
            place: u.place.clone(),
        })
    }
}

fn both(a: (i64, i64), b: (i64, i64)) -> (i64, i64) {
    (a.0.max(b.0), a.1.min(b.1))
}
