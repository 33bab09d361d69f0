//! Replaying paths.

use super::{Calls, NoTrace};
use crate::apply::{builds, take};
use crate::ir::{Nest, Path, Step, Taken};
use std::sync::Arc;

/// Replays the steps of `path` on `base`, except for the steps that build.
///
/// # Errors
/// The first step that does not apply, and why.
pub fn replay(path: &Path, base: &Nest) -> Result<Nest, NoTrace> {
    let steps = path.steps();
    let taken = steps.iter().filter(|s| !builds(s));
    steps_on(base.clone(), taken)
}

/// `nest` before its last `count` steps.
///
/// # Errors
/// The path has fewer steps, or is not known.
pub fn undo(nest: &Nest, count: i64) -> Result<Nest, NoTrace> {
    let steps = nest.path().steps();
    let [first, rest @ ..] = steps.as_slice() else {
        return Err(NoTrace::Unknown);
    };
    let kept = usize::try_from(count)
        .ok()
        .and_then(|c| rest.len().checked_sub(c));
    let Some(kept) = kept else {
        let (wanted, taken) = (count, rest.len());
        return Err(NoTrace::TooFew { wanted, taken });
    };
    let built = one_step(None, 1, first)?;
    steps_on(built, rest[..kept].iter())
}

/// The difference of two paths, a line for each step: steps of `first` alone are marked `-`, steps
/// of `second` alone `+`, and common steps are unmarked.
pub fn diff(first: &Path, second: &Path, calls: Calls) -> String {
    let (a, b) = match calls {
        Calls::Unfolded => (unfolded(first.entries()), unfolded(second.entries())),
        // Calls that print alike but took different steps differ in their steps.
        Calls::Folded => {
            let (a, b) = (first.entries(), second.entries());
            let alike = |x: &Taken, others: &[Taken]| {
                let differs = |y: &Taken| x.to_string() == y.to_string() && !x.same(y);
                others.iter().any(differs)
            };
            let split = |of: &[Taken], others: &[Taken]| -> Vec<Taken> {
                let parts = of.iter().map(|entry| {
                    if alike(entry, others) {
                        unfolded(vec![entry.clone()])
                    } else {
                        vec![entry.clone()]
                    }
                });
                parts.flatten().collect()
            };
            (split(&a, &b), split(&b, &a))
        }
    };
    let same = |(a, b): &(&Taken, &Taken)| a.same(b);
    let head = a.iter().zip(&b).take_while(same).count();
    let ends = a[head..].iter().rev().zip(b[head..].iter().rev());
    let tail = ends.take_while(same).count();
    let mut lines: Vec<String> = a[..head].iter().map(|s| format!("  {s}")).collect();
    diff_middle(
        &a[head..a.len() - tail],
        &b[head..b.len() - tail],
        &mut lines,
    );
    lines.extend(a[a.len() - tail..].iter().map(|s| format!("  {s}")));
    lines.join("\n")
}

/// The steps of entries, each as an entry of its own.
fn unfolded(entries: Vec<Taken>) -> Vec<Taken> {
    let steps = entries.iter().flat_map(|entry| entry.steps().to_vec());
    steps.map(Taken::Step).collect()
}

/// Longer differences are printed without a search for common steps.
const MAX_DIFFERENCE: usize = 2_000;

fn diff_middle(a: &[Taken], b: &[Taken], lines: &mut Vec<String>) {
    if a.len().max(b.len()) > MAX_DIFFERENCE {
        lines.extend(a.iter().map(|s| format!("- {s}")));
        lines.extend(b.iter().map(|s| format!("+ {s}")));
        return;
    }
    let lengths = common_lengths(a, b);
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i].same(&b[j]) {
            lines.push(format!("  {}", a[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < a.len() && (j == b.len() || lengths[i + 1][j] >= lengths[i][j + 1]) {
            lines.push(format!("- {}", a[i]));
            i += 1;
        } else {
            lines.push(format!("+ {}", b[j]));
            j += 1;
        }
    }
}

/// For all i and j, the length of the longest common subsequence of `a` from i on and `b` from j
/// on.
fn common_lengths(a: &[Taken], b: &[Taken]) -> Vec<Vec<usize>> {
    let mut lengths = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            lengths[i][j] = if a[i].same(&b[j]) {
                lengths[i + 1][j + 1] + 1
            } else {
                lengths[i + 1][j].max(lengths[i][j + 1])
            };
        }
    }
    lengths
}

pub(crate) fn steps_on<'s>(
    base: Nest,
    steps: impl Iterator<Item = &'s Arc<Step>>,
) -> Result<Nest, NoTrace> {
    let mut numbered = steps.enumerate();
    numbered.try_fold(base, |nest, (k, step)| one_step(Some(nest), k + 1, step))
}

/// Replays one step; a step that builds needs no nest.
pub(crate) fn one_step(
    nest: Option<Nest>,
    number: usize,
    step: &Arc<Step>,
) -> Result<Nest, NoTrace> {
    take(nest, step).map_err(|error| NoTrace::Step {
        number,
        step: step.to_string(),
        error: Box::new(error),
    })
}
