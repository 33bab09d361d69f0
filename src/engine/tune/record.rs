//! Records: the trials, as a line of JSON each, so that another run can resume and find the winner.
//!
//! A record has a key of everything that its times depend on: the processor, its caches and
//! vectors, the threads, the compiler and its flags, the policy of `reductions`, and a hash of the
//! definition. Records with another key or of another version of teml are skipped. A point is known
//! only if its nests are the same. Each line is written at once, and an incomplete line is skipped,
//! so that a killed run loses only its current trial.

use super::value::Value;
use crate::ir::Nest;
use crate::legality::Reductions;
use crate::machine::Machine;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Everything that times depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// The name of the processor.
    pub cpu: String,
    /// Threads of parallel loops.
    pub threads: usize,
    /// Its cache sizes in bytes, nearest first.
    pub caches: Vec<u64>,
    /// Its vector instruction set.
    pub vector: String,
    pub compiler: String,
    /// The compiler and its flags.
    pub flags: String,
    /// Whether sums may be reassociated.
    #[serde(default)]
    pub reassociates: bool,
    /// A hash of the computation: tensors, their extents and types, and assignments.
    pub definition: String,
}

impl Key {
    /// The key of `nests` on a machine with a compiler.
    pub fn new(
        machine: &Machine,
        threads: usize,
        (compiler, flags): (String, String),
        reductions: Reductions,
        nests: &[Nest],
    ) -> Key {
        let vector = machine.vector.as_ref().map_or("", |v| v.name);
        Key {
            cpu: machine.cpu.clone().unwrap_or_default(),
            threads,
            caches: machine.caches.iter().map(|c| c.bytes).collect(),
            vector: vector.to_owned(),
            compiler,
            flags,
            reassociates: reductions == Reductions::Reassociate,
            definition: definition(nests),
        }
    }

    /// The first difference of two keys of one definition, in words.
    fn difference(&self, other: &Key) -> Option<String> {
        let sums = |key: &Key| {
            if key.reassociates {
                "reassoc".to_owned()
            } else {
                "strict".to_owned()
            }
        };
        let threads = |key: &Key| key.threads.to_string();
        let caches = |key: &Key| format!("{:?}", key.caches);
        let facts = [
            ("processor", self.cpu.clone(), other.cpu.clone()),
            ("number of threads", threads(self), threads(other)),
            ("caches", caches(self), caches(other)),
            ("vectors", self.vector.clone(), other.vector.clone()),
            ("compiler", self.compiler.clone(), other.compiler.clone()),
            ("flags", self.flags.clone(), other.flags.clone()),
            ("policy of `reductions`", sums(self), sums(other)),
        ];
        let different = facts.into_iter().find(|(_, a, b)| a != b);
        different.map(|(what, a, b)| format!("{what}: `{a}`, not `{b}`"))
    }
}

