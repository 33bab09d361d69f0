//! Compares a result with the reference: one pass over memory if they agree, a second one to locate
//! the differences.

use super::agreement::{Agreement, Difference};
use super::elements::View;
use super::error::RuntimeError;
use super::tolerances::{F32_ERROR, F64_ERROR, SUM_ROUNDINGS};
use crate::ir::{Elem, Shape};
use rayon::prelude::*;

/// The relative error that counts as rounding: 1e-9 for f64, 1e-4 for f32, 0 for integers.
pub fn default_tolerance(elem: Elem) -> f64 {
    match elem {
        Elem::F64 => F64_ERROR,
        Elem::F32 => F32_ERROR,
        Elem::I32 | Elem::I64 => 0.0,
    }
}

/// The relative error that counts as rounding where elements are sums of `terms`, in any order.
pub fn sum_tolerance(elem: Elem, terms: f64) -> f64 {
    let rounding = match elem {
        Elem::F64 => f64::EPSILON,
        Elem::F32 => f64::from(f32::EPSILON),
        Elem::I32 | Elem::I64 => 0.0,
    };
    let of_sum = SUM_ROUNDINGS * rounding * terms.sqrt();
    default_tolerance(elem).max(of_sum)
}

/// Compares a result with the reference; both have the shape `shape`.
///
/// Floating-point elements may differ by `tolerance` times the largest magnitude in the reference.
/// A NaN equals a NaN, an infinity an infinity of the same sign. Integers must be equal. The
/// reference of an f32 result may be f64.
///
/// # Errors
/// [`RuntimeError::Incomparable`] when the numbers of elements differ, or only one of both has
/// integers.
pub fn compare(
    reference: View<'_>,
    actual: View<'_>,
    shape: &Shape,
    tolerance: f64,
) -> Result<Agreement, RuntimeError> {
    let describe = |view: View<'_>| format!("{} elements of type {}", view.len(), view.elem());
    let incomparable = || RuntimeError::Incomparable {
        left: describe(reference),
        right: describe(actual),
    };
    if reference.len() != actual.len() || reference.len() as u64 != shape.elements() {
        return Err(incomparable());
    }
    let found = match (reference, actual) {
        (View::F64(r), View::F64(a)) => floats(r, a, tolerance),
        (View::F64(r), View::F32(a)) => floats(r, a, tolerance),
        (View::F32(r), View::F64(a)) => floats(r, a, tolerance),
        (View::F32(r), View::F32(a)) => floats(r, a, tolerance),
        (View::I32(r), View::I32(a)) => integers(r, a),
        (View::I32(r), View::I64(a)) => integers(r, a),
        (View::I64(r), View::I32(a)) => integers(r, a),
        (View::I64(r), View::I64(a)) => integers(r, a),
        _ => return Err(incomparable()),
    };
    let first = found.first.and_then(|x| {
        Some(Difference {
            index: shape.index_of(x as u64),
            expected: reference.get(x)?,
            actual: actual.get(x)?,
        })
    });
    let exact = !reference.elem().is_float();
    Ok(Agreement {
        elements: shape.elements(),
        relative_error: found.error,
        tolerance: if exact { 0.0 } else { tolerance },
        differing: found.differing,
        first,
    })
}

struct Found {
    error: f64,
    differing: u64,
    first: Option<usize>,
}

/// Elements that one thread compares at a time.
const CHUNK: usize = 1 << 15;

