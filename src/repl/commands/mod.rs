//! The commands: lines that begin with `:`.
//!
//! To add one, write its function and one line in the table of a group.

mod advise;
mod explore;
mod help;
mod keep;
mod see;

use super::{Outcome, Repl};
use crate::diag::Diagnostic;
use crate::script::ScriptError;
use crate::transform::closest;

/// A command.
pub struct Command {
    /// Its name, without the colon.
    pub name: &'static str,
    /// Its arguments, for help.
    pub arguments: &'static str,
    /// Its effect, in one sentence.
    pub help: &'static str,
    /// The kind of argument that completion offers.
    pub completes: Completes,
    /// Does it. The text after the name is an argument.
    pub call: fn(&mut Repl, &str) -> Reply,
}

/// The reply of a command.
pub type Reply = Result<Outcome, Box<ScriptError>>;

/// The kind of argument that completion offers for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completes {
    /// Nothing.
    Nothing,
    /// A variable that holds a nest.
    Nest,
    /// A loop of the present nest.
    Loop,
    /// A file.
    File,
    /// A branch.
    Branch,
    /// A kernel that comes with the tool.
    Kernel,
    /// A topic of help, a command or a function.
    Topic,
}

/// A group of commands: its topic, its purpose and its table.
pub struct Group {
    /// The topic.
    pub topic: &'static str,
    /// The purpose of its commands.
    pub about: &'static str,
    /// The commands.
    pub commands: &'static [Command],
}

/// All commands.
pub static GROUPS: &[Group] = &[
    Group {
        topic: "seeing",
        about: "look at a nest",
        commands: see::COMMANDS,
    },
    Group {
        topic: "exploring",
        about: "try steps, check and time them, go back",
        commands: explore::COMMANDS,
    },
    Group {
        topic: "keeping",
        about: "load and save",
        commands: keep::COMMANDS,
    },
    Group {
        topic: "help",
        about: "find things",
        commands: help::COMMANDS,
    },
];

/// Every command.
pub fn all() -> impl Iterator<Item = &'static Command> {
    GROUPS.iter().flat_map(|group| group.commands)
}

/// The commands that a word may mean: the command of that name, or all commands that begin with it.
pub fn named(word: &str) -> Vec<&'static Command> {
    match all().find(|command| command.name == word) {
        Some(command) => vec![command],
        None => all().filter(|c| c.name.starts_with(word)).collect(),
    }
}

/// Runs a line without its colon.
pub fn run(repl: &mut Repl, line: &str) -> Reply {
    let line = line.trim();
    let end = line
        .find(|c: char| !c.is_alphanumeric())
        .unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let name = match name {
        "q" | "exit" => "quit",
        "" | "h" => "help",
        name => name,
    };
    match named(name).as_slice() {
        [command] => (command.call)(repl, rest.trim()),
        [] => {
            let names = all().map(|c| c.name);
            let help = match closest(name, names) {
                Some(near) => format!("did you mean `:{near}`?"),
                None => ":help lists all commands".to_owned(),
            };
            Err(failed_with(format!("`:{name}` is not a command"), help))
        }
        several => {
            let names: Vec<String> = several.iter().map(|c| format!("`:{}`", c.name)).collect();
            Err(failed(format!(
                "`:{name}` is short for several commands: {}",
                names.join(", ")
            )))
        }
    }
}

/// An error of a command.
pub fn failed(message: impl Into<String>) -> Box<ScriptError> {
    of_diagnostic(Diagnostic::error(message))
}

/// An error of a command, with help.
pub fn failed_with(message: impl Into<String>, help: impl Into<String>) -> Box<ScriptError> {
    of_diagnostic(Diagnostic::error(message).help(Some(help.into())))
}

fn of_diagnostic(diagnostic: Diagnostic) -> Box<ScriptError> {
    Box::new(ScriptError::of(diagnostic))
}

/// The parts of a text between commas that are in no brackets and no strings.
pub fn parts(text: &str) -> Vec<&str> {
    let scanned = crate::script::scan(text);
    let (mut depth, mut start) = (0usize, 0);
    let mut parts = Vec::new();
    for (k, token) in scanned.tokens.iter().enumerate() {
        match scanned.text(text, k) {
            "(" | "[" | "{" | "#{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            "," if depth == 0 => {
                parts.push(text[start..token.range.start].trim());
                start = token.range.end;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}
