//! Errors of commands.

use crate::diag::Diagnostic;
use crate::script::ScriptError;

/// An error of a command.
pub fn failed(message: impl Into<String>) -> Box<ScriptError> {
    of_diagnostic(Diagnostic::error(message))
}

/// An error of a command, and what to do about it.
pub fn failed_with(message: impl Into<String>, help: impl Into<String>) -> Box<ScriptError> {
    of_diagnostic(Diagnostic::error(message).help(Some(help.into())))
}

fn of_diagnostic(diagnostic: Diagnostic) -> Box<ScriptError> {
    Box::new(ScriptError::of(diagnostic))
}
