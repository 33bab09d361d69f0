//! Straight-line code: the instructions of one execution, and the values that stay in registers.
//!
//! The code is a kernel's body. Accesses that are invariant in the kernel's loop are loaded once
//! before it, and invariant sums stay in registers. Each sum is a dependence chain: a term waits for
//! the one before it. So do the iterations of recurrences (`recurrence.rs`).

use super::copied::Copied;
use super::kernel::Kernel;
use super::loads::Loads;
use super::processor::Processor;
use super::recurrence::{Carrier, Chains, Recurrence};
use super::shape::{Access, Lanes, Level, Shape};
use std::collections::{HashMap, HashSet};

/// At most this many executions of short straight-line code overlap.
const OVERLAP: f64 = 8.0;

/// At most this many registers hold loaded values for several copies at a time, and this many hold
/// those of one vector access: compilers order the copies so that few values are live.
const REUSED: f64 = 8.0;
const REUSED_VECTORS: f64 = 4.0;

/// Straight-line code, in a loop or alone.
pub(super) struct Code<'a> {
    shape: &'a Shape,
    processor: Processor<'a>,
    /// Which tensors are in registers.
    in_registers: &'a [bool],
    /// The loop whose body it is, if there is one.
    level: Option<&'a Level>,
    /// The loops around that, outermost first.
    around: &'a [&'a Level],
    statements: &'a [Copied<'a>],
    /// Iterations of the loop that one instruction executes.
    lanes: f64,
    /// The tensors that it sets: their sums start anew in each iteration.
    set: HashSet<usize>,
    recurrences: Vec<Recurrence>,
}

/// The cost of one execution of straight-line code.
#[derive(Default)]
struct Body {
    /// Elements per instruction, of the widest instructions.
    lanes: f64,
    /// Cycles for which arithmetic occupies a unit.
    arithmetic_cycles: f64,
    /// Number of arithmetic instructions.
    arithmetic: f64,
    /// Number of loads and of stores.
    loads: f64,
    stores: f64,
    /// Number of loads and stores outside of the loop, of what is invariant in it.
    hoisted: f64,
    /// Number of guards around copies.
    guards: f64,
    /// Number of terms of each sum that continues from the last iteration. The key is that of an
    /// [`Operand`].
    terms: HashMap<String, f64>,
    /// Cycles for which an iteration waits for elements of earlier ones, beside these sums.
    recurrence: f64,
    /// Whether some of these need the results of the last iteration.
    is_carried: bool,
    /// Whether an execution needs the results of the last one.
    goes_on: bool,
    /// Cycles for which an execution waits for stores to be forwarded.
    forwarded: f64,
    values: Values,
    /// Number of values that are spilled.
    spilled: f64,
    /// The elements that are loaded.
    known: Loads,
    /// The accesses that were counted, by key, and whether they write.
    seen: HashSet<(String, bool)>,
}

/// Numbers of values that registers hold.
#[derive(Default)]
struct Values {
    /// Sums that stay in registers throughout the loop.
    sums: f64,
    /// Sums that stay there within an iteration if several copies update them, and how many updates
    /// follow their first one.
    updated: f64,
    updated_again: f64,
    /// Loaded values that several copies use.
    reused: f64,
    /// Values that are loaded before the loop.
    invariant: f64,
}

/// An access of a statement.
struct Operand<'a> {
    access: &'a Access,
    of: &'a Copied<'a>,
    /// The element: the tensor and the index.
    key: String,
    /// The number of elements, or of vectors of them, that the copies access.
    places: f64,
    /// Whether a sum is updated.
    is_sum: bool,
    /// Whether each iteration of the loop accesses another element.
    moves: bool,
}

