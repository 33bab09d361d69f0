//! The arguments of a call, as operations read them. An argument that does not fit its parameter is
//! refused here, and nowhere else.

use super::failure::{Error, mistake};
use super::param::{Kind, Param, Takes};
use super::refusals::unnamed;
use crate::ir::{
    Affine, Arg, Arrow, Comparison, Condition, Domain, Elem, Expr, Iters, LoopRef, Name, Nest,
    Number, Operator, Path, Tensor, parse_affine,
};

/// The nest that an operation transforms.
pub const NEST: Param<Nest> = Param::new("nest");
/// The loop to transform.
pub const LOOP: Param<LoopRef> = Param::new("loop");
/// The operator that combines values.
pub const OPERATOR: Param<Operator> = Param::new("operator");
/// The tensor to transform.
pub const TENSOR: Param<TensorName> = Param::new("tensor");

/// The arguments of a call, with the names of their parameters.
pub struct Args<'a> {
    given: Vec<(&'a str, &'a Arg)>,
    replay: Replay<'a>,
}

/// Replays the steps of a path on a nest.
pub type Replay<'a> = &'a dyn Fn(&Path, &Nest) -> Result<Nest, Error>;

impl<'a> Args<'a> {
    /// Pairs the arguments `given` with `params`, in order; arguments at the end may be left out.
    pub(super) fn of(
        params: &'a [Param],
        given: &'a [Arg],
        replay: Replay<'a>,
    ) -> Result<Args<'a>, Error> {
        let mut names: Vec<&str> = params.iter().map(|p| p.name).collect();
        if let (Some(last), Some(Arg::Ranges(_))) = (params.last(), given.last())
            && last.kind == Kind::Ranges
            && given.len() <= params.len()
        {
            names[given.len() - 1] = last.name;
        }
        // Options may follow any of the arguments before them.
        let is_options = |p: &&Param| matches!(p.kind, Kind::Options(_));
        if let (Some(options), Some(Arg::Options(_))) =
            (params.iter().find(is_options), given.last())
            && given.len() <= params.len()
        {
            names[given.len() - 1] = options.name;
        }
        if given.len() > names.len() {
            let (given, takes) = (given.len(), names.len());
            let s = if takes == 1 { "" } else { "s" };
            return Err(mistake(format!(
                "{given} arguments are given for {takes} parameter{s}"
            )));
        }
        Ok(Args {
            given: names.into_iter().zip(given).collect(),
            replay,
        })
    }

    /// The argument for a parameter.
    ///
    /// # Errors
    /// It is missing although the parameter is not optional, or it does not fit.
    pub fn get<T: Takes>(&self, parameter: &Param<T>) -> Result<T::Value<'a>, Error> {
        let given = self.given.iter().find(|(name, _)| *name == parameter.name);
        T::of(given.map(|(_, arg)| *arg), parameter.name).map_err(|error| error.at(parameter))
    }

    /// Replays steps that are passed as an argument.
    pub(super) fn replay(&self) -> Replay<'a> {
        self.replay
    }
}

/// The error for an argument of the wrong kind, which scripts cannot pass.
pub(super) fn unfit(arg: &Arg, parameter: &str) -> Error {
    mistake(format!("`{parameter}` cannot be {}", arg.short()))
}

/// Implements `Takes` for arguments of one form: the parameter's type, its kind, the value's type,
/// and the pattern that decodes an argument.
macro_rules! takes {
    ($($type:ty, $kind:ident, $value:ty: $form:pat $(if $fits:expr)? => $decoded:expr;)*) => {
        // Some values borrow from the argument.
        $(#[allow(clippy::needless_lifetimes)]
        impl Takes for $type {
            const KIND: Kind = Kind::$kind;
            type Value<'a> = $value;

            fn decode<'a>(arg: &'a Arg, parameter: &str) -> Result<$value, Error> {
                match arg {
                    $form $(if $fits)? => Ok($decoded),
                    _ => Err(unfit(arg, parameter)),
                }
            }
        })*
    };
}

takes! {
    Nest, Nest, &'a Nest: Arg::Nest(nest) => nest;
    Expr, Expr, &'a Expr: Arg::Expr(expr) => expr;
    Vec<Expr>, Exprs, &'a [Expr]: Arg::Exprs(list) => list;
    Number, Number, Number: Arg::Number(number) => *number;
    Comparison, Comparison, Comparison: Arg::Comparison(comparison) => *comparison;
    LoopRef, Loop, &'a LoopRef: Arg::Loop(l) => l;
    Vec<LoopRef>, Loops, &'a [LoopRef]: Arg::Loops(list) => list;
    i64, Int, i64: Arg::Int(value) => *value;
    bool, Flag, bool: Arg::Flag(flag) => *flag;
    Elem, Elem, Elem: Arg::Elem(elem) => *elem;
    Path, Steps, &'a Path: Arg::Steps(steps) => steps;
    Domain, Ranges, Domain: Arg::Ranges(ranges) => ranges.clone();
    Text, Text, &'a str: Arg::Word(text) => text;
    Extents, Extents, &'a [Affine]: Arg::Extents(list) => list;
    Extent, Extent, &'a Affine: Arg::Extents(list) if list.len() == 1 => &list[0];
    AnIndex, Index, &'a Affine: Arg::Iters(list) if list.len() == 1 => &list[0];
    Order, Order, &'a [i64]: Arg::Order(list) => list;
    Dimensions, Dimensions, &'a [[i64; 2]]: Arg::Dimensions(pairs) => pairs;
    Iterators, Iters, &'a [Affine]: Arg::Iters(list) => list;
    Over, Over, &'a [Affine]: Arg::Iters(list) => list;
    IterLists, IterLists, &'a [Iters]: Arg::IterLists(lists) => lists;
    Arrow, Arrow, &'a Arrow: Arg::Arrow(arrow) => arrow;
    ListsArrow, ListsArrow, &'a Arrow: Arg::Arrow(arrow) => arrow;
    Operands, Operands, &'a [Arg]: Arg::Operands(list) => list;
    Operator, Operator, &'a Operator: Arg::Operator(operator) => operator;
}