fn floats<R, A>(reference: &[R], actual: &[A], tolerance: f64) -> Found
where
    R: Copy + Sync + Into<f64>,
    A: Copy + Sync + Into<f64>,
{
    let pairs = || reference.par_chunks(CHUNK).zip(actual.par_chunks(CHUNK));
    let (scale, worst, finite) = pairs()
        .map(|(r, a)| extremes(r, a))
        .reduce(|| (0.0, 0.0, true), join);
    let relative = |scale: f64, worst: f64| if scale > 0.0 { worst / scale } else { worst };
    if finite && relative(scale, worst) <= tolerance {
        return Found {
            error: relative(scale, worst),
            differing: 0,
            first: None,
        };
    }
    let (scale, worst) = pairs()
        .map(|(r, a)| finite_extremes(r, a))
        .reduce(|| (0.0, 0.0), |x, y| (larger(x.0, y.0), larger(x.1, y.1)));
    let limit = tolerance * if scale > 0.0 { scale } else { 1.0 };
    let finite = |r: f64, a: f64| r.is_finite() && a.is_finite();
    let equal = |r: f64, a: f64| {
        if finite(r, a) {
            (a - r).abs() <= limit
        } else {
            r == a || (r.is_nan() && a.is_nan())
        }
    };
    let misfit = |r: f64, a: f64| !(finite(r, a) || equal(r, a));
    let (differing, first) = count(reference, actual, |r: R, a: A| !equal(r.into(), a.into()));
    let misfits = count(reference, actual, |r: R, a: A| misfit(r.into(), a.into())).0;
    let error = if misfits > 0 {
        f64::INFINITY
    } else {
        relative(scale, worst)
    };
    Found {
        error,
        differing,
        first,
    }
}

fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

fn join(x: (f64, f64, bool), y: (f64, f64, bool)) -> (f64, f64, bool) {
    (larger(x.0, y.0), larger(x.1, y.1), x.2 && y.2)
}

/// max |r|, max |a - r|, and whether all differences are finite. Eight independent lanes let the
/// compiler use vector registers without reordering a sum.
fn extremes<R: Copy + Into<f64>, A: Copy + Into<f64>>(r: &[R], a: &[A]) -> (f64, f64, bool) {
    const LANES: usize = 8;
    let (mut scale, mut worst, mut poison) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    let mut step = |k: usize, r: f64, a: f64| {
        let difference = (a - r).abs();
        scale[k] = larger(scale[k], r.abs());
        worst[k] = larger(worst[k], difference);
        // Zero for a finite difference, NaN for any other.
        poison[k] += difference * 0.0;
    };
    let (whole_r, rest_r) = r.as_chunks::<LANES>();
    let (whole_a, rest_a) = a.as_chunks::<LANES>();
    for (r, a) in whole_r.iter().zip(whole_a) {
        for k in 0..LANES {
            step(k, r[k].into(), a[k].into());
        }
    }
    for (r, a) in rest_r.iter().zip(rest_a) {
        step(0, (*r).into(), (*a).into());
    }
    let lanes = (0..LANES).map(|k| (scale[k], worst[k], poison[k] == 0.0));
    lanes.fold((0.0, 0.0, true), join)
}

fn finite_extremes<R: Copy + Into<f64>, A: Copy + Into<f64>>(r: &[R], a: &[A]) -> (f64, f64) {
    let pairs = r.iter().zip(a).map(|(r, a)| ((*r).into(), (*a).into()));
    pairs
        .filter(|(r, a): &(f64, f64)| r.is_finite() && a.is_finite())
        .fold((0.0, 0.0), |(scale, worst), (r, a)| {
            (larger(scale, r.abs()), larger(worst, (a - r).abs()))
        })
}

fn integers<R, A>(reference: &[R], actual: &[A]) -> Found
where
    R: Copy + Sync + Into<i64>,
    A: Copy + Sync + Into<i64>,
{
    let (differing, first) = count(reference, actual, |r: R, a: A| r.into() != a.into());
    if differing == 0 {
        return Found {
            error: 0.0,
            differing,
            first,
        };
    }
    let pairs = reference.par_iter().zip(actual);
    let (scale, worst) = pairs
        .map(|(r, a)| ((*r).into(), (*a).into()))
        .map(|(r, a)| (r.unsigned_abs(), a.abs_diff(r)))
        .reduce(|| (0, 0), |x, y| (x.0.max(y.0), x.1.max(y.1)));
    Found {
        error: worst as f64 / scale.max(1) as f64,
        differing,
        first,
    }
}

fn count<R, A>(r: &[R], a: &[A], differs: impl Fn(R, A) -> bool + Sync) -> (u64, Option<usize>)
where
    R: Copy + Sync,
    A: Copy + Sync,
{
    let chunks = r.par_chunks(CHUNK).zip(a.par_chunks(CHUNK)).enumerate();
    chunks
        .map(|(chunk, (r, a))| {
            let differing = r.iter().zip(a).filter(|(r, a)| differs(**r, **a)).count();
            let first = if differing == 0 {
                None
            } else {
                r.iter().zip(a).position(|(r, a)| differs(*r, *a))
            };
            (differing as u64, first.map(|k| chunk * CHUNK + k))
        })
        .reduce(
            || (0, None),
            |x, y| (x.0 + y.0, [x.1, y.1].into_iter().flatten().min()),
        )
}

