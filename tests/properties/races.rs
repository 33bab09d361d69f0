//! Legality of parallel and vector loops against brute force: every iteration's accesses listed.

use super::generator::{Move, moves, recipe, step};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use teml::analysis::legality::race;
use teml::analysis::verify::verify;
use teml::ir::{Affine, Index, Nest, Tree, parse_nest};
use teml::lower::build::build;
use teml::transform::LoopRef;
use teml::transform::nest::mode::parallelize;

type Element = (String, Vec<i64>);

/// What one execution of some trees reads and writes.
#[derive(Default)]
struct Footprint {
    reads: BTreeSet<Element>,
    writes: BTreeSet<Element>,
}

struct Walk {
    point: BTreeMap<String, i64>,
    /// Whether two iterations of one instance of a marked loop were seen to conflict.
    conflict: bool,
}

impl Walk {
    fn value(&self, index: &Affine) -> i64 {
        index
            .evaluate(&|n| self.point.get(n.as_str()).copied())
            .expect("iterators in scope")
    }

    fn element(&self, tensor: &teml::ir::Tensor, index: &[Affine]) -> Element {
        (
            tensor.label().to_owned(),
            index.iter().map(|a| self.value(a)).collect(),
        )
    }

    fn run(&mut self, trees: &[Tree], footprint: &mut Footprint) {
        for tree in trees {
            match tree {
                Tree::Fill(_) => {}
                Tree::Stmt(s) => {
                    s.value.for_each_access(&mut |tensor, index| {
                        if let Index::At(index) = index {
                            footprint.reads.insert(self.element(tensor, index));
                        }
                    });
                    footprint.writes.insert(self.element(&s.target, &s.index));
                }
                Tree::Loop(l) => {
                    let low = l
                        .range
                        .lower
                        .iter()
                        .map(|b| self.value(b))
                        .max()
                        .expect("a bound");
                    let high = l
                        .range
                        .upper
                        .iter()
                        .map(|b| self.value(b))
                        .min()
                        .expect("a bound");
                    let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
                    let step = usize::try_from(l.range.step).expect("a small step");
                    for value in (low..high).step_by(step) {
                        self.point.insert(l.name.to_string(), value);
                        let mut own = Footprint::default();
                        self.run(&l.body, &mut own);
                        let hits = own
                            .writes
                            .iter()
                            .any(|e| written.contains(e) || read.contains(e))
                            || own.reads.iter().any(|e| written.contains(e));
                        self.conflict |= hits && (l.parallel || l.vector);
                        read.extend(own.reads);
                        written.extend(own.writes);
                    }
                    self.point.remove(l.name.as_str());
                    footprint.reads.extend(read);
                    footprint.writes.extend(written);
                }
            }
        }
    }
}

fn conflicts(nest: &Nest) -> bool {
    let mut walk = Walk {
        point: BTreeMap::new(),
        conflict: false,
    };
    walk.run(nest.trees(), &mut Footprint::default());
    walk.conflict
}

#[test]
fn blocks_of_guarded_blocks_are_disjoint() {
    // 5 does not divide 7, and 2 does not divide 5: only the second bound keeps a block of 2
    // inside its block of 5.
    let nest = parse_nest(
        "f64 R[7], A[7]\nparallel for o in 0..2\n  for m in 0..3\n    \
         for i in 2*m + 5*o..min(2*m + 5*o + 2, 5*o + 5, 7)\n      R[i] += A[i]",
    );
    assert_eq!(race(&nest.expect("a nest")), None);
    // The same backwards.
    let nest = parse_nest(
        "f64 R[7], A[7]\nparallel for o in 0..2\n  for m in 0..3\n    \
         for i in 2*m + 5*o..min(2*m + 5*o + 2, 5*o + 5, 7)\n      R[-i + 6] += A[i]",
    );
    assert_eq!(race(&nest.expect("a nest")), None);
}

proptest! {
    #![proptest_config(super::config(500))]

    #[test]
    fn what_is_called_independent_is(
        recipe in recipe(),
        moves in moves(4),
        chosen in 0..8usize,
    ) {
        let mut nest = build(&recipe.assignment("")).expect("recipes build");
        for m in moves.iter().filter(|m| !matches!(m, Move::Parallelize(_) | Move::Vectorize(_))) {
            match step(&nest, m) {
                Ok(after) if verify(&after).is_ok() => nest = after,
                _ => {}
            }
        }
        let names: Vec<String> = nest.loops().iter().map(|(_, l)| l.name.to_string()).collect();
        if names.is_empty() {
            return Ok(());
        }
        let name = names[chosen % names.len()].clone();
        let marked = parallelize(&nest, &LoopRef::Name(name)).expect("the loop exists");
        match (race(&marked), conflicts(&marked)) {
            (None, conflict) => prop_assert!(!conflict, "a race was missed:\n{}", marked),
            // These programs couple no iterators, so the test is exact on them.
            (Some(race), conflict) => prop_assert!(conflict, "needless: {}\n{}", race, marked),
        }
    }
}
