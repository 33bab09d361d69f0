//! Reads the plan of a nest as a shape.
//!
//! A loop has as many iterations as it has on average over samples of the loops around it: triangles and
//! partial tiles count for what they are. Its index begins at the bound that is tightest in the middle
//! of their ranges. Iterators count from 0 here, so that an index is a constant plus a stride for each
//! surrounding loop.
//!
//! A row whose bounds are read has as many entries as rows have on average, and follows the row before
//! it. An index that is read may be any: it is in the middle, and the loops that read it are noted.

use super::operations::{self, Operations, Read};
use super::shape::{Access, Array, Item, Lanes, Leaf, Level, Linear, Place, Shape};
use crate::codegen::planned::{Entry, Local, Loop, Mode, Node, Part, Space, Statement, Trips};
use crate::ir::{Affine, Fill, Name, Range, Segment, Tensor};
use std::collections::HashMap;

/// The shape of one nest, with at most `threads` threads in parallel loops and vector registers of
/// `vector` bytes. `None` if a bound or an index is beyond the model.
pub(super) fn read(part: &Part, threads: f64, vector: f64) -> Option<Shape> {
    let mut reader = Reader {
        shape: Shape {
            threads: 1.0,
            ..Shape::default()
        },
        numbers: HashMap::new(),
        places: HashMap::new(),
        known: HashMap::new(),
        gathers: HashMap::new(),
        trips: Vec::new(),
        samples: vec![Sample::default(); SAMPLES],
        threads,
        vector,
        shared: false,
    };
    let items = reader.sequence(&part.nodes)?;
    Some(Shape {
        items,
        ..reader.shape
    })
}

/// How many samples of the surrounding loops there are.
const SAMPLES: usize = 32;

/// The bases of the sequences that samples are from, one for each depth.
const BASES: [usize; 8] = [2, 3, 5, 7, 11, 13, 17, 19];

/// An iteration of the surrounding loops, and the number of iterations that it represents.
#[derive(Clone)]
struct Sample {
    times: f64,
    at: HashMap<Name, f64>,
}

impl Default for Sample {
    fn default() -> Sample {
        Sample {
            times: 1.0,
            at: HashMap::new(),
        }
    }
}

struct Reader {
    shape: Shape,
    numbers: HashMap<String, usize>,
    places: HashMap<Name, Place>,
    /// Iterators, as linear functions of loops that count from 0, with their middle values.
    known: HashMap<Name, (Linear, f64)>,
    /// The loops, by depth, that read an iterator's only value.
    gathers: HashMap<Name, Vec<usize>>,
    trips: Vec<f64>,
    samples: Vec<Sample>,
    threads: f64,
    vector: f64,
    /// Whether threads share a surrounding loop.
    shared: bool,
}

impl Reader {
    fn sequence(&mut self, nodes: &[Node]) -> Option<Vec<Item>> {
        let mut items = Vec::new();
        for node in nodes {
            match node {
                Node::Loop(l) => items.push(self.level(l)?),
                Node::Stmt(s) => items.push(Item::Leaf(self.leaf(s)?)),
                Node::Fill(fill) => items.push(self.fill(fill)?),
                Node::Local(local) => self.local(local),
                Node::Region(region) => {
                    self.shape.calls += self.trips.iter().product::<f64>();
                    items.extend(self.sequence(&region.body)?);
                }
                Node::Outlined(outlined) => items.extend(self.sequence(&outlined.body)?),
                Node::Copy(block) => items.push(self.copy(block)?),
                Node::Barrier => self.shape.waits += self.trips.iter().product::<f64>(),
                Node::Fetch(_) | Node::Fence | Node::InOrder | Node::LoadFence => {}
            }
        }
        Some(items)
    }

    fn local(&mut self, local: &Local) {
        let place = match local.space {
            Space::Register => Place::Registers,
            Space::Stack | Space::Thread => Place::Thread,
        };
        if let Some(name) = local.tensor.name() {
            self.places.insert(name.clone(), place);
            // Another scope may have a tensor of that name.
            self.numbers.remove(local.tensor.label());
        }
    }

