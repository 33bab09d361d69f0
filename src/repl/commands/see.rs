//! Commands that show a nest.

use super::table::{Command, Completes};
use crate::analysis::levels::levels;
use crate::codegen::{self, Kernel};
use crate::ir::Nest;
use crate::repl::arguments::parts;
use crate::repl::asm::{busiest, lines_of};
use crate::repl::failure::{failed, failed_with};
use crate::repl::timeline::Subject;
use crate::repl::{Outcome, Repl, Reply};
use crate::report;
use crate::runtime::Compiler;
use crate::script::ScriptError;
use crate::transform::trace::{self, Calls};
use crate::trial::{self, Variant};
use crate::verbs;
use std::ops::RangeInclusive;
use std::path::Path;

pub static COMMANDS: &[Command] = &[
    Command {
        name: "show",
        arguments: "[NEST]",
        help: "the loops of a nest, each with iterations, operations and the bytes that it touches",
        completes: Completes::Nest,
        call: show,
    },
    Command {
        name: "c",
        arguments: "[LOOP] [of NEST]",
        help: "the C of a nest, or of one of its loops, without the support code in front of it",
        completes: Completes::Loop,
        call: c,
    },
    Command {
        name: "plan",
        arguments: "[NEST]",
        help: "what the C does, as pseudo-code: threads, vectors, unrolled loops, registers",
        completes: Completes::Nest,
        call: plan,
    },
    Command {
        name: "asm",
        arguments: "[LOOP] [of NEST]",
        help: "the assembly of the busiest innermost loop, or of the one inside of LOOP, and the \
               width of its vectors",
        completes: Completes::Loop,
        call: asm,
    },
    Command {
        name: "path",
        arguments: "[NEST]",
        help: "the steps that made a nest, as a script",
        completes: Completes::Nest,
        call: path,
    },
    Command {
        name: "diff",
        arguments: "A, B",
        help: "where the paths of two nests differ",
        completes: Completes::Nest,
        call: diff,
    },
    Command {
        name: "svg",
        arguments: "FILE [, NEST]",
        help: "draw a nest as an SVG file",
        completes: Completes::File,
        call: |repl, rest| draw(repl, rest, "svg"),
    },
    Command {
        name: "html",
        arguments: "FILE [, NEST]",
        help: "write a page with the drawing of a nest, its path and its C",
        completes: Completes::File,
        call: |repl, rest| draw(repl, rest, "html"),
    },
    Command {
        name: "vars",
        arguments: "",
        help: "the variables",
        completes: Completes::Nothing,
        call: vars,
    },
];

fn show(repl: &mut Repl, rest: &str) -> Reply {
    let subject = repl.subject(rest)?;
    let mut lines = Vec::new();
    for nest in &subject.nests {
        let paint = repl.paint();
        let rows: Vec<[String; 4]> = levels(nest)
            .into_iter()
            .map(|level| {
                let trips = level
                    .trips
                    .map_or("?".to_owned(), |trips| trips.to_string());
                [
                    format!("{:indent$}{}", "", level.of.name, indent = 2 * level.depth),
                    trips,
                    quantity(level.operations, 1000.0, ["", "k", "M", "G", "T"]),
                    quantity(
                        level.bytes as f64,
                        1024.0,
                        ["B", "KiB", "MiB", "GiB", "TiB"],
                    ),
                ]
            })
            .collect();
        lines.push(paint.nest(nest));
        lines.push(String::new());
        lines.extend(columns(
            ["loop", "iterations", "operations", "touches"],
            &rows,
        ));
    }
    lines.push(
        "Operations and bytes are those of all iterations of a loop, each time that it runs."
            .to_owned(),
    );
    Ok(Outcome::Text(lines.join("\n")))
}

fn columns(heads: [&str; 4], rows: &[[String; 4]]) -> Vec<String> {
    let widths: Vec<usize> = (0..4)
        .map(|k| {
            let cells = rows.iter().map(|row| row[k].chars().count());
            cells.chain([heads[k].len()]).max().unwrap_or(0)
        })
        .collect();
    let line = |cells: [&str; 4]| {
        let mut text = format!("{:<w$}", cells[0], w = widths[0]);
        for k in 1..4 {
            text.push_str(&format!("  {:>w$}", cells[k], w = widths[k]));
        }
        text
    };
    let body = rows
        .iter()
        .map(|[a, b, c, d]| line([a.as_str(), b.as_str(), c.as_str(), d.as_str()]));
    [line(heads)].into_iter().chain(body).collect()
}

