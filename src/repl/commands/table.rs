//! Tables of commands.

use crate::repl::{Repl, Reply};

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

/// A group of commands: its topic, what it is for, and its table.
pub struct Group {
    /// The topic.
    pub topic: &'static str,
    /// The purpose of its commands.
    pub about: &'static str,
    /// The commands.
    pub commands: &'static [Command],
}

/// Groups of commands.
#[derive(Clone, Copy)]
pub struct Table(pub &'static [Group]);

impl Table {
    /// Every command.
    pub fn all(self) -> impl Iterator<Item = &'static Command> {
        self.0.iter().flat_map(|group| group.commands)
    }

    /// The commands that a word may mean: the command of that name, or all commands that begin with it.
    pub fn named(self, word: &str) -> Vec<&'static Command> {
        match self.all().find(|command| command.name == word) {
            Some(command) => vec![command],
            None => self.all().filter(|c| c.name.starts_with(word)).collect(),
        }
    }
}
