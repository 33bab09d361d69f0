//! `pad_buffer` makes the rows of a local tensor longer, by elements that nothing uses.
//!
//! ```rhai
//! let A = tensor([64, 100]);
//! let B = eq(A, [i, j] -> [j, i]);
//! let packed = build(B).tile(["j", "i"], [32, 16]).pack("i_o", A, [2, 1]);
//! print(packed.pad_buffer("A_pack", #{extra: 1}));
//! ```
//!
//! ```text
//! f64 B[100][64], A[64][100]
//! for j_o in 0..4
//!   for i_o in 0..4
//!     local f64 A_pack[32][17]
//!     for A_pack_2 in 0..min(32, 100 - 32*j_o)
//!       for A_pack_1 in 0..16
//!         A_pack[A_pack_2][A_pack_1] = A[A_pack_1 + 16*i_o][A_pack_2 + 32*j_o]
//!     for j_i in 32*j_o..min(32*j_o + 32, 100)
//!       for i_i in 16*i_o..16*i_o + 16
//!         B[j_i][i_i] = A_pack[j_i - 32*j_o][i_i - 16*i_o]
//! ```
//!
//! A row runs along the last dimension. Its extent is rounded up to a multiple of `multiple`, so
//! that all rows begin at the same place of a vector or cache line. Then `extra` elements are
//! added, so that rows are not a power of two apart and columns use all sets of the cache.
//!
//! Always legal: nothing uses the added elements.
//!
//! Refuses: a tensor that is not local to the nest; one without dimensions; a `multiple` below 1 or
//! an `extra` below 0; a buffer of more than 1 GiB.
//!
//! Source: padding of arrays, Rivera and Tseng, Data Transformations for Eliminating Conflict
//! Misses, PLDI 1998.

use super::buffer::local;
use super::resolve::check_positive;
use crate::args::{NEST, Options, TENSOR};
use crate::ir::{Nest, Tensor};
use crate::refusals::negative;
use crate::{Error, Op, Param, Returns, Value, refusal};

const HOW: Param<Options> = Param::new("how").with(&[MULTIPLE.any(), EXTRA.any()]);
const MULTIPLE: Param<Option<i64>> = Param::new("multiple");
const EXTRA: Param<Option<i64>> = Param::new("extra");

/// `pad_buffer(nest, tensor, how)`.
pub static PAD_BUFFER: Op = Op {
    name: "pad_buffer",
    params: &[NEST.any(), TENSOR.any(), HOW.any()],
    returns: Returns::Nest,
    file: include_str!("pad_buffer.rs"),
    call: |args| {
        let how = args.get(&HOW)?;
        let multiple = how.get(&MULTIPLE)?.unwrap_or(1);
        check_positive(multiple, &MULTIPLE)?;
        let extra = how.get(&EXTRA)?.unwrap_or(0);
        let extra = u64::try_from(extra).map_err(|_| negative(extra, &EXTRA))?;
        let (nest, tensor) = (args.get(&NEST)?, args.get(&TENSOR)?);
        pad_buffer(nest, tensor, multiple.unsigned_abs(), extra).map(Value::Nest)
    },
};

/// The nest with the rows of the local tensor `label` rounded up to a multiple, and longer by
/// `extra` elements.
///
/// # Errors
/// As the header says.
pub fn pad_buffer(nest: &Nest, label: &str, multiple: u64, extra: u64) -> Result<Nest, Error> {
    let narrow = local(nest, label, &TENSOR)?;
    let Some(row) = narrow.shape().extents().last() else {
        let text = format!("{label} has no dimensions, and so no rows");
        return Err(refusal(text).at(&TENSOR).on(nest, []));
    };
    let row = row.div_ceil(multiple).saturating_mul(multiple);
    let wide = narrow.with_rows(row.saturating_add(extra));
    let wide = wide.map_err(|error| Error::from(error).on(nest, []))?;
    let map = |tensor: &Tensor| {
        if tensor == narrow {
            wide.clone()
        } else {
            tensor.clone()
        }
    };
    let trees = nest.trees().iter().map(|t| t.map_tensors(&map));
    Ok(nest.with_trees(trees.collect()))
}
