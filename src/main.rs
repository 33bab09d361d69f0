//! The `teml` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("worker") => teml::runtime::serve(),
        _ => ExitCode::SUCCESS,
    }
}
