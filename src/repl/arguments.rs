//! The arguments of a command.

use crate::script::scan;

/// The parts of a text between commas that are in no brackets and no strings.
pub fn parts(text: &str) -> Vec<&str> {
    let scanned = scan(text);
    let (mut depth, mut start) = (0usize, 0);
    let mut parts = Vec::new();
    for (k, token) in scanned.tokens.iter().enumerate() {
        match scanned.text(text, k) {
            "(" | "[" | "{" | "#{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            "," if depth == 0 => {
                parts.push(text[start..token.range.start].trim());
                start = token.range.end;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}
