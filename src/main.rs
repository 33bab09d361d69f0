//! The `teml` command.

mod arguments;

use arguments::{Bench, Cli, Command, Limits, Settings, Team};
use clap::Parser;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;
use teml::bench::{self, Script};
use teml::machine::{Machine, Speed};
use teml::runtime::{Control, RuntimeError};
use teml::script::{Mode, ScriptError, Session, Workbench};

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Run {
            file,
            settings,
            limits,
        } => run(&file, settings, &limits),
        Command::Emit {
            file,
            output,
            settings,
            team,
        } => emit(&file, output.as_deref(), settings, &team),
        Command::Check {
            file,
            exhaustive,
            settings,
            team,
        } => check(&file, exhaustive, settings, &team),
        Command::Bench(arguments) => measure(arguments),
        Command::Repl { limits } => repl(&limits),
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
        control.run_limit = Duration::from_secs(seconds);
    }
    control
}

fn workbench(limits: &Limits) -> Workbench {
    Workbench {
        control: control(limits),
        shows_progress: std::io::stderr().is_terminal(),
        ..Workbench::default()
    }
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

fn run(file: &Path, settings: Settings, limits: &Limits) -> ExitCode {
    let workbench = Workbench {
        parameters: settings.set.into(),
        size: settings.size,
        ..workbench(limits)
    };
    let mut session = match session(Box::new(std::io::stdout()), workbench) {
        Ok(session) => session,
        Err(code) => return code,
    };
    match session.run_file(file) {
        Ok(()) => finish(&session),
        Err(error) => fail(&error),
    }
}

fn emit(file: &Path, output: Option<&Path>, settings: Settings, team: &Team) -> ExitCode {
    let workbench = Workbench {
        control: of_team(team),
        mode: Mode::Emit,
        parameters: settings.set.into(),
        size: settings.size,
        ..Workbench::default()
    };
    // Standard output is for C alone.
    let mut session = match session(Box::new(std::io::stderr()), workbench) {
        Ok(session) => session,
        Err(code) => return code,
    };
    if let Err(error) = session.run_file(file) {
        return fail(&error);
    }
    let text = match session.emitted() {
        Some(text) => text,
        None => {
            say(&format!(
                "error: {} generates no code: it calls neither codegen nor compare",
                file.display()
            ));
            return ExitCode::FAILURE;
        }
    };
    let written = match output {
        Some(path) => std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display())),
        None => {
            let mut out = std::io::stdout();
            let result = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            match result {
                Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(e.to_string()),
                _ => Ok(()),
            }
        }
    };
    match written {
        Ok(()) => finish(&session),
        Err(reason) => {
            say(&format!("error: cannot write the C: {reason}"));
            ExitCode::FAILURE
        }
    }
}

fn check(file: &Path, exhaustive: bool, settings: Settings, team: &Team) -> ExitCode {
    let workbench = Workbench {
        control: of_team(team),
        mode: Mode::Check { exhaustive },
        parameters: settings.set.into(),
        size: settings.size,
        ..Workbench::default()
    };
    let mut session = match session(Box::new(std::io::stdout()), workbench) {
        Ok(session) => session,
        Err(code) => return code,
    };
    if let Err(error) = session.run_file(file) {
        return fail(&error);
    }
    match session.checked() {
        (0, _) => {
            let file = file.display();
            say(&format!(
                "error: {file} gives no variant to compare, measure, run or codegen"
            ));
            ExitCode::FAILURE
        }
        (_, 0) => finish(&session),
        (_, _) => ExitCode::FAILURE,
    }
}

/// A setting that nothing asked for is misspelt.
fn finish(session: &Session) -> ExitCode {
    match session.unused_parameter() {
        None => ExitCode::SUCCESS,
        Some(name) => {
            say(&format!(
                "error: the script has no param(\"{name}\", …), which --set names"
            ));
            ExitCode::from(2)
        }
    }
}

fn repl(limits: &Limits) -> ExitCode {
    let session = match session(Box::new(std::io::stdout()), workbench(limits)) {
        Ok(session) => session,
        Err(code) => return code,
    };
    match teml::repl::run(session) {
        Ok(()) => ExitCode::SUCCESS,
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
    let plan = bench::Plan {
        scripts,
        parameters: arguments.settings.set,
        size: arguments.settings.size,
        peers: arguments.peers,
        curve: arguments.curve,
    };
    let bar = teml::report::Bar::new(std::io::stderr().is_terminal());
    let mut out = std::io::stdout();
    let mut unwritten = None;
    let mut show = |results: &bench::Results| {
        if let Some(group) = results.groups.last() {
            bar.hidden(|| {
                let _ = writeln!(out, "{}\n", bench::table(group));
            });
        }
        let written = bench::write(results, arguments.json.as_deref(), arguments.out.as_deref());
        unwritten = written.err();
    };
    let measured = bench::run(&plan, &control, &|progress| bar.show(progress), &mut show);
    drop(bar);
    let code = match measured {
        Ok(results) => {
            let _ = writeln!(std::io::stdout(), "{}", bench::summary(&results));
            match results.failed() {
                true => ExitCode::FAILURE,
                false => ExitCode::SUCCESS,
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
            let _ = writeln!(std::io::stdout(), "{text}");
            ExitCode::SUCCESS
        }
        Err(error) => failed(&error, &control),
    }
}

fn fail(error: &ScriptError) -> ExitCode {
    say(error.render(std::io::stderr().is_terminal()).trim_end());
    match error.interrupted {
        true => ExitCode::from(130),
        false => ExitCode::FAILURE,
    }
}

/// A line on standard error; a closed one is no reason to panic.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
