//! The lines that were typed, in this session and in earlier ones.

use rustyline::history::DefaultHistory;
use rustyline::{
    Cmd, ConditionalEventHandler, Editor, Event, EventContext, EventHandler, Helper, KeyCode,
    KeyEvent, Modifiers, RepeatCount,
};
use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The lines of this session and of earlier ones.
pub(super) struct History {
    file: Option<PathBuf>,
    /// All of them, to tell a recalled line from one that is being typed.
    known: Arc<Mutex<HashSet<String>>>,
}

impl History {
    pub(super) fn open<H: Helper>(editor: &mut Editor<H, DefaultHistory>) -> History {
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
    pub(super) fn keep<H: Helper>(&self, editor: &mut Editor<H, DefaultHistory>, line: &str) {
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

/// The arrow keys. With typed text, they find lines that begin with it. Otherwise they move through
/// the lines of a text, and then through all lines.
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

fn warn(message: &str) {
    let _ = writeln!(std::io::stderr(), "warning: {message}");
}
