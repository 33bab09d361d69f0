//! Which barriers after parallel loops of a region can be elided (`nowait`).
//!
//! Threads wait at the end of a parallel loop, unless the loops that directly follow use disjoint
//! boxes of elements. An example is a result whose partial tiles have loops of their own.

use crate::analysis::bounds::Bounds;
use crate::ir::{Affine, Index, Loop, Name, Tensor, Tree};
use std::collections::HashSet;

/// The footprint of a loop in a tensor: a box, or `None` if its bounds are unknown.
struct LoopFootprint<'t> {
    tensor: &'t Tensor,
    sides: Option<Vec<(i64, i64)>>,
    written: bool,
}

/// The parallel loops that need no barrier at their end. All threads of a region execute `trees` in
/// order.
pub fn elidable_barriers(trees: &[Tree], around: &Bounds) -> HashSet<Name> {
    let mut free = HashSet::new();
    // The loops since the last barrier, with their footprints.
    let mut running: Vec<(&Loop, Vec<LoopFootprint>)> = Vec::new();
    for tree in trees {
        let Some(l) = tree.as_loop().filter(|l| l.is_parallel()) else {
            running.clear();
            continue;
        };
        let mut parts = Vec::new();
        collect(std::slice::from_ref(tree), around, &mut parts);
        if running.iter().all(|(_, before)| are_apart(before, &parts)) {
            free.extend(running.last().map(|(before, _)| before.name.clone()));
        } else {
            running.clear();
        }
        running.push((l, parts));
    }
    free
}

fn collect<'t>(trees: &'t [Tree], around: &Bounds, parts: &mut Vec<LoopFootprint<'t>>) {
    let first = parts.len();
    let mut own = Vec::new();
    for tree in trees {
        match tree {
            Tree::Local(tensor) => own.push(tensor),
            Tree::Loop(l) => {
                let mut inside = around.clone();
                inside.enter(l);
                collect(&l.body, &inside, parts);
            }
            Tree::Stmt(s) => {
                let sides = s.index.iter().map(|a| around.interval(a)).collect();
                parts.push(LoopFootprint {
                    tensor: &s.target,
                    sides,
                    written: true,
                });
                s.value.for_each_access(&mut |tensor, index| {
                    let sides = match index {
                        Index::At(index) => index.iter().map(|a| around.interval(a)).collect(),
                        _ => None,
                    };
                    parts.push(LoopFootprint {
                        tensor,
                        sides,
                        written: false,
                    });
                });
            }
            Tree::Fill(fill) => {
                let side = |(low, extent): &(Affine, Affine)| {
                    let (first, _) = around.interval(low)?;
                    let (_, end) = around.interval(&low.plus(extent))?;
                    Some((first, end - 1))
                };
                parts.push(LoopFootprint {
                    tensor: &fill.target,
                    sides: fill.region.iter().map(side).collect(),
                    written: true,
                });
            }
        }
    }
    // A local tensor is private to its iteration.
    let mut at = 0;
    parts.retain(|part| {
        at += 1;
        at <= first || !own.contains(&part.tensor)
    });
}

fn are_apart(these: &[LoopFootprint], those: &[LoopFootprint]) -> bool {
    these.iter().all(|a| {
        let mut others = those.iter().filter(|b| a.written || b.written);
        others.all(|b| a.tensor.name() != b.tensor.name() || have_nothing_in_common(a, b))
    })
}

fn have_nothing_in_common(a: &LoopFootprint, b: &LoopFootprint) -> bool {
    let (Some(a), Some(b)) = (&a.sides, &b.sides) else {
        return false;
    };
    a.iter().zip(b).any(|(a, b)| a.1 < b.0 || b.1 < a.0)
}
