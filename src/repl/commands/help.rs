//! Commands that help.

use super::table::{Command, Table};
use crate::repl::failure::{failed, failed_with};
use crate::repl::wrap::{entry, with_examples, wrapped};
use crate::repl::{Outcome, Repl, Reply};
use crate::script::{Concept, Entry, ScriptError, TOPICS};
use crate::transform::closest;
use std::collections::BTreeSet;

const LINES: &str = "\
Anything else is a line of a script. It continues while a bracket or a string is open. A line that \
begins with a dot continues the last one. Ctrl-C stops whatever runs. Tab completes; the arrow up \
finds lines that begin with the typed text.";

const CLASSES: &str = "\
Errors: a refusal is not possible on this nest, a mistake is never possible, a limitation is not \
supported yet.";

pub fn help(table: Table, repl: &mut Repl, rest: &str) -> Reply {
    let text = match rest {
        "" => overview(table, repl),
        name => about(table, repl, name)?,
    };
    Ok(Outcome::Text(text))
}

/// Help on a concept, a topic, a command or a function.
fn about(table: Table, repl: &mut Repl, name: &str) -> Result<String, Box<ScriptError>> {
    let (width, paint) = (repl.width(), repl.paint());
    let shown = |text: &str| with_examples(&wrapped(text, width), paint);
    if let Some(text) = repl.session().help(name) {
        let text = shown(&text);
        return Ok(match table.all().find(|command| command.name == name) {
            Some(command) => format!("{text}\n\n{}", of_command(command, width)),
            None => text,
        });
    }
    if let Some(group) = table.0.iter().find(|group| group.topic == name) {
        return Ok(group
            .commands
            .iter()
            .map(|c| of_command(c, width))
            .collect::<Vec<_>>()
            .join("\n"));
    }
    let functions = repl.catalog();
    if TOPICS.iter().any(|(topic, _)| *topic == name) {
        let own = functions.iter().filter(|entry| entry.topic == name);
        let lines = listed(repl, own, |_, _| true);
        if lines.is_empty() {
            return Ok("this session has defined no functions yet".to_owned());
        }
        let concept = Concept::named(name).map(|concept| {
            let line = format!("The concept: `:help {}`", concept.title);
            wrapped(&line, width)
        });
        return Ok(concept
            .into_iter()
            .chain(lines)
            .collect::<Vec<_>>()
            .join("\n"));
    }
    if name == Concept::TOPIC.0 {
        let all = Concept::all().map(|c| entry(c.title, c.sentence(), 26, width));
        return Ok(all.collect::<Vec<_>>().join("\n"));
    }
    if let Some(concept) = Concept::named(name) {
        let title = repl.paint().bold(concept.title);
        return Ok(format!("{title}\n\n{}", shown(concept.text)));
    }
    // `gemm` is `schedules::gemm`.
    let behind = format!("::{name}");
    if let Some(found) = functions.iter().find(|e| e.name.ends_with(&behind)) {
        let text = repl.session().help(&found.name).unwrap_or_default();
        return Ok(shown(&text));
    }
    let command = name.strip_prefix(':');
    if let [command] = table.named(command.unwrap_or(name)).as_slice() {
        return Ok(of_command(command, width));
    }
    let topics = TOPICS.iter().map(|(topic, _)| *topic);
    let topics = topics.chain(Concept::all().map(|concept| concept.title));
    let names = functions.iter().map(|e| e.name.as_str()).chain(topics);
    let names = names.chain(table.all().map(|c| c.name));
    let help = match closest(name, names) {
        Some(near) => format!("did you mean `{near}`? `:search {name}` looks everywhere"),
        None => format!("`:search {name}` looks everywhere"),
    };
    Err(failed_with(format!("there is no help on `{name}`"), help))
}

