//! The instructions of one thread, in cycles: arithmetic, loads and stores, the latency of sums,
//! and the overhead of loops.
//!
//! Unrolled loops, and short loops that compilers unroll, make straight-line code (`code.rs`). The
//! loop around it is a kernel.

use super::code::Code;
use super::copied::{Copied, copied};
use super::kernel::Kernel;
use super::processor::Processor;
use super::shape::{Item, Level, Place, Shape};

/// How many times the issue of its instructions an iteration of an outer loop costs: they overlap
/// less with the body than those of a kernel's loop.
const OUTER: f64 = 2.0;

/// The kernels of a shape.
pub(super) fn of(shape: &Shape, processor: Processor<'_>) -> Vec<Kernel> {
    let mut in_registers = vec![true; shape.arrays.len()];
    mark(
        processor,
        shape,
        &shape.items,
        &mut Vec::new(),
        &mut in_registers,
    );
    let mut reader = Reader {
        shape,
        processor,
        in_registers,
        kernels: Vec::new(),
    };
    reader.sequence(&shape.items, 1.0, &mut Vec::new());
    reader.kernels
}

/// Finds the tensors that can be in registers: only unrolled loops index them.
fn mark<'s>(
    processor: Processor<'_>,
    shape: &'s Shape,
    items: &'s [Item],
    around: &mut Vec<(&'s Level, bool)>,
    in_registers: &mut [bool],
) {
    for item in items {
        match item {
            Item::Loop(level) => {
                around.push((level, processor.unrolled_loop(level).is_some()));
                mark(processor, shape, &level.body, around, in_registers);
                around.pop();
            }
            Item::Leaf(leaf) => {
                for access in &shape.accesses[leaf.range.clone()] {
                    let place = shape.arrays[access.tensor].place;
                    let fixed = around
                        .iter()
                        .all(|(l, is_copied)| *is_copied || !access.moves(l.depth));
                    in_registers[access.tensor] &= place == Place::Registers && fixed;
                }
            }
        }
    }
}

struct Reader<'a> {
    shape: &'a Shape,
    processor: Processor<'a>,
    /// Which tensors are in registers.
    in_registers: Vec<bool>,
    kernels: Vec<Kernel>,
}

impl Reader<'_> {
    fn sequence<'l>(&mut self, items: &'l [Item], times: f64, around: &mut Vec<&'l Level>) {
        let (plain, loops): (Vec<&Item>, Vec<&Item>) = items.iter().partition(|item| {
            self.processor
                .unrolled(std::slice::from_ref(item))
                .is_some()
        });
        let mut statements = Vec::new();
        for item in plain {
            let item = std::slice::from_ref(item);
            copied(item, &mut Vec::new(), &mut statements);
        }
        if !statements.is_empty() {
            self.kernel(None, &statements, times, around);
        }
        for item in loops {
            if let Item::Loop(level) = item {
                self.level(level, times, around);
            }
        }
    }

    fn level<'l>(&mut self, level: &'l Level, times: f64, around: &mut Vec<&'l Level>) {
        if self.processor.unrolled(&level.body).is_some() {
            let mut statements = Vec::new();
            copied(&level.body, &mut Vec::new(), &mut statements);
            self.kernel(Some(level), &statements, times, around);
            return;
        }
        let pipeline = self.processor.pipeline;
        let issue = level.trips * pipeline.iteration_instructions / pipeline.instructions_per_cycle;
        self.kernels.push(Kernel {
            name: level.name.clone(),
            lanes: 1.0,
            overhead: times * (issue * OUTER + pipeline.entry_cycles),
            ..Kernel::default()
        });
        around.push(level);
        self.sequence(&level.body, times * level.trips, around);
        around.pop();
    }

    /// Adds straight-line code, in a loop or alone, that is executed `times` times.
    fn kernel(
        &mut self,
        level: Option<&Level>,
        statements: &[Copied<'_>],
        times: f64,
        around: &[&Level],
    ) {
        let code = Code::new(
            self.shape,
            self.processor,
            &self.in_registers,
            level,
            around,
            statements,
        );
        self.kernels.push(code.kernel(times));
    }
}
