//! Suggests repairs for nests that do not compute their definition.
//!
//! Bisection over the path finds the step at fault. Every suggestion was tried and proved legal.
//! Trials share a budget of operations of the polyhedral library. It is the same on every machine,
//! so that messages are also the same.

use super::nest::fuse::{self, FUSE};
use super::nest::interchange::{self, INTERCHANGE};
use super::nest::mode::{self, PARALLELIZE, mark};
use super::nest::reorder::REORDER;
use super::nest::unroll_and_jam::{self, UNROLL_AND_JAM};
use super::op::{Alternatives, Call, Op};
use super::trace::{one_step, steps_on, undo};
use crate::ir::{Arg, Entries, Loop, LoopRef, Mode, Name, Nest, Order, Sharing, Step, Tensor};
use crate::legality::{BatchProver, Dependence, DependenceKind, Reductions, Violation, within};
use std::sync::Arc;

/// The step at fault and legal alternatives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repair {
    /// The last step of the nest's path before which the nest was legal by itself.
    pub step: Option<Arc<Step>>,
    /// Legal alternatives, each in a few words.
    pub suggestions: Vec<String>,
}

/// An operation's alternatives to a step on a nest with these arguments.
type Knows = fn(&Nest, &[Arg]) -> Alternatives;

/// The operations that suggest alternatives.
const ALTERNATIVES: [(&Op, Knows); 5] = [
    (&INTERCHANGE, interchange::alternatives),
    (&REORDER, interchange::alternatives),
    (&UNROLL_AND_JAM, unroll_and_jam::alternatives),
    (&FUSE, fuse::alternatives),
    (&PARALLELIZE, mode::alternatives),
];

/// Budgets of the polyhedral library, for the search for the step at fault and for the trials. Both
/// keep the wait for a message short.
const SEARCH: u64 = 2_000_000;
const TRIALS: u64 = 400_000;

/// Suggests repairs for `violation`, which the proof of `nests` found.
pub fn repair(nests: &[Nest], violation: &Violation, reductions: Reductions) -> Repair {
    if let Violation::Unset { .. } = violation {
        // The definitions are at fault, not a step.
        return Repair::default();
    }
    let fault = violation.nest().or((nests.len() == 1).then_some(0));
    let Some((at, nest)) = fault.and_then(|k| Some((k, nests.get(k)?))) else {
        return Repair::default();
    };
    let trials = Trials {
        nests,
        at,
        reductions,
    };
    let fault = within(SEARCH, || blamed(nest, reductions, nests.len() == 1)).flatten();
    let found = match violation {
        Violation::AtSizes { violation, .. } => violation,
        violation => violation,
    };
    let suggestions = within(TRIALS, || {
        let mut suggestions = match found {
            Violation::Concurrent {
                dependence,
                by,
                parallel,
                axis: None,
            } => trials.concurrent(nest, by, *parallel, dependence),
            _ => Vec::new(),
        };
        suggestions.extend(fault.as_ref().and_then(|fault| trials.before(fault)));
        suggestions
    });
    Repair {
        step: fault.map(|f| f.step),
        suggestions: suggestions.unwrap_or_default(),
    }
}

/// The step at fault and the nest before it.
struct Fault {
    before: Nest,
    step: Arc<Step>,
}

/// The last step before which a nest was legal by itself, found by bisection. `alone` says that the
/// nest is known to be illegal.
fn blamed(nest: &Nest, reductions: Reductions, alone: bool) -> Option<Fault> {
    let steps = nest.path().steps();
    let after = |taken: usize| undo(nest, i64::try_from(steps.len() - taken).ok()?).ok();
    // If legality is undecided, no step is blamed.
    let legal = |taken: usize| is_legal(&[after(taken)?], reductions);
    // Legal after `low` steps, not after `high`.
    let (mut low, mut high) = (1, steps.len());
    if high <= low || legal(low) != Some(true) || !alone && legal(high) != Some(false) {
        return None;
    }
    while high - low > 1 {
        let middle = low.midpoint(high);
        if legal(middle)? {
            low = middle
        } else {
            high = middle
        }
    }
    Some(Fault {
        before: after(low)?,
        step: steps.get(low)?.clone(),
    })
}

/// Whether nests compute their own definition, which steps such as fusing extend; `None` if
/// undecided.
fn is_legal(nests: &[Nest], reductions: Reductions) -> Option<bool> {
    BatchProver::of(nests, reductions).is_legal(nests).ok()
}

fn step(op: &'static str, args: impl IntoIterator<Item = Arg>) -> Arc<Step> {
    let args = args.into_iter().collect();
    let site = None;
    Arc::new(Step { op, args, site })
}

fn named(name: &Name) -> Arg {
    Arg::Loop(LoopRef::Name(name.to_string()))
}