    /// The tightest bound in the middle of the outer ranges, with its index: the least upper bound,
    /// or the greatest lower one.
    fn bound(&self, bounds: &[Affine], least: bool) -> Option<(f64, Affine)> {
        let valued = bounds.iter().map(|b| Some((self.middle(b)?, b.clone())));
        let valued: Vec<(f64, Affine)> = valued.collect::<Option<_>>()?;
        let order = |a: &(f64, Affine), b: &(f64, Affine)| a.0.total_cmp(&b.0);
        if least {
            valued.into_iter().min_by(order)
        } else {
            valued.into_iter().max_by(order)
        }
    }

    fn level(&mut self, l: &Loop) -> Option<Item> {
        let of = &l.of;
        let (low, base) = self.bound(&of.range.lower, false)?;
        let (high, _) = self.bound(&of.range.upper, true)?;
        let step = of.range.step as f64;
        let segment = of.range.within.as_ref();
        let (all, samples) = match segment {
            Some(segment) => {
                let most = ((high - low) / step).ceil().max(0.0);
                let usual = segment.usual(most as i64) as f64;
                (usual, self.samples.clone())
            }
            None => self.sampled(&of.name, &of.range)?,
        };
        let lower = of.range.lower.iter();
        let spans = lower.flat_map(|low| of.range.upper.iter().map(move |high| high.minus(low)));
        let known = spans.filter_map(|span| Some(span.as_constant()? as f64 / step));
        let most = known.reduce(f64::min).map(|most| most.ceil().max(0.0));
        // Each vector of such a row is computed, with dead lanes, so that copies of it are straight-line code.
        let row = match &l.mode {
            Mode::Vector(plan) => match plan.trips {
                Trips::Masked { most, .. } => Some(most as f64),
                _ => None,
            },
            _ => None,
        };
        let most = row.or(most);
        let constant = row.is_some() || of.range.lower.len() == 1 && of.range.upper.len() == 1;
        let is_first = l.is_shared() && !self.shared;
        let mut trips = row.unwrap_or(all);
        if let Mode::Parallel { entry, .. } = &l.mode {
            let times = self.trips.iter().product::<f64>();
            match entry {
                Entry::Call => self.shape.calls += times,
                Entry::Join => self.shape.waits += times,
                Entry::JoinWithoutWaiting => {}
            }
        }
        if is_first {
            let threads = self.threads.min(all.max(1.0));
            self.shape.threads = self.shape.threads.max(threads);
            trips = (all / threads).ceil();
        }
        let lanes = match &l.mode {
            Mode::Vector(plan) => {
                let register = self.vector / plan.elem.size() as f64;
                Lanes::Vector(plan.lanes.map_or(register, |n| n as f64))
            }
            Mode::Simd | Mode::Parallel { simd: true, .. } | Mode::Collapsed { simd: true } => {
                Lanes::Compiler
            }
            _ => Lanes::One,
        };
        let mut linear = self.linear(&base)?;
        let mut middle = low + step * (all - 1.0).max(0.0) / 2.0;
        if let Some(Segment {
            lower: Some(lower), ..
        }) = segment
        {
            middle = (low + high) / 2.0;
            self.gathers.remove(&of.name);
            if of.range.single().is_some() {
                let read = self.read_by(&lower.index)?;
                self.gathers.insert(of.name.clone(), read);
                linear = vec![middle];
            } else if let [row] = lower.index.as_slice() {
                let row = self.linear(row)?.into_iter();
                linear = row.map(|coefficient| coefficient * all).collect();
            }
        }
        linear.resize(self.trips.len() + 1, 0.0);
        linear.push(if segment.is_some() && all == 1.0 {
            0.0
        } else {
            step
        });
        let is_rolled = matches!(l.mode, Mode::Rolled);
        let shared = self.shared;
        self.shared |= l.is_shared();
        let outside = std::mem::replace(&mut self.samples, samples);
        let level = self.within(&of.name, (linear, middle), trips, |reader| {
            reader.sequence(&l.body)
        })?;
        self.shared = shared;
        self.samples = outside;
        Some(Item::Loop(Box::new(Level {
            // Compilers do not unroll vector loops with a varying bound.
            most: most.filter(|_| !is_first && !is_rolled && (constant || lanes == Lanes::One)),
            constant,
            copies: l.is_unrolled(),
            lanes,
            ..level
        })))
    }

