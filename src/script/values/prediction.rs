//! Predictions as values of scripts.

use super::shown::Shown;
use crate::tune::Prediction;
use rhai::{Dynamic, Engine, Map};

impl Shown for Prediction {
    const NAME: &'static str = "prediction";

    fn full(&self) -> String {
        self.lines().join("\n")
    }

    fn brief(&self) -> String {
        self.lines().into_iter().take(1).collect()
    }

    fn members(engine: &mut Engine) {
        engine
            .register_get("seconds", |p: &mut Prediction| p.seconds)
            .register_get("bound", |p: &mut Prediction| p.bound.clone())
            .register_get("why", |p: &mut Prediction| p.why.clone())
            .register_get("parts", |p: &mut Prediction| -> Map {
                let parts = p.parts.iter();
                parts
                    .map(|(name, seconds)| (name.as_str().into(), Dynamic::from_float(*seconds)))
                    .collect()
            });
    }
}
