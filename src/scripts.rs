//! Commands that run a script, each in a session with its own use of the variants.

use crate::arguments::{Running, Search, Settings, Team, Writing};
use crate::output::{self, print, say};
use crate::searching;
use crate::{fail, of_team, session, workbench, writing};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;
use teml::codegen::{Kernel, unit_after};
use teml::lang::Notation;
use teml::runtime::{Control, Writer};
use teml::script::{ScriptError, Session};
use teml::target::Target;
use teml::trial::{self, Cargo, Check, Emit, Run};
use teml::verbs::{Tuning, Workbench};

/// `teml run`.
pub fn run(file: &Path, running: Running) -> ExitCode {
    in_session(file, stdout(), bench(running), |session| {
        if let Some(text) = session.silence(std::io::stderr().is_terminal()) {
            say(text.trim_end());
        }
        ExitCode::SUCCESS
    })
}

/// `teml tune`.
pub fn tune(file: &Path, search: Search, running: Running) -> ExitCode {
    let workbench = Workbench {
        runner: Arc::new(Run { collects: true }),
        tuning: Tuning {
            launch: searching::launch(&search),
            keeps: true,
            trials: search.trials.map(|count| count as usize),
            time: search.time,
            begun: Some(Instant::now()),
            strategy: search.search,
            seed: search.seed,
            records: search.records,
            resume: search.resume,
            page: search.page,
            shows_script: true,
            ..Tuning::default()
        },
        ..bench(running)
    };
    let more = Session::tune_what_was_compared;
    in_session_and(file, stdout(), workbench, more, |session| {
        if session.tunes() {
            ExitCode::SUCCESS
        } else {
            failure(file, NOTHING_TUNED)
        }
    })
}

/// `teml apply`.
pub fn apply(records: PathBuf, file: &Path, running: Running) -> ExitCode {
    let workbench = Workbench {
        tuning: Tuning {
            records: Some(records),
            applies: true,
            ..Tuning::default()
        },
        ..bench(running)
    };
    in_session(file, stdout(), workbench, |session| {
        if session.applies() {
            ExitCode::SUCCESS
        } else {
            failure(file, NOTHING_TUNED)
        }
    })
}

const NOTHING_TUNED: &str = "neither tunes nor compares anything";

/// The output of `teml emit`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// Plans as pseudo-code.
    Plans,
    /// C.
    Code,
    /// C that was compiled, run and compared.
    Verified,
}

/// `teml emit`.
pub fn emit(
    file: &Path,
    output: Option<&Path>,
    settings: Settings,
    (team, writing): (&Team, Writing),
    target: Target,
    text: Text,
) -> ExitCode {
    let mut control = of_team(team);
    if let (None, Some(threads)) = (team.threads, target.threads) {
        control.threads = threads.into();
    }
    let mut trials = trial::Settings::default();
    trials.options.target = target;
    let writer = Writer::new(&control, &writing.allow_write);
    let workbench = Workbench {
        winners: searching::winners(&control),
        control: control.clone(),
        allow_write: writing.allow_write,
        settings: trials,
        runner: Arc::new(Emit {
            verifies: text == Text::Verified,
        }),
        ..Workbench::default()
    };
    // Standard output is reserved for the C.
    let stderr = Box::new(std::io::stderr());
    in_session(file, stderr, with(settings, workbench), |session| {
        let written = match text {
            Text::Plans => session.plans(),
            Text::Code | Text::Verified => session.emitted(),
        };
        let Some(mut written) = written else {
            let what = "generates no code: it calls neither codegen nor compare";
            return failure(file, what);
        };
        if text == Text::Verified {
            written = match verified(session, &control) {
                Ok(text) => text,
                Err(code) => return code,
            };
        }
        match output {
            Some(path) => match writer.write(path, written) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    let path = path.display();
                    say(&format!("error: cannot write the C: {path}: {error}"));
                    ExitCode::FAILURE
                }
            },
            None => output::code(print(&written)),
        }
    })
}

