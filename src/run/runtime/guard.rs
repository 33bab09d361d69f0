//! A process that briefly outlives this one. If this program is killed and cannot clean up, the
//! guard kills the process groups that this program has started.
//!
//! It runs as long as there are such groups. It reads their numbers from its standard input, which
//! closes when this program ends.

use super::control::Control;
use super::sys;
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The guard, and the number of its groups.
static GUARD: Mutex<(usize, Option<Guard>)> = Mutex::new((0, None));

struct Guard {
    child: Child,
    groups: ChildStdin,
}

fn guard() -> MutexGuard<'static, (usize, Option<Guard>)> {
    GUARD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A group that the guard knows, until it is dropped.
pub(super) struct Guarded {
    group: Option<u32>,
}

impl Guarded {
    /// Ensures that the guard runs. If it cannot be started, only this program kills groups.
    pub(super) fn prepare(control: &Control) -> Guarded {
        let mut guard = guard();
        guard.0 += 1;
        if guard.1.is_none() {
            guard.1 = Guard::start(control).ok();
        }
        Guarded { group: None }
    }

    /// Tells the guard the number of the group.
    pub(super) fn watch(mut self, group: u32) -> Guarded {
        self.group = Some(group);
        if let Some(guard) = &mut guard().1 {
            guard.say('+', group);
        }
        self
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let mut guard = guard();
        guard.0 -= 1;
        if let (Some(guard), Some(group)) = (&mut guard.1, self.group) {
            guard.say('-', group);
        }
        if guard.0 == 0
            && let Some(Guard { mut child, groups }) = guard.1.take()
        {
            drop(groups);
            // It has nothing left to do, so errors do not matter.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Guard {
    fn start(control: &Control) -> io::Result<Guard> {
        let mut command = Command::new(&control.worker);
        command.arg0("teml").args(["worker", "--guard"]);
        command.stdin(Stdio::piped());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        // Ctrl-C in a terminal must not reach it.
        command.process_group(0);
        let mut child = command.spawn()?;
        let groups = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Guard { child, groups })
    }

    /// A write that fails leaves the group unguarded.
    fn say(&mut self, sign: char, group: u32) {
        let _ = self.groups.write_all(format!("{sign}{group}\n").as_bytes());
    }
}

/// Kills the groups that standard input adds and does not remove, once it is closed. This is all of
/// `teml worker --guard`, which nobody calls by hand.
pub(super) fn keep() {
    let mut groups: Vec<u32> = Vec::new();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let Some((sign, Ok(group))) = line.split_at_checked(1).map(|(s, g)| (s, g.parse())) else {
            continue;
        };
        groups.retain(|known| *known != group);
        if sign == "+" {
            groups.push(group);
        }
    }
    groups.into_iter().for_each(sys::kill_group);
}
