//! A line below a table that names the cost of keeping sums in order.

use super::workbench::Bench;
use crate::ir::{BinaryOp, Nest, Tree};
use crate::legality::Reductions;
use crate::trial::{Ranking, Variant};

/// Says once in a session what `reductions("reassoc")` would allow. It does so if the fastest
/// variant spends its innermost loop on a floating-point sum whose order rules out vectors.
pub(super) fn hint(bench: &Bench, variants: &[Variant], ranking: &Ranking) {
    let rows = variants.iter().zip(ranking.measured());
    let Some((fastest, row)) = rows.min_by_key(|(_, row)| row.timing.median) else {
        return;
    };
    let trees = fastest.nests.iter().flat_map(Nest::trees);
    let mut found = trees.filter_map(innermost);
    let mut bench = bench.lock();
    let is_strict = bench.reductions() == Reductions::Strict;
    if let (Some((sum, name)), true, false) = (found.next(), is_strict, bench.explains_order) {
        bench.explains_order = true;
        bench.print(&format!(
            "order: {} computes the {sum} over `{name}` one term after the other, without vectors; \
             `reductions(\"reassoc\")` allows partial {sum}s, as rfactor and schedules::reduction \
             make them",
            row.label
        ));
    }
}

/// The kind and the loop of a reduction whose terms an innermost loop takes in order.
fn innermost(tree: &Tree) -> Option<(&'static str, String)> {
    let Tree::Loop(l) = tree else {
        return None;
    };
    if l.is_vector() {
        return None;
    }
    if l.body.iter().any(|t| matches!(t, Tree::Loop(_))) {
        return l.body.iter().find_map(innermost);
    }
    let mut sums = l.body.iter().filter_map(|tree| match tree {
        Tree::Stmt(s) if s.target.elem().is_float() => {
            let stays = s.index.iter().all(|index| !index.mentions(&l.name));
            match s.update {
                Some(BinaryOp::Add) if stays => Some("sum"),
                Some(BinaryOp::Mul) if stays => Some("product"),
                _ => None,
            }
        }
        _ => None,
    });
    sums.next().map(|kind| (kind, l.name.to_string()))
}
