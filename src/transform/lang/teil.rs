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
//! - `shift i n e` moves the elements of e by n along dimension i: element j is element j - n of e,
//!   or 0 outside of e. n may be negative
//! - The forms of Core-TeIL leave out a dimension: `red+ e`, `expa n e` and `proj m e` are those of
//!   dimension 1, `diag e` is of dimensions 1 and 2, and `transp i e` of i and i + 1
//!
//! Source: Rink and Castrillon, TeIL, 2019: Figs. 5, 6, 8, 12. §3.3 says that `sub`, `div` and the
//! other reductions are alike. §7 leaves operations for stencils open: `shift` has the direction of
//! SaC's function of that name, and the zeros of the model language's padding.

use super::items::{Item, extents, items, unit};
use super::term::{Dimension, Kind, Term, Unit};
use super::token::{Errors, Input, Rule, Token, integer, name, parsed, sign, tokens, word};
use crate::ir::{BinaryOp, Reduction};
use crate::problem::Problem;
use chumsky::input::Input as _;
use chumsky::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const WORDS: &[&str] = &[
    "alloc", "input", "output", "add", "sub", "mul", "div", "prod", "red", "red_", "redmin",
    "redmax", "transp", "diag", "expa", "proj", "contr", "shift",
];

/// The unit of a text in TeIL, and the mistakes in it.
pub(super) fn read(text: &str, sizes: &BTreeMap<String, u64>) -> (Unit, Vec<Problem>) {
    let (tokens, mut problems) = tokens(text, WORDS);
    let end = (text.len()..text.len()).into();
    let input = tokens.as_slice().map(end, |(token, span)| (token, span));
    let known = Known {
        sizes,
        declared: declared(&tokens),
    };
    let (items, more) = parsed(program(&known).parse(input));
    problems.extend(more);
    let unit = unit(items.unwrap_or_default(), "allocations", &mut problems);
    (unit, problems)
}

/// The meaning of names in expressions.
struct Known<'k> {
    /// The values of sizes.
    sizes: &'k BTreeMap<String, u64>,
    /// The variables that the text declares.
    declared: BTreeSet<&'k str>,
}

impl Known<'_> {
    fn is_size(&self, name: &str) -> bool {
        self.sizes.contains_key(name) || !self.declared.contains(name)
    }
}

/// The names before colons, which are those of declarations.
fn declared<'t>(tokens: &[(Token<'t>, SimpleSpan)]) -> BTreeSet<&'t str> {
    let pairs = tokens.windows(2).filter_map(|pair| match pair {
        [(Token::Name(name), _), (Token::Sign(":"), _)] => Some(*name),
        _ => None,
    });
    pairs.collect()
}

fn program<'t, I: Input<'t> + 't>(known: &'t Known<'t>) -> Rule<'t, I, Vec<Item<Term>>> {
    let extents = extents(WORDS, sign(","));
    items("alloc", WORDS, extents, expression(known))
}

fn expression<'t, I: Input<'t> + 't>(known: &'t Known<'t>) -> Rule<'t, I, Term> {
    recursive(move |term| {
        let at = |e: &mut chumsky::input::MapExtra<'t, '_, I, Errors<'t>>| e.span().into_range();
        // A name before `=` begins the next statement.
        let variable = name(WORDS)
            .then_ignore(sign("=").not())
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
            .map_with(move |reduction, e| (reduction, at(e)))
            .then(dimension().or_not())
            .then(term.clone())
            .map(|(((reduction, word), i), of)| {
                Kind::Reduce(reduction, i.unwrap_or((1, word)), Box::new(of))
            })
            .boxed();
        let pair = dimension().then(dimension()).map(|(m, n)| [m, n]).boxed();
        let transpose = word("transp")
            .ignore_then(dimension())
            .then(dimension().or_not())
            .then(term.clone())
            .map(|((m, n), of)| {
                let next = (m.0.saturating_add(1), m.1.clone());
                Kind::Transpose([m, n.unwrap_or(next)], Box::new(of))
            })
            .boxed();
        let diagonal = word("diag")
            .map_with(move |(), e| at(e))
            .then(pair.clone().or_not())
            .then(term.clone())
            .map(|((word, pair), of)| {
                let pair = pair.unwrap_or_else(|| [(1, word.clone()), (2, word)]);
                Kind::Diagonal(pair, Box::new(of))
            })
            .boxed();
        let contraction = word("contr")
            .ignore_then(pair)
            .then(term.clone())
            .map(|(pair, of)| Kind::Contract(vec![pair], Box::new(of)))
            .boxed();
        let size = name(WORDS)
            .filter(|(name, _)| known.is_size(name))
            .validate(|(name, at), e, emitter| {
                let size = known.sizes.get(&name).copied();
                if size.is_none() {
                    let message = format!("the size `{name}` has no value");
                    emitter.emit(Rich::custom(e.span(), message));
                }
                (size.unwrap_or(1), at)
            })
            .boxed();
        let number = choice((dimension(), size)).boxed();
        let of_two = |word_of: &'static str, kind: fn(Dimension, Dimension, Box<Term>) -> Kind| {
            let full = dimension()
                .then(number.clone())
                .then(term.clone())
                .map(|((i, n), of)| (Some(i), n, of));
            let core = number.clone().then(term.clone());
            let core = core.map(|(n, of)| (None, n, of));
            word(word_of)
                .map_with(move |(), e| at(e))
                .then(choice((full, core)))
                .map(move |(word, (i, n, of))| kind(i.unwrap_or((1, word)), n, Box::new(of)))
                .boxed()
        };
        let minus = sign("-").or_not();
        let by = minus.then(integer()).map_with(move |(minus, (by, _)), e| {
            let by = i64::try_from(by).unwrap_or(i64::MAX);
            (if minus.is_some() { -by } else { by }, at(e))
        });
        let shift = word("shift")
            .ignore_then(dimension())
            .then(by)
            .then(term.clone())
            .map(|((i, by), of)| Kind::Shift(i, by, Box::new(of)))
            .boxed();
        let operation = choice((
            elementwise,
            product,
            reduce,
            transpose,
            diagonal,
            contraction,
            shift,
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
