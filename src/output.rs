//! What the command prints, and what becomes of it where that cannot be written.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

/// A line on standard error; a closed one is no reason to panic.
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

/// Whether standard output took what was written. Whoever closes a pipe wants no more.
///
/// # Errors
/// It did not, which was said: the exit code.
pub fn written(result: io::Result<()>) -> Result<(), ExitCode> {
    match result {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            say(&format!("error: cannot write to standard output: {error}"));
            Err(ExitCode::FAILURE)
        }
        _ => Ok(()),
    }
}

/// The exit code of a command that ends with this.
pub fn code(printed: Result<(), ExitCode>) -> ExitCode {
    printed.err().unwrap_or(ExitCode::SUCCESS)
}

/// The exit code of a command that somebody stopped.
pub fn stopped() -> ExitCode {
    ExitCode::from(teml::runtime::stopped_code())
}

/// Whether standard error is a terminal on which lines can be drawn again.
pub fn can_redraw() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
