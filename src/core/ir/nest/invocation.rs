//! Library calls. A call takes several steps for a script, but is one entry of a path.
//!
//! The inner steps are replayed. The call is recorded where the script wrote it, and printing,
//! `undo`, `diff` and comments in generated code show it.

use super::{Given, Invocation, Nest};
use std::fmt;
use std::sync::{Arc, OnceLock};

impl Given {
    fn short(&self) -> String {
        match self {
            Given::Nest(_) | Given::Other => "…".to_owned(),
            Given::Text(text) => text.clone(),
            Given::List(items) => {
                let items: Vec<String> = items.iter().map(Given::short).collect();
                format!("[{}]", items.join(", "))
            }
        }
    }

    pub fn nests(&self) -> Vec<&Nest> {
        match self {
            Given::Nest(nest) => vec![nest],
            Given::List(items) => items.iter().flat_map(Given::nests).collect(),
            Given::Text(_) | Given::Other => Vec::new(),
        }
    }

    /// Whether a script can write it.
    pub fn has_text(&self) -> bool {
        match self {
            Given::List(items) => items.iter().all(Given::has_text),
            given => !matches!(given, Given::Other),
        }
    }
}

impl Invocation {
    /// A call that has not returned yet.
    pub fn new(function: String, args: Vec<Given>) -> Invocation {
        let made = OnceLock::new();
        Invocation {
            function,
            args,
            made,
        }
    }

    /// Whether it is printed as a method of its first argument.
    pub fn is_method(&self) -> bool {
        !self.function.contains("::") && matches!(self.args.first(), Some(Given::Nest(_)))
    }

    /// The nests among its arguments.
    pub fn nests(&self) -> Vec<&Nest> {
        self.args.iter().flat_map(Given::nests).collect()
    }

    /// Records that it returned `nest`, and would again.
    pub fn returned(self: &Arc<Self>, nest: &Nest) {
        let steps = nest.path().steps();
        let is_last = steps.last().and_then(|step| step.invocation());
        if is_last.is_some_and(|call| Arc::ptr_eq(call, self)) {
            // A call returns once.
            let _ = self.made.set(steps.len());
        }
    }

    /// Whether a script that makes this call gets the nest with this many steps.
    pub fn makes(&self, steps: usize) -> bool {
        self.made.get() == Some(&steps)
    }
}

/// Printed like a step, without trees.
impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let args = self.args.iter().skip(usize::from(self.is_method()));
        let args: Vec<String> = args.map(Given::short).collect();
        write!(f, "{}({})", self.function, args.join(", "))
    }
}

impl PartialEq for Invocation {
    fn eq(&self, other: &Invocation) -> bool {
        std::ptr::eq(self, other) || self.to_string() == other.to_string()
    }
}

impl Eq for Invocation {}
