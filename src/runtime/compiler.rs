//! The C compiler: which one, and one run of it.

use super::control::Control;
use super::error::{RuntimeError, signal_text};
use super::sys;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A C compiler that has been started once, to ask for its version.
#[derive(Clone, Debug)]
pub struct Compiler {
    program: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    version: String,
    /// Whether functions of vectors can be linked, once that was tried.
    vector_functions: OnceLock<bool>,
}

/// How a run of the compiler ended, and what it said.
pub(super) struct Outcome {
    pub(super) status: ExitStatus,
    pub(super) output: String,
}

impl Compiler {
    /// The compiler that the environment variable CC names, or else the system's: `cc`, `gcc` or
    /// `clang`. Flags in CFLAGS are respected. Once found, it stays the same
    /// in this process.
    ///
    /// # Errors
    /// [`RuntimeError::NoCompiler`] when none of them can be started.
    pub fn find() -> Result<&'static Compiler, RuntimeError> {
        static FOUND: OnceLock<Compiler> = OnceLock::new();
        match FOUND.get() {
            Some(compiler) => Ok(compiler),
            None => {
                let compiler = search()?;
                Ok(FOUND.get_or_init(|| compiler))
            }
        }
    }

    /// The compiler at `program`, a path or a name to be found in PATH, with no flags of its own.
    ///
    /// # Errors
    /// [`RuntimeError::NoCompiler`] when it cannot be started.
    pub fn from_path(program: &Path) -> Result<Compiler, RuntimeError> {
        let compiler = Compiler::new(program, Vec::new(), Vec::new());
        compiler.map_err(|reason| RuntimeError::NoCompiler {
            tried: vec![reason],
        })
    }

    fn new(
        program: &Path,
        arguments: Vec<OsString>,
        environment: Vec<(OsString, OsString)>,
    ) -> Result<Compiler, String> {
        let absolute = match program.parent() {
            // A bare name, to be found in PATH.
            Some(parent) if parent.as_os_str().is_empty() => None,
            // It will be started in another directory.
            _ => std::path::absolute(program).ok(),
        };
        let mut compiler = Compiler {
            program: absolute.unwrap_or_else(|| program.to_path_buf()),
            arguments,
            environment,
            version: String::new(),
            vector_functions: OnceLock::new(),
        };
        let mut command = compiler.command();
        let name = program.display();
        let output = command.arg("--version").stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("`{name}`: {error}"))?;
        if !output.status.success() {
            return Err(format!("`{name} --version`: {}", output.status));
        }
        compiler.version = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(compiler)
    }

    /// The path or name under which it is started.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The first line that it prints about its version.
    pub fn version(&self) -> &str {
        self.version.lines().next().unwrap_or_default()
    }

    /// Whether this is clang, which refuses flags of gcc that it does not know.
    pub(super) fn is_clang(&self) -> bool {
        self.version().contains("clang")
    }

    pub(super) fn vector_functions(&self) -> &OnceLock<bool> {
        &self.vector_functions
    }

    /// What tells this compiler, with its own flags, from others.
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
        identity
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command.envs(self.environment.iter().map(|(k, v)| (k, v)));
        // Diagnostics are read by this program, which knows their English.
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
        let log = directory.join("compiler.log");
        let mut command = self.command();
        command.args(flags).current_dir(directory);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(File::create(&log).map_err(Stopped::Storage)?);
        // Its own group: Ctrl-C in a terminal reaches this program only, which then kills the
        // compiler with all that it started.
        command.process_group(0);
        let name = self.program.display().to_string();
        let no_start = |error: std::io::Error| {
            let tried = vec![format!("`{name}`: {error}")];
            Stopped::Failed(RuntimeError::NoCompiler { tried })
        };
        let mut child = command.spawn().map_err(no_start)?;
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        let status = loop {
            if let Some(status) = child.try_wait().map_err(Stopped::Storage)? {
                break status;
            }
            let error = if control.interrupted() {
                let during = format!("compiling kernel `{kernel}`");
                RuntimeError::Interrupted { during }
            } else if start.elapsed() > control.compile_limit {
                RuntimeError::CompileTimedOut {
                    kernel: kernel.to_owned(),
                    compiler: name.clone(),
                    limit: control.compile_limit,
                }
            } else {
                std::thread::sleep(pause);
                pause = (pause * 5 / 4).min(Duration::from_millis(20));
                continue;
            };
            sys::kill_group(child.id());
            // Reaps it; that it is gone is all that matters.
            let _ = child.wait();
            return Err(Stopped::Failed(error));
        };
        if let Some(signal) = status.signal() {
            let (signal, hint) = signal_text(signal);
            return Err(Stopped::Failed(RuntimeError::CompilerKilled {
                kernel: kernel.to_owned(),
                compiler: name,
                signal,
                hint,
            }));
        }
        let mut output = Vec::new();
        let read = File::open(&log).and_then(|mut file| file.read_to_end(&mut output));
        read.map_err(Stopped::Storage)?;
        let output = String::from_utf8_lossy(&output).into_owned();
        Ok(Outcome { status, output })
    }
}

/// Why there is no outcome.
pub(super) enum Stopped {
    /// The directory could not be used; another one may do.
    Storage(std::io::Error),
    /// Nothing to be done about it.
    Failed(RuntimeError),
}

impl From<std::io::Error> for Stopped {
    fn from(error: std::io::Error) -> Stopped {
        Stopped::Storage(error)
    }
}

fn search() -> Result<Compiler, RuntimeError> {
    let mut tried = Vec::new();
    match configured() {
        Ok(compiler) => return Ok(compiler),
        Err(reason) => tried.push(reason),
    }
    if std::env::var_os("CC").is_none() {
        for name in ["gcc", "clang"] {
            match Compiler::new(Path::new(name), Vec::new(), Vec::new()) {
                Ok(compiler) => return Ok(compiler),
                Err(reason) => tried.push(reason),
            }
        }
    }
    Err(RuntimeError::NoCompiler { tried })
}

/// The compiler that the `cc` crate takes from the environment.
fn configured() -> Result<Compiler, String> {
    let target = env!("TEML_TARGET");
    let mut build = cc::Build::new();
    build.target(target).host(target).opt_level(3);
    build.no_default_flags(true).inherit_rustflags(false);
    build
        .cargo_metadata(false)
        .cargo_warnings(false)
        .cargo_output(false);
    let tool = build
        .try_get_compiler()
        .map_err(|error| error.to_string())?;
    let command = tool.to_command();
    let arguments = command.get_args().map(OsString::from).collect();
    let environment = command
        .get_envs()
        .filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned())));
    let environment = environment.collect();
    Compiler::new(Path::new(command.get_program()), arguments, environment)
}
