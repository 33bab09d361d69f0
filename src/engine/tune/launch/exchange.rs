//! The directory that workers share with the search.
//!
//! Files appear whole, since they are written elsewhere in the directory and then renamed. Renaming
//! also decides who gets a task: only one of several workers succeeds.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A shared directory.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    root: PathBuf,
    /// Who writes: part of the names of files that are being written.
    who: String,
}

/// What there is to do: `12`.
const TASKS: &str = "tasks";

/// What someone does: `12.WHO`.
const TAKEN: &str = "taken";

/// What was done: `12`.
const DONE: &str = "done";

/// Who is there, and the number of their last heartbeat.
const HEARTBEATS: &str = "pulses";

/// Workers that are ready.
const READY: &str = "ready";

/// Files that are being written.
const WRITING: &str = "writing";

/// There when workers are to leave.
const END: &str = "end";

impl Exchange {
    /// The directory, empty.
    pub(super) fn create(root: &Path, who: &str) -> io::Result<Exchange> {
        for part in [TASKS, TAKEN, DONE, HEARTBEATS, READY, WRITING] {
            fs::create_dir_all(root.join(part))?;
        }
        Ok(Exchange::open(root, who))
    }

    /// A directory that someone else has made.
    pub(super) fn open(root: &Path, who: &str) -> Exchange {
        Exchange {
            root: root.to_owned(),
            who: who.to_owned(),
        }
    }

    /// Where it is.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Writes a file that appears whole.
    pub(super) fn put<T: Serialize>(&self, name: &str, value: &T) -> io::Result<()> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let new = self
            .root
            .join(WRITING)
            .join(format!("{}.{number}", self.who));
        fs::write(&new, serde_json::to_vec(value)?)?;
        fs::rename(&new, self.root.join(name))
    }

    /// What a file holds, if there is one.
    pub(super) fn get<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let bytes = fs::read(self.root.join(name)).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// The names of the files in a part, sorted.
    fn names(&self, part: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.root.join(part)) else {
            return Vec::new();
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// Adds a task.
    pub(super) fn add_task<T: Serialize>(&self, number: usize, task: &T) -> io::Result<()> {
        self.put(&task_name(TASKS, number), task)
    }

    /// Takes the first task that nobody else takes, and its number.
    pub(super) fn take<T: DeserializeOwned>(&self) -> Option<(usize, T)> {
        let names = self.names(TASKS);
        names.iter().find_map(|name| {
            let number = name.parse().ok()?;
            let taken = self.taken(number, &self.who);
            fs::rename(self.root.join(TASKS).join(name), self.root.join(&taken)).ok()?;
            Some((number, self.get(&taken)?))
        })
    }

    /// The tasks that someone does, with who that is.
    pub(super) fn all_taken(&self) -> Vec<(usize, String)> {
        let names = self.names(TAKEN);
        let parts = names.iter().filter_map(|name| name.split_once('.'));
        parts
            .filter_map(|(number, who)| Some((number.parse().ok()?, who.to_owned())))
            .collect()
    }

    /// Makes a task that someone has taken one for anyone again; whether it was still theirs.
    pub(super) fn give_back(&self, number: usize, who: &str) -> bool {
        let from = self.root.join(self.taken(number, who));
        fs::rename(from, self.root.join(task_name(TASKS, number))).is_ok()
    }

    /// Answers a task that was taken.
    pub(super) fn answer<T: Serialize>(&self, number: usize, answer: &T) -> io::Result<()> {
        self.put(&task_name(DONE, number), answer)?;
        // It may have been given to someone else meanwhile.
        let _ = fs::remove_file(self.root.join(self.taken(number, &self.who)));
        Ok(())
    }

    /// The answer to a task, if there is one.
    pub(super) fn answered<T: DeserializeOwned>(&self, number: usize) -> Option<T> {
        self.get(&task_name(DONE, number))
    }

    /// Drops a task that is answered, in case it was given to someone else before.
    pub(super) fn drop_task(&self, number: usize) {
        let _ = fs::remove_file(self.root.join(task_name(TASKS, number)));
    }

    /// Says that this side is ready.
    pub(super) fn be_ready<T: Serialize>(&self, value: &T) -> io::Result<()> {
        self.put(&format!("{READY}/{}", self.who), value)
    }

    /// What those who are ready say, by name.
    pub(super) fn ready<T: DeserializeOwned>(&self) -> Vec<(String, T)> {
        let names = self.names(READY);
        let said = |name: String| {
            let value = self.get(&format!("{READY}/{name}"))?;
            Some((name, value))
        };
        names.into_iter().filter_map(said).collect()
    }

    /// Writes the heartbeat of this side.
    pub(super) fn beat(&self, count: u64) -> io::Result<()> {
        self.put(&format!("{HEARTBEATS}/{}", self.who), &count)
    }

    /// The last heartbeat of someone.
    pub(super) fn heartbeat(&self, who: &str) -> Option<u64> {
        self.get(&format!("{HEARTBEATS}/{who}"))
    }

    /// Tells workers to leave.
    pub(super) fn end(&self) -> io::Result<()> {
        fs::write(self.root.join(END), "")
    }

    /// Whether workers are to leave.
    pub(super) fn has_ended(&self) -> bool {
        !self.root.exists() || self.root.join(END).exists()
    }

    fn taken(&self, number: usize, who: &str) -> String {
        format!("{}.{who}", task_name(TAKEN, number))
    }
}

/// Names sort as numbers do.
fn task_name(part: &str, number: usize) -> String {
    format!("{part}/{number:08}")
}
