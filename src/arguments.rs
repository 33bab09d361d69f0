//! The command line and its help.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use teml::bench::{self, Choice, Script, Sizes};
use teml::target::Target;
use teml::tune::{Engine, Strategy};
use teml::verbs::Size;

/// An interface that others have defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Abi {
    /// Fortran's names and those of CBLAS
    Blas,
}

/// Builds, transforms, checks and times tensor kernels by script.
#[derive(Parser)]
#[command(version, about, after_help = AFTER_HELP)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Exit codes: 0 success, 1 an error in a script or a kernel, 2 a wrong command line, 130 interrupted,
143 ended by SIGTERM.

Environment:
  CC              the C compiler
  CFLAGS          more flags for it: they override -O, -march and -mtune, but not what decides results
  TEML_CACHE_DIR  the directory of compiled kernels; beyond 512 MiB, kernels unused for a day are removed
  TEML_ISL        the file of the library isl, which computes proofs
  TEML_DEVICE     cuda, hip, opencl or a target's file, for kernels of devices; otherwise what is here
  TEML_NVRTC      the file of NVIDIA's compiler, TEML_HIPRTC that of AMD's, and TEML_OPENCL that of
                  OpenCL's loader
  NO_COLOR        turns colors off, as TERM=dumb does";

#[derive(Subcommand)]
pub enum Command {
    /// Run a script: compile, check and time what it compares
    Run {
        /// The script, or a program in another notation (.tml, .teil, .sac, .op); `-` is standard
        /// input
        file: PathBuf,
        #[command(flatten)]
        running: Running,
    },
    /// Write the C that a script generates, without compiling or timing anything.
    ///
    /// Writes the C of every `codegen` in the script. If there is none, writes the C of every
    /// variant of every `compare`.
    Emit {
        /// The script, or a program in another notation (.tml, .teil, .sac, .op); `-` is standard
        /// input
        file: PathBuf,
        /// Where to write the C; standard output by default
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        settings: Settings,
        #[command(flatten)]
        team: Team,
        #[command(flatten)]
        writing: Writing,
        /// The machine that the C is for: sse2, avx, avx2, avx512, neon, portable, native, or a
        /// JSON file with its facts, such as {"name": "laptop", "instructions": "avx2", "l2":
        /// 524288}; cuda, hip or opencl is this machine with a device of that kind
        #[arg(long, value_name = "NAME|FILE", default_value = "native", value_parser = TARGETS,
              hide_possible_values = true)]
        target: Target,
        /// Compile and run each kernel and compare its results with the reference before the C is
        /// written; the C then says what ran, and which flags it needs
        #[arg(long, conflicts_with = "plan")]
        verify: bool,
        /// Write plans instead of C: pseudo-code with the mode of each loop, where local tensors
        /// are, and why loops are not vectors
        #[arg(long)]
        plan: bool,
    },
    /// Prove that each variant of a script computes what its definition says, without timing it.
    ///
    /// Prints a line for every variant that the script passes to compare, measure, run or codegen.
    Check {
        /// The script, or a program in another notation (.tml, .teil, .sac, .op); `-` is standard
        /// input
        file: PathBuf,
        /// Also execute every instance of every statement and compare all elements; choose small
        /// sizes with --set
        #[arg(long)]
        exhaustive: bool,
        #[command(flatten)]
        settings: Settings,
        #[command(flatten)]
        team: Team,
    },
    /// Make a library of the kernels that a script exports, for C, C++ and Python.
    ///
    /// Writes the C of every `export_kernel` in the script, a header, a shared and a static
    /// library. Adds files for pkg-config and for find_package of CMake, an example, and a Python
    /// package: `pip install DIR` installs it. The library is for this processor, unless --target, or
    /// -march in CFLAGS, names others.
    Build {
        /// The script; `-` is standard input. With `--abi`, also a directory of scripts
        file: PathBuf,
        /// Where to write it
        #[arg(short, long, value_name = "DIR")]
        out: PathBuf,
        /// The name of the library and of the Python package; that of the script by default
        #[arg(long, conflicts_with = "abi")]
        name: Option<String>,
        /// The machines that the kernels are for, such as avx512,avx2,sse2. The library chooses among
        /// them when it is loaded. By default, this machine
        #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = TARGETS,
              hide_possible_values = true, conflicts_with = "abi")]
        target: Vec<Target>,
        /// Make a library with this interface instead: `blas` makes `libblas.so.3`
        #[arg(long)]
        abi: Option<Abi>,
        #[command(flatten)]
        settings: Settings,
        #[command(flatten)]
        team: Team,
        #[command(flatten)]
        writing: Writing,
    },
    /// Search for the fastest variant: run a script that calls `tune`, or tune what a script
    /// compares.
    ///
    /// For a script that calls `tune`, the options here go before those in the script. For any
    /// other script, the first variant that it compares is tuned, as `autotune` does. Prints the
    /// best points, and the winner as a script that replays without tuning. `schedules::optimize`
    /// takes the winner of an `autotune` from then on, for the same computation on this machine.
    Tune {
        /// The script, or a program in another notation (.tml, .teil, .sac, .op); `-` is standard
        /// input
        file: PathBuf,
        #[command(flatten)]
        search: Search,
        #[command(flatten)]
        running: Running,
    },
    /// Run a script with the winners that were recorded instead of tuning.
    ///
    /// The recorded winner is the result of each `tune` call. In a script that only compares, the
    /// winner for each comparison is one more variant.
    Apply {
        /// The records that `teml tune --records` or the option `records` of `tune` has written
        records: PathBuf,
        /// The script
        file: PathBuf,
        #[command(flatten)]
        running: Running,
    },
    /// Measure kernels: the variants that scripts compare, Pluto's, and other libraries and
    /// compilers.
    ///
    /// Without a script or --kernel, measures the ten kernels that come with the tool. Prints a
    /// table for each kernel and a summary. After Ctrl-C, it still writes what it has measured.
    Bench(Bench),
    /// Start an interactive session.
    ///
    /// If standard input is not a terminal, its lines are run, and the exit code is 1 if one of
    /// them failed.
    Repl {
        /// A script to run first, as if it were typed
        file: Option<PathBuf>,
        /// Run and time no kernel in that script
        #[arg(long, requires = "file")]
        no_compare: bool,
        #[command(flatten)]
        limits: Limits,
        #[command(flatten)]
        writing: Writing,
    },
    /// Show facts about this machine and its device, and their peak rates.
    ///
    /// Measuring takes a few seconds. The rates are remembered for this processor and this
    /// compiler.
    Machine {
        /// Measure again instead of using remembered rates
        #[arg(long)]
        again: bool,
        /// Also measure with this number of threads
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
        threads: Option<u16>,
        /// Write the device to a file, for `--target` and TEML_DEVICE elsewhere
        #[arg(long, value_name = "FILE")]
        save: Option<PathBuf>,
        /// Show the device of another machine, and measure nothing
        #[arg(long, value_name = "NAME|FILE", value_parser = target)]
        target: Option<Target>,
    },
    /// Write the reference of all functions as one HTML page
    Doc {
        /// Where to write it; standard output by default
        #[arg(short, long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Write definition files for Rhai's language server
    Definitions {
        /// The directory
        directory: PathBuf,
    },
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write manual pages
    Man {
        /// The directory
        directory: PathBuf,
    },
    /// Answer another program, such as the Python package, by lines of JSON
    #[command(hide = true)]
    Serve {
        #[command(flatten)]
        limits: Limits,
        #[command(flatten)]
        writing: Writing,
    },
    /// Try variants that a search on another machine proposes
    #[command(hide = true)]
    TuneWorker {
        /// The directory that the search shares with workers
        directory: PathBuf,
    },
    /// Run kernels for another teml process
    #[command(hide = true)]
    Worker {
        /// Run no kernels: if that process is killed, kill the processes that it started
        #[arg(long)]
        guard: bool,
    },
}

