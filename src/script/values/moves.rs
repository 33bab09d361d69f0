//! The steps that are legal next, as scripts see them.

use super::shown::Shown;
use crate::advice::{Move, Moves};
use crate::report;
use rhai::{Array, Dynamic, Engine, EvalAltResult, FnPtr, NativeCallContext};
use std::sync::Arc;

/// Moves of a nest, as scripts see them.
#[derive(Clone)]
pub struct Listed {
    of: Arc<Moves>,
    /// Which of them.
    kept: Vec<usize>,
}

/// One of them.
#[derive(Clone)]
pub struct One {
    of: Arc<Moves>,
    number: usize,
}

impl One {
    /// The call.
    pub fn text(&self) -> String {
        self.step().call.clone()
    }

    pub fn step(&self) -> &Move {
        &self.of.list[self.number]
    }
}

impl Listed {
    /// All of them.
    pub fn new(of: Arc<Moves>) -> Listed {
        let kept = (0..of.list.len()).collect();
        Listed { of, kept }
    }

    fn one(&self, number: usize) -> One {
        let of = self.of.clone();
        One { of, number }
    }

    fn all(&self) -> Vec<Dynamic> {
        let all = self.kept.iter().map(|k| Dynamic::from(self.one(*k)));
        all.collect()
    }

    /// How many there are, in words.
    pub fn summary(&self) -> String {
        match self.kept.len() {
            1 => "1 move".to_owned(),
            count => format!("{count} moves"),
        }
    }

    /// The moves that these are of.
    pub fn all_moves(&self) -> Arc<Moves> {
        self.of.clone()
    }

    /// One row per loop.
    pub fn table(&self) -> String {
        let list: Vec<&Move> = self.kept.iter().map(|k| &self.of.list[*k]).collect();
        report::moves(&self.of, &list, &|_| None)
    }
}

impl IntoIterator for Listed {
    type Item = Dynamic;
    type IntoIter = std::vec::IntoIter<Dynamic>;

    fn into_iter(self) -> Self::IntoIter {
        self.all().into_iter()
    }
}

impl Shown for One {
    const NAME: &'static str = "move";

    fn full(&self) -> String {
        self.text()
    }

    fn brief(&self) -> String {
        self.text()
    }

    fn members(engine: &mut Engine) {
        engine
            .register_get("op", |m: &mut One| m.step().op)
            .register_get("at", |m: &mut One| m.step().at.to_string())
            .register_get("text", |m: &mut One| m.text())
            .register_get("loops", |m: &mut One| -> Array {
                let loops = m.step().loops().into_iter();
                loops.map(|name| Dynamic::from(name.to_owned())).collect()
            });
    }
}

impl Shown for Listed {
    const NAME: &'static str = "moves";

    fn full(&self) -> String {
        self.table()
    }

    fn brief(&self) -> String {
        self.summary()
    }

    fn members(engine: &mut Engine) {
        type Result<T> = std::result::Result<T, Box<EvalAltResult>>;
        engine
            .register_iterator::<Listed>()
            .register_get("list", |m: &mut Listed| m.all())
            .register_get("len", |m: &mut Listed| m.kept.len() as i64)
            .register_fn("len", |m: &mut Listed| m.kept.len() as i64)
            .register_indexer_get(|m: &mut Listed, k: i64| -> Result<One> {
                let kept = usize::try_from(k).ok().and_then(|k| m.kept.get(k));
                let outside =
                    || EvalAltResult::ErrorArrayBounds(m.kept.len(), k, rhai::Position::NONE);
                kept.map(|k| m.one(*k)).ok_or_else(|| outside().into())
            })
            .register_fn(
                "filter",
                |context: NativeCallContext, m: &mut Listed, keep: FnPtr| -> Result<Listed> {
                    let mut kept = Vec::new();
                    for k in &m.kept {
                        let one = Dynamic::from(m.one(*k));
                        if keep
                            .call_raw(&context, None, [one])?
                            .as_bool()
                            .unwrap_or(false)
                        {
                            kept.push(*k);
                        }
                    }
                    let of = m.of.clone();
                    Ok(Listed { of, kept })
                },
            );
    }
}
