//! The `teml` command.

mod arguments;
mod output;
mod writing;

use arguments::{Bench, Cli, Command, Limits, Search, Settings, Team};
use clap::Parser;
use output::{print, say};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use teml::bench::{self, Against, Script};
use teml::diag;
use teml::machine::{Machine, Speed};
use teml::runtime::{Control, RuntimeError};
use teml::script::{ScriptError, Session, Tuning, Workbench};
use teml::target::Target;
use teml::trial::{self, Check, Emit, Tune};

fn main() -> ExitCode {
    let command = match Cli::try_parse() {
        Ok(cli) => cli.command,
        // Help and the version are such answers, too.
        Err(answer) => {
            let code = u8::try_from(answer.exit_code()).unwrap_or(2);
            return match output::written(answer.print()) {
                Ok(()) => ExitCode::from(code),
                Err(code) => code,
            };
        }
    };
    match command {
        Command::Run {
            file,
            settings,
            limits,
            writing,
        } => run(&file, settings, &limits, writing.allow_write),
        Command::Emit {
            file,
            output,
            settings,
            team,
            target,
            plan,
        } => {
            let written = match plan {
                true => Session::plans,
                false => Session::emitted,
            };
            emit(&file, output.as_deref(), settings, &team, target, written)
        }
        Command::Check {
            file,
            exhaustive,
            settings,
            team,
        } => check(&file, exhaustive, settings, &team),
        Command::Build {
            file,
            out,
            name,
            settings,
            team,
        } => writing::build(&file, &out, name, settings, &team),
        Command::Doc { out } => writing::doc(out.as_deref()),
        Command::Definitions { directory } => writing::definitions(&directory),
        Command::Completions { shell } => writing::completions(shell),
        Command::Man { directory } => writing::man(&directory),
        Command::Tune {
            file,
            search,
            settings,
            limits,
            writing,
        } => tune(&file, search, settings, &limits, writing.allow_write),
        Command::Apply {
            records,
            file,
            settings,
            limits,
            writing,
        } => apply(records, &file, settings, &limits, writing.allow_write),
        Command::Bench(arguments) => measure(arguments),
        Command::Repl {
            file,
            no_compare,
            limits,
            writing,
        } => repl(file.as_deref(), no_compare, &limits, writing.allow_write),
        Command::Machine { again, threads } => machine(again, threads),
        Command::Worker { guard } => teml::runtime::serve(guard),
    }
}

fn of_team(team: &Team) -> Control {
    let mut control = Control::default();
    if let Some(threads) = team.threads {
        control.threads = threads.into();
    }
    control
}

fn control(limits: &Limits) -> Control {
    let mut control = of_team(&limits.team);
    if let Some(seconds) = limits.time_limit {
        control.run_limit = seconds;
    }
    control
}

fn workbench(limits: &Limits) -> Workbench {
    Workbench {
        control: control(limits),
        shows_progress: output::can_redraw(),
        ..Workbench::default()
    }
}

/// Runs the script in a file, or on standard input, and says what it is warned of.
fn script(session: &mut Session, file: &Path) -> Result<(), ScriptError> {
    let ran = match file == Path::new("-") {
        true => session.run_input(std::io::stdin()),
        false => session.run_file(file),
    };
    for warning in session.warnings(std::io::stderr().is_terminal()) {
        say(warning.trim_end());
    }
    ran
}

/// The session of a command, stopped by Ctrl-C; the exit code where there is none.
fn session(output: Box<dyn Write + Send>, workbench: Workbench) -> Result<Session, ExitCode> {
    stop_on_ctrl_c(&workbench.control);
    Session::new(output, workbench).map_err(|e| fail(&e))
}

fn stop_on_ctrl_c(control: &Control) {
    let interrupt = control.interrupt.clone();
    let handler = ctrlc::set_handler(move || interrupt.store(true, Ordering::Relaxed));
    if let Err(error) = handler {
        say(&format!(
            "warning: Ctrl-C will not stop kernels cleanly: {error}"
        ));
    }
}

fn run(file: &Path, settings: Settings, limits: &Limits, allow_write: Vec<PathBuf>) -> ExitCode {
    let workbench = Workbench {
        parameters: settings.set.into(),
        size: settings.size,
        allow_write,
        ..workbench(limits)
    };
    let mut session = match session(Box::new(std::io::stdout()), workbench) {
        Ok(session) => session,
        Err(code) => return code,
    };
    let ran = script(&mut session, file);
    finish(&session, ran, || {
        if let Some(text) = session.silence(std::io::stderr().is_terminal()) {
            say(text.trim_end());
        }
        ExitCode::SUCCESS
    })
}