impl<'a> Code<'a> {
    /// Straight-line code in the loop `level`, or alone.
    pub fn new(
        shape: &'a Shape,
        processor: Processor<'a>,
        in_registers: &'a [bool],
        level: Option<&'a Level>,
        around: &'a [&'a Level],
        statements: &'a [Copied<'a>],
    ) -> Code<'a> {
        let leaves = statements.iter().map(|statement| statement.leaf);
        let sets = leaves.filter(|leaf| !leaf.updates);
        let targets = sets.filter_map(|leaf| shape.accesses[leaf.range.clone()].last());
        let set = targets.map(|target| target.tensor).collect();
        let chains = Chains {
            shape,
            pipeline: processor.pipeline,
            level,
            around,
            statements,
        };
        let code = Code {
            shape,
            processor,
            in_registers,
            level,
            around,
            statements,
            lanes: 1.0,
            set,
            recurrences: chains.recurrences(),
        };
        let lanes = level.map_or(1.0, |level| code.lanes_in(level));
        Code { lanes, ..code }
    }

    /// The cycles of `times` executions of its loop, or of itself.
    pub fn kernel(&self, times: f64) -> Kernel {
        let pipeline = self.processor.pipeline;
        let body = self.body();
        let turns = self.level.map_or(1.0, |level| level.executions(self.lanes));
        let instructions = self.instructions(&body);
        let moves = turns * self.move_cycles(&body);
        let issue = turns * instructions / pipeline.instructions_per_cycle;
        let busy = (turns * body.arithmetic_cycles / pipeline.operations_per_cycle).max(moves);
        let entry = self.level.map_or(0.0, |_| pipeline.entry_cycles);
        Kernel {
            leaves: self.statements.iter().map(|s| s.leaf.range.start).collect(),
            name: self.level.map_or_else(String::new, |l| l.name.clone()),
            lanes: body.lanes,
            arithmetic: times * turns * body.arithmetic_cycles / pipeline.operations_per_cycle,
            moves: times * (moves + body.hoisted / pipeline.loads_per_cycle),
            latency: times * self.latency(&body, turns, instructions),
            overhead: times * ((issue - busy).max(0.0) + entry),
            recurs: body.recurrence > pipeline.addition_latency * body.longest_sum(),
            spilled: body.spilled,
        }
    }

    /// The number of instructions of one execution.
    fn instructions(&self, body: &Body) -> f64 {
        let pipeline = self.processor.pipeline;
        let guards = pipeline.guard_instructions * body.guards;
        let others = body.loads + body.stores + pipeline.iteration_instructions + guards;
        body.arithmetic + others
    }

    /// The cycles of the loads and stores of one execution, which overlap.
    fn move_cycles(&self, body: &Body) -> f64 {
        let pipeline = self.processor.pipeline;
        let loads = body.loads / pipeline.loads_per_cycle;
        loads.max(body.stores / pipeline.stores_per_cycle)
    }

    /// The cycles for which `turns` iterations wait for sums and recurrences.
    fn latency(&self, body: &Body, turns: f64, instructions: f64) -> f64 {
        let pipeline = self.processor.pipeline;
        let sums = pipeline.addition_latency * body.longest_sum();
        let chain = turns * sums.max(body.recurrence);
        // Executions of short kernels overlap within the reorder buffer.
        let chained = if body.is_carried { turns } else { 1.0 };
        let most = if body.goes_on { 1.0 } else { OVERLAP };
        let overlap = pipeline.reorder_buffer / (chained * instructions);
        (chain / overlap.clamp(1.0, most)).max(body.forwarded)
    }

    /// The cost of one execution.
    fn body(&self) -> Body {
        let mut body = Body {
            lanes: self.lanes,
            ..Body::default()
        };
        for statement in self.statements {
            self.add_arithmetic(&mut body, statement);
            for access in &self.shape.accesses[statement.leaf.range.clone()] {
                let operand = self.operand(statement, access);
                self.add_waits(&mut body, &operand);
                self.add_access(&mut body, &operand);
            }
        }
        for recurrence in &self.recurrences {
            self.add_recurrence(&mut body, recurrence);
        }
        body.spill(self.processor.registers);
        body
    }

    /// Adds the arithmetic and the guards of a statement.
    fn add_arithmetic(&self, body: &mut Body, statement: &Copied<'_>) {
        let pipeline = self.processor.pipeline;
        let leaf = statement.leaf;
        let vector = statement.vector();
        let is_scalar_choice = leaf.chooses && self.lanes == 1.0 && vector.is_none();
        let choice = if is_scalar_choice {
            pipeline.choice_cycles
        } else {
            0.0
        };
        let operations = leaf.operations;
        let functions = pipeline.function_cycles * operations.functions;
        let divisions = pipeline.division_cycles * operations.divisions;
        let copies = statement.copies(|_| true);
        body.lanes = body.lanes.max(vector.map_or(1.0, |(_, lanes)| lanes));
        body.arithmetic_cycles += copies * (choice + operations.simple + divisions + functions);
        body.arithmetic += copies * (operations.simple + operations.divisions + functions);
        body.guards += statement.guards();
    }

    fn operand(&self, of: &'a Copied<'a>, access: &'a Access) -> Operand<'a> {
        Operand {
            access,
            of,
            key: format!("{}{:?}", access.tensor, access.index),
            places: of.copies(|level| access.moves(level.depth)),
            is_sum: access.writes && of.leaf.updates,
            moves: self.level.is_some_and(|level| access.moves(level.depth)),
        }
    }

    /// Adds the terms of a sum to its chain, or the wait for the store of the last term.
    fn add_waits(&self, body: &mut Body, operand: &Operand<'_>) {
        let access = operand.access;
        if !operand.is_sum {
            return;
        }
        if self.level.is_some() && (self.in_registers[access.tensor] || !operand.moves) {
            let terms = operand.of.copies(|level| !access.moves(level.depth));
            *body.terms.entry(operand.key.clone()).or_default() += terms;
            body.is_carried |= !self.set.contains(&access.tensor);
        } else {
            let pipeline = self.processor.pipeline;
            let wait = pipeline.forwarding_latency + pipeline.addition_latency;
            body.forwarded = body.forwarded.max(wait * waits(access, self.around));
        }
    }

    /// Adds the wait for an element of an earlier iteration.
    fn add_recurrence(&self, body: &mut Body, recurrence: &Recurrence) {
        let cycles = recurrence.cycles;
        match recurrence.carrier {
            Carrier::Kernel { distance, goes_on } => {
                body.recurrence = body.recurrence.max(cycles * self.lanes / distance);
                body.is_carried = true;
                body.goes_on |= goes_on;
            }
            Carrier::Unrolled { waits, is_carried } => {
                body.recurrence = body.recurrence.max(cycles * waits);
                body.is_carried |= is_carried;
            }
            Carrier::Around(share) => {
                let wait = self.processor.pipeline.forwarding_latency + cycles;
                body.forwarded = body.forwarded.max(share * wait);
            }
        }
    }

    /// Adds the loads and stores of an access, and the values that it keeps in registers.
    fn add_access(&self, body: &mut Body, operand: &Operand<'a>) {
        let Operand { access, places, .. } = *operand;
        let is_new = body.seen.insert((operand.key.clone(), access.writes));
        if !is_new {
            body.values.updated_again += if operand.is_sum { places } else { 0.0 };
            return;
        }
        if operand.is_sum && operand.moves {
            body.values.updated += places;
        }
        if self.in_registers[access.tensor] {
            body.values.sums += if access.writes { places } else { 0.0 };
        } else if self.level.is_some() && !operand.moves {
            body.hoisted += places * self.gathers(operand);
            body.values.invariant += if access.writes { 0.0 } else { places };
            body.values.sums += if operand.is_sum { places } else { 0.0 };
        } else {
            self.add_moves(body, operand);
        }
    }

    /// Adds the loads and stores of an access to memory in each execution.
    fn add_moves(&self, body: &mut Body, operand: &Operand<'a>) {
        let Operand {
            access, of, places, ..
        } = *operand;
        let gathers = self.gathers(operand);
        if access.writes {
            body.stores += places * gathers;
        } else {
            let new = body.known.add(access, &of.unrolled);
            body.loads += gathers * new.unwrap_or(places);
        }
        if operand.is_sum {
            body.loads += places * gathers;
        }
        if !access.writes && places < of.copies(|_| true) {
            let is_vector = of.vector().is_some();
            body.values.reused += if is_vector {
                places.min(REUSED_VECTORS)
            } else {
                1.0
            };
        }
    }

    /// The number of instructions of an access in all lanes.
    fn gathers(&self, operand: &Operand<'_>) -> f64 {
        let own = || Some((self.level?, self.lanes));
        match operand.of.vector().or_else(own) {
            Some((level, lanes)) if lanes > 1.0 && !near(operand.access, level) => lanes,
            _ => 1.0,
        }
    }

    /// Iterations of its loop per instruction.
    fn lanes_in(&self, level: &Level) -> f64 {
        let accesses = |s: &Copied<'_>| &self.shape.accesses[s.leaf.range.clone()];
        let all = || self.statements.iter().flat_map(accesses);
        let elements = all().map(|access| self.shape.arrays[access.tensor].element);
        let most = self.processor.vector_bytes / elements.fold(4.0, f64::max);
        let is_alone = self.statements.iter().all(|s| s.unrolled.is_empty());
        let is_sum = |s: &Copied<'_>| {
            let target = accesses(s).last();
            s.leaf.updates && target.is_some_and(|target| !target.moves(level.depth))
        };
        let has_sums = self.statements.iter().any(is_sum);
        let chooses = self.statements.iter().any(|s| s.leaf.chooses);
        let is_short = |r: &Recurrence| matches!(r.carrier, Carrier::Kernel { distance, .. } if distance < most);
        let waits = self.recurrences.iter().any(is_short);
        match level.lanes {
            Lanes::Vector(lanes) => lanes,
            Lanes::Compiler | Lanes::One if chooses => 1.0,
            Lanes::Compiler => most,
            // The compiler vectorizes such loops, unless that reorders a sum or a recurrence.
            Lanes::One if waits => 1.0,
            Lanes::One if is_alone && !has_sums && all().all(|a| near(a, level)) => most,
            Lanes::One => 1.0,
        }
    }
}

