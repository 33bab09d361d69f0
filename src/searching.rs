//! Resources of searches: workers on other machines, and the file of winners.

use crate::arguments::Search;
use crate::output::say;
use crate::{GRACE, stop_on_ctrl_c};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use teml::runtime::{Control, cache_file};
use teml::trial::Run;
use teml::tune::Launch;

/// Runs a tuning worker. It always succeeds, since `mpirun` stops all workers if one fails.
pub fn work(directory: &Path) -> ExitCode {
    let control = Control::default();
    stop_on_ctrl_c(&control, GRACE);
    if let Err(why) = teml::tune::work(directory, &Run::default(), &control) {
        say(&why);
    }
    ExitCode::SUCCESS
}

/// A worker without a heartbeat for this long is lost.
const PATIENCE: Duration = Duration::from_secs(10);

/// How the command line starts workers, if it does.
pub fn launch(search: &Search) -> Option<Launch> {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("teml"));
    let arguments = search.launcher_args.as_deref().unwrap_or_default();
    Some(Launch {
        engine: search.launcher?,
        workers: search.workers?.into(),
        arguments: arguments.split_whitespace().map(str::to_owned).collect(),
        worker: vec![program.into(), "tune-worker".into()],
        place: PathBuf::from("."),
        patience: PATIENCE,
    })
}

/// Where `teml tune` records winners, which `schedules::optimize` takes.
pub fn winners(control: &Control) -> Option<PathBuf> {
    cache_file(control, "winners.jsonl")
}
