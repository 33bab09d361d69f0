//! Parameters of native functions, by name and type.
//!
//! A parameter is a constant: `const LEVEL: Param<Option<i64>> = Param::new("level");`. The table
//! of functions lists it (`LEVEL.any()`), the function reads its argument by it
//! (`call.arg(&LEVEL)?`), and errors, signatures and completion follow from it.

use crate::analysis::position::Position;
use crate::binding::call::{Call, Which};
use crate::binding::conversion::{self, convert};
use crate::binding::takes::{Takes, Type};
use crate::ir::{Elem, Expr, Name, Nest, Program};
use crate::messages::fail::Failure;
use crate::runtime::Scalar;
use crate::transform::{Arg, Kind};
use crate::values::{self, Index};
use rhai::{Array, Dynamic, FnPtr, ImmutableString, Map};
use std::marker::PhantomData;

/// A parameter that takes a `T`.
pub struct Param<T>(Parameter, PhantomData<fn() -> T>);

/// A parameter as tables list it, without its type.
#[derive(Clone, Copy)]
pub struct Parameter {
    /// The name in signatures and messages.
    pub name: &'static str,
    /// Whether it may be left out; only parameters at the end may.
    pub optional: bool,
    /// The number of arguments that it may take, one after the other.
    pub times: usize,
    expected: fn() -> String,
    takes: fn() -> Takes,
    /// Words of its own for what it takes; empty for those of the type.
    words: &'static str,
    options: &'static [Parameter],
}

/// A type of arguments.
pub trait Argument: Sized {
    /// Whether it may be left out.
    const OPTIONAL: bool = false;

    /// Words for a user, with an article.
    fn expected() -> String;

    /// The kind of these arguments, for completion.
    fn takes() -> Takes;

    /// Reads an argument or an option.
    ///
    /// # Errors
    /// It is missing, or something else.
    fn of(place: &Place) -> Result<Self, Failure>;
}

/// A value in a call, and its place for messages.
pub struct Place<'a> {
    /// The value; `None` if it was left out.
    pub given: Option<Dynamic>,
    pub call: &'a Call<'a>,
    /// The argument that it is, or is in.
    pub k: usize,
    option: Option<&'static str>,
    expected: String,
}

impl<T: Argument> Param<T> {
    pub const fn new(name: &'static str) -> Param<T> {
        let parameter = Parameter {
            name,
            optional: T::OPTIONAL,
            times: 1,
            expected: T::expected,
            takes: T::takes,
            words: "",
            options: &[],
        };
        Param(parameter, PhantomData)
    }
}

impl<T> Param<T> {
    /// The same parameter for up to `times` arguments.
    pub const fn up_to(self, times: usize) -> Param<T> {
        Param(Parameter { times, ..self.0 }, PhantomData)
    }

    /// The same parameter with other words for what it takes.
    pub const fn being(self, words: &'static str) -> Param<T> {
        Param(Parameter { words, ..self.0 }, PhantomData)
    }

    /// The same parameter for a map of these options.
    pub const fn with(self, options: &'static [Parameter]) -> Param<T> {
        Param(Parameter { options, ..self.0 }, PhantomData)
    }

    /// The parameter as tables list it.
    pub const fn any(&self) -> Parameter {
        self.0
    }
}

impl Parameter {
    /// The kind of its arguments.
    pub fn takes(&self) -> Takes {
        if self.options.is_empty() {
            return (self.takes)();
        }
        let option = |option: &Parameter| match option.takes() {
            Takes::Words(words) => (option.name, words),
            _ => (option.name, Vec::new()),
        };
        Takes::Options(self.options.iter().map(option).collect())
    }

    fn expected(&self) -> String {
        if !self.words.is_empty() {
            return self.words.to_owned();
        }
        let names = self.options.iter().map(|o| format!("`{}`", o.name));
        match names.collect::<Vec<_>>().as_slice() {
            [] => (self.expected)(),
            names => format!("a map such as `#{{…}}` with some of {}", names.join(", ")),
        }
    }
}

impl<T> Which for &Param<T> {
    fn number(&self, call: &Call) -> usize {
        let mut names = call.callee.params.iter();
        names.position(|name| *name == self.0.name).unwrap_or(0)
    }
}

