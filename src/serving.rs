//! `teml serve`: a session for another program, which writes requests to standard input and reads
//! answers from standard output, a line of JSON each.

use crate::output::{say, stopped};
use crate::{GRACE_OF_REPL, stop_on_ctrl_c};
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use teml::runtime::{self, Compiler};
use teml::script::{Served, Session};
use teml::verbs::Workbench;

/// Text that scripts print, as answers before the last one of a request.
struct Printed;

impl Write for Printed {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let line = serde_json::json!({ "print": String::from_utf8_lossy(text) });
        writeln!(io::stdout(), "{line}")?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

/// Answers requests until there are no more.
pub fn serve(workbench: Workbench) -> ExitCode {
    stop_on_ctrl_c(&workbench.control, GRACE_OF_REPL);
    let output = io::LineWriter::new(Printed);
    // Kernels need the compiler, and looking for it takes a while. Errors show when it is needed.
    let control = workbench.control.clone();
    std::thread::spawn(move || drop(Compiler::find(&control)));
    let mut served = match Session::new(Box::new(output), workbench) {
        Ok(session) => Served::new(session),
        Err(error) => return super::fail(&error),
    };
    for request in io::stdin().lock().lines() {
        let written = request.and_then(|request| {
            let answer = served.answer(&request);
            let mut out = io::stdout().lock();
            writeln!(out, "{answer}")?;
            out.flush()
        });
        if let Err(error) = written {
            say(&format!("error: {error}"));
            return ExitCode::FAILURE;
        }
        if runtime::ended_by().is_some() {
            return stopped();
        }
    }
    ExitCode::SUCCESS
}
