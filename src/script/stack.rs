//! Deep recursion and panics, kept away from the caller.

use crate::legality::Verdicts;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The stack of the thread that runs scripts. A call of a script function takes up to 48 KiB of
/// it in a debug build, and values nest as deeply as lists are long.
const SIZE: usize = 512 << 20;

/// Why there is no result.
pub enum Failed {
    /// The message of a panic.
    Panic(String),
    /// The system has no thread for it.
    Start(String),
}

/// Whether a panic says that the system gives too little: threads, files or memory.
pub fn is_lack(panic: &str) -> bool {
    let signs = [
        "Resource temporarily unavailable",
        "Too many open files",
        "Cannot allocate memory",
        "failed to spawn thread",
    ];
    signs.iter().any(|sign| panic.contains(sign))
}

/// What users are told of that.
pub fn lacking(why: &str) -> String {
    format!(
        "the system gives this process too little: {why}; `ulimit -a` shows limits of memory, files \
         and processes"
    )
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
