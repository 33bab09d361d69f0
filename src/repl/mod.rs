//! The dialog: lines in, results out.
//!
//! [`Repl`] is the dialog without a terminal: it takes lines and says what happened. The
//! terminal around it, with editing and history, is in [`run`].

mod terminal;

pub use terminal::run;

use crate::diag::Diagnostic;
use crate::script::{ScriptError, Session};

/// A dialog.
pub struct Repl {
    session: Session,
}

/// What a line led to.
#[derive(Debug)]
pub enum Outcome {
    /// There is nothing to show.
    Nothing,
    /// Text to show.
    Text(String),
    /// The line failed, and the session is as it was before.
    Failed(Box<ScriptError>),
    /// The user wants to leave.
    Leave,
}

const HELP: &str = "\
:help           this text
:help NAME      what a function does
:vars           the variables
:quit           leave (Ctrl-D does too)

Anything else is a line of a script. A line goes on while a bracket or a string is open.";

impl Repl {
    /// A dialog on `session`.
    pub fn new(session: Session) -> Repl {
        Repl { session }
    }

    /// The session behind the dialog.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Handles a line, which may hold line ends.
    pub fn handle_line(&mut self, line: &str) -> Outcome {
        let line = line.trim_end();
        match line.trim_start().strip_prefix(':') {
            Some(command) => self.command(command),
            None if line.trim().is_empty() => Outcome::Nothing,
            None => match self.session.eval_line(line) {
                Ok(Some(text)) => Outcome::Text(text),
                Ok(None) => Outcome::Nothing,
                Err(error) => Outcome::Failed(Box::new(error)),
            },
        }
    }

    fn command(&mut self, command: &str) -> Outcome {
        let mut words = command.split_whitespace();
        match (words.next().unwrap_or(""), words.next()) {
            ("quit" | "q" | "exit", None) => Outcome::Leave,
            ("help" | "h" | "?", None) => Outcome::Text(self.overview()),
            ("help" | "h" | "?", Some(name)) => match self.session.help(name) {
                Some(text) => Outcome::Text(text),
                None => failed(format!("there is no help on `{name}`")),
            },
            ("vars", None) => Outcome::Text(self.variables()),
            _ => failed(format!("`:{command}` is no command; :help lists them")),
        }
    }

    fn overview(&self) -> String {
        let mut names: Vec<String> = self.session.functions().into_iter().map(|f| f.0).collect();
        names.sort();
        names.dedup();
        let mut text = format!("{HELP}\n\nFunctions:");
        let mut width = usize::MAX;
        for name in names {
            if width > 70 {
                text.push_str("\n ");
                width = 1;
            }
            width += name.len() + 1;
            text.push(' ');
            text.push_str(&name);
        }
        text
    }

    fn variables(&self) -> String {
        let lines: Vec<String> = self
            .session
            .variables()
            .into_iter()
            .filter_map(|name| {
                let value = self.session.show_variable(&name)?;
                Some(format!("{name} = {value}"))
            })
            .collect();
        match lines.is_empty() {
            true => "no variables yet".to_owned(),
            false => lines.join("\n"),
        }
    }

    /// The names that start with `start`, for completion.
    pub fn completions(&self, start: &str) -> Vec<String> {
        let functions = self.session.functions().into_iter().map(|(name, _)| name);
        let mut names: Vec<String> = functions
            .chain(self.session.variables())
            .filter(|name| name.starts_with(start))
            .collect();
        names.sort();
        names.dedup();
        names
    }
}

fn failed(message: String) -> Outcome {
    Outcome::Failed(Box::new(ScriptError {
        diagnostic: Diagnostic::error(message),
        sources: Default::default(),
        interrupted: false,
    }))
}
