//! `check`: whether nests compute what their definition says, as a value.

use super::provenance::unset;
use super::{Shown, register_shown};
use crate::call::{Function, Parameter};
use crate::codegen::{self, NoCode};
use crate::diag;
use crate::fail::Failure;
use crate::ir::Nest;
use crate::legality::{self, Reductions, Verdict, Violation};
use crate::transform::{Repair, repair};
use crate::trial::{self, Equality};
use rhai::{Dynamic, Engine};
use std::sync::Arc;

pub(super) static REDUCTIONS: Function = Function {
    name: "reductions",
    params: &[Parameter::new("policy")],
    returns: "",
    doc: "\
Sets in which order floating-point sums and products may be reduced, from here on.

`\"strict\"`, the default, keeps the order. `\"reassoc\"` allows any order, and comparisons show
the deviation. The order of integers, minima and maxima never matters.",
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

/// The two statements that show a violation, the nest, the step that brought it in, and what is
/// legal instead.
pub(super) fn illegal(
    failure: Failure,
    violation: &Violation,
    nests: &[Nest],
    reductions: Reductions,
) -> Failure {
    let repair = repair(nests, violation, reductions);
    let notes = notes(violation, nests, &repair);
    let failure = notes.into_iter().fold(failure, Failure::note);
    match help(violation, &repair) {
        Some(help) => failure.help(help),
        None => failure,
    }
}

fn notes(violation: &Violation, nests: &[Nest], repair: &Repair) -> Vec<String> {
    let lines = violation.explanation();
    let mut notes: Vec<String> = (!lines.is_empty())
        .then(|| lines.join("\n"))
        .into_iter()
        .collect();
    let nest = violation.nest().and_then(|k| nests.get(k));
    let nest = nest.or(nests.first().filter(|_| nests.len() == 1));
    notes.extend(nest.map(|nest| diag::in_nest(nest, &violation.culprits())));
    notes.extend(repair.step.as_ref().map(|step| {
        let of = step.invocation().map(|call| format!(" in `{call}`"));
        let at = step.site.as_ref().map(|site| format!(" at {site}"));
        let (of, at) = (of.unwrap_or_default(), at.unwrap_or_default());
        format!("the nest was legal before `{step}`{of}{at}")
    }));
    notes
}

/// What is legal instead, or else what generally helps.
fn help(violation: &Violation, repair: &Repair) -> Option<String> {
    if repair.suggestions.is_empty() {
        violation.help()
    } else {
        Some(repair.suggestions.join("; "))
    }
}

/// A verdict, as scripts see it, and the nests that it is about.
#[derive(Clone, Debug)]
pub struct Checked {
    nests: Arc<[Nest]>,
    verdict: Arc<Verdict>,
    /// Why there is no code for nests that are legal.
    refused: Option<Arc<NoCode>>,
    reductions: Reductions,
    /// Where they were compared with the definition of others.
    equality: Option<Equality>,
}

pub(super) static CHECK: Function = Function {
    name: "check",
    params: &[Parameter::new("nests"), Parameter::optional("of")],
    returns: "verdict",
    doc: "\
Whether nests, in order, compute what their definition says: `check(plan)`,
`check([first, second])`. `check(mine, naive)` also asks whether they compute what the definition of
`naive` says, such as where `mine` is a text, which is its own definition: both are executed over
expressions instead of numbers, element by element, at the sizes that they have.

The answer is a value. Its `legal` is true, false, or `()` if it is undecided. Its `runs` is true if
there is code for the nests: if they are legal, assumed to be, or cannot be proved for want of a
definition or of isl. Its `message` gives
the reason, with two iterations that show it. Its `suggestions` were tried and are legal. Printed,
it also shows the nest, and the step before which it was legal, or what can be done if it is
undecided.

Proofs are exact: every element is followed from the statement that computes it to its uses. They
need the library isl, which comes with gcc (`libisl23` on Debian and Ubuntu). Without it, only
parallel and vector loops are proved, by a simpler test, and the C and tables say so.",
    call: |call| {
        let nests = call.nests(0)?;
        let reductions = call.state().workbench.settings.reductions;
        let verdict = match (legality::check(&nests, reductions), unset(call, &nests)) {
            (Verdict::Legal, Some(violation)) => Verdict::Illegal(Box::new(violation)),
            (verdict, _) => verdict,
        };
        let others = (call.count() > 1).then(|| call.nests(1)).transpose()?;
        let control = call.state().workbench.control.clone();
        let equality = others.filter(|_| verdict == Verdict::Legal);
        let equality = equality.map(|of| trial::equality(&nests, &of, reductions, &control));
        let refused = match verdict {
            Verdict::Legal => codegen::check(&nests, reductions).err(),
            Verdict::Illegal(_) | Verdict::Undecided(_) => None,
        };
        Ok(Dynamic::from(Checked {
            nests: nests.into(),
            verdict: Arc::new(verdict),
            refused: refused.map(Arc::new),
            reductions,
            equality,
        }))
    },
};

impl Shown for Checked {
    const NAME: &'static str = "verdict";

    fn full(&self) -> String {
        self.text()
    }

    fn brief(&self) -> String {
        self.message()
    }
}

impl Checked {
    fn legal(&self) -> Dynamic {
        if self.refused.is_some() {
            return Dynamic::FALSE;
        }
        match (&*self.verdict, &self.equality) {
            (Verdict::Legal, None | Some(Equality::Proved(_))) => Dynamic::TRUE,
            (Verdict::Legal, Some(Equality::Refuted(_))) => Dynamic::FALSE,
            (Verdict::Legal, Some(Equality::Open(_))) => Dynamic::UNIT,
            (Verdict::Illegal(_), _) => Dynamic::FALSE,
            (Verdict::Undecided(_), _) => Dynamic::UNIT,
        }
    }

    /// Whether there is code for the nests.
    fn runs(&self) -> bool {
        codegen::check(&self.nests, self.reductions).is_ok()
    }

    fn message(&self) -> String {
        if let Some(refused) = &self.refused {
            return format!("refused: {refused}");
        }
        match &*self.verdict {
            Verdict::Legal => match &self.equality {
                None => "legal".to_owned(),
                Some(Equality::Proved(elements)) => {
                    format!("equal: all {elements} elements are the same expressions")
                }
                Some(Equality::Refuted(why)) => format!("not equal: {why}"),
                Some(Equality::Open(why)) => format!("undecided: {why}"),
            },
            Verdict::Illegal(violation) => violation.to_string(),
            Verdict::Undecided(why) => format!("undecided: {why}"),
        }
    }

    /// What can be done, where that is known.
    fn repair(&self) -> Repair {
        match &*self.verdict {
            Verdict::Illegal(violation) => repair(&self.nests, violation, self.reductions),
            Verdict::Legal | Verdict::Undecided(_) => Repair::default(),
        }
    }

    /// What was tried and is legal instead.
    fn suggestions(&self) -> rhai::Array {
        let suggestions = self.repair().suggestions.into_iter();
        suggestions.map(Dynamic::from).collect()
    }

    /// The message on several lines, with the nest.
    fn text(&self) -> String {
        let violation = match &*self.verdict {
            Verdict::Illegal(violation) => violation,
            Verdict::Undecided(why) => {
                let nest = why.nest().and_then(|k| self.nests.get(k));
                let nest = nest.map(|nest| diag::in_nest(nest, &why.culprits()));
                let help = why.help().map(|help| format!("help: {help}"));
                let notes = nest.iter().chain(&help).flat_map(|note| note.lines());
                let notes: String = notes.map(|line| format!("\n  {line}")).collect();
                return format!("{}{notes}", self.message());
            }
            Verdict::Legal => {
                let help = self.refused.as_ref().and_then(|refused| refused.help());
                let help = help.map(|help| format!("\n  help: {help}"));
                return format!("{}{}", self.message(), help.unwrap_or_default());
            }
        };
        let repair = self.repair();
        let mut lines = vec![format!("illegal: {}", violation.summary())];
        let notes = notes(violation, &self.nests, &repair);
        lines.extend(
            notes
                .iter()
                .flat_map(|n| n.lines())
                .map(|line| format!("  {line}")),
        );
        lines.extend(help(violation, &repair).map(|help| format!("  help: {help}")));
        lines.join("\n")
    }
}

/// How verdicts print, and what they know.
pub fn register(engine: &mut Engine) {
    register_shown::<Checked>(engine);
    engine
        .register_get("legal", |c: &mut Checked| c.legal())
        .register_get("runs", |c: &mut Checked| c.runs())
        .register_get("message", |c: &mut Checked| c.message())
        .register_get("suggestions", |c: &mut Checked| c.suggestions());
}
