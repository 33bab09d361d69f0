//! How a core executes instructions, for the cost model.

use serde::Deserialize;
use std::hash::{Hash, Hasher};

/// How fast a core executes instructions, and how compilers unroll loops for it.
///
/// The default describes a wide out-of-order core. It applies to all processors that no file
/// describes: the cost model compares variants, and a narrower core slows most of them down alike.
/// A file overrides the figures that it names:
///
/// ```json
/// {"name": "little", "instructions": "neon", "pipeline": {"loads_per_cycle": 1, "reorder_buffer": 64}}
/// ```
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pipeline {
    /// Arithmetic instructions that begin per cycle: the number of arithmetic units.
    pub operations_per_cycle: f64,
    /// Loads per cycle, from the nearest cache.
    pub loads_per_cycle: f64,
    /// Stores per cycle, to the nearest cache.
    pub stores_per_cycle: f64,
    /// Instructions of all kinds that are issued per cycle.
    pub instructions_per_cycle: f64,
    /// Latency of a floating-point addition or fused multiply-add, in cycles.
    pub addition_latency: f64,
    /// Latency of a load that gets its value from an earlier store (store forwarding), in cycles.
    pub forwarding_latency: f64,
    /// Size of the reorder buffer, in instructions.
    pub reorder_buffer: f64,
    /// Cycles for which a division of vectors occupies an arithmetic unit.
    pub division_cycles: f64,
    /// Cycles for which a function of vectors, such as `exp`, occupies an arithmetic unit. It has as
    /// many instructions.
    pub function_cycles: f64,
    /// Cycles for which a scalar minimum or maximum occupies an arithmetic unit, since its branch
    /// may be mispredicted.
    pub choice_cycles: f64,
    /// Instructions of a loop beside its body: the counter and the branch.
    pub iteration_instructions: f64,
    /// Cycles to enter a loop.
    pub entry_cycles: f64,
    /// Instructions of the guard around an unrolled copy.
    pub guard_instructions: f64,
    /// Compilers unroll a loop completely up to this many iterations.
    pub unrolled_iterations: f64,
    /// They do so up to this many copies of statements.
    pub unrolled_statements: f64,
}

impl Default for Pipeline {
    fn default() -> Pipeline {
        Pipeline {
            operations_per_cycle: 2.0,
            loads_per_cycle: 2.0,
            stores_per_cycle: 1.0,
            instructions_per_cycle: 6.0,
            // 3 or 4 cycles, depending on the processor.
            addition_latency: 3.5,
            forwarding_latency: 8.0,
            reorder_buffer: 400.0,
            division_cycles: 8.0,
            function_cycles: 40.0,
            choice_cycles: 8.0,
            iteration_instructions: 2.0,
            entry_cycles: 2.0,
            guard_instructions: 4.0,
            // gcc's `max-completely-peel-times`, and about its `max-completely-peeled-insns`.
            unrolled_iterations: 16.0,
            unrolled_statements: 48.0,
        }
    }
}

impl Pipeline {
    /// All figures, with the names that they have in files.
    fn figures(&self) -> [(&'static str, f64); 15] {
        [
            ("operations_per_cycle", self.operations_per_cycle),
            ("loads_per_cycle", self.loads_per_cycle),
            ("stores_per_cycle", self.stores_per_cycle),
            ("instructions_per_cycle", self.instructions_per_cycle),
            ("addition_latency", self.addition_latency),
            ("forwarding_latency", self.forwarding_latency),
            ("reorder_buffer", self.reorder_buffer),
            ("division_cycles", self.division_cycles),
            ("function_cycles", self.function_cycles),
            ("choice_cycles", self.choice_cycles),
            ("iteration_instructions", self.iteration_instructions),
            ("entry_cycles", self.entry_cycles),
            ("guard_instructions", self.guard_instructions),
            ("unrolled_iterations", self.unrolled_iterations),
            ("unrolled_statements", self.unrolled_statements),
        ]
    }

    /// The name of a figure that is not positive, if there is one.
    pub(super) fn not_positive(&self) -> Option<&'static str> {
        let mut figures = self.figures().into_iter();
        let found = figures.find(|(_, figure)| *figure <= 0.0 || figure.is_nan());
        found.map(|(name, _)| name)
    }

    /// The bits of all figures: pipelines are equal if these are.
    fn bits(&self) -> [u64; 15] {
        self.figures().map(|(_, figure)| figure.to_bits())
    }
}

impl PartialEq for Pipeline {
    fn eq(&self, other: &Pipeline) -> bool {
        self.bits() == other.bits()
    }
}

impl Eq for Pipeline {}

impl Hash for Pipeline {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits().hash(state);
    }
}
