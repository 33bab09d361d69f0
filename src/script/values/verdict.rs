//! Verdicts as values of scripts.

use super::shown::Shown;
use crate::verbs::Checked;
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
