//! The element type of a text that is not read yet: the text gives numbers no types, and what
//! converts or compares has operands of another type than its own.

use crate::ir::elem::Elem;
use crate::ir::function::Reduction;
use crate::ir::tensor::Tensor;

/// The element type of the value at the start of `text`, up to the comma or parenthesis after it;
/// `None` where it holds nothing but numbers.
pub(super) fn of_value(text: &str, tensors: &[Tensor]) -> Option<Elem> {
    let mut rest = first(text);
    while let Some(start) = rest.find(is_part) {
        let (before, word) = rest.split_at(start);
        // An index has no elements.
        if let Some(open) = before.find('[') {
            rest = after(&rest[open + 1..], ']');
            continue;
        }
        let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
        let (word, next) = word.split_at(end);
        rest = next;
        let Some(args) = next.strip_prefix('(') else {
            let tensor = tensors.iter().find(|t| t.label() == word);
            match tensor {
                Some(tensor) => return Some(tensor.elem()),
                None => continue,
            }
        };
        rest = after(args, ')');
        let own = match word {
            "index" => Some(Elem::I64),
            "select" => {
                let values = args.get(first(args).len() + 1..).unwrap_or_default();
                let args = [values, after(values, ','), args];
                args.into_iter().find_map(|arg| of_value(arg, tensors))
            }
            word if Reduction::ALL.iter().any(|r| r.name() == word) && reduces(args) => {
                of_value(after(args, ':'), tensors)
            }
            word => {
                let first_of = || of_value(args, tensors);
                let second_of = || of_value(after(args, ','), tensors);
                Elem::from_name(word).or_else(first_of).or_else(second_of)
            }
        };
        if own.is_some() {
            return own;
        }
    }
    None
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether arguments begin with iterators.
fn reduces(args: &str) -> bool {
    !after(args, ':').is_empty()
}

/// The text up to the comma or the parenthesis that ends a value.
fn first(text: &str) -> &str {
    &text[..end(text, &|c| c == ',').unwrap_or(text.len())]
}

/// The text after the first `stop` that is not in parentheses; nothing where there is none.
fn after(text: &str, stop: char) -> &str {
    match end(text, &|c| c == stop) {
        Some(k) if text[k..].starts_with(stop) => &text[k + stop.len_utf8()..],
        _ => "",
    }
}

/// Where parentheses of `text` end that it did not open, or where `stop` is outside of its own.
fn end(text: &str, stop: &dyn Fn(char) -> bool) -> Option<usize> {
    let mut depth = 0;
    for (k, c) in text.char_indices() {
        match c {
            _ if depth == 0 && (stop(c) || matches!(c, ')' | ']')) => return Some(k),
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
    }
    None
}
