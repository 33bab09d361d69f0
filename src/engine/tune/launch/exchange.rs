//! The directory that workers share with the search.
//!
//! Files appear atomically: they are written under another name and then renamed. A rename also
//! claims a task, since only one of several workers succeeds.

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
    /// The writer, part of the names of temporary files.
    who: String,
}

/// Open tasks, named `12`.
const TASKS: &str = "tasks";

/// Claimed tasks, named `12.WHO`.
const TAKEN: &str = "taken";

/// Answers, named `12`.
const DONE: &str = "done";

/// The last heartbeat count of each side.
const HEARTBEATS: &str = "pulses";

/// Workers that are ready.
const READY: &str = "ready";

/// Temporary files.
const WRITING: &str = "writing";

/// A file that tells workers to exit.
const END: &str = "end";

impl Exchange {
    /// Creates an empty exchange.
    pub(super) fn create(root: &Path, who: &str) -> io::Result<Exchange> {
        for part in [TASKS, TAKEN, DONE, HEARTBEATS, READY, WRITING] {
            fs::create_dir_all(root.join(part))?;
        }
        Ok(Exchange::open(root, who))
    }

    /// Opens an exchange that another process created.
    pub(super) fn open(root: &Path, who: &str) -> Exchange {
        Exchange {
            root: root.to_owned(),
            who: who.to_owned(),
        }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Writes a file that appears atomically.
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

    /// The contents of a file, if it exists.
    pub(super) fn get<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let bytes = fs::read(self.root.join(name)).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// The sorted names of the files in a subdirectory.
    fn names(&self, part: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.root.join(part)) else {
            return Vec::new();
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    pub(super) fn add_task<T: Serialize>(&self, number: usize, task: &T) -> io::Result<()> {
        self.put(&task_name(TASKS, number), task)
    }

    /// Claims the first task that no other worker claims, and returns its number.
    pub(super) fn take<T: DeserializeOwned>(&self) -> Option<(usize, T)> {
        let names = self.names(TASKS);
        names.iter().find_map(|name| {
            let number = name.parse().ok()?;
            let taken = self.taken(number, &self.who);
            fs::rename(self.root.join(TASKS).join(name), self.root.join(&taken)).ok()?;
            Some((number, self.get(&taken)?))
        })
    }

    /// The claimed tasks with their workers.
    pub(super) fn all_taken(&self) -> Vec<(usize, String)> {
        let names = self.names(TAKEN);
        let parts = names.iter().filter_map(|name| name.split_once('.'));
        parts
            .filter_map(|(number, who)| Some((number.parse().ok()?, who.to_owned())))
            .collect()
    }

    /// Reopens a task that a worker has claimed; returns whether it was still claimed.
    pub(super) fn give_back(&self, number: usize, who: &str) -> bool {
        let from = self.root.join(self.taken(number, who));
        fs::rename(from, self.root.join(task_name(TASKS, number))).is_ok()
    }

    /// Answers a claimed task.
    pub(super) fn answer<T: Serialize>(&self, number: usize, answer: &T) -> io::Result<()> {
        self.put(&task_name(DONE, number), answer)?;
        // The task may have been given to another worker by then.
        let _ = fs::remove_file(self.root.join(self.taken(number, &self.who)));
        Ok(())
    }

    /// The answer to a task, if there is one.
    pub(super) fn answered<T: DeserializeOwned>(&self, number: usize) -> Option<T> {
        self.get(&task_name(DONE, number))
    }

    /// Removes the open copy of an answered task, in case it was reopened before.
    pub(super) fn drop_task(&self, number: usize) {
        let _ = fs::remove_file(self.root.join(task_name(TASKS, number)));
    }

    /// Announces that this side is ready.
    pub(super) fn be_ready<T: Serialize>(&self, value: &T) -> io::Result<()> {
        self.put(&format!("{READY}/{}", self.who), value)
    }

    /// The announcements of all ready sides, by name.
    pub(super) fn ready<T: DeserializeOwned>(&self) -> Vec<(String, T)> {
        let names = self.names(READY);
        let said = |name: String| {
            let value = self.get(&format!("{READY}/{name}"))?;
            Some((name, value))
        };
        names.into_iter().filter_map(said).collect()
    }

    pub(super) fn beat(&self, count: u64) -> io::Result<()> {
        self.put(&format!("{HEARTBEATS}/{}", self.who), &count)
    }

    pub(super) fn heartbeat(&self, who: &str) -> Option<u64> {
        self.get(&format!("{HEARTBEATS}/{who}"))
    }

    /// Tells workers to exit.
    pub(super) fn end(&self) -> io::Result<()> {
        fs::write(self.root.join(END), "")
    }

    /// Whether workers should exit.
    pub(super) fn has_ended(&self) -> bool {
        !self.root.exists() || self.root.join(END).exists()
    }

    fn taken(&self, number: usize, who: &str) -> String {
        format!("{}.{who}", task_name(TAKEN, number))
    }
}

/// Zero-padded, so that names sort by number.
fn task_name(part: &str, number: usize) -> String {
    format!("{part}/{number:08}")
}
