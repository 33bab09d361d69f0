//! The model language: `C = (A # B).[2 3]`.
//!
//! ```text
//! var input A : [300 400]
//! var input B : [400 500]
//! var output C : [300 500]
//! C = (A # B) . [2 3]
//! ```
//!
//! - `var x : [2 3]` declares a variable; `var s : []` is a scalar. Extents may be names, which get
//!   values from outside. The caller sets variables marked `input` and reads those marked `output`
//!   (§5)
//! - `+ - * /` work element by element on operands of one type. `*` takes a scalar on its left, and
//!   `/` one on its right
//! - `u # v` is the tensor product. `u.[m n]` is a contraction, `u.[[2 9] [4 8]]` several, and
//!   `u^[m n]` a transposition. Dimensions are counted from 1
//! - All operators have one precedence and associate to the left (§3.1): `A - B * C` is
//!   `(A - B) * C`, and `A # B.[2 3]` is `(A # B).[2 3]`
//!
//! Source: Rink, Modeling of Languages for Tensor Manipulation, 2018: Fig. 1, §3.1, §3.2.1, §5.

use super::items::{Item, extents, items, unit};
use super::term::{Dimension, Kind, Term, Unit};
use super::token::{Errors, Input, Rule, Token, integer, name, parsed, sign, tokens};
use crate::ir::BinaryOp;
use crate::problem::{Problem, Span};
use chumsky::input::{Input as _, MapExtra};
use chumsky::prelude::*;

const WORDS: &[&str] = &["var", "input", "output"];

/// An operator, with its operands other than the one on its left.
#[derive(Clone, Debug)]
enum Link {
    Product(Term),
    Elementwise(BinaryOp, Term),
    Contract(Vec<[Dimension; 2]>),
    Transpose([Dimension; 2]),
}

/// The unit of a text in the model language, and the mistakes in it.
pub(super) fn read(text: &str) -> (Unit, Vec<Problem>) {
    let (tokens, mut problems) = tokens(text, &[]);
    let end = (text.len()..text.len()).into();
    let input = tokens.as_slice().map(end, |(token, span)| (token, span));
    let (items, more) = parsed(program().parse(input));
    problems.extend(more);
    let unit = unit(items.unwrap_or_default(), "declarations", &mut problems);
    (unit, problems)
}

fn program<'t, I: Input<'t> + 't>() -> Rule<'t, I, Vec<Item<Term>>> {
    let extents = extents(WORDS, empty().boxed());
    items("var", WORDS, extents, expression())
}

fn at<'t, I: Input<'t> + 't>(e: &mut MapExtra<'t, '_, I, Errors<'t>>) -> Span {
    e.span().into_range()
}

fn expression<'t, I: Input<'t> + 't>() -> Rule<'t, I, Term> {
    recursive(|term| {
        let variable = name(WORDS)
            .map(|(name, span)| Term::new(Kind::Variable(name), span))
            .boxed();
        let parenthesis = term
            .delimited_by(sign("("), sign(")"))
            .map_with(|term: Term, e| Term {
                span: at(e),
                ..term
            })
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
            .map(Link::Contract)
            .boxed();
        let transpose = sign("^").ignore_then(pair).map(Link::Transpose).boxed();
        let product = sign("#")
            .ignore_then(operand.clone())
            .map(Link::Product)
            .boxed();
        let infix = select! {
            Token::Sign("+") => BinaryOp::Add,
            Token::Sign("-") => BinaryOp::Sub,
            Token::Sign("*") => BinaryOp::Mul,
            Token::Sign("/") => BinaryOp::Div,
        };
        let elementwise = infix
            .then(operand.clone())
            .map(|(op, right)| Link::Elementwise(op, right))
            .boxed();
        let binary = choice((product, elementwise)).labelled("an operator");
        let link = choice((contract, transpose, binary)).boxed();
        operand.foldl_with(link.repeated(), |left, link, e| {
            let left = Box::new(left);
            let kind = match link {
                Link::Product(right) => Kind::Product(left, Box::new(right)),
                Link::Elementwise(op, right) => Kind::Elementwise(op, left, Box::new(right)),
                Link::Contract(pairs) => Kind::Contract(pairs, left),
                Link::Transpose(pair) => Kind::Transpose(pair, left),
            };
            Term::new(kind, at(e))
        })
    })
    .boxed()
}
