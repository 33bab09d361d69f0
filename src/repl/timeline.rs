//! The lines typed so far and the states behind them: undo, redo and branches.

use crate::ir::Nest;
use crate::script::Checkpoint;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The nest that commands without an argument are about: its name, and the nests that run in order.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its name.
    pub name: String,
    /// At least one.
    pub nests: Vec<Nest>,
}

/// A line that changed something, and the state behind it.
pub struct Moment {
    /// The line; none at the beginning.
    pub text: String,
    /// Whether it discards everything before it.
    pub resets: bool,
    /// The state behind it.
    pub state: Checkpoint,
    /// The default subject of commands in that state.
    pub subject: Option<Subject>,
    /// The median time of the subject, once it was measured.
    time: Mutex<Option<Duration>>,
}

impl Moment {
    /// A moment that was not measured.
    pub fn new(text: String, state: Checkpoint, subject: Option<Subject>) -> Moment {
        Moment {
            text,
            resets: false,
            state,
            subject,
            time: Mutex::new(None),
        }
    }

    /// The time that was measured.
    pub fn time(&self) -> Option<Duration> {
        *self.time.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a time.
    pub fn measured(&self, time: Duration) {
        *self.time.lock().unwrap_or_else(PoisonError::into_inner) = Some(time);
    }
}

/// A line of moments, and where in it the session is.
#[derive(Clone)]
struct Branch {
    /// At least the beginning.
    moments: Vec<Arc<Moment>>,
    at: usize,
}

/// All branches.
pub struct Timeline {
    branches: BTreeMap<String, Branch>,
    current: String,
}

/// A branch, for a table.
pub struct Row<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether the session is on it.
    pub is_current: bool,
    /// How many lines it has.
    pub lines: usize,
    /// Where it ends.
    pub last: &'a Arc<Moment>,
}

/// The branch on which sessions begin.
pub const MAIN: &str = "main";

impl Timeline {
    /// A timeline that begins with a state.
    pub fn new(state: Checkpoint) -> Timeline {
        let first = Arc::new(Moment::new(String::new(), state, None));
        let branch = Branch {
            moments: vec![first],
            at: 0,
        };
        Timeline {
            branches: [(MAIN.to_owned(), branch)].into(),
            current: MAIN.to_owned(),
        }
    }

    fn branch(&mut self) -> &mut Branch {
        // The current branch exists.
        self.branches.entry(self.current.clone()).or_insert(Branch {
            moments: Vec::new(),
            at: 0,
        })
    }

    /// The moment where the session is.
    pub fn now(&mut self) -> Arc<Moment> {
        let branch = self.branch();
        branch.moments[branch.at].clone()
    }

    /// The beginning.
    pub fn first(&mut self) -> Arc<Moment> {
        self.branch().moments[0].clone()
    }

    /// Appends a moment. Undone moments are forgotten.
    pub fn push(&mut self, moment: Moment) {
        let branch = self.branch();
        branch.moments.truncate(branch.at + 1);
        branch.moments.push(Arc::new(moment));
        branch.at += 1;
    }

    /// Goes on with a moment in place of the last one.
    pub fn replace(&mut self, moment: Moment) {
        let branch = self.branch();
        branch.at = branch.at.saturating_sub(1);
        self.push(moment);
    }

    /// The moment `count` lines before, or `None` if there are fewer.
    pub fn undo(&mut self, count: usize) -> Option<Arc<Moment>> {
        let branch = self.branch();
        branch.at = branch.at.checked_sub(count)?;
        Some(self.now())
    }

    /// The moment `count` lines later, or `None` if fewer were undone.
    pub fn redo(&mut self, count: usize) -> Option<Arc<Moment>> {
        let branch = self.branch();
        let at = branch.at + count;
        if at >= branch.moments.len() {
            return None;
        }
        branch.at = at;
        Some(self.now())
    }

    /// How many lines can be undone and redone.
    pub fn reach(&mut self) -> (usize, usize) {
        let branch = self.branch();
        (branch.at, branch.moments.len() - branch.at - 1)
    }

    /// Switches to a branch; a new name begins a branch here. Returns whether it is new.
    pub fn switch(&mut self, name: &str) -> bool {
        let is_new = !self.branches.contains_key(name);
        if is_new {
            let copy = self.branch().clone();
            self.branches.insert(name.to_owned(), copy);
        }
        self.current = name.to_owned();
        is_new
    }

    /// All branches.
    pub fn rows(&self) -> Vec<Row<'_>> {
        let rows = self.branches.iter().map(|(name, branch)| Row {
            name,
            is_current: *name == self.current,
            lines: branch.at,
            last: &branch.moments[branch.at],
        });
        rows.collect()
    }

    /// The lines that made the present state, in order.
    pub fn lines(&mut self) -> Vec<String> {
        let branch = self.branch();
        let taken = &branch.moments[..=branch.at];
        let start = taken.iter().rposition(|m| m.resets).unwrap_or(0);
        let lines = taken[start..].iter().map(|m| m.text.clone());
        lines.filter(|text| !text.is_empty()).collect()
    }
}
