//! The terminal around the REPL: line editing, colors, hints, completion, history.

use super::history::History;
use super::later::Later;
use super::paint::Paint;
use super::{Outcome, Repl};
use crate::diag;
use crate::script::{ScriptError, Session};
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter};
use rustyline::history::DefaultHistory;
use rustyline::{ColorMode, Config, Context, Editor, Helper, Validator};
use std::borrow::Cow;
use std::io::{BufRead, Error, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs a REPL on standard input until it ends. `file` is run first, without its comparisons if
/// `is_quiet` is set. Returns whether no line failed, which matters if standard input is not a
/// terminal.
///
/// The prompt is shown while the session is still being opened, unless a file is run first.
///
/// Callers make sure that Ctrl-C during evaluation sets the session's interrupt flag. While a line
/// is edited, Ctrl-C discards the line.
///
/// # Errors
/// The session cannot be opened, or the terminal or the pipe fails.
pub fn run(
    open: impl FnOnce() -> Result<Session, ScriptError> + Send + 'static,
    file: Option<&Path>,
    is_quiet: bool,
) -> Result<bool, Broken> {
    let is_terminal = std::io::stdin().is_terminal();
    let color = is_terminal && diag::color(std::io::stdout().is_terminal());
    let open = move || {
        let mut repl = Repl::new(open()?);
        repl.look(super::WIDTH, color);
        Ok(repl)
    };
    let Some(file) = file else {
        return if is_terminal {
            edited(Later::opening(open)?, color)
        } else {
            Ok(piped(open()?)?)
        };
    };
    let mut repl = open()?;
    let loaded = repl.load(file, is_quiet).unwrap_or_else(Outcome::Failed);
    let failed = matches!(loaded, Outcome::Failed(_));
    shown(&repl, loaded)?;
    match is_terminal {
        true => edited(Later::open(repl), color),
        false if failed => Ok(false),
        false => Ok(piped(repl)?),
    }
}

/// Why a REPL ends with an error.
#[derive(Debug)]
pub enum Broken {
    /// There is no session.
    Session(Box<ScriptError>),
    /// The terminal or the pipe fails.
    Terminal(Error),
}

impl From<ScriptError> for Broken {
    fn from(error: ScriptError) -> Broken {
        Broken::Session(Box::new(error))
    }
}

impl From<Error> for Broken {
    fn from(error: Error) -> Broken {
        Broken::Terminal(error)
    }
}

impl From<ReadlineError> for Broken {
    fn from(error: ReadlineError) -> Broken {
        Broken::Terminal(match error {
            ReadlineError::Io(error) => error,
            other => Error::other(other),
        })
    }
}

const PROMPT: &str = "teml> ";

/// As wide as the prompt.
const GOES_ON: &str = "  ... ";

fn edited(dialog: Later, has_color: bool) -> Result<bool, Broken> {
    let dialog = Arc::new(dialog);
    let columns = Arc::new(AtomicUsize::new(super::WIDTH));
    let config = Config::builder()
        .completion_type(rustyline::CompletionType::List)
        .color_mode(if has_color {
            ColorMode::Enabled
        } else {
            ColorMode::Disabled
        })
        .build();
    let mut editor: Editor<Assistant, DefaultHistory> = Editor::with_config(config)?;
    editor.set_helper(Some(Assistant {
        dialog: dialog.clone(),
        columns: columns.clone(),
        paint: Paint(has_color),
    }));
    let history = History::open(&mut editor);
    println!(
        "teml {}; :help for help, :tutorial to learn it, Ctrl-D to leave",
        env!("CARGO_PKG_VERSION")
    );
    let mut pending = String::new();
    loop {
        if let Some((now, _)) = editor.dimensions() {
            columns.store(usize::from(now), Ordering::Relaxed);
        }
        let read = if pending.is_empty() {
            editor.readline(PROMPT)
        } else {
            let indent = " ".repeat(indent(&pending));
            let read = editor.readline_with_initial(GOES_ON, (&indent, ""));
            read.map(|line| outdented(&line, &indent))
        };
        match read {
            Ok(line) => {
                if !pending.is_empty() {
                    pending.push('\n');
                }
                pending.push_str(&line);
                if Repl::goes_on(&pending) {
                    continue;
                }
                let line = std::mem::take(&mut pending);
                history.keep(&mut editor, &line);
                let rows = editor
                    .dimensions()
                    .map_or(usize::MAX, |(_, rows)| rows.into());
                let handled = dialog.with(|repl| {
                    repl.look(columns.load(Ordering::Relaxed), has_color);
                    match (repl.handle_line(&line), is_help(&line)) {
                        (Outcome::Text(text), true) if text.lines().count() >= rows => paged(&text),
                        (outcome, _) => shown(repl, outcome),
                    }
                });
                match (handled.transpose()?, dialog.failure()) {
                    (Some(true), _) => {}
                    (None, Some(error)) => return Err(error.into()),
                    (Some(false) | None, _) => return Ok(true),
                }
            }
            Err(ReadlineError::Interrupted) => pending.clear(),
            Err(ReadlineError::Eof) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
}

/// How far the next line is indented: by two spaces for each bracket that is open.
fn indent(text: &str) -> usize {
    let scanned = crate::script::scan(text);
    let depth = (0..scanned.tokens.len()).fold(0usize, |depth, k| match scanned.text(text, k) {
        "(" | "[" | "{" | "#{" => depth + 1,
        ")" | "]" | "}" => depth.saturating_sub(1),
        _ => depth,
    });
    2 * depth
}

/// A line behind the indentation that was put there: pasted lines bring their own, and closing
/// brackets go back.
fn outdented(line: &str, indent: &str) -> String {
    let Some(typed) = line.strip_prefix(indent) else {
        return line.to_owned();
    };
    let closes = typed.starts_with([')', ']', '}']);
    match typed.starts_with(' ') {
        true => typed.to_owned(),
        false if closes => format!("{}{typed}", &indent[indent.len().min(2)..]),
        false => line.to_owned(),
    }
}

/// Whether a line asks for help, which can be longer than a screen.
fn is_help(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('?') || [":h", ":se"].iter().any(|begin| line.starts_with(begin))
}

/// Shows a text that is longer than the screen: in the program that PAGER names, or in `less`, which
/// leaves the last screen there. Without either, all of it.
fn paged(text: &str) -> std::io::Result<bool> {
    let pager = std::env::var("PAGER")
        .ok()
        .filter(|pager| !pager.is_empty());
    let pager = pager.unwrap_or_else(|| "less -FRX".to_owned());
    let mut words = pager.split_whitespace();
    let started = words.next().map(|program| {
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::piped()).spawn()
    });
    let Some(Ok(mut child)) = started else {
        return show(Outcome::Text(text.to_owned()));
    };
    if let Some(mut input) = child.stdin.take() {
        // Whoever leaves the pager early wants no more.
        let _ = writeln!(input, "{text}");
    }
    child.wait().map(|_| true)
}

fn piped(mut repl: Repl) -> std::io::Result<bool> {
    let mut pending = String::new();
    for line in std::io::stdin().lock().lines() {
        pending.push_str(&line?);
        if Repl::goes_on(&pending) {
            pending.push('\n');
            continue;
        }
        if !handle(&mut repl, &pending)? {
            return Ok(!repl.has_failed());
        }
        pending.clear();
    }
    handle(&mut repl, &pending)?;
    Ok(!repl.has_failed())
}

/// Handles a line and shows its outcome; `false` if the REPL ends.
fn handle(repl: &mut Repl, line: &str) -> std::io::Result<bool> {
    let outcome = repl.handle_line(line);
    shown(repl, outcome)
}

/// Shows the printed text and the outcome; `false` if the REPL ends.
fn shown(repl: &Repl, outcome: Outcome) -> std::io::Result<bool> {
    match repl.session().written().and_then(|()| show(outcome)) {
        // Whoever closes a pipe wants no more.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Error::new(
            error.kind(),
            format!("cannot write to standard output: {error}"),
        )),
        goes_on => goes_on,
    }
}

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

