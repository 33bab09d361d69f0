//! Text in windows of any width.

use super::paint::Paint;
use crate::report::words_in_lines as lines;

/// The text with lines broken between words so that they have at most `width` columns. The lines of
/// an item of a list line up. Other lines that begin with spaces, or are part of code or of a
/// table, stay as they are.
pub fn wrapped(text: &str, width: usize) -> String {
    let mut out = Vec::new();
    let mut paragraph = String::new();
    let mut in_code = false;
    let flush = |paragraph: &mut String, out: &mut Vec<String>| {
        if let Some(item) = paragraph.strip_prefix(ITEM) {
            let item = lines(item, width.saturating_sub(ITEM.len()), ITEM.len());
            let item = item.join("\n");
            out.push(format!("{ITEM}{}", item.trim_start()));
        } else if !paragraph.is_empty() {
            out.extend(lines(paragraph, width, 0));
        }
        paragraph.clear();
    };
    for line in text.lines() {
        let is_fence = line.starts_with("```");
        in_code ^= is_fence;
        let is_item = !in_code && line.starts_with(ITEM);
        let goes_on = !in_code && paragraph.starts_with(ITEM) && line.starts_with("  ");
        let is_fixed = in_code || is_fence || line.is_empty() || line.starts_with([' ', '|', '*']);
        let is_fixed = is_fixed && !goes_on;
        if is_fixed {
            flush(&mut paragraph, &mut out);
            out.push(line.to_owned());
        } else {
            if is_item {
                flush(&mut paragraph, &mut out);
            }
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line.trim_start());
        }
    }
    flush(&mut paragraph, &mut out);
    out.join("\n")
}

/// How an item of a list begins.
const ITEM: &str = "- ";

/// `head` in a column of `indent`, then `text` in lines beside it, or below it where the window is
/// narrow.
pub fn entry(head: &str, text: &str, indent: usize, width: usize) -> String {
    let length = head.chars().count();
    if width < indent + 20 {
        let below = lines(text, width.saturating_sub(4), 4);
        return format!("{head}\n{}", below.join("\n"));
    }
    let beside = lines(text, width - indent, indent).join("\n");
    let beside = beside.trim_start();
    if length + 1 < indent {
        format!("{head}{}{beside}", " ".repeat(indent - length))
    } else {
        format!("{head}\n{}{beside}", " ".repeat(indent))
    }
}

/// Help with its examples as people see them in a terminal: a script in colors, and beneath it its
/// output, both indented.
pub fn with_examples(text: &str, paint: Paint) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut inside = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), inside) {
            (Some(_), Some(_)) => inside = None,
            (Some(kind), None) => {
                // In colors, the output follows its script at once.
                if kind == "text" && paint.0 && out.last().is_some_and(String::is_empty) {
                    out.pop();
                }
                inside = Some(kind);
            }
            (None, None) => out.push(line.to_owned()),
            (None, Some("rhai")) => out.push(format!("    {}", paint.script(line))),
            (None, Some(_)) => out.push(paint.faint(&format!("    {line}"))),
        }
    }
    out.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_lose_their_fences() {
        let text =
            "Doubles.\n\n```rhai\nprint(2 * 3);\n```\n\n```text\n6\n```\n\nIt refuses nothing.";
        let expected = "Doubles.\n\n    print(2 * 3);\n\n    6\n\nIt refuses nothing.";
        assert_eq!(with_examples(text, Paint(false)), expected);
        let colored = with_examples(text, Paint(true));
        assert!(colored.contains("\x1b[") && !colored.contains(";\n\n"));
    }

    #[test]
    fn paragraphs_are_broken_and_code_is_not() {
        let text = "one two three four\nfive\n\n    code that is long enough\n```rhai\na + b + c + d\n```\nsix";
        let expected = "one two\nthree four\nfive\n\n    code that is long enough\n```rhai\na + b + c + d\n```\nsix";
        assert_eq!(wrapped(text, 10), expected);
        let list = "- one two\n  three\n- four\n\nfive";
        assert_eq!(wrapped(list, 9), "- one two\n  three\n- four\n\nfive");
        assert_eq!(wrapped(list, 7), "- one\n  two\n  three\n- four\n\nfive");
        assert_eq!(entry(":c", "the C of it", 6, 40), ":c    the C of it");
        assert_eq!(entry(":c", "the C of it", 16, 30), ":c\n    the C of it");
    }
}
