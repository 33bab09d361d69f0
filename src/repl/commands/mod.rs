//! The commands: lines that begin with `:`.
//!
//! To add one, write its function and one line in the table of a group.

mod advise;
mod explore;
mod help;
mod keep;
mod see;
mod table;

pub use table::{Completes, Table};

use super::failure::{failed, failed_with};
use super::{Outcome, Repl, Reply, tutorial};
use crate::transform::closest;
use table::{Command, Group};

/// All commands.
pub static TABLE: Table = Table(&[
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
        commands: HELP,
    },
]);

/// Commands that help. They are here since help lists all commands.
static HELP: &[Command] = &[
    Command {
        name: "help",
        arguments: "[TOPIC]",
        help: "this overview, or what is known about a topic, a command or a function; `?name` is \
               short for it",
        completes: Completes::Topic,
        call: |repl, rest| help::help(TABLE, repl, rest),
    },
    Command {
        name: "search",
        arguments: "WORD",
        help: "commands and functions whose help has a word",
        completes: Completes::Nothing,
        call: |repl, rest| help::search(TABLE, repl, rest),
    },
    Command {
        name: "tutorial",
        arguments: "[stop]",
        help: "learn teml in twelve lines that you type",
        completes: Completes::Nothing,
        call: tutorial::command,
    },
    Command {
        name: "quit",
        arguments: "",
        help: "leave (Ctrl-D does too)",
        completes: Completes::Nothing,
        call: |_, _| Ok(Outcome::Leave),
    },
];

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
    match TABLE.named(name).as_slice() {
        [command] => (command.call)(repl, rest.trim()),
        [] => {
            let names = TABLE.all().map(|c| c.name);
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
