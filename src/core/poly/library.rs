//! The library itself: found by name, loaded once, never unloaded.
//!
//! The table below is the part of isl's C interface that this directory uses. It has been the same
//! since isl 0.22 (soname 22). Ownership follows the annotations in isl's manual. Functions that
//! return an `isl_bool`, a size, a status or text *keep* their arguments. The others *take* them,
//! except where marked here. All returned objects are *given*.

use super::error::Error;
use std::ffi::{c_char, c_int, c_long, c_uint, c_ulong, c_void};
use std::sync::OnceLock;

/// The types behind isl's pointers. Only isl looks inside.
macro_rules! opaque {
    ($($name:ident)*) => {$(
        #[repr(C)]
        pub(super) struct $name([u8; 0]);
    )*};
}

opaque! {
    RawContext RawSet RawMap RawUnionSet RawUnionMap RawBasicSet RawBasicMap RawPoint RawValue
    RawMatrix RawSpace RawAccesses RawFlow
}

/// `isl_bool`, `isl_stat` or `isl_size`: −1 is an error.
pub(super) type Answer = c_int;

/// A callback that isl calls for each part of an object. It owns the part.
pub(super) type Visitor<T> = unsafe extern "C" fn(*mut T, *mut c_void) -> Answer;

macro_rules! functions {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of isl, by their names without `isl_`.
        pub(super) struct Library {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            /// Keeps the code loaded.
            _loaded: libloading::Library,
        }

        impl Library {
            fn bind(loaded: libloading::Library) -> Result<Library, libloading::Error> {
                // SAFETY: the types are those of isl's headers. The pointers live no longer than
                // the library, which is in the same struct.
                unsafe {
                    Ok(Library {
                        $($name: *loaded.get(concat!("isl_", stringify!($name), "\0").as_bytes())?,)*
                        _loaded: loaded,
                    })
                }
            }
        }
    };
}

