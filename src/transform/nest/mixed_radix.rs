//! Tensors that a producer indexes in mixed radix, `5*i + k` with `k` in 0..5, and the loops of
//! consumers that tell `i` and `k`.

use super::producer::values;
use super::stripmine::{Tail, stripmine};
use crate::analysis::bounds::Bounds;
use crate::analysis::position::walk;
use crate::failure::Parameter;
use crate::ir::{Affine, Loop, LoopRef, Name, Nest, Tree};
use crate::{Error, refusal};
use std::sync::Arc;

/// An index of a dimension: `low` and the sum of its parts, each element once.
pub(super) struct Dimension<'a> {
    index: &'a Affine,
    pub(super) low: i64,
    pub(super) extent: Affine,
    /// The fastest one first.
    parts: Vec<Part>,
}

/// An iterator: `low` and the distance from the first element, mod `modulus` div `divisor`.
struct Part {
    name: Name,
    low: i64,
    divisor: i64,
    modulus: Option<i64>,
}

/// The dimensions of a tensor that is set at an index in these loops. The error describes an index
/// that sets elements twice or leaves some out.
pub(super) fn dimensions<'a>(
    tensor: &str,
    index: &'a [Affine],
    loops: &[&Arc<Loop>],
) -> Result<Vec<Dimension<'a>>, String> {
    let dimension = |at: &'a Affine| {
        let mut terms: Vec<(&Name, i64, i64, Affine)> = Vec::with_capacity(at.terms().len());
        for (name, c) in at.terms() {
            let (low, extent) = values(name, index, loops)?;
            terms.push((name, *c, low, extent));
        }
        terms.sort_by_key(|(_, c, _, extent)| (*c, extent.as_constant().unwrap_or(i64::MAX)));
        let mut low = at.offset();
        // The slowest iterator alone may have a number of values that sizes decide.
        let mut factor = Affine::constant(1);
        let mut parts: Vec<Part> = Vec::with_capacity(terms.len());
        for (name, c, first, extent) in terms {
            if factor.as_constant() != Some(c) {
                return Err(format!("{tensor} is indexed by `{at}`"));
            }
            low = low.saturating_add(c.saturating_mul(first));
            if let Some(before) = parts.last_mut() {
                before.modulus = Some(c);
            }
            parts.push(Part {
                name: name.clone(),
                low: first,
                divisor: c,
                modulus: None,
            });
            factor = extent.times(c);
        }
        Ok(Dimension {
            index: at,
            low,
            extent: factor,
            parts,
        })
    };
    index.iter().map(dimension).collect()
}

impl Dimension<'_> {
    /// The value of an iterator of the producer where `read` is read in these loops. `None` if the
    /// iterator is not one of this dimension, or its value is not affine.
    pub(super) fn value(&self, name: &Name, read: &Affine, loops: &Loops) -> Option<Affine> {
        let part = self.parts.iter().find(|part| part.name == *name)?;
        let distance = read.plus_constant(-self.low);
        let own = loops.quotient(&distance, part.divisor)?;
        let more = match part.modulus {
            Some(modulus) => {
                let whole = loops.quotient(&distance, modulus)?;
                whole.times(modulus / part.divisor)
            }
            None => Affine::default(),
        };
        Some(own.minus(&more).plus_constant(part.low))
    }

    /// The first divisor, from the greatest one down, by which the quotient is not affine where
    /// `read` is read.
    fn open(&self, read: &Affine, loops: &Loops) -> Option<i64> {
        let distance = read.plus_constant(-self.low);
        let mut divisors = self.parts.iter().rev().map(|part| part.divisor);
        divisors.find(|divisor| loops.quotient(&distance, *divisor).is_none())
    }
}

/// The loops of a nest.
pub(super) struct Loops<'a> {
    all: Vec<&'a Arc<Loop>>,
    bounds: Bounds,
}