fn tune(
    file: &Path,
    search: Search,
    settings: Settings,
    limits: &Limits,
    allow_write: Vec<PathBuf>,
) -> ExitCode {
    let workbench = Workbench {
        runner: Arc::new(Tune),
        parameters: settings.set.into(),
        size: settings.size,
        tuning: Tuning {
            trials: search.trials.map(|count| count as usize),
            time: search.time,
            strategy: search.search,
            seed: search.seed,
            records: search.records,
            resume: search.resume,
            page: search.page,
            shows_script: true,
            ..Tuning::default()
        },
        allow_write,
        ..workbench(limits)
    };
    let mut session = match session(Box::new(std::io::stdout()), workbench) {
        Ok(session) => session,
        Err(code) => return code,
    };
    let ran = script(&mut session, file).and_then(|()| session.tune_what_was_compared());
    let tunes = session.tunes();
    finish(&session, ran, || match tunes {
        true => ExitCode::SUCCESS,
        false => {
            let file = file.display();
            say(&format!(
                "error: {file} neither tunes nor compares anything"
            ));
            ExitCode::FAILURE
        }
    })
}

fn apply(
    records: PathBuf,
    file: &Path,
    settings: Settings,
    limits: &Limits,
    allow_write: Vec<PathBuf>,
) -> ExitCode {
    let workbench = Workbench {
        parameters: settings.set.into(),
        size: settings.size,
        tuning: Tuning {
            records: Some(records),
            applies: true,
            ..Tuning::default()
        },
        allow_write,
        ..workbench(limits)
    };
    let mut session = match session(Box::new(std::io::stdout()), workbench) {
        Ok(session) => session,
        Err(code) => return code,
    };
    let ran = script(&mut session, file);
    let tunes = session.tunes();
    finish(&session, ran, || match tunes {
        true => ExitCode::SUCCESS,
        false => {
            let file = file.display();
            say(&format!(
                "error: {file} does not call tune, to which records apply"
            ));
            ExitCode::FAILURE
        }
    })
}

fn emit(
    file: &Path,
    output: Option<&Path>,
    settings: Settings,
    team: &Team,
    target: Target,
    written: fn(&Session) -> Option<String>,
) -> ExitCode {
    let mut control = of_team(team);
    if let (None, Some(threads)) = (team.threads, target.threads) {
        control.threads = threads.into();
    }
    let mut trials = trial::Settings::default();
    trials.options.target = target;
    let workbench = Workbench {
        control,
        settings: trials,
        runner: Arc::new(Emit),
        parameters: settings.set.into(),
        size: settings.size,
        ..Workbench::default()
    };
    // Standard output is for C alone.
    let mut session = match session(Box::new(std::io::stderr()), workbench) {
        Ok(session) => session,
        Err(code) => return code,
    };
    let ran = script(&mut session, file);
    let emitted = ran.is_ok().then(|| written(&session)).flatten();
    finish(&session, ran, || {
        let Some(text) = emitted else {
            say(&format!(
                "error: {} generates no code: it calls neither codegen nor compare",
                file.display()
            ));
            return ExitCode::FAILURE;
        };
        match output {
            Some(path) => match std::fs::write(path, text) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    say(&format!(
                        "error: cannot write the C: {}: {error}",
                        path.display()
                    ));
                    ExitCode::FAILURE
                }
            },
            None => output::code(print(&text)),
        }
    })
}

fn check(file: &Path, exhaustive: bool, settings: Settings, team: &Team) -> ExitCode {
    let workbench = Workbench {
        control: of_team(team),
        runner: Arc::new(Check { exhaustive }),
        parameters: settings.set.into(),
        size: settings.size,
        ..Workbench::default()
    };
    let mut session = match session(Box::new(std::io::stdout()), workbench) {
        Ok(session) => session,
        Err(code) => return code,
    };
    let ran = script(&mut session, file);
    finish(&session, ran, || match session.checked() {
        (0, _) => {
            let file = file.display();
            say(&format!(
                "error: {file} gives no variant to compare, measure, run or codegen"
            ));
            ExitCode::FAILURE
        }
        (_, 0) => ExitCode::SUCCESS,
        (_, _) => ExitCode::FAILURE,
    })
}

