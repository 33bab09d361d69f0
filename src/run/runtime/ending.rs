//! Signals that end this program. They stop it as Ctrl-C does, and it remembers the signal for its
//! exit code.

use super::sys;
use std::io;
use std::sync::atomic::{AtomicI32, Ordering};

/// The signal that came; 0 for none.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Makes SIGTERM and SIGHUP act like Ctrl-C, unless they are ignored.
///
/// # Errors
/// The system call fails.
pub fn end_as_ctrl_c() -> io::Result<()> {
    [libc::SIGTERM, libc::SIGHUP]
        .into_iter()
        .try_for_each(|signal| sys::on_signal(signal, remember))
}

/// The signal that ends this program, unless it is that of Ctrl-C.
pub fn ended_by() -> Option<i32> {
    Some(SIGNAL.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// The exit code of a program that was stopped: that of the signal, as in shells.
pub fn stopped_code() -> u8 {
    let signal = ended_by().unwrap_or(libc::SIGINT);
    u8::try_from(128 + signal).unwrap_or(1)
}

extern "C" fn remember(signal: libc::c_int) {
    SIGNAL.store(signal, Ordering::Relaxed);
    sys::interrupt();
}