impl<'a> Loops<'a> {
    pub(super) fn of(nest: &'a Nest) -> Loops<'a> {
        let mut all = Vec::new();
        walk(nest.trees(), &mut |_, _, tree| {
            if let Tree::Loop(l) = tree {
                all.push(l);
            }
        });
        let bounds = Bounds::around(nest, all.iter().map(|l| &***l));
        Loops { all, bounds }
    }

    fn named(&self, name: &Name) -> Option<&'a Loop> {
        let found = self.all.iter().find(|l| l.name == *name);
        found.map(|l| &***l)
    }

    /// The quotient of an index, rounded down, if it is affine in all iterations.
    fn quotient(&self, index: &Affine, divisor: i64) -> Option<Affine> {
        let (whole, rest) = index.parted(divisor);
        let (low, high) = self.bounds.interval(&rest)?;
        if low.div_euclid(divisor) == high.max(low).div_euclid(divisor) {
            return Some(whole.plus_constant(low.div_euclid(divisor)));
        }
        // A loop over one block begins at a multiple.
        let in_block = |(name, c): &(Name, i64)| {
            let range = &self.named(name).filter(|_| *c == 1)?.range;
            range.lower.iter().find_map(|lower| {
                let is_end = |upper: &&Affine| {
                    let length = upper.minus(lower).as_constant();
                    length.is_some_and(|length| length <= divisor)
                };
                range.upper.iter().find(is_end)?;
                let first = |found: &Name| (found == name).then(|| lower.clone());
                rest.substitute(&first).divided(divisor)
            })
        };
        let block = rest.terms().iter().find_map(in_block)?;
        Some(whole.plus(&block))
    }

    /// The loop to split into blocks, and how, so that this index has an affine quotient.
    fn to_split(&self, index: &Affine, divisor: i64) -> Option<(&'a Loop, Tail)> {
        let (_, rest) = index.parted(divisor);
        let [(name, 1)] = rest.terms() else {
            return None;
        };
        let l = self.named(name)?;
        let begins = |lower: &Affine| lower.plus_constant(rest.offset()).divided(divisor);
        match l.range.lower.as_slice() {
            [lower] if begins(lower).is_some() => Some((l, Tail::Guard)),
            _ if rest.offset() == 0 => Some((l, Tail::Aligned)),
            _ => None,
        }
    }
}

/// The consumer with loops split so that each read has the producer's iterators as affine values.
/// `reads` are the indices at which a nest reads the tensor. The consumer is the argument for
/// `parameter`.
pub(super) fn with_blocks(
    consumer: &Nest,
    dimensions: &[Dimension],
    reads: &dyn Fn(&Nest) -> Vec<Vec<Affine>>,
    parameter: &dyn Parameter,
) -> Result<Nest, Error> {
    let mut consumer = consumer.clone();
    loop {
        let loops = Loops::of(&consumer);
        let all = reads(&consumer);
        let mut open = all.iter().flat_map(|read| read.iter().zip(dimensions));
        let found = open.find_map(|(read, d)| Some((read, d, d.open(read, &loops)?)));
        let Some((read, dimension, divisor)) = found else {
            return Ok(consumer);
        };
        let distance = read.plus_constant(-dimension.low);
        let Some((l, tail)) = loops.to_split(&distance, divisor) else {
            let index = dimension.index;
            let text = format!(
                "the tensor is set at `{index}` and read at `{read}`, whose quotient by {divisor} \
                 is not affine"
            );
            let help = format!(
                "reads at an iterator of a loop, or at `{divisor}*i + k` with `k` in 0..{divisor}, \
                 have such quotients; `compute_at` keeps the tensor"
            );
            let error = refusal(text).help(help);
            return Err(error.at(parameter).on(&consumer, []));
        };
        let name = l.name.clone();
        let split = stripmine(&consumer, &LoopRef::Name(name.to_string()), divisor, tail);
        consumer = split.map_err(|error| error.at(parameter))?;
    }
}
