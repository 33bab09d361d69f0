//! The results of a bench, as data.

use crate::codegen::Kernel;
use crate::machine::{Demand, Machine, Rates, Resource};
use crate::report;
use crate::runtime::{Compiler, Options};
use crate::transform::trace::{self, Calls};
use crate::trial::{Failed, Measured, Peer, Ranking, Variant, Work};
use crate::verbs::Size;
use serde::Serialize;
use std::time::{Duration, SystemTime};

/// All results, with everything they depend on.
#[derive(Clone, Debug, Serialize)]
pub struct Results {
    /// The version of this tool.
    pub teml: &'static str,
    /// The start, in universal time.
    pub date: String,
    /// `bench` or `mini`.
    pub size: &'static str,
    /// The threads of parallel loops.
    pub threads: usize,
    /// The version of the C compiler.
    pub compiler: String,
    /// Its flags.
    pub flags: String,
    /// The machine that ran it.
    pub machine: Machine,
    /// The peak rates of the machine with this number of threads; each group has the rates measured
    /// during its run.
    pub rates: Rates,
    /// Peers that were asked for but are not installed.
    pub absent: Vec<Absent>,
    /// One per comparison.
    pub groups: Vec<Group>,
    /// One per comparison, if the bench has sizes to sweep.
    pub curves: Vec<Curve>,
}

/// A comparison: one table.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// The kernel.
    pub kernel: String,
    /// The reason, if nothing was measured.
    pub why: Option<String>,
    /// The reference that results were compared with.
    pub evidence: String,
    /// Arithmetic operations by definition.
    pub flops: f64,
    /// The least time on this machine.
    pub limit: Option<Limit>,
    /// One per variant and peer, the untransformed variant first.
    pub lines: Vec<Line>,
    /// Baselines and peers that are not available for this kernel.
    pub absent: Vec<Absent>,
    /// Further notes.
    pub notes: Vec<String>,
}

/// The least time that a computation takes on a machine.
#[derive(Clone, Debug, Serialize)]
pub struct Limit {
    /// The time in seconds.
    pub seconds: f64,
    /// The limiting resource: `arithmetic` or `memory`.
    pub by: &'static str,
    /// The fewest arithmetic operations of any variant.
    pub flops: f64,
    /// Inputs and results in bytes.
    pub bytes: f64,
    /// The rate of the machine, in units of 10^9 per second: the median of the probes.
    pub rate: f64,
    /// The best rate of the probes in the same run.
    pub best: f64,
}

/// A variant or a peer.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// The label in tables.
    pub name: String,
    /// Whether it is a peer, not a teml variant.
    pub peer: bool,
    /// The reason, if nothing was measured.
    pub why: Option<String>,
    /// The measured times.
    pub times: Option<Times>,
    /// Why the C is trusted without a proof; empty if it is proved, and for peers, which are only
    /// compared with.
    pub proof: String,
    /// The measured nests; empty for peers.
    pub nest: String,
    /// The steps that made them, as a script.
    pub path: String,
    /// The C.
    pub code: String,
    /// The kernel's own part of the C.
    #[serde(skip)]
    pub function: String,
    /// The compiler and its flags, if they differ from the usual ones.
    pub compiled: String,
}

/// The measured times of a variant, in seconds.
#[derive(Clone, Debug, Serialize)]
pub struct Times {
    /// All runs.
    pub runs: Vec<f64>,
    /// The shortest run.
    pub min: f64,
    /// The median run.
    pub median: f64,
    /// The interquartile range over the median.
    pub spread: f64,
    /// The share of the runs during which other processes used the same cores, as far as that is
    /// known.
    pub disturbed: f64,
    /// Operations of the definition in the median time, in units of 10^9 per second.
    pub gflops: f64,
    /// Compulsory traffic in the median time, in units of 10^9 bytes per second.
    pub gbytes: f64,
    /// The machine's least time over the median.
    pub share: Option<f64>,
    /// The median time of the first variant over this one.
    pub speed_up: f64,
    /// The largest relative error.
    pub error: f64,
}

/// A baseline or a peer that was not measured.
#[derive(Clone, Debug, Serialize)]
pub struct Absent {
    /// Its name.
    pub name: String,
    /// The reason, and how to install the peer.
    pub why: String,
}

