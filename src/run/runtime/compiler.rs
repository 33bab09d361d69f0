//! Finds the C compiler, and runs it.

use super::configured;
use super::control::Control;
use super::error::{RuntimeError, signal_text};
use super::process;
use super::protocol::Configured;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A C compiler that was started once, to ask for its version.
#[derive(Clone, Debug)]
pub struct Compiler {
    program: PathBuf,
    arguments: Vec<OsString>,
    /// The flags of CFLAGS.
    flags: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    version: String,
    /// Whether vector functions can be linked, once that was tried.
    vector_functions: OnceLock<bool>,
    /// Whether it has OpenMP, once that was tried.
    openmp: OnceLock<bool>,
}

/// How a run of the compiler ended, and its output.
pub(super) struct Outcome {
    pub(super) status: ExitStatus,
    pub(super) output: String,
}

/// Environment variables that change the output of compilers.
const READ: [&str; 6] = [
    "CPATH",
    "C_INCLUDE_PATH",
    "LIBRARY_PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "CCC_OVERRIDE_OPTIONS",
];

impl Compiler {
    /// The compiler that the environment variable CC names, or else the system's: `cc`, `gcc` or
    /// `clang`. Flags in CFLAGS are respected, as [`command_line`](Compiler::command_line) says.
    /// Once found, it stays the same in this process.
    ///
    /// # Errors
    /// [`RuntimeError::NoCompiler`] when none of them can be started or answers,
    /// [`RuntimeError::Interrupted`] when someone asked to stop.
    pub fn find(control: &Control) -> Result<&'static Compiler, RuntimeError> {
        static FOUND: OnceLock<Compiler> = OnceLock::new();
        static SEARCH: Mutex<()> = Mutex::new(());
        if let Some(compiler) = FOUND.get() {
            return Ok(compiler);
        }
        // Several threads look for it once.
        let _searching = SEARCH.lock().unwrap_or_else(PoisonError::into_inner);
        match FOUND.get() {
            Some(compiler) => Ok(compiler),
            None => {
                let compiler = search(control)?;
                Ok(FOUND.get_or_init(|| compiler))
            }
        }
    }

    /// The compiler at `program`, a path or a name to be found in PATH, with no flags of its own.
    ///
    /// # Errors
    /// As [`Compiler::find`].
    pub fn from_path(program: &Path, control: &Control) -> Result<Compiler, RuntimeError> {
        let tried = match Compiler::new(of_name(program), control)? {
            Ok(compiler) => return Ok(compiler),
            Err(reason) => vec![reason],
        };
        Err(RuntimeError::NoCompiler { tried })
    }

    /// The compiler, or why there is none.
    fn new(
        configured: Configured,
        control: &Control,
    ) -> Result<Result<Compiler, String>, RuntimeError> {
        let program = PathBuf::from(configured.program);
        let absolute = match program.parent() {
            // A bare name, which is looked up in PATH.
            Some(parent) if parent.as_os_str().is_empty() => None,
            // The compiler will be started in another directory.
            _ => std::path::absolute(&program).ok(),
        };
        let name = program.display().to_string();
        let mut compiler = Compiler {
            program: absolute.unwrap_or(program),
            arguments: configured.arguments,
            flags: configured.flags,
            environment: configured.environment,
            version: String::new(),
            vector_functions: OnceLock::new(),
            openmp: OnceLock::new(),
        };
        let mut command = compiler.command();
        let limit = control.answer_limit;
        Ok(
            match process::run(command.arg("--version"), limit, control) {
                Ok(finished) if finished.status.success() => {
                    compiler.version = finished.output;
                    Ok(compiler)
                }
                Ok(finished) => Err(format!("`{name} --version`: {}", finished.status)),
                Err(process::Stopped::Interrupted) => {
                    return Err(RuntimeError::Interrupted {
                        during: configured::SEARCH.to_owned(),
                    });
                }
                Err(stopped) => Err(format!("`{name} --version`: {}", stopped.reason(limit))),
            },
        )
    }

    /// The path or name that starts it.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The first line of its version message.
    pub fn version(&self) -> &str {
        self.version.lines().next().unwrap_or_default()
    }

    /// The flags of CFLAGS.
    pub fn own_flags(&self) -> Vec<String> {
        let text = |flag: &OsString| flag.to_string_lossy().into_owned();
        self.flags.iter().map(text).collect()
    }

    /// All flags of a run. CFLAGS come after the flags of `flags` that choose the optimization
    /// level and the processor, and before the ones that decide the results. If `flags` chooses
    /// twice, the last choice was asked for and stays last.
    pub fn command_line(&self, flags: &[String]) -> Vec<String> {
        let mut last = flags.to_vec();
        let mut line = Vec::new();
        for start in OPEN {
            if let Some(place) = last.iter().position(|flag| flag.starts_with(start)) {
                line.push(last.remove(place));
            }
        }
        line.extend(self.own_flags());
        line.extend(last);
        line
    }

    /// Whether this is clang, which rejects gcc flags that it does not know.
    pub(super) fn is_clang(&self) -> bool {
        self.version().contains("clang")
    }

    pub(super) fn vector_functions(&self) -> &OnceLock<bool> {
        &self.vector_functions
    }

    pub(super) fn openmp(&self) -> &OnceLock<bool> {
        &self.openmp
    }

    /// The bytes that identify this compiler, with its own flags and its environment.
    pub(super) fn identity(&self) -> Vec<Vec<u8>> {
        let text = |text: &OsString| text.as_encoded_bytes().to_vec();
        let mut identity = vec![text(&self.program.as_os_str().to_owned())];
        identity.push(self.version.clone().into_bytes());
        identity.extend(self.arguments.iter().map(text));
        identity.extend(
            self.environment
                .iter()
                .flat_map(|(k, v)| [text(k), text(v)]),
        );
        for name in READ {
            if let Some(value) = std::env::var_os(name) {
                identity.extend([name.as_bytes().to_vec(), text(&value)]);
            }
        }
        identity
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command.envs(self.environment.iter().map(|(k, v)| (k, v)));
        // This program parses the diagnostics, and only knows the English ones.
        command.env("LC_ALL", "C");
        command
    }

    /// Runs the compiler in `directory` until it ends, its time is over, or someone asks to stop.
    pub(super) fn run(
        &self,
        kernel: &str,
        flags: &[String],
        directory: &Path,
        control: &Control,
    ) -> Result<Outcome, Stopped> {
        let mut command = self.command();
        // Its temporary files are removed with the directory, even if it is killed.
        command.current_dir(directory).env("TMPDIR", directory);
        command.args(flags);
        let compiler = self.program.display().to_string();
        let kernel = kernel.to_owned();
        let limit = control.compile_limit;
        let finished = process::run(&mut command, limit, control).map_err(|stopped| {
            Stopped::Failed(match stopped {
                process::Stopped::System(error) => RuntimeError::NoCompiler {
                    tried: vec![format!("`{compiler}`: {error}")],
                },
                process::Stopped::Interrupted => RuntimeError::Interrupted {
                    during: format!("compiling kernel `{kernel}`"),
                },
                process::Stopped::TimedOut => RuntimeError::CompileTimedOut {
                    kernel: kernel.clone(),
                    compiler: compiler.clone(),
                    limit,
                },
                process::Stopped::Flooded => RuntimeError::CompileFailed {
                    kernel: kernel.clone(),
                    compiler: compiler.clone(),
                    line: None,
                    report: stopped.reason(limit),
                },
            })
        })?;
        if let Some(signal) = finished.status.signal() {
            let (signal, hint) = signal_text(signal);
            return Err(Stopped::Failed(RuntimeError::CompilerKilled {
                kernel,
                compiler,
                signal,
                hint,
            }));
        }
        Ok(Outcome {
            status: finished.status,
            output: finished.errors,
        })
    }
}

