//! Why a verb did nothing, in words: scripts add the line, programs and the REPL show it as it is.

use crate::codegen::{self, NoCode};
use crate::diag::{self, Diagnostic};
use crate::ir::Nest;
use crate::legality::{self, Reductions, Violation};
use crate::transform::{Repair, repair};
use crate::trial::{Blame, Equality, TrialError};

/// Why a verb did nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The problem, in one sentence without the name of the verb.
    pub what: String,
    /// Facts that help to understand it.
    pub notes: Vec<String>,
    /// How to solve it.
    pub help: Option<String>,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)?;
        let notes = self.notes.iter().map(|note| ("note", note));
        let mut more = notes.chain(self.help.iter().map(|help| ("help", help)));
        more.try_for_each(|(kind, text)| write!(f, "\n{kind}: {text}"))
    }
}

impl std::error::Error for Refusal {}

impl Refusal {
    /// A refusal with this reason.
    pub fn new(what: impl Into<String>) -> Refusal {
        Refusal {
            what: what.into(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Refusal {
        self.notes.push(note.into());
        self
    }

    /// Sets the help.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Refusal {
        self.maybe_help(Some(help.into()))
    }

    fn maybe_help(self, help: Option<String>) -> Refusal {
        Refusal {
            help: help.or(self.help),
            ..self
        }
    }

    /// As an error of `verb`.
    pub fn diagnostic(self, verb: &str) -> Diagnostic {
        Diagnostic {
            notes: self.notes,
            help: self.help,
            ..Diagnostic::error(format!("{verb}: {}", self.what))
        }
    }

    /// Illegal nests: the two statements that show the violation, the nest, the step at fault, and
    /// the legal alternatives.
    pub fn illegal(
        what: impl Into<String>,
        violation: &Violation,
        nests: &[Nest],
        reductions: Reductions,
    ) -> Refusal {
        let repair = repair(nests, violation, reductions);
        let notes = notes(violation, nests, &repair);
        let refusal = notes.into_iter().fold(Refusal::new(what), Refusal::note);
        refusal.maybe_help(help(violation, &repair, nests, reductions))
    }

    /// Nests for which there is no C.
    pub fn no_code(error: &NoCode, nests: &[Nest], reductions: Reductions) -> Refusal {
        let nests = &codegen::at_fault(nests, reductions);
        let refusal = Refusal::new(error.to_string());
        let refusal = match error {
            NoCode::Race { nest, race } => match nests.get(*nest) {
                Some(nest) => refusal.note(diag::in_nest(nest, std::slice::from_ref(&race.name))),
                None => refusal,
            },
            NoCode::Undecided(why) => {
                let nest = why.nest().and_then(|k| nests.get(k));
                match nest.or(nests.first().filter(|_| nests.len() == 1)) {
                    Some(nest) => refusal.note(diag::in_nest(nest, &why.culprits())),
                    None => refusal,
                }
            }
            NoCode::Device { nest, why } => match nests.get(*nest) {
                Some(nest) => refusal.note(diag::in_nest(nest, &why.loops())),
                None => refusal,
            },
            NoCode::Illegal(violation) => {
                return Refusal::illegal(error.to_string(), violation, nests, reductions)
                    .maybe_help(None);
            }
            _ => refusal,
        };
        refusal.maybe_help(error.help())
    }

    /// Variants that could not be tried.
    pub fn of_trial(error: TrialError, reductions: Reductions) -> Refusal {
        match error {
            TrialError::Code { label, nest, error } => {
                // The proof is for all sizes, also if the variant runs at some.
                let nests: Vec<Nest> = nest.iter().map(|n| n.with_sizes().clone()).collect();
                let error = match error {
                    NoCode::Race { race, .. } => NoCode::Race { nest: 0, race },
                    NoCode::Device { why, .. } => NoCode::Device { nest: 0, why },
                    other => other,
                };
                let refusal = Refusal::no_code(&error, &nests, reductions);
                refusal.note(format!("in the variant `{label}`"))
            }
            TrialError::Wrong {
                ref blame,
                ref label,
                ..
            } => {
                let refusal = Refusal::new(error.to_string());
                match blame {
                    Blame::Definition {
                        first,
                        is_text,
                        equality,
                    } => other_definition(refusal, label, (first, *is_text), equality),
                    Blame::Path => refusal.help(
                        "a step of this variant changes the meaning; compare shorter paths to find it",
                    ),
                    Blame::Compiler(version) => refusal
                        .note(format!(
                            "the C compiler miscompiles it: with -O1 the result is right ({version})"
                        ))
                        .help("`CC=clang` takes another compiler, `CFLAGS=-O1` fewer optimizations"),
                    Blame::Teml => refusal.help(
                        "teml proved this nest, so the mistake is in teml: please report it with the script",
                    ),
                }
            }
            other => Refusal::new(other.to_string()),
        }
    }
}

/// Facts about a violation.
pub(super) fn notes(violation: &Violation, nests: &[Nest], repair: &Repair) -> Vec<String> {
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

/// The legal alternatives, or general help if there are none.
pub(super) fn help(
    violation: &Violation,
    repair: &Repair,
    nests: &[Nest],
    reductions: Reductions,
) -> Option<String> {
    let steps = if repair.suggestions.is_empty() {
        violation.help()
    } else {
        Some(repair.suggestions.join("; "))
    };
    let sizes = at_some_sizes(violation, nests, reductions);
    let help: Vec<String> = steps.into_iter().chain(sizes).collect();
    (!help.is_empty()).then(|| help.join("; "))
}

/// The condition under which nests are legal, unless it is about empty and single iterations.
fn at_some_sizes(violation: &Violation, nests: &[Nest], reductions: Reductions) -> Option<String> {
    let Violation::AtSizes { .. } = violation else {
        return None;
    };
    let condition = legality::needs(nests, reductions).ok()?;
    let mut of = condition.of().iter();
    let is_of_some = of.all(|(_, of)| of.most.is_none_or(|most| most > 1));
    (!condition.is_empty() && is_of_some).then(|| {
        format!("it is legal where {condition}: `dispatch([plan], other)` runs it only there")
    })
}

/// Adds notes to the refusal of a variant whose definition and results differ from the first one's.
fn other_definition(
    refusal: Refusal,
    label: &str,
    (first, is_text): (&str, bool),
    equality: &Equality,
) -> Refusal {
    let refusal = if is_text {
        refusal.note(format!(
            "`{label}` is a text, and a text is its own definition"
        ))
    } else {
        refusal
    };
    match equality {
        Equality::Proved(_) => refusal,
        Equality::Refuted(why) => refusal
            .note(format!("proved different from `{first}`: {why}"))
            .help(format!(
                "they are two computations; `check({label}, {first})` proves two definitions equal, \
                 and `compare({label})` checks each by its own"
            )),
        Equality::Open(why) => refusal
            .note(format!("not proved different from `{first}`: {why}"))
            .help(format!(
                "at smaller sizes, `check({label}, {first})` proves two definitions equal or shows \
                 where they differ"
            )),
    }
}
