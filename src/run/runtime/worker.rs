//! The worker process in which kernels run, as seen by this program.

use super::buffer::Buffer;
use super::compiled::Compiled;
use super::control::Control;
use super::entries::entry_of;
use super::error::{RuntimeError, signal_text};
use super::process::Group;
use super::protocol::{Call, Reply, Request};
use super::sys;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// How long a worker may take to start.
const START_LIMIT: Duration = Duration::from_secs(20);

/// How long a process may take to end.
const END_LIMIT: Duration = Duration::from_secs(5);

/// How often a wait checks whether someone asked to stop.
const GLANCE: Duration = Duration::from_millis(20);

/// The purpose of a worker.
#[derive(Clone, Copy)]
pub(super) enum Kind<'a> {
    /// Runs kernels with `threads` OpenMP threads, each bound to a core of its own if `bound`.
    Kernels { threads: usize, bound: bool },
    /// Queries other programs, which may write files to `scratch`.
    Probe { scratch: Option<&'a Path> },
}

/// A worker process. Dropping it kills it, with all processes that it started.
///
/// It also dies with the thread that started it, so it must not outlive that thread's frame.
pub(super) struct Worker {
    group: Group,
    requests: ChildStdin,
    replies: Receiver<String>,
    kernels: usize,
    buffers: usize,
}

enum Lost {
    Interrupted,
    TimedOut,
    Ended,
}

/// The length limit of a reply, in bytes.
const LONGEST: u64 = 16 << 20;

impl Worker {
    pub(super) fn start(kind: Kind<'_>, control: &Control) -> Result<Worker, RuntimeError> {
        let failed = |reason: String| RuntimeError::WorkerStart {
            program: control.worker.clone(),
            reason,
        };
        let mut command = Command::new(&control.worker);
        command.arg0("teml").arg("worker");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        match kind {
            Kind::Kernels { threads, bound } => set_threads(&mut command, threads, bound),
            Kind::Probe { scratch } => {
                command.stderr(Stdio::null());
                command.envs(scratch.map(|directory| ("TMPDIR", directory)));
                if std::env::var_os("CFLAGS").is_none() {
                    // Without it, the crate adds flags of its own.
                    command.env("CFLAGS", "");
                }
            }
        }
        // It dies with this program by itself.
        let mut group = Group::start(&mut command, false, control)
            .map_err(|error| failed(error.to_string()))?;
        let pipes = group.child.stdin.take().zip(group.child.stdout.take());
        let Some((requests, output)) = pipes else {
            return Err(failed("it has no pipes".to_owned()));
        };
        let (sender, replies) = sync_channel(1);
        let mut worker = Worker {
            group,
            requests,
            replies,
            kernels: 0,
            buffers: 0,
        };
        let read = move || {
            let mut output = BufReader::new(output);
            loop {
                let mut line = String::new();
                // A reply must be text with an end.
                match output.by_ref().take(LONGEST).read_line(&mut line) {
                    Ok(1..) if line.ends_with('\n') => {}
                    _ => break,
                }
                if sender.send(line).is_err() {
                    break;
                }
            }
        };
        let reader = std::thread::Builder::new().name("teml-replies".to_owned());
        reader
            .spawn(read)
            .map_err(|error| failed(error.to_string()))?;
        match worker.wait(START_LIMIT, control) {
            Ok(line) => match serde_json::from_str(&line) {
                Ok(Reply::Ready) => Ok(worker),
                _ => Err(failed(format!(
                    "it is not a worker: it answered `{}`",
                    line.trim_end()
                ))),
            },
            Err(Lost::Interrupted) => Err(RuntimeError::Interrupted {
                during: "starting a worker".to_owned(),
            }),
            Err(Lost::TimedOut) => Err(failed(format!("no answer in {START_LIMIT:?}"))),
            Err(Lost::Ended) => {
                let status = worker.status();
                let status = status.map_or_else(|e| e.to_string(), |s| s.to_string());
                Err(failed(format!("it ended at once ({status})")))
            }
        }
    }

    /// Keeps its kernels off one of the cores.
    pub(super) fn leave_a_core(&self) {
        sys::leave_a_core(self.group.child.id());
    }

    /// Loads a kernel; returns its number.
    pub(super) fn load(
        &mut self,
        compiled: &Compiled,
        control: &Control,
    ) -> Result<usize, RuntimeError> {
        let path = compiled.path().as_os_str().to_owned();
        let entry = entry_of(compiled.kernel());
        let load = Request::Load { path, entry };
        let limit = control.run_limit;
        let loaded = self.ask(&compiled.kernel().symbol, &load, limit, control);
        if matches!(loaded, Err(RuntimeError::WorkerFailed { .. })) {
            // It is compiled again next time.
            let _ = std::fs::remove_file(compiled.path());
        }
        loaded?;
        self.kernels += 1;
        Ok(self.kernels - 1)
    }

