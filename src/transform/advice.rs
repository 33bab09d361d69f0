//! What can be done about nests that do not compute what their definition says.
//!
//! The step at fault is found by replaying a part of the path. Whatever is suggested was tried
//! before, on the nests in question with all steps that follow.

use super::nest::mode::mark;
use super::trace::{one_step, steps_on, undo};
use crate::ir::{Arg, Loop, LoopRef, Name, Nest, Sharing, Step};
use crate::legality::{DependenceKind, Reductions, Violation, is_legal};
use std::sync::Arc;

/// What can be done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Advice {
    /// The last step of the nest's path before which it was legal by itself.
    pub step: Option<Arc<Step>>,
    /// What is legal instead, each in a few words.
    pub suggestions: Vec<String>,
}

/// How much a trial may take of the polyhedral library, and how many there are: the answer must
/// not be waited for.
const OPERATIONS: u64 = 200_000;
const MAX_TRIALS: usize = 12;

/// What can be done about `violation`, which is what is wrong with `nests`.
pub fn advice(nests: &[Nest], violation: &Violation, reductions: Reductions) -> Advice {
    let fault = violation.nest().or((nests.len() == 1).then_some(0));
    let Some((at, nest)) = fault.and_then(|k| Some((k, nests.get(k)?))) else {
        return Advice::default();
    };
    let mut trials = Trials {
        nests,
        at,
        reductions,
        left: MAX_TRIALS,
    };
    let fault = blamed(nest, reductions);
    let mut suggestions = match violation {
        Violation::Concurrent { by, parallel, .. } => trials.marks(nest, by, *parallel),
        _ => Vec::new(),
    };
    if let (Violation::Concurrent { by, dependence, .. }, true) = (violation, trials.left > 0)
        && dependence.kind == DependenceKind::Reduction
    {
        suggestions.extend(trials.partial_results(nest, by));
    }
    if let Some(fault) = &fault {
        suggestions.extend(trials.before(fault));
    }
    Advice {
        step: fault.map(|f| f.step),
        suggestions,
    }
}

/// The step at fault, the nest before it, and the steps after it.
struct Fault {
    before: Nest,
    step: Arc<Step>,
    rest: Vec<Arc<Step>>,
}

/// The step before which a nest was legal by itself, found by bisection.
fn blamed(nest: &Nest, reductions: Reductions) -> Option<Fault> {
    let steps = nest.path().steps();
    let after = |taken: usize| undo(nest, i64::try_from(steps.len() - taken).ok()?).ok();
    let legal = |taken: usize| {
        let nest = after(taken)?;
        Some(is_legal(&[nest], reductions, OPERATIONS))
    };
    // Legal after `low` steps, not after `high`.
    let (mut low, mut high) = (1, steps.len());
    if high <= low || legal(low) != Some(true) || legal(high) != Some(false) {
        return None;
    }
    while high - low > 1 {
        let middle = low.midpoint(high);
        match legal(middle)? {
            true => low = middle,
            false => high = middle,
        }
    }
    Some(Fault {
        before: after(low)?,
        step: steps.get(low)?.clone(),
        rest: steps[high..].to_vec(),
    })
}

fn step(op: &'static str, args: impl IntoIterator<Item = Arg>) -> Arc<Step> {
    let args = args.into_iter().collect();
    let site = None;
    Arc::new(Step { op, args, site })
}

fn named(name: &Name) -> Arg {
    Arg::Loop(LoopRef::Name(name.to_string()))
}

/// Nests in which one is replaced by others, to see which of them are legal.
struct Trials<'a> {
    nests: &'a [Nest],
    at: usize,
    reductions: Reductions,
    left: usize,
}

