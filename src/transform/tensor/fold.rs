//! `fold` combines values by an operator, in one pass over them, and stores the components of the
//! result.
//!
//! ```rhai
//! let A = tensor([4, 60]);
//! let value = tensor([4]);
//! let at = tensor([4], "i64");
//! let best = operator("best", ["f64", "i64"],
//!     |a, b| [vmaximum(a[0], b[0]), vselect(a[0], ">=", b[0], a[1], b[1])],
//!     [-1.0 / 0.0, 0]);
//! print(fold(best, [vat(A, [i, j]), vindex(j)], [j], [value, at]));
//! ```
//!
//! ```text
//! f64 A[4][60], value[4]
//! i64 at[4]
//! for i in 0..4
//!   local f64 best_0[]
//!   local i64 best_1[]
//!   best_0[] = -∞
//!   best_1[] = 0
//!   for j in 0..60
//!     local f64 best_0_next[]
//!     local i64 best_1_next[]
//!     best_0_next[] = max(best_0[], A[i][j])
//!     best_1_next[] = select(best_0[] >= A[i][j], best_1[], index(j))
//!     best_0[] = best_0_next[]
//!     best_1[] = best_1_next[]
//!   value[i] = best_0[]
//!   at[i] = best_1[]
//! ```
//!
//! `fold(operator, values, over, results)`: `values` are the components of a value for each point, and
//! carry iterators. Those that `over` lists are combined, in this order, the last one fastest. The
//! remaining ones, in order of first appearance, index the results, which have a tensor for each
//! component. The accumulator begins with the operator's identity, so that it is the result where there
//! are no values.
//!
//! The nest computes in the order of its loops, which is its definition. `regroup` gives iterations
//! accumulators of their own.
//!
//! Always legal.
//!
//! Refuses: another number of values or results than the operator has components, or another element
//! type; iterators that no value carries; ranges that are not inferred from the values; results that do
//! not have the shape of the remaining iterators.
//!
//! Source: folds with associative operators; Bird, An Introduction to the Theory of Lists, 1987.

use super::operand::{constant, describe};
use crate::analysis::shape::{IteratorRange, ranges_so_far};
use crate::args::{Iterators, OPERATOR, Operands, unfit};
use crate::ir::{
    Affine, Arg, Elem, Expr, Index, Loop, Nest, Node, Operator, Range, Stmt, Tensor, Tree,
};
use crate::lower::program::program;
use crate::refusals::{repeated, unnamed};
use crate::{Error, Op, Param, Returns, Value, mistake};
use std::sync::Arc;

const VALUES: Param<Operands> = Param::new("values");
const OVER: Param<Iterators> = Param::new("over");
const RESULTS: Param<Vec<Expr>> = Param::new("results");

/// `fold(operator, values, over, results)`.
pub static FOLD: Op = Op {
    name: "fold",
    params: &[OPERATOR.any(), VALUES.any(), OVER.any(), RESULTS.any()],
    returns: Returns::Nest,
    file: include_str!("fold.rs"),
    call: |args| {
        let (values, results) = (args.get(&VALUES)?, args.get(&RESULTS)?);
        fold(args.get(&OPERATOR)?, values, args.get(&OVER)?, results).map(Value::Nest)
    },
};

/// The nest that combines values by an operator.
///
/// # Errors
/// As the header says.
pub fn fold(
    operator: &Operator,
    values: &[Arg],
    over: &[Affine],
    results: &[Expr],
) -> Result<Nest, Error> {
    let components = operator.left.len();
    let values = typed(operator, values)?;
    if results.len() != components {
        let (name, given) = (&operator.name, results.len());
        let text = format!(
            "`{name}` needs a result for each component, which makes {components}, and gets {given}"
        );
        return Err(mistake(text).at(&RESULTS));
    }
    let ranges = common_ranges(&values)?;
    let mut folded: Vec<&IteratorRange> = Vec::new();
    for index in over {
        let name = index.as_iterator();
        let range = ranges.iter().find(|range| Some(&range.name) == name);
        let range = range
            .ok_or_else(|| mistake(format!("no value carries the iterator `{index}`")).at(&OVER))?;
        if folded.contains(&range) {
            return Err(repeated(&range.name).at(&OVER));
        }
        folded.push(range);
    }
    let own: Vec<&IteratorRange> = ranges.iter().filter(|r| !folded.contains(r)).collect();
    let index: Vec<Affine> = own
        .iter()
        .map(|r| Affine::iterator(r.name.clone()))
        .collect();
    let mut targets: Vec<Tensor> = Vec::new();
    for (result, left) in results.iter().zip(&operator.left) {
        targets.push(target(result, left.elem(), &own)?);
    }

    let local = |suffix: &str| -> Vec<Tensor> {
        let left = operator.left.iter().enumerate();
        left.map(|(k, left)| {
            let name = operator.name.derived(format!("{k}{suffix}"));
            left.clone().named(name)
        })
        .collect()
    };
    let (accumulator, next) = (local(""), local("_next"));
    let scalars = |tensors: &[Tensor]| -> Vec<Expr> {
        tensors
            .iter()
            .map(|t| Expr::element(t, Vec::new()))
            .collect()
    };
    let set = |target: &Tensor, index: &[Affine], value: Expr| {
        Tree::Stmt(Arc::new(Stmt {
            target: target.clone(),
            index: index.to_vec(),
            update: None,
            value,
            origin: None,
        }))
    };
    let old = scalars(&accumulator);
    let combined = operator.combined(&old, &values);
    let step: Vec<Tree> = match &combined[..] {
        [value] => vec![set(&accumulator[0], &[], value.clone())],
        combined => {
            let locals = next.iter().cloned().map(Tree::Local);
            let computed = next.iter().zip(combined);
            let computed = computed.map(|(next, value)| set(next, &[], value.clone()));
            let kept = accumulator.iter().zip(scalars(&next));
            let kept = kept.map(|(own, value)| set(own, &[], value));
            locals.chain(computed).chain(kept).collect()
        }
    };
    let begin = accumulator.iter().zip(&operator.identity);
    let begin = begin.map(|(own, value)| set(own, &[], Expr::new(Node::Constant(*value))));
    let end = targets.iter().zip(old.clone());
    let end = end.map(|(target, value)| set(target, &index, value));
    let body: Vec<Tree> = accumulator
        .iter()
        .cloned()
        .map(Tree::Local)
        .chain(begin)
        .chain(in_loops(&folded, step))
        .chain(end)
        .collect();
    let trees = in_loops(&own, body);
    let text = Nest::of_trees(trees).to_string();
    program(&text).map_err(|faults| Error::from(faults).at(&VALUES))
}

