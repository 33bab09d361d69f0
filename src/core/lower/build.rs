//! `build` wraps an assignment in a loop nest.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let x = tensor([5]);
//! let y = eq(vsum(vmul(A, x, [[i, j], [j]]), [j]), [i]);
//! print(build(y));
//! ```
//!
//! ```text
//! f64 y[4], A[4][5], x[5]
//! fill y[0..4] = 0
//! for i in 0..4
//!   for j in 0..5
//!     y[i] += A[i][j] * x[j]
//! ```
//!
//! The nest is perfect, unless it has temporaries. The initialization of a reduction is a fill
//! before it. So is the number for the elements that the loops do not reach (`elsewhere`). Loops
//! are named after their iterators: first the iterators of the target, then the summed ones, each
//! in order of appearance. If all iterators are called i1, i2 … (one letter and a number), they are
//! ordered by number, as TeML numbers them by level. An iterator that no script named is called i
//! and its level.
//!
//! Every element of the target gets its value from the old contents of all tensors, even if the
//! value reads the target. The nest computes in place if each element is read only for itself: the
//! assignment is compatible. It also does so if the loops read all elements before they assign
//! them. For that, some loops may run backwards or in another order, and a reduction has a number
//! of its own in each iteration. Otherwise the value goes through a temporary, which is not an
//! argument of the nest.
//!
//! ```rhai
//! let x = tensor([10]);
//! let B = tensor([10, 10]);
//! x = eq(vadd(x, x, [[i], [i - 1]]), [i]);
//! print(build(x));
//! B = eq(B, [i, j] -> [j, i]);
//! print(build(B));
//! ```
//!
//! ```text
//! f64 x[10]
//! for i in 1..10
//!   x[10 - i] += x[9 - i]
//! f64 B[10][10]
//! local f64 B_tmp[10][10]
//! for j in 0..10
//!   for i in 0..10
//!     B_tmp[j][i] = B[i][j]
//! for j_2 in 0..10
//!   for i_2 in 0..10
//!     B[j_2][i_2] = B_tmp[j_2][i_2]
//! ```
//!
//! The polyhedral library decides exactly whether another order is right. Without it, an assignment
//! that reads other elements gets a temporary.
//!
//! A sum moves outward of `*`, `neg` and the dividend of a floating-point quotient. Any other
//! reduction that is an operand has a temporary: a number, or a tensor if its elements are used
//! several times.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let x = tensor([5]);
//! let y = tensor([4]);
//! y = eq(2 * vsum(vmul(A, x, [[i, j], [j]]), [j]) + 3 * vat(y, [i]), [i]);
//! print(build(y));
//! ```
//!
//! ```text
//! f64 y[4], A[4][5], x[5]
//! for i in 0..4
//!   local f64 y_sum[]
//!   fill y_sum[] = 0
//!   for j in 0..5
//!     y_sum[] += A[i][j] * x[j]
//!   y[i] = 2 * y_sum[] + 3 * y[i]
//! ```
//!
//! Refuses: virtual expressions; an iterator that occurs only in the value, unless the target
//! accumulates onto itself; several iterations that assign, or may assign, one element; a number
//! `elsewhere` that differs from the number that a reduction of the target begins from.
//!
//! Source: TeML eq. 19; initialization: §4.2.3; in place: Ullrich, Detection and Exploitation of
//! Data-Parallelism in Assignments of Multi-Dimensional Tensors, 2018, Def. 2.

use super::flatten::{Flat, Stuck, flatten};
use super::overwrite::Assignment;
use super::partition::{self, NoPartition};
use super::reductions::split;
use super::target::Target;
use crate::analysis::shape::{self, IteratorRange};
use crate::ir::{
    Affine, BinaryOp, Constant, Domain, Expr, Index, Infix, Name, Nest, Node, Reduction, Stmt,
    Tensor,
};

