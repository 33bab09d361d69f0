//! The elements of a tensor that some assignments do not assign, as one range per dimension.
//!
//! The elements of an assignment satisfy a conjunction of conditions on their indices. Each
//! condition requires an index expression to be nonnegative or to be a multiple of a number. The
//! complement splits a set of elements at one condition after the other into disjoint parts. The
//! first part violates the first condition; the second satisfies it and violates the second, and so
//! on.

use super::partition::Assigned;
use super::sizes::for_sizes;
use crate::analysis::shape::IteratorRange;
use crate::ir::{Affine, Domain, Name, Range, Tensor};
use crate::poly::{self, Linear, Piece, Relation, Set};

/// The most parts that are made.
const MAX_PARTS: usize = 256;
/// The largest step between elements: each residue makes a part.
const MAX_STEP: i64 = 1024;
/// The budget of polyhedral operations per part.
const OPERATIONS: u64 = 100_000;

/// Why loops cannot enumerate the remaining elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// The piece with this number, counted from 0, has unsupported conditions.
    Piece(usize),
    /// There are too many parts.
    Many,
}

/// A condition on the indices of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Condition {
    NotNegative(Affine),
    /// The index is a multiple of the number.
    Multiple(Affine, i64),
}

impl Condition {
    /// Disjoint conditions whose union is the negation of this one.
    fn violated(&self) -> Vec<Condition> {
        match self {
            Condition::NotNegative(a) => {
                vec![Condition::NotNegative(a.times(-1).plus_constant(-1))]
            }
            Condition::Multiple(a, by) => (1..*by)
                .map(|rest| Condition::Multiple(a.plus_constant(-rest), *by))
                .collect(),
        }
    }
}

/// The elements of `tensor` that none of `pieces` assigns. Each part has one range per dimension,
/// over the iterators `names`.
///
/// # Errors
/// Loops cannot enumerate the elements.
pub fn complement(
    tensor: &Tensor,
    names: &[Name],
    pieces: &[Assigned],
) -> Result<Vec<Domain>, Stuck> {
    let mut sizes = Vec::new();
    tensor
        .shape()
        .for_each_size(&mut |name| sizes.push(name.clone()));
    let of_pieces = pieces.iter().flat_map(Assigned::sizes);
    for_sizes(sizes.into_iter().chain(of_pieces), || {
        complement_of(tensor, names, pieces)
    })
}

fn complement_of(
    tensor: &Tensor,
    names: &[Name],
    pieces: &[Assigned],
) -> Result<Vec<Domain>, Stuck> {
    let mut parts: Vec<Vec<Condition>> = vec![Vec::new()];
    for (k, piece) in pieces.iter().enumerate() {
        let reached = conditions(piece, names).ok_or(Stuck::Piece(k))?;
        let is_wide = |c: &Condition| matches!(c, Condition::Multiple(_, by) if *by > MAX_STEP);
        if reached.iter().any(is_wide) {
            return Err(Stuck::Many);
        }
        let mut left = Vec::new();
        for part in parts {
            let mut inside = part.clone();
            for condition in &reached {
                for violated in condition.violated() {
                    let outside: Vec<_> = inside.iter().cloned().chain([violated]).collect();
                    if !is_empty(tensor, names, &outside) {
                        left.push(outside);
                    }
                    if left.len() > MAX_PARTS {
                        return Err(Stuck::Many);
                    }
                }
                inside.push(condition.clone());
            }
        }
        parts = left;
    }
    let ranges = |part: &Vec<Condition>| domain(tensor, names, part);
    let domains: Option<Vec<Domain>> = parts.iter().map(ranges).collect();
    Ok(merged(domains.ok_or(Stuck::Piece(0))?))
}

/// Merges adjacent parts.
fn merged(mut parts: Vec<Domain>) -> Vec<Domain> {
    let found = |parts: &[Domain]| {
        let pairs = (0..parts.len()).flat_map(|a| (0..parts.len()).map(move |b| (a, b)));
        let mut pairs = pairs.filter(|(a, b)| a != b);
        pairs.find_map(|(a, b)| Some((a, b, union(&parts[a], &parts[b])?)))
    };
    while let Some((a, b, whole)) = found(&parts) {
        parts[a] = whole;
        parts.remove(b);
    }
    parts
}

