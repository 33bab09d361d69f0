//! Tokens, which all notations share, and messages for unexpected ones.

use crate::problem::{Problem, Span};
use chumsky::error::{RichPattern, RichReason};
use chumsky::input::ValueInput;
use chumsky::prelude::*;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A name or a word of the notation.
    Name(&'t str),
    Integer(&'t str),
    /// A number with a point or an exponent.
    Decimal(&'t str),
    /// An operator, a bracket, a separator.
    Sign(&'t str),
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Token::Name(text) | Token::Integer(text) | Token::Decimal(text) | Token::Sign(text)) =
            self;
        f.write_str(text)
    }
}

/// The errors of this room's parsers.
pub(super) type Errors<'t> = extra::Err<Rich<'t, Token<'t>, SimpleSpan>>;

/// A parser of a part of a notation. Each one is boxed: types of nested parsers would grow with every
/// level, and the compiler with them.
pub(super) type Rule<'t, I, O> = Boxed<'t, 't, I, O, Errors<'t>>;

/// Tokens as the input of a parser.
pub(super) trait Input<'t>: ValueInput<'t, Token = Token<'t>, Span = SimpleSpan> {}

impl<'t, I: ValueInput<'t, Token = Token<'t>, Span = SimpleSpan>> Input<'t> for I {}

/// The longest text that is read, in bytes.
pub(super) const MAX_TEXT: usize = 1 << 20;
/// The deepest nesting of brackets, so that tree walks can recurse.
const MAX_NESTING: usize = 100;
/// The most operations in a statement, for the same reason.
const MAX_OPERATIONS: usize = 400;

/// Whether a token may make an expression deeper; `words` are those of operations.
fn is_operation(token: &Token<'_>, words: &[&str]) -> bool {
    match token {
        Token::Sign(sign) => {
            const DEEPER: [&str; 14] = [
                "+", "-", "*", "/", "%", "#", "^", ".", "++", "(", "[", "?", "&&", "||",
            ];
            DEEPER.contains(sign)
        }
        Token::Name(name) => words.contains(name),
        Token::Integer(_) | Token::Decimal(_) => false,
    }
}

/// The tokens of a text, and problems for all other characters. `words` are the
/// notation's operations that have no sign.
pub(super) fn tokens<'t>(
    text: &'t str,
    words: &[&str],
) -> (Vec<(Token<'t>, SimpleSpan)>, Vec<Problem>) {
    if text.len() > MAX_TEXT {
        let problem = Problem::new(&(0..0), format!("the text is longer than {MAX_TEXT} bytes"));
        return (Vec::new(), vec![problem]);
    }
    let (found, errors) = lexer().parse(text).into_output_errors();
    let tokens: Vec<_> = found.unwrap_or_default().into_iter().flatten().collect();
    let mut problems: Vec<Problem> = errors
        .into_iter()
        .map(|error| {
            let span = error.span().into_range();
            let what = text.get(span.clone()).and_then(|t| t.chars().next());
            let message = match what {
                Some(what) => format!("`{}` means nothing here", what.escape_debug()),
                None => "the text ends too early".to_owned(),
            };
            Problem::new(&span, message)
        })
        .collect();
    let (mut depth, mut operations) = (0_usize, 0_usize);
    // Brackets after a comma are elements of a list, side by side.
    let mut before = None;
    for (token, span) in &tokens {
        match token {
            Token::Sign("=" | ";") => operations = 0,
            Token::Sign("[") if before == Some(&Token::Sign(",")) => {}
            token if is_operation(token, words) => operations += 1,
            _ => {}
        }
        before = Some(token);
        if operations > MAX_OPERATIONS {
            let message = format!("a statement of more than {MAX_OPERATIONS} operations");
            let problem = Problem::new(&span.into_range(), message);
            problems.push(problem.help("assign parts of it to variables of their own"));
            return (Vec::new(), problems);
        }
        match token {
            Token::Sign("(" | "[" | "{" | "[[") => depth += 1,
            Token::Sign(")" | "]" | "}" | "]]") => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            let span = span.into_range();
            problems.push(Problem::new(
                &span,
                format!("brackets are nested more than {MAX_NESTING} deep"),
            ));
            return (Vec::new(), problems);
        }
    }
    (tokens, problems)
}

type Lexed<'t> = Vec<Option<(Token<'t>, SimpleSpan)>>;

