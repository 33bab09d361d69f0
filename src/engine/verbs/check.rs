//! `check`: whether nests compute their definition, as a value.

use super::provenance::unset;
use super::refusal::{help, notes};
use super::workbench::Bench;
use crate::codegen::{self, NoCode};
use crate::diag;
use crate::ir::Nest;
use crate::legality::{self, Reductions, Verdict};
use crate::transform::{Repair, repair};
use crate::trial::{self, Equality};
use std::sync::Arc;

/// A verdict on nests.
#[derive(Clone, Debug)]
pub struct Checked {
    nests: Arc<[Nest]>,
    verdict: Arc<Verdict>,
    /// Why there is no code for nests that are legal.
    refused: Option<Arc<NoCode>>,
    /// Why the device cannot run nests for which there is code.
    limit: Option<Arc<NoCode>>,
    reductions: Reductions,
    /// Where they were compared with the definition of others.
    equality: Option<Equality>,
}

/// Whether nests, in order, compute their definition and, with `of`, the definition of those nests.
pub fn check(bench: &Bench, nests: &[Nest], of: Option<&[Nest]>) -> Checked {
    let (reductions, control, target) = {
        let bench = bench.lock();
        (bench.reductions(), bench.control.clone(), bench.target())
    };
    let nests = &codegen::at_fault(nests, reductions);
    let verdict = match (legality::check(nests, reductions), unset(bench, nests)) {
        (Verdict::Legal, Some(violation)) => Verdict::Illegal(Box::new(violation)),
        (verdict, _) => verdict,
    };
    let equality = of.filter(|_| verdict == Verdict::Legal);
    let equality = equality.map(|of| trial::equality(nests, of, reductions, &control));
    let refused = match verdict {
        Verdict::Legal => codegen::check(nests, reductions).err(),
        Verdict::Illegal(_) | Verdict::Undecided(_) => None,
    };
    let is_legal = verdict == Verdict::Legal && refused.is_none();
    let limit = if is_legal {
        codegen::limit(nests, &target.device)
    } else {
        None
    };
    Checked {
        nests: nests.as_slice().into(),
        verdict: Arc::new(verdict),
        refused: refused.map(Arc::new),
        limit: limit.map(Arc::new),
        reductions,
        equality,
    }
}

impl Checked {
    /// Whether the nests are legal; `None` if that is undecided.
    pub fn legal(&self) -> Option<bool> {
        if self.refused.is_some() {
            return Some(false);
        }
        match (&*self.verdict, &self.equality) {
            (Verdict::Legal, None | Some(Equality::Proved(_))) => Some(true),
            (Verdict::Legal, Some(Equality::Refuted(_))) | (Verdict::Illegal(_), _) => Some(false),
            (Verdict::Legal, Some(Equality::Open(_))) | (Verdict::Undecided(_), _) => None,
        }
    }

    /// Whether there is code for the nests, and the device can run it.
    pub fn runs(&self) -> bool {
        self.limit.is_none() && codegen::check(&self.nests, self.reductions).is_ok()
    }

    /// The reason, on one line.
    pub fn message(&self) -> String {
        if let Some(refused) = &self.refused {
            return format!("refused: {refused}");
        }
        match &*self.verdict {
            Verdict::Legal => match &self.equality {
                None => match &self.limit {
                    Some(limit) => format!("legal, and the device cannot run it: {limit}"),
                    None => "legal".to_owned(),
                },
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

    /// The repair of an illegal nest; empty for any other verdict.
    fn repair(&self) -> Repair {
        match &*self.verdict {
            Verdict::Illegal(violation) => repair(&self.nests, violation, self.reductions),
            Verdict::Legal | Verdict::Undecided(_) => Repair::default(),
        }
    }

    /// Legal alternatives, all of them tried.
    pub fn suggestions(&self) -> Vec<String> {
        self.repair().suggestions
    }

    /// The message on several lines, with the nest.
    pub fn text(&self) -> String {
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
                let why = self.refused.as_ref().or(self.limit.as_ref());
                let help = why.and_then(|why| why.help());
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
        lines.extend(
            help(violation, &repair, &self.nests, self.reductions)
                .map(|help| format!("  help: {help}")),
        );
        lines.join("\n")
    }
}
