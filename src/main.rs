//! The `teml` command.

use clap::{Args, Parser, Subcommand};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;
use teml::runtime::Control;
use teml::script::{Mode, ScriptError, Session, Workbench};

/// Builds, transforms, checks and times tensor kernels by script.
#[derive(Parser)]
#[command(version, about, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Exit codes: 0 success, 1 an error in a script or a kernel, 2 a wrong command line, 130 interrupted.
Environment: CC names the C compiler, TEML_CACHE_DIR where compiled kernels are kept, TEML_ISL
the file of the library isl, which proofs are computed with.";

#[derive(Subcommand)]
enum Command {
    /// Run a script: what it compares is compiled, checked and timed
    Run {
        /// The script
        file: PathBuf,
        #[command(flatten)]
        settings: Settings,
        #[command(flatten)]
        limits: Limits,
    },
    /// Write the C that a script generates, without compiling or timing anything
    ///
    /// The C of every `codegen` in the script; where there is none, of every variant of every
    /// `compare`.
    Emit {
        /// The script
        file: PathBuf,
        /// Where to write the C; standard output by default
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        settings: Settings,
    },
    /// Prove that each variant of a script computes what its definition says, and time nothing
    ///
    /// A line for every variant that the script gives to compare, measure, run or codegen.
    Check {
        /// The script
        file: PathBuf,
        /// Execute every instance of every statement, too, and compare all elements: for small
        /// sizes, which --set chooses
        #[arg(long)]
        exhaustive: bool,
        #[command(flatten)]
        settings: Settings,
    },
    /// Explore step by step, line by line
    Repl {
        #[command(flatten)]
        limits: Limits,
    },
    /// Run kernels for another teml process
    #[command(hide = true)]
    Worker,
}

#[derive(Args)]
struct Settings {
    /// What `param("NAME", default)` gives in the script; can be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    set: Vec<(String, String)>,
}

fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE, such as n=100".to_owned()),
    }
}

#[derive(Args)]
struct Limits {
    /// Threads of parallel loops; one per core by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// The longest that one run of a kernel may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    time_limit: u64,
}

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
        } => emit(&file, output.as_deref(), settings),
        Command::Check {
            file,
            exhaustive,
            settings,
        } => check(&file, exhaustive, settings),
        Command::Repl { limits } => repl(&limits),
        Command::Worker => teml::runtime::serve(),
    }
}

fn workbench(limits: &Limits) -> Workbench {
    let mut control = Control {
        run_limit: Duration::from_secs(limits.time_limit),
        ..Control::default()
    };
    if let Some(threads) = limits.threads {
        control.threads = threads.into();
    }
    Workbench {
        control,
        shows_progress: std::io::stderr().is_terminal(),
        ..Workbench::default()
    }
}

/// The session of a command, stopped by Ctrl-C; the exit code where there is none.
fn session(output: Box<dyn Write + Send>, workbench: Workbench) -> Result<Session, ExitCode> {
    let session = Session::new(output, workbench).map_err(|e| fail(&e))?;
    let interrupt = session.interrupt_flag();
    let handler = ctrlc::set_handler(move || interrupt.store(true, Ordering::Relaxed));
    if let Err(error) = handler {
        say(&format!(
            "warning: Ctrl-C will not stop kernels cleanly: {error}"
        ));
    }
    Ok(session)
}

fn run(file: &Path, settings: Settings, limits: &Limits) -> ExitCode {
    let workbench = Workbench {
        parameters: settings.set.into(),
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

fn emit(file: &Path, output: Option<&Path>, settings: Settings) -> ExitCode {
    let parameters = settings.set.into();
    let workbench = Workbench {
        mode: Mode::Emit,
        parameters,
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

fn check(file: &Path, exhaustive: bool, settings: Settings) -> ExitCode {
    let workbench = Workbench {
        mode: Mode::Check { exhaustive },
        parameters: settings.set.into(),
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
