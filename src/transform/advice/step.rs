//! A move: a candidate for the next step.

use crate::ir::{Arg, LoopRef, Name, Nest, Site};
use crate::{Error, Op, apply};
use std::sync::Arc;

/// A step, or several that belong together.
#[derive(Clone)]
pub struct Move {
    /// The name in scripts: an operation, or a function of the library.
    pub op: &'static str,
    /// The loop that it applies to.
    pub at: Name,
    /// Its other operands for tables: loops, or a number of lanes.
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

    /// Applies the move to a nest. `site` is the place in the script that asks for it.
    ///
    /// # Errors
    /// Those of its steps, on a nest that the move was not made for.
    pub fn apply(&self, nest: &Nest, site: Option<&Site>) -> Result<Nest, Error> {
        self.steps
            .iter()
            .try_fold(nest.clone(), |nest, (op, args)| {
                let args: Vec<Arg> = [Arg::Nest(nest)].into_iter().chain(args.clone()).collect();
                apply(op, &args, site.cloned())?.nest()
            })
    }
}
