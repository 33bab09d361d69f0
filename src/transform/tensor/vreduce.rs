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
//! others. `vsum(t, [1, 3])` reduces over dimensions, counted from 1; the result has the other
//! dimensions and no iterators yet. `vsum(t)` reduces over all of them. The dimensions of values
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
//! written. A mean needs ranges between numbers.
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
//! listed twice; an empty list; iterators that no access alone would limit as all of them together do, so that
//! terms would be left out.
//!
//! Source: the reduction behind TeML's `vcontract` (§4.2.3: "other reduction operations").

use super::eq::with_ranges;
use super::infer::{abstraction, binary, reduce_within};
use super::operand::{carried, constant, describe, fresh_iterators, indexed, positional, rank};
use super::triangular::of_terms;
use crate::analysis::shape;
use crate::ir::{Affine, BinaryOp, Domain, Expr, Name, Reduction};
use crate::transform::{Arg, Error, ErrorKind, Kind, Number, Op, Param, Returns, Value};

macro_rules! vreduce {
    ($name:literal, $call:expr) => {
        Op {
            name: $name,
            params: PARAMS,
            returns: Returns::Expr,
            file: include_str!("vreduce.rs"),
            call: |args| {
                let (values, over, ranges) = arguments(args)?;
                $call(values, &over, ranges).map(Value::Expr)
            },
        }
    };
}

pub(super) const PARAMS: &[Param] = &[
    Param::new("values", Kind::Expr),
    Param::optional("over", Kind::Over),
    Param::optional("ranges", Kind::Ranges),
];

/// Which parameter holds the ranges.
const RANGES: usize = 2;

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

/// What is reduced over which iterators or dimensions: all of them where none are listed.
pub(super) fn arguments(args: &[Arg]) -> Result<(&Expr, Vec<Affine>, Domain), Error> {
    let (args, ranges) = with_ranges(args);
    match args {
        [Arg::Expr(values), Arg::Iters(over)] => Ok((values, over.clone(), ranges)),
        [Arg::Expr(values)] => {
            let dimensions = (1i64..).take(rank(values)).map(Affine::constant);
            Ok((values, dimensions.collect(), ranges))
        }
        _ => Err(ErrorKind::Misdeclared.into()),
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
    let ranges = shape::ranges_within(&terms.body, &terms.within)?;
    let listed = ranges.iter().filter(|r| terms.over.contains(&r.name));
    let mut count = 1u64;
    for range in listed {
        let values = range.count().filter(|count| *count > 0);
        let values = values.ok_or_else(|| ErrorKind::NoMean {
            iterator: range.name.clone(),
        })?;
        count = count.saturating_mul(values);
    }
    let count = match terms.body.elem().is_float() {
        true => Number::Float(count as f64),
        false => Number::Int(i64::try_from(count).unwrap_or(i64::MAX)),
    };
    let count = constant(count, terms.body.elem())?;
    terms.reduced(Reduction::Sum, |sum| binary(BinaryOp::Div, sum, count))
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

/// What is reduced.
struct Terms {
    body: Expr,
    over: Vec<Name>,
    /// The ranges that are given to some of them.
    within: Domain,
    /// The dimensions of the result, if the values do not carry iterators.
    formals: Vec<Name>,
}

impl Terms {
    fn of(values: &Expr, over: &[Affine], ranges: Domain) -> Result<Terms, Error> {
        if over.is_empty() {
            let (what, rank) = (describe(values), rank(values));
            let error = Error::from(ErrorKind::NothingToReduce { what, rank });
            return Err(error.at_argument(usize::from(rank > 0)));
        }
        let dimensions: Option<Vec<i64>> = over.iter().map(Affine::as_constant).collect();
        match dimensions {
            Some(_) if !ranges.is_empty() => {
                let (name, _) = ranges.iter().next().ok_or(ErrorKind::Misdeclared)?;
                let iterator = name.to_string();
                Err(Error::from(ErrorKind::NotReduced { iterator }).at_argument(RANGES))
            }
            Some(listed) => Terms::of_dimensions(values, &listed),
            None => {
                let body = indexed(values, &None);
                let body = body.map_err(|kind| Error::from(kind).at_argument(0))?;
                Terms::of_iterators(body, over, ranges)
            }
        }
    }

    fn of_iterators(body: Expr, listed: &[Affine], within: Domain) -> Result<Terms, Error> {
        // An iterator whose range is given may be in the bounds of another one alone.
        let mut has = body.iterators();
        has.extend(within.iter().map(|(name, _)| name.clone()));
        let mut over: Vec<Name> = Vec::with_capacity(listed.len());
        for index in listed {
            let kind = match index.as_iterator().filter(|n| has.contains(n)) {
                None => ErrorKind::NotFree {
                    iterator: index.to_string(),
                    has,
                },
                Some(name) if over.contains(name) => ErrorKind::Repeated {
                    iterator: name.clone(),
                },
                Some(name) => {
                    over.push(name.clone());
                    continue;
                }
            };
            return Err(Error::from(kind).at_argument(1));
        }
        if let Some((name, _)) = within.iter().find(|(name, _)| !over.contains(name)) {
            let iterator = name.to_string();
            return Err(Error::from(ErrorKind::NotReduced { iterator }).at_argument(RANGES));
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
        let mut formals = match carried.is_empty() {
            true => fresh_iterators(rank, &[values]),
            false => carried.clone(),
        };
        let at: Vec<Affine> = formals.iter().cloned().map(Affine::iterator).collect();
        let body = positional(values, &at).map_err(|kind| Error::from(kind).at_argument(0))?;
        let mut over: Vec<Name> = Vec::with_capacity(listed.len());
        for &dimension in listed {
            let what = describe(values);
            let d = usize::try_from(dimension)
                .ok()
                .and_then(|d| d.checked_sub(1));
            let kind = match d.and_then(|d| at.get(d)).and_then(Affine::as_iterator) {
                None => ErrorKind::NoDimension {
                    what,
                    rank,
                    dimension,
                },
                Some(name) if over.contains(name) => ErrorKind::DimensionTwice { what, dimension },
                Some(name) => {
                    over.push(name.clone());
                    continue;
                }
            };
            return Err(Error::from(kind).at_argument(1));
        }
        // What the values carry, the result carries.
        formals.retain(|name| carried.is_empty() && !over.contains(name));
        Ok(Terms {
            body,
            over,
            within: Domain::default(),
            formals,
        })
    }

    /// The reduction of the terms, of which `finish` makes the result.
    fn reduced(
        self,
        reduction: Reduction,
        finish: impl FnOnce(Expr) -> Result<Expr, ErrorKind>,
    ) -> Result<Expr, Error> {
        let value = match self.over.is_empty() {
            true => self.body,
            false => {
                let within = match reduction {
                    Reduction::Sum => of_terms(&self.body, &self.over, self.within),
                    _ => self.within,
                };
                reduce_within(reduction, self.over, within, self.body).map_err(
                    |kind| match kind {
                        ErrorKind::Shape(_) => Error::from(kind).at_argument(1),
                        kind => kind.into(),
                    },
                )?
            }
        };
        let value = finish(value)?;
        match self.formals.is_empty() {
            true => Ok(value),
            false => Ok(abstraction(self.formals, value)?),
        }
    }
}
