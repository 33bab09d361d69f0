//! The model language: `C = (A # B).[2 3]`.
//!
//! ```text
//! var input A : [300 400]
//! var input B : [400 500]
//! var output C : [300 500]
//! C = (A # B) . [2 3]
//! ```
//!
//! - `var x : [2 3]` declares a variable; `var s : []` is a scalar. The caller sets variables
//!   marked `input` and reads those marked `output` (§5)
//! - `+ - * /` work element by element on operands of one type. `*` takes a scalar on its left, and
//!   `/` one on its right
//! - `u # v` is the tensor product. `u.[m n]` is a contraction, `u.[[2 9] [4 8]]` several, and
//!   `u^[m n]` a transposition. Dimensions are counted from 1
//!
//! All operators associate to the left, as the report says. If the usual precedence reads an
//! expression differently, and both readings have a type, the expression is refused with both.
//!
//! Source: Rink, Modeling of Languages for Tensor Manipulation, 2018: Fig. 1, §3.2.1, §5.

use super::items::{Item, apart, items};
use super::term::{Extent, Kind, Statement, Term, Unit};
use super::text;
use super::token::{Errors, Input, Rule, Token, integer, name, parsed, sign, tokens};
use super::typing::Context;
use crate::ir::BinaryOp;
use crate::problem::{Problem, Span};
use chumsky::input::Input as _;
use chumsky::prelude::*;

const WORDS: &[&str] = &["var", "input", "output"];

/// An expression as it is written: a sequence of operands and operators.
#[derive(Clone, Debug)]
struct Chain {
    first: Box<Operand>,
    rest: Vec<Link>,
    span: Span,
}

#[derive(Clone, Debug)]
enum Operand {
    Variable(String, Span),
    Parenthesis(Chain, Span),
}

#[derive(Clone, Debug)]
enum Link {
    Binary(Infix, Operand),
    Contract(Vec<[(u64, Span); 2]>, Span),
    Transpose([(u64, Span); 2], Span),
}

/// An operator between two operands.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Infix {
    Product,
    Elementwise(BinaryOp),
}

/// The unit of a text in the model language, and the mistakes in it.
pub(super) fn read(text: &str) -> (Unit, Vec<Problem>) {
    let (tokens, mut problems) = tokens(text, &[]);
    let end = (text.len()..text.len()).into();
    let input = tokens.as_slice().map(end, |(token, span)| (token, span));
    let (items, more) = parsed(program().parse(input));
    problems.extend(more);
    let (declarations, chains) = apart(items.unwrap_or_default(), "declarations", &mut problems);
    let context = Context::of(&declarations);
    let statements = chains.into_iter().map(|(target, chain)| Statement {
        target,
        value: chain.resolved(&context, &mut problems),
    });
    let statements = statements.collect();
    let unit = Unit {
        declarations,
        statements,
    };
    (unit, problems)
}

fn program<'t, I: Input<'t> + 't>() -> Rule<'t, I, Vec<Item<Chain>>> {
    let extents = integer()
        .map(|(value, span)| (Extent::Number(value), span))
        .repeated()
        .collect::<Vec<_>>()
        .delimited_by(sign("["), sign("]"))
        .boxed();
    items("var", WORDS, extents, expression())
}

fn expression<'t, I: Input<'t> + 't>() -> Rule<'t, I, Chain> {
    recursive(|chain| {
        let at = |e: &mut chumsky::input::MapExtra<'t, '_, I, Errors<'t>>| e.span().into_range();
        let variable = name(WORDS)
            .map(|(name, span)| Operand::Variable(name, span))
            .boxed();
        let parenthesis = chain
            .delimited_by(sign("("), sign(")"))
            .map_with(move |chain, e| Operand::Parenthesis(chain, at(e)))
            .boxed();
        let operand = choice((variable, parenthesis)).labelled("a tensor").boxed();
        let pair = integer()
            .then(integer())
            .map(|(m, n)| [m, n])
            .delimited_by(sign("["), sign("]"))
            .boxed();
        let pairs = pair
            .clone()
            .repeated()
            .at_least(1)
            .collect::<Vec<_>>()
            .delimited_by(sign("["), sign("]"))
            .boxed();
        let contract = sign(".")
            .ignore_then(choice((pair.clone().map(|pair| vec![pair]), pairs)))
            .map_with(move |pairs, e| Link::Contract(pairs, at(e)))
            .boxed();
        let transpose = sign("^")
            .ignore_then(pair)
            .map_with(move |pair, e| Link::Transpose(pair, at(e)))
            .boxed();
        let infix = select! {
            Token::Sign("#") => Infix::Product,
            Token::Sign("+") => Infix::Elementwise(BinaryOp::Add),
            Token::Sign("-") => Infix::Elementwise(BinaryOp::Sub),
            Token::Sign("*") => Infix::Elementwise(BinaryOp::Mul),
            Token::Sign("/") => Infix::Elementwise(BinaryOp::Div),
        }
        .labelled("an operator");
        let binary = infix
            .then(operand.clone())
            .map(|(infix, operand)| Link::Binary(infix, operand))
            .boxed();
        operand
            .then(
                choice((contract, transpose, binary))
                    .repeated()
                    .collect::<Vec<_>>(),
            )
            .map_with(move |(first, rest), e| Chain {
                first: Box::new(first),
                rest,
                span: at(e),
            })
    })
    .boxed()
}

