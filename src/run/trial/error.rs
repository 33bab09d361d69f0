//! The errors of trials, and who is to blame.

use super::Equality;
use crate::codegen::NoCode;
use crate::interp::Fault;
use crate::ir::{Condition, Name, Nest};
use crate::runtime::RuntimeError;

/// Why a trial ended without times.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// There is nothing to compare.
    #[error("there is nothing to compare")]
    Nothing,
    /// There is no C for a variant.
    #[error("`{label}` has no code: {error}")]
    Code {
        label: String,
        /// Its nest at fault.
        nest: Option<Nest>,
        error: NoCode,
    },
    /// The definition has no value.
    #[error("`{label}` has no reference: {fault}")]
    Fault { label: String, fault: Fault },
    /// A variant would run at a size that it is not for.
    #[error("`{label}` is for {accepted}, and not for {name} = {value}; nothing was timed")]
    OtherSizes {
        label: String,
        /// The sizes that it is for.
        accepted: Condition,
        name: Name,
        value: i64,
    },
    /// Variants compute different results.
    #[error("`{first}` computes {first_results}, but `{second}` computes {second_results}")]
    ResultsDiffer {
        /// The first variant.
        first: String,
        first_results: String,
        /// The other one.
        second: String,
        second_results: String,
    },
    /// A result is wrong.
    #[error("{}: {comparison}; nothing was timed", wrong(label, tensor, blame))]
    Wrong {
        label: String,
        tensor: String,
        /// The first difference, and its size.
        comparison: String,
        /// The cause.
        blame: Blame,
    },
    /// A process on another machine failed.
    #[error("{why}")]
    Elsewhere {
        /// The defect that it found in a variant; `None` if the process itself failed.
        defect: Option<Defect>,
        why: String,
    },
    /// Compiling, running or measuring failed.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
}

/// The cause of a wrong result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blame {
    /// A step of the path, which was not proved.
    Path,
    /// The variant has another definition than the first one.
    Definition {
        first: String,
        /// Whether a text is its definition.
        is_text: bool,
        /// The relation of both definitions.
        equality: Equality,
    },
    /// The C compiler, of this version: without its optimizations the result is right.
    Compiler(String),
    /// teml, which proved the nest.
    Teml,
}

/// The message for a wrong result.
fn wrong(label: &str, tensor: &str, blame: &Blame) -> String {
    match blame {
        Blame::Definition { first, .. } => format!(
            "`{label}` and `{first}` have different definitions, and {tensor} is not the same"
        ),
        _ => format!("`{label}` computes a wrong {tensor}"),
    }
}

impl TrialError {
    /// Whether the compiler got a kernel wrong.
    pub fn is_of_compiler(&self) -> bool {
        let TrialError::Wrong { blame, .. } = self else {
            return false;
        };
        matches!(blame, Blame::Compiler(_))
    }

    /// The defect of a variant; `None` if the error would affect every variant.
    pub fn defect(&self) -> Option<Defect> {
        use RuntimeError::{
            CompileFailed, CompileTimedOut, CompilerKilled, Crashed, Device, Exited, OutOfBounds,
            TimedOut, Unstable,
        };
        match self {
            TrialError::Code { .. } => Some(Defect::NoCode),
            TrialError::Wrong { .. } => Some(Defect::Wrong),
            TrialError::Elsewhere { defect, .. } => *defect,
            TrialError::Runtime(error) => match error {
                CompileFailed { .. } | CompileTimedOut { .. } | CompilerKilled { .. } => {
                    Some(Defect::NotCompiled)
                }
                Crashed { .. } | Exited { .. } | OutOfBounds { .. } => Some(Defect::Crashed),
                Device { failure, .. } if !failure.is_absent => Some(Defect::Crashed),
                TimedOut { .. } => Some(Defect::Hung),
                Unstable { .. } => Some(Defect::Wrong),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Why a variant has no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// There is no code: it is illegal, or its proof exceeds the budget.
    NoCode,
    /// The compiler fails.
    NotCompiled,
    /// It crashed, wrote out of bounds, or a device failed with it.
    Crashed,
    /// It exceeded the time limit.
    Hung,
    /// Its results are wrong.
    Wrong,
}

impl Defect {
    const WORDS: [(&str, Defect); 5] = [
        ("no code", Defect::NoCode),
        ("not compiled", Defect::NotCompiled),
        ("crashed", Defect::Crashed),
        ("hung", Defect::Hung),
        ("wrong", Defect::Wrong),
    ];

    /// Its word in records.
    pub fn word(self) -> &'static str {
        let found = Defect::WORDS.iter().find(|(_, defect)| *defect == self);
        found.map_or("", |(word, _)| word)
    }

    /// The defect that records denote by this word.
    pub fn from_word(word: &str) -> Option<Defect> {
        let found = Defect::WORDS.iter().find(|(w, _)| *w == word);
        found.map(|(_, defect)| *defect)
    }
}
