//! Colors of a terminal, for scripts, nests, C and differences.

use super::marks::marks;
use crate::ir::{Nest, Tree};
use crate::script::{TokenKind, scan};
use crate::target::Target;

/// Whether texts get colors.
#[derive(Clone, Copy, Debug)]
pub struct Paint(pub bool);

const KEYWORD: &str = "34";
const NAME: &str = "36";
const NUMBER: &str = "33";
const STRING: &str = "32";
const PARALLEL: &str = "1;32";
const VECTOR: &str = "1;35";
const FAINT: &str = "2";
const GOOD: &str = "32";
const BAD: &str = "31";
const BOLD: &str = "1";

const SCRIPT: &[&str] = &[
    "let", "const", "fn", "for", "in", "if", "else", "while", "loop", "return", "import", "as",
    "true", "false", "break", "continue", "switch", "throw", "try", "catch", "by",
];

const C: &[&str] = &[
    "for", "if", "else", "void", "const", "static", "int", "int64_t", "int32_t", "double", "float",
    "return", "while", "inline", "restrict",
];

const TREE: &[&str] = &[
    "for", "in", "fill", "local", "step", "min", "max", "f64", "f32", "i32", "i64",
];

impl Paint {
    fn with(self, style: &str, text: &str) -> String {
        if self.0 && !text.is_empty() {
            format!("\x1b[{style}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// Text that can be overlooked.
    pub fn faint(self, text: &str) -> String {
        self.with(FAINT, text)
    }

    /// Text about something right.
    pub fn good(self, text: &str) -> String {
        self.with(GOOD, text)
    }

    /// Text about something wrong.
    pub fn bad(self, text: &str) -> String {
        self.with(BAD, text)
    }

    /// A heading.
    pub fn bold(self, text: &str) -> String {
        self.with(BOLD, text)
    }

    /// A script, or a part of one. Only colors are added.
    pub fn script(self, text: &str) -> String {
        self.tokens(text, &|word| SCRIPT.contains(&word).then_some(KEYWORD))
    }

    /// C.
    pub fn c(self, text: &str) -> String {
        let paint = |line: &str| {
            if line.trim_start().starts_with('#') {
                self.with(VECTOR, line)
            } else {
                self.tokens(line, &|word| match word {
                    word if C.contains(&word) => Some(KEYWORD),
                    word if word.starts_with("f64x") || word.starts_with("f32x") => Some(VECTOR),
                    _ => None,
                })
            }
        };
        let lines: Vec<String> = text.lines().map(paint).collect();
        lines.join("\n")
    }

    /// The plan of a kernel, as pseudo-code.
    pub fn plan(self, text: &str) -> String {
        let word = |word: &str| match word {
            "parallel" | "shared" => Some(PARALLEL),
            "vectors" | "lanes" => Some(VECTOR),
            "unrolled" | "registers" => Some(NAME),
            word if TREE.contains(&word) => Some(KEYWORD),
            _ => None,
        };
        let lines: Vec<String> = text.lines().map(|line| self.tokens(line, &word)).collect();
        lines.join("\n")
    }

    /// Lines with `-` and `+`.
    pub fn difference(self, text: &str) -> String {
        let paint = |line: &str| match line.as_bytes().first() {
            Some(b'-') => self.bad(line),
            Some(b'+') => self.good(line),
            _ => line.to_owned(),
        };
        let lines: Vec<String> = text.lines().map(paint).collect();
        lines.join("\n")
    }

    /// A nest; in color with the number of iterations behind each loop, and whether it is unrolled.
    pub fn nest(self, nest: &Nest) -> String {
        if !self.0 {
            return nest.to_string();
        }
        let marks = marks(nest, &Target::native());
        let loops = nest.loops();
        let names: Vec<&str> = loops.iter().map(|(_, l)| l.name.as_str()).collect();
        let word = |word: &str| match word {
            "parallel" => Some(PARALLEL),
            "vector" => Some(VECTOR),
            word if TREE.contains(&word) => Some(KEYWORD),
            word if names.contains(&word) => Some(NAME),
            _ => None,
        };
        let text = nest.to_string();
        let first = text.lines().count().saturating_sub(nest.lines().len());
        let mut lines: Vec<String> = text
            .lines()
            .take(first)
            .map(|line| self.tokens(line, &word))
            .collect();
        for line in nest.lines() {
            let mut shown = self.tokens(&line.to_string(), &word);
            if let Tree::Loop(l) = line.tree
                && let Some(mark) = marks.get(&l.name)
            {
                shown.push_str(&self.faint(&format!("  {mark}")));
            }
            lines.push(shown);
        }
        lines.join("\n")
    }

    fn tokens(self, text: &str, word: &dyn Fn(&str) -> Option<&'static str>) -> String {
        if !self.0 {
            return text.to_owned();
        }
        let scanned = scan(text);
        let (mut out, mut at) = (String::new(), 0);
        for token in &scanned.tokens {
            let between = &text[at..token.range.start];
            out.push_str(&if between.contains("//") || between.contains("/*") {
                self.faint(between)
            } else {
                between.to_owned()
            });
            let shown = &text[token.range.clone()];
            let style = match token.kind {
                TokenKind::Word => word(shown),
                TokenKind::Number => Some(NUMBER),
                TokenKind::Text => Some(STRING),
                TokenKind::Mark => None,
            };
            out.push_str(&style.map_or(shown.to_owned(), |style| self.with(style, shown)));
            at = token.range.end;
        }
        out.push_str(&self.faint_comment(&text[at..]));
        out
    }

    fn faint_comment(self, text: &str) -> String {
        if text.trim().is_empty() {
            text.to_owned()
        } else {
            self.faint(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text without colors.
    fn plain(text: &str) -> String {
        let mut parts = text.split("\x1b[");
        let first = parts.next().unwrap().to_owned();
        parts.fold(first, |text, part| text + part.split_once('m').unwrap().1)
    }

    #[test]
    fn only_colors_are_added() {
        for text in [
            "let a = \"x\"; // é",
            "f(1, [i,",
            "",
            "  `open ${",
            "/* x */ y",
        ] {
            assert_eq!(plain(&Paint(true).script(text)), text);
            assert_eq!(Paint(false).script(text), text);
        }
        let text = "f64 A[8]\nparallel for i in 0..8\n  A[i] = 1";
        let nest = crate::ir::parse_nest(text).unwrap();
        let shown = plain(&Paint(true).nest(&nest));
        assert_eq!(shown, text.replace("0..8", "0..8  ×8"));
        assert_eq!(Paint(false).nest(&nest), text);
    }
}