/// The C that a session emits, after it was run and compared.
fn verified(session: &Session, control: &Control) -> Result<String, ExitCode> {
    let kernels = session.emitted_kernels();
    let (inputs, settings) = {
        let bench = session.bench().lock();
        (bench.inputs.clone(), bench.settings.clone())
    };
    let all: Vec<Kernel> = kernels.iter().map(|(kernel, _)| kernel.clone()).collect();
    let cargo = Cargo {
        name: "kernels",
        source: &|preamble| unit_after(preamble, &all),
        header: String::new(),
        kernels,
        inputs: &inputs,
        settings: &settings,
        parts: Vec::new(),
    };
    let shipped = writing::reported(cargo.ship(control))?;
    Ok(unit_after(&shipped.preamble, &all))
}

/// `teml check`.
pub fn check(file: &Path, exhaustive: bool, settings: Settings, team: &Team) -> ExitCode {
    let control = of_team(team);
    let workbench = Workbench {
        winners: searching::winners(&control),
        control,
        runner: Arc::new(Check { exhaustive }),
        ..Workbench::default()
    };
    let workbench = with(settings, workbench);
    in_session(file, stdout(), workbench, |session| {
        match session.checked() {
            [0, ..] => failure(file, "gives no variant to compare, measure, run or codegen"),
            [_, 0, _] => ExitCode::SUCCESS,
            [_, _, 0] => ExitCode::FAILURE,
            [all, _, unproved] => failure(
                file,
                &format!("is not proved: nothing proves {unproved} of {all} variants, see above"),
            ),
        }
    })
}

fn stdout() -> Box<dyn Write + Send> {
    Box::new(std::io::stdout())
}

/// Reports an error about a script that did not fail.
pub fn failure(file: &Path, what: &str) -> ExitCode {
    say(&format!("error: {} {what}", file.display()));
    ExitCode::FAILURE
}

/// The workbench of commands that time kernels.
fn bench(running: Running) -> Workbench {
    with(
        running.settings,
        workbench(&running.limits, running.writing),
    )
}

/// A workbench with the parameters of the command line.
pub fn with(settings: Settings, workbench: Workbench) -> Workbench {
    Workbench {
        parameters: settings.set.into(),
        size: settings.size,
        ..workbench
    }
}

/// Runs the script of a file in its own session. If the script did not fail, `answer` gives the
/// exit code.
pub fn in_session(
    file: &Path,
    output: Box<dyn Write + Send>,
    workbench: Workbench,
    answer: impl FnOnce(&Session) -> ExitCode,
) -> ExitCode {
    in_session_and(file, output, workbench, |_| Ok(()), answer)
}

/// Like [`in_session`], with `more` to do after the script.
fn in_session_and(
    file: &Path,
    output: Box<dyn Write + Send>,
    workbench: Workbench,
    more: impl FnOnce(&mut Session) -> Result<(), ScriptError>,
    answer: impl FnOnce(&Session) -> ExitCode,
) -> ExitCode {
    let mut session = match session(output, workbench) {
        Ok(session) => session,
        Err(code) => return code,
    };
    // A misspelled name is found before anything runs, if the text alone tells.
    let is_script = file != Path::new("-") && Notation::of_file(file).is_none();
    let text = is_script
        .then(|| std::fs::read_to_string(file).ok())
        .flatten();
    if let Some(name) = text.and_then(|text| session.unknown_parameter(&text)) {
        return unknown_setting(&name);
    }
    let ran = script(&mut session, file).and_then(|()| more(&mut session));
    let written = output::written(session.written());
    if let Err(error) = ran {
        return fail(&error);
    }
    if let Err(code) = written {
        return code;
    }
    match session.unused_parameter() {
        None => answer(&session),
        Some(name) => unknown_setting(&name),
    }
}

fn unknown_setting(name: &str) -> ExitCode {
    say(&format!(
        "error: the script has no param(\"{name}\", …), which --set names"
    ));
    ExitCode::from(2)
}

/// Runs the script of a file, or of standard input, and prints its warnings.
fn script(session: &mut Session, file: &Path) -> Result<(), ScriptError> {
    let ran = if file == Path::new("-") {
        session.run_input(std::io::stdin())
    } else {
        teml::bench::run_file(session, file)
    };
    for warning in session.warnings(std::io::stderr().is_terminal()) {
        say(warning.trim_end());
    }
    ran
}
