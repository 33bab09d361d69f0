//! The time of a kernel: its slowest resource, plus a share of the others, which overlap with it.

use super::capabilities::{Level, Model};
use super::processor::Processor;
use super::shape::Shape;
use super::{traffic, work};
use std::collections::BTreeMap;

/// The share of the other resources' time that does not overlap with the slowest.
const EXPOSED: f64 = 0.2;

/// The cost of a jump to another row, in bytes that a contiguous access transfers in the same time.
/// Transfers from the level behind the first cache have no such cost.
const JUMP: f64 = 64.0;

/// The predicted time of a nest.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// In seconds.
    pub seconds: f64,
    /// The bottleneck: `arithmetic`, `loads and stores`, `latency`, `loop overhead`,
    /// `parallel loops`, or the level that data comes from.
    pub bound: String,
    /// The reason, in a sentence.
    pub why: String,
    /// The seconds of each resource, slowest first.
    pub parts: Vec<(String, f64)>,
}

/// The total time of a resource, and where it is used most.
#[derive(Clone, Debug, Default)]
struct Use {
    seconds: f64,
    /// The seconds of the kernels that it bounds.
    bound: f64,
    most: f64,
    why: String,
}

/// Predicts the time of shapes that run in order.
pub(super) fn cost(model: &Model, shapes: &[Shape]) -> Option<Prediction> {
    let mut uses: BTreeMap<String, Use> = BTreeMap::new();
    let mut seconds = 0.0;
    let processor = Processor {
        pipeline: &model.target.pipeline,
        vector_bytes: model.vector.0,
        registers: model.vector.1,
    };
    for shape in shapes {
        let threads = shape.threads;
        let line = model.target.line as f64;
        let traffic: Vec<(&Level, Vec<traffic::Part>)> = model
            .levels
            .iter()
            .enumerate()
            .map(|(k, level)| {
                let jump = if k == 0 { 0.0 } else { JUMP };
                (level, traffic::of(shape, level.bytes, line, jump))
            })
            .collect();
        for kernel in work::of(shape, processor) {
            let mut parts: Vec<(String, f64, String)> = kernel
                .parts()
                .into_iter()
                .map(|(name, cycles, why)| (name.to_owned(), cycles / model.clock, why))
                .collect();
            for (level, brought) in &traffic {
                let own = brought
                    .iter()
                    .filter(|part| kernel.leaves.contains(&part.leaf));
                let own: Vec<&traffic::Part> = own.collect();
                let bytes: f64 = own.iter().map(|part| part.bytes).sum();
                let rate = level.one.min(level.all / threads);
                let why = traffic::why(shape, &own, &level.name);
                parts.push((level.name.clone(), bytes / rate, why));
            }
            let all: f64 = parts.iter().map(|(_, s, _)| s).sum();
            let first = parts.iter().max_by(|a, b| a.1.total_cmp(&b.1)).cloned();
            let (bound, most, _) = first?;
            let own = most + EXPOSED * (all - most);
            seconds += own;
            for (name, part, why) in parts {
                let known = uses.entry(name.clone()).or_default();
                known.seconds += part;
                known.bound += if name == bound { own } else { 0.0 };
                if part > known.most {
                    known.most = part;
                    known.why = why;
                }
            }
        }
        if model.threads > 1.0 {
            let calls = shape.calls + shape.waits;
            let part = calls * model.region;
            seconds += part;
            let known = uses.entry("parallel loops".to_owned()).or_default();
            known.seconds += part;
            known.bound += part;
            known.why = format!("{calls:.0} times, threads begin together or wait for each other");
        }
    }
    let first = uses.iter().max_by(|a, b| a.1.bound.total_cmp(&b.1.bound))?;
    let (bound, why) = (first.0.clone(), first.1.why.clone());
    let mut parts: Vec<(String, f64)> = uses
        .into_iter()
        .map(|(name, used)| (name, used.seconds))
        .collect();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    Some(Prediction {
        seconds: f64::max(seconds, 1e-9),
        bound,
        why,
        parts,
    })
}

impl Prediction {
    /// The prediction as text lines.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "{}, bound by {}: {}",
            crate::report::time(std::time::Duration::from_secs_f64(self.seconds)),
            self.bound,
            self.why
        )];
        lines.extend(self.parts.iter().map(|(name, seconds)| {
            let time = crate::report::time(std::time::Duration::from_secs_f64(*seconds));
            format!("  {name}: {time}")
        }));
        lines
    }
}
