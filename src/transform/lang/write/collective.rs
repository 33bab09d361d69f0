//! Translates trees back to terms: operations on whole tensors that compute an assignment.
//!
//! Every access becomes a tensor whose dimensions are named by iterators. Products put dimensions
//! side by side. A sum over an iterator contracts the two dimensions of that name.

use crate::analysis::shape::all_ranges;
use crate::ir::{BinaryOp, Elem, Expr, Index, Name, Node, Reduction};
use crate::lang::term::{Kind, Term};
use std::collections::BTreeMap;

/// A term with named dimensions; a name may occur several times.
struct Open {
    term: Term,
    dimensions: Vec<Name>,
}

type Said<T> = Result<T, String>;

fn new(kind: Kind) -> Term {
    Term::new(kind, 0..0)
}

fn number(value: usize) -> (u64, std::ops::Range<usize>) {
    (value as u64, 0..0)
}

/// The term of an assignment's value, with dimensions in the order of the target's.
pub(super) fn term(assignment: &Expr) -> Said<Term> {
    let Node::Assign {
        target,
        value,
        within,
        elsewhere,
    } = assignment.node()
    else {
        return Err("assignments of several pieces".into());
    };
    if !is_plain(assignment.elem()) {
        return Err(format!("type {}", assignment.elem()));
    }
    if !within.is_empty() || elsewhere.is_some() {
        return Err("ranges: all elements are assigned".into());
    }
    let ranges = all_ranges(assignment).map_err(|error| format!("meaning for it: {error}"))?;
    let extents = ranges
        .into_iter()
        .map(|range| (range.name.clone(), range.high));
    let extents: BTreeMap<Name, i64> = extents.collect();
    let Node::Access { tensor, index } = target.node() else {
        return Err("such target".into());
    };
    let index: &[_] = match index {
        Index::At(index) => index,
        Index::Unset | Index::Forbidden => &[],
    };
    let mut own: Vec<Name> = Vec::new();
    for (affine, extent) in index.iter().zip(tensor.shape().extents()) {
        let name = affine.as_iterator().filter(|name| !own.contains(name));
        let name = name.ok_or("index expressions, only dimensions")?;
        if extents.get(name).copied() != i64::try_from(*extent).ok() {
            return Err("ranges: all elements are assigned".into());
        }
        own.push(name.clone());
    }
    let writer = Writer { extents };
    let open = writer.open(value, &[])?;
    Ok(writer.aligned(open, &own)?.term)
}

struct Writer {
    extents: BTreeMap<Name, i64>,
}

impl Writer {
    /// The term of a value; `summed` are the iterators of a sum around it.
    fn open(&self, value: &Expr, summed: &[Name]) -> Said<Open> {
        match value.node() {
            Node::Access { tensor, index } => {
                let index: &[_] = match index {
                    Index::At(index) => index,
                    Index::Unset | Index::Forbidden => &[],
                };
                let mut term = new(Kind::Variable(tensor.label().to_owned()));
                let mut dimensions = Vec::new();
                // In descending order, so that the numbers of the other dimensions stay valid.
                for (k, affine) in index.iter().enumerate().rev() {
                    match (affine.as_constant(), affine.as_iterator()) {
                        (Some(at), _) => {
                            let at = usize::try_from(at).map_err(|_| "negative indices")?;
                            let kind = Kind::Project(number(k + 1), number(at + 1), Box::new(term));
                            term = new(kind);
                        }
                        (None, Some(name)) => {
                            let extent = tensor.shape().extents().get(k).copied();
                            if extent.and_then(|e| i64::try_from(e).ok())
                                != self.extents.get(name).copied()
                            {
                                return Err("slices of dimensions".into());
                            }
                            dimensions.insert(0, name.clone());
                        }
                        (None, None) => return Err("index expressions, only dimensions".into()),
                    }
                }
                Ok(Open { term, dimensions })
            }
            Node::Binary {
                op, left, right, ..
            } => {
                let inside = match op {
                    BinaryOp::Mul => summed,
                    _ => &[],
                };
                let (left, right) = (self.open(left, inside)?, self.open(right, inside)?);
                match op {
                    BinaryOp::Mul if left.dimensions.is_empty() => {
                        Ok(elementwise(*op, left, right))
                    }
                    BinaryOp::Mul if right.dimensions.is_empty() => {
                        Ok(elementwise(*op, right, left))
                    }
                    // Products over summed iterators become contractions instead.
                    BinaryOp::Mul
                        if left.dimensions == right.dimensions
                            && is_distinct(&left.dimensions)
                            && !left.dimensions.iter().any(|name| summed.contains(name)) =>
                    {
                        Ok(elementwise(*op, left, right))
                    }
                    BinaryOp::Mul => {
                        let mut dimensions = left.dimensions;
                        dimensions.extend(right.dimensions);
                        let kind = Kind::Product(Box::new(left.term), Box::new(right.term));
                        let term = new(kind);
                        Ok(Open { term, dimensions })
                    }
                    BinaryOp::Div if right.dimensions.is_empty() => {
                        Ok(elementwise(*op, left, right))
                    }
                    BinaryOp::Add | BinaryOp::Sub | BinaryOp::Div => {
                        let mut all = left.dimensions.clone();
                        all.extend(right.dimensions.clone());
                        let all = distinct(&all);
                        let (left, right) = (self.aligned(left, &all)?, self.aligned(right, &all)?);
                        Ok(elementwise(*op, left, right))
                    }
                    _ => Err(format!("operation `{}`", op.symbol())),
                }
            }
            Node::Reduce {
                reduction,
                over,
                within,
                body,
                ..
            } => {
                for (name, range) in within.iter() {
                    if range.as_constant() != self.extents.get(name).map(|extent| (0, *extent)) {
                        return Err("ranges: all of a dimension is reduced".into());
                    }
                }
                let summed: &[Name] = match reduction {
                    Reduction::Sum => over,
                    _ => &[],
                };
                let open = self.open(body, summed)?;
                self.reduced(*reduction, over, open)
            }
            Node::Constant(_) => Err("numbers: only variables have values".into()),
            Node::Index(_) => Err("values of indices".into()),
            Node::Apply { function, .. } => Err(format!("function `{}`", function.name())),
            Node::Virtual { .. } | Node::Assign { .. } | Node::Pieces { .. } => {
                Err("such values".into())
            }
        }
    }

