//! Facts about affine expressions in loops, and the bounds that they make redundant.
//!
//! `Prover` answers whether an expression is at least 0 in all iterations. Its search has a
//! budget, and ends if it is stopped. Beyond that the answer is `false`, which claims nothing.
//! Boxes ([`super::bounds::Bounds`]) answer less, and at once.
//!
//! `binding` is the one function that drops implied bounds. Its caller says who proves that one
//! bound implies another.

use crate::ir::{Affine, Loop, Nest};
use crate::poly::is_stopped;
use std::collections::HashSet;

/// The budget of bounds for one fact.
const MAX_TRIED: usize = 2048;

/// The budget of bounds for all facts that one operation asks for.
const MAX_TRIED_IN_ALL: usize = 1 << 17;

/// The search polls for a stop request after this many bounds.
const ASKED: usize = 256;

/// An expression of sizes that another one is at most, in all iterations of `chain`. `None` if none
/// is found.
pub fn greatest_for_sizes(index: &Affine, chain: &[&Loop]) -> Option<Affine> {
    greatest(index, chain, Affine::is_fixed, &mut MAX_TRIED.clone())
}

/// A number that an expression is at most, in all iterations of `chain`. `None` if none is found.
pub fn most(index: &Affine, chain: &[&Loop]) -> Option<i64> {
    let is_number = |index: &Affine| index.as_constant().is_some();
    greatest(index, chain, is_number, &mut MAX_TRIED.clone())?.as_constant()
}

/// The least expression that bounds of loops put in place of the index, among the expressions that
/// `is_end` accepts. `left` is the budget of bounds.
fn greatest(
    index: &Affine,
    chain: &[&Loop],
    is_end: fn(&Affine) -> bool,
    left: &mut usize,
) -> Option<Affine> {
    if is_end(index) {
        return Some(index.clone());
    }
    let inner = chain.iter().rposition(|l| index.mentions(&l.name))?;
    let (l, around) = chain[..=inner].split_last()?;
    let (bounds, shift) = if index.coefficient(&l.name) > 0 {
        (&l.range.upper, -1)
    } else {
        (&l.range.lower, 0)
    };
    let mut found: Option<Affine> = None;
    for bound in bounds {
        *left = left.checked_sub(1)?;
        let last = bound.plus_constant(shift);
        let at = index.substitute(&|name| (*name == l.name).then(|| last.clone()));
        if !at.is_in_limits() {
            continue;
        }
        let Some(new) = greatest(&at, around, is_end, left) else {
            continue;
        };
        let is_less = found
            .as_ref()
            .is_none_or(|known| known.minus(&new).as_constant().is_some_and(|less| less > 0));
        if is_less {
            found = Some(new);
        }
    }
    found
}

/// Whether an index is provably nonnegative in all iterations of a chain of loops, outermost first.
/// `false` is not a disproof.
pub fn is_nonnegative(index: &Affine, chain: &[&Loop]) -> bool {
    Prover::default().shows(index, chain)
}

/// Whether an expression of sizes is provably nonnegative for all of them. `false` is not a disproof.
pub fn is_nonnegative_for_sizes(index: &Affine) -> bool {
    let loops = Nest::size_loops(index.sizes().cloned().collect());
    index.is_fixed() && is_nonnegative(index, &loops.iter().collect::<Vec<_>>())
}

/// Which one of equal bounds is left.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Equal {
    First,
    /// A constant if there is one, otherwise the first.
    Constant,
}

/// The bounds that no other one implies, in their order. Of bounds that imply each other, one is
/// left.
pub(super) fn binding(
    bounds: &[Affine],
    equal: Equal,
    mut implies: impl FnMut(&Affine, &Affine) -> bool,
) -> Vec<Affine> {
    let mut left = bounds.to_vec();
    // Of bounds that imply each other, the loop keeps the one it asks about last.
    for late in [false, true] {
        for k in (0..left.len()).rev() {
            let is_late = equal == Equal::Constant && left[k].as_constant().is_some();
            let others = left.iter().enumerate().filter(|(other, _)| *other != k);
            let mut others = others.map(|(_, other)| other);
            if is_late == late && others.any(|other| implies(other, &left[k])) {
                left.remove(k);
            }
        }
    }
    left
}

/// The facts that one operation asks for, with one budget.
pub(super) struct Prover {
    left: usize,
}

impl Default for Prover {
    fn default() -> Prover {
        Prover {
            left: MAX_TRIED_IN_ALL,
        }
    }
}

