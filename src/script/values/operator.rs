//! Operators of the user's own.

use super::shown::{Shown, shorten};
use crate::ir::Operator;
use rhai::Engine;

impl Shown for Operator {
    const NAME: &'static str = "operator";

    fn full(&self) -> String {
        self.to_string()
    }

    fn brief(&self) -> String {
        shorten(self.to_string(), 80)
    }

    fn members(engine: &mut Engine) {
        engine.register_fn("==", |a: Operator, b: Operator| a == b);
    }
}
