//! Operands: the where-clauses of TeML eqs. 14 and 15, in one place.
//!
//! An operand either has iterators already (I' ≠ ε) and takes no list, or has none (I' = ε) and
//! takes one. An assignment can be used in place of the tensor that it assigns to.

use super::gather;
use super::unfit::Unfit;
use crate::analysis::shape::{self, Mismatch};
use crate::args::unfit;
use crate::failure::Parameter;
use crate::ir::{
    Affine, Constant, Digit, Elem, Expr, Index, Infix, Name, Node, Tensor, fresh_name,
};
use crate::param::Takes;
use crate::refusals::unnamed;
use crate::{Arg, Error, Iters, Kind, Number, bug, mistake, refusal};

/// An operand of an element-wise operation.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// A tensor expression.
    Expr(&'a Expr),
    /// A number, which takes the element type of the other operands.
    Number(Number),
}

impl<'a> Operand<'a> {
    /// The tensor expression, if it is one.
    pub(super) fn expr(&self) -> Option<&'a Expr> {
        match self {
            Operand::Expr(expr) => Some(expr),
            Operand::Number(_) => None,
        }
    }
}

impl<'a> From<&'a Expr> for Operand<'a> {
    fn from(expr: &'a Expr) -> Operand<'a> {
        Operand::Expr(expr)
    }
}

impl From<Number> for Operand<'_> {
    fn from(number: Number) -> Self {
        Operand::Number(number)
    }
}

impl Takes for Operand<'_> {
    const KIND: Kind = Kind::Operand;
    type Value<'a> = Operand<'a>;

    fn decode<'a>(arg: &'a Arg, parameter: &str) -> Result<Operand<'a>, Error> {
        match arg {
            Arg::Expr(expr) => Ok(Operand::Expr(expr)),
            Arg::Number(number) => Ok(Operand::Number(*number)),
            _ => Err(unfit(arg, parameter)),
        }
    }
}

/// The operands as expressions with iterators, and the parameters that their errors blame.
pub(super) struct Operands<'a, const N: usize> {
    pub operands: [Operand<'a>; N],
    /// The parameter of each operand.
    pub at: [&'a dyn Parameter; N],
    pub lists: &'a [Iters],
    /// The parameter of the lists.
    pub lists_at: &'a dyn Parameter,
    /// The number of leading operands that are only compared with each other. Their type may differ
    /// from that of the others.
    pub compared: usize,
}

impl<const N: usize> Operands<'_, N> {
    /// Combines the operands, once they have iterators, by `combine`.
    pub fn combined(
        &self,
        combine: impl FnOnce([Expr; N]) -> Result<Expr, Unfit>,
    ) -> Result<Expr, Error> {
        if self.lists.len() > N {
            return Err(too_many_lists(self.lists.len(), N).at(self.lists_at));
        }
        self.with_lists(&|k| self.lists.get(k).cloned().flatten(), combine)
    }

    /// As [`Operands::combined`], with these lists.
    pub fn with_lists(
        &self,
        list: &dyn Fn(usize) -> Iters,
        combine: impl FnOnce([Expr; N]) -> Result<Expr, Unfit>,
    ) -> Result<Expr, Error> {
        let (compared, values) = self.operands.split_at(self.compared);
        let of_values = match common_elem(values) {
            Ok(elem) => elem,
            Err(_) => of_numbers(values, common_elem(compared)?),
        };
        let of_compared = common_elem(compared).unwrap_or(of_values);
        let mut exprs = Vec::with_capacity(N);
        for (k, (operand, at)) in self.operands.iter().zip(self.at).enumerate() {
            let elem = if k < self.compared {
                of_compared
            } else {
                of_values
            };
            let expr = with_iterators(*operand, &list(k), elem);
            exprs.push(expr.map_err(|error| error.at(at))?);
        }
        let Ok(exprs) = <[Expr; N]>::try_from(exprs) else {
            return Err(bug("operands are lost"));
        };
        combine(exprs).map_err(|unfit| {
            // The iterators cause all mismatches except those of element types.
            let blamed = match unfit {
                Unfit::Shape(Mismatch::Elems { .. }) => (N == 2).then(|| self.at[N - 1]),
                Unfit::Shape(_) => (!self.lists.is_empty()).then_some(self.lists_at),
                _ => None,
            };
            let error = Error::from(unfit);
            blamed.into_iter().fold(error, Error::at)
        })
    }
}