impl Call<'_> {
    /// The argument for a parameter.
    ///
    /// # Errors
    /// It was left out although it is not optional, or is something else.
    pub fn arg<T: Argument>(&self, parameter: &Param<T>) -> Result<T, Failure> {
        let k = parameter.number(self);
        T::of(&Place {
            given: self.value(k),
            call: self,
            k,
            option: None,
            expected: parameter.0.expected(),
        })
    }

    /// The options in the argument for a parameter; none if it was left out.
    ///
    /// # Errors
    /// It is not a map, or has an option that the parameter does not know.
    pub fn options(&self, parameter: &Param<Options>) -> Result<Given<'_>, Failure> {
        // Options come last, whichever arguments before them are left out.
        let last = self.count().saturating_sub(1);
        let is_last = last > 0 && self.value(last).is_some_and(|value| value.is_map());
        let k = parameter.number(self);
        let k = if is_last { last } else { k };
        let map = match self.value(k).map(Dynamic::try_cast::<Map>) {
            Some(map) => map.ok_or_else(|| self.expected(k, &parameter.0.expected()))?,
            None => Map::new(),
        };
        let known = parameter.0.options.iter().map(|option| option.name);
        conversion::all_known(self, k, &map, &known.collect::<Vec<_>>())?;
        Ok(Given { map, call: self, k })
    }
}

impl Place<'_> {
    /// The value, as `read` sees it.
    ///
    /// # Errors
    /// It is something else.
    pub fn read<T>(&self, read: impl Fn(&Dynamic) -> Option<T>) -> Result<T, Failure> {
        let value = self.given.as_ref().and_then(read);
        value.ok_or_else(|| self.expected(self.given.as_ref()))
    }

    /// The elements of a list, as `read` sees them.
    ///
    /// # Errors
    /// One of them is something else, or there is no list.
    pub fn list<T>(&self, read: impl Fn(&Dynamic) -> Option<T>) -> Result<Vec<T>, Failure> {
        let list = self.read(held::<Array>)?;
        let read = |item| read(item).ok_or_else(|| self.expected(Some(item)));
        list.iter().map(read).collect()
    }

    /// The failure of a value, or a part of it, that is not what its parameter takes.
    pub fn expected(&self, given: Option<&Dynamic>) -> Failure {
        match (self.option, given) {
            (None, Some(given)) => self.call.expected_but(self.k, &self.expected, given),
            (None, None) => self.call.expected(self.k, &self.expected),
            (Some(_), _) => {
                let given = given.map_or_else(String::new, values::describe);
                self.fail(&format!("must be {}, not {given}", self.expected))
            }
        }
    }

    /// The failure that something is wrong with the value.
    pub fn fail(&self, what: &str) -> Failure {
        let what = match self.option {
            None => what.to_owned(),
            Some(name) => format!("has `{name}`, which {what}"),
        };
        self.call.fail(self.k, &what)
    }
}

/// A map of options. [`Call::options`] reads it.
pub enum Options {}

impl Argument for Options {
    const OPTIONAL: bool = true;

    fn expected() -> String {
        "a map of options".to_owned()
    }

    fn takes() -> Takes {
        Takes::Value(Type::Map)
    }

    fn of(place: &Place) -> Result<Options, Failure> {
        Err(place.expected(place.given.as_ref()))
    }
}

/// The options of a call. The parameter knows each of them.
pub struct Given<'a> {
    map: Map,
    call: &'a Call<'a>,
    k: usize,
}

impl Given<'_> {
    /// The value of an option.
    ///
    /// # Errors
    /// It is something else.
    pub fn get<T: Argument>(&self, option: &Param<Option<T>>) -> Result<Option<T>, Failure> {
        Option::of(&Place {
            given: self.map.get(option.0.name).map(Dynamic::flatten_clone),
            call: self.call,
            k: self.k,
            option: Some(option.0.name),
            expected: option.0.expected(),
        })
    }
}

/// An argument that may be left out.
impl<T: Argument> Argument for Option<T> {
    const OPTIONAL: bool = true;

    fn expected() -> String {
        T::expected()
    }

    fn takes() -> Takes {
        T::takes()
    }

    fn of(place: &Place) -> Result<Option<T>, Failure> {
        place.given.as_ref().map(|_| T::of(place)).transpose()
    }
}

