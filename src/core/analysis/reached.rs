//! Which iterations of the loops around trees reach a statement inside of them.
//!
//! The bounds of loops inside are eliminated, from the innermost loop outwards. Conditions on the
//! iterators around are left. They are alternatives, since trees have several statements. Outside of
//! them nothing runs. The converse is not claimed.

use super::project::{least, of_loop, without};
use crate::ir::{Affine, Loop, Tree};
use crate::poly::{self, Assumed, Linear, Piece, Relation};

/// Values that are all at least 0 in the iterations of one alternative.
pub type Alternative = Vec<Affine>;

/// Trees with more alternatives count as always reached.
const MAX_ALTERNATIVES: usize = 16;

/// The budget of the polyhedral library for one question, in its operations.
const OPERATIONS: u64 = 200_000;

/// The alternatives for the statements in trees. There is none if nothing in them ever runs.
pub fn alternatives(trees: &[Tree]) -> Vec<Alternative> {
    let one = |tree: &Tree| match tree {
        Tree::Loop(l) => {
            let inside = alternatives(&l.body).into_iter();
            inside.filter_map(|way| around(l, &way)).collect()
        }
        Tree::Stmt(_) | Tree::Fill(_) => vec![Vec::new()],
        Tree::Local(_) => Vec::new(),
    };
    let mut all: Vec<Alternative> = Vec::new();
    for way in trees.iter().flat_map(one) {
        if !all.contains(&way) {
            all.push(way);
        }
    }
    all
}

/// The alternatives that no other one includes.
pub fn reached(trees: &[Tree]) -> Vec<Alternative> {
    let mut all = alternatives(trees);
    for k in (0..all.len()).rev() {
        let mut others = all.iter().enumerate().filter(|(other, _)| *other != k);
        if others.any(|(_, other)| includes(other, &all[k])) {
            all.remove(k);
        }
    }
    if all.len() > MAX_ALTERNATIVES {
        return vec![Vec::new()];
    }
    all
}

/// An alternative for the body of a loop as one for the loop.
fn around(l: &Loop, inside: &[Affine]) -> Option<Alternative> {
    let mut values = of_loop(l);
    inside
        .iter()
        .for_each(|value| least(&mut values, value.clone()));
    without(&l.name, &values)
}

/// Whether each value of the first alternative follows from one of the second.
fn includes(first: &[Affine], second: &[Affine]) -> bool {
    first.iter().all(|a| {
        let mut values = second.iter();
        values.any(|b| a.terms() == b.terms() && b.offset() <= a.offset())
    })
}

/// Whether no iteration of a chain of loops has all values nonnegative. `false` is not a disproof.
pub fn is_never(values: &[Affine], chain: &[&Loop]) -> bool {
    let bounds = chain.iter().flat_map(|l| of_loop(l));
    let all: Vec<Affine> = bounds.chain(values.iter().cloned()).collect();
    let mut names: Vec<&str> = Vec::new();
    for name in all.iter().flat_map(Affine::iterators) {
        if !names.contains(&name.as_str()) {
            names.push(name.as_str());
        }
    }
    let linear = |value: &Affine| {
        let terms = value.terms().iter().map(|(name, c)| (*c, name.as_str()));
        Linear::new(terms, value.offset())
    };
    let piece = Piece::set("", names.iter().copied());
    let piece = all.iter().fold(piece, |piece, value| {
        piece.constrain(0, Relation::LessOrEqual, linear(value))
    });
    let ask = || poly::bounded(OPERATIONS, || piece.is_empty());
    poly::assuming(Assumed::default(), ask).unwrap_or(false)
}
