//! Files of declarations and statements in the model language and TeIL: all declarations come
//! first, each on one line.

use super::term::{Declaration, Extent, Statement, Term, Unit};
use super::token::{Input, Rule, integer, name, sign, word};
use crate::problem::{Problem, Span};
use chumsky::prelude::*;

/// A declaration, or a statement with a value of type `V`.
pub(super) enum Item<V> {
    Declaration(Declaration),
    Statement(Target, V),
    /// A part with a syntax error.
    Unread,
}

/// The variable that a statement assigns, and its place in the text.
pub(super) type Target = (String, Span);

/// A list of extents, each with its place in the text.
pub(super) type Extents = Vec<(Extent, Span)>;

/// Parses the extents of a declaration in brackets: numbers, and names other than `words`, with
/// `between` them.
pub(super) fn extents<'t, I: Input<'t> + 't>(
    words: &'static [&'static str],
    between: Rule<'t, I, ()>,
) -> Rule<'t, I, Extents> {
    let number = integer()
        .map(|(value, span)| (Extent::Number(value), span))
        .boxed();
    let size = name(words)
        .map(|(name, span)| (Extent::Name(name), span))
        .boxed();
    choice((number, size))
        .separated_by(between)
        .collect()
        .delimited_by(sign("["), sign("]"))
        .boxed()
}

/// Parses the items of a file. `opening` begins a declaration, as in `var input x : EXTENTS`.
pub(super) fn items<'t, I: Input<'t> + 't, V: 't>(
    opening: &'static str,
    words: &'static [&'static str],
    extents: Rule<'t, I, Extents>,
    value: Rule<'t, I, V>,
) -> Rule<'t, I, Vec<Item<V>>> {
    let qualifier = choice((word("input").to(true), word("output").to(false))).boxed();
    let declaration = word(opening)
        .ignore_then(qualifier.repeated().collect::<Vec<bool>>())
        .then(name(words))
        .then_ignore(sign(":"))
        .then(extents)
        .map(|((qualifiers, name), extents)| {
            Item::Declaration(Declaration {
                name,
                extents,
                is_input: qualifiers.contains(&true),
                is_output: qualifiers.contains(&false),
            })
        })
        .boxed();
    let statement = name(words)
        .then_ignore(sign("="))
        .then(value)
        .map(|(target, value)| Item::Statement(target, value))
        .boxed();
    let start = choice((word(opening), name(words).then_ignore(sign("=")).ignored())).boxed();
    let skipped = any()
        .then(any().and_is(start.not()).repeated())
        .map(|_| Item::Unread)
        .boxed();
    choice((declaration, statement))
        .recover_with(via_parser(skipped))
        .repeated()
        .collect()
        .then_ignore(end())
        .boxed()
}

/// The unit of declarations and statements. Reports declarations that follow a statement; `called` is
/// the notation's word for declarations.
pub(super) fn unit(items: Vec<Item<Term>>, called: &str, problems: &mut Vec<Problem>) -> Unit {
    let mut unit = Unit {
        declarations: Vec::new(),
        statements: Vec::new(),
    };
    for item in items {
        match item {
            Item::Declaration(declaration) => {
                if !unit.statements.is_empty() {
                    let message = format!("{called} come before all statements");
                    let problem = Problem::new(&declaration.name.1, message);
                    problems.push(problem.help("move it to the top of the program"));
                }
                unit.declarations.push(declaration);
            }
            Item::Statement(target, value) => unit.statements.push(Statement { target, value }),
            Item::Unread => {}
        }
    }
    unit
}