impl Results {
    /// Results without groups, with the rates that were measured on `machine`.
    pub(super) fn new(
        size: Size,
        threads: usize,
        rates: Rates,
        machine: Machine,
        compiler: &Compiler,
    ) -> Results {
        let flags = Options::default().flags(compiler, false);
        let now = humantime::format_rfc3339_seconds(SystemTime::now());
        Results {
            teml: env!("CARGO_PKG_VERSION"),
            date: now.to_string(),
            size: match size {
                Size::Bench => "bench",
                Size::Mini => "mini",
                Size::Any => "any",
            },
            threads,
            compiler: compiler.version().to_owned(),
            flags: compiler.command_line(&flags).join(" "),
            machine,
            rates,
            absent: Vec::new(),
            groups: Vec::new(),
            curves: Vec::new(),
        }
    }

    /// Whether a measurement failed.
    pub fn failed(&self) -> bool {
        self.groups.iter().any(Group::failed_in_part) || self.curves.iter().any(Curve::failed)
    }
}

impl Group {
    /// Whether a variant or a peer, or all of them, could not be measured.
    pub(super) fn failed_in_part(&self) -> bool {
        self.why.is_some() || self.lines.iter().any(|line| line.why.is_some())
    }

    /// The variants that beat the limit by more than a tenth, which is impossible.
    pub(super) fn beating(&self) -> impl Iterator<Item = &str> {
        let beats = |line: &&Line| line.times.as_ref().is_some_and(Times::beats);
        self.lines.iter().filter(beats).map(|line| &*line.name)
    }

    /// Adds the nests of the variants, and the steps that made them.
    pub(super) fn explained(mut self, variants: &[Variant]) -> Group {
        for line in self.lines.iter_mut().filter(|line| !line.peer) {
            let Some(variant) = variants.iter().find(|v| v.label == line.name) else {
                continue;
            };
            let nests: Vec<String> = variant.nests.iter().map(ToString::to_string).collect();
            let path = |nest| trace::script(nest, Calls::Folded).unwrap_or_default();
            let paths: Vec<String> = variant.nests.iter().map(path).collect();
            (line.nest, line.path) = (nests.join("\n\n"), paths.join("\n\n"));
        }
        self
    }

