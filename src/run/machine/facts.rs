//! Facts that the system and the processor report. A fact that they do not report is unknown.
//!
//! The size of the last level of cache is the exception: virtual machines report sizes that no core
//! gets. It is measured (`capacity.rs`), and estimated until then.

use super::measured::{Capacity, Region};
use crate::target::{Instructions, Target, Vector};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// The processor that this program runs on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Machine {
    /// Its model name, with family and model numbers.
    pub cpu: Option<String>,
    /// How many threads this process may run at a time.
    pub threads: usize,
    /// How many cores these have.
    pub cores: Option<usize>,
    /// The data caches, the smallest level first, with the sizes that the system reports.
    pub caches: Vec<Cache>,
    /// The capacity of the last level of cache, if it was measured.
    pub capacity: Option<Capacity>,
    /// The cost of a parallel loop, if it was measured.
    pub region: Option<Region>,
    pub vector: Option<Vector>,
    /// Memory in bytes.
    pub memory: Option<u64>,
}

/// One cache of a level; there can be several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cache {
    /// 1 is the nearest to the core.
    pub level: u32,
    /// The reported size.
    pub bytes: u64,
    /// The bytes of one of its ways, if they are reported: lines that are so far apart share a set.
    pub way: Option<u64>,
    /// How many of the process's threads have one of their own.
    pub count: usize,
    /// How many processors of the system share one.
    pub sharers: usize,
}

/// A last-level cache rarely holds more than this many level-2 caches for each core that shares it.
/// A system that reports more is most often a virtual machine.
const MOST_PER_CORE: u64 = 16;

impl Machine {
    pub fn this() -> Machine {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let system = Path::new("/sys/devices/system/cpu");
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let allowed = allowed();
        Machine {
            cpu: cpu(&info),
            threads,
            cores: distinct(system, &allowed, "topology/core_cpus_list")
                .or_else(|| distinct(system, &allowed, "topology/thread_siblings_list")),
            caches: caches(system, &allowed),
            capacity: None,
            region: None,
            vector: vector(),
            memory: value(&memory, "MemTotal")
                .and_then(|text| text.strip_suffix(" kB")?.parse::<u64>().ok())
                .map(|kib| kib * 1024),
        }
    }

    /// How many bytes of data one cache of a level keeps: the reported size, or for the last level
    /// the size that [`last_caches`](Machine::last_caches) gives.
    pub fn cache(&self, level: u32) -> Option<u64> {
        let cache = self.caches.iter().find(|c| c.level == level)?;
        let last = self.caches.last()?;
        Some(if last.level == level {
            self.last_caches() / last.count as u64
        } else {
            cache.bytes
        })
    }

    /// How many bytes of data all caches of the last level keep together: the measured size, or,
    /// until it is known, the reported size as far as it is plausible. Never more than reported.
    pub fn last_caches(&self) -> u64 {
        let Some(last) = self.caches.last() else {
            return 0;
        };
        let count = last.count as u64;
        match self.capacity {
            Some(capacity) => capacity.bytes.min(self.reported_last()),
            None => self.plausible().map_or(last.bytes, |p| p.min(last.bytes)) * count,
        }
    }

    /// The target of code for this machine: the facts of the processor, and the measured ones.
    pub fn target(&self) -> Target {
        Target {
            l1: self.cache(1),
            l1_way: self.caches.first().and_then(|cache| cache.way),
            l2: self.cache(2),
            l3: self.cache(3),
            region_operations: self.region.as_ref().map(|r| r.operations.round() as u64),
            ..Target::native()
        }
    }

    /// The reported size of all caches of the last level.
    pub(super) fn reported_last(&self) -> u64 {
        let last = self.caches.last();
        last.map_or(0, |cache| cache.bytes * cache.count as u64)
    }

    /// The most that one cache of the last level is expected to hold, estimated from the level
    /// before it.
    fn plausible(&self) -> Option<u64> {
        let [.., inner, last] = &self.caches[..] else {
            return None;
        };
        let cores = last.sharers.div_ceil(inner.sharers.max(1)).max(1);
        Some(MOST_PER_CORE * inner.bytes * cores as u64)
    }
}

/// The value of the first line `key : value`.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

fn cpu(info: &str) -> Option<String> {
    let name = value(info, "model name")?;
    // Cloud providers give processors uninformative names.
    let (family, model) = (value(info, "cpu family"), value(info, "model"));
    Some(match family.zip(model) {
        Some((family, model)) => format!("{name} (family {family}, model {model})"),
        None => name.to_owned(),
    })
}

/// The numbers of the processors that this process may run on; empty if the system does not report
/// them.
fn allowed() -> Vec<usize> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = value(&status, "Cpus_allowed_list").unwrap_or_default();
    numbers(list)
}

/// `0-3,8` as numbers.
fn numbers(list: &str) -> Vec<usize> {
    let mut all = Vec::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.trim().parse::<usize>(), last.trim().parse()) {
            all.extend(first..=last);
        }
    }
    all
}

fn read(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}

/// How many distinct contents the file `name` has among the processors.
fn distinct(system: &Path, cpus: &[usize], name: &str) -> Option<usize> {
    let file = |cpu: &usize| read(&system.join(format!("cpu{cpu}")).join(name));
    let contents: Option<BTreeSet<String>> = cpus.iter().map(file).collect();
    contents.map(|set| set.len()).filter(|count| *count > 0)
}

