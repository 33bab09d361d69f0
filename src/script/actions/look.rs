//! What scripts and the library ask of values and of the command line.

use crate::ir::{Expr, Name, Nest};
use crate::script::call::{Function, Parameter};
use crate::script::values::{self, Index};
use rhai::{Array, Dynamic};

pub(super) static NOTATION: Function = Function {
    name: "notation",
    params: &[Parameter::new("tree")],
    returns: "string",
    doc: "The tree of a tensor expression or a nest as the TeML paper writes it (§3.1, Figs. 4–6).",
    call: |call| {
        let text = match call.get::<Nest>(0, "") {
            Ok(nest) => nest.notation(),
            Err(_) => call.get::<Expr>(0, "a tensor or a nest")?.notation(),
        };
        Ok(text.into())
    },
};

pub(super) static SHAPE: Function = Function {
    name: "shape",
    params: &[Parameter::new("tensor")],
    returns: "list",
    doc: "The extents of a tensor expression; those of an assignment are its target's.",
    call: |call| {
        let expr = call.expr(0)?;
        let shape = match expr.tensor() {
            Some(tensor) => Some(tensor.shape()),
            None => expr.shape(),
        };
        let extents = shape.map_or(&[] as &[u64], |s| s.extents());
        let list: Array = extents
            .iter()
            .map(|e| Dynamic::from_int(e.cast_signed()))
            .collect();
        Ok(Dynamic::from_array(list))
    },
};

pub(super) static ITERATORS: Function = Function {
    name: "iterators",
    params: &[Parameter::new("count")],
    returns: "list",
    doc: "\
Iterators for operations that name none, as TeML's fresh iterators of §4.2; `build` gives them
readable names.",
    call: |call| {
        let count = call.int(0)?;
        if !(0..=64).contains(&count) {
            return Err(call.fail(0, "must be between 0 and 64"));
        }
        let iterator = |k: i64| {
            let name = Name::generated(usize::try_from(k).unwrap_or(0));
            Dynamic::from(Index::iterator(name, false))
        };
        Ok(Dynamic::from_array((1..=count).map(iterator).collect()))
    },
};

pub(super) static PARAM: Function = Function {
    name: "param",
    params: &[Parameter::new("name"), Parameter::new("default")],
    returns: "",
    doc: "\
What the command line sets with `--set NAME=VALUE`, or else the default. The value has the
default's type: an integer, a number, a truth value or a string.",
    call: |call| {
        let name = call.text(0)?;
        let default = call.value(1).unwrap_or(Dynamic::UNIT);
        let Some(text) = call.state().workbench.parameters.take(&name) else {
            return Ok(default);
        };
        let value = match default.type_name() {
            "i64" => text.parse().ok().map(Dynamic::from_int),
            "f64" => text.parse().ok().map(Dynamic::from_float),
            "bool" => text.parse().ok().map(Dynamic::from_bool),
            "string" => Some(text.clone().into()),
            _ => return Err(call.expected(1, "an integer, a number, a truth value or a string")),
        };
        value.ok_or_else(|| {
            let wanted = values::type_in_words(default.type_name());
            call.refuse(&format!("--set {name}={text} should be {wanted}"))
        })
    },
};
