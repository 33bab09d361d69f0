//! What can stand on the command line, and what help says about it.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::time::Duration;
use teml::bench::{self, Choice, Script, Sizes};
use teml::script::Size;

/// Builds, transforms, checks and times tensor kernels by script.
#[derive(Parser)]
#[command(version, about, after_help = AFTER_HELP)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Exit codes: 0 success, 1 an error in a script or a kernel, 2 a wrong command line, 130 interrupted.
Environment: CC names the C compiler, and CFLAGS adds flags to it, which override teml's choice of
-O, -march and -mtune but not what decides results. TEML_CACHE_DIR says where compiled kernels are
kept, TEML_ISL is the file of the library isl, which computes proofs. NO_COLOR turns colors off.";

#[derive(Subcommand)]
pub enum Command {
    /// Run a script: what it compares is compiled, checked and timed
    Run {
        /// The script; `-` is standard input
        file: PathBuf,
        #[command(flatten)]
        settings: Settings,
        #[command(flatten)]
        limits: Limits,
        #[command(flatten)]
        writing: Writing,
    },
    /// Write the C that a script generates, without compiling or timing anything
    ///
    /// The C of every `codegen` in the script; where there is none, of every variant of every
    /// `compare`.
    Emit {
        /// The script; `-` is standard input
        file: PathBuf,
        /// Where to write the C; standard output by default
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        settings: Settings,
        #[command(flatten)]
        team: Team,
    },
    /// Prove that each variant of a script computes what its definition says, and time nothing
    ///
    /// A line for every variant that the script gives to compare, measure, run or codegen.
    Check {
        /// The script; `-` is standard input
        file: PathBuf,
        /// Execute every instance of every statement, too, and compare all elements: for small
        /// sizes, which --set chooses
        #[arg(long)]
        exhaustive: bool,
        #[command(flatten)]
        settings: Settings,
        #[command(flatten)]
        team: Team,
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
        #[command(flatten)]
        writing: Writing,
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
    Worker {
        /// Run none, but kill what that process has started when it is killed
        #[arg(long)]
        guard: bool,
    },
}

#[derive(Args)]
pub struct Settings {
    /// What `param("NAME", default)` gives in the script; can be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    pub set: Vec<(String, String)>,
    /// Which default holds for what is not set: the first of `param("NAME", default, mini)`, or the
    /// second one, which takes no time
    #[arg(long, value_name = "SIZE", default_value = "bench", value_parser = size)]
    pub size: Size,
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
pub struct Bench {
    /// Scripts that compare variants of a kernel
    pub files: Vec<PathBuf>,
    /// A kernel that comes with the tool; can be repeated
    #[arg(long = "kernel", value_name = "NAME", value_parser = kernel)]
    pub kernels: Vec<Script>,
    /// Compare with openblas, openblas=/PATH/libopenblas.so, cc (-ffast-math) or polly, where
    /// they are installed; can be repeated
    #[arg(long = "peer", value_name = "PEER")]
    pub peers: Vec<Choice>,
    /// Measure the last variant and the peers alone, at several sizes: NAMES=VALUES sets the
    /// script's parameters, such as m,n,k=64,128,256
    #[arg(long, value_name = "SIZES")]
    pub curve: Option<Sizes>,
    /// Write the results to a file, too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write results, a page with charts and C, and the charts to a directory, too
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub settings: Settings,
    #[command(flatten)]
    pub limits: Limits,
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
pub struct Team {
    /// Threads of parallel loops, for which schedules are made; one per core by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
}

#[derive(Args)]
pub struct Limits {
    #[command(flatten)]
    pub team: Team,
    /// Stop a run of a kernel after this many seconds, such as 0.5; 60 by default, 300 in a bench
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub time_limit: Option<Duration>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok();
    let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    limit
        .filter(|limit| !limit.is_zero())
        .ok_or_else(|| "expected a number of seconds above 0, such as 0.5".to_owned())
}

#[derive(Args)]
pub struct Writing {
    /// Let imported modules write to this directory, too, and not to the working directory alone;
    /// can be repeated. The script itself may write anywhere
    #[arg(long, value_name = "DIR")]
    pub allow_write: Vec<PathBuf>,
}
