//! `eq` assigns the value of an expression to a tensor.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = eq(A, [i, j] -> [j, i]);
//! let C = eq(A, [i, j] -> [i + 1, j + 1], [6, 7]);
//! let D = eq(A, [i, j] -> [i + 1, j + 1], [6, 7], 0);
//! print(B); print(C); print(D);
//! ```
//!
//! ```text
//! f64 B[5][4], A[4][5]
//! B[j][i] = A[i][j]
//! f64 C[6][7], A[4][5]
//! C[i + 1][j + 1] = A[i][j]
//! f64 D[6][7], A[4][5]
//! D[i + 1][j + 1] = A[i][j] elsewhere 0
//! ```
//!
//! `eq(value, I0 -> I1, extents?, elsewhere?)`: `I0` indexes the value, and `I1` the target. If the
//! value has iterators, `I0` is left out, as in `eq(value, [j, i])` or `() -> [j, i]`. If it has none,
//! `eq(value, [i, j])` is `eq(value, [i, j] -> [i, j])`. Neighboring letters in another order, such as
//! `[j, i]`, may mean a transposition, and need both sides. The target
//! takes the name of the variable that the assignment is bound to, or the name in `@name:`. If that
//! variable holds a tensor, its shape is kept and must fit. Otherwise the target has the extents
//! given. By default they are the least extents that its indices fit in: a tensor ends with the
//! last element that is set.
//!
//! A number as the value is of type `f64`, unless the variable holds a tensor of another type; its
//! iterators need ranges or extents.
//!
//! Every assigned element gets the value computed from the tensors before the assignment. Elements
//! that no iteration assigns keep their contents, or get the number `elsewhere`.
//!
//! A map of ranges as the last argument says which values iterators take, if the ranges that follow
//! from the tensors are not meant: `a..b` from a to before b, `a..b by 2`. Bounds may depend on
//! other iterators, and be the greatest or the least of several: `max(0, i - 2)..min(n, i + 3)`.
//!
//! ```rhai
//! let A = tensor([4, 4]);
//! let x = tensor([10]);
//! x = eq(x + 1, [i] -> [i], #{i: 1..9});
//! let L = eq(A, [i, j] -> [i, j], #{j: 0..i + 1});
//! print(x); print(L); print(build(L));
//! ```
//!
//! ```text
//! f64 x[10]
//! x[i] = x[i] + 1 where i in 1..9
//! f64 L[4][4], A[4][4]
//! L[i][j] = A[i][j] where j in 0..i + 1
//! f64 L[4][4], A[4][4]
//! for i in 0..4
//!   for j in 0..i + 1
//!     L[i][j] = A[i][j]
//! ```
//!
//! Refuses: what `vadd` refuses; a range for which an index leaves its tensor, or of an iterator
//! that the assignment does not have; a target index that could be negative; extents that disagree
//! with the extents of the value, unless `elsewhere` is given; a number that the element type
//! cannot hold.
//!
//! Source: TeML eqs. 14, 17, 18; a number elsewhere: beyond the paper.

use super::gather;
use super::operand::{Operand, carried, indexed, rank, too_many_lists, typed};
use super::pad::kept_zero;
use super::split::{Definition, Values, split};
use super::triangular::of_target;
use crate::analysis::bounds::Bounds;
use crate::analysis::shape::{self, Dimension, IteratorRange, Mismatch};
use crate::args::Extents;
use crate::failure::Parameter;
use crate::ir::{
    Affine, Constant, Domain, Elem, Expr, Index, Loop, Name, Node, Range, Shape, Tensor,
};
use crate::refusal;
use crate::refusals::too_complex;
use crate::{Arrow, Error, Iters, Number, Op, Param, Returns, Value, mistake};

const VALUE: Param<Operand> = Param::new("value");
pub(super) const ITERATORS: Param<Arrow> = Param::new("iterators");
const EXTENTS: Param<Option<Extents>> = Param::new("extents");
const ELSEWHERE: Param<Option<Number>> = Param::new("elsewhere");
const RANGES: Param<Option<Domain>> = Param::new("ranges");

