//! Processes that this program starts, and their bounds: a time limit, a limit of the output that
//! is kept, and a process group of their own. The whole group is killed at its time limit, when
//! someone asks to stop, and when it writes without end. It is also killed when its leader ends but
//! leaves others behind, and when this program dies (`guard.rs`).

use super::control::Control;
use super::guard::Guarded;
use super::sys;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How many bytes of each output are kept.
const KEPT: usize = 1 << 20;

/// A process that writes more than this is assumed not to end by itself.
const FLOOD: u64 = 64 << 20;

/// How often a wait checks whether someone asked to stop.
const GLANCE: Duration = Duration::from_millis(20);

/// A process that ended.
pub(super) struct Finished {
    pub(super) status: ExitStatus,
    /// The beginning of its standard output.
    pub(super) output: String,
    /// The beginning of its standard error.
    pub(super) errors: String,
}

/// Why a process did not end by itself.
#[derive(Debug)]
pub(super) enum Stopped {
    /// It could not be started or waited for.
    System(io::Error),
    /// Someone asked to stop.
    Interrupted,
    /// It exceeded its time limit.
    TimedOut,
    /// It wrote too much.
    Flooded,
}

impl Stopped {
    /// The reason, to follow the name of the program, unless someone asked to stop.
    pub(super) fn reason(&self, limit: Duration) -> String {
        match self {
            Stopped::System(error) => error.to_string(),
            Stopped::Interrupted => "it was interrupted".to_owned(),
            Stopped::TimedOut => format!("it gave no answer in {limit:?} and was stopped"),
            Stopped::Flooded => format!(
                "it wrote more than {} and was stopped",
                super::error::bytes_text(FLOOD)
            ),
        }
    }
}

/// The output of a program, if it exists and succeeds within [`Control::answer_limit`].
pub fn answer(program: &str, arguments: &[&str], control: &Control) -> Option<String> {
    let finished = run(
        Command::new(program).args(arguments),
        control.answer_limit,
        control,
    )
    .ok()?;
    finished.status.success().then_some(finished.output)
}

/// Runs a command to its end, with no input.
pub(super) fn run(
    command: &mut Command,
    limit: Duration,
    control: &Control,
) -> Result<Finished, Stopped> {
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let mut group = Group::start(command, true, control).map_err(Stopped::System)?;
    let mut pipes = [
        Pipe::new(group.child.stdout.take()),
        Pipe::new(group.child.stderr.take()),
    ];
    let mut pause = Duration::from_millis(1);
    while !group.has_ended() {
        if control.interrupted() {
            return Err(Stopped::Interrupted);
        }
        if start.elapsed() >= limit {
            return Err(Stopped::TimedOut);
        }
        if pipes.iter().map(|pipe| pipe.written).sum::<u64>() > FLOOD {
            return Err(Stopped::Flooded);
        }
        // A process that closes its outputs is about to end.
        if wait(&mut pipes, GLANCE).map_err(Stopped::System)? {
            pause = Duration::from_millis(1)
        } else {
            std::thread::sleep(pause);
            pause = (pause * 5 / 4).min(GLANCE);
        }
    }
    // The pipes still hold its last output.
    while pipes.iter().map(|pipe| pipe.written).sum::<u64>() <= FLOOD
        && wait(&mut pipes, Duration::ZERO).map_err(Stopped::System)?
    {}
    let status = group.end().map_err(Stopped::System)?;
    let [output, errors] = pipes.map(|pipe| String::from_utf8_lossy(&pipe.text).into_owned());
    Ok(Finished {
        status,
        output,
        errors,
    })
}

/// Waits until a pipe can be read, and reads some bytes of each that can. Returns whether it read
/// any.
fn wait(pipes: &mut [Pipe; 2], limit: Duration) -> io::Result<bool> {
    let open: Vec<_> = pipes.iter_mut().filter(|pipe| pipe.end.is_some()).collect();
    if open.is_empty() {
        return Ok(false);
    }
    let ends: Vec<_> = open.iter().filter_map(|pipe| pipe.end.as_ref()).collect();
    let ready = sys::readable(
        &ends.iter().map(|end| end.as_fd()).collect::<Vec<_>>(),
        limit,
    )?;
    let mut any = false;
    for (pipe, ready) in open.into_iter().zip(ready) {
        if ready {
            pipe.read()?;
            any = true;
        }
    }
    Ok(any)
}

/// One output of a process.
struct Pipe {
    /// `None` once it is closed.
    end: Option<Box<dyn Output>>,
    text: Vec<u8>,
    written: u64,
}

trait Output: Read + AsFd {}
impl<T: Read + AsFd> Output for T {}

impl Pipe {
    fn new(end: Option<impl Output + 'static>) -> Pipe {
        Pipe {
            end: end.map(|end| Box::new(end) as Box<dyn Output>),
            text: Vec::new(),
            written: 0,
        }
    }

    /// Reads once from a pipe that is ready, so that it does not block.
    fn read(&mut self) -> io::Result<()> {
        let mut block = [0; 1 << 16];
        let Some(end) = &mut self.end else {
            return Ok(());
        };
        match end.read(&mut block) {
            Ok(0) => self.end = None,
            Ok(count) => {
                self.written += count as u64;
                let room = KEPT.saturating_sub(self.text.len());
                self.text.extend_from_slice(&block[..count.min(room)]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// A process group and its leader; killed when dropped.
pub struct Group {
    pub(super) child: Child,
    reaped: bool,
    _guarded: Guarded,
}

impl Group {
    /// Starts a command as the leader of a group. If `bound`, it dies at the latest with the thread
    /// that starts it; a command may also arrange that itself.
    ///
    /// # Errors
    /// The system cannot start it.
    pub fn start(command: &mut Command, bound: bool, control: &Control) -> io::Result<Group> {
        sys::adopt_orphans();
        // Ctrl-C in a terminal reaches this program only, which then kills the group.
        command.process_group(0);
        if bound {
            sys::die_with_parent(command);
        }
        let guarded = Guarded::prepare(control);
        let child = command.spawn()?;
        Ok(Group {
            _guarded: guarded.watch(child.id()),
            child,
            reaped: false,
        })
    }

    /// Whether the leader has ended. It keeps its number until the group ends.
    pub fn has_ended(&self) -> bool {
        self.reaped || sys::has_ended(self.child.id())
    }

    /// Kills the rest of the group, and waits for it.
    pub(super) fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.reaped {
            // The leader is not reaped yet, so the number is still that of its group.
            sys::kill_group(self.child.id());
        }
        let status = self.child.wait()?;
        if !self.reaped {
            self.reaped = true;
            sys::reap_group(self.child.id());
        }
        Ok(status)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Errors do not matter: the group is gone.
        let _ = self.end();
    }
}