/// A line for each function whose name and help `is_wanted`. Functions that share their help, which
/// names all of them first, have one line.
fn listed<'a>(
    repl: &mut Repl,
    functions: impl Iterator<Item = &'a Entry>,
    is_wanted: impl Fn(&Entry, &str) -> bool,
) -> Vec<String> {
    let width = repl.width();
    let (mut lines, mut told) = (Vec::new(), BTreeSet::new());
    for function in functions {
        let help = repl.session().help(&function.name).unwrap_or_default();
        if !is_wanted(function, &help) {
            continue;
        }
        let body = help.split_once("\n\n").map_or("", |(_, body)| body);
        let summary = summary(&help);
        let is_told = !told.insert(body.to_owned());
        let named = format!("`{}", function.name);
        if !(is_told && (body.is_empty() || first_sentence(&help).contains(&named))) {
            lines.push(entry(&function.signature, &summary, 34, width));
        }
    }
    lines.dedup();
    lines
}

/// The first sentence of a documentation, which comes after the signature.
fn summary(help: &str) -> String {
    let text = first_sentence(help);
    // The call is shown beside it.
    let behind_call = text
        .strip_prefix('`')
        .and_then(|rest| rest.split_once(")` "));
    match behind_call {
        Some((call, rest)) if !call.contains('`') && !rest.starts_with("and ") => rest.to_owned(),
        _ => text,
    }
}

fn first_sentence(help: &str) -> String {
    let body = help.split_once("\n\n").map_or("", |(_, body)| body);
    let paragraph = body.split("\n\n").next().unwrap_or("");
    let text: Vec<&str> = paragraph.split_whitespace().collect();
    let text = text.join(" ");
    match text.find(". ").or(text.find(": `")) {
        Some(end) => text[..end].to_owned(),
        None => text.trim_end_matches(['.', ':']).to_owned(),
    }
}

fn of_command(command: &Command, width: usize) -> String {
    let head = format!(":{} {}", command.name, command.arguments);
    entry(head.trim_end(), command.help, 24, width)
}

fn overview(table: Table, repl: &mut Repl) -> String {
    let (width, paint) = (repl.width(), repl.paint());
    let mut lines = Vec::new();
    for group in table.0 {
        let about = entry(group.topic, group.about, 16, width);
        lines.push(paint.bold(&about));
        lines.extend(group.commands.iter().map(|c| of_command(c, width)));
        lines.push(String::new());
    }
    lines.push(paint.bold(&wrapped(
        "Functions: `:help TOPIC` lists them, `:help NAME` explains one",
        width,
    )));
    let topics = std::iter::once(&Concept::TOPIC).chain(TOPICS);
    lines.extend(topics.map(|(topic, about)| entry(topic, about, 16, width)));
    lines.push(String::new());
    lines.push(wrapped(LINES, width));
    lines.push(String::new());
    lines.push(wrapped(CLASSES, width));
    lines.join("\n")
}

pub fn search(table: Table, repl: &mut Repl, rest: &str) -> Reply {
    let word = rest.to_lowercase();
    if word.is_empty() {
        return Err(failed("`:search` takes a word: `:search transpose`"));
    }
    let width = repl.width();
    let has = |text: &str| text.to_lowercase().contains(&word);
    let commands = table.all().filter(|c| has(c.name) || has(c.help));
    let mut lines: Vec<String> = commands.map(|c| of_command(c, width)).collect();
    let functions = repl.catalog();
    lines.extend(listed(repl, functions.iter(), |function, _| {
        has(&function.name)
    }));
    let by_text = |function: &Entry, help: &str| !has(&function.name) && has(help);
    lines.extend(listed(repl, functions.iter(), by_text));
    let concepts = Concept::all().filter(|c| has(c.title) || has(c.text));
    lines.extend(concepts.map(|c| entry(&format!(":help {}", c.title), c.sentence(), 34, width)));
    lines.dedup();
    if lines.is_empty() {
        Err(failed(format!("no help has the word `{rest}`")))
    } else {
        Ok(Outcome::Text(lines.join("\n")))
    }
}
