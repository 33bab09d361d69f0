//! Commands that load and save.

use super::table::{Command, Completes};
use crate::bench;
use crate::repl::arguments::parts;
use crate::repl::failure::{failed, failed_with};
use crate::repl::{Outcome, Repl, Reply};
use crate::trial::Variant;
use crate::verbs;
use std::path::Path;

pub static COMMANDS: &[Command] = &[
    Command {
        name: "load",
        arguments: "FILE [--no-compare]",
        help: "run a script as if it were typed; --no-compare runs and times no kernel",
        completes: Completes::File,
        call: load,
    },
    Command {
        name: "save",
        arguments: "FILE",
        help: "write a script that leads to this state, without errors and abandoned branches",
        completes: Completes::File,
        call: save,
    },
    Command {
        name: "export",
        arguments: "DIR [, NEST]",
        help: "write a nest and the untransformed one as C with a Makefile and a driver",
        completes: Completes::File,
        call: export,
    },
    Command {
        name: "kernels",
        arguments: "[NAME]",
        help: "the kernels that come with teml; with NAME, load one without timing it",
        completes: Completes::Kernel,
        call: kernels,
    },
    Command {
        name: "reset",
        arguments: "",
        help: "forget all variables and functions; :undo brings them back",
        completes: Completes::Nothing,
        call: reset,
    },
];

fn load(repl: &mut Repl, rest: &str) -> Reply {
    const QUIET: &str = "--no-compare";
    let is_quiet = rest.split_whitespace().any(|word| word == QUIET);
    let file = rest.replace(QUIET, "");
    let file = file.trim().trim_matches('"');
    if file.is_empty() {
        return Err(failed("`:load` takes a file: `:load matmul.rhai`"));
    }
    repl.load(Path::new(file), is_quiet)
}

fn save(repl: &mut Repl, rest: &str) -> Reply {
    let file = rest.trim_matches('"');
    if file.is_empty() {
        return Err(failed("`:save` takes a file: `:save matmul.rhai`"));
    }
    let lines = repl.timeline().lines();
    let script: String = lines.iter().map(|line| as_statement(line)).collect();
    let version = env!("CARGO_PKG_VERSION");
    let text = format!("// Saved by teml repl {version}.\n{script}");
    let written = repl.writer().write(Path::new(file), text);
    written.map_err(|error| failed(format!("cannot write {file}: {error}")))?;
    let plural = if lines.len() == 1 { "" } else { "s" };
    Ok(Outcome::Text(format!(
        "{} line{plural} saved in {file}",
        lines.len()
    )))
}

/// A line with a semicolon behind its last word, so that another one can follow.
fn as_statement(line: &str) -> String {
    let scanned = crate::script::scan(line);
    let Some(last) = scanned.tokens.last() else {
        return format!("{line}\n");
    };
    let end = last.range.end;
    match &line[last.range.clone()] {
        ";" => format!("{line}\n"),
        _ => format!("{};{}\n", &line[..end], &line[end..]),
    }
}

fn export(repl: &mut Repl, rest: &str) -> Reply {
    let all = parts(rest);
    let directory = all
        .first()
        .map_or("", |directory| directory.trim_matches('"'));
    if directory.is_empty() {
        return Err(failed(
            "`:export` takes a directory: `:export gemm`, or `:export gemm, plan`",
        ));
    }
    let subject = repl.subject(all.get(1).copied().unwrap_or(""))?;
    let untransformed = subject.nests.iter().flat_map(|nest| nest.untransformed());
    let mut variants = vec![Variant {
        label: "untransformed".to_owned(),
        nests: untransformed.collect(),
    }];
    if variants[0].nests != subject.nests {
        variants.push(Repl::variant(subject));
    }
    let written = repl.verb("bundle", |bench| {
        verbs::bundle(bench, &variants, Path::new(directory))
    })?;
    written.map_err(|error| failed(format!("cannot write {directory}: {error}")))?;
    Ok(Outcome::Text(format!(
        "written to {directory}: `make run` there checks and times it"
    )))
}

fn kernels(repl: &mut Repl, rest: &str) -> Reply {
    if rest.is_empty() {
        let names = |scripts: Vec<bench::Script>| {
            let names: Vec<String> = scripts.into_iter().map(|s| s.name).collect();
            names.join(", ")
        };
        let width = repl.width();
        let (own, polybench) = (names(bench::scripts()), names(bench::polybench()));
        let text = format!(
            "The kernels of TeML: {own}\n\nPolyBench: {polybench}\n\n`:kernels mm` loads one."
        );
        return Ok(Outcome::Text(crate::repl::wrap::wrapped(&text, width)));
    }
    let all = bench::scripts().into_iter().chain(bench::polybench());
    let all: Vec<bench::Script> = all.collect();
    let Some((name, text)) = all.iter().find(|s| s.name == rest).and_then(|s| s.own()) else {
        let names = all.iter().map(|script| script.name.as_str());
        let help = match crate::transform::closest(rest, names) {
            Some(near) => format!("did you mean `:kernels {near}`?"),
            None => "`:kernels` lists all of them".to_owned(),
        };
        return Err(failed_with(format!("no kernel is named `{rest}`"), help));
    };
    repl.load_text(&name, text, true)
}

fn reset(repl: &mut Repl, _: &str) -> Reply {
    repl.reset();
    Ok(Outcome::Text(
        "everything is forgotten; :undo brings it back".to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end() {
        for (line, statement) in [
            ("let a = 1", "let a = 1;\n"),
            ("let a = 1;", "let a = 1;\n"),
            ("a = 2 // why", "a = 2; // why\n"),
            ("fn f(x) { x }", "fn f(x) { x };\n"),
            ("// only a remark", "// only a remark\n"),
        ] {
            assert_eq!(as_statement(line), statement);
        }
    }
}
