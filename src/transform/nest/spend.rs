//! `spend` declares the contents of an input dead after the nest, which may then overwrite it.
//!
//! ```rhai
//! let x = tensor([8]);
//! let y = eq(x * 2, [i] -> [i]);
//! let v = eq(vadd(y, y, [[i], [7 - i]]), [i]);
//! let program = fuse_outer(build(y), build(v), 0).spend(x);
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
use super::resolve::tensor_name;
use super::reuse::NoReuse;
use crate::ir::Nest;
use crate::transform::{Arg, Error, ErrorKind, Kind, LoopRef, Op, Param, Returns, Value};

/// `spend(nest, tensor)`.
pub static SPEND: Op = Op {
    name: "spend",
    params: &[
        Param::new("nest", Kind::Nest),
        Param::new("tensor", Kind::Tensor),
    ],
    returns: Returns::Nest,
    file: include_str!("spend.rs"),
    call: |args| match args {
        [Arg::Nest(nest), tensor] => spend(nest, tensor_name(tensor, 1)?).map(Value::Nest),
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// The nest after which nobody needs what `tensor` holds.
///
/// # Errors
/// As the header says.
pub fn spend(nest: &Nest, tensor: &str) -> Result<Nest, Error> {
    let scope = Scope::find(nest, &LoopRef::Level(0), tensor);
    let tensor = scope.map_err(|e| e.at_argument(1))?.tensor;
    let mut assigned = nest.definition().iter().filter_map(|e| e.tensor());
    if assigned.any(|t| t.name() == tensor.name()) || nest.locals().contains(&tensor) {
        let tensor = tensor.label().to_owned();
        let kind = NoReuse::Computed { tensor };
        return Err(Error::from(kind).at_argument(1).on(nest, []));
    }
    let name = tensor.name().ok_or(ErrorKind::Misdeclared)?;
    Ok(nest.spending(name.clone()))
}
