//! The trip count, the operations and the footprint of each loop of a nest.

use super::bounds::Bounds;
use super::footprint::{Use, footprint, uses};
use super::relative::offset_form;
use super::work::{statement_operations, weight};
use crate::ir::{Loop, Nest, Stmt, Tree};

/// A loop of a nest.
#[derive(Clone, Debug)]
pub struct Level<'a> {
    /// The number of loops around it.
    pub depth: usize,
    pub of: &'a Loop,
    /// The trip count, or the greatest one if it depends on outer loops.
    pub trips: Option<i64>,
    /// An upper bound of the arithmetic operations of one run of the loop.
    pub operations: f64,
    /// The footprint of one run in bytes: the size of a box for each tensor.
    pub bytes: u64,
}

/// The loops of a nest, in printing order.
pub fn levels(nest: &Nest) -> Vec<Level<'_>> {
    let mut tensors = nest.tensors();
    tensors.extend(nest.locals().into_iter().cloned());
    let all: Vec<Vec<Use>> = tensors.iter().map(|t| uses(nest, t.label())).collect();
    let mut found = Vec::new();
    for (outer, of) in nest.loops() {
        let around = Bounds::likely(nest, outer.iter().copied());
        let depth = outer.len();
        let inside = |used: &&Use| used.loops.get(depth).is_some_and(|l| l.name == of.name);
        let bytes = all.iter().map(|uses| {
            let own: Vec<Use> = uses.iter().filter(inside).cloned().collect();
            let size = own.first().map_or(0, |used| used.tensor.elem().size());
            let sides = footprint(nest, &own, depth).unwrap_or_default();
            let elements = sides.iter().map(|side| side.extent);
            if own.is_empty() {
                0
            } else {
                elements.fold(size as u64, u64::saturating_mul)
            }
        });
        found.push(Level {
            depth,
            of,
            trips: trips(of, &around),
            operations: loop_operations(of, &around),
            bytes: bytes.fold(0, u64::saturating_add),
        });
    }
    found
}

/// The greatest trip count of a loop. Of a loop whose bounds are read, the average.
pub fn trips(l: &Loop, around: &Bounds) -> Option<i64> {
    let most = offset_form(l, around).map(|(_, rest)| rest / l.range.step + 1)?;
    let segment = l.range.within.as_ref();
    Some(segment.map_or(most, |segment| segment.usual(most)))
}

fn loop_operations(l: &Loop, around: &Bounds) -> f64 {
    run(l, around, &statement_operations)
}

/// The sum over all statements that one run of a loop executes.
fn run(l: &Loop, around: &Bounds, of: &dyn Fn(&Stmt) -> f64) -> f64 {
    let mut inside = around.clone();
    inside.enter(l);
    let each = l.body.iter().map(|tree| match tree {
        Tree::Loop(inner) => run(inner, &inside, of),
        Tree::Stmt(s) => of(s),
        Tree::Fill(_) | Tree::Local(_) => 0.0,
    });
    trips(l, around).unwrap_or(1) as f64 * each.sum::<f64>()
}

/// The work of one run of a loop, in multiply-adds or moved elements: an upper bound, except where
/// bounds are read, as in [`trips`].
pub fn work(l: &Loop, around: &Bounds) -> f64 {
    run(l, around, &weight)
}

/// The most statements that trees execute, with average trips of loops whose bounds are read.
/// `around` has the bounds of all loops around them.
pub fn executions(trees: &[Tree], around: &Bounds) -> f64 {
    let each = trees.iter().map(|tree| match tree {
        Tree::Loop(l) => run(l, around, &|_| 1.0),
        Tree::Stmt(_) => 1.0,
        Tree::Fill(_) | Tree::Local(_) => 0.0,
    });
    each.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_tiles() {
        let text = "\
f64 C[10], A[10][64]
for i_o in 0..3
  for i_i in 4*i_o..min(4*i_o + 4, 10)
    for k in 0..64
      C[i_i] += A[i_i][k]
";
        let nest = crate::ir::parse_nest(text).unwrap();
        let levels = levels(&nest);
        let found: Vec<_> = levels
            .iter()
            .map(|l| (l.depth, l.trips, l.operations, l.bytes))
            .collect();
        assert_eq!(
            found,
            [
                (0, Some(3), 12.0 * 64.0, 8 * (10 + 640)),
                (1, Some(4), 4.0 * 64.0, 8 * (4 + 4 * 64)),
                (2, Some(64), 64.0, 8 * (1 + 64)),
            ]
        );
        assert_eq!(work(levels[0].of, &Bounds::default()), 12.0 * 64.0);
    }
}