/// `eq(value, iterators)`.
pub static EQ: Op = Op {
    name: "eq",
    params: &[
        VALUE.any(),
        ITERATORS.any(),
        EXTENTS.any(),
        ELSEWHERE.any(),
        RANGES.any(),
    ],
    returns: Returns::Expr,
    file: include_str!("eq.rs"),
    call: |args| {
        let value = match args.get(&VALUE)? {
            Operand::Expr(value) => value.clone(),
            Operand::Number(number) => constant(number)?,
        };
        let arrow = args.get(&ITERATORS)?;
        let ranges = args.get(&RANGES)?.unwrap_or_default();
        match args.get(&EXTENTS)? {
            None => eq_over(&value, arrow, ranges),
            Some(extents) => eq_within(&value, arrow, extents, args.get(&ELSEWHERE)?, ranges),
        }
        .map(Value::Expr)
    },
};

/// A number as a value of the default type of tensors.
fn constant(number: Number) -> Result<Expr, Error> {
    let value = typed(number, Elem::default()).map_err(|error| error.at(&VALUE))?;
    Ok(Expr::new(Node::Constant(value)))
}

/// Converts a constant to another type.
fn converted(constant: Constant, elem: Elem) -> Result<Constant, Error> {
    let number = match constant {
        Constant::F64(value) if value.fract() == 0.0 && !elem.is_float() => {
            Number::Int(value as i64)
        }
        Constant::F64(value) => Number::Float(value),
        Constant::F32(value) => Number::Float(f64::from(value)),
        Constant::I32(value) => Number::Int(i64::from(value)),
        Constant::I64(value) => Number::Int(value),
    };
    typed(number, elem)
}

/// The list of the only operand in an arrow, which is the argument for `parameter`.
pub(super) fn only_list(arrow: &Arrow, parameter: &dyn Parameter) -> Result<Iters, Error> {
    match arrow.from.as_slice() {
        [] => Ok(None),
        [list] => Ok(list.clone()),
        several => Err(too_many_lists(several.len(), 1).at(parameter)),
    }
}

/// The given arrow, or one that keeps the dimensions of the operand in their order.
pub(super) fn arrow_or_all(given: Option<&Arrow>, operand: &Expr) -> Arrow {
    if let Some(arrow) = given {
        return arrow.clone();
    }
    let to = (1..=rank(operand)).map(|k| Affine::iterator(Name::generated(k)));
    let to: Vec<Affine> = to.collect();
    let from = vec![Some(to.clone())];
    Arrow { from, to }
}

/// The value of an operation that gets no arrow: it is stored, unless it carries iterators.
pub(super) fn stored_or_carried(value: Expr, parameter: &dyn Parameter) -> Result<Expr, Error> {
    match carried(&value).is_empty() {
        true => stored(&value, parameter),
        false => Ok(value),
    }
}

/// The assignment of a virtual tensor, as it is, to a tensor named □.
///
/// # Errors
/// A tensor has no name.
pub fn eq_all(value: &Expr) -> Result<Expr, Error> {
    stored(value, &ITERATORS)
}

/// As [`eq_all`]; `parameter` is that of the arrow that is left out.
fn stored(value: &Expr, parameter: &dyn Parameter) -> Result<Expr, Error> {
    let arrow = arrow_or_all(None, value);
    let given = only_list(&arrow, parameter)?;
    let entry = indexed(value, &given)?;
    let to = places(value, &entry, &given, &arrow.to);
    assign(entry, &to, parameter)
}

/// The indices of the target. A virtual tensor has the extent 1 in a dimension that its entries do
/// not depend on, where only index 0 is left.
pub(super) fn places(value: &Expr, entry: &Expr, given: &Iters, to: &[Affine]) -> Vec<Affine> {
    let (Node::Virtual { .. }, Some(given)) = (value.node(), given) else {
        return to.to_vec();
    };
    let own = entry.iterators();
    let unused = |name: &Name| {
        let is_given = |index: &Affine| index.as_iterator() == Some(name);
        given.iter().any(is_given) && !own.contains(name)
    };
    let zero = |index: &Affine| index.as_iterator().is_some_and(unused);
    let place = |index: &Affine| match zero(index) {
        true => Affine::constant(0),
        false => index.clone(),
    };
    to.iter().map(place).collect()
}

