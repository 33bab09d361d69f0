//! Cache traffic in bytes.
//!
//! If the footprint of one iteration of a loop fits in the cache, the next iteration hits it: the
//! loop loads every byte of its footprint once. Otherwise each iteration loads its footprint again.
//!
//! A gather touches rows anywhere. Of a tensor that the cache does not hold, it misses by the share that
//! is not there.

use super::shape::{Access, Array, Item, Level, Place, Shape};
use std::collections::BTreeMap;

/// The traffic of a statement.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The first access of the statement.
    pub leaf: usize,
    pub tensor: usize,
    /// Bytes.
    pub bytes: f64,
    /// The loop whose footprint does not fit in the cache.
    pub at: Option<String>,
}

/// If a footprint exceeds the cache by this share, nothing of it stays.
const MORE: f64 = 0.5;

/// The usable share of a cache, since streamed data takes some of it.
const USABLE: f64 = 0.8;

/// The traffic to a cache of `cache` bytes with lines of `line` bytes; `jump` is the extra cost of
/// each run in bytes.
pub(super) fn of(shape: &Shape, cache: f64, line: f64, jump: f64) -> Vec<Part> {
    let reader = Reader {
        shape,
        line,
        jump,
        cache: USABLE * cache,
    };
    let all = 0..shape.accesses.len();
    // A footprint that fits in the cache is there from the previous run.
    if reader.size(&reader.footprint(all.clone(), 0)) <= reader.cache {
        Vec::new()
    } else {
        let mut parts = reader.sequence(&shape.items, 0, all);
        parts.extend(reader.gathers());
        parts
    }
}

struct Reader<'a> {
    shape: &'a Shape,
    cache: f64,
    line: f64,
    jump: f64,
}

type Bytes = BTreeMap<usize, f64>;

/// The ends of a box in each dimension.
type Sides = Vec<(f64, f64)>;