fn quantity(value: f64, base: f64, units: [&str; 5]) -> String {
    let mut rest = value;
    for unit in &units[..4] {
        if rest < base {
            return number(rest, unit);
        }
        rest /= base;
    }
    number(rest, units[4])
}

fn number(value: f64, unit: &str) -> String {
    let space = if unit.is_empty() { "" } else { " " };
    if value.fract() == 0.0 || value >= 100.0 {
        format!("{value:.0}{space}{unit}")
    } else {
        format!("{value:.1}{space}{unit}")
    }
}

/// The kernel of some nests.
fn kernel(repl: &Repl, subject: &Subject) -> Result<Kernel, Box<ScriptError>> {
    let symbol = codegen::symbol::from_label(&subject.name);
    let settings = repl.settings();
    let (reductions, target) = (settings.reductions, &settings.options.target);
    let variant = Variant {
        label: subject.name.clone(),
        nests: subject.nests.clone(),
    };
    let is_own = trial::is_own(&variant, &[]);
    let kernel = codegen::generate_with_own(&variant.nests, &symbol, reductions, target, &is_own);
    kernel.map_err(|error| {
        let message = format!("`{}` has no code: {error}", subject.name);
        failed_with(message, ":check explains it")
    })
}

/// The loop and the nests that `LOOP of NEST` means. Both may be missing. A word alone is a loop of
/// the present nest, and a nest otherwise.
fn place(repl: &mut Repl, rest: &str) -> Result<(String, Subject), Box<ScriptError>> {
    let plain = |name: &str| name.trim().trim_matches('"').to_owned();
    if let Some(nest) = rest.strip_prefix("of ") {
        return Ok((String::new(), repl.subject(nest)?));
    }
    if let Some((name, nest)) = rest.split_once(" of ") {
        return Ok((plain(name), repl.subject(nest)?));
    }
    let name = plain(rest);
    match repl.subject("") {
        Ok(subject) if name.is_empty() || loops(&subject).contains(&name) => Ok((name, subject)),
        present => match (repl.subject(rest), present) {
            (Ok(other), _) => Ok((String::new(), other)),
            // The word is meant as a loop, and the message lists the loops that there are.
            (Err(_), Ok(subject)) if name.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                Ok((name, subject))
            }
            (Err(error), _) => Err(error),
        },
    }
}

fn loops(subject: &Subject) -> Vec<String> {
    let loops = subject.nests.iter().flat_map(Nest::loops);
    loops.map(|(_, l)| l.name.to_string()).collect()
}

/// The lines of C that belong to a loop.
fn found(
    source: &str,
    name: &str,
    subject: &Subject,
) -> Result<Vec<RangeInclusive<usize>>, Box<ScriptError>> {
    let lines = lines_of(source, name);
    if name.is_empty() || !lines.is_empty() {
        return Ok(lines);
    }
    let names = loops(subject);
    Err(failed(if names.iter().any(|known| known == name) {
        format!("the C has no loop `{name}`: it was unrolled or has one iteration")
    } else {
        format!("no loop is named `{name}`; there are {}", names.join(", "))
    }))
}

fn c(repl: &mut Repl, rest: &str) -> Reply {
    let (name, subject) = place(repl, rest)?;
    let kernel = kernel(repl, &subject)?;
    let function = kernel.function.trim();
    let paint = repl.paint();
    let lines = found(function, &name, &subject)?;
    if !name.is_empty() {
        let of = |range: RangeInclusive<usize>| {
            let (first, count) = (range.start() - 1, range.count());
            // The line after the last one closes the loop.
            let lines = function.lines().skip(first).take(count + 1);
            lines.map(|line| format!("{line}\n")).collect::<String>()
        };
        let parts: Vec<String> = lines.into_iter().map(of).collect();
        return Ok(Outcome::Text(paint.c(parts.join("\n").trim_end())));
    }
    let support = kernel.source().lines().count() - kernel.function.lines().count();
    let note = format!("// {support} lines of support code come before it: codegen(…) shows all");
    let text = paint.c(function);
    Ok(Outcome::Text(format!("{}\n{text}", paint.faint(&note))))
}