/// The element type for numbers among the operands.
pub(super) fn common_elem(operands: &[Operand<'_>]) -> Result<Elem, Error> {
    let mut exprs = operands.iter().filter_map(Operand::expr);
    exprs.next().map(Expr::elem).ok_or_else(|| {
        mistake("all operands are numbers, and at least one has to be a tensor")
            .help("scripts compute with numbers alone as they are: `2 * 3`")
    })
}

/// The element type of values that are all numbers, next to elements of the type `beside`. Numbers
/// with decimals are not integers.
fn of_numbers(values: &[Operand<'_>], beside: Elem) -> Elem {
    let has_decimals = |value: &Operand| matches!(value, Operand::Number(Number::Float(_)));
    if !beside.is_float() && values.iter().any(has_decimals) {
        Elem::default()
    } else {
        beside
    }
}

fn with_iterators(operand: Operand<'_>, given: &Iters, elem: Elem) -> Result<Expr, Error> {
    match operand {
        Operand::Expr(expr) => indexed(expr, given),
        Operand::Number(number) => match given {
            Some(list) if !list.is_empty() => Err(scalar_indexed(&number.to_string())),
            _ => constant(number, elem),
        },
    }
}

/// The error for more lists of iterators than operands.
pub(super) fn too_many_lists(given: usize, operands: usize) -> Error {
    let s = if operands == 1 { "" } else { "s" };
    mistake(format!(
        "{given} lists of iterators are given for {operands} operand{s}"
    ))
}

/// The error for iterators of a scalar (• in eq. 12).
fn scalar_indexed(scalar: &str) -> Error {
    mistake(format!("{scalar} is a scalar and takes no iterators"))
        .help("leave its list out: `[[i, j], ]`, or `()` in its place")
}

/// The error for a tensor or a virtual tensor without iterators (I = I' = ε in eq. 14).
fn iterators_missing(what: &str, rank: usize) -> Error {
    let s = if rank == 1 { "" } else { "s" };
    let text =
        format!("{what} has no iterators yet, and none are given for its {rank} dimension{s}");
    mistake(text).help("give one iterator per dimension, such as `[i, j]`")
}

/// The error for a list of iterators for an operand that has some (I ≠ ε and I' ≠ ε in eq. 14).
fn iterators_given(has: &[Name]) -> Error {
    let has: Vec<&str> = has.iter().map(Name::as_str).collect();
    let has = has.join(", ");
    mistake(format!("this operand carries iterators already: [{has}]"))
        .help("leave its list out: `[[i, j], ]`, `[, [i, j]]`, `-> [i, j]`")
}

/// The number as an expression of this element type.
pub(super) fn constant(number: Number, elem: Elem) -> Result<Expr, Error> {
    Ok(Expr::new(Node::Constant(typed(number, elem)?)))
}

/// The number as a value of this element type.
pub(super) fn typed(number: Number, elem: Elem) -> Result<Constant, Error> {
    let value = match number {
        Number::Int(value) => Constant::of_integer(elem, value),
        Number::Float(value) => Constant::of_float(elem, value),
    };
    value.ok_or_else(|| {
        let error = mistake(format!(
            "{number} is not a value of type {elem}, the element type of the other operand"
        ));
        if elem.is_float() {
            error
        } else {
            error.help("integers take whole numbers within their range")
        }
    })
}

/// `expr` with iterators, as operations take it. An entry that an index reads becomes an iterator
/// with one value, and the element a sum over that iterator.
pub(super) fn indexed(expr: &Expr, given: &Iters) -> Result<Expr, Error> {
    let Some(list) = given.as_ref().filter(|list| gather::reads(list)) else {
        return placed(expr, given);
    };
    let gathered = gather::gathered(list, &expr.all_names())?;
    let element = placed(expr, &Some(gathered.index.clone()))?;
    gathered.sum(element)
}

fn placed(expr: &Expr, given: &Iters) -> Result<Expr, Error> {
    let tensor = |tensor: &Tensor| match given {
        _ if tensor.name().is_none() => Err(unnamed()),
        Some(list) if tensor.is_scalar() && !list.is_empty() => Err(scalar_indexed(tensor.label())),
        _ if tensor.is_scalar() => Ok(Expr::access(tensor.clone(), Index::Forbidden)),
        Some(list) => {
            shape::check_rank(tensor.label(), tensor.shape().rank(), list)?;
            Ok(Expr::access(tensor.clone(), Index::At(list.clone())))
        }
        // The empty list is the only one that fits rank 0.
        None if tensor.shape().rank() == 0 => {
            Ok(Expr::access(tensor.clone(), Index::At(Vec::new())))
        }
        None => Err(iterators_missing(tensor.label(), tensor.shape().rank())),
    };
    match expr.node() {
        Node::Access {
            tensor: t,
            index: Index::Unset | Index::Forbidden,
        } => tensor(t),
        Node::Assign { .. } | Node::Pieces { .. } => match expr.tensor() {
            Some(t) => tensor(t),
            None => Err(bug("an assignment has no target")),
        },
        Node::Virtual { formals, body, .. } => {
            let Some(list) = given else {
                return Err(iterators_missing(&describe(expr), formals.len()));
            };
            shape::check_rank(&describe(expr), formals.len(), list)?;
            check_digits(body, formals, list)?;
            Ok(body.substitute(&|name| {
                let k = formals.iter().position(|f| f == name)?;
                Some(list[k].clone())
            }))
        }
        _ => match (given, expr.iterators()) {
            (Some(list), has) if !(list.is_empty() && has.is_empty()) => Err(iterators_given(&has)),
            _ => Ok(expr.clone()),
        },
    }
}

/// Checks that the digits of formals are affine at these indices.
fn check_digits(body: &Expr, formals: &[Name], list: &[Affine]) -> Result<(), Error> {
    let mut wrong = None;
    body.for_each_index(&mut |index| {
        for digit in index
            .terms()
            .iter()
            .filter_map(|(name, _)| Digit::named(name))
        {
            let of = formals.iter().position(|formal| *formal == digit.of);
            let index = of
                .and_then(|k| list.get(k))
                .map(|i| i.plus_constant(digit.offset));
            let part = index
                .as_ref()
                .map(|i| i.digit(digit.divisor, digit.modulus));
            if let (Some(index), Some(None)) = (index, part) {
                wrong = wrong.take().or(Some((index, digit.period())));
            }
        }
    });
    match wrong {
        Some((index, by)) => Err(no_digit(&index, by)),
        None => Ok(()),
    }
}

/// The error for an index whose quotient and remainder are not affine.
fn no_digit(index: &Affine, by: i64) -> Error {
    let text = format!("the quotient and the remainder of `{index}` by {by} are not affine");
    let help = format!(
        "one iterator beside multiples of {by} can be divided, as in `i` or `{by}*i + k`; \
         `stored` makes a tensor that is read at any index"
    );
    refusal(text).help(help)
}

/// `expr` indexed by `fresh` iterators, one per dimension, for operations that count dimensions. If
/// an expression has iterators, they are its dimensions, in order of first appearance.
pub(super) fn positional(expr: &Expr, fresh: &[Affine]) -> Result<Expr, Error> {
    if let Ok(expr) = indexed(expr, &Some(fresh.to_vec())) {
        return Ok(expr);
    }
    let expr = indexed(expr, &None)?;
    let own = expr.iterators();
    Ok(expr.substitute(&|name| Some(fresh[own.iter().position(|n| n == name)?].clone())))
}

/// The iterators that `expr` carries; none if it takes a list instead.
pub(super) fn carried(expr: &Expr) -> Vec<Name> {
    match expr.node() {
        _ if expr.is_assignment() => Vec::new(),
        _ => expr.iterators(),
    }
}

/// The number of dimensions that [`positional`] counts.
pub(super) fn rank(expr: &Expr) -> usize {
    match expr.node() {
        Node::Assign { .. } | Node::Pieces { .. } => expr.tensor().map_or(0, |t| t.shape().rank()),
        Node::Access {
            index: Index::At(_),
            ..
        }
        | Node::Index(_) => expr.iterators().len(),
        Node::Access { tensor, .. } => tensor.shape().rank(),
        _ => expr.shape().map_or(0, |s| s.rank()),
    }
}

/// `count` generated iterators that occur in none of `exprs`.
pub(super) fn fresh_iterators(count: usize, exprs: &[&Expr]) -> Vec<Name> {
    let taken: Vec<Name> = exprs.iter().flat_map(|e| e.all_names()).collect();
    let mut fresh: Vec<Name> = Vec::with_capacity(count);
    for _ in 0..count {
        fresh.push(fresh_name(|n| taken.contains(n) || fresh.contains(n)));
    }
    fresh
}

/// The tensor of an expression that is a declared one and nothing else.
///
/// # Errors
/// It is anything else.
pub(super) fn declared(expr: &Expr) -> Result<&Tensor, Error> {
    match expr.node() {
        Node::Access {
            tensor,
            index: Index::Unset,
        } => Ok(tensor),
        _ => {
            let what = describe(expr);
            Err(mistake(format!("{what} is not a declared tensor")))
        }
    }
}

/// Describes an operand in messages.
pub(super) fn describe(expr: &Expr) -> String {
    match expr.node() {
        Node::Access { tensor, .. } => tensor.label().to_owned(),
        Node::Assign { .. } | Node::Pieces { .. } => {
            expr.tensor().map_or("", Tensor::label).to_owned()
        }
        _ => format!("`{}`", Infix(expr)),
    }
}
