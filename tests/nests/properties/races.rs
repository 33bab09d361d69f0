//! Legality of parallel and vector loops against brute force: every iteration's accesses listed.

use super::generator::recipe;
use super::moves::{Move, built, moves, step};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use teml::analysis::verify::verify;
use teml::ir::{Affine, Fill, Index, Name, Nest, Sharing, Tree, parse_nest};
use teml::legality::independence::first_race;
use teml::transform::LoopRef;
use teml::transform::nest::mode::parallelize;

type Element = (String, Vec<i64>);

/// The elements that an execution of some trees reads and writes.
#[derive(Default)]
struct Footprint {
    reads: BTreeSet<Element>,
    writes: BTreeSet<Element>,
}

impl Footprint {
    fn conflicts(&self, other: &Footprint) -> bool {
        let written = |e| self.writes.contains(e) || self.reads.contains(e);
        other.writes.iter().any(written) || other.reads.iter().any(|e| self.writes.contains(e))
    }
}

struct Walk {
    /// How many loops further in are shared among threads by one around them.
    shared: usize,
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

    fn fill(&self, fill: &Fill, footprint: &mut Footprint) {
        let mut points: Vec<Vec<i64>> = vec![Vec::new()];
        for (low, extent) in &fill.region {
            let low = self.value(low);
            let values = low..low + extent.as_constant().expect("a small fill");
            let extended = points.iter().flat_map(|p| {
                let values = values.clone();
                values.map(|v| p.iter().copied().chain([v]).collect::<Vec<_>>())
            });
            points = extended.collect();
        }
        let elements = points
            .into_iter()
            .map(|p| (fill.target.label().to_owned(), p));
        footprint.writes.extend(elements);
    }

    fn run(&mut self, trees: &[Tree], footprint: &mut Footprint) {
        for tree in trees {
            match tree {
                Tree::Fill(fill) => self.fill(fill, footprint),
                Tree::Local(_) => {}
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
                    let shared = self.shared;
                    let marked = !l.is_serial() || shared > 0;
                    let inner = l.collapse() - 1;
                    self.shared = inner.max(shared.saturating_sub(1));
                    let at_a_time = l.at_a_time().filter(|_| shared == 0);
                    let at_a_time = at_a_time.map_or(usize::MAX, |n| n as usize);
                    let mut earlier: Vec<Footprint> = Vec::new();
                    let step = usize::try_from(l.range.step).expect("a small step");
                    for value in (low..high).step_by(step) {
                        self.point.insert(l.name.to_string(), value);
                        let mut own = Footprint::default();
                        self.run(&l.body, &mut own);
                        let mut together = earlier.iter().rev().take(at_a_time - 1);
                        self.conflict |= marked && together.any(|other| other.conflicts(&own));
                        earlier.push(own);
                    }
                    self.shared = shared;
                    self.point.remove(l.name.as_str());
                    for own in earlier {
                        footprint.reads.extend(own.reads);
                        footprint.writes.extend(own.writes);
                    }
                }
            }
        }
        // Local tensors end here.
        let locals = trees.iter().filter_map(|tree| match tree {
            Tree::Local(tensor) => Some(tensor.label()),
            _ => None,
        });
        for local in locals {
            footprint.reads.retain(|(tensor, _)| tensor != local);
            footprint.writes.retain(|(tensor, _)| tensor != local);
        }
    }
}