impl Body {
    /// The number of terms of the longest sum that continues from the last iteration.
    fn longest_sum(&self) -> f64 {
        self.terms.values().copied().fold(0.0, f64::max)
    }

    /// Adds the stores and loads of what does not fit in the registers.
    fn spill(&mut self, registers: f64) {
        let values = &self.values;
        let is_updated_again = values.updated_again > 0.0;
        // Sums that several copies update stay in registers while there are enough of them.
        let updated = if is_updated_again {
            values.updated
        } else {
            0.0
        };
        let needed = values.sums + updated + values.reused.min(REUSED);
        let free = (registers - needed).max(0.0);
        let lacking = (needed - registers).max(0.0);
        let sums = if lacking > 0.0 && is_updated_again {
            values.updated_again
        } else {
            lacking
        };
        // Values that several copies read are spilled if there are too few registers.
        let shared = (self.known.shared() - free).max(0.0);
        // Loop-invariant values are reloaded if there are too few registers.
        let reloaded = (values.invariant - free).max(0.0);
        self.spilled = sums + shared;
        self.loads += self.spilled + reloaded;
        self.stores += self.spilled;
    }
}

/// The share of a kernel's executions that wait for store forwarding: the next iteration of a loop
/// in which a sum is invariant reads it from memory.
fn waits(access: &Access, around: &[&Level]) -> f64 {
    let moving = around.iter().rev().take_while(|l| access.moves(l.depth));
    let count = moving.clone().count();
    if count < around.len() {
        1.0 / moving.map(|l| l.trips.max(1.0)).product::<f64>()
    } else {
        0.0
    }
}

/// Whether the access is invariant or unit-stride in a loop.
fn near(access: &Access, level: &Level) -> bool {
    let strides: Vec<f64> = access.strides(level.depth).collect();
    match strides.split_last() {
        Some((last, outer)) => outer.iter().all(|s| *s == 0.0) && (*last == 0.0 || *last == 1.0),
        None => true,
    }
}
