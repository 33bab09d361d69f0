//! The instructions of one thread, in cycles: arithmetic, loads and stores, the latency of sums,
//! and the overhead of loops.
//!
//! Unrolled loops, and short loops that compilers unroll, make straight-line code. The loop around
//! it is a kernel. Accesses that are invariant in that loop are loaded once before it, and
//! invariant sums stay in registers. Each sum is a dependence chain: a term waits for the one
//! before it.

use super::shape::{Access, Item, Lanes, Leaf, Level, Place, Shape};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The cycles of a kernel over all its executions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Kernel {
    /// The first accesses of its statements.
    pub leaves: Vec<usize>,
    /// The name of its loop.
    pub name: String,
    /// Elements per instruction.
    pub lanes: f64,
    pub arithmetic: f64,
    pub moves: f64,
    pub latency: f64,
    /// Instructions at the start and end of loops, and calls.
    pub overhead: f64,
    /// Values that are spilled.
    pub spilled: f64,
}

impl Kernel {
    /// The resources with their cycles, and a reason each.
    pub fn parts(&self) -> [(&'static str, f64, String); 4] {
        let name = &self.name;
        let vectors = if self.lanes > 1.0 {
            format!(
                "the loop `{name}` computes {:.0} elements at a time",
                self.lanes
            )
        } else {
            format!("the loop `{name}` has no vectors")
        };
        let moves = if self.spilled > 0.0 {
            format!("the loop `{name}` needs {:.0} more registers", self.spilled)
        } else {
            format!("the loop `{name}` loads and stores more than it computes")
        };
        let latency = format!("the sum in `{name}` waits for its last term");
        let overhead = format!("the loop `{name}` is short, and begins and ends often");
        [
            ("arithmetic", self.arithmetic, vectors),
            ("loads and stores", self.moves, moves),
            ("latency", self.latency, latency),
            ("loop overhead", self.overhead, overhead),
        ]
    }
}

/// Operations, loads and stores per cycle.
const UNITS: f64 = 2.0;
const LOADS: f64 = 2.0;
const STORES: f64 = 1.0;
const ISSUE: f64 = 6.0;

/// Latency in cycles of an addition, and of a store forwarded to a load.
const ADD: f64 = 3.5;
const FORWARD: f64 = 8.0;

/// Size of the reorder buffer, in instructions.
const AHEAD: f64 = 400.0;

/// Issue slots of the guard around an unrolled copy.
const GUARD: f64 = 4.0;

/// Cycles of other operations on a vector.
const DIVISION: f64 = 8.0;
const FUNCTION: f64 = 40.0;

/// Cycles of a scalar minimum or maximum.
const CHOICE: f64 = 8.0;

/// Overhead instructions of an iteration, and cycles to enter a loop.
const ITERATION: f64 = 2.0;
const ENTRY: f64 = 2.0;

/// Compilers unroll loops with at most this many iterations, and this many copies of statements in
/// all.
const SHORT: f64 = 16.0;
const COPIES: f64 = 48.0;

/// The kernels of a shape; `vector` is the size of vector registers in bytes, and their number.
pub(super) fn of(shape: &Shape, vector: (f64, f64)) -> Vec<Kernel> {
    let mut registers = vec![true; shape.arrays.len()];
    mark(shape, &shape.items, &mut Vec::new(), &mut registers);
    let mut reader = Reader {
        shape,
        vector,
        registers,
        kernels: Vec::new(),
    };
    reader.sequence(&shape.items, 1.0, &mut Vec::new());
    reader.kernels
}

/// Finds the tensors that can be in registers: only unrolled loops index them.
fn mark<'s>(
    shape: &'s Shape,
    items: &'s [Item],
    around: &mut Vec<(&'s Level, bool)>,
    registers: &mut [bool],
) {
    for item in items {
        match item {
            Item::Loop(level) => {
                around.push((level, straight_loop(level).is_some()));
                mark(shape, &level.body, around, registers);
                around.pop();
            }
            Item::Leaf(leaf) => {
                for access in &shape.accesses[leaf.range.clone()] {
                    let place = shape.arrays[access.tensor].place;
                    let fixed = around
                        .iter()
                        .all(|(l, is_copied)| *is_copied || !access.moves(l.depth));
                    registers[access.tensor] &= place == Place::Registers && fixed;
                }
            }
        }
    }
}

/// How many times the body of a loop is executed if an instruction has that many lanes.
fn vectors(level: &Level, lanes: f64) -> f64 {
    match level.lanes {
        Lanes::Vector(lanes) => {
            let whole = (level.trips / lanes).floor();
            let rest = level.trips - whole * lanes;
            // The remainder is one shorter or masked vector.
            whole + if rest > 0.0 { 1.0 } else { 0.0 }
        }
        _ => (level.trips / lanes).max(1.0),
    }
}

fn lanes_of(level: &Level) -> f64 {
    match level.lanes {
        Lanes::Vector(lanes) => lanes,
        _ => 1.0,
    }
}

fn is_vector(chain: &[&Level]) -> bool {
    chain.iter().any(|l| matches!(l.lanes, Lanes::Vector(_)))
}

/// The number of statement copies of a body, if it is straight-line code.
fn straight(items: &[Item]) -> Option<f64> {
    let each = items.iter().map(|item| match item {
        Item::Leaf(_) => Some(1.0),
        Item::Loop(level) => straight_loop(level),
    });
    each.sum()
}

/// The same for an unrolled loop.
fn straight_loop(level: &Level) -> Option<f64> {
    let inner = straight(&level.body)?;
    let copies = vectors(level, 1.0) * inner;
    let short = level
        .most
        .is_some_and(|most| most <= SHORT * lanes_of(level));
    let is_short = short && copies <= COPIES && level.lanes != Lanes::Compiler;
    (level.copies || is_short).then_some(copies)
}

struct Reader<'a> {
    shape: &'a Shape,
    vector: (f64, f64),
    /// Which tensors are in registers.
    registers: Vec<bool>,
    kernels: Vec<Kernel>,
}

