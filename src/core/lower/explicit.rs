//! Assignments with unique iterator names and explicit ranges.

use super::no_nest::NoNest;
use crate::analysis::shape::{self, Mismatch};
use crate::ir::{Affine, Domain, Expr, Name, Node};
use std::cell::RefCell;

/// The assignment with a readable, unique name and an explicit range for each iterator.
pub(super) fn readably_explicit(assignment: &Expr) -> Result<Expr, NoNest> {
    let free = assignment.iterators();
    let readable = readable(&free);
    let renamed = assignment.substitute(&|name| {
        let k = free.iter().position(|n| n == name)?;
        Some(Affine::iterator(readable[k].clone()))
    });
    Ok(explicit(&renamed)?)
}

/// The assignment with a unique name for each iterator of a reduction, and an explicit range for
/// each iterator.
///
/// # Errors
/// The iterators have no ranges.
pub fn explicit(assignment: &Expr) -> Result<Expr, Mismatch> {
    let names = assignment.all_names();
    let seen = RefCell::new(assignment.iterators());
    let apart = renamed_apart(assignment, &|name| {
        let mut seen = seen.borrow_mut();
        let is_free = |n: &Name| !seen.contains(n) && (n == name || !names.contains(n));
        let new = if name.is_generated() {
            (seen.len() + 1..).map(Name::of_level).find(is_free)
        } else {
            let numbered = (2..).map(|number| name.derived(number));
            [name.clone()].into_iter().chain(numbered).find(is_free)
        };
        let new = new.unwrap_or_else(|| name.clone());
        seen.push(new.clone());
        new
    });
    let ranges = shape::all_ranges(&apart)?;
    Ok(apart.map_domains(&|part, within| {
        let names = match part.node() {
            Node::Reduce { over, .. } => over.clone(),
            _ => part.iterators(),
        };
        let own = ranges.iter().filter(|r| names.contains(&r.name));
        within.with(&Domain::new(own.map(|r| (r.name.clone(), r.range()))))
    }))
}

/// Renames the iterators of reductions, the outermost first.
fn renamed_apart(expr: &Expr, new: &dyn Fn(&Name) -> Name) -> Expr {
    expr.replace(&|part| {
        let Node::Reduce { over, .. } = part.node() else {
            return None;
        };
        let renamed: Vec<(Name, Name)> = over.iter().map(|n| (n.clone(), new(n))).collect();
        let rename = |name: &Name| {
            let (_, new) = renamed.iter().find(|(old, _)| old == name)?;
            Some(new.clone())
        };
        Some(
            part.with_domain(&|within| within.renamed(&rename))
                .changed(|node| {
                    if let Node::Reduce { over, body, .. } = node {
                        *over = renamed.iter().map(|(_, new)| new.clone()).collect();
                        let inner = body.substitute(&|name| rename(name).map(Affine::iterator));
                        *body = renamed_apart(&inner, new);
                    }
                }),
        )
    })
}

/// A reduction with numbered iterators, so that equal reductions compare equal.
pub(super) fn spelled(reduction: &Expr) -> Expr {
    let number = RefCell::new(0);
    renamed_apart(reduction, &|_| {
        *number.borrow_mut() += 1;
        Name::generated(*number.borrow())
    })
}

/// Names for the loops: generated iterators become i and their level.
pub(super) fn readable(order: &[Name]) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::with_capacity(order.len());
    for (k, name) in order.iter().enumerate() {
        let name = if !name.is_generated() {
            name.clone()
        } else {
            let taken = |n: &Name| order.contains(n) || names.contains(n);
            let mut new = Name::of_level(k + 1);
            while taken(&new) {
                new = new.derived(k + 1);
            }
            new
        };
        names.push(name);
    }
    names
}