/// Why an expression has no nest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoNest {
    /// Only assignments have nests (the where-clause of eq. 19).
    #[error("build needs an assignment, and this is {what}")]
    NotAnAssignment { what: &'static str },
    /// The target has no name.
    #[error("the assignment has no name yet")]
    Unnamed,
    /// An iterator of the value is missing in the target of a plain assignment.
    #[error(
        "`{iterator}` indexes the value but not the target {target}: which of its values should be assigned?"
    )]
    UnassignedIterator {
        iterator: Name,
        /// The target, indexed.
        target: String,
    },
    /// `sweep` reduces elements of the target, or sets all of it first.
    #[error("the value reads {read} while {target} is being assigned")]
    ReadsTarget {
        /// The access in the value.
        read: String,
        target: String,
    },
    /// Several iterations write one element.
    #[error("{target} does not name a different element for each value of `{iterator}`")]
    NotInjective {
        /// The target, indexed.
        target: String,
        iterator: Name,
    },
    /// A reduction into a target whose written elements form no box.
    #[error(
        "the reduction writes only some elements of the box around {target}, and such a set cannot be initialized"
    )]
    Scattered {
        /// The target, indexed.
        target: String,
    },
    /// A reduction into a target whose other elements get another number than it begins from.
    #[error(
        "the reduction `{reduction}` begins from {identity}, and {target} is {elsewhere} elsewhere"
    )]
    TwoConstants {
        reduction: &'static str,
        /// The number that it begins from.
        identity: Constant,
        /// The target, indexed.
        target: String,
        /// The number of the other elements.
        elsewhere: Constant,
    },
    /// Extents that do not fit.
    #[error(transparent)]
    Shape(#[from] shape::Mismatch),
    /// Assignments that are not the pieces of one.
    #[error(transparent)]
    Partition(#[from] NoPartition),
}

/// The loop nest of an assignment.
///
/// # Errors
/// The header lists them.
pub fn build(assignment: &Expr) -> Result<Nest, NoNest> {
    if let Node::Pieces { .. } = assignment.node() {
        return partition::nest(assignment);
    }
    let trees = match lower(assignment) {
        Err(Refused::InTheWay) => split(assignment)?.build(),
        lowered => lowered?.build(),
    };
    Ok(Nest::built(trees, assignment.clone()))
}

/// The loop nest of an assignment that assigns elements one after the other. Later iterations may
/// read them.
///
/// # Errors
/// The header lists them. The value also must not read elements of the target that are reduced, or
/// set before the loops.
pub fn sweep(assignment: &Expr) -> Result<Nest, NoNest> {
    let trees = match lower(assignment) {
        Err(Refused::InTheWay) => split(assignment)?.in_order()?,
        lowered => {
            let lowered = lowered?;
            lowered.check_order()?;
            lowered.in_order()
        }
    };
    Ok(Nest::in_order(trees, assignment.clone()))
}

/// An assignment as one statement in its loops, even if it overwrites elements that it reads. It
/// shows the notation, not the execution.
///
/// # Errors
/// As [`build`].
pub fn written(assignment: &Expr) -> Result<Nest, NoNest> {
    let trees = match lower(assignment) {
        Err(Refused::InTheWay) => split(assignment)?.in_order()?,
        lowered => lowered?.in_order(),
    };
    Ok(Nest::built(trees, assignment.clone()))
}

/// Why an assignment is not a single statement in loops.
pub(super) enum Refused {
    /// A reduction cannot move out of the operation around it.
    InTheWay,
    /// The assignment has no nest.
    NoNest(NoNest),
}

impl From<NoNest> for Refused {
    fn from(error: NoNest) -> Refused {
        Refused::NoNest(error)
    }
}

impl From<Refused> for NoNest {
    fn from(refused: Refused) -> NoNest {
        match refused {
            Refused::NoNest(error) => error,
            Refused::InTheWay => NoNest::NotAnAssignment { what: "malformed" },
        }
    }
}

/// An assignment as a single statement in its loops.
pub(super) fn lower(assignment: &Expr) -> Result<Assignment, Refused> {
    let Parts {
        target,
        index,
        value,
        within,
        elsewhere,
    } = parts(assignment)?;
    let shown = Infix(assignment.children()[0]).to_string();
    let access = Target {
        tensor: target,
        index: &index,
        shown,
    };

    let flat = |value: &Expr| {
        let mut taken = assignment.iterators();
        flatten(value, &mut taken).map_err(|Stuck(_)| Refused::InTheWay)
    };
    let (mut onto_old, rest) = access.split_update(value);
    let mut flattened = flat(rest)?;
    if let (Some(op), Some(reduction)) = (onto_old, flattened.reduction)
        && !continues(op, reduction)
    {
        // The old elements are ordinary operands.
        (onto_old, flattened) = (None, flat(value)?);
    }
    let Flat {
        reduction,
        over,
        within: of_reduced,
        body,
    } = flattened;
    let of_target = names_in(&index);
    let mut extra: Vec<Name> = Vec::new();
    for name in body.iterators().iter().chain(of_reduced.mentioned()) {
        let is_known = [&of_target, &over, &extra].iter().any(|l| l.contains(name));
        if !is_known {
            extra.push(name.clone());
        }
    }
    let within = within.with(&of_reduced);

    let update = match (onto_old, reduction, extra.first()) {
        // The reduction accumulates onto the target: onto its old elements, or onto the fill.
        (None, Some(reduction), None) => Some(reduction.op()),
        (None, _, Some(iterator)) => {
            let (iterator, target) = (iterator.clone(), access.shown);
            return Err(NoNest::UnassignedIterator { iterator, target }.into());
        }
        (update, _, _) => update,
    };
    let reduced = extra.into_iter().chain(over).collect();
    let order = loop_order(of_target.clone(), reduced);
    let order = within.nested(&order).unwrap_or(order);
    let stmt = Stmt {
        target: target.clone(),
        index: index.clone(),
        update,
        value: body,
        origin: None,
    };
    let ranges = statement_ranges(&stmt, within, elsewhere)?;
    access.check_injective(&of_target, &ranges)?;
    let begins = reduction.filter(|_| onto_old.is_none());
    let first = access.first(&ranges, begins, elsewhere)?;

    let names = readable(&order);
    let readable = |name: &Name| -> Option<Name> {
        let k = order.iter().position(|n| n == name)?;
        Some(names[k].clone())
    };
    let range = |name: &Name| -> Option<IteratorRange> {
        let range = ranges.iter().find(|r| r.name == *name)?.clone();
        let name = readable(name)?;
        let rename = |name: &Name| readable(name).map(Affine::iterator);
        let given = range.given.map(|given| given.substitute(&rename));
        Some(IteratorRange {
            name,
            given,
            ..range
        })
    };
    Ok(Assignment {
        stmt: stmt.substitute(&|name| readable(name).map(Affine::iterator)),
        first: first.map(|first| first.renamed(&readable)),
        begins: begins.is_some(),
        elsewhere: elsewhere.is_some(),
        loops: order.iter().filter_map(range).collect(),
        own: of_target.iter().filter_map(readable).collect(),
    })
}

/// Whether `old op (all values reduced)` equals `old op value op value …`.
fn continues(op: BinaryOp, reduction: Reduction) -> bool {
    op == reduction.op() || (op, reduction) == (BinaryOp::Sub, Reduction::Sum)
}

/// The components of an assignment.
struct Parts<'e> {
    target: &'e Tensor,
    index: Vec<Affine>,
    value: &'e Expr,
    within: Domain,
    elsewhere: Option<Constant>,
}