fn lexer<'t>() -> impl Parser<'t, &'t str, Lexed<'t>, extra::Err<Rich<'t, char, SimpleSpan>>> {
    let digits = text::digits(10);
    let exponent = one_of("eE").then(one_of("+-").or_not()).then(digits);
    let fraction = just('.').then(text::digits(10));
    let decimal = digits
        .then(choice((
            fraction.then(exponent.or_not()).ignored(),
            exponent.ignored(),
        )))
        .to_slice()
        .map(Token::Decimal);
    let integer = digits.to_slice().map(Token::Integer);
    let name = text::ascii::ident().map(Token::Name);
    let long = choice((
        just("..."),
        just("->"),
        just("<="),
        just("++"),
        just("=="),
        just("!="),
        just(">="),
        just("&&"),
        just("||"),
    ));
    let sign = long
        .or(one_of("#.^[]()+-*/=:,;{}|<>%?").to_slice())
        .map(Token::Sign);
    let comment = just("//")
        .then(any().and_is(just('\n').not()).repeated())
        .ignored();
    let space = choice((
        comment,
        any().filter(|c: &char| c.is_whitespace()).ignored(),
    ));
    let token = choice((decimal, integer, name, sign)).map_with(|token, e| Some((token, e.span())));
    token
        .padded_by(space.repeated())
        // An unexpected character is reported once and skipped.
        .recover_with(via_parser(any().padded_by(space.repeated()).to(None)))
        .repeated()
        .collect::<Lexed<'t>>()
        .padded_by(space.repeated())
}

/// The output of a parser, if there is one, and the problems that it reported.
pub(super) fn parsed<'t, O>(
    result: ParseResult<O, Rich<'t, Token<'t>, SimpleSpan>>,
) -> (Option<O>, Vec<Problem>) {
    let (output, errors) = result.into_output_errors();
    (output, errors.into_iter().map(unexpected).collect())
}

fn unexpected(error: Rich<'_, Token<'_>, SimpleSpan>) -> Problem {
    let span = error.span().into_range();
    let (found, expected) = match error.reason() {
        RichReason::Custom(message) => return Problem::new(&span, message.clone()),
        RichReason::ExpectedFound { found, expected } => (found, expected),
    };
    let mut texts: Vec<String> = expected
        .iter()
        .filter_map(|pattern| match pattern {
            RichPattern::Token(token) => Some(format!("`{}`", **token)),
            RichPattern::Label(label) => Some(label.to_string()),
            RichPattern::Identifier(word) => Some(format!("`{word}`")),
            RichPattern::EndOfInput => Some("the end".to_owned()),
            RichPattern::Any | RichPattern::SomethingElse => None,
            // The crate may add variants.
            _ => None,
        })
        .collect();
    texts.sort();
    texts.dedup();
    let message = match found {
        Some(token) => format!("`{}` cannot be here", **token),
        None => "the text ends too early".to_owned(),
    };
    let problem = Problem::new(&span, message);
    match texts.split_last() {
        None => problem,
        Some((only, [])) => problem.label(format!("expected {only}")),
        Some((last, rest)) => problem.label(format!("expected {} or {last}", rest.join(", "))),
    }
}

/// Parses a sign.
pub(super) fn sign<'t, I: Input<'t> + 't>(text: &'static str) -> Rule<'t, I, ()> {
    just(Token::Sign(text)).ignored().boxed()
}

/// Parses a word of the notation.
pub(super) fn word<'t, I: Input<'t> + 't>(text: &'static str) -> Rule<'t, I, ()> {
    just(Token::Name(text)).ignored().boxed()
}

/// Parses a name other than the reserved words of the notation.
pub(super) fn name<'t, I: Input<'t> + 't>(
    words: &'static [&'static str],
) -> Rule<'t, I, (String, Span)> {
    any()
        .filter(move |token| matches!(token, Token::Name(name) if !words.contains(name)))
        .map_with(|token: Token<'t>, e| {
            let span: SimpleSpan = e.span();
            (token.to_string(), span.into_range())
        })
        .labelled("a name")
        .boxed()
}

/// Parses an integer that is not negative.
pub(super) fn integer<'t, I: Input<'t> + 't>() -> Rule<'t, I, (u64, Span)> {
    select! { Token::Integer(text) => text }
        .try_map(|text: &str, span: SimpleSpan| {
            let value = text.parse::<u64>();
            let value = value.map_err(|_| Rich::custom(span, format!("`{text}` is too large")))?;
            Ok((value, span.into_range()))
        })
        .labelled("an integer")
        .boxed()
}