/// Prefixes of flags that CFLAGS may override.
const OPEN: [&str; 3] = ["-O", "-march=", "-mtune="];

/// Why a run has no outcome.
pub(super) enum Stopped {
    /// The directory could not be used; another one may work.
    Storage(std::io::Error),
    /// A final failure.
    Failed(RuntimeError),
}

impl From<std::io::Error> for Stopped {
    fn from(error: std::io::Error) -> Stopped {
        Stopped::Storage(error)
    }
}

fn of_name(program: &Path) -> Configured {
    Configured {
        program: program.as_os_str().to_owned(),
        ..Configured::default()
    }
}

fn search(control: &Control) -> Result<Compiler, RuntimeError> {
    let mut tried = Vec::new();
    let configured = configured::ask(control)?;
    let found = configured.map(|configured| Compiler::new(configured, control));
    match found {
        Ok(compiler) => match compiler? {
            Ok(compiler) => return Ok(compiler),
            Err(reason) => tried.push(reason),
        },
        Err(reason) => tried.push(reason),
    }
    if std::env::var_os("CC").is_none() {
        for name in ["gcc", "clang"] {
            match Compiler::new(of_name(Path::new(name)), control)? {
                Ok(compiler) => return Ok(compiler),
                Err(reason) => tried.push(reason),
            }
        }
    }
    Err(RuntimeError::NoCompiler { tried })
}
