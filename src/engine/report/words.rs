//! Text in terminals of any width.

/// Words in lines of at most `width` columns behind `indent` spaces.
pub fn words_in_lines(text: &str, width: usize, indent: usize) -> Vec<String> {
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

/// Notes below a table in lines of at most `width` columns. The lines of a note line up behind its
/// first one, and indented lines stay as they are.
pub fn notes_in_lines(text: &str, width: usize) -> String {
    let notes = text.lines().flat_map(|note| {
        if note.starts_with([' ', '|']) || note.chars().count() <= width {
            return vec![note.to_owned()];
        }
        let mut lines = words_in_lines(note, width.saturating_sub(INDENT), INDENT);
        if let Some(first) = lines.first_mut() {
            first.drain(..INDENT);
        }
        lines
    });
    notes.collect::<Vec<_>>().join("\n")
}

const INDENT: usize = 2;
