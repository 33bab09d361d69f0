//! Names of operands: a stored operand that no variable names gets a name when an operation reads
//! it, and tensors that several variables named alike are told apart.

use crate::binding::state::Shared;
use crate::ir::{Expr, Name, Nest, Node, Site};
use crate::messages::fail::Failure;
use crate::transform::tensor::eq::eq_all;
use crate::transform::tensor::partition::{PARTITION, check_complete};
use crate::transform::{Arg, Op};
use crate::verbs::namesakes;
use std::collections::HashSet;

/// The result of an operation. An assignment is noted, so that its place among all assignments is
/// known before it has a name.
pub fn noted(result: Expr, site: Option<Site>, shared: &Shared) -> Expr {
    if is_nameless(&result) {
        let mut bench = shared.bench().lock();
        bench.definitions.computed(&result, site)
    } else {
        result
    }
}

/// The arguments of an operation, whose tensors have names that tell them apart.
///
/// # Errors
/// A partition does not set all elements. A nest was built before one of its tensors got another
/// name.
pub fn ready(op: &Op, args: Vec<Arg>, shared: &Shared) -> Result<Vec<Arg>, Failure> {
    // The pieces of a partition are values of one tensor, which has its name later.
    let takes_values = op.name != PARTITION.name;
    let named = |(k, arg): (usize, Arg)| -> Result<Arg, Failure> {
        Ok(match arg {
            Arg::Expr(expr) if takes_values => {
                Arg::Expr(operand(expr, shared).map_err(|failure| failure.argument(k))?)
            }
            Arg::Nest(nest) => {
                up_to_date(&nest, shared).map_err(|failure| failure.argument(k))?;
                Arg::Nest(nest)
            }
            other => other,
        })
    };
    let args: Vec<Arg> = args
        .into_iter()
        .enumerate()
        .map(named)
        .collect::<Result<_, _>>()?;
    let mut expressions: Vec<Expr> = Vec::new();
    for arg in &args {
        match arg {
            // Beside another operand, an assignment is a read of its target.
            Arg::Expr(expr) => expressions.push(match expr.tensor() {
                Some(tensor) if expr.is_assignment() && args.len() > 1 => {
                    Expr::of_tensor(tensor.clone())
                }
                _ => expr.clone(),
            }),
            Arg::Exprs(list) => expressions.extend(list.iter().cloned()),
            _ => {}
        }
    }
    tell_apart(&expressions, shared);
    let bench = shared.bench().lock();
    let current = |arg: Arg| match arg {
        Arg::Expr(expr) => Arg::Expr(bench.definitions.current(&expr)),
        Arg::Exprs(list) => {
            let list = list.iter().map(|expr| bench.definitions.current(expr));
            Arg::Exprs(list.collect())
        }
        other => other,
    };
    Ok(args.into_iter().map(current).collect())
}

/// The assignment with a name for its target, if a variable has not given one; any other expression
/// as it is.
///
/// # Errors
/// It is a partition that does not set all elements.
pub fn operand(expr: Expr, shared: &Shared) -> Result<Expr, Failure> {
    if !is_nameless(&expr) {
        return Ok(expr);
    }
    check_complete(&expr).map_err(Failure::operation)?;
    let words = words(shared);
    let is_used = |name: &Name| words.contains(name.as_str());
    let named = shared.bench().lock().definitions.operand(&expr, &is_used);
    Ok(named.unwrap_or(expr))
}

/// A tensor expression as an assignment, if it is one or a virtual tensor without iterators, which
/// is stored as it is.
///
/// # Errors
/// As [`operand`].
pub fn assignment(
    expr: &Expr,
    site: Option<Site>,
    shared: &Shared,
) -> Result<Option<Expr>, Failure> {
    if expr.is_assignment() {
        return Ok(Some(expr.clone()));
    }
    if !is_virtual(expr) {
        return Ok(None);
    }
    if let Some((name, read)) = shared.bench().lock().definitions.outlived(expr) {
        let (name, read) = (name.as_str(), read.label());
        let failure = Failure::new(format!(
            "`{name}` reads `{read}`, which is assigned after `{name}` and before this"
        ));
        return Err(failure.help(format!(
            "`let {name} = stored(…)` has the old elements; write the expression again for the new ones"
        )));
    }
    let stored = eq_all(expr).map_err(Failure::operation)?;
    let words = words(shared);
    let is_used = |name: &Name| words.contains(name.as_str());
    let mut bench = shared.bench().lock();
    Ok(bench.definitions.stored(expr, &stored, &is_used, site))
}

/// Whether an expression has all entries of a tensor without memory: it carries no iterators.
pub fn is_virtual(expr: &Expr) -> bool {
    match expr.node() {
        Node::Virtual { .. } => true,
        Node::Access { .. } | Node::Constant(_) | Node::Index(_) => false,
        _ => !expr.is_assignment() && expr.iterators().is_empty(),
    }
}

/// Gives tensors of one name names of their own if the expressions are used together.
pub fn tell_apart(expressions: &[Expr], shared: &Shared) {
    if namesakes(expressions).is_some() {
        let words = words(shared);
        let is_used = |name: &Name| words.contains(name.as_str());
        let mut bench = shared.bench().lock();
        bench.definitions.tell_apart(expressions, &is_used);
    }
}

/// The assignment, whose target gets another name if an assigned tensor has its name already.
pub fn with_own_name(assignment: &Expr, shared: &Shared) -> Expr {
    let words = words(shared);
    let is_used = |name: &Name| words.contains(name.as_str());
    let mut bench = shared.bench().lock();
    bench.definitions.with_own_name(assignment, &is_used)
}

/// Refuses a nest that was built before one of its tensors got another name.
///
/// # Errors
/// It is such a nest.
pub fn up_to_date(nest: &Nest, shared: &Shared) -> Result<(), Failure> {
    let outdated = shared.bench().lock().definitions.outdated(nest);
    match outdated {
        None => Ok(()),
        Some((tensor, name)) => {
            let old = tensor.label();
            Err(Failure::new(format!(
                "this nest has a tensor `{old}` that is now named `{name}`"
            ))
            .note(format!("another tensor is named `{old}`, and both were used together"))
            .help("build the nest afterwards, or give each tensor a name: tensor([4], \"f64\", \"A_2\")"))
        }
    }
}

fn words(shared: &Shared) -> HashSet<String> {
    shared.lock().places.words()
}

fn is_nameless(expr: &Expr) -> bool {
    expr.is_assignment() && expr.tensor().is_some_and(|tensor| tensor.name().is_none())
}
