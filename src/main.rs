//! The `teml` command.

mod arguments;
mod building;
mod measuring;
mod output;
mod scripts;
mod searching;
mod serving;
mod writing;

use arguments::{Abi, Cli, Command, Limits, Team, Writing};
use building::Building;
use clap::Parser;
use output::say;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use teml::diag;
use teml::repl::Broken;
use teml::runtime::{self, Control};
use teml::script::{ScriptError, Session};
use teml::target::Device;
use teml::verbs::Workbench;

fn main() -> ExitCode {
    let command = match Cli::try_parse() {
        Ok(cli) => cli.command,
        // Requests for help and for the version also end up here.
        Err(answer) => {
            let code = u8::try_from(answer.exit_code()).unwrap_or(2);
            return match output::written(answer.print()) {
                Ok(()) => ExitCode::from(code),
                Err(code) => code,
            };
        }
    };
    if let Err(why) = Device::asked() {
        say(&format!("error: {why}"));
        return ExitCode::from(2);
    }
    match command {
        Command::Run { file, running } => scripts::run(&file, running),
        Command::Emit {
            file,
            output,
            settings,
            team,
            target,
            plan,
            writing,
            verify,
        } => {
            let written = match (plan, verify) {
                (true, _) => scripts::Text::Plans,
                (false, false) => scripts::Text::Code,
                (false, true) => scripts::Text::Verified,
            };
            let output = output.as_deref();
            scripts::emit(&file, output, settings, (&team, writing), target, written)
        }
        Command::Check {
            file,
            exhaustive,
            settings,
            team,
        } => scripts::check(&file, exhaustive, settings, &team),
        Command::Build {
            file,
            out,
            name,
            target,
            abi,
            settings,
            team,
            writing,
        } => match abi {
            None => writing::build(&file, &out, (name, target), settings, (&team, writing)),
            Some(Abi::Blas) => {
                let building = Building {
                    out,
                    settings,
                    team,
                    writing,
                };
                building::build_blas(&file, &building)
            }
        },
        Command::Doc { out } => writing::doc(out.as_deref()),
        Command::Definitions { directory } => writing::definitions(&directory),
        Command::Completions { shell } => writing::completions(shell),
        Command::Man { directory } => writing::man(&directory),
        Command::Tune {
            file,
            search,
            running,
        } => scripts::tune(&file, search, running),
        Command::Apply {
            records,
            file,
            running,
        } => scripts::apply(records, &file, running),
        Command::Bench(arguments) => measuring::bench(arguments),
        Command::Repl {
            file,
            no_compare,
            limits,
            writing,
        } => repl(file.as_deref(), no_compare, &limits, writing),
        Command::Machine {
            target: Some(target),
            ..
        } => measuring::machine_of(&target),
        Command::Machine {
            again,
            threads,
            save,
            target: None,
        } => measuring::machine(again, threads, save.as_deref()),
        Command::Serve { limits, writing } => serving::serve(workbench(&limits, writing)),
        Command::TuneWorker { directory } => searching::work(&directory),
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

fn workbench(limits: &Limits, writing: Writing) -> Workbench {
    let control = control(limits);
    Workbench {
        winners: searching::winners(&control),
        control,
        allow_write: writing.allow_write,
        shows_progress: output::can_redraw(),
        columns: output::columns(),
        ..Workbench::default()
    }
}

/// The session of a command, stopped by Ctrl-C; the exit code if it cannot be made.
fn session(output: Box<dyn Write + Send>, workbench: Workbench) -> Result<Session, ExitCode> {
    stop_on_ctrl_c(&workbench.control, GRACE);
    Session::new(output, workbench).map_err(|e| fail(&e))
}

/// How long a command may take to end by itself after Ctrl-C.
const GRACE: Duration = Duration::from_secs(5);

/// Shorter, because the REPL may be waiting for a line.
const GRACE_OF_REPL: Duration = Duration::from_secs(1);

/// Once for all sessions of a command, whose controls share a flag.
fn stop_on_ctrl_c(control: &Control, grace: Duration) {
    static IS_SET: AtomicBool = AtomicBool::new(false);
    if IS_SET.swap(true, Ordering::Relaxed) {
        return;
    }
    let interrupt = control.interrupt.clone();
    let handler = ctrlc::set_handler(move || {
        interrupt.store(true, Ordering::Relaxed);
        teml::poly::stop();
        if runtime::ended_by().is_some() {
            std::thread::sleep(grace);
            std::process::exit(runtime::stopped_code().into());
        }
    });
    let handler = handler.map_err(|error| error.to_string());
    let endings = || runtime::end_as_ctrl_c().map_err(|error| error.to_string());
    if let Err(error) = handler.and_then(|()| endings()) {
        say(&format!(
            "warning: Ctrl-C will not stop kernels cleanly: {error}"
        ));
    }
}

fn repl(file: Option<&Path>, no_compare: bool, limits: &Limits, writing: Writing) -> ExitCode {
    let workbench = workbench(limits, writing);
    stop_on_ctrl_c(&workbench.control, GRACE_OF_REPL);
    let open = move || Session::new(Box::new(std::io::stdout()), workbench);
    match teml::repl::run(open, file, no_compare) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(Broken::Session(error)) => fail(&error),
        Err(Broken::Terminal(error)) => {
            say(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn fail(error: &ScriptError) -> ExitCode {
    let color = diag::color(std::io::stderr().is_terminal());
    say(error.render(color).trim_end());
    if error.interrupted {
        output::stopped()
    } else {
        ExitCode::FAILURE
    }
}