impl Infix {
    fn strength(self) -> u8 {
        match self {
            Infix::Product => 2,
            Infix::Elementwise(BinaryOp::Add | BinaryOp::Sub) => 0,
            Infix::Elementwise(_) => 1,
        }
    }
}

impl Operand {
    fn resolved(&self, context: &Context, problems: &mut Vec<Problem>) -> Term {
        match self {
            Operand::Variable(name, span) => Term::new(Kind::Variable(name.clone()), span.clone()),
            Operand::Parenthesis(chain, span) => Term {
                span: span.clone(),
                ..chain.resolved(context, problems)
            },
        }
    }
}

fn binary(infix: Infix, left: Term, right: Term) -> Term {
    let span = left.span.start..right.span.end;
    let (left, right) = (Box::new(left), Box::new(right));
    let kind = match infix {
        Infix::Product => Kind::Product(left, right),
        Infix::Elementwise(op) => Kind::Elementwise(op, left, right),
    };
    Term::new(kind, span)
}

fn postfix(link: &Link, of: Term) -> Term {
    let (of, start) = (Box::new(of.clone()), of.span.start);
    match link {
        Link::Contract(pairs, span) => {
            Term::new(Kind::Contract(pairs.clone(), of), start..span.end)
        }
        Link::Transpose(pair, span) => {
            Term::new(Kind::Transpose(pair.clone(), of), start..span.end)
        }
        Link::Binary(..) => *of,
    }
}

impl Chain {
    /// The term, read from the left; reports a problem if there is another reading.
    fn resolved(&self, context: &Context, problems: &mut Vec<Problem>) -> Term {
        let first = self.first.resolved(context, problems);
        let mut operands = Vec::with_capacity(self.rest.len());
        for link in &self.rest {
            operands.push(match link {
                Link::Binary(_, operand) => Some(operand.resolved(context, problems)),
                Link::Contract(..) | Link::Transpose(..) => None,
            });
        }
        let links: Vec<(&Link, Option<Term>)> = self.rest.iter().zip(operands).collect();
        let to_the_left = links.iter().fold(first.clone(), |term, (link, operand)| {
            match (link, operand) {
                (Link::Binary(infix, _), Some(operand)) => binary(*infix, term, operand.clone()),
                _ => postfix(link, term),
            }
        });
        let by_precedence = by_precedence(first, &links);
        if to_the_left.is_same(&by_precedence) {
            return to_the_left;
        }
        let [left, precedence] = [&to_the_left, &by_precedence].map(|t| context.type_of(t).is_ok());
        if left && precedence {
            let [left, precedence] = [&to_the_left, &by_precedence].map(text::model);
            problems.push(
                Problem::new(&self.span, "this expression can be read in two ways")
                    .label(format!("`{left}` or `{precedence}`"))
                    .help("parentheses say which one is meant"),
            );
        }
        to_the_left
    }
}

/// The term by the usual precedence: `.[..]` and `^[..]` first, then `#`, then `*` and `/`.
fn by_precedence(first: Term, links: &[(&Link, Option<Term>)]) -> Term {
    fn reduce(operands: &mut Vec<Term>, infixes: &mut Vec<Infix>, least: u8) {
        while infixes
            .last()
            .is_some_and(|infix| infix.strength() >= least)
        {
            if let (Some(infix), Some(right), Some(left)) =
                (infixes.pop(), operands.pop(), operands.pop())
            {
                operands.push(binary(infix, left, right));
            }
        }
    }
    let (mut operands, mut infixes) = (vec![first.clone()], Vec::new());
    for (link, operand) in links {
        match (link, operand) {
            (Link::Binary(infix, _), Some(operand)) => {
                reduce(&mut operands, &mut infixes, infix.strength());
                infixes.push(*infix);
                operands.push(operand.clone());
            }
            _ => {
                if let Some(last) = operands.pop() {
                    operands.push(postfix(link, last));
                }
            }
        }
    }
    reduce(&mut operands, &mut infixes, 0);
    operands.pop().unwrap_or(first)
}
