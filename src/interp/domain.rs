//! The domain of each iterator, found once more, without the inference of `analysis`: an iterator
//! takes the values for which no index leaves its dimension. Indices of a single iterator decide
//! first. An iterator that stands in none takes the values for which its other indices stay
//! inside, whatever the other iterators are.

use super::Fault;
use crate::ir::{Affine, Expr, Index, Name, Node};
use std::collections::HashMap;

type Ranges = HashMap<Name, (i64, i64)>;

/// The values that iterators take.
pub(super) struct Domains(Ranges);

impl Domains {
    /// Of the free iterators.
    pub(super) fn of(expr: &Expr) -> Result<Domains, Fault> {
        Domains::under(expr, &expr.iterators(), &[])
    }

    /// Of the iterators `wanted`, which are free in `expr`, below others with the ranges `scope`,
    /// the innermost one last.
    pub(super) fn under(
        expr: &Expr,
        wanted: &[Name],
        scope: &[(Name, (i64, i64))],
    ) -> Result<Domains, Fault> {
        let around: Ranges = scope.iter().cloned().collect();
        let mut found = HashMap::new();
        narrow(expr, wanted, &Ranges::new(), &mut found);
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
            narrow(expr, &open, &known, &mut fitted);
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

/// Intersects the ranges with what each index allows of which one iterator is wanted and the
/// others are known.
fn narrow(expr: &Expr, wanted: &[Name], known: &Ranges, found: &mut Ranges) {
    match expr.node() {
        Node::Access {
            tensor,
            index: Index::At(index),
        } => {
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
            return;
        }
        Node::Reduce { over, body, .. } => {
            let mut wanted = wanted.to_vec();
            wanted.retain(|n| !over.contains(n));
            let mut known = known.clone();
            let scope: Vec<_> = known.clone().into_iter().collect();
            for name in over {
                known.remove(name);
            }
            if let Ok(Domains(own)) = Domains::under(body, over, &scope) {
                known.extend(own);
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

/// The values of an iterator for which `index` lies in 0..extent, found from the end points.
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
