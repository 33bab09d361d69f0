//! Statements in straight-line code, with the loops that are unrolled around them there.

use super::shape::{Item, Leaf, Level};

/// A statement in straight-line code, with the unrolled loops around it there.
pub(super) struct Copied<'a> {
    pub leaf: &'a Leaf,
    pub unrolled: Vec<&'a Level>,
}

/// Adds the statements of `items`, all of whose loops are unrolled, to `all`.
pub(super) fn copied<'a>(
    items: &'a [Item],
    unrolled: &mut Vec<&'a Level>,
    all: &mut Vec<Copied<'a>>,
) {
    for item in items {
        match item {
            Item::Leaf(leaf) => all.push(Copied {
                leaf,
                unrolled: unrolled.clone(),
            }),
            Item::Loop(level) => {
                unrolled.push(level);
                copied(&level.body, unrolled, all);
                unrolled.pop();
            }
        }
    }
}

impl<'a> Copied<'a> {
    /// The number of copies that the unrolled loops make that meet a condition.
    pub fn copies(&self, of: impl Fn(&Level) -> bool) -> f64 {
        let levels = self.unrolled.iter().filter(|level| of(level));
        levels.map(|level| level.executions(1.0)).product()
    }

    /// The number of copies with a guard around them: loops with a varying trip count need one.
    pub fn guards(&self) -> f64 {
        let last = self.unrolled.iter().rposition(|level| !level.constant);
        last.map_or(0.0, |last| {
            let levels = self.unrolled[..=last].iter();
            levels.map(|level| level.executions(1.0)).product()
        })
    }

    /// The innermost vector loop, with its lanes.
    pub fn vector(&self) -> Option<(&'a Level, f64)> {
        let mut levels = self.unrolled.iter().rev();
        levels.find_map(|level| Some((*level, level.vector()?)))
    }
}