    /// Maps a buffer for `kernel`; returns its number.
    pub(super) fn map(
        &mut self,
        kernel: &str,
        buffer: &Buffer,
        writable: bool,
        control: &Control,
    ) -> Result<usize, RuntimeError> {
        let map = Request::Map {
            path: buffer.path(),
            start: buffer.start(),
            writable,
        };
        self.ask(kernel, &map, control.run_limit, control)?;
        self.buffers += 1;
        Ok(self.buffers - 1)
    }

    /// Calls `kernel` once; returns the time of the call.
    pub(super) fn run(
        &mut self,
        kernel: &str,
        call: &Call,
        control: &Control,
    ) -> Result<Duration, RuntimeError> {
        let run = Request::Run(call.clone());
        match self.ask(kernel, &run, control.run_limit, control)? {
            Reply::Ran { nanoseconds } => Ok(Duration::from_nanos(nanoseconds)),
            other => Err(RuntimeError::WorkerFailed {
                kernel: kernel.to_owned(),
                reason: format!("it answered {other:?} to a call"),
            }),
        }
    }

    /// Sends a request about `kernel`, and returns the reply.
    pub(super) fn ask(
        &mut self,
        kernel: &str,
        request: &Request,
        limit: Duration,
        control: &Control,
    ) -> Result<Reply, RuntimeError> {
        let kernel = || kernel.to_owned();
        let failed = |reason: String| RuntimeError::WorkerFailed {
            kernel: kernel(),
            reason,
        };
        let mut line = serde_json::to_string(request).map_err(|error| failed(error.to_string()))?;
        line.push('\n');
        let lost = match self.requests.write_all(line.as_bytes()) {
            Err(_) => Lost::Ended,
            Ok(()) => match self.wait(limit, control) {
                Ok(line) => {
                    return match serde_json::from_str(&line) {
                        Ok(Reply::Failed { reason }) => Err(failed(reason)),
                        Ok(Reply::Device(failure)) => Err(RuntimeError::Device {
                            kernel: kernel(),
                            failure,
                        }),
                        Ok(reply) => Ok(reply),
                        Err(error) => Err(failed(format!("it answered `{line}` ({error})"))),
                    };
                }
                Err(lost) => lost,
            },
        };
        Err(match lost {
            Lost::Interrupted => RuntimeError::Interrupted {
                during: format!("running kernel `{}`", kernel()),
            },
            Lost::TimedOut => RuntimeError::TimedOut {
                kernel: kernel(),
                limit,
            },
            Lost::Ended => self.post_mortem(kernel()),
        })
    }

    fn wait(&mut self, limit: Duration, control: &Control) -> Result<String, Lost> {
        let start = Instant::now();
        loop {
            match self.replies.recv_timeout(GLANCE.min(limit)) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => return Err(Lost::Ended),
                Err(RecvTimeoutError::Timeout) if control.interrupted() => {
                    return Err(Lost::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) if start.elapsed() >= limit => {
                    return Err(Lost::TimedOut);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// The status of a process that has closed its output: it is about to end. If it does not, it
    /// is killed.
    fn status(&mut self) -> io::Result<ExitStatus> {
        let start = Instant::now();
        while start.elapsed() < END_LIMIT && !self.group.has_ended() {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.group.end()
    }

    /// Why the process ended.
    fn post_mortem(&mut self, kernel: String) -> RuntimeError {
        let status = match self.status() {
            Ok(status) => status,
            Err(error) => {
                let reason = error.to_string();
                return RuntimeError::WorkerFailed { kernel, reason };
            }
        };
        match (status.signal(), status.code()) {
            (Some(signal), _) => {
                let (signal, hint) = signal_text(signal);
                RuntimeError::Crashed {
                    kernel,
                    signal,
                    hint,
                }
            }
            (None, code) => RuntimeError::Exited {
                kernel,
                status: code.unwrap_or_default(),
            },
        }
    }
}

/// Sets the environment variables that OpenMP runtimes and libraries read when they are loaded.
fn set_threads(command: &mut Command, threads: usize, bound: bool) {
    let threads = threads.max(1).to_string();
    // The limit also binds kernels that set the number of threads themselves.
    command
        .env("OMP_NUM_THREADS", &threads)
        .env("OMP_THREAD_LIMIT", &threads);
    command.env("OMP_DYNAMIC", "false");
    // Libraries have as many threads of their own, and know best which of their kernels are fastest
    // on a processor.
    let settings = std::env::vars_os().map(|(name, _)| name);
    for name in settings.filter(|name| name.to_string_lossy().starts_with("OPENBLAS_")) {
        command.env_remove(name);
    }
    command.env("OPENBLAS_NUM_THREADS", &threads);
    let placed = ["OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"];
    if !bound {
        // A library's threads inherit the affinity of the thread that starts them.
        for name in placed {
            command.env_remove(name);
        }
        command.env("OMP_PROC_BIND", "false");
    } else if placed.iter().all(|name| std::env::var_os(name).is_none()) {
        if threads == "1" {
            // If bound, it would share its cores with every other such process.
            command.env("OMP_PROC_BIND", "false");
        } else {
            command
                .env("OMP_PROC_BIND", "close")
                .env("OMP_PLACES", "cores");
        }
    }
}
