//! `localize` makes an intermediate tensor local to the innermost loop around its uses.
//!
//! ```rhai
//! let A = tensor([40, 50]);
//! let D = eq(A * A, [i, j] -> [i, j]);
//! let E = eq(D + A, [i, j] -> [i, j]);
//! let both = fuse_outer(build(D), build(E), 2);
//! print(both.localize(D));
//! ```
//!
//! ```text
//! f64 A[40][50], E[40][50]
//! for i in 0..40
//!   for j in 0..50
//!     local f64 D[]
//!     D[] = A[i][j] * A[i][j]
//!     E[i][j] = D[] + A[i][j]
//! ```
//!
//! One assignment computes the tensor, and a later one uses it. The local tensor has as many
//! elements as one iteration uses; dimensions with a single element are dropped. The tensor is no
//! longer an argument of the kernel. The definition stays as it is.
//!
//! Legal when each iteration sets the elements that it reads, which is checked.
//!
//! Refuses: a tensor that the nest does not use; a result or an input; values that may live from
//! one iteration to the next; uses before the value is set; more than 1 GiB. Statements and
//! initializations count as setting elements only if they leave no holes.
//!
//! Source: array contraction; Lewis, Lin and Snyder, The Implementation and Evaluation of Fusion
//! and Contraction in Array Languages, 1998; Halide's `store_at`.

use super::buffer::{Buffer, Scope, text_at};
use super::resolve::{body_of, chain, with_body_of};
use crate::analysis::definedness::first_undefined;
use crate::analysis::footprint::footprint;
use crate::args::{NEST, TENSOR};
use crate::failure::Parameter;
use crate::ir::Nest;
use crate::refusals::{is_output, output, unnamed};
use crate::{Error, LoopRef, Op, Returns, Value, refusal};

/// `localize(nest, tensor)`.
pub static LOCALIZE: Op = Op {
    name: "localize",
    params: &[NEST.any(), TENSOR.any()],
    returns: Returns::Nest,
    file: include_str!("localize.rs"),
    call: |args| localize(args.get(&NEST)?, args.get(&TENSOR)?).map(Value::Nest),
};

/// The nest with `tensor` local to the innermost loop around its uses.
///
/// # Errors
/// As the header says.
pub fn localize(nest: &Nest, tensor: &str) -> Result<Nest, Error> {
    let whole = (&LoopRef::Level(0), &NEST as &dyn Parameter);
    let whole = Scope::find(nest, whole, (tensor, &TENSOR))?;
    let (tensor, uses) = (whole.tensor, whole.uses);
    if is_output(nest, tensor) {
        return Err(output(tensor).at(&TENSOR).on(nest, []));
    }
    if !nest.is_passed_on(tensor) {
        let text = format!(
            "{} is not computed for a later assignment of the nest alone",
            tensor.label()
        );
        let help = "join the nest that computes it and the one that reads it with fuse_outer";
        return Err(refusal(text).help(help).at(&TENSOR).on(nest, []));
    }
    let first = &uses[0].position;
    let shared = |other: &[usize]| first.iter().zip(other).take_while(|(a, b)| a == b).count();
    // A statement cannot hold the tensor, even if it has all uses.
    let around = uses.iter().map(|u| shared(&u.position)).min().unwrap_or(0);
    let depth = around.min(first.len() - 1);
    let scope = &first[..depth];
    if let Some(read) = first_undefined(nest, &uses, depth) {
        let name = chain(nest, scope).last().map(|l| l.name.clone());
        let set = match &name {
            Some(name) => format!("another iteration of `{name}` sets"),
            None => "nothing has set before".to_owned(),
        };
        let text = format!("`{}` may use what {set}", text_at(nest, read));
        let help = "move what sets it into the same iteration: fuse the loops, or use place_init";
        return Err(refusal(text).help(help).on(nest, name));
    }
    let sides = footprint(nest, &uses, depth).unwrap_or_default();
    let order: Vec<usize> = (0..sides.len()).collect();
    let name = tensor.name().ok_or_else(unnamed)?;
    let buffer = Buffer::new(name.clone(), tensor, sides, &order);
    let mut body = buffer.redirect(body_of(nest, scope));
    body.insert(first[depth], buffer.declaration());
    Ok(with_body_of(nest, scope, body))
}
