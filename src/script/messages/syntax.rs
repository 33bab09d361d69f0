//! Syntax errors in plain words.

use crate::reader::dropped::UNUSED;
use crate::reader::lists::ITEM;
use crate::reader::rewrite::{BIND, SET};
use rhai::{LexError, ParseErrorType};

/// The message, and help.
pub fn explain(problem: &ParseErrorType) -> (String, Option<String>) {
    use ParseErrorType as P;
    let help = |text: &str| Some(text.to_owned());
    match problem {
        P::UnexpectedEOF => (
            "the script ends in the middle of something".to_owned(),
            None,
        ),
        P::BadInput(LexError::UnterminatedString) => (
            "this string has no end".to_owned(),
            help("a string over several lines is written in backticks"),
        ),
        P::BadInput(LexError::UnexpectedInput(text)) => (format!("unexpected `{text}`"), None),
        P::BadInput(error) => (lowered(&error.to_string()), None),
        P::MissingToken(token, _) if token == ";" => (
            "a statement must end before this".to_owned(),
            help("is a `;` missing in front of it?"),
        ),
        P::MissingToken(token, _) if token == "," => (
            "a `,` or a closing bracket is missing before this".to_owned(),
            None,
        ),
        P::MismatchedType(wanted, given) => (format!("expected {wanted}, found {given}"), None),
        // The functions that wrap names and lists are internal.
        P::MissingToken(_, why) if why.contains("teml_") => {
            ("something is missing: expected a value".to_owned(), None)
        }
        P::MissingToken(token, why) if token == "]" && why.contains("index expression") => (
            "a `]` is missing before this".to_owned(),
            help("an element of a tensor in an expression is `vat(A, [i, j])`"),
        ),
        P::MissingToken(token, why) => (format!("`{token}` is missing {why}"), None),
        P::Reserved(mark) if !mark.starts_with(char::is_alphabetic) => {
            (format!("`{mark}` means nothing here"), None)
        }
        P::Reserved(word) => (
            format!("`{word}` is a reserved word"),
            help("choose another name"),
        ),
        P::ExprExpected(_) => ("something is missing: expected a value".to_owned(), None),
        P::VariableExpected => ("expected the name of a variable".to_owned(), None),
        P::AssignmentToConstant(name) => (
            format!("`{name}` is a constant and cannot be changed"),
            help("declare it with `let` instead of `const`"),
        ),
        P::AssignmentToInvalidLHS(_) => (
            "this cannot be assigned to".to_owned(),
            help("`==` compares, `=` assigns to a variable"),
        ),
        P::WrongFnDefinition => (
            "functions are defined at the top level of a script".to_owned(),
            help("a closure can be defined anywhere: let f = |x| ...;"),
        ),
        P::LoopBreak => (
            "`break` and `continue` belong inside a loop".to_owned(),
            None,
        ),
        P::ExprTooDeep => ("expressions are nested too deeply".to_owned(), None),
        other => {
            // The words that name binding adds are internal.
            let text = other
                .to_string()
                .replace(BIND, "")
                .replace(SET, "")
                .replace(ITEM, "")
                .replace(UNUSED, "");
            (lowered(&text), None)
        }
    }
}

/// Rhai's messages start in upper case, ours do not.
pub fn lowered(message: &str) -> String {
    let mut chars = message.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => "something went wrong".to_owned(),
    }
}