impl Reader<'_> {
    /// The traffic of gathers beyond the first touch of each element.
    fn gathers(&self) -> Vec<Part> {
        let mut leaves = Vec::new();
        collect(&self.shape.items, &mut leaves);
        let part = |(k, access): (usize, &Access)| {
            let array = &self.shape.arrays[access.tensor];
            let again = self.rows(access, 0) - array.bytes;
            let is_gather = !access.gathers.is_empty() && array.place == Place::Memory;
            if !is_gather || again <= 0.0 {
                return None;
            }
            let missing = (1.0 - self.cache / array.bytes).max(0.0);
            let run = self.rows(access, usize::MAX);
            let times = if access.writes { 2.0 } else { 1.0 };
            let leaf = leaves.iter().find(|(range, _)| range.contains(&k))?;
            Some(Part {
                leaf: leaf.0.start,
                tensor: access.tensor,
                bytes: times * missing * again * (1.0 + self.jump / run),
                at: None,
            })
        };
        let accesses = self.shape.accesses.iter().enumerate();
        accesses.filter_map(part).collect()
    }

    /// The bytes of all rows that a gather touches in the loops from `depth` on, each in lines of its
    /// own.
    fn rows(&self, access: &Access, depth: usize) -> f64 {
        let spans = (0..access.index.len()).map(|d| {
            let (low, high) = access.hull(d, access.inside_gathers());
            high - low + 1.0
        });
        let row = spans.product::<f64>() * self.shape.arrays[access.tensor].element;
        let row = (row / self.line).ceil() * self.line;
        access.gathered(depth) * row
    }

    fn size(&self, bytes: &Bytes) -> f64 {
        bytes.values().sum()
    }

    /// The traffic of a sequence below `depth` loops.
    fn sequence(&self, items: &[Item], depth: usize, range: std::ops::Range<usize>) -> Vec<Part> {
        let together = self.footprint(range, depth);
        if self.size(&together) <= self.cache {
            return self.first_touches(items, together);
        }
        let mut all = Vec::new();
        for item in items {
            match item {
                Item::Loop(level) => all.extend(self.level(level)),
                Item::Leaf(leaf) => {
                    let own = self.footprint(leaf.range.clone(), depth);
                    all.extend(self.first_touches(std::slice::from_ref(item), own));
                }
            }
        }
        all
    }

    fn level(&self, level: &Level) -> Vec<Part> {
        let full = self.footprint(level.range.clone(), level.depth);
        let one = self.footprint(level.range.clone(), level.depth + 1);
        let lost = if self.size(&full) <= self.cache {
            0.0
        } else {
            self.lost(&one)
        };
        let mut kept = self.first_touches(&level.body, full);
        if lost == 0.0 {
            return kept;
        }
        kept.iter_mut().for_each(|part| part.bytes *= 1.0 - lost);
        let mut body = self.sequence(&level.body, level.depth + 1, level.range.clone());
        for part in &mut body {
            part.bytes *= lost * level.trips;
            part.at.get_or_insert_with(|| level.name.clone());
        }
        kept.retain(|part| part.bytes > 0.0);
        body.extend(kept);
        body
    }

    /// The share of an iteration's footprint that misses in the next one: if it barely exceeds the
    /// cache, some of it stays.
    fn lost(&self, bytes: &Bytes) -> f64 {
        ((self.size(bytes) / self.cache - 1.0) / MORE).clamp(0.0, 1.0)
    }

    /// Attributes the bytes of each tensor to the statement that touches it first.
    fn first_touches(&self, items: &[Item], bytes: Bytes) -> Vec<Part> {
        let mut leaves = Vec::new();
        collect(items, &mut leaves);
        let touches = |range: &std::ops::Range<usize>, tensor: usize| {
            let mut accesses = self.shape.accesses[range.clone()].iter();
            accesses.any(|a| a.tensor == tensor)
        };
        let part = |(tensor, bytes): (usize, f64)| {
            let leaf = leaves.iter().find(|(range, _)| touches(range, tensor))?;
            let written = leaves.iter().any(|(range, _)| {
                let mut accesses = self.shape.accesses[range.clone()].iter();
                accesses.any(|a| a.tensor == tensor && a.writes)
            });
            let past = leaves
                .iter()
                .any(|(range, past)| *past && touches(range, tensor));
            // Written lines are loaded and written back.
            let times = if written && !past { 2.0 } else { 1.0 };
            let array = &self.shape.arrays[tensor];
            let own = leaves.iter().flat_map(|(range, _)| range.clone());
            let own = own.map(|k| &self.shape.accesses[k]);
            let runs = own.filter(|a| a.tensor == tensor).map(|a| a.run(array));
            let run = runs.fold(self.line, f64::max);
            let times = times * (1.0 + self.jump / run);
            Some(Part {
                leaf: leaf.0.start,
                tensor,
                bytes: times * bytes,
                at: None,
            })
        };
        bytes.into_iter().filter_map(part).collect()
    }

    /// The bytes of each tensor in the footprint of accesses in the loops from `depth` on, in whole
    /// lines: a box around all accesses, or one around each of them, if that is less, as for a row and
    /// a column.
    fn footprint(&self, range: std::ops::Range<usize>, depth: usize) -> Bytes {
        let mut boxes: BTreeMap<usize, Vec<Sides>> = BTreeMap::new();
        let mut gathered = Bytes::new();
        for access in &self.shape.accesses[range] {
            if self.shape.arrays[access.tensor].place == Place::Registers {
                continue;
            }
            if !access.gathers.is_empty() {
                let bytes = gathered.entry(access.tensor).or_default();
                *bytes = self.rows(access, depth).max(*bytes);
            }
            let hulls = (0..access.index.len()).map(|d| access.hull(d, depth));
            let (hulls, known): (Sides, _) =
                (hulls.collect(), boxes.entry(access.tensor).or_default());
            if !known.contains(&hulls) {
                known.push(hulls);
            }
        }
        let bytes = boxes.into_iter().map(|(tensor, boxes)| {
            let array = &self.shape.arrays[tensor];
            let each: f64 = boxes.iter().map(|sides| self.bytes(sides, array)).sum();
            let around = boxes.into_iter().reduce(|around, sides| {
                let both = around.into_iter().zip(sides);
                both.map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))).collect()
            });
            let around = around.map_or(0.0, |sides| self.bytes(&sides, array));
            let own = gathered.get(&tensor).copied().unwrap_or_default();
            let own = around.min(each).max(own);
            (tensor, own.min(array.bytes.max(self.line)))
        });
        bytes.collect()
    }

    /// The bytes of a box of elements, in whole lines.
    fn bytes(&self, sides: &Sides, array: &Array) -> f64 {
        let spans = sides.iter().zip(&array.extents);
        let spans: Vec<f64> = spans.map(|((l, h), n)| (h - l + 1.0).min(*n)).collect();
        let (last, outer) = match spans.split_last() {
            Some((last, outer)) => (*last, outer.iter().product::<f64>()),
            None => (1.0, 1.0),
        };
        let row = last * array.element;
        let is_whole = array.extents.last().is_some_and(|n| last >= *n);
        let row = if is_whole {
            row
        } else {
            (row / self.line).ceil() * self.line
        };
        outer * row
    }
}

fn collect(items: &[Item], leaves: &mut Vec<(std::ops::Range<usize>, bool)>) {
    for item in items {
        match item {
            Item::Loop(level) => collect(&level.body, leaves),
            Item::Leaf(leaf) => leaves.push((leaf.range.clone(), leaf.past)),
        }
    }
}

/// Describes the traffic from a level for a kernel, and its cause.
pub(super) fn why(shape: &Shape, parts: &[&Part], level: &str) -> String {
    let Some(most) = parts.iter().max_by(|a, b| a.bytes.total_cmp(&b.bytes)) else {
        return format!("nothing comes from {level}");
    };
    let array = &shape.arrays[most.tensor];
    let times = most.bytes / array.bytes.max(1.0);
    let what = if times >= 1.5 {
        format!("`{}` comes from {level} {times:.0} times", array.name)
    } else {
        format!("most of what comes from {level} is `{}`", array.name)
    };
    match &most.at {
        Some(at) if times >= 1.5 => {
            format!("{what}, since an iteration of `{at}` touches more than the cache holds")
        }
        _ => what,
    }
}
