//! How well the tuner's cost model ranks variants, compared with measured times.

use super::kernels::Script;
use crate::runtime::Control;
use crate::script::{ScriptError, Session};
use crate::transform::trace;
use crate::trial::Run;
use crate::tune::{self, Kind, Model, Order, Record, Strategy, Sweep};
use crate::verbs::{Size, Tuning, Workbench};
use std::path::Path;
use std::sync::Arc;

/// The agreement of the model with the measured times of one kernel.
#[derive(Clone, Debug)]
pub struct Agreement {
    /// The kernel.
    pub kernel: String,
    /// How well predictions agree with times.
    pub order: Order,
    /// Why nothing was measured.
    pub why: Option<String>,
}

/// Measures `trials` random variants of the first nests that a script compares.
pub fn agreement(
    script: &Script,
    parameters: &[(String, String)],
    size: Size,
    trials: usize,
    control: &Control,
) -> Agreement {
    let workbench = Workbench {
        runner: Arc::new(Run { collects: true }),
        control: control.clone(),
        parameters: parameters.to_vec().into(),
        size,
        tuning: Tuning {
            trials: Some(trials),
            strategy: Some(Strategy::Random),
            ..Tuning::default()
        },
        ..Workbench::default()
    };
    let measure = || -> Result<Order, ScriptError> {
        let mut session = Session::new(Box::new(std::io::sink()), workbench)?;
        script.run(&mut session)?;
        session.tune_what_was_compared()?;
        let bench = session.bench().lock();
        Ok(bench.tuning.agreement.clone().unwrap_or_default())
    };
    let (order, why) = match measure() {
        Ok(order) => (order, None),
        Err(error) => (Order::default(), Some(error.to_string())),
    };
    Agreement {
        kernel: script.name.clone(),
        order,
        why,
    }
}

/// Compares the times in a file of records with the predictions of the model. Nothing runs.
pub fn recorded(path: &Path, control: &Control) -> Agreement {
    let kernel = path.file_stem().unwrap_or_default();
    let kernel = kernel.to_string_lossy().into_owned();
    let records = match tune::read(path) {
        Ok(records) => records,
        Err(error) => {
            return Agreement {
                kernel,
                order: Order::default(),
                why: Some(error.to_string()),
            };
        }
    };
    let trials = records.iter().filter(|r| r.kind == Kind::Trial);
    let pairs: Vec<(f64, f64)> = trials
        .filter_map(|record| {
            let nests = record.nests.iter().map(|text| trace::from_json(text).ok());
            let nests = nests.collect::<Option<Vec<_>>>()?;
            let model = model_of(record, control);
            Some((model.predict(&nests)?.seconds, record.least()?))
        })
        .collect();
    Agreement {
        kernel,
        order: Order::of(&pairs),
        why: None,
    }
}

/// The share of the best speed that counts as close enough.
const CLOSE: f64 = 0.95;

/// Number of seeds that each search is replayed with.
const SEEDS: u64 = 10;

/// Replays all searches on a recorded sweep. Each line gives the number of trials until a point is
/// within 5 % of the best one.
pub fn replayed(path: &Path, control: &Control) -> Vec<String> {
    let records = tune::read(path).unwrap_or_default();
    let Some(first) = records.first() else {
        return vec![format!("{}: no records", path.display())];
    };
    let Some(sweep) = Sweep::of(&records, &model_of(first, control)) else {
        return vec![format!("{}: nothing has a time", path.display())];
    };
    let line = |(name, strategy): &(&str, Strategy)| {
        let found = (1..=SEEDS).map(|seed| sweep.trials(*strategy, seed, CLOSE));
        let mut found: Vec<usize> = found.map(|t| t.unwrap_or(sweep.len())).collect();
        found.sort_unstable();
        let each: Vec<String> = found.iter().map(usize::to_string).collect();
        format!(
            "  {name}: within 95 % of the best of {} points after {} trials (10 seeds)",
            sweep.len(),
            each.join(" ")
        )
    };
    let searches = Strategy::NAMES.iter();
    searches
        .filter(|(_, strategy)| *strategy != Strategy::Exhaustive)
        .map(line)
        .collect()
}

fn model_of(record: &Record, control: &Control) -> Model {
    Model::known(&Control {
        threads: record.key.threads,
        ..control.clone()
    })
}

/// The line of a kernel.
pub fn agreement_line(agreement: &Agreement) -> String {
    let Agreement { kernel, order, .. } = agreement;
    match &agreement.why {
        Some(why) => format!("{kernel}: failed: {why}"),
        None => format!("{kernel}: {order}"),
    }
}

/// The median over all kernels, in a line.
pub fn agreement_summary(all: &[Agreement]) -> String {
    let known: Vec<f64> = all.iter().filter_map(|a| a.order.correlation).collect();
    match crate::tune::median(&known) {
        Some(median) => format!("median of {} kernels: {median:.2}", known.len()),
        None => "no kernel was measured".to_owned(),
    }
}
