//! `partition` makes one assignment of several pieces.
//!
//! ```rhai
//! let A = tensor([3]);
//! let B = tensor([4]);
//! let C = partition([eq(A, [i] -> [i]), eq(B, [i] -> [i + 3])]);
//! let D = partition([eq(A, [i] -> [i + 1])], 0, [5]);
//! print(C); print(D); print(build(D));
//! ```
//!
//! ```text
//! f64 C[7], A[3], B[4]
//! C[i] = A[i] where i in 0..3
//! C[i + 3] = B[i]
//! f64 D[5], A[3]
//! D[i + 1] = A[i]
//! D[i] = 0 otherwise
//! f64 D[5], A[3]
//! for i in 0..3
//!   D[i + 1] = A[i]
//! for i_2 in 0..1
//!   D[i_2] = 0
//! for i_3 in 4..5
//!   D[i_3] = 0
//! ```
//!
//! `partition(pieces, otherwise?, extents?)`: each piece is an assignment, as `eq` makes it, to its
//! elements of the target; a range as in `eq(value, [i] -> [i], #{i: 1..9})` says which. The target
//! has the greatest extents of the pieces and of `otherwise`, or those given. If the variable that
//! the assignment is bound to holds a tensor, its shape is kept, and the pieces have to fill it.
//!
//! Every element is assigned once. Those that no piece assigns get the number `otherwise`, or the
//! elements of that tensor or that assignment; the target itself keeps what it holds. `build` makes
//! loops for each piece and for the remaining elements, so that no loop tests where it is.
//!
//! All values are over what the tensors held before: a piece that reads elements of the target runs
//! before the pieces that assign them.
//!
//! ```rhai
//! let u = tensor([6, 6]);
//! let v = partition([eq(u + 1, [i, j] -> [i, j], #{i: 1..5, j: 1..5})], u);
//! print(build(v));
//! ```
//!
//! ```text
//! f64 v[6][6], u[6][6]
//! for i in 1..5
//!   for j in 1..5
//!     v[i][j] = u[i][j] + 1
//! for i_2 in 0..1
//!   for j_2 in 0..6
//!     v[i_2][j_2] = u[i_2][j_2]
//! for i_3 in 5..6
//!   for j_3 in 0..6
//!     v[i_3][j_3] = u[i_3][j_3]
//! for i_4 in 1..5
//!   for j_4 in 0..1
//!     v[i_4][j_4] = u[i_4][j_4]
//! for i_5 in 1..5
//!   for j_5 in 5..6
//!     v[i_5][j_5] = u[i_5][j_5]
//! ```
//!
//! Refuses: pieces that share an element, with the iterations of both that assign it; an element
//! that no piece assigns, unless `otherwise` is given; pieces that read what each other assign;
//! ranks and element types that differ.
//!
//! Source: beyond TeML; the generators of with-loops in SaC.

use super::eq::onto;
use super::operand::{Operand, fresh_iterators, positional, rank, typed};
use super::split::check_whole;
use crate::analysis::bounds::Bounds;
use crate::analysis::shape::{self, Mismatch};
use crate::args::Extents;
use crate::ir::{Affine, Domain, Expr, Index, Name, Node, Range, Shape, Tensor};
use crate::lower::partition::{NoPartition, assignments};
use crate::refusals::too_complex;
use crate::{Error, Op, Param, Returns, Value, mistake};

const PIECES: Param<Vec<Expr>> = Param::new("pieces");
const OTHERWISE: Param<Option<Operand>> = Param::new("otherwise");
const EXTENTS: Param<Option<Extents>> = Param::new("extents");

/// `partition(pieces, otherwise)`.
pub static PARTITION: Op = Op {
    name: "partition",
    params: &[PIECES.any(), OTHERWISE.any(), EXTENTS.any()],
    returns: Returns::Expr,
    file: include_str!("partition.rs"),
    call: |args| {
        let (otherwise, extents) = (args.get(&OTHERWISE)?, args.get(&EXTENTS)?);
        partition(args.get(&PIECES)?, otherwise, extents).map(Value::Expr)
    },
};

