//! Values of parameters, and points, which have one value for each parameter of a space.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A switch.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// A word, such as the name of a loop.
    Text(String),
    /// Several values, such as an order of loops.
    List(Vec<Value>),
    /// Values by name, such as the options of a schedule.
    Map(BTreeMap<String, Value>),
}

impl Value {
    /// The value as a number, if it is a number or a switch.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Bool(on) => Some(f64::from(u8::from(*on))),
            Value::Int(n) => Some(*n as f64),
            Value::Float(x) => Some(*x),
            Value::Text(_) | Value::List(_) | Value::Map(_) => None,
        }
    }
}

/// As written in a script.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(on) => write!(f, "{on}"),
            Value::Int(n) => write!(f, "{n}"),
            Value::Float(x) => write!(f, "{x:?}"),
            Value::Text(text) => write!(f, "{text:?}"),
            Value::List(values) => {
                let texts: Vec<String> = values.iter().map(Value::to_string).collect();
                write!(f, "[{}]", texts.join(", "))
            }
            Value::Map(values) => {
                let texts: Vec<String> = values.iter().map(|(k, v)| format!("{k}: {v}")).collect();
                write!(f, "#{{{}}}", texts.join(", "))
            }
        }
    }
}

/// A value for each parameter, in the order of choice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point(Vec<(String, Value)>);

impl Point {
    /// The point with one more value.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Point {
        self.0.push((name.to_owned(), value));
        self
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = &(String, Value)> {
        self.0.iter()
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, v)| v)
    }

    /// The values by name, as in records.
    pub fn by_name(&self) -> BTreeMap<String, Value> {
        self.0.iter().cloned().collect()
    }
}

/// `mr = 4, nc = 128`.
impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(|(n, v)| format!("{n} = {v}")).collect();
        write!(f, "{}", texts.join(", "))
    }
}
