//! `vsum`, `vprod`, `vmin`, `vmax`, `vmean` reduce an expression over some of its iterators, or
//! a tensor over some of its dimensions, without storing the result.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let x = tensor([5]);
//! let y = eq(vsum(vmul(A, x, [[i, j], [j]]), [j]), [i]);
//! let m = eq(vmax(vabs(A, [i, j]), [j]), [i]);
//! let mean = eq(vmean(A), []);
//! print(y); print(build(m)); print(mean);
//! print(vsum(A, [1]));
//! ```
//!
//! ```text
//! f64 y[4], A[4][5], x[5]
//! y[i] = sum(j: A[i][j] * x[j])
//! f64 m[4], A[4][5]
//! fill m[0..4] = -∞
//! for i in 0..4
//!   for j in 0..5
//!     m[i] max= abs(A[i][j])
//! f64 mean[], A[4][5]
//! mean[] = sum(_1, _2: A[_1][_2]) / 20
//! f64 A[4][5]
//! [_2] -> sum(_1: A[_1][_2])
//! ```
//!
//! `vsum(values, [j])` reduces over iterators that the values carry, and the result carries the
//! others. `vsum(t, [1, 3])` reduces over dimensions, counted from 1, or from -1 at the end: `[-1]`
//! or just `-1` is the last one. The result has the other dimensions and no iterators yet. `vsum(t)`
//! reduces over all of them. With `#{keep: true}`, the dimensions reduced over stay, with the extent
//! 1, so that the result is broadcast against `t`: `t / sum(t, -1, #{keep: true})`. For `max` and
//! `min`, dimensions are always a list; `maximum(t, 2)` compares with a number. The dimensions of values
//! that carry iterators are the iterators, in order of first appearance, and the result carries
//! the remaining ones.
//!
//! The result denotes the sum, product, least or greatest value, or the mean, whatever the target
//! held before: `build` starts from 0, from 1, and from ∞ or -∞ (for integers the greatest or the
//! least one). Values are taken in the order of the iterators or dimensions listed, the last one
//! fastest. The least and the greatest value pass over NaN. The mean is the sum, divided by the
//! number of values; `build` moves the sum out of the quotient, so that each value is divided, and
//! cannot do that with integers.
//!
//! A map of ranges as the last argument says which values iterators take that are reduced over:
//! `vsum(values, [j], #{j: 0..i + 1})` sums over a triangle. The header of `eq` says how ranges are
//! written. A mean needs ranges between numbers or sizes.
//!
//! ```rhai
//! let L = tensor([4, 4]);
//! let x = tensor([4]);
//! let y = eq(vsum(vmul(L, x, [[i, j], [j]]), [j], #{j: 0..i + 1}), [i]);
//! print(y);
//! ```
//!
//! ```text
//! f64 y[4], L[4][4], x[4]
//! y[i] = sum(j in 0..i + 1: L[i][j] * x[j])
//! ```
//!
//! Refuses: names that are not iterators of the expression; dimensions that it does not have; one
//! listed twice; an empty list; iterators that no access alone would limit as all of them together
//! do, so that terms would be left out.
//!
//! Source: the reduction behind TeML's `vcontract` (§4.2.3: "other reduction operations").

use super::infer::{abstraction, apply, binary, reduce_within};
use super::operand::{carried, constant, describe, fresh_iterators, indexed, positional, rank};
use super::split::{Definition, split};
use super::triangular::of_terms;
use super::unfit::Unfit;
use crate::analysis::shape;
use crate::args::{Options, Over};
use crate::ir::{Affine, BinaryOp, Domain, Expr, Function, Name, Node, Reduction, Shape};
use crate::refusals::{dimension_twice, no_dimension, repeated};
use crate::{Args, Error, Number, Op, Param, Returns, Value, mistake};

