//! Programs as values of scripts.

use super::shown::{Shown, shorten};
use crate::ir::Program;
use rhai::Engine;

impl Shown for Program {
    const NAME: &'static str = "program";

    fn full(&self) -> String {
        self.to_string()
    }

    fn brief(&self) -> String {
        let count = self.assignments().len();
        let s = if count == 1 { "" } else { "s" };
        shorten(format!("a program of {count} assignment{s}"), 80)
    }

    fn members(engine: &mut Engine) {
        engine.register_fn("==", |a: Program, b: Program| a == b);
    }
}