pub enum Text {}
/// A list of tensor expressions and numbers.
pub enum Operands {}
/// An index expression, or its text.
pub enum Place {}
pub enum Extents {}
/// A number, or a sum of sizes.
pub enum Extent {}
/// All dimensions in some order, counted from 1.
pub enum Order {}
/// Pairs of dimensions, counted from 1.
pub enum Dimensions {}
pub enum Iterators {}
/// Iterators or dimensions to reduce over.
pub enum Over {}
/// Lists of iterators for several operands.
pub enum IterLists {}
/// The same, with those of the target.
pub enum ListsArrow {}
/// A loop, or several.
pub enum LoopOrLoops {}
/// A tensor, by its name.
pub enum TensorName {}
pub enum AnIndex {}
/// Integers by the names of loops.
pub enum Factors {}

impl Takes for LoopOrLoops {
    const KIND: Kind = Kind::LoopOrLoops;
    type Value<'a> = &'a [LoopRef];

    fn decode<'a>(arg: &'a Arg, parameter: &str) -> Result<&'a [LoopRef], Error> {
        match arg {
            Arg::Loop(l) => Ok(std::slice::from_ref(l)),
            Arg::Loops(list) => Ok(list),
            _ => Err(unfit(arg, parameter)),
        }
    }
}

impl Takes for TensorName {
    const KIND: Kind = Kind::Tensor;
    type Value<'a> = &'a str;

    fn decode<'a>(arg: &'a Arg, parameter: &str) -> Result<&'a str, Error> {
        match arg {
            Arg::Word(name) => Ok(name),
            Arg::Expr(expr) => {
                let name = expr.tensor().and_then(Tensor::name);
                name.map(Name::as_str).ok_or_else(unnamed)
            }
            _ => Err(unfit(arg, parameter)),
        }
    }
}

impl Takes for Place {
    const KIND: Kind = Kind::Place;
    type Value<'a> = Affine;

    fn decode(arg: &Arg, parameter: &str) -> Result<Affine, Error> {
        let text = Text::decode(arg, parameter)?;
        parse_affine(text).map_err(|what| {
            mistake(format!(
                "{text:?} is not an index expression such as \"8*k + 8\": {what}"
            ))
        })
    }
}

impl Takes for Condition {
    const KIND: Kind = Kind::Condition;
    type Value<'a> = Condition;

    fn decode(arg: &Arg, parameter: &str) -> Result<Condition, Error> {
        Condition::parse(Text::decode(arg, parameter)?).map_err(mistake)
    }
}

impl Takes for Name {
    const KIND: Kind = Kind::Text;
    type Value<'a> = Name;

    fn decode(arg: &Arg, parameter: &str) -> Result<Name, Error> {
        Ok(Name::new(Text::decode(arg, parameter)?)?)
    }
}

impl Takes for Factors {
    const KIND: Kind = Kind::Factors;
    type Value<'a> = Vec<(&'a str, i64)>;

    fn decode<'a>(arg: &'a Arg, parameter: &str) -> Result<Vec<(&'a str, i64)>, Error> {
        let Arg::Options(given) = arg else {
            return Err(unfit(arg, parameter));
        };
        let factors = given.iter();
        factors
            .map(|(name, value)| Ok((name.as_str(), i64::decode(value, name)?)))
            .collect()
    }
}

/// Options, by name.
pub struct Options<'a> {
    given: &'a [(String, Arg)],
}

impl Takes for Options<'_> {
    const KIND: Kind = Kind::Options(&[]);
    type Value<'a> = Options<'a>;

    fn decode<'a>(arg: &'a Arg, parameter: &str) -> Result<Options<'a>, Error> {
        match arg {
            Arg::Options(given) => Ok(Options { given }),
            _ => Err(unfit(arg, parameter)),
        }
    }
}

impl<'a> Options<'a> {
    /// The value of an option.
    ///
    /// # Errors
    /// It does not fit.
    pub fn get<T: Takes>(&self, option: &Param<Option<T>>) -> Result<Option<T::Value<'a>>, Error> {
        let given = self.given.iter().find(|(name, _)| name == option.name);
        let decoded = given.map(|(_, arg)| T::decode(arg, option.name));
        decoded.transpose().map_err(|error| error.at(option))
    }
}