/// One of a few words.
pub trait Words: Copy + 'static {
    /// The words and their values, in the order in which messages list them.
    const WORDS: &'static [(&'static str, Self)];
}

impl<T: Words> Argument for T {
    fn expected() -> String {
        let quoted: Vec<String> = T::WORDS.iter().map(|(w, _)| format!("{w:?}")).collect();
        match quoted.split_last() {
            Some((last, others)) if !others.is_empty() => {
                format!("{} or {last}", others.join(", "))
            }
            _ => quoted.concat(),
        }
    }

    fn takes() -> Takes {
        Takes::Words(T::WORDS.iter().map(|(word, _)| *word).collect())
    }

    fn of(place: &Place) -> Result<T, Failure> {
        place.read(|value| {
            let word = value.read_lock::<ImmutableString>()?;
            let found = T::WORDS.iter().find(|(w, _)| **w == **word);
            found.map(|(_, value)| *value)
        })
    }
}

/// Implements `Argument` for types: the words for a user, the kind, and how they are read.
macro_rules! arguments {
    ($($type:ty, $expected:expr, $takes:expr, $read:expr;)*) => {
        $(impl $crate::binding::param::Argument for $type {
            fn expected() -> String {
                $expected.to_owned()
            }

            fn takes() -> $crate::binding::takes::Takes {
                $takes
            }

            fn of(
                place: &$crate::binding::param::Place,
            ) -> Result<$type, $crate::messages::fail::Failure> {
                let read: fn(&$crate::binding::param::Place) -> _ = $read;
                read(place)
            }
        })*
    };
}
pub(crate) use arguments;

/// A value of a type that Rhai holds as it is.
pub fn held<T: Clone + Send + Sync + 'static>(value: &Dynamic) -> Option<T> {
    value.read_lock::<T>().map(|value| value.clone())
}

/// Any number of names of tensors.
pub struct Names(pub Vec<String>);

arguments! {
    Dynamic, "a value", Takes::Value(Type::Other), |p| p.read(|v| Some(v.clone()));
    Expr, "a tensor", Takes::Value(Type::Tensor), |p| p.read(held);
    Program, "a program", Takes::Value(Type::Program), |p| p.read(held);
    FnPtr, "a function", Takes::Value(Type::Function), |p| p.read(held);
    Map, "a map", Takes::Value(Type::Map), |p| p.read(held);
    i64, "an integer", Takes::Value(Type::Other), |p| p.read(|v| v.as_int().ok());
    usize, "a positive integer", Takes::Value(Type::Other), |p| {
        p.read(|v| usize::try_from(v.as_int().ok()?).ok().filter(|n| *n > 0))
    };
    bool, "`true` or `false`", Takes::Value(Type::Other), |p| p.read(|v| v.as_bool().ok());
    Scalar, "a number", Takes::Value(Type::Other), |p| p.read(values::number);
    String, "a string", Takes::Value(Type::Text), |p| p.read(|v| v.clone().into_string().ok());
    Index, "an index expression such as `2*i + j`", Takes::Value(Type::Other), |p| p.read(held);
    Name, "a string", Takes::Value(Type::Text), |p| {
        let name = Name::new(&String::of(p)?);
        name.map_err(|error| p.call.blame(p.k, &error.to_string()))
    };
    Names, "a list of names of tensors", Takes::Value(Type::List), |p| {
        p.list(|item| item.clone().into_string().ok()).map(Names)
    };
    Nest, "a nest", Takes::Value(Type::Nest), |p| p.call.nest(p.k);
    Vec<Nest>, "a nest or a list of nests", Takes::Value(Type::Nest), |p| p.call.nests(p.k);
    Elem, "an element type", Takes::of_kind(Kind::Elem), |p| {
        match convert(p.call, p.k, Kind::Elem)? {
            Arg::Elem(elem) => Ok(elem),
            _ => Err(p.expected(p.given.as_ref())),
        }
    };
    // A loop of the nest that is the first argument.
    Position, "a loop", Takes::Loops, |p| conversion::position(p.call, &p.call.nest(0)?, p.k);
}

pub const NEST: Param<Nest> = Param::new("nest");
pub const NESTS: Param<Vec<Nest>> = Param::new("nests");
