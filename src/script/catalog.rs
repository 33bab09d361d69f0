//! Everything that a script can call, for help and completion.

use crate::actions::ACTIONS;
use crate::binding::function::Function;
use crate::binding::operations::FORMS;
use crate::binding::takes::{Takes, Type};
use crate::ir::{Expr, Nest};
use crate::library::script_functions;
use crate::messages::errors::parameters;
use crate::reader::lex::scan;
use crate::session::Session;
use crate::transform::{self, Op, Returns};
use crate::trees;
use rhai::{Dynamic, FnPtr, Map};

/// A function.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The name by which scripts call it.
    pub name: String,
    /// Its call.
    pub signature: String,
    /// The topic of help.
    pub topic: &'static str,
    /// The type of the receiver in method form; [`Type::Other`] if unknown.
    pub receiver: Type,
    /// The type of its result, likewise.
    pub returns: Type,
    /// The kinds of its arguments, the receiver first, as far as they are known.
    pub arguments: Vec<Takes>,
}

/// The topics, and what their functions do.
pub const TOPICS: &[(&str, &str)] = &[
    ("tensors", "declare tensors and assign to them"),
    (
        "expressions",
        "expressions without memory: their names begin with v",
    ),
    ("transformations", "build nests and transform their loops"),
    (
        "library",
        "functions in Rhai: products, windows, strategies",
    ),
    ("schedules", "whole schedules, by what a nest computes"),
    ("results", "check, run, time and save"),
    ("queries", "properties of tensors and nests"),
    (
        "trees",
        "expressions and nests as values to take apart and change",
    ),
    ("paths", "the steps that made a nest"),
    ("programs", "texts in the notations of other papers"),
    ("own", "functions that this session has defined"),
];

impl Session {
    /// Every function, in the order of topics.
    pub fn catalog(&self) -> Vec<Entry> {
        let others = FORMS.iter().filter_map(|form| form.other);
        let operations = transform::OPS.iter().copied().chain(others);
        let operations = operations.map(of_operation);
        let actions = ACTIONS.iter().map(|f| of_function(f));
        let library = self.library_functions().map(|(name, signature)| {
            let topic = if name.starts_with("schedules::") {
                "schedules"
            } else {
                "library"
            };
            of_script(&name, signature, topic)
        });
        let own = script_functions(&self.functions).into_iter();
        let own = own.map(|(name, signature)| of_script(&name, signature, "own"));
        let all: Vec<Entry> = operations
            .chain(actions)
            .chain(library)
            .chain(own)
            .collect();
        let place = |entry: &Entry| TOPICS.iter().position(|(topic, _)| *topic == entry.topic);
        let mut all: Vec<Entry> = all;
        all.sort_by_key(place);
        all
    }

    /// The type of the value of a variable, or of a part of it such as `t.operands[0]`.
    pub fn type_of(&self, path: &str) -> Option<Type> {
        self.held(path).as_ref().map(type_of)
    }

    /// The value of a variable, or a part of it that fields and numbers lead to. Nothing runs.
    fn held(&self, path: &str) -> Option<Dynamic> {
        let tokens = scan(path);
        let mut words = (0..tokens.tokens.len()).map(|k| tokens.text(path, k));
        let mut value = self.scope.get(words.next()?)?.flatten_clone();
        while let Some(mark) = words.next() {
            let word = words.next()?;
            value = match mark {
                "." => field(&value, word)?,
                "[" if words.next() == Some("]") => {
                    let items = value.read_lock::<rhai::Array>()?;
                    items.get(word.parse::<usize>().ok()?)?.flatten_clone()
                }
                _ => return None,
            };
        }
        Some(value)
    }

    /// The handles in a variable, each as a script writes it, with the name of its loop or tensor.
    /// If `nests` is not empty, only handles into these nests.
    pub fn handles(&self, variable: &str, nests: &[Nest]) -> Vec<(String, String)> {
        let value = self.scope.get(variable).map(|v| v.flatten_clone());
        let found = value.map(|value| crate::values::handles_in(&value, nests));
        let found = found.into_iter().flatten();
        found
            .map(|(behind, name)| (format!("{variable}{behind}"), name.to_string()))
            .collect()
    }

    /// The fields of the value of a variable, or of a part of it: the keys of a map, and what
    /// expressions and nests can be asked.
    pub fn fields_of(&self, path: &str) -> Vec<String> {
        let Some(value) = self.held(path) else {
            return Vec::new();
        };
        if let Some(map) = value.read_lock::<Map>() {
            return map.keys().map(ToString::to_string).collect();
        }
        trees::fields_of(&value)
    }
}

/// A field of a map, an expression or a nest.
fn field(value: &Dynamic, field: &str) -> Option<Dynamic> {
    match value.read_lock::<Map>() {
        Some(map) => map.get(field).map(Dynamic::flatten_clone),
        None => trees::field_of(value, field),
    }
}

fn type_of(value: &Dynamic) -> Type {
    let value = value.flatten_clone();
    if value.is::<Nest>() {
        Type::Nest
    } else if value.is::<Expr>() {
        Type::Tensor
    } else if value.is_array() {
        Type::List
    } else if value.is_map() {
        Type::Map
    } else if value.is_string() {
        Type::Text
    } else if value.is::<FnPtr>() {
        Type::Function
    } else {
        crate::values::name_of(&value).map_or(Type::Other, Type::named)
    }
}

fn of_operation(op: &Op) -> Entry {
    let (topic, returns) = match op.returns {
        Returns::Nest => ("transformations", Type::Nest),
        Returns::Expr if op.name.starts_with('v') => ("expressions", Type::Tensor),
        Returns::Expr => ("tensors", Type::Tensor),
    };
    let arguments = op.params.iter().map(|param| Takes::of_kind(param.kind));
    entry(op.name, op.signature(), topic, arguments.collect(), returns)
}

fn of_function(function: &Function) -> Entry {
    let arguments = function.params.iter();
    let arguments = arguments.flat_map(|p| vec![p.takes(); p.times]);
    let returns = Type::named(function.returns);
    let signature = function.signature();
    entry(
        function.name,
        signature,
        function.topic,
        arguments.collect(),
        returns,
    )
}

/// A function in Rhai. Its parameters have no types: those of the library are named after them.
fn of_script(name: &str, signature: String, topic: &'static str) -> Entry {
    let takes = |name: &str| match name {
        "nest" | "nests" | "product" => Takes::Value(Type::Nest),
        "t" | "t1" | "t2" | "tensor" | "left" | "input" => Takes::Value(Type::Tensor),
        "list" | "tensors" => Takes::Value(Type::List),
        "program" => Takes::Value(Type::Program),
        "loop" | "loops" | "outer" | "inner" => Takes::Loops,
        _ => Takes::Value(Type::Other),
    };
    let arguments: Vec<Takes> = parameters(&signature).into_iter().map(takes).collect();
    let returns = match (topic, name) {
        ("schedules", _) => Type::Nest,
        (_, "divisor") => Type::Other,
        // Most functions of the library return what they get.
        _ => arguments.first().map_or(Type::Other, Takes::value),
    };
    entry(name, signature, topic, arguments, returns)
}

fn entry(
    name: &str,
    signature: String,
    topic: &'static str,
    arguments: Vec<Takes>,
    returns: Type,
) -> Entry {
    Entry {
        name: name.to_owned(),
        signature,
        topic,
        receiver: arguments.first().map_or(Type::Other, Takes::value),
        returns,
        arguments,
    }
}
