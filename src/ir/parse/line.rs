//! A line of a text, and what is wrong with it.

use super::cursor::Cursor;
use crate::ir::expr::MAX_DEPTH;
use crate::ir::tensor::Tensor;

/// Where a text stops being a nest, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ParseError {
    /// Counted from 1.
    pub line: usize,
    /// What was expected or found.
    pub what: String,
}

/// The number of a line, its indentation and its text.
pub(super) type Line<'a> = (usize, usize, &'a str);

/// The limit of depth, in words.
pub(super) fn too_deep() -> String {
    format!("deeper than {MAX_DEPTH} levels")
}

/// What `parse` makes of the whole line.
pub(super) fn whole<'a, T>(
    text: &'a str,
    tensors: &'a [Tensor],
    parse: fn(&mut Cursor<'a>) -> Result<T, String>,
) -> Result<T, String> {
    let mut cursor = Cursor::new(text, tensors);
    let result = parse(&mut cursor)?;
    cursor.end()?;
    Ok(result)
}
