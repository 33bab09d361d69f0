//! Commands that help.

use super::table::{Command, Table};
use crate::repl::failure::{failed, failed_with};
use crate::repl::wrap::{entry, with_examples, wrapped};
use crate::repl::{Outcome, Repl, Reply};
use crate::script::{ScriptError, TOPICS};
use crate::transform::closest;

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

/// Help on a topic, a command or a function.
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
        let mut lines: Vec<String> = own
            .map(|e| {
                let summary = repl.session().help(&e.name).map(|h| summary(&h));
                entry(&e.signature, &summary.unwrap_or_default(), 34, width)
            })
            .collect();
        lines.dedup();
        return Ok(if lines.is_empty() {
            "this session has defined no functions yet".to_owned()
        } else {
            lines.join("\n")
        });
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
    let names = functions.iter().map(|e| e.name.as_str()).chain(topics);
    let names = names.chain(table.all().map(|c| c.name));
    let help = match closest(name, names) {
        Some(near) => format!("did you mean `{near}`? `:search {name}` looks everywhere"),
        None => format!("`:search {name}` looks everywhere"),
    };
    Err(failed_with(format!("there is no help on `{name}`"), help))
}

/// The first sentence of a documentation, which comes after the signature.
fn summary(help: &str) -> String {
    let text = first_sentence(help);
    // The call is shown beside it.
    let behind_call = text
        .strip_prefix('`')
        .and_then(|rest| rest.split_once(")` "));
    match behind_call {
        Some((call, rest)) if !call.contains('`') => rest.to_owned(),
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
    lines.extend(
        TOPICS
            .iter()
            .map(|(topic, about)| entry(topic, about, 16, width)),
    );
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
    let (mut by_name, mut by_text) = (Vec::new(), Vec::new());
    for function in functions.iter() {
        let help = repl.session().help(&function.name).unwrap_or_default();
        let line = entry(&function.signature, &summary(&help), 34, width);
        match has(&function.name) {
            true => by_name.push(line),
            false if has(&help) => by_text.push(line),
            false => {}
        }
    }
    lines.extend(by_name.into_iter().chain(by_text));
    lines.dedup();
    if lines.is_empty() {
        Err(failed(format!("no help has the word `{rest}`")))
    } else {
        Ok(Outcome::Text(lines.join("\n")))
    }
}
