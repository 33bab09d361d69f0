//! A move: what could be done next.

use crate::ir::{Arg, LoopRef, Name, Nest, Site};
use crate::{Error, Op, apply};
use std::sync::Arc;

/// A step, or several that belong together.
#[derive(Clone)]
pub struct Move {
    /// What scripts call: an operation, or a function of the library.
    pub op: &'static str,
    /// The loop that it is about.
    pub at: Name,
    /// What else it is about, for tables: other loops, or a number of lanes.
    pub with: Option<String>,
    /// The call in method form, such as `interchange("i", "j")`.
    pub call: String,
    /// The steps: operations and their arguments after the nest.
    pub(super) steps: Arc<[(&'static Op, Vec<Arg>)]>,
}

impl Move {
    /// The names of its loops, in the order of the call.
    pub fn loops(&self) -> Vec<&str> {
        let args = self.steps.iter().flat_map(|(_, args)| args);
        let names = args.filter_map(|arg| match arg {
            Arg::Loop(LoopRef::Name(name)) => Some(name.as_str()),
            _ => None,
        });
        names.collect()
    }

    /// What the move makes of a nest; `site` says where it was asked for.
    ///
    /// # Errors
    /// Those of its steps, on a nest that it was not made for.
    pub fn apply(&self, nest: &Nest, site: Option<&Site>) -> Result<Nest, Error> {
        self.steps
            .iter()
            .try_fold(nest.clone(), |nest, (op, args)| {
                let args: Vec<Arg> = [Arg::Nest(nest)].into_iter().chain(args.clone()).collect();
                apply(op, &args, site.cloned())?.nest()
            })
    }
}