/// The error for a value without iterators. If the arrow only has the target's list, it shows both.
pub(super) fn with_arrow(error: Error, value: &Expr, arrow: &Arrow) -> Error {
    let is_named = value.tensor().is_none_or(|tensor| tensor.name().is_some());
    if !lacks_list(value, arrow) || !is_named {
        return error;
    }
    let list: Vec<String> = arrow.to.iter().map(Affine::to_string).collect();
    let list = list.join(", ");
    let same = format!("`[{list}] -> [{list}]` takes both at the same place");
    let mut names: Vec<&Name> = arrow.to.iter().flat_map(Affine::iterators).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() != arrow.to.len() {
        return error.help(format!("this list indexes the target; {same}"));
    }
    let sorted: Vec<&str> = names.into_iter().map(Name::as_str).collect();
    let sorted = sorted.join(", ");
    error.help(format!(
        "this list indexes the target; {same}, and `[{sorted}] -> [{list}]` moves elements"
    ))
}

/// Whether a value that needs a list of iterators gets none, and the target has a list that fits.
fn lacks_list(value: &Expr, arrow: &Arrow) -> bool {
    let is_missing = arrow.from.iter().all(Option::is_none) && carried(value).is_empty();
    is_missing && arrow.to.len() == rank(value)
}

/// The arrow, where a list alone can only mean the same list on both sides: distinct iterators.
/// Neighbors in another order, such as `[j, i]`, may mean a transposition.
pub(super) fn both_sides(value: &Expr, arrow: &Arrow) -> Arrow {
    let names: Option<Vec<&Name>> = arrow.to.iter().map(Affine::as_iterator).collect();
    let has_one_reading = names.is_some_and(|names| {
        let mut sorted = names.clone();
        sorted.sort_unstable();
        let is_distinct = sorted.windows(2).all(|pair| pair[0] != pair[1]);
        let is_run = sorted.windows(2).all(|pair| is_next(pair[0], pair[1]));
        is_distinct && (names == sorted || !is_run)
    });
    let from = match has_one_reading && lacks_list(value, arrow) {
        true => vec![Some(arrow.to.clone())],
        false => arrow.from.clone(),
    };
    let to = arrow.to.clone();
    Arrow { from, to }
}

/// Whether a name follows another one, as `j` follows `i`, and `i2` follows `i1`.
fn is_next(name: &Name, next: &Name) -> bool {
    let (name, next) = (name.as_str(), next.as_str());
    if let ([a], [b]) = (name.as_bytes(), next.as_bytes()) {
        return a + 1 == *b;
    }
    let parts = |text: &str| {
        let letters = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        Some((
            text[..letters].to_owned(),
            text[letters..].parse::<u64>().ok()?,
        ))
    };
    let (Some((base, number)), Some((other, last))) = (parts(name), parts(next)) else {
        return false;
    };
    base == other && number.checked_add(1) == Some(last)
}

/// The assignment of `value` to a tensor named □.
///
/// # Errors
/// As the header says.
pub fn eq(value: &Expr, arrow: &Arrow) -> Result<Expr, Error> {
    eq_over(value, arrow, Domain::default())
}

/// As [`eq`], with given ranges of some iterators.
///
/// # Errors
/// As the header says.
pub fn eq_over(value: &Expr, arrow: &Arrow, ranges: Domain) -> Result<Expr, Error> {
    let (value, to) = assigned(value, arrow)?;
    let ranges = checked(ranges, &value, &to)?;
    assign_over(value, &to, ranges, &ITERATORS)
}

/// The assignment of `value` to a tensor named □ with these extents. Its other elements get a
/// number or keep their values.
///
/// # Errors
/// As the header says.
pub fn eq_within(
    value: &Expr,
    arrow: &Arrow,
    extents: &[Affine],
    elsewhere: Option<Number>,
    ranges: Domain,
) -> Result<Expr, Error> {
    let (value, to) = assigned(value, arrow)?;
    let ranges = checked(ranges, &value, &to)?;
    let elsewhere = elsewhere.map(|number| typed(number, value.elem()));
    let elsewhere = elsewhere
        .transpose()
        .map_err(|error| error.at(&ELSEWHERE))?;
    let target = Shape::of_dims(extents.to_vec(), value.elem())
        .map_err(Error::from)
        .map(|shape| Tensor::new(shape, value.elem()));
    let assignment = target.and_then(|target| assign_onto(&value, &to, &target, ranges, elsewhere));
    assignment.map_err(|error| error.at(&EXTENTS))
}

