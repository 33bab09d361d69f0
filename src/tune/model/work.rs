//! The instructions of one thread: arithmetic, loads and stores, the latency of sums, and the
//! overhead of loops, in cycles.

use super::shape::{Access, Item, Leaf, Level, Shape};
use std::collections::HashSet;

/// Cycles.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Work {
    arithmetic: f64,
    moves: f64,
    latency: f64,
    overhead: f64,
    /// The innermost loop that takes the most arithmetic, and whether it has vectors.
    innermost: Option<(String, bool, f64)>,
}

impl Work {
    /// The resources, with a reason each.
    pub fn parts(&self) -> [(&'static str, f64, String); 4] {
        let name = self.innermost.as_ref().map_or("", |(name, ..)| name);
        let vectors = match &self.innermost {
            Some((_, true, _)) => format!("the vector loop `{name}` computes at full rate"),
            _ => format!("the loop `{name}` has no vectors"),
        };
        [
            ("arithmetic", self.arithmetic, vectors),
            (
                "loads and stores",
                self.moves,
                format!("the loop `{name}` loads and stores more than it computes"),
            ),
            (
                "latency",
                self.latency,
                format!("the sum in `{name}` waits for its last term"),
            ),
            (
                "loop overhead",
                self.overhead,
                "short loops begin and end often".to_owned(),
            ),
        ]
    }

    fn add(&mut self, other: Work, times: f64) {
        self.arithmetic += times * other.arithmetic;
        self.moves += times * other.moves;
        self.latency += times * other.latency;
        self.overhead += times * other.overhead;
        let scaled = other
            .innermost
            .map(|(name, vector, most)| (name, vector, times * most));
        let own = self.innermost.as_ref().map_or(0.0, |(.., most)| *most);
        if let Some(scaled) = scaled.filter(|(.., most)| *most >= own) {
            self.innermost = Some(scaled);
        }
    }
}

/// Operations, loads and stores in each cycle.
const UNITS: f64 = 2.0;
const LOADS: f64 = 2.0;
const STORES: f64 = 1.0;

/// Cycles until the next term can be added to a sum.
const ADD: f64 = 4.0;

/// Cycles of an iteration beside what it computes, and of a loop.
const ITERATION: f64 = 1.0;
const ENTRY: f64 = 4.0;

/// Loops of more iterations are not unrolled.
const UNROLLED: f64 = 64.0;

/// The work of a shape, with vector registers of so many bytes and so many of them.
pub(super) fn of(shape: &Shape, vector: (f64, f64)) -> Work {
    let reader = Reader { shape, vector };
    reader.sequence(&shape.items)
}

struct Reader<'a> {
    shape: &'a Shape,
    vector: (f64, f64),
}

