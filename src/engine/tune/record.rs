//! Records: what was tried, a line of JSON each, so that another run can go on from there, and so
//! that a winner is found again.
//!
//! A record says what its times depend on: the processor, the compiler and its flags, the threads,
//! what sums may become, and the definition. It is passed over where any of that differs, or where
//! another version of this program wrote it. A point is known only if its nests are the same. A line is written
//! at once, and a line that was cut off is skipped, so that a run that was killed loses nothing but
//! what it was doing.

use super::value::Value;
use crate::ir::Nest;
use crate::legality::Reductions;
use crate::machine::Machine;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What times depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// The processor: its name.
    pub cpu: String,
    /// Threads of parallel loops.
    pub threads: usize,
    /// The sizes of its caches in bytes, the nearest first.
    pub caches: Vec<u64>,
    /// Its vector instructions.
    pub vector: String,
    /// The version of the compiler.
    pub compiler: String,
    /// The compiler and its flags.
    pub flags: String,
    /// Whether sums may be computed in any order.
    #[serde(default)]
    pub reassociates: bool,
    /// A hash of what is computed: tensors, their extents and types, and assignments.
    pub definition: String,
}

impl Key {
    /// What times of `nests` depend on, on a machine with a compiler.
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

    /// In what two keys of one definition differ first, in words.
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

/// A hash of what nests compute.
pub fn definition(nests: &[Nest]) -> String {
    let mut hasher = blake3::Hasher::new();
    for nest in nests.iter().flat_map(Nest::untransformed) {
        hasher.update(nest.to_string().as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// A hash of nests as they are.
pub(super) fn variant(nests: &[Nest]) -> String {
    let mut hasher = blake3::Hasher::new();
    for nest in nests {
        hasher.update(nest.to_string().as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A point that was tried.
    Trial,
    /// The point that won.
    Winner,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version of this tool.
    pub teml: String,
    /// What the line is.
    pub kind: Kind,
    /// What its times depend on.
    pub key: Key,
    /// How points were proposed.
    pub search: String,
    /// The seed of the search.
    pub seed: u64,
    /// The number of the trial in its run, counted from 1.
    pub number: usize,
    /// The point.
    pub parameters: BTreeMap<String, Value>,
    /// A hash of the nests of the point.
    #[serde(default)]
    pub variant: String,
    /// `ok`, or what is wrong with the variant.
    pub outcome: String,
    /// Why, if there is no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Times in seconds.
    pub runs: Vec<f64>,
    /// What it may take where nobody else uses the machine, in seconds, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_best: Option<f64>,
    /// The largest relative error.
    pub error: f64,
    /// The nests, as `json` writes them: how they are built, and their paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nests: Vec<String>,
    /// The points that are as fast as the winner, and those that may be, but found no place in the finals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ties: Vec<BTreeMap<String, Value>>,
}

impl Record {
    /// Whether this version of the program wrote it.
    fn is_current(&self) -> bool {
        self.teml == env!("CARGO_PKG_VERSION")
    }

    /// The median of the times.
    pub fn median(&self) -> Option<f64> {
        median(&self.runs)
    }

    /// The shortest of the times.
    pub fn least(&self) -> Option<f64> {
        self.runs.iter().copied().min_by(f64::total_cmp)
    }
}

/// The median of times.
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

/// The records in a file; lines that cannot be read are passed over.
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

/// The record with the least time of those that have this key: of the winners, or else of all.
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

/// Why no record has this key, in words: in what the last one of the same definition differs.
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

/// Whether a file is missing, empty, or begins as records do.
fn may_be_records(path: &Path) -> io::Result<bool> {
    if !path.is_file() {
        return Ok(true);
    }
    let mut first = [0];
    let read = File::open(path)?.read(&mut first)?;
    Ok(read == 0 || first == *b"{")
}

/// A file that grows by a record at a time.
#[derive(Debug, Default)]
pub struct Journal {
    path: PathBuf,
    file: Option<File>,
    /// What was tried before, by key and point.
    known: HashMap<String, Record>,
    /// Why nothing is written any more.
    broken: Option<String>,
}

impl Journal {
    /// The journal in a file, which is made if there is none. With `resume`, what was tried before
    /// is known.
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
        // A line that was cut off ends here.
        if cut_off(&mut file).unwrap_or(false) {
            journal.broken = file.write_all(b"\n").err().map(|e| e.to_string());
        }
        journal.file = Some(file);
        Ok(journal)
    }

    /// What is known of a point that has these nests.
    pub fn get(
        &self,
        key: &Key,
        parameters: &BTreeMap<String, Value>,
        nests: &[Nest],
    ) -> Option<&Record> {
        self.known.get(&address(key, parameters, &variant(nests)))
    }

    /// Writes a record. If that fails, what was written before is still there, and nothing more is
    /// written.
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

/// Whether a file does not end with the end of a line.
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
