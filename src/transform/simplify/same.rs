//! Whether the rules prove that two definitions compute the same.

use super::pattern::Rule;
use super::rules::saturated;
use super::trees::Reader;
use crate::analysis::shape::{self, IteratorRange};
use crate::ir::{Affine, Constant, Domain, Expr, Index, Name, Node, fresh_name};
use crate::legality::assigns_all;
use crate::lower::explicit;
use egg::EGraph;

/// Whether the last assignments of two lists have equal values up to rounding, as the rules and
/// those of a user prove. The earlier assignments are those of tensors that later ones read.
#[must_use]
pub fn proves_equal(a: &[Expr], b: &[Expr], rules: &[Rule]) -> bool {
    let (Some(a), Some(b)) = (Whole::of(a), Whole::of(b)) else {
        return false;
    };
    let Some(b) = b.over(&a.iterators) else {
        return false;
    };
    if a.domain != b.domain || a.elsewhere != b.elsewhere || a.value.elem() != b.value.elem() {
        return false;
    }
    let mut reader = Reader::new(&a.value, &a.ranges);
    let starts = [reader.read(&a.value), reader.over(&b.ranges).read(&b.value)];
    let Some(facts) = reader.facts() else {
        return false;
    };
    let mut graph = EGraph::new(facts);
    let roots = starts.map(|start| graph.add_expr(&start));
    graph.rebuild();
    let graph = saturated(graph, rules);
    graph.find(roots[0]) == graph.find(roots[1])
}

/// The last assignment, with the values of the others in the place of their tensors. `None` if one of them
/// does not assign all elements, or indexes its target with more than iterators.
#[must_use]
pub fn composed(assignments: &[Expr]) -> Option<Expr> {
    let whole = Whole::of(assignments)?;
    let last = explicit(assignments.last()?).ok()?;
    Some(last.with_value(whole.value))
}

/// A definition in one assignment.
struct Whole {
    /// The iterators of the target, by dimension.
    iterators: Vec<Name>,
    domain: Domain,
    elsewhere: Option<Constant>,
    value: Expr,
    /// The ranges of all iterators.
    ranges: Vec<IteratorRange>,
}

impl Whole {
    /// The last assignment, with the values of the others in the place of their tensors; `None` if
    /// one of them does not assign all elements, or indexes its target with more than iterators.
    fn of(assignments: &[Expr]) -> Option<Whole> {
        let mut known: Vec<(Expr, Vec<Name>, Expr)> = Vec::new();
        let (last, before) = assignments.split_last()?;
        for assignment in before {
            let Node::Assign { target, value, .. } = explicit(assignment).ok()?.node().clone()
            else {
                return None;
            };
            if !assigns_all(assignment) {
                return None;
            }
            let iterators = plain_index(&target)?;
            let value = inlined(&value, &known);
            known.push((target, iterators, value));
        }
        let whole = explicit(last).ok()?;
        let Node::Assign {
            target,
            value,
            within,
            elsewhere,
        } = whole.node()
        else {
            return None;
        };
        let value = inlined(value, &known);
        let made = whole.with_value(value.clone());
        Some(Whole {
            iterators: plain_index(target)?,
            domain: within.clone(),
            elsewhere: *elsewhere,
            value,
            ranges: shape::all_ranges(&made).ok()?,
        })
    }

    /// The same with other names for the iterators of the target.
    fn over(self, names: &[Name]) -> Option<Whole> {
        if self.iterators.len() != names.len() {
            return None;
        }
        let bound: Vec<Name> = self.value.all_names();
        let mut taken: Vec<Name> = bound.iter().chain(names).cloned().collect();
        // A bound iterator that has one of the new names gets a fresh one.
        let map: Vec<(Name, Name)> = bound
            .iter()
            .map(
                |name| match self.iterators.iter().position(|own| own == name) {
                    Some(k) => (name.clone(), names[k].clone()),
                    None if names.contains(name) => {
                        let fresh = fresh_name(|n| taken.contains(n));
                        taken.push(fresh.clone());
                        (name.clone(), fresh)
                    }
                    None => (name.clone(), name.clone()),
                },
            )
            .collect();
        let own = self.iterators.iter().zip(names);
        let new = |name: &Name| {
            let of_bound = map.iter().find(|(old, _)| old == name).map(|(_, new)| new);
            let of_target = own
                .clone()
                .find(|(old, _)| *old == name)
                .map(|(_, new)| new);
            of_target.or(of_bound).cloned()
        };
        let ranges = self.ranges.into_iter().map(|range| IteratorRange {
            name: new(&range.name).unwrap_or(range.name),
            given: range
                .given
                .map(|given| given.substitute(&|name| new(name).map(Affine::iterator))),
            ..range
        });
        Some(Whole {
            iterators: names.to_vec(),
            domain: self.domain.renamed(&new),
            elsewhere: self.elsewhere,
            value: self.value.rename_iterators(&new),
            ranges: ranges.collect(),
        })
    }
}

/// The iterators of a target that are its indices, each once.
fn plain_index(target: &Expr) -> Option<Vec<Name>> {
    let Node::Access { index, .. } = target.node() else {
        return None;
    };
    let Index::At(indices) = index else {
        return Some(Vec::new());
    };
    let names = indices.iter().map(|index| index.as_iterator().cloned());
    let names: Vec<Name> = names.collect::<Option<_>>()?;
    let repeats = (1..names.len()).any(|k| names[..k].contains(&names[k]));
    (!repeats).then_some(names)
}

/// A value with the definitions of tensors in the place of their elements.
fn inlined(value: &Expr, known: &[(Expr, Vec<Name>, Expr)]) -> Expr {
    if known.is_empty() {
        return value.clone();
    }
    let taken = std::cell::RefCell::new(value.all_names());
    value.replace(&|part| {
        let Node::Access { tensor, index } = part.node() else {
            return None;
        };
        let (_, iterators, value) = known.iter().rev().find(|(target, ..)| {
            target
                .tensor()
                .is_some_and(|own| own.name() == tensor.name())
        })?;
        let indices: &[Affine] = match index {
            Index::At(indices) => indices,
            Index::Unset | Index::Forbidden => &[],
        };
        // Iterators of sums in the definition get names of their own.
        let mut taken = taken.borrow_mut();
        taken.extend(value.all_names());
        let free = value.iterators();
        let bound = value
            .all_names()
            .into_iter()
            .filter(|name| !free.contains(name));
        let fresh: Vec<(Name, Name)> = bound
            .map(|name| {
                let fresh = fresh_name(|n| taken.contains(n));
                taken.push(fresh.clone());
                (name, fresh)
            })
            .collect();
        let rename = |name: &Name| {
            let found = fresh.iter().find(|(old, _)| old == name);
            found.map(|(_, new)| new.clone())
        };
        let own = value.rename_iterators(&rename);
        let map = |name: &Name| {
            let k = iterators.iter().position(|own| own == name)?;
            indices.get(k).cloned()
        };
        Some(own.substitute(&map))
    })
}
