//! Verdicts as values of scripts.

use super::shown::Shown;
use crate::transform::simplify::Rule;
use crate::verbs::{Checked, Equal};
use rhai::{Array, Dynamic, Engine};

impl Shown for Checked {
    const NAME: &'static str = "verdict";

    fn full(&self) -> String {
        self.text()
    }

    fn brief(&self) -> String {
        self.message()
    }

    fn members(engine: &mut Engine) {
        engine
            .register_get("legal", |c: &mut Checked| {
                c.legal().map_or(Dynamic::UNIT, Dynamic::from_bool)
            })
            .register_get("runs", |c: &mut Checked| c.runs())
            .register_get("message", |c: &mut Checked| c.message())
            .register_get("suggestions", |c: &mut Checked| -> Array {
                c.suggestions().into_iter().map(Dynamic::from).collect()
            });
    }
}

impl Shown for Equal {
    const NAME: &'static str = "verdict on two definitions";

    fn full(&self) -> String {
        self.to_string()
    }

    fn brief(&self) -> String {
        self.to_string()
    }

    fn members(engine: &mut Engine) {
        engine
            .register_get("equal", |e: &mut Equal| e.holds())
            .register_get("proved", |e: &mut Equal| e.is_proved())
            .register_get("message", |e: &mut Equal| e.to_string());
    }
}

impl Shown for Rule {
    const NAME: &'static str = "rule";

    fn full(&self) -> String {
        self.to_string()
    }

    fn brief(&self) -> String {
        self.to_string()
    }
}