/// The value with the iterators on the left of the arrow, and the indices of the target.
fn assigned(value: &Expr, arrow: &Arrow) -> Result<(Expr, Vec<Affine>), Error> {
    let arrow = &both_sides(value, arrow);
    let given = only_list(arrow, &ITERATORS)?;
    let entry = indexed(value, &given);
    let entry = entry.map_err(|error| with_arrow(error.at(&VALUE), value, arrow))?;
    let to = places(value, &entry, &given, &arrow.to);
    match to
        .iter()
        .find(|index| gather::reads(std::slice::from_ref(*index)))
    {
        None => Ok((entry, to)),
        Some(index) => {
            let text = format!(
                "`{index}` is read from a tensor, and several values may go to one element"
            );
            let help = format!("`scatter(value, [{index}])` adds all values that go to one place");
            Err(refusal(text).help(help).at(&ITERATORS))
        }
    }
}

/// The ranges of iterators of an assignment, in the order of its loops.
fn checked(ranges: Domain, value: &Expr, to: &[Affine]) -> Result<Domain, Error> {
    let mut names: Vec<Name> = Vec::new();
    let of_target = to.iter().flat_map(Affine::iterators);
    for name in of_target.chain(&value.iterators()) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    for (name, _) in ranges.iter() {
        if !names.contains(name) {
            let names: Vec<&str> = names.iter().map(Name::as_str).collect();
            let error = mistake(format!(
                "gives a range to `{name}`, which the assignment does not have: its iterators are \
                 [{}]",
                names.join(", ")
            ));
            let error = error.help(
                "ranges of reduced iterators are an argument of the reduction, as in \
                 `vsum(x, [k], #{k: 0..i})`",
            );
            return Err(error.at(&RANGES));
        }
    }
    let ordered = names
        .iter()
        .filter_map(|n| Some((n.clone(), ranges.get(n)?.clone())));
    Ok(Domain::new(ordered))
}

/// `□[to] = value` with the target's shape inferred; `to` is the argument for `parameter`.
pub(super) fn assign(value: Expr, to: &[Affine], parameter: &dyn Parameter) -> Result<Expr, Error> {
    assign_over(value, to, Domain::default(), parameter)
}

/// As [`assign`], with given ranges of some iterators.
fn assign_over(
    value: Expr,
    to: &[Affine],
    within: Domain,
    parameter: &dyn Parameter,
) -> Result<Expr, Error> {
    let at = |error: Error, within: &Domain| {
        if within.is_empty() {
            error.at(parameter)
        } else {
            error
        }
    };
    let is_given = within.clone();
    let definition = Definition::of(value, to, within);
    let (definition, values) = split(definition, None).map_err(|error| at(error, &is_given))?;
    let shape = infer_target(&definition, to, &values).map_err(|error| at(error, &is_given))?;
    let Definition {
        value, to, within, ..
    } = definition;
    let target = Tensor::new(shape, value.elem());
    let target = Expr::access(target, Index::At(to));
    let assignment = Expr::new(Node::Assign {
        target,
        value,
        within,
        elsewhere: None,
    });
    if !assignment.is_in_limits() {
        return Err(too_complex());
    }
    shape::ranges(&assignment)?;
    kept_zero(assignment)
}