fn plan(repl: &mut Repl, rest: &str) -> Reply {
    let subject = repl.subject(rest)?;
    let text = repl.verb("plan", |bench| verbs::plan(bench, &subject.nests))?;
    Ok(Outcome::Text(repl.paint().plan(text.trim_end())))
}

fn asm(repl: &mut Repl, rest: &str) -> Reply {
    let (name, subject) = place(repl, rest)?;
    let kernel = kernel(repl, &subject)?;
    let lines = found(&kernel.source(), &name, &subject)?;
    let (control, options) = (repl.control(), repl.settings().options);
    let compiled = Compiler::find(&control)
        .and_then(|compiler| compiler.assembly(&kernel, &options, &control));
    let assembly = compiled.map_err(|error| failed(error.to_string()))?;
    let Some(inner) = busiest(&assembly, &lines) else {
        let of = if name.is_empty() { "The kernel" } else { &name };
        return Ok(Outcome::Text(format!(
            "{of} has no loop in its assembly: the compiler unrolled it"
        )));
    };
    let width = match inner.bits {
        Some(bits) => format!(
            "{} of {} instructions compute with vectors of {bits} bits",
            inner.arithmetic,
            inner.instructions.len()
        ),
        None => format!("{} instructions, none on vectors", inner.instructions.len()),
    };
    let body: Vec<String> = inner
        .instructions
        .iter()
        .map(|t| format!("  {t}"))
        .collect();
    Ok(Outcome::Text(format!(
        "{}\n{}",
        repl.paint().bold(&width),
        body.join("\n")
    )))
}

/// The path of a nest as a script, or why there is none.
fn script(nest: &Nest) -> String {
    let script = trace::script(nest, Calls::Folded);
    script.unwrap_or_else(|error| format!("// {error}"))
}

fn path(repl: &mut Repl, rest: &str) -> Reply {
    let subject = repl.subject(rest)?;
    let mut texts = Vec::new();
    for nest in &subject.nests {
        texts.push(repl.paint().script(&script(nest)));
    }
    Ok(Outcome::Text(texts.join("\n")))
}

/// The only nest of a subject.
fn one(subject: Subject, command: &str) -> Result<Nest, Box<ScriptError>> {
    match subject.nests.as_slice() {
        [nest] => Ok(nest.clone()),
        _ => Err(failed(format!("{command} takes nests, not lists of them"))),
    }
}

fn diff(repl: &mut Repl, rest: &str) -> Reply {
    let (first, second) = match parts(rest).as_slice() {
        [first, second] => (repl.subject(first)?, repl.subject(second)?),
        [first] => (repl.subject("")?, repl.subject(first)?),
        _ => return Err(failed("`:diff` takes two nests: `:diff naive, plan`")),
    };
    let [first, second] = [first, second].map(|subject| one(subject, ":diff"));
    let printed = trace::diff(first?.path(), second?.path(), Calls::Folded);
    let text = if printed.trim().is_empty() {
        "the paths are the same".to_owned()
    } else {
        repl.paint().difference(printed.trim_end())
    };
    Ok(Outcome::Text(text))
}

fn draw(repl: &mut Repl, rest: &str, kind: &str) -> Reply {
    let all = parts(rest);
    let subject = repl.subject(all.get(1).copied().unwrap_or(""))?;
    let given = all.first().map(|file| file.trim_matches('"').to_owned());
    let file = given.unwrap_or_else(|| format!("{}.{kind}", subject.name));
    let paths: Vec<String> = subject.nests.iter().map(script).collect();
    let code = kernel(repl, &subject).map(|kernel| kernel.function).ok();
    let text = match kind {
        "svg" => report::drawing(&subject.nests),
        _ => report::drawing_page(&subject.name, &subject.nests, &paths, code.as_deref()),
    };
    let written = repl.writer().write(Path::new(&file), text);
    written.map_err(|error| failed(format!("cannot write {file}: {error}")))?;
    Ok(Outcome::Text(format!(
        "{} is drawn in {file}",
        subject.name
    )))
}

fn vars(repl: &mut Repl, _: &str) -> Reply {
    let names = repl.session().variables();
    let lines: Vec<String> = names
        .into_iter()
        .filter_map(|name| {
            let value = repl.session().show_variable(&name)?;
            Some(format!("{name} = {value}"))
        })
        .collect();
    Ok(Outcome::Text(if lines.is_empty() {
        "no variables yet".to_owned()
    } else {
        lines.join("\n")
    }))
}
