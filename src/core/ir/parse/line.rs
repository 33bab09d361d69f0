//! A line of a text, and its errors.

use super::cursor::Cursor;
use super::wrong::Wrong;
use crate::ir::expr::MAX_DEPTH;
use crate::ir::tensor::Tensor;
use std::ops::Range;

/// An error of a text: its place and its reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ParseError {
    /// Counted from 1.
    pub line: usize,
    /// The bytes of the line at fault, counted from the end of its indentation.
    pub columns: Range<usize>,
    /// The error: what was expected or found.
    pub what: String,
    /// The text to write instead.
    pub help: Option<String>,
}

/// A line of a text.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    /// Counted from 1.
    pub(super) number: usize,
    /// The number of leading spaces.
    pub(super) indent: usize,
    pub(super) text: &'a str,
}

impl<'a> Line<'a> {
    /// Parses the whole line with `parse`.
    pub(super) fn read<T>(
        self,
        tensors: &'a [Tensor],
        parse: fn(&mut Cursor<'a>) -> Result<T, Wrong>,
    ) -> Result<T, ParseError> {
        let mut cursor = Cursor::new(self.text, tensors);
        let result = parse(&mut cursor).and_then(|result| cursor.end().map(|()| result));
        result.map_err(|wrong| {
            let (what, help) = wrong.into_parts();
            ParseError {
                line: self.number,
                columns: cursor.at_fault(self.text),
                what,
                help,
            }
        })
    }

    /// An error that blames the whole line.
    pub(super) fn wrong(self, what: impl Into<String>) -> ParseError {
        ParseError {
            line: self.number,
            columns: 0..self.text.len(),
            what: what.into(),
            help: None,
        }
    }
}

/// The message that an expression is too deep.
pub(super) fn too_deep() -> String {
    format!("deeper than {MAX_DEPTH} levels")
}

/// Parses the whole text with `parse`.
pub(super) fn whole<'a, T>(
    text: &'a str,
    parse: fn(&mut Cursor<'a>) -> Result<T, Wrong>,
) -> Result<T, String> {
    let mut cursor = Cursor::new(text, &[]);
    let result = parse(&mut cursor).and_then(|result| cursor.end().map(|()| result));
    result.map_err(Wrong::into_text)
}
