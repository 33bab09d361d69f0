//! The report and the result of a search by `tune`.

use super::options::Options;
use crate::actions::recorded::as_given;
use crate::actions::space::to_map;
use crate::binding::call::Call;
use crate::codegen::generate_with_own;
use crate::ir::Nest;
use crate::runtime::Control;
use crate::transform::trace;
use crate::trial::{self, Settings, Variant};
use crate::tune::{self, Ended, Point, Shown, Space, Tuned};
use crate::values;
use crate::verbs::{Forecast, named};
use rhai::{Array, Dynamic, Map};

/// Prints the report of a search and converts its result to a value.
pub(super) fn report(
    call: &Call,
    tuned: &Tuned,
    options: &Options,
    space: &Space<'_>,
) -> Result<Dynamic, Ended> {
    let (winner, seconds) = match tuned.winner() {
        Some(winner) => winner,
        None => return Err(Ended::Failed("nothing was timed".to_owned())),
    };
    let mut bench = call.workbench();
    bench.tuning.agreement = Some(tuned.agreement());
    for line in tune::summary(tuned) {
        bench.print(&line);
    }
    let nests = named(winner.nests.clone());
    let scripts = nests
        .iter()
        .map(|nest| trace::script(nest, trace::Calls::Unfolded));
    let scripts: Vec<String> = scripts.filter_map(Result::ok).collect();
    if options.shows_script {
        for script in &scripts {
            bench.print(script.trim_end());
        }
    }
    if let Some(path) = &options.page {
        let names: Vec<&str> = space.names().collect();
        let shown = Shown {
            names: &names,
            limit: limit(&bench.control, tuned),
            scripts,
            code: code(&nests, &bench.settings),
        };
        let written = std::fs::write(path, tune::page(tuned, &options.plan, &shown));
        if let Err(error) = written {
            bench.print(&format!(
                "warning: cannot write {}: {error}",
                path.display()
            ));
        }
    }
    drop(bench);
    let mut value = result(&winner.point, as_given(nests), Some(seconds));
    if let Some(mut map) = value.write_lock::<Map>() {
        let ties = tuned.decided.ties();
        let ties = ties.map(|k| Dynamic::from(to_map(&tuned.trials[k].point)));
        map.insert("ties".into(), ties.collect::<Array>().into());
        let trials = i64::try_from(tuned.trials.len()).unwrap_or(i64::MAX);
        map.insert("trials".into(), trials.into());
        let refused = tuned.refused.iter();
        let refused: Map = refused
            .map(|(why, count)| (why.as_str().into(), Dynamic::from_int(*count as i64)))
            .collect();
        map.insert("refused".into(), refused.into());
    }
    value.set_tag(values::SHOWN);
    Ok(value)
}

/// The C of nests that run in order.
fn code(nests: &[Nest], settings: &Settings) -> Option<String> {
    let (reductions, target) = (settings.reductions, &settings.options.target);
    let label = "winner".to_owned();
    let variant = Variant {
        label,
        nests: nests.to_vec(),
    };
    let is_own = trial::is_own(&variant, &[]);
    let kernel = generate_with_own(nests, &variant.label, reductions, target, &is_own);
    Some(kernel.ok()?.function)
}

/// The least time that the machine allows, in seconds, if its rates are known.
fn limit(control: &Control, tuned: &Tuned) -> Option<f64> {
    Forecast::of(control).least(tuned.work.as_ref()?)
}

/// The map that `tune` returns of a winner.
pub(super) fn result(point: &Point, nest: Dynamic, seconds: Option<f64>) -> Dynamic {
    let mut map = Map::new();
    map.insert("nest".into(), nest);
    map.insert("parameters".into(), to_map(point).into());
    map.insert(
        "median".into(),
        seconds.map_or(Dynamic::UNIT, Dynamic::from_float),
    );
    map.insert("ties".into(), Dynamic::from_array(Array::new()));
    map.insert("trials".into(), Dynamic::from_int(0));
    map.insert("refused".into(), Map::new().into());
    map.insert("ok".into(), seconds.is_some().into());
    map.into()
}
