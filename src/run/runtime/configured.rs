//! The C compiler that the environment names, as the `cc` crate reads it: `CC`, with a wrapper such
//! as ccache and with arguments, and `CFLAGS`, each also with the target's name.
//!
//! The crate starts the compiler to find out its kind, and waits for it without a limit. So it
//! works in a worker process, which is bounded as a whole.

use super::cache;
use super::control::Control;
use super::error::{RuntimeError, bytes_text};
use super::protocol::{Configured, Reply, Request};
use super::sys;
use super::worker::{Kind, Worker};
use std::ffi::{OsStr, OsString};

/// The memory limit of a worker, in case the compiler writes without end, and of the compiler.
const MEMORY: u64 = 512 << 20;

/// The name of this activity in messages.
pub(super) const SEARCH: &str = "looking for a C compiler";

/// Asks a worker.
///
/// # Errors
/// [`RuntimeError::Interrupted`], or why there is no such compiler.
pub(super) fn ask(control: &Control) -> Result<Result<Configured, String>, RuntimeError> {
    // Compilers write files there, and leave them when they are killed.
    let scratch = cache::temporary().ok();
    let kind = Kind::Probe {
        scratch: scratch.as_ref().map(|directory| directory.path()),
    };
    let limit = control.answer_limit;
    let answer = Worker::start(kind, control)
        .and_then(|mut worker| worker.ask("cc", &Request::Compiler, limit, control));
    Ok(match answer {
        Ok(Reply::Compiler(found)) => Ok(found),
        Ok(other) => Err(format!("{}: it answered {other:?}", name())),
        Err(RuntimeError::Interrupted { .. }) => {
            return Err(RuntimeError::Interrupted {
                during: SEARCH.to_owned(),
            });
        }
        Err(RuntimeError::TimedOut { .. }) => {
            Err(format!("{}: it gave no answer in {limit:?}", name()))
        }
        // The worker only keeps the compiler's output; without memory it aborts or panics.
        Err(RuntimeError::Crashed { .. } | RuntimeError::Exited { .. }) => Err(format!(
            "{}: it wrote more than {} and was stopped",
            name(),
            bytes_text(MEMORY)
        )),
        Err(RuntimeError::WorkerFailed { reason, .. }) => Err(reason),
        Err(error) => Err(format!("{}: {error}", name())),
    })
}

/// The compiler's name in the environment, for messages.
fn name() -> String {
    let named = std::env::var_os("CC").filter(|name| !name.is_empty());
    format!("`{}`", named.unwrap_or("cc".into()).display())
}

/// Finds the compiler. Runs in a worker, which does nothing else afterwards.
///
/// # Errors
/// The message of the crate.
pub(super) fn find() -> Result<Configured, String> {
    sys::limit_memory(MEMORY).map_err(|error| error.to_string())?;
    let target = env!("TEML_TARGET");
    let mut build = cc::Build::new();
    build.target(target).host(target).opt_level(3);
    build.no_default_flags(true).inherit_rustflags(false);
    build.shell_escaped_flags(true);
    build
        .cargo_metadata(false)
        .cargo_warnings(false)
        .cargo_output(false);
    let tool = build
        .try_get_compiler()
        .map_err(|error| error.to_string())?;
    let command = tool.to_command();
    let own = |text: &OsStr| text.to_owned();
    let mut arguments: Vec<OsString> = command.get_args().map(own).collect();
    // The flags come last.
    let first = arguments.len().saturating_sub(tool.args().len());
    let flags = arguments.split_off(first);
    let environment = tool.get_envs().map(|(key, value)| (own(key), own(value)));
    Ok(Configured {
        program: own(command.get_program()),
        arguments,
        flags,
        environment: environment.collect(),
    })
}
