//! Paths as values of scripts.

use super::shown::Shown;
use crate::ir::Nest;
use crate::transform::trace::{self, Calls};
use rhai::Engine;

/// The path of a nest; the nest itself comes with it, since steps alone make nothing.
#[derive(Clone, Debug)]
pub struct Path {
    pub nest: Nest,
    /// How calls of the library are shown.
    pub calls: Calls,
}

impl Path {
    /// The number of steps that are shown.
    fn len(&self) -> usize {
        match self.calls {
            Calls::Folded => self.nest.path().entries().len(),
            Calls::Unfolded => self.nest.path().len(),
        }
    }
}

impl Shown for Path {
    const NAME: &'static str = "path";

    fn full(&self) -> String {
        match trace::script(&self.nest, self.calls) {
            Ok(text) => text,
            Err(error) => format!("// {error}"),
        }
    }

    fn brief(&self) -> String {
        let steps = self.len();
        format!(
            "a path of {steps} step{}",
            if steps == 1 { "" } else { "s" }
        )
    }

    fn members(engine: &mut Engine) {
        engine
            .register_fn("len", |path: &mut Path| {
                i64::try_from(path.len()).unwrap_or(i64::MAX)
            })
            .register_fn("==", |a: Path, b: Path| a.nest.path() == b.nest.path());
    }
}
