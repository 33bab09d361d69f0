//! Printing, and the exit code if the output cannot be written.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

/// Prints a line on standard error. Errors are ignored, since a closed stream must not cause a
/// panic.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Prints to standard output.
///
/// # Errors
/// As [`written`].
pub fn print(text: &str) -> Result<(), ExitCode> {
    let mut out = io::stdout();
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Handles the result of writing to standard output. A closed pipe is not an error: its reader
/// wants no more.
///
/// # Errors
/// The exit code, after the error was reported.
pub fn written(result: io::Result<()>) -> Result<(), ExitCode> {
    match result {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            say(&format!("error: cannot write to standard output: {error}"));
            Err(ExitCode::FAILURE)
        }
        _ => Ok(()),
    }
}

/// The exit code of a command that ends with this result.
pub fn code(printed: Result<(), ExitCode>) -> ExitCode {
    printed.err().unwrap_or(ExitCode::SUCCESS)
}

/// The exit code of a command that the user stopped.
pub fn stopped() -> ExitCode {
    ExitCode::from(teml::runtime::stopped_code())
}

/// The columns that tables and their notes may have: those of the terminal, if there is one.
pub fn columns() -> usize {
    teml::runtime::terminal_columns().unwrap_or(usize::MAX)
}

/// Whether standard error is a terminal whose lines can be redrawn.
pub fn can_redraw() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
