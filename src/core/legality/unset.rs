//! Reads of undefined elements: neither an input nor an assignment sets them.
//!
//! An assigned tensor holds only the elements that its assignments set. Three kinds of assigned
//! tensors are still inputs:
//! - tensors that are read before they are assigned;
//! - tensors of a text, whose memory is the caller's;
//! - the state of time steps, since the first step reads it.
//!
//! The caller of [`unset`] names other inputs.

use super::limit::OPERATIONS;
use super::partition::{Assigned, assigned, at_element, elements, named};
use super::sizes::for_all_sizes;
use super::violation::Violation;
use crate::analysis::mixed_radix;
use crate::ir::{Expr, Index, Infix, Name, Nest, Node, Tensor};
use crate::poly::{self, Error, Piece, Set};

/// An assignment with its nest.
struct Step<'n> {
    nest: usize,
    assignment: &'n Expr,
}

/// The assignments of nests, and the tensors of texts and time steps.
fn steps(nests: &[Nest]) -> (Vec<Step<'_>>, Vec<&Name>) {
    let is_in_order = |nest: &Nest| nest.originals().iter().any(|part| part.in_order);
    let mut steps: Vec<Step> = Vec::new();
    let mut in_order: Vec<&Name> = Vec::new();
    for (k, nest) in nests.iter().enumerate() {
        for assignment in nest.definition().iter() {
            if is_in_order(nest) {
                assignment.for_each_tensor(&mut |tensor| in_order.extend(tensor.name()));
            }
            steps.push(Step {
                nest: k,
                assignment,
            });
        }
    }
    (steps, in_order)
}

/// Whether nests that run in order set each element of a tensor before they read it. All that set it
/// come before the first that reads it. `false` also if there is no answer.
pub fn sets_first(nests: &[Nest], name: &Name) -> bool {
    for_all_sizes(nests, || sets_before_reads(nests, name))
}

fn sets_before_reads(nests: &[Nest], name: &Name) -> bool {
    let (steps, in_order) = steps(nests);
    let first = steps.iter().position(|s| reads(s.assignment, name));
    let (setters, readers) = steps.split_at(first.unwrap_or(steps.len()));
    let all_before = !readers.iter().any(|s| writes(s.assignment, name));
    let setters = setters.iter().filter(|s| writes(s.assignment, name));
    let sets: Option<Vec<Assigned>> = setters
        .map(|s| assigned(s.assignment).ok().flatten())
        .collect();
    let (Some(sets), true) = (sets, all_before && !in_order.contains(&name)) else {
        return false;
    };
    let mut readers = readers.iter().filter(|s| reads(s.assignment, name));
    readers.all(|step| {
        let reader = assigned(step.assignment).ok().flatten();
        reader.is_some_and(|reader| matches!(unset_of(name, &reader, &sets), Ok(None)))
    })
}

/// The first read of an undefined element, if nests run in order. `is_given` names assigned tensors
/// whose contents are inputs. `None` also if the polyhedral library has no answer.
pub fn unset(nests: &[Nest], is_given: &dyn Fn(&Name) -> bool) -> Option<Violation> {
    for_all_sizes(nests, || first_unset(nests, is_given))
}

fn first_unset(nests: &[Nest], is_given: &dyn Fn(&Name) -> bool) -> Option<Violation> {
    let (steps, in_order) = steps(nests);
    let mut seen: Vec<&Name> = Vec::new();
    for step in &steps {
        let tensor = step.assignment.tensor()?;
        let name = tensor.name()?;
        if seen.contains(&name) || in_order.contains(&name) || is_given(name) {
            continue;
        }
        seen.push(name);
        if let Some(violation) = of_tensor(tensor, name, &steps) {
            return Some(violation);
        }
    }
    None
}