fn parts(assignment: &Expr) -> Result<Parts<'_>, NoNest> {
    let what = match assignment.node() {
        Node::Assign {
            target,
            value,
            within,
            elsewhere,
        } => match target.node() {
            Node::Access { tensor, .. } if tensor.name().is_none() => return Err(NoNest::Unnamed),
            Node::Access { tensor, index } => {
                let index = match index {
                    Index::At(index) => index.clone(),
                    Index::Unset | Index::Forbidden => Vec::new(),
                };
                return Ok(Parts {
                    target: tensor,
                    index,
                    value,
                    within: within.clone(),
                    elsewhere: *elsewhere,
                });
            }
            _ => "malformed",
        },
        Node::Access { .. } => "a tensor without a value",
        Node::Pieces { .. } => "an assignment in pieces",
        _ => "a virtual expression",
    };
    Err(NoNest::NotAnAssignment { what })
}

/// The iterators in order of appearance. Within one index they are sorted by descending stride, so
/// that the loops access memory in order.
fn names_in(index: &[Affine]) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    for index in index {
        let mut terms: Vec<&(Name, i64)> = index.terms().iter().collect();
        terms.sort_by_key(|(_, c)| std::cmp::Reverse(c.unsigned_abs()));
        for (name, _) in terms {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    names
}

fn statement_ranges(
    stmt: &Stmt,
    within: Domain,
    elsewhere: Option<Constant>,
) -> Result<Vec<IteratorRange>, NoNest> {
    let assignment = Expr::new(Node::Assign {
        target: Expr::element(&stmt.target, stmt.index.clone()),
        value: stmt.value.clone(),
        within,
        elsewhere,
    });
    Ok(shape::ranges(&assignment)?)
}

/// The order of the loops. TeML numbers iterators by level, so iterators that are all one letter
/// and a number are sorted by that number.
fn loop_order(target: Vec<Name>, reduced: Vec<Name>) -> Vec<Name> {
    let mut order: Vec<Name> = target;
    order.extend(reduced);
    let numbered: Option<Vec<(char, u64)>> = order
        .iter()
        .map(|name| {
            let mut chars = name.as_str().chars();
            let letter = chars.next().filter(char::is_ascii_alphabetic)?;
            Some((letter, chars.as_str().parse().ok()?))
        })
        .collect();
    if let Some(numbered) = numbered
        && numbered.windows(2).all(|pair| pair[0].0 == pair[1].0)
    {
        let mut keyed: Vec<(u64, Name)> = numbered.iter().map(|(_, n)| *n).zip(order).collect();
        keyed.sort_by_key(|(number, _)| *number);
        order = keyed.into_iter().map(|(_, name)| name).collect();
    }
    order
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
