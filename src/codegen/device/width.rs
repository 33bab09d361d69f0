//! How many bits the iterators of a device have. 64 are slow there, and 32 are enough if each number
//! on the way to an index fits.
//!
//! Each of them is bounded by `times*S + plus`, where no size that a caller gives exceeds S: iterators
//! by the bounds of their loops, and derived sizes by the sizes from which they are made. That tells
//! the greatest S for which all fit. Tensors must also have so few elements that all are counted. If
//! facts about sizes do not decide both, the processor does so when it starts the kernels.

use super::plan::{Condition, Kernel, MOST, Move, Node, Plan, Step, Width};
use crate::ir::{Affine, Loop, Name, Tensor};
use std::collections::HashMap;

/// The width that a plan needs, where kernels use these tensors and sizes of the caller.
pub(super) fn width(plan: &Plan, tensors: &[Tensor], sizes: &[Name]) -> Width {
    let mut limit = Limit {
        most: Some(MOST as f64),
        sizes,
        within: HashMap::new(),
    };
    limit.steps(&plan.steps);
    for tensor in tensors {
        for extent in tensor.shape().dims() {
            limit.within(&extent);
        }
    }
    // Rounding is far less than 1 here.
    let most = limit.most.map_or(0, |most| most as i64 - 1);
    let elements: Vec<Option<i64>> = tensors.iter().map(most_elements).collect();
    let is_known = elements.iter().all(Option::is_some);
    let are_few = elements
        .iter()
        .all(|most| most.is_some_and(|most| most <= MOST));
    let mut ends = sizes.iter().map(|name| name.size().map(|size| size.most));
    match (most > 0, sizes.is_empty()) {
        (false, _) => Width::Wide,
        (true, true) if are_few => Width::Narrow,
        (true, true) => Width::Wide,
        (true, false) if is_known && are_few && ends.all(|end| end.is_some_and(|n| n <= most)) => {
            Width::Narrow
        }
        (true, false) => Width::Either { most },
    }
}

/// The most elements of a tensor, from its first one to its last one. `None` if they lie at distances
/// that callers choose.
fn most_elements(tensor: &Tensor) -> Option<i64> {
    if tensor.is_strided() {
        return None;
    }
    let dims = tensor.shape().dims();
    dims.iter().try_fold(1_i64, |count, extent| {
        Some(count.saturating_mul(extent.ends()?.1.max(1)))
    })
}

/// A number that is at most `times*S + plus`.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    times: f64,
    plus: f64,
}

impl Sum {
    fn of(plus: i64) -> Sum {
        let plus = plus as f64;
        Sum { times: 0.0, plus }
    }

    fn add(&mut self, other: Sum, factor: f64) {
        self.times += factor * other.times;
        self.plus += factor * other.plus;
    }

    /// At least both.
    fn or(self, other: Sum) -> Sum {
        Sum {
            times: self.times.max(other.times),
            plus: self.plus.max(other.plus),
        }
    }

    /// The one that is less where sizes are great.
    fn less(self, other: Sum) -> Sum {
        let both = [(self.times, self.plus), (other.times, other.plus)];
        if both[0] <= both[1] { self } else { other }
    }
}

/// How far a number is from 0 at most, to either side. No part of a sum is farther.
#[derive(Clone, Copy, Debug, Default)]
struct Reach {
    up: Sum,
    down: Sum,
}

/// The greatest size for which everything that was seen fits. `None` if there is none.
struct Limit<'a> {
    most: Option<f64>,
    /// Numbers of the caller: sizes, and distances between rows.
    sizes: &'a [Name],
    /// The iterators of the loops around.
    within: HashMap<Name, Reach>,
}