#[derive(Args)]
pub struct Search {
    /// Maximum number of variants to try; 100 by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub trials: Option<u32>,
    /// Maximum time in seconds, from the start of the command to the end of the finals
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub time: Option<Duration>,
    /// How to search: model (the default), exhaustive, random, hill or evolution
    #[arg(long, value_name = "NAME", value_parser = SEARCHES, hide_possible_values = true)]
    pub search: Option<Strategy>,
    /// The same seed proposes the same variants
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Add a line of JSON for each trial to this file
    #[arg(long, value_name = "FILE")]
    pub records: Option<PathBuf>,
    /// Do not repeat trials that the records hold
    #[arg(long, requires = "records")]
    pub resume: bool,
    /// Write the trials to this file, as an HTML page with charts
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Try variants on other machines, with workers that mpi (mpirun) or slurm (sbatch) starts.
    ///
    /// Workers need this program, a C compiler, and the working directory, which all machines must
    /// share. Tasks of a lost worker go to another one.
    #[arg(long, value_name = "NAME", value_parser = LAUNCHERS, hide_possible_values = true,
          requires = "workers")]
    pub launcher: Option<Engine>,
    /// How many workers the launcher starts
    #[arg(long, value_name = "N", requires = "launcher", value_parser = clap::value_parser!(u16).range(1..))]
    pub workers: Option<u16>,
    /// More arguments for mpirun or sbatch, such as `--launcher-args="--hostfile hosts"`
    #[arg(
        long,
        value_name = "ARGUMENTS",
        requires = "launcher",
        allow_hyphen_values = true
    )]
    pub launcher_args: Option<String>,
}

