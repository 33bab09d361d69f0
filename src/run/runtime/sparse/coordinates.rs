//! The entries of a sparse tensor as a list.

use crate::runtime::Values;

/// The entries of a sparse tensor, in the order of their places, each place once.
#[derive(Clone, Debug, PartialEq)]
pub struct Coordinates {
    pub shape: Vec<u64>,
    /// The index of each entry in each dimension, from 0.
    pub(super) index: Vec<Vec<u64>>,
    pub(super) values: Values,
}

impl Coordinates {
    /// The entries in any order. Those at one place are added up, in this order.
    pub(super) fn of(
        shape: Vec<u64>,
        index: &[Vec<u64>],
        values: &Values,
    ) -> Result<Coordinates, String> {
        let count = index.first().map_or(0, Vec::len);
        if count == 0 {
            return Err("it has no entries".to_owned());
        }
        let place = |e: usize| index.iter().map(move |of| of[e]);
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|a, b| place(*a).cmp(place(*b)));
        let mut firsts: Vec<usize> = Vec::new();
        let mut slots: Vec<usize> = Vec::with_capacity(count);
        for e in &order {
            let is_same = |first: &usize| place(*first).eq(place(*e));
            if !firsts.last().is_some_and(is_same) {
                firsts.push(*e);
            }
            slots.push(firsts.len() - 1);
        }
        let values = match values {
            Values::F64(v) => Values::F64(sums(v, &order, &slots)),
            Values::F32(v) => Values::F32(sums(v, &order, &slots)),
            Values::I32(v) => Values::I32(sums(v, &order, &slots)),
            Values::I64(v) => Values::I64(sums(v, &order, &slots)),
        };
        let index = index.iter();
        Ok(Coordinates {
            shape,
            index: index
                .map(|of| firsts.iter().map(|e| of[*e]).collect())
                .collect(),
            values,
        })
    }

    /// The number of entries.
    pub fn count(&self) -> usize {
        self.index.first().map_or(0, Vec::len)
    }
}

/// The sum of the values in each slot.
fn sums<T: Copy + std::ops::Add<Output = T>>(
    values: &[T],
    order: &[usize],
    slots: &[usize],
) -> Vec<T> {
    let mut sums: Vec<T> = Vec::new();
    for (e, slot) in order.iter().zip(slots) {
        match sums.get_mut(*slot) {
            Some(sum) => *sum = *sum + values[*e],
            None => sums.push(values[*e]),
        }
    }
    sums
}