pub fn conflicts(nest: &Nest) -> bool {
    let mut walk = Walk {
        shared: 0,
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
    assert_eq!(first_race(&nest.expect("a nest")), None);
    // The same backwards.
    let nest = parse_nest(
        "f64 R[7], A[7]\nparallel for o in 0..2\n  for m in 0..3\n    \
         for i in 2*m + 5*o..min(2*m + 5*o + 2, 5*o + 5, 7)\n      R[6 - i] += A[i]",
    );
    assert_eq!(first_race(&nest.expect("a nest")), None);
}

/// Reversed and stepped blocks are disjoint.
#[test]
fn blocks_are_disjoint_whichever_way_they_run() {
    for loops in [
        // Reversed, the guard of a block is a lower bound.
        "parallel for o in 0..3\n  for i in max(-4*o - 3, -9)..1 - 4*o\n    R[-i] += A[0]",
        "parallel for o in 0..2\n  for m in 0..3\n    \
         for i in max(-2*m - 5*o - 1, -5*o - 4, -6)..-2*m - 5*o + 1\n      R[-i] += A[0]",
        "parallel for i in 0..10 step 3\n  R[i] += A[0]\n  R[i + 1] += A[0]\n  R[i + 2] += A[0]",
        "parallel for o in 0..3\n  for i in 4*o..4*o + 4 step 2\n    R[i + 1] += A[0]",
    ] {
        let nest = parse_nest(&format!("f64 R[20], A[1]\n{loops}")).expect("a nest");
        assert_eq!(first_race(&nest), None, "{nest}");
        assert!(!conflicts(&nest));
    }
    for loops in [
        "parallel collapse(2) for i in 0..3\n  for j in 0..3\n    R[i] += A[0]",
        "parallel for i in 0..10 step 3\n  R[0] += A[0]",
        // Both blocks set R[3]: where the steps lead depends on which lower bound counts.
        "parallel for o in 0..2\n  for i in max(3*o, 1)..3*o + 4 step 2\n    R[i] += A[0]",
        "parallel for i in 0..10 step 3\n  R[i] += A[0]\n  R[i + 3] += A[0]",
    ] {
        let nest = parse_nest(&format!("f64 R[20], A[1]\n{loops}")).expect("a nest");
        assert!(first_race(&nest).is_some(), "{nest}");
    }
}

/// Iterations further apart than the number of lanes may depend on each other.
#[test]
fn lanes_limit_how_far_iterations_are_apart() {
    for (modes, independent) in [
        ("vector lanes(4)", true),
        ("vector lanes(8)", false),
        ("vector", false),
        ("parallel vector lanes(4)", false),
    ] {
        let text = format!("f64 R[20]\n{modes} for i in 5..20\n  R[i] = R[i - 5]");
        let nest = parse_nest(&text).expect("a nest");
        assert_eq!(first_race(&nest).is_none(), independent, "{text}");
        assert_eq!(!conflicts(&nest), independent, "{text}");
    }
}

/// `a*i + b*j + k`
fn affine([a, b]: [i64; 2], k: i64) -> String {
    let [i, j] = ["i", "j"].map(|n| Affine::iterator(Name::new(n).expect("a name")));
    let index = i.times(a).plus(&j.times(b)).plus_constant(k);
    index.to_string()
}

/// Two loops as text, with steps, bounds that are skewed or clipped, and indices that move in
/// any direction.
fn odd_nest() -> impl Strategy<Value = String> {
    let bound = (-2..3i64, -3..4i64).prop_map(|(c, k)| affine([c, 0], k));
    let bounds = |function: &'static str| {
        let two = (bound.clone(), -3..7i64).prop_map(move |(b, k)| format!("{function}({b}, {k})"));
        prop_oneof![2 => bound.clone(), 1 => two]
    };
    let index = (-2..3i64, -2..3i64, 0..4i64).prop_map(|(a, b, k)| affine([a, b], k));
    let access = prop::collection::vec(index, 2);
    let access = access.prop_map(|dims| format!("R[{}][{}]", dims[0], dims[1]));
    let modes = prop::sample::select(vec![
        ("parallel ", ""),
        ("", "parallel "),
        ("", "vector "),
        ("", "vector lanes(2) "),
        ("", "vector lanes(4) "),
    ]);
    (
        (modes, 1..4i64, 1..4i64),
        (bounds("max"), bounds("min")),
        prop::collection::vec((access.clone(), access), 1..3),
    )
        .prop_map(|((modes, outer, inner), (low, high), statements)| {
            let (first, second) = modes;
            let mut text = format!(
                "f64 R[99][99]\n{first}for i in -1..5 step {outer}\n  \
                 {second}for j in {low}..{high} step {inner}"
            );
            for (to, from) in statements {
                text += &format!("\n    {to} = {from}");
            }
            text
        })
}

proptest! {
    #![proptest_config(super::config(2000))]

    #[test]
    fn no_race_is_missed_whatever_the_bounds(text in odd_nest()) {
        let nest = parse_nest(&text).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        if first_race(&nest).is_none() {
            prop_assert!(!conflicts(&nest), "a race was missed:\n{}", nest);
        }
    }
}

proptest! {
    #![proptest_config(super::config(500))]

    #[test]
    fn what_is_called_independent_is(
        mut recipe in recipe(),
        moves in moves(1..=4),
        chosen in 0..8usize,
        collapse in 1..3usize,
    ) {
        // Loops that never run have no races; the test does not see that.
        recipe.cut = None;
        let mut nest = built(&recipe.assignment(""));
        // The test ignores that a guard runs in some iterations only.
        let marks = |m: &&Move| {
            matches!(m, Move::Parallelize(..) | Move::Vectorize(..) | Move::Fuse(_, _, true))
        };
        for m in moves.iter().filter(|m| !marks(m)) {
            nest = step(&nest, m).unwrap_or(nest);
        }
        let names: Vec<String> = nest.loops().iter().map(|(_, l)| l.name.to_string()).collect();
        if names.is_empty() {
            return Ok(());
        }
        let name = names[chosen % names.len()].clone();
        let mark = |collapse| {
            let sharing = Sharing { collapse, ..Sharing::default() };
            parallelize(&nest, &LoopRef::Name(name.clone()), sharing)
        };
        let mut marked = mark(collapse).expect("the loop exists");
        if verify(&marked).is_err() {
            marked = mark(1).expect("the loop exists");
        }
        match (first_race(&marked), conflicts(&marked)) {
            (None, conflict) => prop_assert!(!conflict, "a race was missed:\n{}", marked),
            // Without several iterators in one index the test is exact, but for iterations that
            // only pad.
            (Some(race), conflict) => {
                let pads = moves.iter().any(|m| matches!(m, Move::Pad(..)));
                prop_assert!(conflict || recipe.joined || pads, "needless: {}\n{}", race, marked);
            }
        }
    }
}
