//! `check`: whether nests compute what their definition says, as a value.

use super::code::nests_and_name;
use crate::diag;
use crate::ir::{Nest, Step};
use crate::legality::{self, Reductions, Verdict, Violation};
use crate::script::call::{Function, Parameter};
use crate::script::fail::Failure;
use crate::transform::trace;
use rhai::{Dynamic, Engine, ImmutableString};
use std::sync::Arc;

pub(super) static REDUCTIONS: Function = Function {
    name: "reductions",
    params: &[Parameter::new("policy")],
    returns: "",
    doc: "\
What may become of the order in which floating-point sums and products are reduced, from here on:
`\"strict\"`, the default, keeps it; `\"reassoc\"` allows any order, and comparisons show the
deviation. The order of integers, minima and maxima never matters.",
    call: |call| {
        let reductions = match call.text(0)?.as_str() {
            "strict" => Reductions::Strict,
            "reassoc" => Reductions::Reassociate,
            _ => return Err(call.fail(0, "must be \"strict\" or \"reassoc\"")),
        };
        call.state().workbench.settings.reductions = reductions;
        Ok(Dynamic::UNIT)
    },
};

/// The two statements that show a violation, the nest, and the step that brought it in.
pub(super) fn illegal(failure: Failure, violation: &Violation, nests: &[Nest]) -> Failure {
    let failure = match violation.explanation().join("\n") {
        lines if lines.is_empty() => failure,
        lines => failure.note(lines),
    };
    let nest = violation.nest().and_then(|k| nests.get(k));
    let Some(nest) = nest.or(nests.first().filter(|_| nests.len() == 1)) else {
        return failure;
    };
    let failure = failure.note(diag::in_nest(nest, &violation.culprits()));
    match blamed(nest) {
        Some(step) => failure.note(match &step.site {
            Some(site) => format!("legal before the step `{step}` at {site}"),
            None => format!("legal before the step `{step}`"),
        }),
        None => failure,
    }
}

/// The last step of a nest's path before which the nest is legal by itself; `None` where that is
/// not known.
fn blamed(nest: &Nest) -> Option<Arc<Step>> {
    let steps = nest.path().steps();
    let is_legal = |taken: usize| {
        let back = i64::try_from(steps.len() - taken).unwrap_or(i64::MAX);
        let before = trace::undo(nest, back).ok()?;
        let verdict = legality::check(&[before], Reductions::Strict);
        Some(verdict == Verdict::Legal)
    };
    // Legal after `low` steps, not after `high`.
    let (mut low, mut high) = (1, steps.len());
    if high <= low || is_legal(low) != Some(true) || is_legal(high) != Some(false) {
        return None;
    }
    while high - low > 1 {
        let middle = low.midpoint(high);
        match is_legal(middle)? {
            true => low = middle,
            false => high = middle,
        }
    }
    steps.get(low).cloned()
}

/// A verdict, as scripts see it, and the nests that it is about.
#[derive(Clone, Debug)]
pub struct Checked {
    nests: Arc<[Nest]>,
    verdict: Arc<Verdict>,
}

pub(super) static CHECK: Function = Function {
    name: "check",
    params: &[Parameter::new("nests")],
    returns: "verdict",
    doc: "\
Whether nests, in order, compute what their definition says: `check(plan)`, `check([first, second])`.

The answer is a value. Its `legal` is true, false, or `()` where nothing is known; its `message`
says why, with two iterations that show it.",
    call: |call| {
        let (nests, _) = nests_and_name(call)?;
        let reductions = call.state().workbench.settings.reductions;
        let verdict = legality::check(&nests, reductions);
        Ok(Dynamic::from(Checked {
            nests: nests.into(),
            verdict: Arc::new(verdict),
        }))
    },
};

impl Checked {
    fn legal(&self) -> Dynamic {
        match &*self.verdict {
            Verdict::Legal => Dynamic::TRUE,
            Verdict::Illegal(_) => Dynamic::FALSE,
            Verdict::Undecided(_) => Dynamic::UNIT,
        }
    }

    fn message(&self) -> String {
        match &*self.verdict {
            Verdict::Legal => "legal".to_owned(),
            Verdict::Illegal(violation) => violation.to_string(),
            Verdict::Undecided(why) => format!("not decided: {why}"),
        }
    }

    /// The message on several lines, with the nest.
    fn text(&self) -> String {
        let Verdict::Illegal(violation) = &*self.verdict else {
            return self.message();
        };
        let mut lines = vec![format!("illegal: {}", violation.summary())];
        lines.extend(
            violation
                .explanation()
                .iter()
                .map(|line| format!("  {line}")),
        );
        let nest = violation.nest().and_then(|k| self.nests.get(k));
        lines.extend(nest.map(|nest| diag::in_nest(nest, &violation.culprits())));
        lines.extend(violation.help().map(|help| format!("help: {help}")));
        lines.join("\n")
    }
}

/// How verdicts print, and what they know.
pub fn register(engine: &mut Engine) {
    engine
        .register_type_with_name::<Checked>("verdict")
        .register_get("legal", |c: &mut Checked| c.legal())
        .register_get("message", |c: &mut Checked| c.message())
        .register_fn("to_string", |c: &mut Checked| c.text())
        .register_fn("to_debug", |c: &mut Checked| {
            ImmutableString::from(c.message())
        });
}
