//! Commands that measure: kernels with their variants, and the machine.

use crate::arguments::Bench;
use crate::output::{self, print, say};
use crate::{GRACE, control, stop_on_ctrl_c};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use teml::bench::{self, Against, Script};
use teml::machine::{Machine, Speed};
use teml::runtime::{Control, RuntimeError};
use teml::target::{Device, Target};

/// Untransformed nests at full size are slow.
const BENCH_LIMIT: Duration = Duration::from_secs(300);

/// `teml bench`.
pub fn bench(arguments: Bench) -> ExitCode {
    let mut control = control(&arguments.limits);
    if arguments.limits.time_limit.is_none() {
        control.run_limit = BENCH_LIMIT;
    }
    stop_on_ctrl_c(&control, GRACE);
    let files = arguments.files.into_iter().map(Script::of_file);
    let mut scripts: Vec<Script> = files.chain(arguments.kernels).collect();
    if scripts.is_empty() {
        scripts = bench::scripts();
    }
    if let Some(variants) = arguments.model {
        let measured = |script: &Script| {
            let (parameters, size) = (&arguments.settings.set, arguments.settings.size);
            bench::agreement(script, parameters, size, variants.into(), &control)
        };
        return match &arguments.records[..] {
            [] => agreement(scripts.iter().map(measured), &control),
            files if arguments.searches => searches(files, &control),
            files => agreement(files.iter().map(|f| bench::recorded(f, &control)), &control),
        };
    }
    let plan = bench::Plan {
        scripts,
        parameters: arguments.settings.set,
        size: arguments.settings.size,
        peers: arguments.peers,
        curve: arguments.curve,
        height: if arguments.speed_ups {
            bench::Height::SpeedUp
        } else {
            bench::Height::Share
        },
    };
    let against = match arguments.against.as_deref().map(Against::read).transpose() {
        Ok(against) => against,
        Err(error) => {
            say(&format!("error: --against: {error}"));
            return ExitCode::from(2);
        }
    };
    let bar = teml::report::Bar::new(output::can_redraw());
    let mut printed = Ok(());
    let mut unwritten = None;
    let mut show = |results: &bench::Results| {
        if let Some(group) = results.groups.last() {
            let table = format!("{}\n\n", bench::table(group));
            if printed.is_ok() {
                bar.hidden(|| printed = print(&table));
            }
        }
        let (json, out) = (arguments.json.as_deref(), arguments.out.as_deref());
        let written = bench::write(results, json, out, against.as_ref());
        unwritten = written.err();
    };
    let measured = bench::run(&plan, &control, &|progress| bar.show(progress), &mut show);
    drop(bar);
    let code = match measured {
        Ok(results) => {
            let summary = format!("{}\n", bench::summary(&results));
            let printed = printed.and_then(|()| print(&summary));
            if results.failed() {
                ExitCode::FAILURE
            } else {
                output::code(printed)
            }
        }
        Err(error) => failed(&error, &control),
    };
    match unwritten {
        Some(error) => {
            say(&format!("error: cannot write the results: {error}"));
            ExitCode::FAILURE
        }
        None => code,
    }
}

/// Reports how well the cost model ranks the measured variants of each kernel.
fn agreement(each: impl Iterator<Item = bench::Agreement>, control: &Control) -> ExitCode {
    let mut all = Vec::new();
    let mut printed = Ok(());
    for found in each {
        if control.interrupted() {
            return output::stopped();
        }
        printed = printed.and_then(|()| print(&format!("{}\n", bench::agreement_line(&found))));
        all.push(found);
    }
    let summary = format!("{}\n", bench::agreement_summary(&all));
    if all.iter().any(|agreement| agreement.why.is_some()) {
        ExitCode::FAILURE
    } else {
        output::code(printed.and_then(|()| print(&summary)))
    }
}

/// Reports how soon each search finds one of the best points of recorded sweeps.
fn searches(files: &[PathBuf], control: &Control) -> ExitCode {
    let mut printed = Ok(());
    for file in files {
        let lines = bench::replayed(file, control).join("\n");
        let text = format!("{}:\n{lines}\n", file.display());
        printed = printed.and_then(|()| print(&text));
    }
    output::code(printed)
}

fn failed(error: &RuntimeError, control: &Control) -> ExitCode {
    say(&format!("error: {error}"));
    if control.interrupted() {
        output::stopped()
    } else {
        ExitCode::FAILURE
    }
}

/// `teml machine --target`.
pub fn machine_of(target: &Target) -> ExitCode {
    let text = teml::report::device(&target.device);
    output::code(print(&format!("{text}\n")))
}

/// `teml machine`.
pub fn machine(again: bool, threads: Option<u16>, save: Option<&Path>) -> ExitCode {
    let control = Control::default();
    stop_on_ctrl_c(&control, GRACE);
    let mut counts = vec![1, control.threads];
    counts.extend(threads.map(usize::from));
    counts.sort_unstable();
    counts.dedup();
    let measure = || -> Result<Vec<Speed>, RuntimeError> {
        if again {
            teml::machine::forget(&control)?;
            teml::machine::forget_devices(&control);
        }
        let speeds = counts.into_iter();
        speeds
            .map(|threads| teml::machine::speed(threads, &control))
            .collect()
    };
    let speeds = match measure() {
        Ok(speeds) => speeds,
        Err(error) => return failed(&error, &control),
    };
    let text = teml::report::machine(&Machine::known(&control), &speeds);
    let device = match teml::machine::device(Device::here().api, &control) {
        Ok(device) => device,
        Err(_) if save.is_none() => return output::code(print(&format!("{text}\n"))),
        Err(error) => return failed(&error, &control),
    };
    if let Some(file) = save
        && let Err(error) = std::fs::write(file, format!("{}\n", Target::file(&device)))
    {
        say(&format!("error: {}: {error}", file.display()));
        return ExitCode::FAILURE;
    }
    let device = teml::report::device(&device);
    output::code(print(&format!("{text}\n{device}\n")))
}