/// Replaces one of the nests by others, to see which of them are legal.
struct Trials<'a> {
    nests: &'a [Nest],
    at: usize,
    reductions: Reductions,
}

impl Trials<'_> {
    fn nests(&self, nest: Nest) -> Vec<Nest> {
        let mut nests = self.nests.to_vec();
        nests[self.at] = nest;
        nests
    }

    fn is_legal(&self, nest: Nest) -> bool {
        is_legal(&self.nests(nest), self.reductions) == Some(true)
    }

    fn is_independent(&self, nest: Nest) -> bool {
        let nests = self.nests(nest);
        let independent = BatchProver::of(&nests, self.reductions).is_independent(&nests);
        independent.unwrap_or(false)
    }

    /// Suggestions for nests that are illegal only because iterations of the loop `by` run
    /// concurrently.
    fn concurrent(
        &self,
        nest: &Nest,
        by: &Name,
        parallel: bool,
        dependence: &Dependence,
    ) -> Vec<String> {
        let Some(plain) = unmarked(nest, by) else {
            return Vec::new();
        };
        let around = &dependence.sink.at.iteration;
        let around: Vec<&Name> = around.iter().map(|(name, _)| name).collect();
        let mut suggestions = Vec::new();
        suggestions.extend(self.lanes(&plain, by, parallel));
        suggestions.extend(self.other_loops(&plain, by, parallel, &around));
        if dependence.kind == DependenceKind::Reduction {
            suggestions.extend(self.partial_results(&plain, by, parallel));
            suggestions.extend(self.atomic_updates(&plain, by, parallel));
        }
        suggestions.extend(self.fact(nest));
        suggestions
    }

    /// The fact about the entries of a tensor that makes the iterations independent.
    fn fact(&self, nest: &Nest) -> Option<String> {
        let tensors = nest.tensors();
        tensors.iter().find_map(|tensor| {
            let name = tensor.label();
            let mut orders = [Order::Increasing, Order::Distinct].into_iter();
            let order = orders.find_map(|order| {
                self.order_of(nest, tensor, order)?;
                let word = order.word();
                Some(format!("are {word}: `indices(…, \"{word}\")`"))
            });
            let fact = order.or_else(|| {
                let of = tensors
                    .iter()
                    .find(|rows| self.are_sorted(nest, tensor, rows))?;
                let rows = of.label();
                Some(format!(
                    "increase in the rows of `{rows}`: `sorted({name}, {rows})`"
                ))
            })?;
            Some(format!("it is legal if the entries of `{name}` {fact}"))
        })
    }

    /// Whether an order of all entries makes the iterations independent.
    fn order_of(&self, nest: &Nest, tensor: &Tensor, order: Order) -> Option<()> {
        let entries = tensor.entries().filter(|entries| entries.order != order)?;
        let values = entries.high.minus(&entries.low).likely()?.max(0);
        let are_enough = tensor.shape().elements() <= values.unsigned_abs();
        let is_possible = order != Order::Distinct || are_enough;
        let entries = Entries {
            order,
            ..entries.clone()
        };
        (is_possible && self.is_independent(with_facts(nest, tensor, &entries))).then_some(())
    }

    /// Whether an order in rows does.
    fn are_sorted(&self, nest: &Nest, tensor: &Tensor, rows: &Tensor) -> bool {
        let of_rows = rows.entries().map(|entries| entries.order);
        let (Some(entries), Some(Order::Increasing)) = (tensor.entries(), of_rows) else {
            return false;
        };
        let is_new = entries.rows.is_none() && tensor.name() != rows.name();
        let entries = Entries {
            rows: rows.name().cloned(),
            ..entries.clone()
        };
        is_new && self.is_independent(with_facts(nest, tensor, &entries))
    }

    /// The largest number of lanes with which the loop is legal.
    fn lanes(&self, plain: &Nest, by: &Name, parallel: bool) -> Option<String> {
        let steps = [8, 4, 2].map(|lanes| step("vectorize", [named(by), Arg::Int(lanes)]));
        let step = steps.iter().filter(|_| !parallel).find(|step| {
            let nest = one_step(Some(plain.clone()), 1, step);
            nest.is_ok_and(|nest| self.is_independent(nest))
        })?;
        let what = "runs only iterations at the same time that are independent";
        Some(format!("`{step}` {what}"))
    }

    /// Loops among those called `around` that can be parallelized or vectorized in place of `by`.
    fn other_loops(
        &self,
        plain: &Nest,
        by: &Name,
        parallel: bool,
        around: &[&Name],
    ) -> Option<String> {
        let (op, mode) = if parallel {
            ("parallelize", "run in parallel")
        } else {
            ("vectorize", "be vectorized")
        };
        let holds_none = |l: &Loop| !l.body.iter().any(|t| t.as_loop().is_some());
        let has_several = |l: &Loop| l.range.single().is_none();
        let fits = |l: &Loop| l.name != *by && l.is_serial() && has_several(l);
        let loops = plain.loops().into_iter().map(|(_, l)| l);
        let loops = loops.filter(|l| fits(l) && around.contains(&&l.name));
        let found: Vec<String> = loops
            .filter(|l| parallel || holds_none(l))
            .filter(|l| {
                let marked = one_step(Some(plain.clone()), 1, &step(op, [named(&l.name)]));
                marked.is_ok_and(|nest| self.is_independent(nest))
            })
            .map(|l| format!("`{}`", l.name))
            .collect();
        (!found.is_empty()).then(|| format!("loops that can {mode}: {}", found.join(", ")))
    }

    /// Partial results for the iterations of the loop `by`, which carries a reduction, or a running
    /// one.
    fn partial_results(&self, plain: &Nest, by: &Name, parallel: bool) -> Option<String> {
        let op = if parallel { "parallelize" } else { "vectorize" };
        let ways = [
            (
                "rfactor",
                "gives its iterations partial results of their own",
            ),
            (
                "scan",
                "computes running results in blocks, one for each iteration",
            ),
        ];
        let mut found = ways.into_iter().filter_map(|(way, what)| {
            let made = one_step(Some(plain.clone()), 1, &step(way, [named(by)])).ok()?;
            let nest = one_step(Some(made), 2, &step(op, [named(by)])).ok()?;
            let policy = self.policy(nest)?;
            Some(format!("`{way}(\"{by}\")` before it {what}{policy}"))
        });
        found.next()
    }

    /// Atomic updates by the iterations of the loop `by`, which scatters.
    fn atomic_updates(&self, plain: &Nest, by: &Name, parallel: bool) -> Option<String> {
        let scatters = plain.tensors().iter().any(|t| t.entries().is_some());
        if !parallel || !scatters {
            return None;
        }
        let reference = LoopRef::Name(by.to_string());
        let sharing = Sharing {
            atomic: true,
            ..Sharing::default()
        };
        let nest = mode::parallelize(plain, &reference, sharing).ok()?;
        let policy = self.policy(nest)?;
        let what = "adds to shared elements by atomic operations";
        Some(format!(
            "`parallelize(\"{by}\", #{{atomic: true}})` {what}{policy}"
        ))
    }

    /// The policy on reductions that a nest needs to be legal, as an end of a sentence. `None` if none
    /// suffices.
    fn policy(&self, nest: Nest) -> Option<&'static str> {
        let nests = self.nests(nest);
        let legal = |reductions| is_legal(&nests, reductions) == Some(true);
        match legal(self.reductions) {
            true => Some(""),
            false => {
                legal(Reductions::Reassociate).then_some(", which needs `reductions(\"reassoc\")`")
            }
        }
    }

    /// A step that makes the step at fault legal, or a legal one in its place.
    fn before(&self, fault: &Fault) -> Option<String> {
        let Fault { before, step: at } = fault;
        let (_, alternatives) = ALTERNATIVES.iter().find(|(op, _)| op.name == at.op)?;
        let Alternatives { first, instead } = alternatives(before, &at.args);
        let taken = |(op, args): Call| step(op.name, args);
        let legal = |steps: &[&Arc<Step>]| {
            let nest = steps_on(before.clone(), steps.iter().copied());
            nest.is_ok_and(|nest| self.is_legal(nest))
        };
        let mut firsts = first.into_iter().map(taken);
        if let Some(first) = firsts.find(|first| legal(&[first, at])) {
            return Some(format!("`{at}` is legal after `{first}`"));
        }
        let instead = instead.map(taken).filter(|other| legal(&[other]))?;
        Some(format!("`{instead}` is legal in its place"))
    }
}

/// The nest with other facts about the entries of a tensor.
fn with_facts(nest: &Nest, tensor: &Tensor, entries: &Entries) -> Nest {
    let known = |other: &Tensor| match other.name() == tensor.name() {
        true => other.with_entries(entries.clone()),
        false => other.clone(),
    };
    let trees = nest.trees().iter().map(|tree| tree.map_tensors(&known));
    nest.with_trees(trees.collect())
}

/// The nest with the loop `by` serial, if it is parallel or vector.
fn unmarked(nest: &Nest, by: &Name) -> Option<Nest> {
    let loops = nest.loops();
    let marked = |l: &Loop| l.name == *by && !l.is_serial();
    loops.iter().find(|(_, l)| marked(l))?;
    let reference = LoopRef::Name(by.to_string());
    let plain = mark(nest, &reference, |l| Loop {
        mode: Mode::Serial,
        ..l
    });
    plain.ok()
}