fn of_tensor(tensor: &Tensor, name: &Name, steps: &[Step<'_>]) -> Option<Violation> {
    let reads = |step: &Step| reads(step.assignment, name);
    let first = steps
        .iter()
        .find(|s| reads(s) || writes(s.assignment, name))?;
    let readers: Vec<&Step> = steps.iter().filter(|s| reads(s)).collect();
    // Declared zeros need no assignment.
    if readers.is_empty() || reads(first) || tensor.has_zeros() {
        return None;
    }
    let setters: Vec<&Expr> = steps
        .iter()
        .map(|step| step.assignment)
        .filter(|assignment| writes(assignment, name))
        .collect();
    let mut sets: Vec<Assigned> = Vec::with_capacity(setters.len());
    for setter in &setters {
        if assigns_all(setter) {
            return None;
        }
        sets.push(assigned(setter).ok().flatten()?);
    }
    let found = readers.into_iter().find_map(|step| {
        let reader = assigned(step.assignment).ok().flatten()?;
        let elements = unset_of(name, &reader, &sets).ok().flatten()?;
        Some((step, elements))
    });
    let (step, elements) = found?;
    Some(Violation::Unset {
        nest: step.nest,
        reader: Infix(step.assignment).to_string(),
        element: format!("{name}{elements}"),
        setters: setters.iter().map(|e| Infix(e).to_string()).collect(),
    })
}

fn writes(assignment: &Expr, name: &Name) -> bool {
    assignment.tensor().and_then(Tensor::name) == Some(name)
}

fn reads(assignment: &Expr, name: &Name) -> bool {
    let mut found = false;
    for value in assignment.children().into_iter().skip(1) {
        value.for_each_tensor(&mut |tensor| found |= tensor.name() == Some(name));
    }
    found
}

/// Whether each dimension has its own iterator over all of its values.
fn is_whole(set: &Assigned, tensor: &Tensor) -> bool {
    let dims = tensor.shape().dims();
    let mut names: Vec<&Name> = Vec::with_capacity(dims.len());
    set.index.iter().zip(&dims).all(|(index, extent)| {
        let name = index.as_iterator();
        let range = set.ranges.iter().find(|r| Some(&r.name) == name);
        let fresh = name.is_some_and(|name| !names.contains(&name));
        names.extend(name);
        let starts = range.is_some_and(|r| r.low == 0);
        fresh && starts && mixed_radix::covers(index, extent, &set.ranges)
    })
}

/// Whether an assignment evidently sets all elements of its target, judging by the form of its
/// indices.
pub fn assigns_all(assignment: &Expr) -> bool {
    if !matches!(
        assignment.node(),
        Node::Assign {
            elsewhere: None,
            ..
        }
    ) {
        return true;
    }
    match (assigned(assignment), assignment.tensor()) {
        (Ok(Some(set)), Some(tensor)) => is_whole(&set, tensor),
        _ => false,
    }
}

/// There is no answer.
struct Unknown;

impl From<Error> for Unknown {
    fn from(_: Error) -> Unknown {
        Unknown
    }
}

/// The elements of a tensor that an assignment reads and none of `sets` sets, as indices.
fn unset_of(name: &Name, reader: &Assigned, sets: &[Assigned]) -> Result<Option<String>, Unknown> {
    let mut accesses: Vec<&Index> = Vec::new();
    let mut rank = 0;
    reader.value.for_each_access(&mut |read, at| {
        if read.name() == Some(name) {
            rank = read.shape().rank();
            accesses.push(at);
        }
    });
    let known = reader.ranges.iter().map(|r| &r.name);
    // Several reductions may use one iterator name: their reads cannot be told apart.
    let twice = |name: &Name| known.clone().filter(|n| *n == name).count() > 1;
    if accesses.iter().any(|at| names(at).any(twice)) {
        return Err(Unknown);
    }
    let variables: Vec<String> = elements(rank).collect();
    let all = || Piece::set("P", variables.iter().map(String::as_str));
    let hidden = |own: &[(Name, String)]| own.iter().fold(all(), |set, (_, v)| set.exists(v));
    let own = named(known.clone().filter(|name| !twice(name)), "b");
    let read: Vec<Piece> = accesses
        .into_iter()
        .map(|at| {
            let at = match at {
                Index::At(at) => at.as_slice(),
                Index::Unset | Index::Forbidden => &[],
            };
            at_element(reader.within(hidden(&own), &own), at, &own)
        })
        .collect();
    let set: Vec<Piece> = sets
        .iter()
        .map(|set| {
            let own = set.own("a");
            set.assigns(hidden(&own), &own)
        })
        .collect();
    Ok(poly::bounded(OPERATIONS, || {
        let unset = Set::new(&read)?.subtract(&Set::new(&set)?)?;
        shown(&unset, variables.len())
    })?)
}

fn names(at: &Index) -> impl Iterator<Item = &Name> {
    let at = match at {
        Index::At(at) => at.as_slice(),
        Index::Unset | Index::Forbidden => &[],
    };
    at.iter()
        .flat_map(|a| a.terms().iter().map(|(name, _)| name))
}

/// The elements of a set as ranges if it is a box; otherwise one of them.
fn shown(set: &Set, rank: usize) -> Result<Option<String>, Error> {
    let Some(first) = set.lexmin()?.sample()? else {
        return Ok(None);
    };
    let mut ranges: Vec<(i64, i64)> = Vec::with_capacity(rank);
    for d in 0..rank {
        let of_dimension = set.project_out(d + 1..rank)?.project_out(0..d)?;
        let ends = [of_dimension.lexmin()?, of_dimension.lexmax()?];
        let [Some(low), Some(high)] = [ends[0].sample()?, ends[1].sample()?] else {
            return Ok(None);
        };
        ranges.push((low.coordinates[0], high.coordinates[0] + 1));
    }
    let variables: Vec<String> = elements(rank).collect();
    let whole = Piece::set("P", variables.iter().map(String::as_str));
    let whole = variables
        .iter()
        .zip(&ranges)
        .fold(whole, |piece, (e, (low, high))| {
            piece
                .constrain(*low, poly::Relation::LessOrEqual, e.as_str())
                .constrain(e.as_str(), poly::Relation::Less, *high)
        });
    let is_box = Set::new(&[whole])?.subtract(set)?.is_empty()?;
    let text = |(range, at): (&(i64, i64), &i64)| {
        if is_box && range.1 - range.0 > 1 {
            format!("[{}..{}]", range.0, range.1)
        } else {
            format!("[{at}]")
        }
    };
    Ok(Some(
        ranges.iter().zip(&first.coordinates).map(text).collect(),
    ))
}