fn caches(system: &Path, cpus: &[usize]) -> Vec<Cache> {
    let Some(first) = cpus.first() else {
        return Vec::new();
    };
    let directory = system.join(format!("cpu{first}/cache"));
    let mut caches = Vec::new();
    for index in 0.. {
        let index = format!("index{index}");
        let file = |name: &str| read(&directory.join(&index).join(name));
        let Some(kind) = file("type") else { break };
        let level = file("level").and_then(|text| text.parse().ok());
        let bytes = file("size").and_then(|text| bytes(&text));
        if let (true, Some(level), Some(bytes)) = (kind != "Instruction", level, bytes) {
            let shared = format!("cache/{index}/shared_cpu_list");
            let count = distinct(system, cpus, &shared).unwrap_or(1);
            let sharers = file("shared_cpu_list").map_or(1, |list| numbers(&list).len());
            let ways = file("ways_of_associativity").and_then(|text| text.parse().ok());
            caches.push(Cache {
                level,
                bytes,
                way: ways.filter(|ways| *ways > 0).map(|ways: u64| bytes / ways),
                count,
                sharers,
            });
        }
    }
    caches.sort_by_key(|cache| cache.level);
    caches
}

/// `48K` in bytes.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    Some(digits.parse::<u64>().ok()? * unit)
}

fn vector() -> Option<Vector> {
    let here = Instructions::here();
    (here != Instructions::Portable).then(|| here.vector())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors() {
        assert_eq!(numbers("0-2,5\n"), [0, 1, 2, 5]);
        assert_eq!(numbers("7"), [7]);
        assert_eq!(numbers(""), [] as [usize; 0]);
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("48K"), Some(49_152));
        assert_eq!(bytes("32M"), Some(32 << 20));
        assert_eq!(bytes("512"), Some(512));
        assert_eq!(bytes("12 parsecs"), None);
    }

    #[test]
    fn names_that_tell_little_come_with_family_and_model() {
        let info = "processor\t: 0\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\n";
        assert_eq!(cpu(info).unwrap(), "AMD EPYC (family 26, model 2)");
        assert_eq!(cpu("model name : Some\n").unwrap(), "Some");
        assert_eq!(cpu("CPU part : 0xd40\n"), None);
    }

    #[test]
    fn what_the_system_does_not_tell_is_unknown() {
        let empty = tempfile::tempdir().unwrap();
        assert_eq!(caches(empty.path(), &[0]), []);
        assert_eq!(
            distinct(empty.path(), &[0], "topology/core_cpus_list"),
            None
        );
    }

    #[test]
    fn caches_are_those_of_data_and_counted() {
        let system = tempfile::tempdir().unwrap();
        let shared = [["0", "0", "0-1"], ["1", "1", "0-1"]];
        for (cpu, shared) in shared.into_iter().enumerate() {
            let kinds = [("Instruction", "1"), ("Data", "1"), ("Unified", "2")];
            for (k, (kind, level)) in kinds.into_iter().enumerate() {
                let directory = system.path().join(format!("cpu{cpu}/cache/index{k}"));
                std::fs::create_dir_all(&directory).unwrap();
                let write = |name: &str, text: &str| {
                    std::fs::write(directory.join(name), format!("{text}\n")).unwrap();
                };
                write("type", kind);
                write("level", level);
                write("size", "64K");
                write("ways_of_associativity", ["4", "8", "0"][k]);
                write("shared_cpu_list", shared[k]);
            }
        }
        let of = |level, way, count, sharers| Cache {
            level,
            bytes: 65_536,
            way,
            count,
            sharers,
        };
        assert_eq!(
            caches(system.path(), &[0, 1]),
            [of(1, Some(8192), 2, 1), of(2, None, 1, 2)]
        );
    }

    #[test]
    fn an_implausible_last_level_is_estimated_until_it_is_measured() {
        let cache = |level, mebibytes: u64, count, sharers| Cache {
            level,
            bytes: mebibytes << 20,
            way: None,
            count,
            sharers,
        };
        let mut machine = Machine {
            caches: vec![cache(2, 2, 2, 1), cache(3, 480, 1, 2)],
            ..Machine::this()
        };
        assert_eq!(machine.cache(2), Some(2 << 20));
        assert_eq!(machine.cache(3), Some(64 << 20));
        assert_eq!(machine.last_caches(), 64 << 20);
        let measured = |mebibytes: u64| {
            Some(Capacity {
                bytes: mebibytes << 20,
                within: 60.0,
                beyond: 20.0,
                quiet: true,
            })
        };
        machine.capacity = measured(48);
        assert_eq!(machine.cache(3), Some(48 << 20));
        assert_eq!(machine.last_caches(), 48 << 20);
        machine.capacity = measured(500);
        assert_eq!(machine.last_caches(), 480 << 20);

        // Two caches of 32 MiB, each shared by eight cores with two threads each.
        machine.caches = vec![cache(2, 1, 16, 2), cache(3, 32, 2, 16)];
        machine.capacity = None;
        assert_eq!(machine.cache(3), Some(32 << 20));
        assert_eq!(machine.last_caches(), 64 << 20);
        machine.caches = Vec::new();
        assert_eq!((machine.cache(3), machine.last_caches()), (None, 0));
    }
}