/// A statement in straight-line code, with the loops around it there.
struct Copied<'a> {
    leaf: &'a Leaf,
    chain: Vec<&'a Level>,
}

fn copied<'a>(items: &'a [Item], chain: &mut Vec<&'a Level>, all: &mut Vec<Copied<'a>>) {
    for item in items {
        match item {
            Item::Leaf(leaf) => all.push(Copied {
                leaf,
                chain: chain.clone(),
            }),
            Item::Loop(level) => {
                chain.push(level);
                copied(&level.body, chain, all);
                chain.pop();
            }
        }
    }
}

impl Reader<'_> {
    fn sequence<'l>(&mut self, items: &'l [Item], times: f64, around: &mut Vec<&'l Level>) {
        let (plain, loops): (Vec<&Item>, Vec<&Item>) = items
            .iter()
            .partition(|item| straight(std::slice::from_ref(item)).is_some());
        let mut all = Vec::new();
        for item in plain {
            copied(std::slice::from_ref(item), &mut Vec::new(), &mut all);
        }
        if !all.is_empty() {
            self.kernel(None, &all, times, around);
        }
        for item in loops {
            if let Item::Loop(level) = item {
                self.level(level, times, around);
            }
        }
    }

    fn level<'l>(&mut self, level: &'l Level, times: f64, around: &mut Vec<&'l Level>) {
        if straight(&level.body).is_some() {
            let mut all = Vec::new();
            copied(&level.body, &mut Vec::new(), &mut all);
            self.kernel(Some(level), &all, times, around);
            return;
        }
        self.kernels.push(Kernel {
            name: level.name.clone(),
            lanes: 1.0,
            overhead: times * (level.trips * ITERATION / ISSUE * 2.0 + ENTRY),
            ..Kernel::default()
        });
        around.push(level);
        self.sequence(&level.body, times * level.trips, around);
        around.pop();
    }

    /// Straight-line code, in a loop or alone, that is executed `times` times.
    fn kernel(&mut self, level: Option<&Level>, all: &[Copied<'_>], times: f64, around: &[&Level]) {
        let own = level.map_or(1.0, |level| self.lanes(level, all));
        let turns = level.map_or(1.0, |level| vectors(level, own));
        let moved = |access: &Access| level.is_some_and(|level| access.moves(level.depth));
        let mut instructions = 0.0;
        let (mut arithmetic, mut loads, mut stores, mut once) = (0.0, 0.0, 0.0, 0.0);
        let (mut sums, mut held) = (0.0, 0.0);
        let mut chains: HashMap<String, f64> = HashMap::new();
        // Sums that start anew in each iteration do not wait for the previous iteration.
        let leaves = all.iter().map(|c| c.leaf).filter(|leaf| !leaf.updates);
        let set = leaves.filter_map(|leaf| self.shape.accesses[leaf.range.clone()].last());
        let set: HashSet<usize> = set.map(|target| target.tensor).collect();
        let mut begins_anew = true;
        let mut forwards: f64 = 0.0;
        let mut lanes = own;
        let mut seen: BTreeMap<String, ()> = BTreeMap::new();
        let mut read = Read::default();
        let (mut guards, mut live, mut again, mut kept) = (0.0, 0.0, 0.0, 0.0);
        for Copied { leaf, chain } in all {
            let lane = chain.iter().rev().find_map(|l| match l.lanes {
                Lanes::Vector(n) => Some(n),
                _ => None,
            });
            lanes = f64::max(lanes, lane.unwrap_or(1.0));
            let count: f64 = chain.iter().map(|l| vectors(l, 1.0)).product();
            // Each copy of a loop with a varying trip count has a guard.
            let guarded = chain.iter().rposition(|l| !l.constant);
            let guarded = guarded.map(|k| chain[..=k].iter().map(|l| vectors(l, 1.0)).product());
            guards += guarded.unwrap_or(0.0);
            let chosen = if leaf.chooses && own == 1.0 && !is_vector(chain) {
                CHOICE
            } else {
                0.0
            };
            let work = chosen + leaf.simple + DIVISION * leaf.divisions + FUNCTION * leaf.functions;
            arithmetic += count * work;
            instructions += count * (leaf.simple + leaf.divisions + FUNCTION * leaf.functions);
            for access in &self.shape.accesses[leaf.range.clone()] {
                let places = chain.iter().filter(|l| access.moves(l.depth));
                let places: f64 = places.map(|l| vectors(l, 1.0)).product();
                let key = format!("{}{:?}", access.tensor, access.index);
                let is_sum = access.writes && leaf.updates;
                let fixed = self.registers[access.tensor] || !moved(access);
                if is_sum && level.is_some() && fixed {
                    let still = chain.iter().filter(|l| !access.moves(l.depth));
                    let still: f64 = still.map(|l| vectors(l, 1.0)).product();
                    *chains.entry(key.clone()).or_default() += still;
                    begins_anew &= set.contains(&access.tensor);
                }
                if is_sum && !(level.is_some() && fixed) {
                    forwards = forwards.max(waits(access, around));
                }
                let is_new = seen.insert(format!("{key}{}", access.writes), ()).is_none();
                if !is_new {
                    again += if is_sum { places } else { 0.0 };
                    continue;
                }
                live += if is_sum && moved(access) { places } else { 0.0 };
                if self.registers[access.tensor] {
                    if access.writes {
                        sums += places;
                    }
                    continue;
                }
                let gathers = self.gathers(access, level, chain, own);
                let amount = places * gathers;
                if level.is_some() && !moved(access) {
                    once += amount;
                    kept += if access.writes { 0.0 } else { places };
                    if is_sum {
                        sums += places;
                    }
                    continue;
                }
                if access.writes {
                    stores += amount
                } else {
                    loads += gathers * read.add(access, chain).unwrap_or(places)
                }
                if is_sum {
                    loads += amount;
                }
                // A value that several copies use is held in a register.
                if !access.writes && places < count {
                    held += if lane.is_some() { places.min(4.0) } else { 1.0 };
                }
            }
        }
        // Sums that several copies update stay in registers while there are enough of them.
        let live = if again > 0.0 { live } else { 0.0 };
        let needed = sums + live + held.min(8.0);
        let mut spilled = (needed - self.vector.1).max(0.0);
        if spilled > 0.0 && again > 0.0 {
            spilled = again;
        }
        // Values that several copies read are spilled if there are too few registers.
        let shared = (read.shared() - (self.vector.1 - needed).max(0.0)).max(0.0);
        spilled += shared;
        // Loop-invariant values are reloaded if there are too few registers.
        loads += spilled + (kept - (self.vector.1 - needed).max(0.0)).max(0.0);
        stores += spilled;
        instructions += loads + stores + ITERATION + GUARD * guards;
        let longest = chains.values().copied().fold(0.0, f64::max);
        let mut latency = turns * longest * ADD;
        // Executions of short kernels overlap within the reorder buffer.
        if level.is_some() {
            let executed = if begins_anew { 1.0 } else { turns };
            latency /= (AHEAD / (executed * instructions)).clamp(1.0, 8.0);
        }
        latency = latency.max(forwards * (FORWARD + ADD));
        let issue = turns * instructions / ISSUE;
        let entry = if level.is_some() { ENTRY } else { 0.0 };
        let busy = (turns * arithmetic / UNITS).max(turns * (loads / LOADS).max(stores / STORES));
        self.kernels.push(Kernel {
            leaves: all.iter().map(|c| c.leaf.range.start).collect(),
            name: level.map_or_else(String::new, |level| level.name.clone()),
            lanes,
            arithmetic: times * turns * arithmetic / UNITS,
            moves: times * (turns * (loads / LOADS).max(stores / STORES) + once / LOADS),
            latency: times * latency,
            overhead: times * ((issue - busy).max(0.0) + entry),
            spilled,
        });
    }

    /// Iterations of a kernel's loop per instruction.
    fn lanes(&self, level: &Level, all: &[Copied<'_>]) -> f64 {
        let accesses = all
            .iter()
            .flat_map(|c| &self.shape.accesses[c.leaf.range.clone()]);
        let accesses: Vec<&Access> = accesses.collect();
        let element = accesses.iter().map(|a| self.shape.arrays[a.tensor].element);
        let most = self.vector.0 / element.fold(4.0, f64::max);
        let is_alone = all.iter().all(|c| c.chain.is_empty());
        let sums = all.iter().any(|c| {
            let target = self.shape.accesses[c.leaf.range.clone()].last();
            c.leaf.updates && target.is_some_and(|t| !t.moves(level.depth))
        });
        let chooses = all.iter().any(|c| c.leaf.chooses);
        match level.lanes {
            Lanes::Vector(lanes) => lanes,
            Lanes::Compiler | Lanes::One if chooses => 1.0,
            Lanes::Compiler => most,
            // The compiler vectorizes such loops, unless that reorders a sum.
            Lanes::One if is_alone && !sums && accesses.iter().all(|a| near(a, level)) => most,
            Lanes::One => 1.0,
        }
    }

    /// The number of instructions of an access in all lanes.
    fn gathers(&self, access: &Access, level: Option<&Level>, chain: &[&Level], own: f64) -> f64 {
        let lane = chain.iter().rev().find_map(|l| match l.lanes {
            Lanes::Vector(n) => Some((*l, n)),
            _ => None,
        });
        let lane = lane.or_else(|| Some((level?, own)));
        match lane {
            Some((level, lanes)) if lanes > 1.0 && !near(access, level) => lanes,
            _ => 1.0,
        }
    }
}

/// Larger footprints are not tracked.
const FOLLOWED: f64 = 1024.0;

/// The reads of straight-line code: a value that several accesses read is loaded once.
#[derive(Default)]
struct Read {
    /// Number of accesses that read each vector or element. The key is a tensor, the strides in the
    /// surrounding loops, and the offset.
    accesses: HashMap<(usize, String, Vec<i64>), usize>,
}

impl Read {
    /// Adds an access in the unrolled loops of `chain`, and returns the number of new loads; `None`
    /// if there are too many to track.
    fn add(&mut self, access: &Access, chain: &[&Level]) -> Option<f64> {
        let moving = || chain.iter().filter(|l| access.moves(l.depth));
        let copies: f64 = moving().map(|l| vectors(l, 1.0)).product();
        if copies > FOLLOWED {
            return None;
        }
        let offsets = access.index.iter().map(|linear| linear[0] as i64);
        let mut places: Vec<Vec<i64>> = vec![offsets.collect()];
        for level in moving() {
            let strides: Vec<f64> = access.strides(level.depth).collect();
            let copies = vectors(level, 1.0) as i64;
            let at = |place: &Vec<i64>, copy: i64| {
                let by = strides
                    .iter()
                    .map(|s| *s as i64 * copy * lanes_of(level) as i64);
                place.iter().zip(by).map(|(p, by)| p + by).collect()
            };
            let each = places
                .iter()
                .flat_map(|place| (0..copies).map(move |copy| (place, copy)));
            places = each.map(|(place, copy)| at(place, copy)).collect();
        }
        let is_copied = |depth: usize| chain.iter().any(|l| l.depth == depth);
        let around: Vec<Vec<f64>> = (0..access.trips.len())
            .filter(|depth| !is_copied(*depth))
            .map(|depth| access.strides(depth).collect())
            .collect();
        let around = format!("{around:?}");
        let mut new = 0.0;
        for place in places {
            let count = self
                .accesses
                .entry((access.tensor, around.clone(), place))
                .or_default();
            new += if *count == 0 { 1.0 } else { 0.0 };
            *count += 1;
        }
        Some(new)
    }

    /// Number of values that several accesses read.
    fn shared(&self) -> f64 {
        self.accesses.values().filter(|count| **count > 1).count() as f64
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