/// A parser of names that shells complete, and of other texts if `parse` takes them.
#[derive(Clone)]
struct Named<T> {
    names: fn() -> Vec<String>,
    parse: fn(&str) -> Result<T, String>,
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Named<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<T, clap::Error> {
        let parse = self.parse;
        let parser = move |text: &str| parse(text);
        TypedValueParser::parse_ref(&parser, command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = (self.names)().into_iter();
        Some(Box::new(names.map(PossibleValue::new)))
    }
}

const TARGETS: Named<Target> = Named {
    names: || Target::names().map(str::to_owned).collect(),
    parse: target,
};

const SEARCHES: Named<Strategy> = Named {
    names: || names_of(&Strategy::NAMES),
    parse: strategy,
};

const LAUNCHERS: Named<Engine> = Named {
    names: || names_of(&Engine::NAMES),
    parse: engine,
};

const SIZES: Named<Size> = Named {
    names: || ["bench", "mini", "any"].map(str::to_owned).to_vec(),
    parse: size,
};

const KERNELS: Named<Script> = Named {
    names: || bench::scripts().into_iter().map(|s| s.name).collect(),
    parse: kernel,
};

fn names_of<T>(all: &[(&str, T)]) -> Vec<String> {
    all.iter().map(|(name, _)| (*name).to_owned()).collect()
}

fn engine(text: &str) -> Result<Engine, String> {
    let names: Vec<&str> = Engine::NAMES.iter().map(|(name, _)| *name).collect();
    Engine::from_name(text).ok_or_else(|| format!("expected one of {}", names.join(", ")))
}

fn strategy(text: &str) -> Result<Strategy, String> {
    let names: Vec<&str> = Strategy::NAMES.iter().map(|(name, _)| *name).collect();
    Strategy::from_name(text).ok_or_else(|| format!("expected one of {}", names.join(", ")))
}

/// Options of the commands that run and time the kernels of a script.
#[derive(Args)]
pub struct Running {
    #[command(flatten)]
    pub settings: Settings,
    #[command(flatten)]
    pub limits: Limits,
    #[command(flatten)]
    pub writing: Writing,
}

#[derive(Args, Clone)]
pub struct Settings {
    /// Set what `param("NAME", default)` returns in the script; can be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    pub set: Vec<(String, String)>,
    /// Which default unset parameters take: `bench` (second argument of `param`) or `mini` (third,
    /// tiny, for tests). With `any`, those with a third argument are sizes that kernels get when they
    /// are called
    #[arg(long, value_name = "SIZE", default_value = "bench", value_parser = SIZES,
          hide_possible_values = true)]
    pub size: Size,
}

fn target(text: &str) -> Result<Target, String> {
    if let Some(target) = Target::named(text) {
        return Ok(target);
    }
    match std::fs::read_to_string(text) {
        Ok(json) => Target::parse(&json),
        Err(error) => {
            let names: Vec<&str> = Target::names().collect();
            let names = names.join(", ");
            Err(format!("expected one of {names}, or a file: {error}"))
        }
    }
}

fn size(text: &str) -> Result<Size, String> {
    match text {
        "bench" => Ok(Size::Bench),
        "mini" => Ok(Size::Mini),
        "any" => Ok(Size::Any),
        _ => Err("expected bench, mini or any".to_owned()),
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
    #[arg(long = "kernel", value_name = "NAME", value_parser = KERNELS, hide_possible_values = true)]
    pub kernels: Vec<Script>,
    /// Compare with openblas, openblas=/PATH/libopenblas.so, cc (-ffast-math) or polly, if
    /// installed; can be repeated
    #[arg(long = "peer", value_name = "PEER")]
    pub peers: Vec<Choice>,
    /// Measure only the last variant and the peers, at several sizes: NAMES=VALUES sets the
    /// script's parameters, such as m,n,k=64,128,256, and threads=1,2,4 the threads of parallel
    /// loops
    #[arg(long, visible_alias = "sweep", value_name = "SIZES")]
    pub curve: Option<Sizes>,
    /// With --curve: measure all variants, and show how many times as fast as the first they are
    #[arg(long, requires = "curve")]
    pub speed_ups: bool,
    /// Instead of the variants, measure N random ones of each kernel, 50 by default; report how
    /// well the cost model of `tune` ranks them
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "50",
          conflicts_with_all = ["peers", "curve", "json", "out"])]
    pub model: Option<u16>,
    /// With --model: take the times from a file that `teml tune --records` wrote, and measure
    /// nothing; can be repeated
    #[arg(long, value_name = "FILE", requires = "model")]
    pub records: Vec<PathBuf>,
    /// With --records: instead, replay each search on these times, which a sweep of a space
    /// measured; report after how many trials it finds one of the best points
    #[arg(long, requires = "records")]
    pub searches: bool,
    /// Also write the results to a file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Also write the results, a page with charts and C, and the charts to a directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// With --out: show the times of an earlier bench.json beside
    #[arg(long, value_name = "FILE", requires = "out")]
    pub against: Option<PathBuf>,
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
    /// Threads of parallel loops, which schedules also plan for; one per core by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
}

#[derive(Args)]
pub struct Limits {
    #[command(flatten)]
    pub team: Team,
    /// Kill a kernel run after this many seconds, such as 0.5; 60 by default, 300 in a bench
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
    /// Let imported modules also write here, beside the working directory, and overwrite files here
    /// that teml did not write; can be repeated. The script itself may write new files anywhere
    #[arg(long, value_name = "PATH")]
    pub allow_write: Vec<PathBuf>,
}