    fn reduced(&self, reduction: Reduction, over: &[Name], mut open: Open) -> Said<Open> {
        let count =
            |open: &Open, name: &Name| open.dimensions.iter().filter(|d| *d == name).count();
        let twice = |name: &&Name| count(&open, name) == 2 && reduction == Reduction::Sum;
        let (pairs, others): (Vec<&Name>, Vec<&Name>) = over.iter().partition(twice);
        let places = |open: &Open, name: &Name| -> Vec<usize> {
            let all = open.dimensions.iter().enumerate();
            all.filter(|(_, d)| *d == name).map(|(k, _)| k).collect()
        };
        if !pairs.is_empty() {
            let contracted = pairs
                .iter()
                .filter_map(|name| match places(&open, name)[..] {
                    [m, n] => Some([number(m + 1), number(n + 1)]),
                    _ => None,
                });
            let kind = Kind::Contract(contracted.collect(), Box::new(open.term));
            open.term = new(kind);
            open.dimensions.retain(|d| !pairs.contains(&d));
        }
        for name in others {
            while let [first, second, ..] = places(&open, name)[..] {
                open = merged(open, first, second);
            }
            let place = match places(&open, name).first() {
                Some(place) => *place,
                None => {
                    open = self.expanded(open, name)?;
                    0
                }
            };
            let kind = Kind::Reduce(reduction, number(place + 1), Box::new(open.term));
            open.term = new(kind);
            open.dimensions.remove(place);
        }
        Ok(open)
    }

    /// Rearranges the term to exactly these dimensions, in this order.
    fn aligned(&self, mut open: Open, to: &[Name]) -> Said<Open> {
        while let Some((second, name)) = open
            .dimensions
            .iter()
            .enumerate()
            .find(|(k, d)| open.dimensions[..*k].contains(d))
        {
            let first = open.dimensions.iter().position(|d| d == name);
            open = merged(open, first.unwrap_or(0), second);
        }
        for name in to.iter().rev() {
            if !open.dimensions.contains(name) {
                open = self.expanded(open, name)?;
            }
        }
        for (k, name) in to.iter().enumerate() {
            let Some(at) = open.dimensions.iter().position(|d| d == name) else {
                return Err("such dimensions".into());
            };
            if at != k {
                let kind = Kind::Transpose([number(k + 1), number(at + 1)], Box::new(open.term));
                open.term = new(kind);
                open.dimensions.swap(k, at);
            }
        }
        if open.dimensions.len() == to.len() {
            Ok(open)
        } else {
            Err("values with iterators that the target does not have".into())
        }
    }

    /// The term with a new first dimension along which elements are equal.
    fn expanded(&self, open: Open, name: &Name) -> Said<Open> {
        let extent = self
            .extents
            .get(name)
            .and_then(|e| usize::try_from(*e).ok());
        let extent = extent.ok_or("extents of that dimension")?;
        let kind = Kind::Expand(number(1), number(extent), Box::new(open.term));
        let term = new(kind);
        let mut dimensions = vec![name.clone()];
        dimensions.extend(open.dimensions);
        Ok(Open { term, dimensions })
    }
}

/// The diagonal of two dimensions.
fn merged(mut open: Open, first: usize, second: usize) -> Open {
    let pair = [number(first + 1), number(second + 1)];
    open.term = new(Kind::Diagonal(pair, Box::new(open.term)));
    open.dimensions.remove(second);
    open
}

fn elementwise(op: BinaryOp, left: Open, right: Open) -> Open {
    let dimensions = if left.dimensions.is_empty() {
        right.dimensions
    } else {
        left.dimensions
    };
    let term = new(Kind::Elementwise(
        op,
        Box::new(left.term),
        Box::new(right.term),
    ));
    Open { term, dimensions }
}

fn distinct(names: &[Name]) -> Vec<Name> {
    let mut found: Vec<Name> = Vec::new();
    for name in names {
        if !found.contains(name) {
            found.push(name.clone());
        }
    }
    found
}

fn is_distinct(names: &[Name]) -> bool {
    distinct(names).len() == names.len()
}

/// Whether numbers of a type have the meaning of a notation without types.
fn is_plain(elem: Elem) -> bool {
    elem == Elem::F64
}
