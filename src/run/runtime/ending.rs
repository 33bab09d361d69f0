//! Signals that end this program: they stop it as Ctrl-C does, and it remembers which one came, since
//! its exit code tells.

use super::sys;
use std::io;
use std::sync::atomic::{AtomicI32, Ordering};

/// The signal that came; 0 for none.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Lets SIGTERM and SIGHUP do what Ctrl-C does, unless they are ignored.
///
/// # Errors
/// The system does not do that.
pub fn end_as_ctrl_c() -> io::Result<()> {
    [libc::SIGTERM, libc::SIGHUP]
        .into_iter()
        .try_for_each(|signal| sys::on_signal(signal, remember))
}

/// The signal that ends this program, if one other than that of Ctrl-C does.
pub fn ended_by() -> Option<i32> {
    Some(SIGNAL.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// The exit code of a program that was stopped: that of the signal, as shells give it.
pub fn stopped_code() -> u8 {
    let signal = ended_by().unwrap_or(libc::SIGINT);
    u8::try_from(128 + signal).unwrap_or(1)
}

extern "C" fn remember(signal: libc::c_int) {
    SIGNAL.store(signal, Ordering::Relaxed);
    sys::interrupt();
}
