//! Lists of iterators among the arguments of operations.

use crate::binding::call::Call;
use crate::binding::captured;
use crate::ir::Affine;
use crate::messages::fail::Failure;
use crate::reader::operands;
use crate::transform::Iters;
use crate::values::{self, Index};
use rhai::Dynamic;

/// Describes a list of iterators in messages.
pub const ITERATORS: &str = "a list of iterators such as `[i, j]`";

/// Iterators and integers, which are constant indices.
pub fn iters(
    call: &Call,
    k: usize,
    value: &Dynamic,
    expected: &str,
) -> Result<Vec<Affine>, Failure> {
    listed(call, k, value, expected, &|_| false)
}

/// Iterators that the values of argument 0 carry, or dimensions of these values. A variable can
/// hold a dimension, unless it has the name of such an iterator.
pub fn over(
    call: &Call,
    k: usize,
    value: &Dynamic,
    expected: &str,
) -> Result<Vec<Affine>, Failure> {
    let carried = call.expr(0).map(|values| values.iterators());
    let carried = carried.unwrap_or_default();
    let is_dimension = |name: &str| carried.iter().all(|n| n.as_str() != name);
    listed(call, k, value, expected, &is_dimension)
}

/// A list of iterators and integers. Refuses variables that read as iterators and hold integers,
/// unless the name certainly means the variable.
fn listed(
    call: &Call,
    k: usize,
    value: &Dynamic,
    expected: &str,
    is_variable: &dyn Fn(&str) -> bool,
) -> Result<Vec<Affine>, Failure> {
    let value = value.flatten_clone();
    let Ok(list) = value.as_array_ref() else {
        return Err(match value.read_lock::<Index>() {
            Some(index) => call
                .fail(
                    k,
                    &format!("must be {expected}; `{}` is not a list", index.affine),
                )
                .help(format!("a list of one iterator is `[{}]`", index.affine)),
            None => call.expected_but(k, expected, &value),
        });
    };
    list.iter()
        .map(|item| {
            if let Some(index) = item.read_lock::<Index>() {
                return Ok(index.affine.clone());
            }
            if let Some(position) = captured::position(item) {
                let places = &call.state().places;
                let name = captured::name(places, position).unwrap_or_default();
                if operands::is_iterator_name(&name) && !is_variable(&name) {
                    return Err(captured::refuse(places, position, item));
                }
            }
            let constant = item.flatten_clone().as_int().ok().map(Affine::constant);
            match constant {
                Some(c) if c.is_in_limits() => Ok(c),
                Some(_) => Err(call.fail(k, "holds an index that is too large")),
                None => {
                    let given = values::describe(item);
                    Err(call.fail(
                        k,
                        &format!("must be {expected}; {given} is not an iterator"),
                    ))
                }
            }
        })
        .collect()
}

/// Argument `k` or a part of it as a list of iterators, or `()` for none.
pub fn optional_iters(call: &Call, k: usize, value: &Dynamic) -> Result<Iters, Failure> {
    if value.is_unit() {
        Ok(None)
    } else {
        iters(call, k, value, ITERATORS).map(Some)
    }
}

/// Lists of iterators, one for each operand.
pub fn iter_lists(
    call: &Call,
    k: usize,
    value: &Dynamic,
    expected: &str,
) -> Result<Vec<Iters>, Failure> {
    let value = value.flatten_clone();
    let Ok(list) = value.as_array_ref() else {
        return Err(call.expected_but(k, expected, &value));
    };
    list.iter()
        .map(|item| {
            let item = item.flatten_clone();
            if item.is_array() || item.is_unit() {
                optional_iters(call, k, &item)
            } else {
                Err(call
                    .fail(
                        k,
                        &format!("must be {expected}; {} is not a list", values::show(&item)),
                    )
                    .help("there is one list per operand, and `()` where it already has its own"))
            }
        })
        .collect()
}
