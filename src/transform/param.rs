//! Parameters of operations, by name and kind.
//!
//! A parameter is a constant of the operation's file:
//! `const FACTOR: Param<i64> = Param::new("factor");`. The table of operations lists it
//! (`FACTOR.any()`), the operation reads its argument by it (`args.get(&FACTOR)`), and errors blame
//! it (`.at(&FACTOR)`).

use super::failure::{Error, Parameter, mistake};
use crate::ir::Arg;
use std::marker::PhantomData;

/// A parameter that takes a `T`. `Param` without a type is type-erased, for tables and help.
#[derive(Debug, PartialEq, Eq)]
pub struct Param<T = Any> {
    /// The name in signatures and messages.
    pub name: &'static str,
    /// The kind of its arguments.
    pub kind: Kind,
    /// Whether it may be left out; only parameters at the end may.
    pub optional: bool,
    takes: PhantomData<fn() -> T>,
}

/// The type of a type-erased parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Any {}

impl<T: Takes> Param<T> {
    pub const fn new(name: &'static str) -> Param<T> {
        Param::of(name, T::KIND, T::OPTIONAL)
    }

    /// The same parameter with the options `options`.
    pub const fn with(self, options: &'static [Param]) -> Param<T> {
        Param::of(self.name, Kind::Options(options), self.optional)
    }

    /// The parameter as tables list it.
    pub const fn any(&self) -> Param {
        Param::of(self.name, self.kind, self.optional)
    }
}

impl<T> Param<T> {
    const fn of(name: &'static str, kind: Kind, optional: bool) -> Param<T> {
        Param {
            name,
            kind,
            optional,
            takes: PhantomData,
        }
    }
}

impl Param {
    /// Whether errors that blame `parameter` are about this parameter or one of its options.
    pub fn is_about(&self, parameter: &str) -> bool {
        let options = match self.kind {
            Kind::Options(options) => options,
            _ => &[],
        };
        self.name == parameter || options.iter().any(|option| option.name == parameter)
    }
}

impl<T> Parameter for Param<T> {
    fn name(&self) -> &'static str {
        self.name
    }
}

/// The kind of a parameter's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Nest,
    Expr,
    /// A list of tensor expressions.
    Exprs,
    /// A tensor by its name, or a tensor expression that has one. Local tensors have only names.
    Tensor,
    /// A tensor expression, or a number.
    Operand,
    /// A list of tensor expressions and numbers.
    Operands,
    Number,
    /// A comparison: `"<"`, `"<="`, `">"`, `">="`, `"=="`, `"!="`.
    Comparison,
    /// A loop, by level (counted from 1) or by name.
    Loop,
    /// A list of loops such as `["k", "i"]`.
    Loops,
    /// A loop, or a list of loops.
    LoopOrLoops,
    /// One of these words.
    Word(&'static [&'static str]),
    Int,
    /// A list of extents such as `[250, 250]`.
    Extents,
    /// A number, or a sum of sizes such as `m + 1`.
    Extent,
    /// An element type: `"f64"`, `"f32"`, `"i32"`, `"i64"`.
    Elem,
    /// An index expression such as `2*i + j`, as a list of one.
    Index,
    /// An index expression such as `8*k + 8`, or its text.
    Place,
    /// A condition on sizes such as `"N <= 32"`, or values such as `#{N: 4}`.
    Condition,
    /// A list of iterators such as `[i, j]`.
    Iters,
    /// A list of iterators such as `[i, j]`, or of dimensions, counted from 1, such as `[1, 2]`.
    Over,
    /// Two lists of iterators, `[[i, k], [k, j]]`; either may be absent.
    IterLists,
    /// `[i, j] -> [j, i]`, or `[j, i]` alone: TeML's `iters? -> iters`.
    Arrow,
    /// `[[i, k], [k, j]] -> [i, j]`: TeML's `[iters?, iters?] -> iters`.
    ListsArrow,
    /// Two dimensions, counted from 1, such as `[3, 1]`, or a list of such pairs.
    Dimensions,
    /// All dimensions of a tensor in some order, counted from 1, such as `[2, 1]`.
    Order,
    /// Steps on the loop that the preceding parameter names: a function of a nest, or a path.
    Steps,
    /// `true` or `false`; an option.
    Flag,
    /// Options by name, such as `#{collapse: 2}`: integers, words and flags.
    Options(&'static [Param]),
    /// Integers by the names of loops, such as `#{t: 2}`.
    Factors,
    /// Ranges of iterators, such as `#{i: 1..9, j: 0..i + 1}`. This is the last parameter of an
    /// operation; optional ones before it may still be left out.
    Ranges,
    Text,
    /// An operator of the user's own.
    Operator,
}

/// A type of parameters: their kind, and the type of the values that the operation gets.
pub trait Takes {
    /// The kind, as scripts convert to it and help shows it.
    const KIND: Kind;
    /// Whether it may be left out.
    const OPTIONAL: bool = false;
    /// The argument as the operation reads it.
    type Value<'a>;

    /// Decodes the argument; messages call its parameter `parameter`.
    ///
    /// # Errors
    /// It does not fit.
    fn decode<'a>(arg: &'a Arg, parameter: &str) -> Result<Self::Value<'a>, Error>;

    /// Decodes the argument if there is one.
    ///
    /// # Errors
    /// It is missing or does not fit.
    fn of<'a>(arg: Option<&'a Arg>, parameter: &str) -> Result<Self::Value<'a>, Error> {
        match arg {
            Some(arg) => Self::decode(arg, parameter),
            None => Err(mistake(format!("`{parameter}` is missing"))),
        }
    }
}

/// A parameter that may be left out.
impl<T: Takes> Takes for Option<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = true;
    type Value<'a> = Option<T::Value<'a>>;

    fn decode<'a>(arg: &'a Arg, parameter: &str) -> Result<Self::Value<'a>, Error> {
        T::decode(arg, parameter).map(Some)
    }

    fn of<'a>(arg: Option<&'a Arg>, parameter: &str) -> Result<Self::Value<'a>, Error> {
        arg.map(|arg| T::decode(arg, parameter)).transpose()
    }
}
