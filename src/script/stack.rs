//! Deep recursion and panics, kept away from the caller.

use crate::legality::Verdicts;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The stack of the thread that runs scripts. A call of a script function takes up to 48 KiB of
/// it in a debug build, and values nest as deeply as lists are long.
const SIZE: usize = 512 << 20;

/// Runs `work` on a thread with a stack for deep recursion, which knows the verdicts of this one.
///
/// # Errors
/// The message of a panic.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
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
            Ok(Err(panic)) => return Err(message_of(&*panic)),
            Err(error) => return Err(format!("cannot start a thread: {error}")),
        };
        known.give();
        done.map_err(|panic| message_of(&*panic))
    })
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        return (*text).to_owned();
    }
    let text = panic.downcast_ref::<String>();
    text.cloned().unwrap_or_else(|| "a panic".to_owned())
}
