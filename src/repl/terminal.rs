//! The terminal around the dialog: line editing, colors, hints, completion, history.

use super::{Outcome, Repl};
use crate::diag;
use crate::script::Session;
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter};
use rustyline::history::DefaultHistory;
use rustyline::{
    Cmd, ColorMode, ConditionalEventHandler, Config, Context, Editor, Event, EventContext,
    EventHandler, Helper, KeyCode, KeyEvent, Modifiers, RepeatCount, Validator,
};
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{BufRead, Error, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Runs a dialog on standard input until it ends; `file` is run first, without its comparisons if
/// `is_quiet` is set. Returns whether no line failed, which counts where nobody sits at a terminal.
///
/// Whoever calls it sees to it that Ctrl-C during evaluation sets the session's interrupt flag;
/// while a line is edited, Ctrl-C discards the line.
///
/// # Errors
/// The terminal or the pipe fails.
pub fn run(session: Session, file: Option<&Path>, is_quiet: bool) -> std::io::Result<bool> {
    let mut repl = Repl::new(session);
    let is_terminal = std::io::stdin().is_terminal();
    if is_terminal {
        repl.look(super::WIDTH, diag::color(std::io::stdout().is_terminal()));
    }
    if let Some(file) = file {
        let loaded = repl.load(file, is_quiet).unwrap_or_else(Outcome::Failed);
        let failed = matches!(loaded, Outcome::Failed(_));
        shown(&repl, loaded)?;
        if failed && !is_terminal {
            return Ok(false);
        }
    }
    match is_terminal {
        true => edited(repl).map_err(|error| match error {
            ReadlineError::Io(error) => error,
            other => std::io::Error::other(other),
        }),
        false => piped(repl),
    }
}

const PROMPT: &str = "teml> ";

/// As wide as the prompt.
const GOES_ON: &str = "  ... ";

fn edited(repl: Repl) -> Result<bool, ReadlineError> {
    let has_color = repl.paint.0;
    let repl = Arc::new(Mutex::new(repl));
    let config = Config::builder()
        .completion_type(rustyline::CompletionType::List)
        .color_mode(match has_color {
            true => ColorMode::Enabled,
            false => ColorMode::Disabled,
        })
        .build();
    let mut editor: Editor<Assistant, DefaultHistory> = Editor::with_config(config)?;
    editor.set_helper(Some(Assistant { repl: repl.clone() }));
    let history = History::open(&mut editor);
    println!(
        "teml {}; :help for help, :tutorial to learn it, Ctrl-D to leave",
        env!("CARGO_PKG_VERSION")
    );
    let mut pending = String::new();
    loop {
        if let Some((columns, _)) = editor.dimensions() {
            lock(&repl).look(usize::from(columns), has_color);
        }
        let read = match pending.is_empty() {
            true => editor.readline(PROMPT),
            false => {
                let indent = " ".repeat(indent(&pending));
                let read = editor.readline_with_initial(GOES_ON, (&indent, ""));
                read.map(|line| outdented(&line, &indent))
            }
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
                if !handle(&mut lock(&repl), &line)? {
                    return Ok(true);
                }
            }
            Err(ReadlineError::Interrupted) => pending.clear(),
            Err(ReadlineError::Eof) => return Ok(true),
            Err(error) => return Err(error),
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

/// Handles a line and shows what happened; `false` if the dialog ends.
fn handle(repl: &mut Repl, line: &str) -> std::io::Result<bool> {
    let outcome = repl.handle_line(line);
    shown(repl, outcome)
}

/// Shows what was printed and what happened; `false` if the dialog ends.
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

fn warn(message: &str) {
    let _ = writeln!(std::io::stderr(), "warning: {message}");
}

fn lock(repl: &Mutex<Repl>) -> MutexGuard<'_, Repl> {
    repl.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lines of this session and of earlier ones.
struct History {
    file: Option<PathBuf>,
    /// All of them, to tell a recalled line from one that is being typed.
    known: Arc<Mutex<HashSet<String>>>,
}

impl History {
    fn open(editor: &mut Editor<Assistant, DefaultHistory>) -> History {
        let file = match std::env::var_os("TEML_HISTORY") {
            Some(path) => Some(PathBuf::from(path)),
            None => dirs::data_dir().map(|d| d.join("teml").join("history")),
        };
        match &file {
            Some(path) => {
                if let Some(directory) = path.parent() {
                    let _ = std::fs::create_dir_all(directory);
                }
                let mut options = std::fs::OpenOptions::new();
                match options.append(true).create(true).open(path) {
                    Ok(_) => drop(editor.load_history(path)),
                    Err(error) => {
                        warn(&format!("history is not kept: {}: {error}", path.display()))
                    }
                }
            }
            None => warn("history is not kept: no directory for data is known"),
        }
        let lines = editor.history().into_iter().map(|line| line.to_string());
        let known = Arc::new(Mutex::new(lines.collect::<HashSet<String>>()));
        for (key, is_up) in [(KeyCode::Up, true), (KeyCode::Down, false)] {
            let known = known.clone();
            let recall = Recall { known, is_up };
            let event = Event::from(KeyEvent(key, Modifiers::NONE));
            editor.bind_sequence(event, EventHandler::Conditional(Box::new(recall)));
        }
        History { file, known }
    }

    /// Keeps a line at once, so that a killed session loses nothing.
    fn keep(&self, editor: &mut Editor<Assistant, DefaultHistory>, line: &str) {
        if line.trim().is_empty() || !editor.add_history_entry(line).unwrap_or(false) {
            return;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(line.to_owned());
        if let Some(path) = &self.file {
            let _ = editor.append_history(path);
        }
    }
}

/// The arrows: in what is typed, they find lines that begin with it; otherwise they go through the
/// lines of a text, and then through all lines.
struct Recall {
    known: Arc<Mutex<HashSet<String>>>,
    is_up: bool,
}

impl ConditionalEventHandler for Recall {
    fn handle(
        &self,
        _: &Event,
        count: RepeatCount,
        _: bool,
        context: &EventContext,
    ) -> Option<Cmd> {
        let (line, position) = (context.line(), context.pos());
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_typed = !line.is_empty() && !line.contains('\n') && !known.contains(line);
        let is_found = known.contains(line) && position > 0 && position < line.len();
        Some(match (is_typed || is_found, self.is_up) {
            (true, true) => Cmd::HistorySearchBackward,
            (true, false) => Cmd::HistorySearchForward,
            (false, true) => Cmd::LineUpOrPreviousHistory(count),
            (false, false) => Cmd::LineDownOrNextHistory(count),
        })
    }
}

#[derive(Helper, Validator)]
struct Assistant {
    repl: Arc<Mutex<Repl>>,
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
        let found = lock(&self.repl).completion(before, true);
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

/// A hint: what the arrow to the right completes, and what is only shown.
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
        let mut repl = lock(&self.repl);
        // Without colors, it would look as if it were typed.
        if !repl.paint.0 {
            return None;
        }
        let (rest, about) = repl.hint(line)?;
        // A hint that wraps would move the line.
        let last = line.lines().last().unwrap_or("");
        let used = PROMPT.len() + last.chars().count() + 1;
        let room = repl.width().checked_sub(used).filter(|room| *room > 4)?;
        let shown: String = rest.chars().chain(about.chars()).take(room).collect();
        let completes = rest.len().min(shown.len());
        (!shown.is_empty()).then_some(Remainder { shown, completes })
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, _position: usize) -> Cow<'l, str> {
        let repl = lock(&self.repl);
        match line.trim_start().starts_with([':', '?']) {
            true => Cow::Owned(repl.paint.bold(line)),
            false => Cow::Owned(repl.paint.script(line)),
        }
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(
        &'s self,
        prompt: &'p str,
        _is_default: bool,
    ) -> Cow<'b, str> {
        Cow::Owned(lock(&self.repl).paint.faint(prompt))
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(lock(&self.repl).paint.faint(hint))
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