impl Limit<'_> {
    /// Numbers fit up to a greatest size.
    fn fit(&mut self, reach: Reach) {
        let sum = reach.up.or(reach.down);
        let room = MOST as f64 - sum.plus;
        let most = match sum.times > 0.0 {
            true => room / sum.times,
            false => f64::INFINITY,
        };
        self.most = self.most.filter(|_| room >= 0.0).map(|m| m.min(most));
    }

    /// The greatest values of a sum, which have to fit.
    fn within(&mut self, sum: &Affine) -> Reach {
        let reach = self.reach(sum.terms(), sum.offset());
        self.fit(reach);
        reach
    }

    fn reach(&mut self, terms: &[(Name, i64)], offset: i64) -> Reach {
        let mut reach = Reach {
            up: Sum::of(offset.max(0)),
            down: Sum::of(offset.saturating_neg().max(0)),
        };
        for (name, c) in terms {
            let of = self.of_name(name);
            let (up, down) = match *c >= 0 {
                true => (of.up, of.down),
                false => (of.down, of.up),
            };
            let factor = c.unsigned_abs() as f64;
            reach.up.add(up, factor);
            reach.down.add(down, factor);
        }
        reach
    }

    fn of_name(&mut self, name: &Name) -> Reach {
        if let Some(known) = self.within.get(name) {
            return *known;
        }
        let size = name.size();
        if let Some(quotient) = size.and_then(|size| size.of.as_ref()) {
            let of = self.reach(&quotient.terms, quotient.offset);
            let mut reach = Reach::default();
            let factor = 1.0 / quotient.divisor as f64;
            reach.up.add(of.up, factor);
            reach.down.add(of.down, factor);
            // It is rounded down.
            reach.down.add(Sum::of(1), 1.0);
            return reach;
        }
        if size.is_none() && !self.sizes.contains(name) {
            // An element of a tensor may be anything.
            self.most = None;
        }
        let most = Sum {
            times: 1.0,
            plus: 0.0,
        };
        let is_natural = size.is_some_and(|size| size.least >= 0);
        Reach {
            up: most,
            down: if is_natural { Sum::default() } else { most },
        }
    }

    /// A loop, whose iterator takes at most `count` values where that is known.
    fn enter(&mut self, l: &Loop, count: Option<i64>) {
        let lower = l.range.lower.iter().map(|a| self.within(a));
        let lower: Vec<Reach> = lower.collect();
        let upper = l.range.upper.iter().map(|a| self.within(a).up);
        let upper: Vec<Sum> = upper.collect();
        let first = lower.iter().fold(Sum::default(), |most, a| most.or(a.up));
        let down = lower.iter().map(|a| a.down).reduce(Sum::less);
        let mut last = first;
        last.add(Sum::of(count.unwrap_or(0)), 1.0);
        if count.is_none() {
            let mut end = upper.into_iter().reduce(Sum::less).unwrap_or_default();
            end.add(Sum::of(l.range.step), 1.0);
            last = first.or(end);
        }
        let reach = Reach {
            up: last,
            down: down.unwrap_or_default(),
        };
        self.fit(reach);
        self.within.insert(l.name.clone(), reach);
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Loop(l, body) => {
                    self.enter(l, None);
                    self.steps(body);
                }
                Step::Local(_) => {}
                Step::Launch(kernel) => {
                    kernel.grid.iter().for_each(|l| self.enter(l, None));
                    self.nodes(kernel, &kernel.body);
                }
            }
        }
    }

    fn nodes(&mut self, kernel: &Kernel, nodes: &[Node]) {
        nodes.iter().for_each(|node| self.node(kernel, node));
    }

    fn node(&mut self, kernel: &Kernel, node: &Node) {
        match node {
            Node::Loop { of, body } => {
                self.enter(of, None);
                self.nodes(kernel, body);
            }
            Node::Unrolled {
                of,
                copies,
                ends,
                body,
            } => {
                self.enter(of, Some(*copies));
                self.all(ends);
                self.nodes(kernel, body);
            }
            Node::Tiles {
                whole_if,
                whole,
                part,
            } => {
                for condition in whole_if {
                    match condition {
                        Condition::AtMost(least, most) => self.all([least, most]),
                        Condition::Multiple { of, .. } => self.all([of]),
                        Condition::Aligned { .. } => {}
                    }
                }
                self.nodes(kernel, whole);
                self.nodes(kernel, part);
            }
            Node::Threads {
                of,
                dimension,
                ends,
                body,
            } => {
                self.enter(of, Some(kernel.threads[*dimension]));
                self.all(ends);
                self.nodes(kernel, body);
            }
            Node::First { body, .. } => self.nodes(kernel, body),
            Node::Stmt(s) => {
                self.all(&s.index);
                s.value.for_each_index(&mut |index| self.all([index]));
            }
            Node::Fill(fill) => {
                for (low, extent) in &fill.region {
                    self.all([low, extent, &low.plus(extent)]);
                }
            }
            Node::Load(Move { part, index, .. }) | Node::Store(Move { part, index, .. }) => {
                let count = i64::try_from(part.shape().elements()).unwrap_or(i64::MAX);
                self.all(index);
                index
                    .iter()
                    .for_each(|a| self.all([&a.plus_constant(count)]));
            }
            Node::Pass(of) => {
                self.all(&of.at);
                self.all(&of.slot);
            }
            Node::Local(_) | Node::Barrier(_) => {}
        }
    }

    fn all<'a>(&mut self, sums: impl IntoIterator<Item = &'a Affine>) {
        for sum in sums {
            self.within(sum);
        }
    }
}
