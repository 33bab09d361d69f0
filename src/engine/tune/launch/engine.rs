//! Engines: external programs that start workers on other machines.

use crate::runtime::{Control, Group, RuntimeError, answer};
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The programs that can start workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// `mpirun`, of Open MPI or MPICH.
    Mpi,
    /// `sbatch`, with a job array.
    Slurm,
}

impl Engine {
    /// All engines, with their names on the command line.
    pub const NAMES: [(&str, Engine); 2] = [("mpi", Engine::Mpi), ("slurm", Engine::Slurm)];

    pub fn from_name(name: &str) -> Option<Engine> {
        let found = Engine::NAMES.iter().find(|(n, _)| *n == name);
        found.map(|(_, engine)| *engine)
    }

    /// The program of the engine.
    pub fn program(self) -> &'static str {
        match self {
            Engine::Mpi => "mpirun",
            Engine::Slurm => "sbatch",
        }
    }
}

/// How to start workers.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    pub engine: Engine,
    pub workers: usize,
    /// Further arguments of the engine's program.
    pub arguments: Vec<String>,
    /// The program to start and its arguments; the path of the shared directory is appended.
    pub worker: Vec<OsString>,
    /// A directory that all machines see; the shared directory is created in it and removed later.
    pub place: PathBuf,
    /// A worker without a heartbeat for this long is lost.
    pub patience: Duration,
}

/// The log of the workers' errors.
const LOG: &str = "log";

/// How many of its last lines are shown.
const LINES: usize = 12;

/// How often the queue is polled.
const ASKING: Duration = Duration::from_secs(5);

/// How long workers may take to exit after the end of the search.
const LEAVING: Duration = Duration::from_secs(5);

/// Workers that were started.
pub(super) struct Started {
    engine: Engine,
    /// The process group of `mpirun`, which lives as long as the workers.
    group: Option<Group>,
    /// The job number of `sbatch`.
    job: Option<String>,
    log: PathBuf,
    asked: Option<(Instant, bool)>,
}

impl Started {
    /// Starts workers in a shared directory.
    ///
    /// # Errors
    /// The engine's program cannot be started, or refuses.
    pub(super) fn start(
        launch: &Launch,
        root: &Path,
        control: &Control,
    ) -> Result<Started, RuntimeError> {
        let mut started = Started {
            engine: launch.engine,
            group: None,
            job: None,
            log: root.join(LOG),
            asked: None,
        };
        let program = launch.engine.program();
        let refused = |reason: String| RuntimeError::NotLaunched {
            program: program.to_owned(),
            reason,
        };
        let mut command = Command::new(program);
        match launch.engine {
            Engine::Mpi => {
                let version = answer(program, &["--version"], control).unwrap_or_default();
                // A lost worker must not end the others. Binding is off because kernels have their
                // own threads.
                if version.contains("Open MPI") {
                    command.args(["--enable-recovery", "--bind-to", "none"])
                } else {
                    command.args(["-disable-auto-cleanup", "-bind-to", "none"])
                };
                command.args(["-n", &launch.workers.to_string()]);
                command
                    .args(&launch.arguments)
                    .args(&launch.worker)
                    .arg(root);
                let log = File::create(&started.log).map_err(|e| refused(e.to_string()))?;
                let errors = log.try_clone().map_err(|e| refused(e.to_string()))?;
                command
                    .stdin(std::process::Stdio::null())
                    .stdout(log)
                    .stderr(errors);
                let group = Group::start(&mut command, true, control);
                started.group = Some(group.map_err(|error| refused(error.to_string()))?);
            }
            Engine::Slurm => {
                let words = launch.worker.iter().map(|word| word.to_string_lossy());
                let words = words.chain([root.to_string_lossy()]);
                let quoted: Vec<String> = words.map(|word| quote(&word)).collect();
                let array = format!("--array=0-{}", launch.workers.saturating_sub(1));
                let log = format!("--output={}", started.log.display());
                command.args(["--parsable", "--job-name=teml", "--open-mode=append"]);
                command.args([array, log]).args(&launch.arguments);
                command.args(["--wrap", &format!("exec {}", quoted.join(" "))]);
                let ended = command.stdin(std::process::Stdio::null()).output();
                let ended = ended.map_err(|error| refused(error.to_string()))?;
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
                if !ended.status.success() {
                    return Err(refused(text(&ended.stderr)));
                }
                // `sbatch` prints `NUMBER` or `NUMBER;CLUSTER`.
                let said = text(&ended.stdout);
                started.job = said.split(';').next().map(str::to_owned);
            }
        }
        Ok(started)
    }

    /// Whether all workers have ended, and no more will start.
    pub(super) fn is_over(&mut self, control: &Control) -> bool {
        match (self.engine, &self.group, &self.job) {
            (Engine::Mpi, Some(group), _) => group.has_ended(),
            (Engine::Slurm, _, Some(job)) => {
                let known = self.asked.filter(|(when, _)| when.elapsed() < ASKING);
                let is_over = known.map_or_else(
                    || {
                        let queue = answer("squeue", &["-h", "-j", job], control);
                        queue.is_some_and(|text| text.trim().is_empty())
                    },
                    |(_, is_over)| is_over,
                );
                if known.is_none() {
                    self.asked = Some((Instant::now(), is_over));
                }
                is_over
            }
            _ => true,
        }
    }

    /// The last lines that workers and the engine logged.
    pub(super) fn log(&self) -> String {
        let text = std::fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        lines[lines.len().saturating_sub(LINES)..].join("\n")
    }

    /// Waits until the workers have exited; the rest are stopped when this is dropped.
    pub(super) fn wait(&self) {
        let begun = Instant::now();
        while self.group.as_ref().is_some_and(|group| !group.has_ended())
            && begun.elapsed() < LEAVING
        {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(job) = &self.job {
            // Cancels tasks that still wait in the queue. Running ones exit on their own.
            let _ = Command::new("scancel").arg(job).output();
        }
    }
}

/// Quotes a word for a shell.
fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
