//! A core of a processor, as the model sees it, with the compiler that unrolls loops for it.

use super::shape::{Item, Lanes, Level};
use crate::target::Pipeline;

/// A core that executes instructions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Processor<'a> {
    pub pipeline: &'a Pipeline,
    /// The size of a vector register, in bytes.
    pub vector_bytes: f64,
    /// The number of vector registers.
    pub registers: f64,
}

impl Processor<'_> {
    /// The number of statement copies of a body, if it is straight-line code.
    pub fn unrolled(self, items: &[Item]) -> Option<f64> {
        let each = items.iter().map(|item| match item {
            Item::Leaf(_) => Some(1.0),
            Item::Loop(level) => self.unrolled_loop(level),
        });
        each.sum()
    }

    /// The same for an unrolled loop.
    pub fn unrolled_loop(self, level: &Level) -> Option<f64> {
        let inner = self.unrolled(&level.body)?;
        let copies = level.executions(1.0) * inner;
        let lanes = level.vector().unwrap_or(1.0);
        let most_iterations = self.pipeline.unrolled_iterations * lanes;
        let is_short = level.most.is_some_and(|most| most <= most_iterations)
            && copies <= self.pipeline.unrolled_statements
            && level.lanes != Lanes::Compiler;
        (level.copies || is_short).then_some(copies)
    }
}
