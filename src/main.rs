//! The `teml` command.

use clap::{Args, Parser, Subcommand};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;
use teml::bench::{self, Choice, Script};
use teml::machine::{Machine, Speed};
use teml::runtime::{Control, RuntimeError};
use teml::script::{Mode, ScriptError, Session, Size, Workbench};

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
    /// Measure kernels: each variant that their scripts compare, and what others make of them
    ///
    /// Without a script and without --kernel, the ten kernels that come with the tool. Writes a
    /// table for each kernel and a summary; what was measured before Ctrl-C is written, too.
    Bench(Bench),
    /// Explore step by step, line by line
    Repl {
        #[command(flatten)]
        limits: Limits,
    },
    /// Say what this machine is, and how fast it is at best
    ///
    /// What is measured, in some seconds, is remembered for this processor and this compiler.
    Machine {
        /// Measure again what is remembered
        #[arg(long)]
        again: bool,
        /// Measure with this number of threads, too
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
        threads: Option<u16>,
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
    /// Which default holds for what is not set: the first of `param("NAME", default, mini)`, or the
    /// second one, which takes no time
    #[arg(long, value_name = "SIZE", default_value = "bench", value_parser = size)]
    size: Size,
}

fn size(text: &str) -> Result<Size, String> {
    match text {
        "bench" => Ok(Size::Bench),
        "mini" => Ok(Size::Mini),
        _ => Err("expected bench or mini".to_owned()),
    }
}

fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE, such as n=100".to_owned()),
    }
}

#[derive(Args)]
struct Bench {
    /// Scripts that compare variants of a kernel
    files: Vec<PathBuf>,
    /// A kernel that comes with the tool; can be repeated
    #[arg(long = "kernel", value_name = "NAME", value_parser = kernel)]
    kernels: Vec<Script>,
    /// Compare with openblas, openblas=/PATH/libopenblas.so, cc (-ffast-math) or polly, where
    /// they are installed; can be repeated
    #[arg(long = "peer", value_name = "PEER")]
    peers: Vec<Choice>,
    /// Write the results to a file, too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write results, a page with charts and C, and the charts to a directory, too
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    limits: Limits,
}

fn kernel(name: &str) -> Result<Script, String> {
    let mut scripts = bench::scripts();
    match scripts.iter().position(|script| script.name == name) {
        Some(k) => Ok(scripts.swap_remove(k)),
        None => {
            let names: Vec<&str> = scripts.iter().map(|s| s.name.as_str()).collect();
            Err(format!("expected one of {}", names.join(", ")))
        }
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
        Command::Bench(arguments) => measure(arguments),
        Command::Repl { limits } => repl(&limits),
        Command::Machine { again, threads } => machine(again, threads),
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

fn emit(file: &Path, output: Option<&Path>, settings: Settings) -> ExitCode {
    let workbench = Workbench {
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

fn check(file: &Path, exhaustive: bool, settings: Settings) -> ExitCode {
    let workbench = Workbench {
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

fn measure(arguments: Bench) -> ExitCode {
    let control = workbench(&arguments.limits).control;
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
            let summary = bench::summary(&results);
            let _ = writeln!(
                std::io::stdout(),
                "speed-ups over the untransformed nests:\n{summary}"
            );
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
            let text = teml::report::machine(&Machine::this(), &speeds);
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