/// The smallest shape that the indices fit in: a tensor ends with the last element that is set.
/// `to` are the indices over iterators that were split, which took these `values`.
fn infer_target(definition: &Definition, to: &[Affine], values: &[Values]) -> Result<Shape, Error> {
    let Definition { value, within, .. } = definition;
    let ranges = shape::ranges_within(value, within)?;
    let names: Vec<Name> = within.iter().map(|(name, _)| name.clone()).collect();
    if let (Some(iterator), None) = (names.first().cloned(), within.nested(&names)) {
        return Err(Mismatch::Circle { iterator }.into());
    }
    let limited = |r: &&IteratorRange| r.given.is_some() || r.low < r.high;
    if let Some(range) = ranges.iter().find(|r| !limited(r)) {
        let iterator = range.name.clone();
        return Err(Mismatch::Unlimited { iterator }.into());
    }
    let of_split = values.iter().map(|v| (&v.name, v.low, v.high));
    let loops: Vec<Loop> = ranges
        .iter()
        .map(|r| (&r.name, r.low, r.high))
        .chain(of_split)
        .map(|(name, low, high)| Loop {
            name: name.clone(),
            range: Range::constant(low, high),
            mode: crate::ir::Mode::Serial,
            hints: crate::ir::Hints::default(),
            body: Vec::new(),
            lineage: crate::ir::Lineage::default(),
        })
        .collect();
    let bounds = Bounds::of_chain(&loops);
    let mut extents = Vec::with_capacity(to.len());
    for (d, (index, split)) in to.iter().zip(&definition.to).enumerate() {
        let has_digits = index.terms().iter().any(|(name, _)| name.base() != *name);
        let index = if has_digits { split } else { index };
        let place = |extent| {
            let (tensor, dimension) = ("the target".to_owned(), d + 1);
            Dimension {
                tensor,
                dimension,
                extent,
            }
        };
        if let Some((least, most)) = sized_ends(index, &ranges) {
            if least.as_constant().is_some_and(|low| low < 0) {
                let (index, place) = (index.clone(), place(most.plus_constant(1)));
                return Err(Mismatch::NotAffine {
                    iterator: ranges[0].name.clone(),
                    index,
                    place,
                }
                .into());
            }
            extents.push(most.plus_constant(1));
            continue;
        }
        match bounds.interval(index) {
            None => {
                let unknown = index.terms().iter().find(|(n, _)| bounds.get(n).is_none());
                let Some((iterator, _)) = unknown else {
                    continue;
                };
                let iterator = iterator.clone();
                return Err(Mismatch::Unbound { iterator }.into());
            }
            Some((low, high)) if low < 0 => {
                let (index, extent) = (index.clone(), Affine::constant((high + 1).max(1)));
                return Err(Mismatch::OutOfBounds {
                    index,
                    low,
                    high,
                    place: place(extent),
                }
                .into());
            }
            Some((_, high)) => {
                extents.push(Affine::constant((high + 1).max(1)));
            }
        }
    }
    Ok(Shape::of_dims(extents, value.elem())?)
}

/// The least and the greatest value of an index whose iterators have sizes in their ranges.
fn sized_ends(index: &Affine, ranges: &[IteratorRange]) -> Option<(Affine, Affine)> {
    let ends = [-1, 1].map(|sign| shape::extreme(index, ranges, sign));
    let [Some(least), Some(most)] = ends else {
        return None;
    };
    let is_sized = most.as_constant().is_none() || least.as_constant().is_none();
    is_sized.then_some((least, most))
}

/// An assignment with `tensor` as its target.
///
/// # Errors
/// Ranks, extents or element types that disagree.
pub(super) fn onto(assignment: &Expr, tensor: &Tensor) -> Result<Expr, Error> {
    let Node::Assign {
        target,
        value,
        within,
        elsewhere,
    } = assignment.node()
    else {
        return Ok(assignment.clone());
    };
    let Node::Access {
        index: Index::At(index),
        ..
    } = target.node()
    else {
        return Ok(assignment.clone());
    };
    assign_onto(value, index, tensor, within.clone(), *elsewhere)
}

/// `tensor[index] = value`, and perhaps a constant elsewhere.
fn assign_onto(
    value: &Expr,
    index: &[Affine],
    tensor: &Tensor,
    within: Domain,
    elsewhere: Option<Constant>,
) -> Result<Expr, Error> {
    let label = tensor.name().map_or("the target", Name::as_str);
    shape::check_rank(label, tensor.shape().rank(), index)?;
    let value = &match value.node() {
        Node::Constant(constant) => Expr::new(Node::Constant(converted(*constant, tensor.elem())?)),
        _ => value.clone(),
    };
    if tensor.elem() != value.elem() {
        return Err(Mismatch::Elems {
            left: label.to_owned(),
            left_elem: tensor.elem(),
            right: "the assigned value".to_owned(),
            right_elem: value.elem(),
        }
        .into());
    }
    let target = Expr::element(tensor, index.to_vec());
    let limits = Some(&target).filter(|_| elsewhere.is_none());
    let (definition, _) = split(Definition::of(value.clone(), index, within), limits)?;
    let Definition {
        value,
        to: index,
        within,
        ..
    } = definition;
    let target = Expr::element(tensor, index.clone());
    let over = |within: Domain| {
        Expr::new(Node::Assign {
            target: target.clone(),
            value: value.clone(),
            within,
            elsewhere,
        })
    };
    let assignment = over(within.clone());
    let assignment = match tensor.triangle() {
        Some(_) => over(of_target(tensor, &index, within, &assignment)),
        None => assignment,
    };
    if !assignment.is_in_limits() {
        return Err(too_complex());
    }
    shape::ranges(&assignment)?;
    kept_zero(assignment)
}
