//! `check`: whether nests compute what their definition says, as a value.

use super::code::nests_and_name;
use crate::diag;
use crate::ir::Nest;
use crate::legality::{self, Reductions, Verdict};
use crate::script::call::{Function, Parameter};
use rhai::{Dynamic, Engine, ImmutableString};
use std::sync::Arc;

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
        let verdict = legality::check(&nests, Reductions::Strict);
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

    fn text(&self) -> String {
        let message = self.message();
        let Verdict::Illegal(violation) = &*self.verdict else {
            return message;
        };
        let nest = violation.nest().and_then(|k| self.nests.get(k));
        match nest {
            Some(nest) => format!(
                "illegal: {message}\n{}",
                diag::in_nest(nest, &violation.culprits())
            ),
            None => format!("illegal: {message}"),
        }
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