#[cfg(test)]
mod tests {
    use super::super::elements::Scalar;
    use super::*;

    fn shape(extents: &[u64]) -> Shape {
        Shape::of_extents(extents.iter().copied())
    }

    #[test]
    fn says_where_and_how_much() {
        let reference: Vec<f64> = (0..100_000).map(f64::from).collect();
        let mut actual = reference.clone();
        let shape = shape(&[100, 10, 100]);
        let equal = compare(View::F64(&reference), View::F64(&actual), &shape, 1e-9).unwrap();
        assert!(equal.agrees() && equal.relative_error == 0.0);
        actual[54_321] += 1.0;
        actual[54_322] += 2.0;
        actual[1_000] += 1e-6;
        let c = compare(View::F64(&reference), View::F64(&actual), &shape, 1e-9).unwrap();
        assert_eq!(c.differing, 2);
        let first = c.first.clone().unwrap();
        assert_eq!(first.index, [54, 3, 21]);
        assert_eq!(first.expected, Scalar::Float(54_321.0));
        assert_eq!(c.relative_error, 2.0 / 99_999.0);
        assert!(
            c.to_string()
                .contains("[54][3][21]: expected 54321.0, got 54322.0")
        );
    }

    #[test]
    fn long_sums_may_be_rounded_more_often() {
        assert_eq!(
            sum_tolerance(Elem::F32, 1000.0),
            default_tolerance(Elem::F32)
        );
        let tolerance = sum_tolerance(Elem::F32, 1e6);
        assert!(
            tolerance > default_tolerance(Elem::F32) && tolerance < 3e-4,
            "{tolerance}"
        );
        assert_eq!(sum_tolerance(Elem::F64, 1e12), default_tolerance(Elem::F64));
        assert_eq!(sum_tolerance(Elem::I32, 1e12), 0.0);
    }

    #[test]
    fn nans_and_infinities_match_their_like_only() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let check = |r: &[f64], a: &[f64]| {
            let shape = shape(&[r.len() as u64]);
            compare(View::F64(r), View::F64(a), &shape, 1e-9).unwrap()
        };
        assert!(check(&[nan, 1.0, inf], &[nan, 1.0, inf]).agrees());
        for (r, a) in [
            (1.0, nan),
            (nan, 1.0),
            (inf, -inf),
            (inf, 1.0),
            (1.0, inf),
            (nan, inf),
        ] {
            let c = check(&[0.5, r], &[0.5, a]);
            assert_eq!((c.differing, c.relative_error), (1, inf), "{r} {a}");
        }
        let c = check(&[inf, 1.0, 2.0], &[inf, 1.5, 2.0]);
        assert_eq!((c.differing, c.relative_error), (1, 0.25));
    }

    #[test]
    fn a_reference_of_zeros_makes_the_error_absolute() {
        let s = shape(&[2]);
        let tiny = compare(View::F64(&[0.0; 2]), View::F64(&[0.0, 1e-17]), &s, 1e-9).unwrap();
        assert!(tiny.agrees());
        let off = compare(View::F64(&[0.0; 2]), View::F64(&[0.0, 1e-3]), &s, 1e-9).unwrap();
        assert_eq!((off.differing, off.relative_error), (1, 1e-3));
    }

    #[test]
    fn integers_are_exact() {
        let s = shape(&[]);
        let c = compare(View::I64(&[i64::MAX]), View::I64(&[i64::MAX - 1]), &s, 1.0).unwrap();
        assert_eq!(c.differing, 1);
        assert!(c.to_string().contains("its value"));
        let c = compare(View::I32(&[-7]), View::I64(&[-7]), &s, 0.0).unwrap();
        assert!(c.agrees());
        assert!(compare(View::I32(&[1]), View::F64(&[1.0]), &s, 0.0).is_err());
        assert!(compare(View::F64(&[1.0, 2.0]), View::F64(&[1.0, 2.0]), &s, 0.0).is_err());
    }
}
