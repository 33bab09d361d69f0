//! TeIL: `C = red+ 2 (diag 2 3 (prod A B))`.
//!
//! ```text
//! alloc A : [l, m]
//! alloc B : [m, n]
//! alloc C : [l, n]
//! C = red+ 2 (diag 2 3 (prod A B))
//! ```
//!
//! - `alloc x : [2, 3]` declares a variable, and `alloc s : []` a scalar. Extents may be names,
//!   which get values from outside
//! - `add e e`, and `sub`, `mul`, `div` alike, work element by element; `mul` takes a scalar first
//! - `prod e e` is the tensor product. `red+ i e` sums along dimension i, and `red* i e`
//!   multiplies. `redmin` and `redmax` take the least and the greatest element
//! - `transp i j e`, `diag i j e`, `expa i n e` and `proj i m e` are as in the paper. `contr i j e`
//!   is `red+ i (diag i j e)` (eq. 6). Dimensions and indices are counted from 1
//!
//! Source: Rink and Castrillon, TeIL, 2019: Figs. 5, 6, 8. §3.3 says that `sub`, `div` and the
//! other reductions are alike.

use super::items::{Item, apart, extents, items};
use super::term::{Dimension, Kind, Statement, Term, Unit};
use super::token::{Errors, Input, Rule, integer, name, parsed, sign, tokens, word};
use crate::ir::{BinaryOp, Reduction};
use crate::problem::Problem;
use chumsky::input::Input as _;
use chumsky::prelude::*;
use std::collections::BTreeMap;

const WORDS: &[&str] = &[
    "alloc", "input", "output", "add", "sub", "mul", "div", "prod", "red", "red_", "redmin",
    "redmax", "transp", "diag", "expa", "proj", "contr",
];

/// The unit of a text in TeIL, and the mistakes in it.
pub(super) fn read(text: &str, sizes: &BTreeMap<String, u64>) -> (Unit, Vec<Problem>) {
    let (tokens, mut problems) = tokens(text, WORDS);
    let end = (text.len()..text.len()).into();
    let input = tokens.as_slice().map(end, |(token, span)| (token, span));
    let (items, more) = parsed(program(sizes).parse(input));
    problems.extend(more);
    let (declarations, values) = apart(items.unwrap_or_default(), "allocations", &mut problems);
    let statements = values.into_iter();
    let statements = statements.map(|(target, value)| Statement { target, value });
    let statements = statements.collect();
    let unit = Unit {
        declarations,
        statements,
    };
    (unit, problems)
}

fn program<'t, I: Input<'t> + 't>(
    sizes: &'t BTreeMap<String, u64>,
) -> Rule<'t, I, Vec<Item<Term>>> {
    let extents = extents(WORDS, sign(","));
    items("alloc", WORDS, extents, expression(sizes))
}

fn expression<'t, I: Input<'t> + 't>(sizes: &'t BTreeMap<String, u64>) -> Rule<'t, I, Term> {
    recursive(move |term| {
        let at = |e: &mut chumsky::input::MapExtra<'t, '_, I, Errors<'t>>| e.span().into_range();
        let variable = name(WORDS)
            .map(|(name, span)| Term::new(Kind::Variable(name), span))
            .boxed();
        let parenthesis = term
            .clone()
            .delimited_by(sign("("), sign(")"))
            .map_with(move |term, e| Term {
                span: at(e),
                ..term
            })
            .boxed();
        let op = choice((
            word("add").to(BinaryOp::Add),
            word("sub").to(BinaryOp::Sub),
            word("mul").to(BinaryOp::Mul),
            word("div").to(BinaryOp::Div),
        ))
        .boxed();
        let elementwise = op
            .then(term.clone())
            .then(term.clone())
            .map(|((op, left), right)| Kind::Elementwise(op, Box::new(left), Box::new(right)))
            .boxed();
        let product = word("prod")
            .ignore_then(term.clone())
            .then(term.clone())
            .map(|(left, right)| Kind::Product(Box::new(left), Box::new(right)))
            .boxed();
        let red = choice((word("red"), word("red_"))).boxed();
        let reduction = choice((
            red.clone().then(sign("+")).to(Reduction::Sum),
            red.then(sign("*")).to(Reduction::Prod),
            word("redmin").to(Reduction::Min),
            word("redmax").to(Reduction::Max),
        ))
        .boxed();
        let reduce = reduction
            .then(dimension())
            .then(term.clone())
            .map(|((reduction, i), of)| Kind::Reduce(reduction, i, Box::new(of)))
            .boxed();
        let pair = dimension().then(dimension()).map(|(m, n)| [m, n]).boxed();
        let of_pair = |word_of: &'static str, kind: fn([Dimension; 2], Box<Term>) -> Kind| {
            word(word_of)
                .ignore_then(pair.clone())
                .then(term.clone())
                .map(move |(pair, of)| kind(pair, Box::new(of)))
        };
        let size = name(WORDS)
            .try_map(move |(name, at), span| match sizes.get(&name) {
                Some(size) => Ok((*size, at)),
                None => Err(Rich::custom(
                    span,
                    format!("the size `{name}` has no value"),
                )),
            })
            .boxed();
        let of_two = |word_of: &'static str, kind: fn(Dimension, Dimension, Box<Term>) -> Kind| {
            word(word_of)
                .ignore_then(dimension())
                .then(choice((dimension(), size.clone())))
                .then(term.clone())
                .map(move |((i, n), of)| kind(i, n, Box::new(of)))
        };
        let operation = choice((
            elementwise,
            product,
            reduce,
            of_pair("transp", Kind::Transpose),
            of_pair("diag", Kind::Diagonal),
            of_pair("contr", |pair, of| Kind::Contract(vec![pair], of)),
            of_two("expa", Kind::Expand),
            of_two("proj", Kind::Project),
        ))
        .map_with(move |kind, e| Term::new(kind, at(e)))
        .boxed();
        choice((operation, variable, parenthesis)).labelled("an expression")
    })
    .boxed()
}

fn dimension<'t, I: Input<'t> + 't>() -> Rule<'t, I, Dimension> {
    integer()
}
