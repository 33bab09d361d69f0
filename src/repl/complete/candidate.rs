//! Candidates: texts that can follow.

use crate::ir::Nest;
use crate::script::Entry;

/// The candidates that may replace the end of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Where the part to be replaced starts, in bytes.
    pub start: usize,
    /// The candidates.
    pub candidates: Vec<Candidate>,
}

/// A candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The text.
    pub text: String,
    /// Its signature, or what it is; may be empty.
    pub about: String,
}

pub(super) fn candidate(text: &str, about: &str) -> Candidate {
    Candidate {
        text: text.to_owned(),
        about: about.to_owned(),
    }
}

pub(super) fn of_entry(entry: &Entry) -> Candidate {
    candidate(&entry.name, &entry.signature)
}

/// Those that begin with what is typed, in order of their names.
pub(super) fn of(start: usize, typed: &str, all: Vec<Candidate>) -> Completion {
    let mut candidates: Vec<Candidate> = all;
    candidates.retain(|c| c.text.starts_with(typed) && !c.text.starts_with("std_"));
    candidates.sort_by(|a, b| a.text.cmp(&b.text));
    candidates.dedup_by(|a, b| a.text == b.text);
    Completion { start, candidates }
}

pub(super) fn loops(nests: &[Nest]) -> Vec<Candidate> {
    let loops = nests.iter().flat_map(|nest| nest.loops());
    let loops = loops.map(|(_, l)| candidate(l.name.as_str(), ""));
    loops.collect()
}

/// Files whose path begins with what is typed; directories end with a slash.
pub(super) fn of_files(start: usize, typed: &str) -> Completion {
    let folder = typed.rfind('/').map_or("", |k| &typed[..=k]);
    let place = if folder.is_empty() { "." } else { folder };
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let slash = if entry.path().is_dir() { "/" } else { "" };
        (!name.starts_with('.')).then(|| candidate(&format!("{folder}{name}{slash}"), ""))
    });
    of(start, typed, names.collect())
}