functions! {
    ctx_alloc() -> *mut RawContext;
    ctx_free(*mut RawContext);
    ctx_last_error(*mut RawContext) -> c_int;
    ctx_last_error_msg(*mut RawContext) -> *const c_char;
    ctx_reset_error(*mut RawContext);
    ctx_set_max_operations(*mut RawContext, c_ulong);
    ctx_reset_operations(*mut RawContext);
    ctx_abort(*mut RawContext);
    ctx_aborted(*mut RawContext) -> c_int;
    ctx_resume(*mut RawContext);
    options_set_on_error(*mut RawContext, c_int) -> Answer;

    space_alloc(*mut RawContext, c_uint, c_uint, c_uint) -> *mut RawSpace;
    space_copy(*mut RawSpace) -> *mut RawSpace; // keeps
    space_free(*mut RawSpace) -> *mut RawSpace;
    space_set_tuple_name(*mut RawSpace, c_uint, *const c_char) -> *mut RawSpace;
    space_set_dim_name(*mut RawSpace, c_uint, c_uint, *const c_char) -> *mut RawSpace;

    set_read_from_str(*mut RawContext, *const c_char) -> *mut RawSet;
    set_to_str(*mut RawSet) -> *mut c_char;
    set_copy(*mut RawSet) -> *mut RawSet; // keeps
    set_free(*mut RawSet) -> *mut RawSet;
    set_dim(*mut RawSet, c_uint) -> Answer;
    set_get_tuple_name(*mut RawSet) -> *const c_char; // keeps, and owns the text
    set_from_basic_set(*mut RawBasicSet) -> *mut RawSet;
    set_from_union_set(*mut RawUnionSet) -> *mut RawSet;
    set_intersect(*mut RawSet, *mut RawSet) -> *mut RawSet;
    set_union(*mut RawSet, *mut RawSet) -> *mut RawSet;
    set_subtract(*mut RawSet, *mut RawSet) -> *mut RawSet;
    set_gist(*mut RawSet, *mut RawSet) -> *mut RawSet;
    set_apply(*mut RawSet, *mut RawMap) -> *mut RawSet;
    set_lexmin(*mut RawSet) -> *mut RawSet;
    set_lexmax(*mut RawSet) -> *mut RawSet;
    set_identity(*mut RawSet) -> *mut RawMap;
    set_project_out(*mut RawSet, c_uint, c_uint, c_uint) -> *mut RawSet;
    set_params(*mut RawSet) -> *mut RawSet;
    set_from_params(*mut RawSet) -> *mut RawSet;
    set_move_dims(*mut RawSet, c_uint, c_uint, c_uint, c_uint, c_uint) -> *mut RawSet;
    set_get_dim_name(*mut RawSet, c_uint, c_uint) -> *const c_char; // keeps, and owns the text
    set_coalesce(*mut RawSet) -> *mut RawSet;
    set_is_empty(*mut RawSet) -> Answer;
    set_is_bounded(*mut RawSet) -> Answer;
    set_is_subset(*mut RawSet, *mut RawSet) -> Answer;
    set_is_equal(*mut RawSet, *mut RawSet) -> Answer;
    set_sample_point(*mut RawSet) -> *mut RawPoint;
    set_foreach_point(*mut RawSet, Visitor<RawPoint>, *mut c_void) -> Answer;
    set_foreach_basic_set(*mut RawSet, Visitor<RawBasicSet>, *mut c_void) -> Answer;
    set_remove_divs(*mut RawSet) -> *mut RawSet;
    set_coefficients(*mut RawSet) -> *mut RawBasicSet;
    basic_set_copy(*mut RawBasicSet) -> *mut RawBasicSet; // keeps
    basic_set_free(*mut RawBasicSet) -> *mut RawBasicSet;
    basic_set_equalities_matrix(*mut RawBasicSet, c_uint, c_uint, c_uint, c_uint) -> *mut RawMatrix; // keeps
    basic_set_inequalities_matrix(*mut RawBasicSet, c_uint, c_uint, c_uint, c_uint) -> *mut RawMatrix; // keeps
    mat_alloc(*mut RawContext, c_uint, c_uint) -> *mut RawMatrix;
    mat_copy(*mut RawMatrix) -> *mut RawMatrix; // keeps
    mat_free(*mut RawMatrix) -> *mut RawMatrix;
    mat_set_element_si(*mut RawMatrix, c_int, c_int, c_int) -> *mut RawMatrix;
    mat_set_element_val(*mut RawMatrix, c_int, c_int, *mut RawValue) -> *mut RawMatrix;
    mat_rows(*mut RawMatrix) -> Answer;
    mat_cols(*mut RawMatrix) -> Answer;
    mat_get_element_val(*mut RawMatrix, c_int, c_int) -> *mut RawValue; // keeps

    map_read_from_str(*mut RawContext, *const c_char) -> *mut RawMap;
    map_to_str(*mut RawMap) -> *mut c_char;
    map_copy(*mut RawMap) -> *mut RawMap; // keeps
    map_free(*mut RawMap) -> *mut RawMap;
    map_dim(*mut RawMap, c_uint) -> Answer;
    map_get_tuple_name(*mut RawMap, c_uint) -> *const c_char; // keeps, and owns the text
    map_from_basic_map(*mut RawBasicMap) -> *mut RawMap;
    map_from_union_map(*mut RawUnionMap) -> *mut RawMap;
    map_intersect(*mut RawMap, *mut RawMap) -> *mut RawMap;
    map_union(*mut RawMap, *mut RawMap) -> *mut RawMap;
    map_subtract(*mut RawMap, *mut RawMap) -> *mut RawMap;
    map_gist(*mut RawMap, *mut RawMap) -> *mut RawMap;
    map_intersect_domain(*mut RawMap, *mut RawSet) -> *mut RawMap;
    map_intersect_range(*mut RawMap, *mut RawSet) -> *mut RawMap;
    map_apply_domain(*mut RawMap, *mut RawMap) -> *mut RawMap;
    map_apply_range(*mut RawMap, *mut RawMap) -> *mut RawMap;
    map_reverse(*mut RawMap) -> *mut RawMap;
    map_lexmin(*mut RawMap) -> *mut RawMap;
    map_lexmax(*mut RawMap) -> *mut RawMap;
    map_domain(*mut RawMap) -> *mut RawSet;
    map_range(*mut RawMap) -> *mut RawSet;
    map_deltas(*mut RawMap) -> *mut RawSet;
    map_wrap(*mut RawMap) -> *mut RawSet;
    map_project_out(*mut RawMap, c_uint, c_uint, c_uint) -> *mut RawMap;
    map_is_empty(*mut RawMap) -> Answer;
    map_is_subset(*mut RawMap, *mut RawMap) -> Answer;
    map_is_equal(*mut RawMap, *mut RawMap) -> Answer;
    map_is_single_valued(*mut RawMap) -> Answer;
    map_is_injective(*mut RawMap) -> Answer;
    map_is_bijective(*mut RawMap) -> Answer;
    map_foreach_basic_map(*mut RawMap, Visitor<RawBasicMap>, *mut c_void) -> Answer;
    basic_map_from_constraint_matrices(*mut RawSpace, *mut RawMatrix, *mut RawMatrix, c_uint, c_uint, c_uint, c_uint, c_uint) -> *mut RawBasicMap;
    basic_map_copy(*mut RawBasicMap) -> *mut RawBasicMap; // keeps
    basic_map_free(*mut RawBasicMap) -> *mut RawBasicMap;

    union_set_read_from_str(*mut RawContext, *const c_char) -> *mut RawUnionSet;
    union_set_to_str(*mut RawUnionSet) -> *mut c_char;
    union_set_copy(*mut RawUnionSet) -> *mut RawUnionSet; // keeps
    union_set_free(*mut RawUnionSet) -> *mut RawUnionSet;
    union_set_from_set(*mut RawSet) -> *mut RawUnionSet;
    union_set_intersect(*mut RawUnionSet, *mut RawUnionSet) -> *mut RawUnionSet;
    union_set_union(*mut RawUnionSet, *mut RawUnionSet) -> *mut RawUnionSet;
    union_set_subtract(*mut RawUnionSet, *mut RawUnionSet) -> *mut RawUnionSet;
    union_set_gist(*mut RawUnionSet, *mut RawUnionSet) -> *mut RawUnionSet;
    union_set_apply(*mut RawUnionSet, *mut RawUnionMap) -> *mut RawUnionSet;
    union_set_lexmin(*mut RawUnionSet) -> *mut RawUnionSet;
    union_set_lexmax(*mut RawUnionSet) -> *mut RawUnionSet;
    union_set_identity(*mut RawUnionSet) -> *mut RawUnionMap;
    union_set_is_empty(*mut RawUnionSet) -> Answer;
    union_set_is_subset(*mut RawUnionSet, *mut RawUnionSet) -> Answer;
    union_set_is_equal(*mut RawUnionSet, *mut RawUnionSet) -> Answer;
    union_set_foreach_set(*mut RawUnionSet, Visitor<RawSet>, *mut c_void) -> Answer;

    union_map_read_from_str(*mut RawContext, *const c_char) -> *mut RawUnionMap;
    union_map_to_str(*mut RawUnionMap) -> *mut c_char;
    union_map_copy(*mut RawUnionMap) -> *mut RawUnionMap; // keeps
    union_map_free(*mut RawUnionMap) -> *mut RawUnionMap;
    union_map_from_map(*mut RawMap) -> *mut RawUnionMap;
    union_map_intersect(*mut RawUnionMap, *mut RawUnionMap) -> *mut RawUnionMap;
    union_map_union(*mut RawUnionMap, *mut RawUnionMap) -> *mut RawUnionMap;
    union_map_subtract(*mut RawUnionMap, *mut RawUnionMap) -> *mut RawUnionMap;
    union_map_gist(*mut RawUnionMap, *mut RawUnionMap) -> *mut RawUnionMap;
    union_map_intersect_domain(*mut RawUnionMap, *mut RawUnionSet) -> *mut RawUnionMap;
    union_map_intersect_range(*mut RawUnionMap, *mut RawUnionSet) -> *mut RawUnionMap;
    union_map_apply_domain(*mut RawUnionMap, *mut RawUnionMap) -> *mut RawUnionMap;
    union_map_apply_range(*mut RawUnionMap, *mut RawUnionMap) -> *mut RawUnionMap;
    union_map_reverse(*mut RawUnionMap) -> *mut RawUnionMap;
    union_map_lexmin(*mut RawUnionMap) -> *mut RawUnionMap;
    union_map_lexmax(*mut RawUnionMap) -> *mut RawUnionMap;
    union_map_lex_lt_union_map(*mut RawUnionMap, *mut RawUnionMap) -> *mut RawUnionMap;
    union_map_lex_le_union_map(*mut RawUnionMap, *mut RawUnionMap) -> *mut RawUnionMap;
    union_map_lex_gt_union_map(*mut RawUnionMap, *mut RawUnionMap) -> *mut RawUnionMap;
    union_map_lex_ge_union_map(*mut RawUnionMap, *mut RawUnionMap) -> *mut RawUnionMap;
    union_map_domain(*mut RawUnionMap) -> *mut RawUnionSet;
    union_map_range(*mut RawUnionMap) -> *mut RawUnionSet;
    union_map_deltas(*mut RawUnionMap) -> *mut RawUnionSet;
    union_map_transitive_closure(*mut RawUnionMap, *mut Answer) -> *mut RawUnionMap;
    union_map_is_empty(*mut RawUnionMap) -> Answer;
    union_map_is_subset(*mut RawUnionMap, *mut RawUnionMap) -> Answer;
    union_map_is_equal(*mut RawUnionMap, *mut RawUnionMap) -> Answer;
    union_map_is_single_valued(*mut RawUnionMap) -> Answer;
    union_map_is_injective(*mut RawUnionMap) -> Answer;
    union_map_is_bijective(*mut RawUnionMap) -> Answer;
    union_map_foreach_map(*mut RawUnionMap, Visitor<RawMap>, *mut c_void) -> Answer;

    point_free(*mut RawPoint) -> *mut RawPoint;
    point_is_void(*mut RawPoint) -> Answer;
    point_get_coordinate_val(*mut RawPoint, c_uint, c_int) -> *mut RawValue; // keeps
    val_zero(*mut RawContext) -> *mut RawValue;
    val_read_from_str(*mut RawContext, *const c_char) -> *mut RawValue;
    val_copy(*mut RawValue) -> *mut RawValue; // keeps
    val_free(*mut RawValue) -> *mut RawValue;
    val_get_num_si(*mut RawValue) -> c_long;

    union_access_info_from_sink(*mut RawUnionMap) -> *mut RawAccesses;
    union_access_info_set_must_source(*mut RawAccesses, *mut RawUnionMap) -> *mut RawAccesses;
    union_access_info_set_may_source(*mut RawAccesses, *mut RawUnionMap) -> *mut RawAccesses;
    union_access_info_set_kill(*mut RawAccesses, *mut RawUnionMap) -> *mut RawAccesses;
    union_access_info_set_schedule_map(*mut RawAccesses, *mut RawUnionMap) -> *mut RawAccesses;
    union_access_info_compute_flow(*mut RawAccesses) -> *mut RawFlow;
    union_flow_free(*mut RawFlow) -> *mut RawFlow;
    union_flow_get_must_dependence(*mut RawFlow) -> *mut RawUnionMap; // keeps
    union_flow_get_may_dependence(*mut RawFlow) -> *mut RawUnionMap; // keeps
    union_flow_get_must_no_source(*mut RawFlow) -> *mut RawUnionMap; // keeps
    union_flow_get_may_no_source(*mut RawFlow) -> *mut RawUnionMap; // keeps
}

