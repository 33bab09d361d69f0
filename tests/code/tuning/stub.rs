//! A session that compiles nothing, whose times follow from the nests.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use teml::ir::{Elem, Nest, Tensor};
use teml::runtime::{Control, Timing, Values};
use teml::script::Session;
use teml::transform::trace;
use teml::trial::{
    Comparison, Evaluator, Prepared, Progress, Ranking, RunContext, Runner, Screened, Settings,
    TrialError, Variant, Work,
};
use teml::verbs::Workbench;

/// The time of nests: a number that follows from their paths.
fn seconds(nests: &[Nest]) -> f64 {
    let texts: Vec<String> = nests
        .iter()
        .map(|nest| trace::to_json(nest).unwrap())
        .collect();
    times(&texts)
}

/// The same from the paths of records.
pub fn times(paths: &[String]) -> f64 {
    let lines = paths.iter().flat_map(|text| text.lines());
    let lines = lines.filter(|line| !line.trim_start().starts_with("\"at\""));
    let bytes = lines.flat_map(str::bytes);
    let hash = bytes.fold(7u64, |hash, b| {
        hash.wrapping_mul(31).wrapping_add(u64::from(b))
    });
    1e-3 * (1.0 + (hash % 1000) as f64 / 100.0)
}

/// Runs nothing, and waits for the time of each variant.
#[derive(Debug)]
pub struct Stub {
    pub pause: Duration,
}

struct StubEvaluator {
    pause: Duration,
}

impl Evaluator for StubEvaluator {
    fn prepare(&self, variant: &Variant) -> Result<Prepared, TrialError> {
        Ok(Prepared::from(variant.clone()))
    }

    fn screen(&self, prepared: &Prepared, _: Option<Duration>) -> Result<Screened, TrialError> {
        std::thread::sleep(self.pause);
        let time = Duration::from_secs_f64(seconds(&prepared.variant.nests));
        Ok(Screened {
            runs: vec![time],
            at_best: time,
            error: 0.0,
        })
    }

    fn finals(&self, prepared: &[Prepared]) -> Result<Vec<Timing>, TrialError> {
        let timing = |prepared: &Prepared| {
            let time = Duration::from_secs_f64(seconds(&prepared.variant.nests));
            Timing::new(&prepared.variant.label, vec![time; 3])
        };
        Ok(prepared.iter().map(timing).collect())
    }

    fn work(&self) -> Work {
        Work {
            flops: 1.0,
            least_flops: 1.0,
            read: 8.0,
            written: 8.0,
            elem: Elem::F64,
        }
    }
}

impl Runner for Stub {
    fn compare(
        &self,
        _: Comparison,
        _: &mut RunContext<'_>,
    ) -> Result<Option<Ranking>, TrialError> {
        Ok(None)
    }

    fn measure(
        &self,
        _: Comparison,
        _: &mut RunContext<'_>,
    ) -> Result<Option<Ranking>, TrialError> {
        Ok(None)
    }

    fn run(
        &self,
        _: Comparison,
        _: &mut RunContext<'_>,
    ) -> Result<Vec<(Tensor, Values)>, TrialError> {
        Ok(Vec::new())
    }

    fn evaluator<'a>(
        &'a self,
        _: &'a Comparison,
        _: &'a Control,
        _: &'a (dyn Fn(Progress) + Sync),
    ) -> Result<Option<Box<dyn Evaluator + 'a>>, TrialError> {
        Ok(Some(Box::new(StubEvaluator { pause: self.pause })))
    }

    fn compiler(&self, _: &Settings, _: &Control) -> Result<(String, String), TrialError> {
        Ok(("a stub".to_owned(), String::new()))
    }

    fn runs(&self) -> bool {
        true
    }
}

#[derive(Clone, Default)]
struct Printed(Arc<Mutex<Vec<u8>>>);

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs a script; what it failed with, and what it printed.
pub fn session(script: &str) -> (Result<(), String>, String) {
    with_pause(script, Duration::ZERO)
}

/// The same, with a pause in each trial.
pub fn slow_session(script: &str) -> (Result<(), String>, String) {
    with_pause(script, Duration::from_millis(200))
}

fn with_pause(script: &str, pause: Duration) -> (Result<(), String>, String) {
    let workbench = Workbench {
        runner: Arc::new(Stub { pause }),
        ..Workbench::default()
    };
    in_session(script, workbench)
}

/// Runs a script in a session of its own.
pub fn in_session(script: &str, workbench: Workbench) -> (Result<(), String>, String) {
    let printed = Printed::default();
    let mut session = Session::new(Box::new(printed.clone()), workbench)
        .ok()
        .unwrap();
    let ran = session.run_text("script", script);
    let bytes = printed.0.lock().unwrap().clone();
    (
        ran.map_err(|e| e.render(false)),
        String::from_utf8(bytes).unwrap(),
    )
}
