//! The domain of each iterator, found once more, without the inference of `analysis`: an iterator
//! takes the values for which no index leaves its dimension.

use super::Fault;
use crate::ir::{Affine, Expr, Index, Name, Node};
use std::collections::HashMap;

/// The values that iterators take.
pub(super) struct Domains(HashMap<Name, (i64, i64)>);

impl Domains {
    /// Of the free iterators.
    pub(super) fn of(expr: &Expr) -> Result<Domains, Fault> {
        Domains::under(expr, &expr.iterators())
    }

    /// Of the iterators `wanted`, which are free in `expr`.
    pub(super) fn under(expr: &Expr, wanted: &[Name]) -> Result<Domains, Fault> {
        let mut found = HashMap::new();
        narrow(expr, wanted, &mut found);
        match wanted.iter().find(|n| !found.contains_key(*n)) {
            None => Ok(Domains(found)),
            Some(name) => Err(Fault::Meaningless(name.to_string())),
        }
    }

    pub(super) fn get(&self, name: &Name) -> (i64, i64) {
        self.0.get(name).copied().unwrap_or((0, 0))
    }
}

/// Intersects the ranges with what each index of a single iterator allows.
fn narrow(expr: &Expr, wanted: &[Name], found: &mut HashMap<Name, (i64, i64)>) {
    let mut wanted = wanted.to_vec();
    match expr.node() {
        Node::Access {
            tensor,
            index: Index::At(index),
        } => {
            for (index, &extent) in index.iter().zip(tensor.shape().extents()) {
                let [(name, _)] = index.terms() else { continue };
                if wanted.contains(name) {
                    let inside = values_inside(index, name, i64::try_from(extent).unwrap_or(0));
                    let range = found.entry(name.clone()).or_insert(inside);
                    *range = (range.0.max(inside.0), range.1.min(inside.1));
                }
            }
        }
        Node::Reduce { over, .. } => wanted.retain(|n| !over.contains(n)),
        _ => {}
    }
    for child in expr.children() {
        narrow(child, &wanted, found);
    }
}

/// The values of `name` for which `index` lies in 0..extent, found from the end points.
fn values_inside(index: &Affine, name: &Name, extent: i64) -> (i64, i64) {
    let c = index.coefficient(name);
    let solve = |value: i64| (value - index.offset()) as f64 / c as f64;
    let (a, b) = (solve(0), solve(extent - 1));
    (a.min(b).ceil() as i64, a.max(b).floor() as i64 + 1)
}
