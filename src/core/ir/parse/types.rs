//! The element type of a text before it is parsed. The text gives numbers no types, so these come
//! from the other operands. Operands of conversions and comparisons can have another type than the
//! result.

use crate::ir::elem::Elem;
use crate::ir::function::Reduction;
use crate::ir::tensor::Tensor;

/// The element type of the value at the start of `text`, up to the comma or parenthesis after it.
/// `None` if it contains only numbers.
pub(super) fn of_value(text: &str, tensors: &[Tensor]) -> Option<Elem> {
    let mut rest = first(text);
    while let Some(start) = rest.find(is_part) {
        let (before, word) = rest.split_at(start);
        // Skip indices, which have no element type.
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

/// Whether arguments begin with iterators, as in a reduction.
fn reduces(args: &str) -> bool {
    !after(args, ':').is_empty()
}

/// The text up to the comma or the parenthesis that ends a value.
fn first(text: &str) -> &str {
    &text[..end(text, &|c| c == ',').unwrap_or(text.len())]
}

/// The text after the first `stop` outside of parentheses. Empty if there is none.
fn after(text: &str, stop: char) -> &str {
    match end(text, &|c| c == stop) {
        Some(k) if text[k..].starts_with(stop) => &text[k + stop.len_utf8()..],
        _ => "",
    }
}

/// The position of the first unmatched closing parenthesis, or of `stop` outside of parentheses.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::name::Name;
    use crate::ir::tensor::Shape;

    #[test]
    fn what_decides_the_type_of_numbers() {
        let tensor = |name: &str, elem| {
            let shape = Shape::new(&[4], elem).expect("a small extent");
            Tensor::new(shape, elem).named(Name::new(name).expect("a name"))
        };
        let tensors = [
            tensor("A", Elem::F64),
            tensor("n", Elem::I32),
            tensor("x", Elem::F32),
            tensor("min", Elem::I32),
        ];
        for (text, elem) in [
            ("2 * A[n] + 1", Some(Elem::F64)),
            ("1, A[i]", None),
            ("(1 + (2 - n[3*i - 1])) * 4)", Some(Elem::I32)),
            ("f32(A[i])", Some(Elem::F32)),
            ("3 + index(n + 2)", Some(Elem::I64)),
            ("select(index(i) < n[i], 1, x[i])", Some(Elem::F32)),
            ("select(n[i] < 3, 1, 0) + x[i]", Some(Elem::I32)),
            ("min(1, max(2, x[i]))", Some(Elem::F32)),
            ("min(A in 0..min(3, i + 1), n: x[A] * 2)", Some(Elem::F32)),
            ("min[2] + 1", Some(Elem::I32)),
            ("sum(i: 3) + x[i]", Some(Elem::F32)),
            ("-1e-3 * ∞", None),
        ] {
            assert_eq!(of_value(text, &tensors), elem, "{text}");
        }
    }
}
