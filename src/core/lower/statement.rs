//! An assignment as a single statement in its loops.

use super::explicit::readable;
use super::flatten::{Flat, Stuck, flatten};
use super::no_nest::NoNest;
use super::overwrite::Assignment;
use super::target::Target;
use crate::analysis::shape::{self, IteratorRange};
use crate::ir::{
    Affine, BinaryOp, Constant, Domain, Expr, Index, Infix, Name, Node, Reduction, Stmt, Tensor,
};

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
        let flat = flatten(value, &mut taken).map_err(|Stuck(_)| Refused::InTheWay)?;
        Ok::<Flat, Refused>(flat.with_each_entry_once())
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
    // Elements that are gathered are added to the fill.
    let gathers = reduction.is_none() && onto_old.is_none() && !over.is_empty();
    let reduction = reduction.or(gathers.then_some(Reduction::Sum));
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
    let begins = reduction.filter(|_| onto_old.is_none());
    // The elements that are written are not known before the entries are read: all are begun.
    let all: Vec<IteratorRange> = ranges.iter().map(IteratorRange::affine).collect();
    access.check_injective(&of_target, &all)?;
    let first = access.first(&all, begins, elsewhere)?;

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
        let terms = index.terms().iter();
        let mut terms: Vec<&(Name, i64)> = terms.filter(|(n, _)| n.size().is_none()).collect();
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
