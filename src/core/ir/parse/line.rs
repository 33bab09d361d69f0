//! A line of a text, and its errors.

use super::cursor::Cursor;
use super::wrong::{Parts, Wrong};
use crate::ir::expr::MAX_DEPTH;
use crate::ir::name::Name;
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
    /// The message at its place; may be empty.
    pub label: String,
    /// The text to write instead.
    pub help: Option<String>,
}

impl ParseError {
    /// Adds this help, if there is none.
    pub(super) fn or_help(mut self, help: &str) -> ParseError {
        self.help.get_or_insert_with(|| help.to_owned());
        self
    }
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
        parse: impl FnOnce(&mut Cursor<'a>) -> Result<T, Wrong>,
    ) -> Result<T, ParseError> {
        self.read_in(tensors, None, parse)
    }

    /// Parses the whole line with `parse`, in loops over `iterators`, if these are known.
    pub(super) fn read_in<T>(
        self,
        tensors: &'a [Tensor],
        iterators: Option<&[Name]>,
        parse: impl FnOnce(&mut Cursor<'a>) -> Result<T, Wrong>,
    ) -> Result<T, ParseError> {
        let mut cursor = Cursor::new(self.text, tensors);
        cursor.iterators = iterators.map(<[Name]>::to_vec);
        let result = parse(&mut cursor).and_then(|result| cursor.end().map(|()| result));
        result.map_err(|wrong| self.at(cursor.at_fault(self.text), wrong))
    }

    /// An error that blames the whole line.
    pub(super) fn wrong(self, wrong: impl Into<Wrong>) -> ParseError {
        self.at(0..self.text.len(), wrong.into())
    }

    /// An error that blames the first word.
    pub(super) fn wrong_word(self, wrong: Wrong) -> ParseError {
        let end = self.text.find(' ').unwrap_or(self.text.len());
        self.at(0..end, wrong)
    }

    fn at(self, columns: Range<usize>, wrong: Wrong) -> ParseError {
        let Parts { what, label, help } = wrong.into_parts();
        ParseError {
            line: self.number,
            columns,
            what,
            label,
            help,
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
    parse: impl FnOnce(&mut Cursor<'a>) -> Result<T, Wrong>,
) -> Result<T, String> {
    let mut cursor = Cursor::new(text, &[]);
    let result = parse(&mut cursor).and_then(|result| cursor.end().map(|()| result));
    result.map_err(Wrong::into_text)
}