/// How a script ended: with an error, with output that could not be written, with a setting that
/// nothing asked for, which is misspelt, or as `otherwise` says.
fn finish(
    session: &Session,
    ran: Result<(), ScriptError>,
    otherwise: impl FnOnce() -> ExitCode,
) -> ExitCode {
    let written = output::written(session.written());
    if let Err(error) = ran {
        return fail(&error);
    }
    if let Err(code) = written {
        return code;
    }
    match session.unused_parameter() {
        None => otherwise(),
        Some(name) => {
            say(&format!(
                "error: the script has no param(\"{name}\", …), which --set names"
            ));
            ExitCode::from(2)
        }
    }
}

fn repl(
    file: Option<&Path>,
    no_compare: bool,
    limits: &Limits,
    allow_write: Vec<PathBuf>,
) -> ExitCode {
    let workbench = Workbench {
        allow_write,
        ..workbench(limits)
    };
    let session = match session(Box::new(std::io::stdout()), workbench) {
        Ok(session) => session,
        Err(code) => return code,
    };
    match teml::repl::run(session, file, no_compare) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Untransformed nests at full size take their time.
const BENCH_LIMIT: Duration = Duration::from_secs(300);

fn measure(arguments: Bench) -> ExitCode {
    let mut control = control(&arguments.limits);
    if arguments.limits.time_limit.is_none() {
        control.run_limit = BENCH_LIMIT;
    }
    stop_on_ctrl_c(&control);
    let files = arguments.files.into_iter().map(Script::of_file);
    let mut scripts: Vec<Script> = files.chain(arguments.kernels).collect();
    if scripts.is_empty() {
        scripts = bench::scripts();
    }
    if let Some(variants) = arguments.model {
        return agreement(&scripts, variants.into(), &arguments.settings, &control);
    }
    let plan = bench::Plan {
        scripts,
        parameters: arguments.settings.set,
        size: arguments.settings.size,
        peers: arguments.peers,
        curve: arguments.curve,
        height: match arguments.speed_ups {
            true => bench::Height::SpeedUp,
            false => bench::Height::Share,
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
            match results.failed() {
                true => ExitCode::FAILURE,
                false => output::code(printed),
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

fn agreement(
    scripts: &[Script],
    variants: usize,
    settings: &Settings,
    control: &Control,
) -> ExitCode {
    let mut all = Vec::new();
    let mut printed = Ok(());
    for script in scripts {
        if control.interrupted() {
            return ExitCode::from(130);
        }
        let found = bench::agreement(script, &settings.set, settings.size, variants, control);
        printed = printed.and_then(|()| print(&format!("{}\n", bench::agreement_line(&found))));
        all.push(found);
    }
    let summary = format!("{}\n", bench::agreement_summary(&all));
    match all.iter().any(|agreement| agreement.why.is_some()) {
        true => ExitCode::FAILURE,
        false => output::code(printed.and_then(|()| print(&summary))),
    }
}

fn failed(error: &RuntimeError, control: &Control) -> ExitCode {
    say(&format!("error: {error}"));
    match control.interrupted() {
        true => ExitCode::from(130),
        false => ExitCode::FAILURE,
    }
}

fn machine(again: bool, threads: Option<u16>) -> ExitCode {
    let control = Control::default();
    stop_on_ctrl_c(&control);
    let mut counts = vec![1, control.threads];
    counts.extend(threads.map(usize::from));
    counts.sort_unstable();
    counts.dedup();
    let measure = || -> Result<Vec<Speed>, RuntimeError> {
        if again {
            teml::machine::forget(&control)?;
        }
        let speeds = counts.into_iter();
        speeds
            .map(|threads| teml::machine::speed(threads, &control))
            .collect()
    };
    match measure() {
        Ok(speeds) => {
            let text = teml::report::machine(&Machine::known(&control), &speeds);
            output::code(print(&format!("{text}\n")))
        }
        Err(error) => failed(&error, &control),
    }
}

fn fail(error: &ScriptError) -> ExitCode {
    let color = diag::color(std::io::stderr().is_terminal());
    say(error.render(color).trim_end());
    match error.interrupted {
        true => ExitCode::from(130),
        false => ExitCode::FAILURE,
    }
}
