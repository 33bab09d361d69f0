//! Deep recursion and panics, kept away from the caller.

use crate::legality::Verdicts;
use crate::runtime::LIMITS_SHOWN;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The stack of the thread that runs scripts. A call of a script function takes up to 48 KiB in a
/// debug build, and values nest as deeply as lists are long.
const SIZE: usize = 512 << 20;

/// Why there is no result.
pub enum Failed {
    /// The message of a panic.
    Panic(String),
    /// The system has no thread for it.
    Start(String),
}

/// The message for a system that grants too little.
pub fn lacking(why: &str) -> String {
    format!("the system gives this process too little: {why}; {LIMITS_SHOWN}")
}

/// Runs `work` on a thread with a stack for deep recursion, which knows the verdicts of this one.
///
/// # Errors
/// A panic, or there is no such thread.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Failed> {
    let known = Verdicts::take();
    let work = || {
        known.give();
        let done = catch_unwind(AssertUnwindSafe(work));
        (done, Verdicts::take())
    };
    std::thread::scope(|threads| {
        let thread = std::thread::Builder::new()
            .name("script".to_owned())
            .stack_size(SIZE)
            .spawn_scoped(threads, work);
        let (done, known) = match thread.map(|t| t.join()) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => return Err(Failed::Panic(message_of(&*panic))),
            Err(error) => return Err(Failed::Start(format!("cannot start a thread: {error}"))),
        };
        known.give();
        done.map_err(|panic| Failed::Panic(message_of(&*panic)))
    })
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        return (*text).to_owned();
    }
    let text = panic.downcast_ref::<String>();
    text.cloned().unwrap_or_else(|| "a panic".to_owned())
}
