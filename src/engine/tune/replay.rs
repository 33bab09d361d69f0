//! Replays searches on recorded times: how many trials each needs to find one of the best points.
//! Nothing runs, so that all searches and seeds see the same times.

use super::model::Model;
use super::plan::BATCH;
use super::record::{Kind, Record};
use super::search::{History, Outlook, Strategy};
use super::space::{ConfigIndex, Domain, Halt, Parameter, Space};
use super::value::{Point, Value};
use crate::transform::trace;
use std::collections::HashMap;

/// The recorded and the predicted seconds of a point.
struct Known {
    seconds: Option<f64>,
    expected: Option<f64>,
}

/// A recorded sweep.
pub struct Sweep {
    /// The values of each parameter, in the order of the sweep.
    values: Vec<(String, Vec<Value>)>,
    points: HashMap<String, Known>,
    best: f64,
}

impl Sweep {
    /// The sweep in records, with the prediction of `model` for each point; `None` if no point has
    /// a time.
    pub fn of(records: &[Record], model: &Model) -> Option<Sweep> {
        let mut sweep = Sweep {
            values: Vec::new(),
            points: HashMap::new(),
            best: f64::INFINITY,
        };
        for record in records.iter().filter(|r| r.kind == Kind::Trial) {
            for (name, value) in &record.parameters {
                let found = sweep.values.iter().position(|(known, _)| known == name);
                let place = found.unwrap_or_else(|| {
                    sweep.values.push((name.clone(), Vec::new()));
                    sweep.values.len() - 1
                });
                let (_, values) = &mut sweep.values[place];
                if !values.contains(value) {
                    values.push(value.clone());
                }
            }
            let seconds = record.least().filter(|_| record.outcome == "ok");
            let nests = record.nests.iter().map(|text| trace::from_json(text).ok());
            let nests = nests.collect::<Option<Vec<_>>>().filter(|n| !n.is_empty());
            let expected = nests.and_then(|nests| Some(model.predict(&nests)?.seconds));
            sweep.best = sweep.best.min(seconds.unwrap_or(f64::INFINITY));
            let known = Known { seconds, expected };
            sweep.points.insert(address(&record.parameters), known);
        }
        // Sort numbers, so that neighbors are the next smaller and greater ones.
        for (_, values) in &mut sweep.values {
            if values.iter().all(|value| value.number().is_some()) {
                values.sort_by(|a, b| {
                    let number = |v: &Value| v.number().unwrap_or_default();
                    number(a).total_cmp(&number(b))
                });
            }
        }
        sweep.best.is_finite().then_some(sweep)
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    fn get(&self, point: &Point) -> Option<&Known> {
        self.points.get(&address(&point.by_name()))
    }

    /// The number of trials after which a search has found a point that is at least `share` times
    /// as fast as the best one.
    pub fn trials(&self, strategy: Strategy, seed: u64, share: f64) -> Option<usize> {
        let parameters = self.values.iter().map(|(name, values)| Parameter {
            name: name.clone(),
            domain: Domain::Listed(values.clone()),
        });
        let space = Space::new(
            parameters.collect(),
            vec![Box::new(|point: &Point| Ok(self.get(point).is_some()))],
        );
        let mut search = strategy.search(seed);
        let mut history = History::default();
        loop {
            let mut predict = |_: &ConfigIndex, point: &Point| -> Result<Option<f64>, Halt> {
                Ok(self.get(point).and_then(|known| known.expected))
            };
            let mut outlook = Outlook {
                space: &space,
                history: &history,
                predict: &mut predict,
                hurry: &|| false,
            };
            let batch = search.propose(&mut outlook, BATCH).ok()?;
            if batch.is_empty() {
                return None;
            }
            for digits in batch {
                let (digits, point) = space.point(&digits).ok()??;
                let seconds = self.get(&point).and_then(|known| known.seconds);
                history.add(digits, seconds);
                if seconds.is_some_and(|s| share * s <= self.best) {
                    return Some(history.tried.len());
                }
            }
        }
    }
}

fn address(parameters: &std::collections::BTreeMap<String, Value>) -> String {
    serde_json::to_string(parameters).unwrap_or_default()
}
