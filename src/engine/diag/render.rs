//! Renders diagnostics as text, with codespan-reporting.

use super::{Diagnostic, Severity, Sources};
use codespan_reporting::diagnostic as codespan;
use codespan_reporting::files::SimpleFiles;
use codespan_reporting::term::{self, Chars, Config, termcolor};
use std::ops::Range;

/// Whether to color the text for a stream: it is a terminal with colors, and the user wants them
/// (<https://no-color.org>).
pub fn color(is_terminal: bool) -> bool {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let has_colors = std::env::var_os("TERM").is_none_or(|term| term != "dumb");
    is_terminal && wanted && has_colors
}

impl Diagnostic {
    /// The diagnostic as text, with terminal colors if `color` is set.
    pub fn render(&self, sources: &Sources, color: bool) -> String {
        let mut files = SimpleFiles::new();
        let mut names: Vec<(&str, usize)> = Vec::new();
        let mut labels = Vec::new();
        for label in &self.labels {
            let name: &str = &label.span.source;
            let Some(text) = sources.get(name) else {
                continue;
            };
            let id = match names.iter().find(|(n, _)| *n == name) {
                Some((_, id)) => *id,
                None => {
                    let id = files.add(name, &**text);
                    names.push((name, id));
                    id
                }
            };
            let style = if label.primary {
                codespan::LabelStyle::Primary
            } else {
                codespan::LabelStyle::Secondary
            };
            let range = visible(text, &label.span.range);
            labels.push(codespan::Label::new(style, id, range).with_message(&label.text));
        }
        let severity = match self.severity {
            Severity::Bug => codespan::Severity::Bug,
            Severity::Error => codespan::Severity::Error,
            Severity::Warning => codespan::Severity::Warning,
        };
        let mut report = codespan::Diagnostic::new(severity)
            .with_message(&self.message)
            .with_labels(labels)
            .with_notes(self.notes.clone());
        if let Some(code) = self.code {
            report = report.with_code(code);
        }
        if let Some(help) = &self.help {
            report = report.with_note(format!("help: {}", help.replace('\n', "\n      ")));
        }
        let config = Config {
            chars: Chars::ascii(),
            ..Config::default()
        };
        let text = if color {
            let mut buffer = termcolor::Buffer::ansi();
            term::emit_to_write_style(&mut buffer, &config, &files, &report)
                .map(|()| String::from_utf8_lossy(buffer.as_slice()).into_owned())
        } else {
            term::emit_into_string(&config, &files, &report)
        };
        // Rendering fails only for a label outside its text; the message itself must never be lost.
        let text = text.unwrap_or_else(|_| format!("error: {}\n", self.message));
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        format!("{}\n", lines.join("\n").trim_end())
    }
}

/// The range within the text, on character boundaries and without a trailing line end.
fn visible(text: &str, range: &Range<usize>) -> Range<usize> {
    let floor = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let (start, end) = (floor(range.start), floor(range.end.max(range.start)));
    let trimmed = text[start..end].trim_end_matches(['\r', '\n']).len();
    start..start + trimmed
}

#[cfg(test)]
mod tests {
    use super::super::Span;
    use super::*;

    fn render(text: &str, range: Range<usize>) -> String {
        let mut sources = Sources::default();
        sources.insert("main.rhai".into(), text.into());
        let span = Span {
            source: "main.rhai".into(),
            range,
        };
        Diagnostic::error("it is wrong")
            .at(Some(span), "here")
            .render(&sources, false)
    }

    #[test]
    fn tabs_wide_characters_and_line_ends() {
        let lines = |text: &str| -> Vec<String> {
            text.lines()
                .skip(1)
                .map(|l| l.trim_end().to_owned())
                .collect()
        };
        let shown = render("\tlet é = \"日本\";\r\nlet x = 1;\r\n", 11..19);
        assert_eq!(
            lines(&shown),
            [
                "  --> main.rhai:1:11",
                "  |",
                "1 |     let é = \"日本\";",
                "  |              ^^^^^^ here",
            ]
        );
        let shown = render("a\r\nbc\r\n", 3..7);
        assert_eq!(
            lines(&shown),
            ["  --> main.rhai:2:1", "  |", "2 | bc", "  | ^^ here"]
        );
    }

    #[test]
    fn places_outside_the_text_do_not_lose_the_message() {
        assert!(render("short", 90..95).contains("it is wrong"));
        assert!(render("é", 1..1).contains("it is wrong"));
    }
}
