//! Highlights C as HTML.

use crate::report::escaped;

const KEYWORDS: &[&str] = &[
    "for", "if", "else", "while", "do", "return", "void", "const", "static", "inline", "int",
    "char", "double", "float", "int32_t", "int64_t", "uint64_t", "typedef", "union", "struct",
    "volatile", "extern", "sizeof",
];

/// C as HTML, with classes `k` for keywords, `c` for comments and directives, `n` for numbers.
pub fn highlighted(code: &str) -> String {
    let mut out = String::new();
    for line in code.trim_matches('\n').lines() {
        if line.trim_start().starts_with('#') {
            out.push_str(&format!("<span class=\"c\">{}</span>\n", escaped(line)));
            continue;
        }
        let (text, comment) = match line.find("//") {
            Some(at) => line.split_at(at),
            None => (line, ""),
        };
        words(&mut out, text);
        if !comment.is_empty() {
            out.push_str(&format!("<span class=\"c\">{}</span>", escaped(comment)));
        }
        out.push('\n');
    }
    out
}

fn words(out: &mut String, text: &str) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = is_word(first);
        let end = rest.find(|c| is_word(c) != word).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        let class = match () {
            () if KEYWORDS.contains(&part) => "k",
            () if first.is_ascii_digit() => "n",
            () => "",
        };
        out.push_str(&match class {
            "" => escaped(part),
            class => format!("<span class=\"{class}\">{}</span>", escaped(part)),
        });
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_classes() {
        let shown = highlighted("for (int64_t i = 0; i < n; i++) {  // <line>");
        let expected = "<span class=\"k\">for</span> (<span class=\"k\">int64_t</span> i = \
            <span class=\"n\">0</span>; i &lt; n; i++) {  <span class=\"c\">// &lt;line&gt;</span>\n";
        assert_eq!(shown, expected);
    }
}
