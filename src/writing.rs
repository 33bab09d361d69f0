//! Commands that write files for others: libraries, documents, completions.

use crate::arguments::{Cli, Settings, Team, Writing};
use crate::output::{self, code, print, say};
use crate::scripts::{failure, in_session, with};
use clap::CommandFactory;
use clap_complete::Shell;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use teml::package;
use teml::runtime::{RuntimeError, Writer};
use teml::script::Session;
use teml::trial::{Collect, Shipped, TrialError};
use teml::verbs::{self, Workbench};

/// `teml build`.
pub fn build(
    file: &Path,
    out: &Path,
    name: Option<String>,
    settings: Settings,
    (team, writing): (&Team, Writing),
) -> ExitCode {
    let name = name.unwrap_or_else(|| {
        let stem = file.file_stem().unwrap_or(file.as_os_str());
        stem.to_string_lossy().to_lowercase().replace('-', "_")
    });
    if let Some(error) = package::name_error(&name) {
        say(&format!("error: {error}; --name gives another one"));
        return ExitCode::from(2);
    }
    let control = super::of_team(team);
    let writer = Writer::new(&control, &writing.allow_write);
    let workbench = Workbench {
        control,
        runner: Arc::new(Collect),
        allow_write: writing.allow_write,
        ..Workbench::default()
    };
    let stdout = Box::new(std::io::stdout());
    in_session(file, stdout, with(settings, workbench), |session| {
        let kernels = session.exported();
        if kernels.is_empty() {
            let what = "exports nothing: it does not call `export_kernel(plan, \"name\")`";
            return failure(file, what);
        }
        let mut package = verbs::package(&name, kernels);
        let made = verbs::library(session.bench(), &mut package);
        let library = match reported(made) {
            Ok(Shipped {
                library: Some(library),
                ..
            }) => library,
            Ok(_) => return ExitCode::FAILURE,
            Err(code) => return code,
        };
        match package::write(&package, library, out, &writer) {
            Ok(files) => {
                let lines = files
                    .iter()
                    .map(|file| format!("{}\n", out.join(file).display()));
                code(print(&lines.collect::<String>()))
            }
            Err(error) => {
                say(&format!("error: {error}"));
                ExitCode::FAILURE
            }
        }
    })
}

/// Kernels that were compiled, run and compared; an exit code if one is wrong.
pub fn reported(shipped: Result<Shipped, TrialError>) -> Result<Shipped, ExitCode> {
    match shipped {
        Ok(shipped) => {
            for remark in &shipped.remarks {
                say(&format!("warning: {remark}"));
            }
            Ok(shipped)
        }
        Err(error) => {
            say(&format!("error: nothing is written: {error}"));
            if error.is_of_compiler() {
                say(
                    "  = the C compiler miscompiles it, also without optimizations: `CC=clang` \
                     takes another one",
                );
            }
            Err(match error {
                TrialError::Runtime(RuntimeError::Interrupted { .. }) => output::stopped(),
                _ => ExitCode::FAILURE,
            })
        }
    }
}

/// `teml doc`.
pub fn doc(out: Option<&Path>) -> ExitCode {
    with_session(|session| {
        let page = session.reference();
        match out {
            Some(path) => written(path, &page),
            None => code(print(&page)),
        }
    })
}

/// `teml definitions`.
pub fn definitions(directory: &Path) -> ExitCode {
    with_session(|session| {
        if let Err(error) = std::fs::create_dir_all(directory) {
            say(&format!(
                "error: cannot write {}: {error}",
                directory.display()
            ));
            return ExitCode::FAILURE;
        }
        let files = session.definitions().into_iter();
        let codes = files.map(|(name, text)| written(&directory.join(name), &text));
        codes.fold(ExitCode::SUCCESS, |all, one| {
            if one == ExitCode::SUCCESS { all } else { one }
        })
    })
}

/// `teml completions`.
pub fn completions(shell: Shell) -> ExitCode {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "teml", &mut text);
    code(print(&String::from_utf8_lossy(&text)))
}

/// `teml man`.
pub fn man(directory: &Path) -> ExitCode {
    let made = std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), directory));
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!(
                "error: cannot write {}: {error}",
                directory.display()
            ));
            ExitCode::FAILURE
        }
    }
}

fn with_session(work: impl FnOnce(&Session) -> ExitCode) -> ExitCode {
    match Session::new(Box::new(std::io::sink()), Workbench::default()) {
        Ok(session) => work(&session),
        Err(error) => super::fail(&error),
    }
}

fn written(path: &Path, text: &str) -> ExitCode {
    match std::fs::write(path, text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: cannot write {}: {error}", path.display()));
            ExitCode::FAILURE
        }
    }
}