    /// The iterations of a loop on average, and samples inside of it.
    fn sampled(&self, name: &Name, range: &Range) -> Option<(f64, Vec<Sample>)> {
        let step = range.step as f64;
        let base = BASES[self.trips.len() % BASES.len()];
        let (mut before, mut all) = (0.0, 0.0);
        let mut samples = self.samples.clone();
        for (k, sample) in samples.iter_mut().enumerate() {
            let values = |bounds: &[Affine]| -> Option<Vec<f64>> {
                bounds.iter().map(|b| self.at(b, sample)).collect()
            };
            let low = values(&range.lower)?.into_iter().fold(f64::MIN, f64::max);
            let high = values(&range.upper)?.into_iter().fold(f64::MAX, f64::min);
            let trips = ((high - low) / step).ceil().max(0.0);
            let place = (trips * spread(k + 1, base)).floor();
            before += sample.times;
            sample.times *= trips;
            all += sample.times;
            sample.at.insert(name.clone(), low + step * place);
        }
        let trips = if before > 0.0 { all / before } else { 0.0 };
        Some((trips, samples))
    }

    /// The value of a bound in a sampled iteration.
    fn at(&self, affine: &Affine, sample: &Sample) -> Option<f64> {
        let value = |name: &Name| match sample.at.get(name) {
            Some(value) => Some(*value),
            None => Some(self.known.get(name)?.1),
        };
        let terms = affine.terms().iter();
        let terms = terms.map(|(name, c)| Some(*c as f64 * value(name)?));
        Some(affine.offset() as f64 + terms.sum::<Option<f64>>()?)
    }