/// The union of two parts, if the second one continues the first one in one dimension.
fn union(first: &Domain, second: &Domain) -> Option<Domain> {
    let mut continued = None;
    for ((name, a), (_, b)) in first.iter().zip(second.iter()) {
        if a == b {
            continue;
        }
        let follows = a.upper == b.lower && a.upper.len() == 1 && a.step == 1 && b.step == 1;
        if continued.is_some() || !follows {
            return None;
        }
        continued = Some(name);
    }
    let continued = continued?;
    if first.mentioned().any(|name| name == continued) {
        return None;
    }
    let ranges = first.iter().zip(second.iter()).map(|((name, a), (_, b))| {
        let upper = b.upper.clone();
        (name.clone(), Range { upper, ..a.clone() })
    });
    Some(Domain::new(ranges))
}

/// The conditions on `names` under which a piece assigns the element. `None` if an index has
/// several iterators, or if the element does not determine the iterators.
fn conditions(piece: &Assigned, names: &[Name]) -> Option<Vec<Condition>> {
    let mut found = Vec::new();
    // Each iterator times its factor, as a function of the element.
    let mut solved: Vec<(&IteratorRange, i64, Affine)> = Vec::new();
    for (name, index) in names.iter().zip(&piece.index) {
        let element = Affine::iterator(name.clone()).plus_constant(-index.offset());
        match index.terms() {
            [] => {
                found.push(Condition::NotNegative(element.clone()));
                found.push(Condition::NotNegative(element.times(-1)));
            }
            [(iterator, factor)] => {
                let range = piece.ranges.iter().find(|r| r.name == *iterator)?;
                let sign = factor.signum();
                let times = element.times(sign);
                match solved.iter().find(|(r, ..)| r.name == *iterator) {
                    None => solved.push((range, factor * sign, times)),
                    // The diagonal: both indices determine the iterator.
                    Some((_, by, first)) if *by == factor * sign => {
                        let difference = times.minus(first);
                        found.push(Condition::NotNegative(difference.clone()));
                        found.push(Condition::NotNegative(difference.times(-1)));
                    }
                    Some(_) => return None,
                }
            }
            _ => return None,
        }
    }
    for (range, by, element) in &solved {
        if *by > 1 {
            found.push(Condition::Multiple(element.clone(), *by));
        }
        let limits = range.range();
        // A bound times `scale`, as a function of the element.
        let bound = |bound: &Affine| -> Option<(Affine, i64)> {
            let mut scale = *by;
            for (name, _) in bound.terms() {
                let (_, by, _) = solved.iter().find(|(r, ..)| r.name == *name)?;
                scale = scale.checked_mul(*by)?;
            }
            let mut value = Affine::constant(bound.offset().checked_mul(scale)?);
            for (name, factor) in bound.terms() {
                let (_, by, element) = solved.iter().find(|(r, ..)| r.name == *name)?;
                value = value.plus(&element.times(factor.checked_mul(scale / by)?));
            }
            Some((value, scale))
        };
        for lower in &limits.lower {
            let (value, scale) = bound(lower)?;
            found.push(Condition::NotNegative(
                element.times(scale / by).minus(&value),
            ));
        }
        for upper in &limits.upper {
            let (value, scale) = bound(upper)?;
            let below = value.minus(&element.times(scale / by));
            found.push(Condition::NotNegative(below.plus_constant(-scale)));
        }
        if limits.step > 1 {
            let [lower] = limits.lower.as_slice() else {
                return None;
            };
            let (value, scale) = bound(lower)?;
            let first = element.times(scale / by).minus(&value);
            found.push(Condition::Multiple(first, scale.checked_mul(limits.step)?));
        }
    }
    Some(found)
}

