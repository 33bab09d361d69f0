//! Integer points, read out of isl.

use super::error::Error;
use super::handle::Handle;
use super::library::{RawPoint, RawValue};
use super::names::unescape;
use std::ffi::{CStr, c_char, c_int, c_uint};

/// `isl_dim_cst`, `isl_dim_param`, `isl_dim_in`, `isl_dim_out` (the same as `isl_dim_set`) and
/// `isl_dim_div`.
pub(super) const CONSTANT: c_uint = 0;
pub(super) const PARAMETERS: c_uint = 1;
pub(super) const DOMAIN: c_uint = 2;
pub(super) const RANGE: c_uint = 3;
pub(super) const DIVISIONS: c_uint = 4;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    /// The name of its tuple, if any.
    pub tuple: Option<String>,
    /// The coordinates; those of nested tuples are concatenated.
    pub coordinates: Vec<i64>,
}

/// The original name of a tuple, unescaped.
///
/// # Safety
///
/// `name` is null or text that is alive.
pub(super) unsafe fn tuple_name(name: *const c_char) -> Option<String> {
    if name.is_null() {
        return None;
    }
    // SAFETY: the caller guarantees it.
    let name = unsafe { CStr::from_ptr(name) };
    Some(unescape(&name.to_string_lossy()))
}

/// The first `count` coordinates; `None` for the point of an empty set.
pub(super) fn coordinates(
    point: &Handle<RawPoint>,
    count: usize,
) -> Result<Option<Vec<i64>>, Error> {
    let context = &point.context;
    let library = context.library;
    // SAFETY: the point is alive; the function keeps it.
    let void = unsafe { (library.point_is_void)(point.keep()) };
    if context.number("point_is_void", void)? != 0 {
        return Ok(None);
    }
    let coordinate = |k: usize| {
        let k = c_int::try_from(k).unwrap_or(c_int::MAX);
        let function = "point_get_coordinate_val";
        // SAFETY: the function keeps the point and gives the value; isl checks `k`.
        let value = unsafe {
            let raw = (library.point_get_coordinate_val)(point.keep(), RANGE, k);
            Handle::own(context, function, raw)?
        };
        number(&value)
    };
    (0..count)
        .map(coordinate)
        .collect::<Result<_, _>>()
        .map(Some)
}

/// The integer in a value.
pub(super) fn number(value: &Handle<RawValue>) -> Result<i64, Error> {
    let context = &value.context;
    // SAFETY: the value is alive; the function keeps it. If it is too large, the function returns
    // zero and sets the error of the context.
    context.checked("val_get_num_si", || unsafe {
        (context.library.val_get_num_si)(value.keep())
    })
}
