//! Text in windows of any width.

/// The text with lines broken between words so that they have at most `width` columns. Lines that
/// begin with spaces, or are part of code or of a table, stay as they are.
pub fn wrapped(text: &str, width: usize) -> String {
    let mut out = Vec::new();
    let mut paragraph = String::new();
    let mut in_code = false;
    let flush = |paragraph: &mut String, out: &mut Vec<String>| {
        if !paragraph.is_empty() {
            out.extend(lines(paragraph, width, 0));
            paragraph.clear();
        }
    };
    for line in text.lines() {
        let is_fence = line.starts_with("```");
        in_code ^= is_fence;
        let is_fixed = in_code || is_fence || line.is_empty() || line.starts_with([' ', '|', '*']);
        if is_fixed {
            flush(&mut paragraph, &mut out);
            out.push(line.to_owned());
        } else {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line);
        }
    }
    flush(&mut paragraph, &mut out);
    out.join("\n")
}

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
    match length + 1 < indent {
        true => format!("{head}{}{beside}", " ".repeat(indent - length)),
        false => format!("{head}\n{}{beside}", " ".repeat(indent)),
    }
}

/// Words in lines of at most `width` columns behind `indent` spaces.
fn lines(text: &str, width: usize, indent: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut used = usize::MAX;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        match lines
            .last_mut()
            .filter(|_| used.saturating_add(length + 1) <= width)
        {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
                used += length + 1;
            }
            None => {
                lines.push(format!("{}{word}", " ".repeat(indent)));
                used = length;
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_broken_and_code_is_not() {
        let text = "one two three four\nfive\n\n    code that is long enough\n```rhai\na + b + c + d\n```\nsix";
        let expected = "one two\nthree four\nfive\n\n    code that is long enough\n```rhai\na + b + c + d\n```\nsix";
        assert_eq!(wrapped(text, 10), expected);
        assert_eq!(entry(":c", "the C of it", 6, 40), ":c    the C of it");
        assert_eq!(entry(":c", "the C of it", 16, 30), ":c\n    the C of it");
    }
}