/// Whether no element satisfies the conditions; false if unknown.
fn is_empty(tensor: &Tensor, names: &[Name], conditions: &[Condition]) -> bool {
    let variables: Vec<&str> = names.iter().map(Name::as_str).collect();
    let linear = |a: &Affine| {
        let terms = a.terms().iter();
        Linear::new(terms.map(|(name, c)| (*c, name.to_string())), a.offset())
    };
    let mut piece = Piece::set("P", variables.iter().copied());
    for (name, extent) in names.iter().zip(tensor.shape().dims()) {
        piece = piece
            .constrain(0, Relation::LessOrEqual, name.as_str())
            .constrain(name.as_str(), Relation::Less, linear(&extent));
    }
    for (k, condition) in conditions.iter().enumerate() {
        piece = match condition {
            Condition::NotNegative(a) => piece.constrain(0, Relation::LessOrEqual, linear(a)),
            Condition::Multiple(a, by) => {
                let count = format!("count {k}");
                let multiple = Linear::new([(*by, count.as_str())], 0);
                let piece = piece.exists(&count);
                piece.constrain(linear(a), Relation::Equal, multiple)
            }
        };
    }
    poly::bounded(OPERATIONS, || Set::new(&[piece])?.is_empty()).unwrap_or(false)
}

/// The elements that satisfy the conditions, as ranges; `None` if they do not form ranges.
fn domain(tensor: &Tensor, names: &[Name], conditions: &[Condition]) -> Option<Domain> {
    let mut ranges = Vec::with_capacity(names.len());
    // The interval of each iterator.
    let mut boxes: Vec<(Name, Option<(i64, i64)>)> = Vec::new();
    let mut settled = 0;
    for (d, (name, extent)) in names.iter().zip(tensor.shape().dims()).enumerate() {
        let later = &names[d + 1..];
        let own = |a: &Affine| a.mentions(name) && !later.iter().any(|n| a.mentions(n));
        let mut range = Range::between(Affine::constant(0), extent);
        let mut multiple: Option<(Affine, i64)> = None;
        for condition in conditions {
            let (Condition::NotNegative(a) | Condition::Multiple(a, _)) = condition;
            if !own(a) {
                // A condition without iterators holds, or this part would be empty.
                settled += usize::from(a.as_constant().is_some() && d == 0);
                continue;
            }
            settled += 1;
            let factor = a.coefficient(name);
            let rest = a.minus(&Affine::iterator(name.clone()).times(factor));
            match condition {
                Condition::NotNegative(_) if factor > 0 => {
                    range.lower.push(quotient(&rest.times(-1), factor, true)?);
                }
                Condition::NotNegative(_) => {
                    let last = quotient(&rest, -factor, false)?;
                    range.upper.push(last.plus_constant(1));
                }
                Condition::Multiple(_, by) => {
                    let (1 | -1) = factor else {
                        return None;
                    };
                    let residue = rest.times(-factor);
                    match &multiple {
                        None => multiple = Some((residue, *by)),
                        Some((other, modulus)) => {
                            let apart = residue.minus(other).as_constant()?;
                            let (less, more) = if modulus >= by {
                                ((residue, *by), (other.clone(), *modulus))
                            } else {
                                ((other.clone(), *modulus), (residue, *by))
                            };
                            if more.1 % less.1 != 0 || apart % less.1 != 0 {
                                return None;
                            }
                            multiple = Some(more);
                        }
                    }
                }
            }
        }
        let interval = |a: &Affine| a.interval(&|name| boxes.iter().find(|(n, _)| n == name)?.1);
        let mut range = range.substitute(&|_| None).without_slack(&interval);
        if let Some((residue, by)) = multiple {
            let [lower] = range.lower.as_slice() else {
                return None;
            };
            let past = lower.minus(&residue).as_constant()?;
            range.lower = vec![lower.plus_constant((-past).rem_euclid(by))];
            range.step = by;
        }
        let first = range.lower.iter().filter_map(&interval).map(|(low, _)| low);
        let end = range
            .upper
            .iter()
            .filter_map(&interval)
            .map(|(_, high)| high);
        let values = first.max().zip(end.min().map(|end| end - 1));
        boxes.push((name.clone(), values));
        ranges.push((name.clone(), range));
    }
    (settled == conditions.len()).then(|| Domain::new(ranges))
}

/// The index divided by a number; a constant is rounded up or down.
fn quotient(a: &Affine, by: i64, up: bool) -> Option<Affine> {
    if by == 1 {
        return Some(a.clone());
    }
    match a.as_constant() {
        None => a.divided(by),
        Some(value) => {
            let down = value.div_euclid(by);
            let exact = value.rem_euclid(by) == 0;
            Some(Affine::constant(down + i64::from(up && !exact)))
        }
    }
}