/// A hash of the computation of nests.
pub fn definition(nests: &[Nest]) -> String {
    let mut hasher = blake3::Hasher::new();
    for nest in nests.iter().flat_map(Nest::untransformed) {
        hasher.update(nest.to_string().as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// A hash of the nests themselves.
pub(super) fn variant(nests: &[Nest]) -> String {
    let mut hasher = blake3::Hasher::new();
    for nest in nests {
        hasher.update(nest.to_string().as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Trial,
    /// The winner of a search.
    Winner,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version of teml.
    pub teml: String,
    pub kind: Kind,
    /// Everything that its times depend on.
    pub key: Key,
    /// The search strategy.
    pub search: String,
    /// The seed of the search.
    pub seed: u64,
    /// The number of the trial in its run, counted from 1.
    pub number: usize,
    /// The parameters of the point.
    pub parameters: BTreeMap<String, Value>,
    /// A hash of the nests of the point.
    #[serde(default)]
    pub variant: String,
    /// `ok`, or the class of the defect.
    pub outcome: String,
    /// The reason, if there is no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Times in seconds.
    pub runs: Vec<f64>,
    /// The estimated time on an otherwise idle machine, in seconds, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_best: Option<f64>,
    /// The largest relative error.
    pub error: f64,
    /// The nests as written by `json`: how they are built, and their paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nests: Vec<String>,
    /// The points that tie with the winner, and points that may be as fast but did not fit into the
    /// finals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ties: Vec<BTreeMap<String, Value>>,
}

impl Record {
    /// Whether this version of teml wrote it.
    fn is_current(&self) -> bool {
        self.teml == env!("CARGO_PKG_VERSION")
    }

    pub fn median(&self) -> Option<f64> {
        median(&self.runs)
    }

    pub fn least(&self) -> Option<f64> {
        self.runs.iter().copied().min_by(f64::total_cmp)
    }
}

pub fn median(runs: &[f64]) -> Option<f64> {
    let mut sorted = runs.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = sorted.get(middle).copied()?;
    Some(match sorted.len() % 2 {
        1 => upper,
        _ => (sorted[middle - 1] + upper) / 2.0,
    })
}

/// The records in a file; unreadable lines are skipped.
///
/// # Errors
/// The file cannot be read.
pub fn read(path: &Path) -> io::Result<Vec<Record>> {
    let text = std::fs::read(path)?;
    let lines = text.split(|byte| *byte == b'\n');
    Ok(lines
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect())
}

/// The fastest record with this key: among the winners, or else among all.
pub fn best<'r>(records: &'r [Record], key: &Key) -> Option<&'r Record> {
    let fits = |r: &&Record| r.outcome == "ok" && r.key == *key && r.is_current();
    let fastest = |kind: Kind| {
        let of_kind = records.iter().filter(move |r| r.kind == kind).filter(fits);
        let timed = of_kind.filter_map(|r| Some((r, r.median()?)));
        timed
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(record, _)| record)
    };
    fastest(Kind::Winner).or_else(|| fastest(Kind::Trial))
}

/// Why no record has this key: how the last record of the same definition differs.
pub fn why_not(records: &[Record], key: &Key) -> String {
    let of_definition = |r: &&Record| r.key.definition == key.definition;
    match records.iter().rev().find(of_definition) {
        None => "no record is of this computation, with these extents and types".to_owned(),
        Some(record) if !record.is_current() => {
            format!(
                "the records of this computation are of teml {}",
                record.teml
            )
        }
        Some(record) => match record.key.difference(key) {
            Some(what) => format!("the records of this computation have another {what}"),
            None => "no recorded variant of this computation is right".to_owned(),
        },
    }
}

/// Whether a file is missing, empty, or begins like a file of records.
fn may_be_records(path: &Path) -> io::Result<bool> {
    if !path.is_file() {
        return Ok(true);
    }
    let mut first = [0];
    let read = File::open(path)?.read(&mut first)?;
    Ok(read == 0 || first == *b"{")
}

/// A file that grows by one record at a time.
#[derive(Debug, Default)]
pub struct Journal {
    path: PathBuf,
    file: Option<File>,
    /// The records of earlier runs, by key and point.
    known: HashMap<String, Record>,
    /// The error that stopped the writing, if there was one.
    broken: Option<String>,
}

impl Journal {
    /// Opens the journal in a file, which is created if it does not exist. With `resume`, the
    /// earlier trials are known.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn open(path: &Path, resume: bool) -> io::Result<Journal> {
        if !may_be_records(path)? {
            let what = "it is not a file of records, to which lines could be added";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
        }
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .read(true)
            .open(path)?;
        let mut known = HashMap::new();
        if resume {
            let trials = read(path)?.into_iter().filter(|r| r.kind == Kind::Trial);
            for record in trials.filter(Record::is_current) {
                let address = address(&record.key, &record.parameters, &record.variant);
                known.insert(address, record);
            }
        }
        let mut journal = Journal {
            path: path.to_owned(),
            known,
            broken: None,
            file: None,
        };
        // End an incomplete last line.
        if cut_off(&mut file).unwrap_or(false) {
            journal.broken = file.write_all(b"\n").err().map(|e| e.to_string());
        }
        journal.file = Some(file);
        Ok(journal)
    }

    /// The earlier record of a point with these nests.
    pub fn get(
        &self,
        key: &Key,
        parameters: &BTreeMap<String, Value>,
        nests: &[Nest],
    ) -> Option<&Record> {
        self.known.get(&address(key, parameters, &variant(nests)))
    }

    /// Writes a record. After an error, earlier records remain, and the journal stays closed.
    pub fn add(&mut self, record: &Record) {
        let (Some(file), None) = (&mut self.file, &self.broken) else {
            return;
        };
        let written = serde_json::to_string(record).map_err(io::Error::from);
        let written = written.and_then(|line| file.write_all((line + "\n").as_bytes()));
        self.broken = written.err().map(|error| error.to_string());
    }

    /// Why records are missing, if some are.
    pub fn broken(&self) -> Option<String> {
        let why = self.broken.as_ref()?;
        Some(format!(
            "cannot write records: {}: {why}",
            self.path.display()
        ))
    }
}

/// Whether a file ends with an incomplete line.
fn cut_off(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

fn address(key: &Key, parameters: &BTreeMap<String, Value>, variant: &str) -> String {
    serde_json::to_string(&(key, parameters, variant)).unwrap_or_default()
}