pub(super) const VALUES: Param<Expr> = Param::new("values");
pub(super) const OVER: Param<Option<Over>> = Param::new("over");
pub(super) const OPTIONS: Param<Option<Options>> = Param::new("options").with(&[KEEP.any()]);
const KEEP: Param<Option<bool>> = Param::new("keep");
pub(super) const RANGES: Param<Option<Domain>> = Param::new("ranges");

macro_rules! vreduce {
    ($name:literal, $call:expr) => {
        Op {
            name: $name,
            params: &[VALUES.any(), OVER.any(), OPTIONS.any(), RANGES.any()],
            returns: Returns::Expr,
            file: include_str!("vreduce.rs"),
            call: |args| {
                let (values, over, ranges) = arguments(args)?;
                let reduced = $call(values, &over, ranges)?;
                kept(args, reduced, &over).map(Value::Expr)
            },
        }
    };
}

/// `vsum(values, over?, ranges?)`.
pub static VSUM: Op = vreduce!("vsum", vsum);
/// `vprod(values, over?, ranges?)`.
pub static VPROD: Op = vreduce!("vprod", |v, over, r| vreduce(Reduction::Prod, v, over, r));
/// `vmin(values, over?, ranges?)`.
pub static VMIN: Op = vreduce!("vmin", |v, over, r| vreduce(Reduction::Min, v, over, r));
/// `vmax(values, over?, ranges?)`.
pub static VMAX: Op = vreduce!("vmax", |v, over, r| vreduce(Reduction::Max, v, over, r));
/// `vmean(values, over?, ranges?)`.
pub static VMEAN: Op = vreduce!("vmean", vmean);

/// The values, and the iterators or dimensions to reduce over: all of them if none are listed.
pub(super) fn arguments<'a>(args: &Args<'a>) -> Result<(&'a Expr, Vec<Affine>, Domain), Error> {
    let values = args.get(&VALUES)?;
    let over = match args.get(&OVER)? {
        Some(over) => over.to_vec(),
        None => {
            let dimensions = (1i64..).take(rank(values));
            dimensions.map(Affine::constant).collect()
        }
    };
    Ok((values, over, args.get(&RANGES)?.unwrap_or_default()))
}

/// The result of a reduction, with the extent 1 in the dimensions reduced over if they are kept.
pub(super) fn kept(args: &Args, reduced: Expr, over: &[Affine]) -> Result<Expr, Error> {
    let values = args.get(&VALUES)?;
    let options = args.get(&OPTIONS)?;
    let keep = options.map(|options| options.get(&KEEP)).transpose()?;
    if keep.flatten() != Some(true) {
        return Ok(reduced);
    }
    let rank = rank(values);
    if !carried(values).is_empty() {
        let text = format!(
            "{} carries iterators, and has no dimensions to keep",
            describe(values)
        );
        let error = mistake(text).help("without iterators, `sum(A, [2], #{keep: true})` keeps one");
        return Err(error.at(&KEEP));
    }
    let over: Vec<Option<usize>> = over.iter().map(|d| place(d.as_constant()?, rank)).collect();
    let formals = fresh_iterators(rank, &[&reduced]);
    let left = (0..rank).filter(|d| !over.contains(&Some(*d)));
    let left: Vec<Affine> = left.map(|d| Affine::iterator(formals[d].clone())).collect();
    Ok(abstraction(formals, positional(&reduced, &left)?)?)
}

/// The dimension counted from 0, where `dimension` counts from 1, or from -1 at the end.
fn place(dimension: i64, rank: usize) -> Option<usize> {
    let count = usize::try_from(dimension.unsigned_abs()).ok()?;
    match dimension {
        1.. => Some(count - 1),
        0 => None,
        _ => rank.checked_sub(count),
    }
}

/// The virtual sum of `values` over `over`.
///
/// # Errors
/// As the header says.
pub fn vsum(values: &Expr, over: &[Affine], ranges: Domain) -> Result<Expr, Error> {
    vreduce(Reduction::Sum, values, over, ranges)
}

