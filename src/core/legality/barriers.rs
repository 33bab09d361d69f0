//! Which parallel loops of a region begin before all threads are done with the one before.
//!
//! Threads wait where a parallel loop ends, unless the loops that follow directly use other
//! elements: boxes that have nothing in common, as the parts of a result have that no tile fills.

use crate::analysis::bounds::Bounds;
use crate::ir::{Index, Loop, Name, Tensor, Tree};
use std::collections::HashSet;

/// What iterations of a loop use of a tensor: a box, unless that is not known.
struct Part<'t> {
    tensor: &'t Tensor,
    sides: Option<Vec<(i64, i64)>>,
    written: bool,
}

/// The parallel loops after which no thread barriers, of trees that all threads of a region execute
/// one after the other.
pub fn elidable_barriers(trees: &[Tree], around: &Bounds) -> HashSet<Name> {
    let mut free = HashSet::new();
    // The loops since threads waited for each other, with what they use.
    let mut running: Vec<(&Loop, Vec<Part>)> = Vec::new();
    for tree in trees {
        let Some(l) = tree.as_loop().filter(|l| l.parallel) else {
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

fn collect<'t>(trees: &'t [Tree], around: &Bounds, parts: &mut Vec<Part<'t>>) {
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
                parts.push(Part {
                    tensor: &s.target,
                    sides,
                    written: true,
                });
                s.value.for_each_access(&mut |tensor, index| {
                    let sides = match index {
                        Index::At(index) => index.iter().map(|a| around.interval(a)).collect(),
                        _ => None,
                    };
                    parts.push(Part {
                        tensor,
                        sides,
                        written: false,
                    });
                });
            }
            Tree::Fill(fill) => {
                let side = |(low, extent): &(_, u64)| {
                    let (first, last) = around.interval(low)?;
                    Some((first, last.checked_add(i64::try_from(*extent).ok()? - 1)?))
                };
                parts.push(Part {
                    tensor: &fill.target,
                    sides: fill.region.iter().map(side).collect(),
                    written: true,
                });
            }
        }
    }
    // Each iteration has its own.
    let mut at = 0;
    parts.retain(|part| {
        at += 1;
        at <= first || !own.contains(&part.tensor)
    });
}

fn are_apart(these: &[Part], those: &[Part]) -> bool {
    these.iter().all(|a| {
        let mut others = those.iter().filter(|b| a.written || b.written);
        others.all(|b| a.tensor.name() != b.tensor.name() || have_nothing_in_common(a, b))
    })
}

fn have_nothing_in_common(a: &Part, b: &Part) -> bool {
    let (Some(a), Some(b)) = (&a.sides, &b.sides) else {
        return false;
    };
    a.iter().zip(b).any(|(a, b)| a.1 < b.0 || b.1 < a.0)
}