impl Reader<'_> {
    fn sequence(&self, items: &[Item]) -> Work {
        let mut work = Work::default();
        let leaves: Vec<&Leaf> = items
            .iter()
            .filter_map(|item| match item {
                Item::Leaf(leaf) => Some(leaf),
                Item::Loop(_) => None,
            })
            .collect();
        if !leaves.is_empty() {
            work.add(self.straight(&leaves, &[]), 1.0);
        }
        for item in items {
            if let Item::Loop(level) = item {
                work.add(self.level(level), 1.0);
            }
        }
        work
    }

    fn level(&self, level: &Level) -> Work {
        // A block of loops around tensors in registers, or an innermost loop.
        let mut chain = Vec::new();
        if let Some(leaves) = self.block(level, &mut chain) {
            return self.straight(&leaves, &chain);
        }
        let mut work = Work::default();
        work.add(self.sequence(&level.body), level.trips);
        work.overhead += level.trips * ITERATION + ENTRY;
        work
    }

    /// The statements of a loop that is innermost, or whose loops all index tensors in registers.
    fn block<'l>(&self, level: &'l Level, chain: &mut Vec<&'l Level>) -> Option<Vec<&'l Leaf>> {
        chain.push(level);
        let leaves: Option<Vec<&Leaf>> = level
            .body
            .iter()
            .map(|item| match item {
                Item::Leaf(leaf) => Some(leaf),
                Item::Loop(_) => None,
            })
            .collect();
        if let Some(leaves) = leaves {
            return Some(leaves);
        }
        match &level.body[..] {
            [Item::Loop(inner)] if self.is_unrolled(level) => self.block(inner, chain),
            _ => None,
        }
    }

    /// Whether a loop indexes a local tensor that fits in registers.
    fn is_unrolled(&self, level: &Level) -> bool {
        let mut accesses = self.shape.accesses[level.range.clone()].iter();
        level.trips <= UNROLLED && accesses.any(|a| self.in_registers(a) && a.moves(level.depth))
    }

    fn in_registers(&self, access: &Access) -> bool {
        let array = &self.shape.arrays[access.tensor];
        array.is_local && array.bytes <= self.vector.0 * self.vector.1
    }

    /// Statements in a block of loops, all of which but the last are unrolled.
    fn straight(&self, leaves: &[&Leaf], chain: &[&Level]) -> Work {
        let innermost = chain.last().copied();
        let lanes = innermost.map_or(1.0, |level| self.lanes(level, leaves));
        let (mut arithmetic, mut loads, mut stores) = (0.0, 0.0, 0.0);
        let mut seen = HashSet::new();
        let mut chains: Vec<(String, f64)> = Vec::new();
        let trips: f64 = chain.iter().map(|level| level.trips).product();
        let vectors = |level: &Level| match Some(level.depth) == innermost.map(|l| l.depth) {
            true => (level.trips / lanes).ceil(),
            false => level.trips,
        };
        let count: f64 = chain.iter().map(|level| vectors(level)).product();
        for leaf in leaves {
            arithmetic += leaf.operations * count;
            for access in &self.shape.accesses[leaf.range.clone()] {
                let key = format!("{}{:?}{}", access.tensor, access.index, access.writes);
                let is_new = seen.insert(key);
                // Once for each place, in vectors where lanes are neighbors.
                let moved = chain.iter().filter(|level| access.moves(level.depth));
                let places: f64 = moved.map(|level| vectors(level)).product();
                let gathers = innermost.map_or(1.0, |level| self.gathers(access, level, lanes));
                let is_sum = access.writes && leaf.updates;
                if is_sum && innermost.is_some_and(|level| !access.moves(level.depth)) {
                    let key = format!("{}{:?}", access.tensor, access.index);
                    match chains.iter_mut().find(|(known, _)| *known == key) {
                        Some((_, length)) => *length += 1.0,
                        None => chains.push((key, 1.0)),
                    }
                }
                if !is_new || self.in_registers(access) {
                    continue;
                }
                match access.writes {
                    true => stores += places * gathers,
                    false => loads += places * gathers,
                }
                if is_sum {
                    loads += places * gathers;
                }
            }
        }
        let longest = chains.iter().map(|(_, length)| *length).fold(0.0, f64::max);
        // Sums that other unrolled loops keep apart do not wait for each other.
        let apart = chain
            .iter()
            .rev()
            .skip(1)
            .map(|level| level.trips)
            .product::<f64>();
        let waiting = longest * ADD * innermost.map_or(0.0, vectors) * (trips > 0.0) as u8 as f64;
        let entries = chain
            .iter()
            .filter(|level| !self.is_unrolled(level))
            .count() as f64;
        let iterations = match innermost {
            Some(level) if !self.is_unrolled(level) => vectors(level),
            _ => 0.0,
        };
        let arithmetic = arithmetic / UNITS;
        Work {
            arithmetic,
            moves: (loads / LOADS).max(stores / STORES),
            latency: waiting * apart.min(1.0),
            overhead: iterations * ITERATION + entries * ENTRY,
            innermost: innermost.map(|level| (level.name.clone(), lanes > 1.0, arithmetic)),
        }
    }

    /// How many iterations of an innermost loop an instruction executes.
    fn lanes(&self, level: &Level, leaves: &[&Leaf]) -> f64 {
        let accesses = leaves
            .iter()
            .flat_map(|leaf| &self.shape.accesses[leaf.range.clone()]);
        let accesses: Vec<&Access> = accesses.collect();
        let element = accesses.iter().map(|a| self.shape.arrays[a.tensor].element);
        let most = self.vector.0 / element.fold(4.0, f64::max);
        let is_neighborly = |a: &&Access| {
            let strides: Vec<f64> = a.strides(level.depth).collect();
            let (last, outer) = match strides.split_last() {
                Some((last, outer)) => (*last, outer.iter().all(|s| *s == 0.0)),
                None => (0.0, true),
            };
            outer && (last == 0.0 || last == 1.0)
        };
        let sums = leaves.iter().any(|leaf| {
            let target = self.shape.accesses[leaf.range.clone()].last();
            leaf.updates && target.is_some_and(|t| !t.moves(level.depth))
        });
        match level.vector {
            true => level.lanes.unwrap_or(most).min(level.trips.max(1.0)),
            // Compilers find such loops themselves, unless that would reorder a sum.
            false if !sums && accesses.iter().all(is_neighborly) => (most / 2.0).max(1.0),
            false => 1.0,
        }
    }

    /// How many instructions an access of all lanes takes.
    fn gathers(&self, access: &Access, level: &Level, lanes: f64) -> f64 {
        let strides: Vec<f64> = access.strides(level.depth).collect();
        let is_far = match strides.split_last() {
            Some((last, outer)) => *last > 1.0 || *last < 0.0 || outer.iter().any(|s| *s != 0.0),
            None => false,
        };
        if is_far { lanes } else { 1.0 }
    }
}