/// The virtual mean of `values` over `over`.
///
/// # Errors
/// As the header says.
pub fn vmean(values: &Expr, over: &[Affine], ranges: Domain) -> Result<Expr, Error> {
    let terms = Terms::of(values, over, ranges)?;
    let sum = Expr::new(Node::Reduce {
        reduction: Reduction::Sum,
        over: terms.over.clone(),
        within: terms.within.clone(),
        shape: Shape::of_extents([]),
        body: terms.body.clone(),
    });
    let ranges = shape::all_ranges_so_far(&sum)?;
    let found = |name: &Name| ranges.iter().find(|r| r.name == *name);
    let listed = terms.over.iter().filter_map(found);
    let mut count = 1u64;
    let mut sizes: Vec<Affine> = Vec::new();
    for range in listed {
        let of_sizes = range.dim();
        if range.count().is_none() && of_sizes.is_fixed() && of_sizes.as_constant().is_none() {
            sizes.push(of_sizes);
            continue;
        }
        let values = range.count().filter(|count| *count > 0);
        let values = values.ok_or_else(|| {
            let error = mistake(format!(
                "the mean over `{}` has no fixed number of values",
                range.name
            ));
            error.help(
                "give it a range between numbers or sizes, or divide the sum by numbers of your own: a \
                 tensor with the number of values for each element",
            )
        })?;
        count = count.saturating_mul(values);
    }
    let elem = terms.body.elem();
    let number = match elem.is_float() {
        true => Number::Float(count as f64),
        false => Number::Int(i64::try_from(count).unwrap_or(i64::MAX)),
    };
    let number = (count != 1 || sizes.is_empty()).then(|| constant(number, elem));
    let mut product = number.transpose()?;
    for size in sizes {
        let factor = apply(Function::Cast(elem), &[Expr::new(Node::Index(size))])?;
        product = Some(match product {
            Some(product) => binary(BinaryOp::Mul, product, factor)?,
            None => factor,
        });
    }
    terms.reduced(Reduction::Sum, |sum| match product {
        Some(count) => binary(BinaryOp::Div, sum, count),
        None => Ok(sum),
    })
}

/// The virtual reduction of `values` over `over`: iterators that they carry, or dimensions.
///
/// # Errors
/// As the header says.
pub fn vreduce(
    reduction: Reduction,
    values: &Expr,
    over: &[Affine],
    ranges: Domain,
) -> Result<Expr, Error> {
    Terms::of(values, over, ranges)?.reduced(reduction, Ok)
}

/// The error for a reduction over no iterators and no dimensions.
fn nothing_to_reduce(values: &Expr) -> Error {
    let text = "nothing is left to reduce over";
    match rank(values) {
        0 => mistake(format!("{text}: {} has no dimensions", describe(values))).at(&VALUES),
        _ => mistake(format!("{text}: the list is empty"))
            .help("without a list, all dimensions are reduced over")
            .at(&OVER),
    }
}

/// The error for a range of an iterator that is not reduced over.
fn not_reduced(iterator: &str) -> Error {
    let error = mistake(format!(
        "gives a range to `{iterator}`, which is not among the iterators that are reduced over"
    ));
    let error = error.help("ranges of iterators of the target are an argument of `eq`");
    error.at(&RANGES)
}

/// The terms of a reduction.
struct Terms {
    body: Expr,
    over: Vec<Name>,
    /// The given ranges of some of them.
    within: Domain,
    /// The dimensions of the result, if the values do not carry iterators.
    formals: Vec<Name>,
}