#[derive(Helper, Validator)]
struct Assistant {
    dialog: Arc<Later>,
    columns: Arc<AtomicUsize>,
    paint: Paint,
}

impl Completer for Assistant {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = line.get(..position).unwrap_or(line);
        let Some(found) = self.dialog.with(|repl| repl.completion(before, true)) else {
            return Ok((position, Vec::new()));
        };
        let pair = |c: super::Candidate| Pair {
            display: c.text.clone(),
            replacement: c.text,
        };
        Ok((
            found.start,
            found.candidates.into_iter().map(pair).collect(),
        ))
    }
}

/// A hint: the text that the right arrow completes, and text that is only shown.
struct Remainder {
    shown: String,
    completes: usize,
}

impl Hint for Remainder {
    fn display(&self) -> &str {
        &self.shown
    }

    fn completion(&self) -> Option<&str> {
        match self.completes {
            0 => None,
            length => self.shown.get(..length),
        }
    }
}

impl Hinter for Assistant {
    type Hint = Remainder;

    fn hint(&self, line: &str, position: usize, _context: &Context<'_>) -> Option<Remainder> {
        if position < line.len() || line.is_empty() {
            return None;
        }
        // Without colors, it would look as if it were typed.
        if !self.paint.0 {
            return None;
        }
        let (rest, about) = self.dialog.with(|repl| repl.hint(line)).flatten()?;
        // A hint that wraps would move the line.
        let last = line.lines().last().unwrap_or("");
        let used = PROMPT.len() + last.chars().count() + 1;
        let width = self.columns.load(Ordering::Relaxed);
        let room = width.checked_sub(used).filter(|room| *room > 4)?;
        let shown: String = rest.chars().chain(about.chars()).take(room).collect();
        let completes = rest.len().min(shown.len());
        (!shown.is_empty()).then_some(Remainder { shown, completes })
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, _position: usize) -> Cow<'l, str> {
        if line.trim_start().starts_with([':', '?']) {
            Cow::Owned(self.paint.bold(line))
        } else {
            Cow::Owned(self.paint.script(line))
        }
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(
        &'s self,
        prompt: &'p str,
        _is_default: bool,
    ) -> Cow<'b, str> {
        Cow::Owned(self.paint.faint(prompt))
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(self.paint.faint(hint))
    }

    fn highlight_char(&self, _line: &str, _position: usize, kind: CmdKind) -> bool {
        kind != CmdKind::MoveCursor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_go_on_are_indented() {
        assert_eq!(indent("let f = |x| {"), 2);
        assert_eq!(indent("f([1, {"), 6);
        assert_eq!(outdented("  x + 1", "  "), "  x + 1");
        assert_eq!(outdented("    x + 1", "  "), "  x + 1");
        assert_eq!(outdented("  }", "  "), "}");
    }
}