impl Library {
    /// Opens the first of the files that is isl. The system searches its library directories for
    /// names without a slash.
    pub(super) fn open(files: &[String]) -> Result<Library, Error> {
        let mut tried = Vec::new();
        for file in files {
            // SAFETY: isl's initialization only sets up its own data.
            let loaded = unsafe { libloading::Library::new(file) };
            match loaded.and_then(Library::bind) {
                Ok(library) => return Ok(library),
                Err(e) => tried.push(format!("{file}: {e}")),
            }
        }
        Err(Error::Missing { tried })
    }
}

/// The library; the first caller loads it.
pub(super) fn library() -> Result<&'static Library, Error> {
    static LIBRARY: OnceLock<Result<Library, Error>> = OnceLock::new();
    let loaded = LIBRARY.get_or_init(|| match std::env::var("TEML_ISL") {
        Ok(file) => Library::open(&[file]),
        // The soname of Debian and Ubuntu since 2020, then others.
        Err(_) => {
            let sonames = [23, 22].into_iter().chain(24..=30);
            let files: Vec<String> = sonames.map(|n| format!("libisl.so.{n}")).collect();
            Library::open(&files)
        }
    });
    loaded.as_ref().map_err(Clone::clone)
}

/// Whether isl can be loaded; the error says what to install.
pub fn available() -> Result<(), Error> {
    library().map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_or_is_another_one_is_an_error_that_names_the_package() {
        let files = ["libisl.so.none", "libc.so.6"].map(str::to_owned);
        let error = Library::open(&files).err().unwrap();
        let Error::Missing { tried } = &error else {
            panic!("{error}");
        };
        assert!(tried[0].starts_with("libisl.so.none: "), "{error}");
        assert!(tried[1].contains("isl_ctx_alloc"), "{error}");
        assert!(error.to_string().contains("`apt install libisl23`"));
    }
}
