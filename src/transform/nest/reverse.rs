//! `reverse` runs the iterations of a loop from last to first.
//!
//! ```rhai
//! let A = tensor([10]);
//! let B = eq(A, [i] -> [i]);
//! print(build(B).reverse("i"));
//! ```
//!
//! ```text
//! f64 B[10], A[10]
//! for i in 0..10
//!   B[9 - i] = A[9 - i]
//! ```
//!
//! The loop keeps its range and counts up, as all loops do; the indices inside it count down. If it
//! has several lower or upper bounds, such a mirror is not affine. The new iterator is then the
//! negative of the old one: `max(a, b)..c` becomes `1 - c..min(1 - a, 1 - b)`.
//!
//! Legal when the loop carries no dependence. `check` proves it.
//!
//! Refuses: steps other than 1.
//!
//! Source: loop reversal, Wolfe, High Performance Compilers for Parallel Computing, 1996.

use super::resolve::{chain, check_step, find};
use crate::analysis::position::splice;
use crate::args::{LOOP, NEST};
use crate::ir::{Affine, Loop, Name, Nest, Range, Tree};
use crate::{Error, LoopRef, Op, Returns, Value};

/// `reverse(nest, loop)`.
pub static REVERSE: Op = Op {
    name: "reverse",
    params: &[NEST.any(), LOOP.any()],
    returns: Returns::Nest,
    file: include_str!("reverse.rs"),
    call: |args| reverse(args.get(&NEST)?, args.get(&LOOP)?).map(Value::Nest),
};

/// The nest with a loop that runs backwards.
///
/// # Errors
/// As the header says.
pub fn reverse(nest: &Nest, reference: &LoopRef) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    let l = chain(nest, &position)[position.len() - 1];
    check_step(nest, l)?;
    // The new iterator is `turn` minus the old one.
    let turn = match (l.range.lower.as_slice(), l.range.upper.as_slice()) {
        ([lower], [upper]) => lower.plus(upper).plus_constant(-1),
        _ => Affine::constant(0),
    };
    let mirrored = |bounds: &[Affine]| -> Vec<Affine> {
        let mirrored = bounds.iter().map(|b| turn.minus(b).plus_constant(1));
        mirrored.collect()
    };
    let old = turn.minus(&Affine::iterator(l.name.clone()));
    let map = |name: &Name| (*name == l.name).then(|| old.clone());
    let reversed = Tree::of_loop(Loop {
        range: Range {
            lower: mirrored(&l.range.upper),
            upper: mirrored(&l.range.lower),
            step: 1,
            within: None,
        },
        body: l.body.iter().map(|t| t.substitute(&map)).collect(),
        ..(**l).clone()
    });
    Ok(nest.with_trees(splice(nest.trees(), &position, vec![reversed])))
}
