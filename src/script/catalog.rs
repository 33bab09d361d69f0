//! Everything that a script can call, for help and completion.

use crate::actions::ACTIONS;
use crate::binding::operations::FORMS;
use crate::ir::{Expr, Nest};
use crate::library::script_functions;
use crate::reader::lex::scan;
use crate::session::Session;
use crate::transform::{self, Kind, Op, Param, Returns};
use crate::trees;
use rhai::{Dynamic, FnPtr, Map};

/// The type of a value, as far as completion distinguishes types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A loop nest.
    Nest,
    /// A tensor or an expression.
    Tensor,
    /// A path.
    Path,
    /// A list.
    List,
    /// A map.
    Map,
    /// A string.
    Text,
    /// A program.
    Program,
    /// A function.
    Function,
    /// Steps that are legal next.
    Moves,
    /// Handles of everything that a step made.
    Handles,
    /// A loop or a local tensor.
    Handle,
    /// Something else, or unknown.
    Other,
}

/// The kind of an argument, for completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Anything.
    Anything,
    /// A loop of the nest, or a list of loops, by name.
    Loops,
    /// One of these words.
    Words(&'static [&'static str]),
    /// A map of these options.
    Options(&'static [Param]),
}

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
        let actions = ACTIONS.iter().map(|f| {
            let names = f.params.iter().map(|p| p.name);
            of_names(f.name, f.signature(), f.topic, names)
        });
        let library = self.library_functions().map(|(name, signature)| {
            let topic = if name.contains("::") {
                "schedules"
            } else {
                "library"
            };
            of_signature(&name, signature, topic)
        });
        let own = script_functions(&self.functions).into_iter();
        let own = own.map(|(name, signature)| of_signature(&name, signature, "own"));
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
        match crate::values::name_of(&value) {
            Some("path") => Type::Path,
            Some("program") => Type::Program,
            Some("moves") => Type::Moves,
            Some("handles") => Type::Handles,
            Some("handle") => Type::Handle,
            _ => Type::Other,
        }
    }
}

fn of_operation(op: &Op) -> Entry {
    let topic = match op.returns {
        Returns::Nest => "transformations",
        Returns::Expr if op.name.starts_with('v') => "expressions",
        Returns::Expr => "tensors",
    };
    let receiver = match op.params.first().map(|p| p.kind) {
        Some(Kind::Nest) => Type::Nest,
        Some(Kind::Expr | Kind::Exprs | Kind::Tensor | Kind::Operand) => Type::Tensor,
        Some(Kind::Text) => Type::Text,
        _ => Type::List,
    };
    let takes = |param: &Param| match param.kind {
        Kind::Loop | Kind::Loops | Kind::LoopOrLoops => Takes::Loops,
        Kind::Word(words) => Takes::Words(words),
        Kind::Comparison => Takes::Words(&["<", "<=", ">", ">=", "==", "!="]),
        Kind::Elem => Takes::Words(&["f64", "f32", "i32", "i64"]),
        Kind::Options(options) => Takes::Options(options),
        _ => Takes::Anything,
    };
    Entry {
        name: op.name.to_owned(),
        signature: op.signature(),
        topic,
        receiver,
        arguments: op.params.iter().map(takes).collect(),
    }
}

fn of_signature(name: &str, signature: String, topic: &'static str) -> Entry {
    let parameters = signature.split_once('(').map_or("", |(_, rest)| rest);
    let parameters = parameters.split(')').next().unwrap_or("").to_owned();
    let names = parameters.split(", ").filter(|p| !p.is_empty());
    of_names(name, signature, topic, names)
}

/// A function whose parameter names reveal the kinds of its arguments.
fn of_names<'a>(
    name: &str,
    signature: String,
    topic: &'static str,
    parameters: impl Iterator<Item = &'a str>,
) -> Entry {
    let parameters: Vec<&str> = parameters.collect();
    let receiver = match parameters.first().copied().unwrap_or("") {
        "nest" | "nests" | "variants" | "tree" | "l" | "product" => Type::Nest,
        "t" | "t1" | "t2" | "tensor" | "left" | "input" | "of" | "expression" => Type::Tensor,
        "path" | "first" if topic == "paths" => Type::Path,
        "program" => Type::Program,
        "move" => Type::Moves,
        "list" | "tensors" | "rows" => Type::List,
        _ => Type::Other,
    };
    let takes = |name: &&str| match *name {
        "loop" | "loops" | "outer" | "inner" => Takes::Loops,
        "policy" => Takes::Words(&["strict", "reassoc"]),
        "language" => Takes::Words(&["model", "teil", "sac", "teml"]),
        _ => Takes::Anything,
    };
    Entry {
        name: name.to_owned(),
        topic,
        receiver,
        arguments: parameters.iter().map(takes).collect(),
        signature,
    }
}
