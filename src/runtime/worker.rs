//! The process in which kernels run, seen from outside.

use super::buffer::Buffer;
use super::compile::Compiled;
use super::control::Control;
use super::error::{RuntimeError, signal_text};
use super::protocol::{Call, Reply, Request};
use super::sys;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long a worker may take to say that it is there.
const START_LIMIT: Duration = Duration::from_secs(20);

/// How long a process may take to end.
const END_LIMIT: Duration = Duration::from_secs(5);

/// How often a wait looks whether someone asked to stop.
const GLANCE: Duration = Duration::from_millis(20);

/// A worker process; killed when dropped, with all that its kernels started.
///
/// It also dies with the thread that started it, so it belongs into one function's frame.
pub(super) struct Worker {
    child: Child,
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

impl Worker {
    /// Starts a worker whose kernels get `threads` OpenMP threads, each bound to a core of its own
    /// if `bound`.
    pub(super) fn start(
        threads: usize,
        bound: bool,
        control: &Control,
    ) -> Result<Worker, RuntimeError> {
        let failed = |reason: String| RuntimeError::WorkerStart {
            program: control.worker.clone(),
            reason,
        };
        let mut command = Command::new(&control.worker);
        command.arg0("teml").arg("worker");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // Its own group: Ctrl-C in a terminal reaches this program only.
        command.process_group(0);
        let threads = threads.max(1).to_string();
        // The limit holds for kernels that ask for a number themselves.
        command
            .env("OMP_NUM_THREADS", &threads)
            .env("OMP_THREAD_LIMIT", &threads);
        command.env("OMP_DYNAMIC", "false");
        // Libraries have threads of their own, and as many; and they know best which of their
        // kernels a processor runs fastest.
        let settings = std::env::vars_os().map(|(name, _)| name);
        for name in settings.filter(|name| name.to_string_lossy().starts_with("OPENBLAS_")) {
            command.env_remove(name);
        }
        command.env("OPENBLAS_NUM_THREADS", &threads);
        let placed = ["OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"];
        if !bound {
            // A library's threads inherit the place of the thread that starts them.
            for name in placed {
                command.env_remove(name);
            }
            command.env("OMP_PROC_BIND", "false");
        } else if placed.iter().all(|name| std::env::var_os(name).is_none()) {
            if threads == "1" {
                // Bound, it would share its place with every other such process.
                command.env("OMP_PROC_BIND", "false");
            } else {
                command
                    .env("OMP_PROC_BIND", "close")
                    .env("OMP_PLACES", "cores");
            }
        }
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let Some((requests, output)) = pipes else {
            return Err(failed("it has no pipes".to_owned()));
        };
        let (sender, replies) = channel();
        let mut worker = Worker {
            child,
            requests,
            replies,
            kernels: 0,
            buffers: 0,
        };
        let read = move || {
            let lines = BufReader::new(output).lines();
            for line in lines.map_while(Result::ok) {
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
                _ => Err(failed(format!("it is no worker: it answered `{line}`"))),
            },
            Err(Lost::Interrupted) => Err(RuntimeError::Interrupted {
                during: "starting a worker".to_owned(),
            }),
            Err(Lost::TimedOut) => Err(failed(format!("no answer in {START_LIMIT:?}"))),
            Err(Lost::Ended) => {
                let status = worker.reap();
                let status = status.map_or_else(|e| e.to_string(), |s| s.to_string());
                Err(failed(format!("it ended at once ({status})")))
            }
        }
    }

    /// Loads a kernel; its number.
    pub(super) fn load(
        &mut self,
        compiled: &Compiled,
        control: &Control,
    ) -> Result<usize, RuntimeError> {
        let path = compiled.path().as_os_str().to_owned();
        self.request(&compiled.kernel().symbol, &Request::Load { path }, control)?;
        self.kernels += 1;
        Ok(self.kernels - 1)
    }

    /// Maps a buffer for `kernel`; its number.
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
        self.request(kernel, &map, control)?;
        self.buffers += 1;
        Ok(self.buffers - 1)
    }

    /// Calls `kernel` once; how long the call took.
    pub(super) fn run(
        &mut self,
        kernel: &str,
        call: &Call,
        control: &Control,
    ) -> Result<Duration, RuntimeError> {
        match self.request(kernel, &Request::Run(call.clone()), control)? {
            Reply::Ran { nanoseconds } => Ok(Duration::from_nanos(nanoseconds)),
            other => Err(RuntimeError::WorkerFailed {
                kernel: kernel.to_owned(),
                reason: format!("it answered {other:?} to a call"),
            }),
        }
    }

    fn request(
        &mut self,
        kernel: &str,
        request: &Request,
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
            Ok(()) => match self.wait(control.run_limit, control) {
                Ok(line) => {
                    return match serde_json::from_str(&line) {
                        Ok(Reply::Failed { reason }) => Err(failed(reason)),
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
                limit: control.run_limit,
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

    /// The status of a process that has closed its output: it is about to end, and if it is not,
    /// it is made to.
    fn reap(&mut self) -> io::Result<ExitStatus> {
        let start = Instant::now();
        while start.elapsed() < END_LIMIT {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        sys::kill_group(self.child.id());
        self.child.wait()
    }

    /// Why the process is no more.
    fn post_mortem(&mut self, kernel: String) -> RuntimeError {
        let status = match self.reap() {
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

impl Drop for Worker {
    fn drop(&mut self) {
        // Still there or not yet reaped, so the number is still its own; and once reaped, there
        // is nobody left to kill.
        if matches!(self.child.try_wait(), Ok(None)) {
            sys::kill_group(self.child.id());
            // Reaps it; that it is gone is all that matters.
            let _ = self.child.wait();
        }
    }
}