    pub(super) fn failed(kernel: &str, why: String) -> Group {
        Group {
            kernel: kernel.to_owned(),
            why: Some(why),
            evidence: String::new(),
            flops: 0.0,
            limit: None,
            lines: Vec::new(),
            absent: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The results of a comparison on `machine`, whose rates are `rates` in the median and at best.
    pub(super) fn new(
        kernel: &str,
        ranking: &Ranking,
        peers: &[Peer],
        rates: &[Rates; 2],
        machine: &Machine,
    ) -> Group {
        let work = &ranking.work;
        let limit = limit(work, rates, machine.last_caches());
        let first = ranking.measured().map(|row| row.timing.median).next();
        let own = ranking.tried.len() - peers.len();
        let peer = |k: usize| k.checked_sub(own).and_then(|k| peers.get(k));
        let line = |(k, tried): (usize, &Result<Measured, Failed>)| Line {
            name: match tried {
                Ok(row) => row.label.clone(),
                Err(failed) => failed.label.clone(),
            },
            peer: peer(k).is_some(),
            why: tried.as_ref().err().map(|failed| failed.error.to_string()),
            times: tried
                .as_ref()
                .ok()
                .map(|row| Times::new(row, work, &limit, first)),
            proof: of_kernel(tried, |kernel| match peer(k) {
                Some(_) => String::new(),
                None => kernel.proof.to_string(),
            }),
            nest: String::new(),
            path: String::new(),
            code: of_kernel(tried, Kernel::source),
            function: of_kernel(tried, |kernel| kernel.function.clone()),
            compiled: peer(k).map_or(String::new(), |peer| {
                let flags = peer.options.flags(&peer.compiler, peer.kernel.chooses());
                let flags = peer.compiler.command_line(&flags);
                let all = flags.iter().chain(&peer.options.libraries);
                let all: Vec<&str> = all.map(String::as_str).collect();
                format!("{}: {}", peer.compiler.version(), all.join(" "))
            }),
        };
        Group {
            kernel: kernel.to_owned(),
            why: None,
            evidence: ranking.evidence.to_string(),
            flops: work.flops,
            lines: ranking.tried.iter().enumerate().map(line).collect(),
            limit,
            absent: Vec::new(),
            notes: Vec::new(),
        }
    }
}

fn of_kernel(tried: &Result<Measured, Failed>, text: impl Fn(&Kernel) -> String) -> String {
    tried
        .as_ref()
        .map_or(String::new(), |row| text(&row.kernel))
}

/// The limit of a computation: its operations, or its compulsory memory traffic, unless it fits in
/// the caches.
fn limit(work: &Work, rates: &[Rates; 2], caches: u64) -> Option<Limit> {
    let demand = Demand {
        elem: work.elem,
        flops: work.least_flops,
        read: work.read,
        written: work.written,
    };
    let (resource, seconds) = rates[0].limit(&demand, caches)?;
    let bytes = work.read + work.written;
    let (count, by) = match resource {
        Resource::Arithmetic => (demand.flops, "arithmetic"),
        Resource::Memory => (bytes, "memory"),
    };
    Some(Limit {
        seconds,
        by,
        flops: demand.flops,
        bytes,
        rate: count / seconds / 1e9,
        best: count / rates[1].seconds(&demand, resource)? / 1e9,
    })
}

impl Times {
    /// Whether the variant beats the limit by more than a tenth.
    pub(super) fn beats(&self) -> bool {
        self.share.is_some_and(report::is_doubtful)
    }

    fn new(row: &Measured, work: &Work, limit: &Option<Limit>, first: Option<Duration>) -> Times {
        let median = row.timing.median.as_secs_f64().max(1e-9);
        let first = first.map_or(median, |first| first.as_secs_f64());
        // The limit is that of the processor.
        let limit = limit.as_ref().filter(|_| !row.kernel.is_on_device());
        Times {
            runs: row.timing.runs.iter().map(Duration::as_secs_f64).collect(),
            min: row.timing.min.as_secs_f64(),
            median,
            spread: row.timing.spread,
            disturbed: row.timing.disturbed,
            gflops: work.flops / median / 1e9,
            gbytes: (work.read + work.written) / median / 1e9,
            share: limit.map(|limit| limit.seconds / median),
            speed_up: first / median,
            error: row.error,
        }
    }
}

/// The quantity that a curve shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Height {
    /// The share of the machine's limit that the last variant and the peers reach.
    #[default]
    Share,
    /// The speed-ups of all variants and peers over the first variant.
    SpeedUp,
}

/// A kernel at several sizes.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// The kernel.
    pub kernel: String,
    /// The parameters that vary.
    pub axis: String,
    /// The quantity of the vertical axis.
    pub height: Height,
    /// In the order of the command line.
    pub points: Vec<Point>,
}

/// A kernel at one size.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// The value of the parameters.
    pub at: u32,
    /// The results at this size.
    pub group: Group,
}

impl Curve {
    /// Whether a measurement failed.
    pub(super) fn failed(&self) -> bool {
        self.points.iter().any(|point| point.group.failed_in_part())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Elem;

    const RATES: Rates = Rates {
        gflops_f64: 100.0,
        gflops_f32: 200.0,
        read: 50.0,
        copy: 50.0,
        triad: 50.0,
    };

    fn of(flops: f64, bytes: f64, elem: Elem) -> Option<(f64, &'static str)> {
        let work = Work {
            flops: 2.0 * flops,
            least_flops: flops,
            read: bytes / 2.0,
            written: bytes / 2.0,
            elem,
        };
        // In picoseconds, because thousandths are not exact.
        limit(&work, &[RATES, RATES], 1000).map(|l| ((l.seconds * 1e12).round(), l.by))
    }

    #[test]
    fn the_larger_time_limits() {
        assert_eq!(of(1e9, 1e9, Elem::F64), Some((2e10, "memory")));
        assert_eq!(of(4e9, 1e9, Elem::F64), Some((4e10, "arithmetic")));
        assert_eq!(of(8e9, 1e9, Elem::F32), Some((4e10, "arithmetic")));
    }

    #[test]
    fn what_caches_hold_need_not_come_from_memory() {
        assert_eq!(of(1.0, 999.0, Elem::F64), Some((10.0, "arithmetic")));
    }

    #[test]
    fn nothing_is_known_of_integers_but_the_memory() {
        assert_eq!(of(1e9, 1e9, Elem::I32), Some((2e10, "memory")));
        assert_eq!(of(1e9, 100.0, Elem::I32), None);
        assert_eq!(of(0.0, 100.0, Elem::F64), None);
    }
}
