//! The terminal around the dialog: line editing, history, completion.

use super::{Outcome, Repl};
use crate::diag;
use crate::script::{self, Session};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper, Highlighter, Hinter};
use std::io::{BufRead, Error, ErrorKind, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Runs a dialog on standard input until it ends.
///
/// Whoever calls it sees to it that Ctrl-C during evaluation sets the session's interrupt flag;
/// while a line is edited, Ctrl-C discards the line.
///
/// # Errors
/// The terminal or the pipe fails.
pub fn run(session: Session) -> std::io::Result<()> {
    let repl = Repl::new(session);
    match std::io::stdin().is_terminal() {
        true => edited(repl).map_err(|error| match error {
            ReadlineError::Io(error) => error,
            other => std::io::Error::other(other),
        }),
        false => piped(repl),
    }
}

fn edited(repl: Repl) -> Result<(), ReadlineError> {
    let repl = Arc::new(Mutex::new(repl));
    let config = Config::builder()
        .auto_add_history(true)
        .completion_type(rustyline::CompletionType::List)
        .build();
    let mut editor: Editor<Assistant, DefaultHistory> = Editor::with_config(config)?;
    editor.set_helper(Some(Assistant { repl: repl.clone() }));
    let history = history_file();
    match &history {
        Some(path) => {
            if let Some(directory) = path.parent() {
                let _ = std::fs::create_dir_all(directory);
            }
            let opened = std::fs::OpenOptions::new()
                .append(true)
                .create(true)
                .open(path);
            match opened.map_err(ReadlineError::Io) {
                Ok(_) => drop(editor.load_history(path)),
                Err(error) => warn(&format!("history is not kept: {}: {error}", path.display())),
            }
        }
        None => warn("history is not kept: no directory for data is known"),
    }
    println!(
        "teml {}; :help for help, Ctrl-D to leave",
        env!("CARGO_PKG_VERSION")
    );
    loop {
        match editor.readline("teml> ") {
            Ok(line) => {
                // At once, so that a killed session loses nothing.
                if let Some(path) = &history {
                    let _ = editor.append_history(path);
                }
                let mut repl = repl.lock().unwrap_or_else(PoisonError::into_inner);
                if !handle(&mut repl, &line)? {
                    return Ok(());
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

fn piped(mut repl: Repl) -> std::io::Result<()> {
    let mut pending = String::new();
    for line in std::io::stdin().lock().lines() {
        pending.push_str(&line?);
        if script::is_incomplete(&pending) {
            pending.push('\n');
            continue;
        }
        if !handle(&mut repl, &pending)? {
            return Ok(());
        }
        pending.clear();
    }
    handle(&mut repl, &pending)?;
    Ok(())
}

/// Handles a line and shows what happened; `false` if the dialog ends.
fn handle(repl: &mut Repl, line: &str) -> std::io::Result<bool> {
    let outcome = repl.handle_line(line);
    let shown = repl.session().written().and_then(|()| show(outcome));
    match shown {
        // Whoever closes a pipe wants no more.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Error::new(
            error.kind(),
            format!("cannot write to standard output: {error}"),
        )),
        goes_on => goes_on,
    }
}

/// Shows what happened; `false` if the dialog ends.
fn show(outcome: Outcome) -> std::io::Result<bool> {
    match outcome {
        Outcome::Nothing => {}
        Outcome::Text(text) => {
            let mut out = std::io::stdout();
            writeln!(out, "{text}").and_then(|()| out.flush())?;
        }
        Outcome::Failed(error) => {
            let color = diag::color(std::io::stderr().is_terminal());
            let _ = write!(std::io::stderr(), "{}", error.render(color));
        }
        Outcome::Leave => return Ok(false),
    }
    Ok(true)
}

fn warn(message: &str) {
    let _ = writeln!(std::io::stderr(), "warning: {message}");
}

fn history_file() -> Option<PathBuf> {
    match std::env::var_os("TEML_HISTORY") {
        Some(path) => Some(path.into()),
        None => dirs::data_dir().map(|d| d.join("teml").join("history")),
    }
}

#[derive(Helper, Hinter, Highlighter)]
struct Assistant {
    repl: Arc<Mutex<Repl>>,
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        let text = context.input();
        let command = text.trim_start().starts_with(':');
        Ok(match !command && script::is_incomplete(text) {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Completer for Assistant {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let before = line.get(..position).unwrap_or(line);
        let mut start = word_start(before);
        if let Some(outer) = before[..start].strip_suffix("::") {
            start = word_start(outer);
        }
        let word = &before[start..];
        if word.is_empty() {
            return Ok((start, Vec::new()));
        }
        let repl = self.repl.lock().unwrap_or_else(PoisonError::into_inner);
        Ok((start, repl.completions(word)))
    }
}

/// Where the last word of a text starts.
fn word_start(text: &str) -> usize {
    let ends = |c: char| !(c == '_' || c.is_alphanumeric());
    text.char_indices()
        .rfind(|(_, c)| ends(*c))
        .map_or(0, |(k, c)| k + c.len_utf8())
}