/// The assignment of all pieces to a tensor named □, and of `otherwise`, a number or an
/// expression, to its other elements.
///
/// # Errors
/// As the header says.
pub fn partition(
    pieces: &[Expr],
    otherwise: Option<Operand<'_>>,
    extents: Option<&[Affine]>,
) -> Result<Expr, Error> {
    let at = |error: Error| error.at(&PIECES);
    let refused = |why: NoPartition| at(why.into());
    let mut targets: Vec<(&Tensor, &Expr)> = Vec::with_capacity(pieces.len());
    for (k, piece) in pieces.iter().enumerate() {
        match piece.node() {
            Node::Assign {
                elsewhere: Some(_), ..
            } => return Err(refused(NoPartition::Elsewhere { piece: k + 1 })),
            Node::Assign { target, .. } => targets.extend(target.tensor().map(|t| (t, piece))),
            _ => return Err(refused(NoPartition::NotAnAssignment { piece: k + 1 })),
        }
    }
    // Numbers take the type of the other pieces.
    let is_number = |piece: &Expr| match piece.node() {
        Node::Assign { value, .. } => matches!(value.node(), Node::Constant(_)),
        _ => false,
    };
    let typed = targets.iter().find(|(_, piece)| !is_number(piece));
    let Some(&(first, piece)) = typed.or(targets.first()) else {
        return Err(refused(NoPartition::Empty));
    };
    let ranks = targets.iter().map(|(tensor, _)| tensor.shape().rank());
    let rank_of_first = targets[0].0.shape().rank();
    for (k, rank) in ranks.enumerate() {
        if rank != rank_of_first {
            let (piece, first) = (k + 1, rank_of_first);
            return Err(refused(NoPartition::Ranks { piece, rank, first }));
        }
    }
    let rest = otherwise.map(|operand| {
        let rest = other(operand, first, piece);
        rest.map_err(|error| error.at(&OTHERWISE))
    });
    let rest = rest.transpose()?;
    let shape = match extents {
        Some(extents) => {
            let shape = Shape::of_dims(extents.to_vec(), first.elem());
            shape.map_err(|e| Error::from(e).at(&EXTENTS))?
        }
        None => {
            let shapes = targets.iter().map(|(tensor, _)| tensor.shape().clone());
            let shapes: Vec<Shape> = shapes.chain(extents_of(otherwise)).collect();
            greatest(first, &shapes).map_err(at)?
        }
    };
    let target = Tensor::new(shape, first.elem());
    let placed = pieces.iter().map(|piece| placed(piece, &target));
    let pieces: Vec<Expr> = placed.collect::<Result<_, _>>().map_err(at)?;
    let rest = rest.map(|(index, value)| whole(&target, index, value));
    let partition = in_limits(pieces, rest).map_err(at)?;
    match assignments(&partition) {
        Ok(_) => Ok(partition),
        // The tensor that it is bound to may have other extents.
        Err(NoPartition::Hole { .. }) if extents.is_none() => Ok(partition),
        Err(why) => Err(refused(why)),
    }
}

/// Checks that the pieces assign every element of their target, once its extents are known.
///
/// # Errors
/// As [`partition`].
pub fn check_complete(partition: &Expr) -> Result<(), Error> {
    match partition.node() {
        Node::Pieces { .. } => match assignments(partition) {
            Ok(_) => Ok(()),
            Err(why) => Err(Error {
                op: PARTITION.name,
                ..why.into()
            }),
        },
        _ => Ok(()),
    }
}

/// The assignment with `tensor`, which is already declared, as its target.
///
/// # Errors
/// Ranks, extents or element types that disagree.
pub fn retarget(assignment: &Expr, tensor: &Tensor) -> Result<Expr, Error> {
    match assignment.node() {
        Node::Pieces { pieces, otherwise } => retargeted(pieces, otherwise.as_ref(), tensor),
        _ => onto(assignment, tensor),
    }
}

/// The pieces with `tensor`, which is already declared, as their target.
///
/// # Errors
/// Ranks, extents or element types that disagree; elements that no piece assigns.
pub fn retargeted(
    pieces: &[Expr],
    otherwise: Option<&Expr>,
    tensor: &Tensor,
) -> Result<Expr, Error> {
    let placed = pieces.iter().map(|piece| placed(piece, tensor));
    let pieces: Vec<Expr> = placed.collect::<Result<_, _>>()?;
    let rest = otherwise.and_then(|rest| match rest.node() {
        Node::Assign { target, value, .. } => Some((indices(target)?, value.clone())),
        _ => None,
    });
    let rest = rest.map(|(index, value)| whole(tensor, index, value));
    let partition = in_limits(pieces, rest)?;
    check_complete(&partition)?;
    Ok(partition)
}

/// A piece with another target, which may be larger; iterators keep their ranges.
fn placed(piece: &Expr, tensor: &Tensor) -> Result<Expr, Error> {
    let Node::Assign {
        target,
        value,
        within,
        elsewhere,
    } = piece.node()
    else {
        return onto(piece, tensor);
    };
    let ranges = shape::ranges(piece)?;
    let extents = tensor.shape().extents();
    let of_target = match target.node() {
        Node::Access {
            index: Index::At(index),
            ..
        } if index.len() == extents.len() => index.as_slice(),
        _ => &[],
    };
    let narrower = of_target.iter().zip(extents).filter_map(|(index, extent)| {
        let range = ranges
            .iter()
            .find(|r| index.as_iterator() == Some(&r.name))?;
        let narrower = range.given.is_none() && range.alone.is_some_and(|own| own < *extent);
        narrower.then(|| (range.name.clone(), Range::constant(range.low, range.high)))
    });
    let piece = Expr::new(Node::Assign {
        target: target.clone(),
        value: value.clone(),
        within: within.with(&Domain::new(narrower)),
        elsewhere: *elsewhere,
    });
    onto(&piece, tensor)
}

fn in_limits(pieces: Vec<Expr>, otherwise: Option<Expr>) -> Result<Expr, Error> {
    let whole = Expr::new(Node::Pieces { pieces, otherwise });
    if whole.is_in_limits() {
        Ok(whole)
    } else {
        Err(too_complex())
    }
}

