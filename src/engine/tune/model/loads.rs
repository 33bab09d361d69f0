//! The loads of straight-line code: a value that several accesses read is loaded once.

use super::shape::{Access, Level};
use std::collections::HashMap;

/// Accesses with more copies are not followed element by element.
const FOLLOWED: f64 = 1024.0;

/// The loads of straight-line code.
#[derive(Default)]
pub(super) struct Loads {
    /// Number of accesses that read each vector or element. The key is a tensor, the strides in the
    /// surrounding loops, and the offset.
    accesses: HashMap<(usize, String, Vec<i64>), usize>,
}

impl Loads {
    /// Adds an access in unrolled loops, and returns the number of new loads; `None` if there are
    /// too many to follow.
    pub fn add(&mut self, access: &Access, unrolled: &[&Level]) -> Option<f64> {
        let moving = || unrolled.iter().filter(|l| access.moves(l.depth));
        let copies: f64 = moving().map(|l| l.executions(1.0)).product();
        if copies > FOLLOWED {
            return None;
        }
        let is_unrolled = |depth: usize| unrolled.iter().any(|l| l.depth == depth);
        let around: Vec<Vec<f64>> = (0..access.trips.len())
            .filter(|depth| !is_unrolled(*depth))
            .map(|depth| access.strides(depth).collect())
            .collect();
        let around = format!("{around:?}");
        let mut new = 0.0;
        for place in places(access, moving()) {
            let key = (access.tensor, around.clone(), place);
            let count = self.accesses.entry(key).or_default();
            new += if *count == 0 { 1.0 } else { 0.0 };
            *count += 1;
        }
        Some(new)
    }

    /// Number of values that several accesses read.
    pub fn shared(&self) -> f64 {
        self.accesses.values().filter(|count| **count > 1).count() as f64
    }
}

/// The offsets of an access in all copies that unrolled loops make.
fn places<'l>(access: &Access, unrolled: impl Iterator<Item = &'l &'l Level>) -> Vec<Vec<i64>> {
    let first = access.index.iter().map(|linear| linear[0] as i64);
    unrolled.fold(vec![first.collect()], |places, level| {
        let lanes = level.vector().unwrap_or(1.0) as i64;
        let strides: Vec<i64> = access.strides(level.depth).map(|s| s as i64).collect();
        let copies = level.executions(1.0) as i64;
        let at = |place: &Vec<i64>, copy: i64| {
            let moved = place.iter().zip(&strides);
            moved.map(|(p, stride)| p + stride * copy * lanes).collect()
        };
        let each = places
            .iter()
            .flat_map(|place| (0..copies).map(move |copy| (place, copy)));
        each.map(|(place, copy)| at(place, copy)).collect()
    })
}
