//! `interchange` swaps two loops of a perfect nest.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = eq(A, [i, j] -> [j, i]);
//! print(build(B).interchange("i", "j"));
//! ```
//!
//! ```text
//! f64 B[5][4], A[4][5]
//! for i in 0..4
//!   for j in 0..5
//!     B[j][i] = A[i][j]
//! ```
//!
//! The loops between the two stay where they are. The order in which the arguments are given
//! does not matter, and both can stand in a list: `interchange(nest, [2, 3])`.
//!
//! Legal when no dependence is carried against its direction; the compared results tell.
//!
//! Refuses: loops of which neither is inside the other; anything beside the loops from the
//! outer one down to the inner one; bounds that depend on a loop that would move inside.
//!
//! Source: TeML eq. 21, §5.3.

use super::resolve::{chain, find};
use crate::analysis::position::splice;
use crate::ir::{Loop, Nest, Tree};
use crate::transform::{Arg, Error, ErrorKind, Kind, LoopRef, Op, Param, Returns, Value};
use std::sync::Arc;

/// `interchange(nest, first, second)`.
pub static INTERCHANGE: Op = Op {
    name: "interchange",
    params: &[
        Param::new("nest", Kind::Nest),
        Param::new("first", Kind::Loop),
        Param::new("second", Kind::Loop),
    ],
    returns: Returns::Nest,
    file: include_str!("interchange.rs"),
    call: |args| match args {
        [Arg::Nest(nest), Arg::Loop(first), Arg::Loop(second)] => {
            interchange(nest, first, second).map(Value::Nest)
        }
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// The nest with the loops `first` and `second` swapped.
///
/// # Errors
/// As the header says.
pub fn interchange(nest: &Nest, first: &LoopRef, second: &LoopRef) -> Result<Nest, Error> {
    let mut outer = find(nest, first, 1)?;
    let mut inner = find(nest, second, 2)?;
    if inner.len() < outer.len() {
        std::mem::swap(&mut outer, &mut inner);
    }
    let loops = chain(nest, &inner);
    let names = || [outer.len() - 1, inner.len() - 1].map(|k| loops[k].name.clone());
    if !inner.starts_with(&outer) {
        let first = chain(nest, &outer)[outer.len() - 1].name.clone();
        let second = loops[inner.len() - 1].name.clone();
        let kind = ErrorKind::NotNested {
            first: first.clone(),
            second: second.clone(),
        };
        return Err(Error::from(kind).on(nest, [first, second]));
    }
    let band = &loops[outer.len() - 1..];
    check_perfect(nest, band)?;
    check_bounds(nest, band, &names())?;

    let last = band.len() - 1;
    let mut order: Vec<&Arc<Loop>> = band.to_vec();
    order.swap(0, last);
    let mut body = band[last].body.clone();
    for l in order.into_iter().rev() {
        body = vec![Tree::of_loop(Loop {
            body,
            ..(**l).clone()
        })];
    }
    Ok(nest.with_trees(splice(nest.trees(), &outer, body)))
}

/// That the loops of `band` have nothing in them but the next one.
pub(super) fn check_perfect(nest: &Nest, band: &[&Arc<Loop>]) -> Result<(), Error> {
    let Some((innermost, outer)) = band.split_last() else {
        return Ok(());
    };
    match outer.iter().find(|l| l.body.len() != 1) {
        None => Ok(()),
        Some(culprit) => {
            let kind = ErrorKind::NotPerfect {
                outer: band[0].name.clone(),
                inner: innermost.name.clone(),
                culprit: culprit.name.clone(),
            };
            Err(Error::from(kind).on(nest, [culprit.name.clone()]))
        }
    }
}

/// The inner loop moves out of the whole band, and the whole band moves out of the outer loop.
fn check_bounds(
    nest: &Nest,
    band: &[&Arc<Loop>],
    names: &[crate::ir::Name; 2],
) -> Result<(), Error> {
    let [outer, _] = names;
    let last = band.len() - 1;
    let moves_out = band[..last].iter().map(|o| (band[last], &o.name));
    let loses_outer = band[1..].iter().map(|l| (*l, outer));
    for (l, on) in moves_out.chain(loses_outer) {
        if l.range.mentions(on) {
            let (inner, outer) = (l.name.clone(), on.clone());
            let kind = ErrorKind::BoundsDepend {
                inner: inner.clone(),
                outer: outer.clone(),
            };
            return Err(Error::from(kind).on(nest, [outer, inner]));
        }
    }
    Ok(())
}
