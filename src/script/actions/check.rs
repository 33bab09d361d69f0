//! `check` and `reductions`: whether nests compute what their definition says.

use super::{Shown, register_shown};
use crate::call::{Effect, Function, Parameter};
use crate::legality::Reductions;
use crate::verbs::{self, Checked};
use rhai::{Array, Dynamic, Engine};

pub(super) static REDUCTIONS: Function = Function {
    name: "reductions",
    topic: "results",
    effect: Effect::None,
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
        call.workbench().settings.reductions = reductions;
        Ok(Dynamic::UNIT)
    },
};

pub(super) static CHECK: Function = Function {
    name: "check",
    topic: "results",
    effect: Effect::None,
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
        let of = (call.count() > 1).then(|| call.nests(1)).transpose()?;
        Ok(Dynamic::from(verbs::check(
            call.bench(),
            &nests,
            of.as_deref(),
        )))
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

/// The printing and the properties of verdicts.
pub fn register(engine: &mut Engine) {
    register_shown::<Checked>(engine);
    engine
        .register_get("legal", |c: &mut Checked| {
            c.legal().map_or(Dynamic::UNIT, Dynamic::from_bool)
        })
        .register_get("runs", |c: &mut Checked| c.runs())
        .register_get("message", |c: &mut Checked| c.message())
        .register_get("suggestions", |c: &mut Checked| -> Array {
            c.suggestions().into_iter().map(Dynamic::from).collect()
        });
}