impl Trials<'_> {
    fn is_legal(&mut self, nest: Nest, reductions: Reductions) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let mut nests = self.nests.to_vec();
        nests[self.at] = nest;
        is_legal(&nests, reductions, OPERATIONS)
    }

    /// Other loops that can be parallel or vector in place of the loop `by`, or fewer lanes.
    fn marks(&mut self, nest: &Nest, by: &Name, parallel: bool) -> Vec<String> {
        let Some(plain) = unmarked(nest, by) else {
            return Vec::new();
        };
        let (op, mode) = match parallel {
            true => ("parallelize", "parallel"),
            false => ("vectorize", "vector"),
        };
        let innermost = |l: &Loop| !l.body.iter().any(|t| t.as_loop().is_some());
        let mut found = Vec::new();
        for (_, l) in plain.loops() {
            let fits = parallel || innermost(l);
            if l.name == *by || l.parallel || l.vector || !fits {
                continue;
            }
            let marked = one_step(Some(plain.clone()), 1, &step(op, [named(&l.name)]));
            if marked.is_ok_and(|nest| self.is_legal(nest, self.reductions)) {
                found.push(format!("`{}`", l.name));
            }
        }
        let mut suggestions = Vec::new();
        if !found.is_empty() {
            suggestions.push(format!("loops that can be {mode}: {}", found.join(", ")));
        }
        if !parallel {
            let lanes = |lanes: i64| step(op, [named(by), Arg::Int(lanes)]);
            let steps = [8, 4, 2].map(lanes);
            suggestions.extend(self.first(&plain, steps.into_iter(), &[]).map(|step| {
                format!("`{step}` runs only iterations at a time that are independent")
            }));
        }
        suggestions
    }

    /// Partial results for the iterations of the loop `by`, which carries a reduction.
    fn partial_results(&mut self, nest: &Nest, by: &Name) -> Option<String> {
        let plain = unmarked(nest, by)?;
        let factored = one_step(Some(plain), 1, &step("rfactor", [named(by)])).ok()?;
        let nest = one_step(Some(factored), 2, &step("parallelize", [named(by)])).ok()?;
        let policy = match self.is_legal(nest.clone(), self.reductions) {
            true => "",
            false if self.is_legal(nest, Reductions::Reassociate) => {
                ", where the script says `reductions(\"reassoc\")`"
            }
            false => return None,
        };
        let what = "gives its iterations partial results before";
        Some(format!("`rfactor(\"{by}\")` {what}{policy}"))
    }

    /// What makes the step at fault legal, or is legal in place of it.
    fn before(&mut self, fault: &Fault) -> Option<String> {
        let Fault { before, step, rest } = fault;
        let again: Vec<Arc<Step>> = [step.clone()].into_iter().chain(rest.clone()).collect();
        let first = match (step.op, step.args.as_slice()) {
            ("interchange" | "reorder" | "unroll_and_jam", _) => {
                self.first(before, skews(before).into_iter(), &again)
            }
            ("fuse", [_, second]) => {
                let by = |k| self::step("shift", [second.clone(), Arg::Int(k)]);
                self.first(before, (1..=4).map(by), &again)
            }
            _ => None,
        };
        if let Some(first) = first {
            return Some(format!("`{step}` is legal after `{first}`"));
        }
        let unrolled =
            (step.op == "unroll_and_jam").then(|| self::step("unroll", step.args.clone()));
        let other = self.first(before, unrolled.into_iter(), rest)?;
        Some(format!("`{other}` keeps the order"))
    }

    /// The first of the steps on `nest` that is legal together with what follows.
    fn first(
        &mut self,
        nest: &Nest,
        steps: impl Iterator<Item = Arc<Step>>,
        rest: &[Arc<Step>],
    ) -> Option<Arc<Step>> {
        steps.into_iter().find(|first| {
            let all = [first].into_iter().chain(rest);
            let nest = steps_on(nest.clone(), all);
            nest.is_ok_and(|nest| self.is_legal(nest, self.reductions))
        })
    }
}

/// The nest without the mark of a loop that is parallel or vector.
fn unmarked(nest: &Nest, by: &Name) -> Option<Nest> {
    let loops = nest.loops();
    let marked = |l: &Loop| l.name == *by && (l.parallel || l.vector);
    loops.iter().find(|(_, l)| marked(l))?;
    let reference = LoopRef::Name(by.to_string());
    let plain = mark(nest, &reference, |l| Loop {
        parallel: false,
        vector: false,
        lanes: None,
        sharing: Sharing::default(),
        ..l
    });
    plain.ok()
}

/// Skewing each loop by the one around it, by 1 and by 2.
fn skews(nest: &Nest) -> Vec<Arc<Step>> {
    let loops = nest.loops();
    let pairs = loops
        .iter()
        .filter_map(|(outer, l)| Some((outer.last()?, l)));
    let skewed = pairs.flat_map(|(outer, inner)| {
        [1, 2].map(|k| {
            step(
                "skew",
                [named(&inner.name), named(&outer.name), Arg::Int(k)],
            )
        })
    });
    skewed.take(6).collect()
}
