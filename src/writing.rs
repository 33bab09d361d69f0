//! Commands that write files for others: libraries, documents, completions.

use crate::arguments::{Cli, Settings, Team, Writing};
use crate::output::{self, code, print, say};
use crate::scripts::{failure, in_session, with};
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use teml::package::{self, Exported, Version};
use teml::runtime::{RuntimeError, Writer};
use teml::script::Session;
use teml::target::{Instructions, Target};
use teml::trial::{Collect, Shipped, TrialError};
use teml::verbs::{self, Workbench};

/// `teml build`.
pub fn build(
    file: &Path,
    out: &Path,
    (name, targets): (Option<String>, Vec<Target>),
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
    // The widest instructions first, since the library takes the first that the processor has.
    let mut targets = targets;
    targets.sort_by_key(|target| {
        let all = Instructions::ALL.iter();
        std::cmp::Reverse(all.take_while(|set| **set != target.instructions).count())
    });
    targets.dedup_by_key(|target| target.instructions);
    let versioned = targets.len() > 1;
    let (mut bench, mut all) = (None, Vec::new());
    let each = match targets.is_empty() {
        true => vec![Target::native()],
        false => targets.clone(),
    };
    for target in each {
        let mut trials = Workbench::default().settings;
        trials.options.target = target;
        let workbench = Workbench {
            control: control.clone(),
            runner: Arc::new(Collect),
            allow_write: writing.allow_write.clone(),
            settings: trials,
            ..Workbench::default()
        };
        // The script prints once, also if it runs for several targets.
        let output: Box<dyn Write + Send> = match all.is_empty() {
            true => Box::new(std::io::stdout()),
            false => Box::new(std::io::sink()),
        };
        let code = in_session(file, output, with(settings.clone(), workbench), |session| {
            all.push(session.exported());
            bench = Some(session.bench().clone());
            ExitCode::SUCCESS
        });
        if code != ExitCode::SUCCESS {
            return code;
        }
    }
    let (Some(bench), Some(first)) = (bench, all.first().cloned()) else {
        return ExitCode::FAILURE;
    };
    if first.is_empty() {
        let what = "exports nothing: it does not call `export_kernel(plan, \"name\")`";
        return failure(file, what);
    }
    let mut package = verbs::package(&name, first);
    if versioned {
        match versions(file, targets, all) {
            Ok(versions) => package.versions = versions,
            Err(code) => return code,
        }
    }
    let library = match reported(verbs::library(&bench, &mut package)) {
        Ok(Shipped {
            library: Some(library),
            ..
        }) => library,
        Ok(_) => return ExitCode::FAILURE,
        Err(code) => return code,
    };
    match package::write(&package, library, out, &writer, &control) {
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
}

/// The kernels for each target; an exit code if no library can choose among them.
fn versions(
    file: &Path,
    targets: Vec<Target>,
    all: Vec<Vec<Exported>>,
) -> Result<Vec<Version>, ExitCode> {
    let names = |kernels: &[Exported]| -> Vec<String> {
        let symbols = kernels.iter().map(|e| e.kernel.symbol.clone());
        symbols.collect()
    };
    if all.windows(2).any(|two| names(&two[0]) != names(&two[1])) {
        let what = "exports different kernels for different targets";
        return Err(failure(file, what));
    }
    let mut features = targets.iter().map(|target| target.instructions.features());
    let can_ask = features.clone().all(|features| features.is_some());
    if !can_ask || !features.any(|features| features.is_some_and(<[_]>::is_empty)) {
        say(
            "error: a library for several targets chooses among instruction sets of x86-64, and one \
             of them is sse2, which all processors have: `--target avx512,avx2,sse2`",
        );
        return Err(ExitCode::from(2));
    }
    let versions = targets.into_iter().zip(all);
    let versions: Option<Vec<Version>> = versions.map(|(t, k)| Version::new(t, k)).collect();
    versions.ok_or(ExitCode::from(2))
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