impl Terms {
    fn of(values: &Expr, over: &[Affine], ranges: Domain) -> Result<Terms, Error> {
        if over.is_empty() {
            return Err(nothing_to_reduce(values));
        }
        let dimensions: Option<Vec<i64>> = over.iter().map(Affine::as_constant).collect();
        match dimensions {
            Some(_) if !ranges.is_empty() => {
                let names: Vec<&str> = ranges.iter().map(|(name, _)| name.as_str()).collect();
                Err(not_reduced(names.first().unwrap_or(&"")))
            }
            Some(listed) => Terms::of_dimensions(values, &listed),
            None => {
                let body = indexed(values, &None);
                let body = body.map_err(|error| error.at(&VALUES))?;
                Terms::of_iterators(body, over, ranges)
            }
        }
    }

    fn of_iterators(body: Expr, listed: &[Affine], within: Domain) -> Result<Terms, Error> {
        // An iterator with a given range may appear only in the bounds of another one.
        let mut has = body.iterators();
        has.extend(within.iter().map(|(name, _)| name.clone()));
        let mut over: Vec<Name> = Vec::with_capacity(listed.len());
        for index in listed {
            let error = match index.as_iterator().filter(|n| has.contains(n)) {
                None => {
                    let has: Vec<&str> = has.iter().map(Name::as_str).collect();
                    let has = has.join(", ");
                    let text = format!(
                        "`{index}` is not an iterator of the expression, whose iterators are \
                         [{has}]"
                    );
                    mistake(text).help("reduce over iterators that index the expression")
                }
                Some(name) if over.contains(name) => repeated(name),
                Some(name) => {
                    over.push(name.clone());
                    continue;
                }
            };
            return Err(error.at(&OVER));
        }
        if let Some((name, _)) = within.iter().find(|(name, _)| !over.contains(name)) {
            return Err(not_reduced(name.as_str()));
        }
        let formals = Vec::new();
        Ok(Terms {
            body,
            over,
            within,
            formals,
        })
    }

    fn of_dimensions(values: &Expr, listed: &[i64]) -> Result<Terms, Error> {
        let rank = rank(values);
        let carried = carried(values);
        let mut formals = if carried.is_empty() {
            fresh_iterators(rank, &[values])
        } else {
            carried.clone()
        };
        let at: Vec<Affine> = formals.iter().cloned().map(Affine::iterator).collect();
        let body = positional(values, &at).map_err(|error| error.at(&VALUES))?;
        let mut over: Vec<Name> = Vec::with_capacity(listed.len());
        for &dimension in listed {
            let what = describe(values);
            let d = place(dimension, rank);
            let error = match d.and_then(|d| at.get(d)).and_then(Affine::as_iterator) {
                None => no_dimension(&what, rank, dimension),
                Some(name) if over.contains(name) => dimension_twice(&what, dimension),
                Some(name) => {
                    over.push(name.clone());
                    continue;
                }
            };
            return Err(error.at(&OVER));
        }
        // If the values carry iterators, so does the result.
        formals.retain(|name| carried.is_empty() && !over.contains(name));
        Ok(Terms {
            body,
            over,
            within: Domain::default(),
            formals,
        })
    }

    /// Reduces the terms; `finish` computes the result from the reduction.
    fn reduced(
        self,
        reduction: Reduction,
        finish: impl FnOnce(Expr) -> Result<Expr, Unfit>,
    ) -> Result<Expr, Error> {
        let value = if self.over.is_empty() {
            self.body
        } else {
            let terms = Definition {
                value: self.body,
                to: Vec::new(),
                over: self.over,
                within: self.within,
            };
            let (terms, _) = split(terms, None).map_err(|error| error.at(&OVER))?;
            let within = match reduction {
                Reduction::Sum => of_terms(&terms.value, &terms.over, terms.within),
                _ => terms.within,
            };
            let reduced = reduce_within(reduction, terms.over, within, terms.value);
            reduced.map_err(|unfit| match unfit {
                Unfit::Shape(_) => Error::from(unfit).at(&OVER),
                unfit => unfit.into(),
            })?
        };
        let value = finish(value)?;
        if self.formals.is_empty() {
            Ok(value)
        } else {
            Ok(abstraction(self.formals, value)?)
        }
    }
}
