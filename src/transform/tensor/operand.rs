//! Operands: the where-clauses of TeML eqs. 14 and 15, in one place.
//!
//! An operand either has iterators already (I' ≠ ε) and is given none, or has none (I' = ε)
//! and is given a list. An assignment stands for the tensor that it assigns to.

use crate::analysis::shape;
use crate::ir::{Affine, Expr, Index, Infix, Name, Node, fresh_name};
use crate::transform::{Error, ErrorKind, Iters};

/// `expr` with iterators, ready to stand in an operation.
pub(super) fn indexed(expr: &Expr, given: &Iters) -> Result<Expr, ErrorKind> {
    let tensor = |tensor: &crate::ir::Tensor| match given {
        _ if tensor.name().is_none() => Err(ErrorKind::Unnamed),
        Some(list) if tensor.is_scalar() && !list.is_empty() => Err(ErrorKind::ScalarIndexed {
            scalar: tensor.label().to_owned(),
        }),
        _ if tensor.is_scalar() => Ok(Expr::access(tensor.clone(), Index::Forbidden)),
        Some(list) => {
            shape::check_rank(tensor.label(), tensor.shape().rank(), list)?;
            Ok(Expr::access(tensor.clone(), Index::At(list.clone())))
        }
        // The empty list is the only one that rank 0 can take.
        None if tensor.shape().rank() == 0 => {
            Ok(Expr::access(tensor.clone(), Index::At(Vec::new())))
        }
        None => Err(ErrorKind::IteratorsMissing {
            what: tensor.label().to_owned(),
            rank: tensor.shape().rank(),
        }),
    };
    match expr.node() {
        Node::Access {
            tensor: t,
            index: Index::Unset | Index::Forbidden,
        } => tensor(t),
        Node::Assign { target, .. } => match target.tensor() {
            Some(t) => tensor(t),
            None => Err(ErrorKind::Misdeclared),
        },
        Node::Virtual { formals, body, .. } => {
            let Some(list) = given else {
                let (what, rank) = (describe(expr), formals.len());
                return Err(ErrorKind::IteratorsMissing { what, rank });
            };
            shape::check_rank(&describe(expr), formals.len(), list)?;
            Ok(body.substitute(&|name| {
                let k = formals.iter().position(|f| f == name)?;
                Some(list[k].clone())
            }))
        }
        _ => match given {
            Some(_) => Err(ErrorKind::IteratorsGiven {
                has: expr.iterators(),
            }),
            None => Ok(expr.clone()),
        },
    }
}

/// `expr` indexed by `fresh` iterators, one per dimension: for operations that count
/// dimensions. The dimensions of an expression that has iterators are its iterators, in order
/// of first appearance.
pub(super) fn positional(expr: &Expr, fresh: &[Affine]) -> Result<Expr, ErrorKind> {
    if let Ok(expr) = indexed(expr, &Some(fresh.to_vec())) {
        return Ok(expr);
    }
    let expr = indexed(expr, &None)?;
    let own = expr.iterators();
    Ok(expr.substitute(&|name| Some(fresh[own.iter().position(|n| n == name)?].clone())))
}

/// The number of dimensions that [`positional`] counts.
pub(super) fn rank(expr: &Expr) -> usize {
    match expr.node() {
        Node::Assign { target, .. } => target.tensor().map_or(0, |t| t.shape().rank()),
        Node::Access {
            index: Index::At(_),
            ..
        } => expr.iterators().len(),
        Node::Access { tensor, .. } => tensor.shape().rank(),
        _ => expr.shape().map_or(0, |s| s.rank()),
    }
}

/// `count` generated iterators that occur in none of `exprs`.
pub(super) fn fresh_iterators(count: usize, exprs: &[&Expr]) -> Vec<Name> {
    let taken: Vec<Name> = exprs.iter().flat_map(|e| e.all_names()).collect();
    let mut fresh: Vec<Name> = Vec::with_capacity(count);
    for _ in 0..count {
        fresh.push(fresh_name(|n| taken.contains(n) || fresh.contains(n)));
    }
    fresh
}

/// An operand in messages.
pub(super) fn describe(expr: &Expr) -> String {
    match expr.node() {
        Node::Assign { target, .. } => describe(target),
        Node::Access { tensor, .. } => tensor.label().to_owned(),
        _ => format!("`{}`", Infix(expr)),
    }
}

/// Says which of the two operands an error is about; they are the first two parameters.
pub(super) fn of_operand<T>(result: Result<T, ErrorKind>, k: usize) -> Result<T, Error> {
    result.map_err(|kind| Error::from(kind).at_argument(k))
}
