//! `donate` declares the contents of an input dead after the nest, which may then overwrite it.
//!
//! ```rhai
//! let x = tensor([8]);
//! let y = eq(x * 2, [i] -> [i]);
//! let v = eq(vadd(y, y, [[i], [7 - i]]), [i]);
//! let program = fuse_outer(build(y), build(v), 0).donate(x);
//! print(program.reduce_cache_miss(y, x));
//! ```
//!
//! ```text
//! f64 x[8], v[8]
//! for i in 0..8
//!   x[i] = x[i] * 2
//! for i_2 in 0..8
//!   v[i_2] = x[i_2] + x[7 - i_2]
//! ```
//!
//! Without it, the nest preserves the contents of its inputs. Callers of the kernel have to know:
//! the C says which arguments it overwrites.
//!
//! Always legal.
//!
//! Refuses: a tensor that the nest does not use, or that it computes.
//!
//! Source: dead variables; Ullrich, Detection and Exploitation of Data-Parallelism in Assignments
//! of Multi-Dimensional Tensors, 2018, §6.2.1.

use super::buffer::Scope;
use crate::args::{NEST, TENSOR};
use crate::failure::Parameter;
use crate::ir::Nest;
use crate::refusals::unnamed;
use crate::{Error, LoopRef, Op, Returns, Value, refusal};

/// `donate(nest, tensor)`.
pub static DONATE: Op = Op {
    name: "donate",
    params: &[NEST.any(), TENSOR.any()],
    returns: Returns::Nest,
    file: include_str!("donate.rs"),
    call: |args| donate(args.get(&NEST)?, args.get(&TENSOR)?).map(Value::Nest),
};

/// The nest after which the contents of `tensor` are dead.
///
/// # Errors
/// As the header says.
pub fn donate(nest: &Nest, tensor: &str) -> Result<Nest, Error> {
    let whole = (&LoopRef::Level(0), &NEST as &dyn Parameter);
    let tensor = Scope::find(nest, whole, (tensor, &TENSOR))?.tensor;
    let mut assigned = nest.definition().iter().filter_map(|e| e.tensor());
    if assigned.any(|t| t.name() == tensor.name()) || nest.locals().contains(&tensor) {
        let text = format!("the nest computes {}", tensor.label());
        return Err(refusal(text).at(&TENSOR).on(nest, []));
    }
    let name = tensor.name().ok_or_else(unnamed)?;
    Ok(nest.donating(name.clone()))
}
