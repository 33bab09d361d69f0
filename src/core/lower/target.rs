//! The target of an assignment: checks that iterations assign different elements, and finds the
//! initialization before the loops.
//!
//! With a number `elsewhere`, the initialization fills the whole target. The target is then an
//! output that nothing reads, and a reduction has to begin from the same number.

use super::no_nest::NoNest;
use super::steps::First;
use crate::analysis::mixed_radix;
use crate::analysis::shape::IteratorRange;
use crate::ir::{
    Affine, BinaryOp, Constant, Domain, Expr, Fill, Index, Name, Node, Origin, Reduction, Tensor,
};

/// A target and its indices.
pub(super) struct Target<'a> {
    pub(super) tensor: &'a Tensor,
    pub(super) index: &'a [Affine],
    /// The target in messages.
    pub(super) shown: String,
}

/// The suffix of names of loops that run before the loops of the assignment.
const BEFORE: usize = 0;

fn before_loops(name: &Name) -> Option<Affine> {
    let is_iterator = name.size().is_none();
    is_iterator.then(|| Affine::iterator(name.derived(BEFORE)))
}

impl Target<'_> {
    /// Whether `expr` reads exactly the assigned element.
    fn is(&self, expr: &Expr) -> bool {
        match expr.node() {
            Node::Access {
                tensor,
                index: Index::At(index),
            } => tensor == self.tensor && index == self.index,
            Node::Access { tensor, .. } => tensor == self.tensor,
            _ => false,
        }
    }

    /// Splits `target op rest` into the update and the rest.
    pub(super) fn split_update<'e>(&self, value: &'e Expr) -> (Option<BinaryOp>, &'e Expr) {
        match value.node() {
            Node::Binary {
                op, left, right, ..
            } if self.is(left) => (Some(*op), right),
            Node::Binary {
                op, left, right, ..
            } if op.commutes() && self.is(right) => (Some(*op), left),
            _ => (None, value),
        }
    }

    /// Checks that iterations assign different elements. Each iterator is the only one of an index,
    /// or a digit of one beside iterators that are known by then.
    pub(super) fn check_injective(
        &self,
        iterators: &[Name],
        ranges: &[IteratorRange],
    ) -> Result<(), NoNest> {
        let mut known: Vec<Name> = Vec::new();
        let mut more = true;
        while more {
            more = false;
            for index in self.index {
                let mut open = index.terms().to_vec();
                open.retain(|(name, _)| name.size().is_none() && !known.contains(name));
                if !open.is_empty() && mixed_radix::is_injective(&open, ranges) {
                    known.extend(open.into_iter().map(|(name, _)| name));
                    more = true;
                }
            }
        }
        match iterators.iter().find(|name| !known.contains(name)) {
            None => Ok(()),
            Some(name) => Err(NoNest::NotInjective {
                target: self.shown.clone(),
                iterator: name.clone(),
            }),
        }
    }

    /// The initialization before the loops: the identity of a reduction, or the number `elsewhere`
    /// for the elements that the loops do not reach. `None` if neither is needed. With `elsewhere`,
    /// the fill sets the whole target, so nothing of its old contents is read.
    pub(super) fn first(
        &self,
        ranges: &[IteratorRange],
        begins: Option<Reduction>,
        elsewhere: Option<Constant>,
    ) -> Result<Option<First>, NoNest> {
        let elem = self.tensor.elem();
        let whole = self.tensor.shape().whole();
        let region = self.region(ranges);
        let elsewhere = elsewhere.filter(|_| region.as_ref() != Ok(&whole));
        let mut loops = Vec::new();
        let (region, value) = match (begins, elsewhere) {
            (None, None) => return Ok(None),
            (Some(reduction), None) => {
                let region = match region {
                    Err(_) if ranges.iter().any(|r| self.has(&r.name) && !r.is_whole()) => {
                        loops = self.own_loops(ranges);
                        let one = |a: &Affine| (a.substitute(&before_loops), Affine::constant(1));
                        self.index.iter().map(one).collect()
                    }
                    region => region?,
                };
                (region, reduction.identity(elem))
            }
            (Some(reduction), Some(elsewhere)) if reduction.identity(elem) != elsewhere => {
                return Err(NoNest::TwoConstants {
                    reduction: reduction.name(),
                    identity: reduction.identity(elem),
                    target: self.shown.clone(),
                    elsewhere,
                });
            }
            (_, Some(elsewhere)) => (whole, elsewhere),
        };
        if region
            .iter()
            .any(|(_, extent)| extent.as_constant() == Some(0))
        {
            // No element is assigned.
            return Ok(None);
        }
        let fill = Fill {
            target: self.tensor.clone(),
            region,
            value,
            origin: Some(Origin {
                assignment: 0,
                point: Vec::new(),
            }),
        };
        Ok(Some(First { fill, loops }))
    }

    fn has(&self, iterator: &Name) -> bool {
        self.index.iter().any(|index| index.mentions(iterator))
    }

    /// The loops over the assigned elements, to run before the assignment.
    fn own_loops(&self, ranges: &[IteratorRange]) -> Vec<IteratorRange> {
        let own = ranges.iter().filter(|r| self.has(&r.name));
        let own: Vec<&IteratorRange> = own.collect();
        let names: Vec<Name> = own.iter().map(|r| r.name.clone()).collect();
        let domain = own
            .iter()
            .filter_map(|r| Some((r.name.clone(), r.given.clone()?)));
        let domain = Domain::new(domain);
        let order = domain.nested(&names).unwrap_or(names);
        let range = |name: &Name| own.iter().find(|r| r.name == *name);
        let loops = order.iter().filter_map(range).map(|r| IteratorRange {
            name: r.name.derived(BEFORE),
            given: r
                .given
                .as_ref()
                .map(|given| given.substitute(&before_loops)),
            ..(*r).clone()
        });
        loops.collect()
    }

    /// The box that the assignment writes, which must have no holes.
    fn region(&self, ranges: &[IteratorRange]) -> Result<Vec<(Affine, Affine)>, NoNest> {
        let scattered = || NoNest::Scattered {
            target: self.shown.clone(),
        };
        let bounds = |name: &Name| {
            let range = ranges.iter().find(|r| r.name == *name)?;
            Some((range.low, range.high - 1))
        };
        let never = |r: &IteratorRange| r.low >= r.high && self.has(&r.name);
        if ranges.iter().any(never) {
            return Ok(vec![
                (Affine::constant(0), Affine::constant(0));
                self.index.len()
            ]);
        }
        let mut seen: Vec<&Name> = Vec::new();
        let mut region = Vec::with_capacity(self.index.len());
        for index in self.index {
            if let Some(side) = sized_side(index, ranges) {
                seen.extend(index.iterators());
                region.push(side);
                continue;
            }
            let names = index.terms().iter().map(|(name, _)| name);
            if names.clone().any(|name| seen.contains(&name)) {
                return Err(scattered());
            }
            seen.extend(names);
            let extent = mixed_radix::dense_extent(index.terms(), ranges);
            let (low, _) = index.interval(&bounds).ok_or_else(scattered)?;
            let extent = extent.ok_or_else(scattered)?;
            let extent = Affine::constant(i64::try_from(extent).unwrap_or(i64::MAX));
            region.push((Affine::constant(low), extent));
        }
        Ok(region)
    }
}

/// The values of an index of one iterator whose range has sizes: the first one, and how many.
fn sized_side(index: &Affine, ranges: &[IteratorRange]) -> Option<(Affine, Affine)> {
    let mut iterators = index.iterators();
    let (Some(name), None) = (iterators.next(), iterators.next()) else {
        return None;
    };
    let given = ranges.iter().find(|r| r.name == *name)?.given.as_ref()?;
    let ([low], [end], 1) = (&given.lower[..], &given.upper[..], given.step) else {
        return None;
    };
    let extent = end.minus(low);
    let is_sized = extent.is_fixed() && extent.as_constant().is_none();
    let (1 | -1) = index.coefficient(name) else {
        return None;
    };
    let first = if index.coefficient(name) == 1 {
        low.clone()
    } else {
        end.plus_constant(-1)
    };
    let at = |name: &Name| name.size().is_none().then(|| first.clone());
    is_sized.then(|| (index.substitute(&at), extent))
}