impl Prover {
    /// Whether an index is provably nonnegative in all iterations of a chain of loops, outermost
    /// first. The search replaces iterators by bounds, innermost first, so that it can compare an
    /// iterator within a block with the end of the block.
    pub(super) fn shows(&mut self, index: &Affine, chain: &[&Loop]) -> bool {
        let budget = self.left.min(MAX_TRIED);
        let mut search = Replacing {
            left: budget,
            failed: HashSet::new(),
        };
        let is_shown = search.shows(index, chain);
        self.left -= budget - search.left;
        is_shown
    }
}

/// A search through the bounds that replace iterators. Loops with several bounds each have very
/// many combinations. Most combinations lead to the same few indices.
struct Replacing {
    left: usize,
    /// The failed indices, each with the number of loops around.
    failed: HashSet<(usize, Affine)>,
}

impl Replacing {
    /// Takes one from the budget. `None` if it is exhausted or the search is stopped.
    fn one_less(&mut self) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        if self.left.is_multiple_of(ASKED) && is_stopped() {
            self.left = 0;
        }
        Some(())
    }

    fn shows(&mut self, index: &Affine, chain: &[&Loop]) -> bool {
        if let Some(value) = index.as_constant() {
            return value >= 0;
        }
        let inner = chain.iter().rposition(|l| index.mentions(&l.name));
        let Some((l, around)) = inner.and_then(|k| chain[..=k].split_last()) else {
            return false;
        };
        let (bounds, shift) = if index.coefficient(&l.name) > 0 {
            (&l.range.lower, 0)
        } else {
            (&l.range.upper, -1)
        };
        let is_choice = bounds.len() > 1;
        if is_choice && self.failed.contains(&(around.len(), index.clone())) {
            return false;
        }
        for bound in bounds {
            if self.one_less().is_none() {
                return false;
            }
            let last = bound.plus_constant(shift);
            let at = index.substitute(&|name| (*name == l.name).then(|| last.clone()));
            if at.is_in_limits() && self.shows(&at, around) {
                return true;
            }
        }
        if is_choice {
            self.failed.insert((around.len(), index.clone()));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Name, parse_nest};

    /// Each loop is bounded by the two around it. The number of combinations of bounds is a
    /// Fibonacci number of the depth.
    #[test]
    fn many_bounds_take_no_longer_than_few() {
        let depth = 100;
        let mut text = "f64 A[100]\nfor a0 in 0..100\n  for a1 in 0..100\n".to_owned();
        for k in 2..depth {
            let (one, two) = (k - 1, k - 2);
            let indent = "  ".repeat(k);
            text += &format!("{indent}for a{k} in max(a{one} - 1, a{two} - 2)..100\n");
        }
        text += &format!("{}A[a0] += 1\n", "  ".repeat(depth));
        let nest = parse_nest(&text).unwrap();
        let loops = nest.loops();
        let chain: Vec<&Loop> = loops.iter().map(|(_, l)| *l).collect();
        assert_eq!(chain.len(), depth);
        let last = Affine::iterator(chain[depth - 1].name.clone());
        // The least value of the last loop follows from the first one.
        assert!(is_nonnegative(&last.plus_constant(depth as i64), &chain));
        assert!(!is_nonnegative(&last.plus_constant(-1000), &chain));
    }

    #[test]
    fn one_of_equal_bounds_is_left() {
        let [i, j] = ["i", "j"].map(|name| Affine::iterator(Name::new(name).unwrap()));
        let three = Affine::constant(3);
        let equal = |_: &Affine, _: &Affine| true;
        let left = |bounds: [&Affine; 2], which| binding(&bounds.map(Affine::clone), which, equal);
        let (first, second) = (std::slice::from_ref(&i), std::slice::from_ref(&three));
        assert_eq!(left([&i, &j], Equal::Constant), first);
        assert_eq!(left([&i, &three], Equal::Constant), second);
        assert_eq!(left([&i, &three], Equal::First), first);
        let both = [i.clone(), j.clone(), three.clone(), i.clone()];
        let same = |a: &Affine, b: &Affine| a == b;
        assert_eq!(binding(&both, Equal::Constant, same), [i, j, three]);
    }

    #[test]
    fn facts_of_one_operation_share_a_budget() {
        let nest = parse_nest("f64 A[9]\nfor i in 0..9\n  A[i] += 1\n").unwrap();
        let loops = nest.loops();
        let chain: Vec<&Loop> = loops.iter().map(|(_, l)| *l).collect();
        let i = Affine::iterator(chain[0].name.clone());
        let mut prover = Prover { left: 2 };
        let answers = [0; 3].map(|_| prover.shows(&i, &chain));
        assert_eq!(answers, [true, true, false]);
    }
}