/// The value of the other elements, and the iterators that index it.
fn other(operand: Operand<'_>, first: &Tensor, piece: &Expr) -> Result<(Vec<Name>, Expr), Error> {
    let rank_of_target = first.shape().rank();
    let names = |exprs: &[&Expr]| match piece.node() {
        Node::Assign { target, .. } => {
            iterators_of(target).unwrap_or_else(|| fresh_iterators(rank_of_target, exprs))
        }
        _ => fresh_iterators(rank_of_target, exprs),
    };
    match operand {
        Operand::Number(number) => {
            let value = Expr::new(Node::Constant(typed(number, first.elem())?));
            Ok((names(&[piece]), value))
        }
        Operand::Expr(expr) => {
            if let (Node::Assign { target, value, .. }, Some(None)) =
                (expr.node(), expr.tensor().map(Tensor::name))
                && let Some(index) = indices(target)
            {
                return Ok((index, value.clone()));
            }
            if rank(expr) != rank_of_target {
                let list: Vec<Affine> = names(&[]).into_iter().map(Affine::iterator).collect();
                let label = expr
                    .tensor()
                    .map_or("the value of other elements", Tensor::label);
                shape::check_rank(label, rank(expr), &list)?;
            }
            let index = fresh_iterators(rank_of_target, &[expr, piece]);
            let index = if expr.all_names().is_empty() {
                names(&[expr, piece])
            } else {
                index
            };
            let fresh: Vec<Affine> = index.iter().cloned().map(Affine::iterator).collect();
            let value = positional(expr, &fresh)?;
            check_whole(&value)?;
            if value.elem() != first.elem() {
                return Err(Mismatch::Elems {
                    left: "the pieces".to_owned(),
                    left_elem: first.elem(),
                    right: "the value of other elements".to_owned(),
                    right_elem: value.elem(),
                }
                .into());
            }
            Ok((index, value))
        }
    }
}

/// The iterators in the indices of an access, if each dimension has its own.
fn iterators_of(access: &Expr) -> Option<Vec<Name>> {
    let Node::Access { index, .. } = access.node() else {
        return None;
    };
    let Index::At(index) = index else {
        return Some(Vec::new());
    };
    let mut names: Vec<Name> = Vec::with_capacity(index.len());
    for a in index {
        let [(name, _)] = a.terms() else {
            return None;
        };
        if names.contains(name) {
            return None;
        }
        names.push(name.clone());
    }
    Some(names)
}

/// The iterators that index an access, if each index is a single iterator of its own.
fn indices(access: &Expr) -> Option<Vec<Name>> {
    let names = iterators_of(access)?;
    let plain = match access.node() {
        Node::Access {
            index: Index::At(index),
            ..
        } => index.iter().all(|a| a.as_iterator().is_some()),
        _ => true,
    };
    plain.then_some(names)
}

/// The extents of a tensor, or of an expression without iterators.
fn extents_of(otherwise: Option<Operand<'_>>) -> Option<Shape> {
    match otherwise {
        Some(Operand::Expr(expr)) => match (expr.tensor(), expr.node()) {
            (Some(tensor), _) => Some(tensor.shape().clone()),
            (None, Node::Virtual { shape, .. }) => Some(shape.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// The greatest extents of several shapes, which all have the rank of `first`.
fn greatest(first: &Tensor, shapes: &[Shape]) -> Result<Shape, Error> {
    let mut greatest = vec![Affine::constant(1); first.shape().rank()];
    for (d, greatest) in greatest.iter_mut().enumerate() {
        for extent in shapes
            .iter()
            .filter_map(|shape| shape.dims().get(d).cloned())
        {
            let is_first = greatest.as_constant() == Some(1);
            match Bounds::default().interval(&extent.minus(greatest)) {
                Some((least, _)) if least >= 0 => *greatest = extent,
                Some((_, most)) if most <= 0 => {}
                _ if is_first => *greatest = extent,
                _ if extent.as_constant() == Some(1) => {}
                _ => {
                    let what = format!(
                        "has pieces with the extents {greatest} and {extent} in dimension {}, and \
                         sizes do not say which one is greater",
                        d + 1
                    );
                    return Err(mistake(what).help("give the extents as the third argument"));
                }
            }
        }
    }
    Ok(Shape::of_dims(greatest, first.elem())?)
}

/// The assignment of `value` to all elements of a tensor.
fn whole(tensor: &Tensor, index: Vec<Name>, value: Expr) -> Expr {
    let dims = tensor.shape().dims();
    let ranges = index.iter().zip(dims).map(|(name, extent)| {
        let range = Range {
            upper: vec![extent],
            ..Range::constant(0, 0)
        };
        (name.clone(), range)
    });
    let within = Domain::new(ranges);
    let index = index.into_iter().map(Affine::iterator);
    Expr::new(Node::Assign {
        target: Expr::element(tensor, index.collect()),
        value,
        within,
        elsewhere: None,
    })
}