/// The values as expressions of the element types of the operator's components.
fn typed(operator: &Operator, values: &[Arg]) -> Result<Vec<Expr>, Error> {
    let (name, right) = (&operator.name, &operator.right);
    if values.len() != right.len() {
        let (components, given) = (right.len(), values.len());
        let text = format!(
            "`{name}` needs a value for each component, which makes {components}, and gets {given}"
        );
        return Err(mistake(text).at(&VALUES));
    }
    let typed = right.iter().zip(values).map(|(right, value)| {
        let value = match value {
            Arg::Number(number) => constant(*number, right.elem())?,
            Arg::Expr(expr) => expr.clone(),
            other => return Err(unfit(other, "values")),
        };
        if let Node::Virtual { .. }
        | Node::Assign { .. }
        | Node::Pieces { .. }
        | Node::Access {
            index: Index::Unset,
            ..
        } = value.node()
        {
            let text = format!("{} carries no iterators", describe(&value));
            return Err(mistake(text).help("`vat(A, [i, j])` gives `A` iterators"));
        }
        if value.elem() != right.elem() {
            let (has, wanted) = (value.elem(), right.elem());
            let text = format!(
                "{} is {has}, and `{name}` takes {wanted} there",
                describe(&value)
            );
            return Err(mistake(text).help("`cast(value, \"f64\")` converts"));
        }
        Ok(value)
    });
    let typed: Result<Vec<Expr>, Error> = typed.collect();
    typed.map_err(|error| error.at(&VALUES))
}

/// The ranges of the iterators of all values. An index that is used as a value has none of its own.
fn common_ranges(values: &[Expr]) -> Result<Vec<IteratorRange>, Error> {
    let mut common: Vec<IteratorRange> = Vec::new();
    for value in values {
        for range in ranges_so_far(value).map_err(|why| Error::from(why).at(&VALUES))? {
            match common.iter_mut().find(|known| known.name == range.name) {
                None => common.push(range),
                Some(known) if known.is_unknown() => *known = range,
                Some(known) if range.is_unknown() || known.range() == range.range() => {}
                Some(known) => {
                    let (name, one, other) = (&range.name, known.range(), range.range());
                    let text =
                        format!("`{name}` is in {one} in one value, and in {other} in another");
                    return Err(mistake(text).at(&VALUES));
                }
            }
        }
    }
    if let Some(unknown) = common.iter().find(|range| range.is_unknown()) {
        let text = format!("no value limits the iterator `{}`", unknown.name);
        return Err(mistake(text).at(&VALUES));
    }
    Ok(common)
}

/// The tensor of a result with an element for each value of the iterators `own`.
fn target(result: &Expr, elem: Elem, own: &[&IteratorRange]) -> Result<Tensor, Error> {
    let tensor = result
        .tensor()
        .filter(|_| matches!(result.node(), Node::Access { .. }));
    let tensor = tensor.ok_or_else(|| mistake("a result is a tensor").at(&RESULTS))?;
    tensor.name().ok_or_else(|| unnamed().at(&RESULTS))?;
    let label = tensor.label();
    if tensor.elem() != elem {
        let text = format!("{label} is {}, and this component is {elem}", tensor.elem());
        return Err(mistake(text).at(&RESULTS));
    }
    let fits = |(range, dim): (&&IteratorRange, Affine)| {
        range.range() == Range::between(Affine::constant(0), dim)
    };
    let dims = tensor.shape().dims();
    if dims.len() != own.len() || !own.iter().zip(dims).all(fits) {
        let ranges: Vec<String> = own
            .iter()
            .map(|r| format!("{} in {}", r.name, r.range()))
            .collect();
        let iterates = match ranges.is_empty() {
            true => "the result is one value".to_owned(),
            false => format!("there is a result for {}", ranges.join(", ")),
        };
        let text = format!("{label} has the shape {}, and {iterates}", tensor.shape());
        return Err(mistake(text).at(&RESULTS));
    }
    Ok(tensor.clone())
}

fn in_loops(ranges: &[&IteratorRange], body: Vec<Tree>) -> Vec<Tree> {
    ranges.iter().rev().fold(body, |body, range| {
        vec![Tree::of_loop(Loop::serial(
            range.name.clone(),
            range.range(),
            body,
        ))]
    })
}
