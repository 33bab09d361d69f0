//! A loop that has nothing beside the loops inside each other in it, down to the innermost body.

use crate::ir::{Loop, Tree};
use std::sync::Arc;

/// A loop, the loops inside each other in it, and the innermost body.
pub(super) struct Inside<'a> {
    /// The outermost one first.
    pub(super) loops: Vec<&'a Arc<Loop>>,
    pub(super) body: &'a [Tree],
}

impl<'a> Inside<'a> {
    pub(super) fn of(l: &'a Arc<Loop>) -> Inside<'a> {
        let mut loops = vec![l];
        let mut body = &l.body[..];
        while let [Tree::Loop(inner)] = body {
            loops.push(inner);
            body = &inner.body;
        }
        Inside { loops, body }
    }

    /// The loops around another body; `opening` is what one iteration of the outermost loop does
    /// first.
    pub(super) fn around(&self, opening: Vec<Tree>, body: Vec<Tree>) -> Loop {
        let (outer, inner) = (self.loops[0], &self.loops[1..]);
        let body = inner.iter().rev().fold(body, |body, l| {
            vec![Tree::of_loop(Loop {
                body,
                ..(***l).clone()
            })]
        });
        Loop {
            body: opening.into_iter().chain(body).collect(),
            ..(**outer).clone()
        }
    }
}
