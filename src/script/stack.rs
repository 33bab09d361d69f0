//! Deep recursion and panics, kept away from the caller.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The stack of the thread that runs scripts. A call of a script function takes up to 48 KiB of
/// it in a debug build, and values nest as deeply as lists are long.
const SIZE: usize = 512 << 20;

/// Runs `work` on a thread with a stack for deep recursion.
///
/// # Errors
/// The message of a panic.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    std::thread::scope(|threads| {
        let thread = std::thread::Builder::new()
            .name("script".to_owned())
            .stack_size(SIZE)
            .spawn_scoped(threads, || catch_unwind(AssertUnwindSafe(work)));
        match thread.map(|t| t.join()) {
            Ok(Ok(Ok(result))) => Ok(result),
            Ok(Ok(Err(panic)) | Err(panic)) => Err(message_of(&*panic)),
            Err(error) => Err(format!("cannot start a thread: {error}")),
        }
    })
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        return (*text).to_owned();
    }
    let text = panic.downcast_ref::<String>();
    text.cloned().unwrap_or_else(|| "a panic".to_owned())
}