    /// The loops, by depth, that an index moves with, or that gather what is in it.
    fn read_by(&self, index: &[Affine]) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        for affine in index {
            let linear = self.linear(affine)?;
            let moving = linear.iter().skip(1).enumerate();
            found.extend(moving.filter(|(_, c)| **c != 0.0).map(|(depth, _)| depth));
            let gathered = affine.iterators().filter_map(|name| self.gathers.get(name));
            found.extend(gathered.flatten());
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    /// Reads the body of a loop whose iterator has known values.
    fn within(
        &mut self,
        name: &Name,
        known: (Linear, f64),
        trips: f64,
        body: impl FnOnce(&mut Reader) -> Option<Vec<Item>>,
    ) -> Option<Level> {
        let depth = self.trips.len();
        let start = self.shape.accesses.len();
        let before = self.known.insert(name.clone(), known);
        self.trips.push(trips);
        let items = body(self);
        self.trips.pop();
        match before {
            Some(before) => self.known.insert(name.clone(), before),
            None => self.known.remove(name),
        };
        Some(Level {
            name: name.to_string(),
            trips,
            most: None,
            constant: false,
            copies: false,
            lanes: Lanes::One,
            body: items?,
            range: start..self.shape.accesses.len(),
            depth,
        })
    }

    fn leaf(&mut self, s: &Statement) -> Option<Leaf> {
        let of = &s.of;
        let start = self.shape.accesses.len();
        for Read {
            tensor,
            index,
            after,
        } in operations::reads(of)
        {
            self.access(tensor, index, false)?;
            if let Some(access) = self.shape.accesses.last_mut() {
                access.after = after;
            }
        }
        self.access(&of.target, &of.index, true)?;
        Some(Leaf {
            range: start..self.shape.accesses.len(),
            operations: Operations::of(of),
            updates: of.update.is_some(),
            past: s.past,
            chooses: operations::chooses(of),
        })
    }

    /// An initialization, as loops over its region.
    fn fill(&mut self, fill: &Fill) -> Option<Item> {
        self.box_of(&fill.target, &fill.region, Vec::new())
    }

    fn box_of(
        &mut self,
        target: &Tensor,
        region: &[(Affine, Affine)],
        mut index: Vec<Linear>,
    ) -> Option<Item> {
        let Some((first, count)) = region.get(index.len()) else {
            let start = self.shape.accesses.len();
            self.touch(target, index, true);
            return Some(Item::Leaf(Leaf {
                range: start..self.shape.accesses.len(),
                ..Leaf::default()
            }));
        };
        let mut linear = self.linear(first)?;
        linear.resize(self.trips.len() + 1, 0.0);
        linear.push(1.0);
        let is_last = index.len() + 1 == region.len();
        index.push(linear);
        let depth = self.trips.len();
        let start = self.shape.accesses.len();
        let count = count.likely()?.max(0) as f64;
        self.trips.push(count);
        let body = self.box_of(target, region, index);
        self.trips.pop();
        let place = target.name().and_then(|name| self.places.get(name));
        let register = self.vector / target.elem().size() as f64;
        Some(Item::Loop(Box::new(Level {
            name: target.label().to_owned(),
            trips: count,
            most: Some(count),
            constant: true,
            copies: place == Some(&Place::Registers),
            lanes: if is_last {
                Lanes::Vector(register)
            } else {
                Lanes::One
            },
            body: vec![body?],
            range: start..self.shape.accesses.len(),
            depth,
        })))
    }

    /// A block copy, as a loop over vectors.
    fn copy(&mut self, block: &crate::codegen::planned::Block) -> Option<Item> {
        let element = block.to.0.elem().size() as f64;
        let count = block.bytes as f64 / element;
        let depth = self.trips.len();
        let start = self.shape.accesses.len();
        let mut sides = Vec::new();
        for (tensor, index) in [&block.from, &block.to] {
            let index = index.iter().map(|affine| self.linear(affine));
            let mut index: Vec<Linear> = index.collect::<Option<_>>()?;
            if let Some(last) = index.last_mut() {
                last.resize(depth + 1, 0.0);
                last.push(1.0);
            }
            sides.push((tensor.clone(), index));
        }
        self.trips.push(count);
        for (k, (tensor, index)) in sides.into_iter().enumerate() {
            self.touch(&tensor, index, k == 1);
        }
        self.trips.pop();
        let range = start..self.shape.accesses.len();
        Some(Item::Loop(Box::new(Level {
            name: block.of.name.to_string(),
            trips: count,
            most: Some(count),
            constant: true,
            copies: false,
            lanes: Lanes::Vector(self.vector / element),
            body: vec![Item::Leaf(Leaf {
                range: range.clone(),
                past: true,
                ..Leaf::default()
            })],
            range,
            depth,
        })))
    }

    fn access(&mut self, tensor: &Tensor, index: &[Affine], writes: bool) -> Option<()> {
        let gathers = index.iter().flat_map(Affine::iterators);
        let gathers = gathers.filter_map(|name| self.gathers.get(name));
        let mut gathers: Vec<usize> = gathers.flatten().copied().collect();
        gathers.sort_unstable();
        gathers.dedup();
        let index = index.iter().map(|affine| self.linear(affine));
        let index: Vec<Linear> = index.collect::<Option<_>>()?;
        self.touch(tensor, index, writes);
        if let Some(access) = self.shape.accesses.last_mut() {
            access.gathers = gathers;
        }
        Some(())
    }

    fn touch(&mut self, tensor: &Tensor, mut index: Vec<Linear>, writes: bool) {
        let label = tensor.label().to_owned();
        let arrays = &mut self.shape.arrays;
        let place = tensor.name().and_then(|name| self.places.get(name));
        let place = place.copied().unwrap_or(Place::Memory);
        let number = *self.numbers.entry(label.clone()).or_insert_with(|| {
            let extents: Vec<f64> = tensor.shape().extents().iter().map(|n| *n as f64).collect();
            let element = tensor.elem().size() as f64;
            arrays.push(Array {
                name: label,
                bytes: element * extents.iter().product::<f64>(),
                element,
                extents,
                place,
            });
            arrays.len() - 1
        });
        for linear in &mut index {
            linear.resize(self.trips.len() + 1, 0.0);
        }
        self.shape.accesses.push(Access {
            tensor: number,
            index,
            trips: self.trips.clone(),
            writes,
            gathers: Vec::new(),
            after: Operations::default(),
        });
    }

    fn linear(&self, affine: &Affine) -> Option<Linear> {
        let mut sum = vec![affine.offset() as f64];
        for (name, coefficient) in affine.terms() {
            let (linear, _) = self.known.get(name)?;
            if sum.len() < linear.len() {
                sum.resize(linear.len(), 0.0);
            }
            for (total, part) in sum.iter_mut().zip(linear) {
                *total += *coefficient as f64 * part;
            }
        }
        Some(sum)
    }

    fn middle(&self, affine: &Affine) -> Option<f64> {
        self.at(affine, &Sample::default())
    }
}

/// The `k`-th number of an even sequence between 0 and 1: the digits of `k` in a base, mirrored.
fn spread(mut k: usize, base: usize) -> f64 {
    let (mut sum, mut digit) = (0.0, 1.0);
    while k > 0 {
        digit /= base as f64;
        sum += (k % base) as f64 * digit;
        k /= base;
    }
    sum
}
