//! Bytes that have to come to a cache.
//!
//! If what one iteration of a loop touches fits in the cache, the next iteration finds it there: the
//! loop brings every byte that it touches once. Otherwise each iteration brings what it needs.

use super::shape::{Item, Level, Shape};
use std::collections::BTreeMap;

/// What comes to a cache.
pub(super) struct Traffic {
    /// In bytes.
    pub bytes: f64,
    /// The same for each tensor.
    tensors: BTreeMap<usize, f64>,
    /// The loop outside of which data does not stay in the cache.
    at: Option<String>,
}

/// The size of a cache line on all processors that are known here.
const LINE: f64 = 64.0;

/// A part of a cache is taken by what is just passing through.
const USABLE: f64 = 0.8;

/// The bytes that come to a cache of so many bytes.
pub(super) fn of(shape: &Shape, cache: f64) -> Traffic {
    let mut reader = Reader {
        shape,
        cache: USABLE * cache,
        at: None,
    };
    let all = 0..shape.accesses.len();
    let whole = reader.footprint(all.clone(), 0);
    // What fits in the cache is there from the run before.
    let tensors = match whole.values().sum::<f64>() <= reader.cache {
        true => Bytes::new(),
        false => reader.sequence(&shape.items, 0, all),
    };
    Traffic {
        bytes: tensors.values().sum(),
        tensors,
        at: reader.at,
    }
}

impl Traffic {
    /// What comes from a level, and why.
    pub fn why(&self, shape: &Shape, level: &str) -> String {
        let most = self.tensors.iter().max_by(|a, b| a.1.total_cmp(b.1));
        let Some((tensor, bytes)) = most else {
            return format!("nothing comes from {level}");
        };
        let array = &shape.arrays[*tensor];
        let times = bytes / array.bytes.max(1.0);
        let what = match times >= 1.5 {
            true => format!("`{}` comes from {level} {times:.0} times", array.name),
            false => format!("most of what comes from {level} is `{}`", array.name),
        };
        match &self.at {
            Some(at) if times >= 1.5 => {
                format!("{what}, since an iteration of `{at}` touches more than the cache holds")
            }
            _ => what,
        }
    }
}

struct Reader<'a> {
    shape: &'a Shape,
    cache: f64,
    at: Option<String>,
}

type Bytes = BTreeMap<usize, f64>;

impl Reader<'_> {
    /// What a sequence below `depth` loops brings.
    fn sequence(&mut self, items: &[Item], depth: usize, range: std::ops::Range<usize>) -> Bytes {
        let together = self.footprint(range, depth);
        if together.values().sum::<f64>() <= self.cache {
            return together;
        }
        let mut all = Bytes::new();
        for item in items {
            let own = match item {
                Item::Loop(level) => self.level(level),
                Item::Leaf(leaf) => self.footprint(leaf.range.clone(), depth),
            };
            for (tensor, bytes) in own {
                *all.entry(tensor).or_default() += bytes;
            }
        }
        all
    }

    fn level(&mut self, level: &Level) -> Bytes {
        let full = self.footprint(level.range.clone(), level.depth);
        let one = self.footprint(level.range.clone(), level.depth + 1);
        if full.values().sum::<f64>() <= self.cache || one.values().sum::<f64>() <= self.cache {
            return full;
        }
        self.at = Some(level.name.clone());
        let mut body = self.sequence(&level.body, level.depth + 1, level.range.clone());
        for (tensor, bytes) in &mut body {
            // Whatever the cache holds, what is touched once comes at least once.
            let least = full.get(tensor).copied().unwrap_or(0.0);
            *bytes = (*bytes * level.trips).max(least);
        }
        body
    }

    /// The bytes of each tensor that accesses touch in the loops from `depth` on, in whole lines.
    fn footprint(&self, range: std::ops::Range<usize>, depth: usize) -> Bytes {
        let mut boxes: BTreeMap<usize, Vec<(f64, f64)>> = BTreeMap::new();
        for access in &self.shape.accesses[range] {
            let hulls = (0..access.index.len()).map(|d| access.hull(d, depth));
            match boxes.get_mut(&access.tensor) {
                None => {
                    boxes.insert(access.tensor, hulls.collect());
                }
                Some(known) => {
                    for (side, hull) in known.iter_mut().zip(hulls) {
                        *side = (side.0.min(hull.0), side.1.max(hull.1));
                    }
                }
            }
        }
        let bytes = boxes.into_iter().map(|(tensor, sides)| {
            let array = &self.shape.arrays[tensor];
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
                (row / LINE).ceil() * LINE + LINE / 2.0
            };
            (tensor, (outer * row).min(array.bytes.max(LINE)))
        });
        bytes.collect()
    }
}
