//! One measurement at a time on a machine, also among processes. A process that measures holds an
//! advisory lock on a file in the cache directory, so that only processes that share the directory
//! wait. The system releases the lock when its holder ends, however it ends. If machines share a
//! cache directory, each has a file of its own.

use super::cache;
use super::control::Control;
use super::error::RuntimeError;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::time::{Duration, Instant};

/// The right to measure, until it is dropped.
pub(super) struct MachineLock {
    /// Closing it releases the lock. `None` if there is no cache directory, or no locks.
    _held: Option<File>,
}

/// The name of the file in the cache directory. It contains the boot number of the system, which is
/// the same in all containers of a machine, and differs among machines.
fn file() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let boot: String = boot.chars().take_while(char::is_ascii_hexdigit).collect();
    format!("measuring-{boot}.lock")
}

/// How often the lock is tried.
const PAUSE: Duration = Duration::from_millis(50);

/// A wait of this length deserves a message; most measurements are shorter.
const PATIENCE: Duration = Duration::from_secs(1);

/// The interval of further messages.
const AGAIN: Duration = Duration::from_secs(60);

/// Waits until no other process measures, and reports that it waits.
///
/// # Errors
/// [`RuntimeError::Interrupted`] when someone asked to stop.
pub(super) fn lock_machine(control: &Control) -> Result<MachineLock, RuntimeError> {
    hold(control, File::try_lock)
}

/// As [`lock_machine`], for work that several processes may do at the same time, but not during a
/// measurement.
///
/// # Errors
/// As [`lock_machine`].
pub(super) fn beside_others(control: &Control) -> Result<MachineLock, RuntimeError> {
    hold(control, File::try_lock_shared)
}

fn hold(
    control: &Control,
    try_lock: impl Fn(&File) -> Result<(), TryLockError>,
) -> Result<MachineLock, RuntimeError> {
    let Some(mut file) = open(control) else {
        return Ok(MachineLock { _held: None });
    };
    let mut speak = Instant::now() + PATIENCE;
    loop {
        match try_lock(&file) {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(_)) => return Ok(MachineLock { _held: None }),
        }
        control.go_on(|| "waiting for another measurement".to_owned())?;
        if Instant::now() >= speak {
            (control.notice)(&format!(
                "waiting for another measurement on this machine, by {}",
                holder(&mut file)
            ));
            speak = Instant::now() + AGAIN;
        }
        std::thread::sleep(PAUSE);
    }
    // Other processes name the holder in their messages.
    let _ = file
        .set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| write!(file, "{}", std::process::id()));
    Ok(MachineLock { _held: Some(file) })
}

fn open(control: &Control) -> Option<File> {
    let place = cache::file(control, &file())?;
    std::fs::create_dir_all(place.parent()?).ok()?;
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false);
    options.open(place).ok()
}

/// The process that holds the lock, for messages.
fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.read_to_string(&mut text));
    match read.ok().and_then(|_| text.parse::<u32>().ok()) {
        Some(process) => format!("process {process}"),
        None => "another process".to_owned(),
    }
}
