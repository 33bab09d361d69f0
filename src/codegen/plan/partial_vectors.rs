//! Decides where vector loops begin and end: the remainder is one partial vector, or several
//! shorter ones.
//!
//! ```rhai
//! nest(`
//! f64 y[30], x[30]
//! vector for j in 0..30
//!   y[j] = x[j]
//! `)
//! ```
//!
//! Before:
//!
//! ```text
//! for j in 0..30, in vectors of f64
//!   y[j] = x[j]
//! ```
//!
//! After:
//!
//! ```text
//! for j in 0..30, in vectors of f64, the last 6 in part
//!   y[j] = x[j]
//! ```
//!
//! Where a vector loop ends may be known only when it runs. All vectors of a row of a local tensor
//! are then computed, each as a partial one, if nothing reads the row behind that end. So the row
//! stays in registers. Elements that all lanes share are then read even if all lanes are dead. So they
//! have to be inside of their tensors.
//!
//! A block of a row whose entries are read is a vector if it is whole. The last one of a row usually is
//! not: its lanes run one by one, in a copy of the vector, so that the vector itself stays in a register.
//!
//! A partial vector computes with all of its lanes, live and dead ones. In local tensors the dead
//! lanes are elements after the end of a row. They must also be set: garbage on the stack may be
//! subnormal, which is a hundred times as slow on some processors. They are zeros, or results
//! computed from zeros. If such a result is undefined (`0 / 0`), shorter vectors compute the live
//! lanes alone. Callers who trap floating-point exceptions then get no spurious ones. Tests run the
//! C with signaling NaNs in local tensors.

use super::choose_vectors::Chosen;
use super::lanes::{block_of_row, elem_of, is_uniform, trips, widest, with_entries};
use super::pad_rows::{Rows, rest, round_up};
use super::power;
use super::stream::{Streams, is_aligned};
use super::tree::{
    Context, Local, Loop as PlannedLoop, Mode, Node, PartialVector, Plan, Trips, VectorPlan,
};
use crate::analysis::bounds::Bounds;
use crate::ir::{
    Affine, BinaryOp, Expr, Fill, Function, Index, Loop, Name, Node as Value, Stmt, Tensor, Tree,
};
use crate::target::Target;
use std::collections::HashSet;
use std::sync::Arc;

/// The plan with the first and last iterations of vector loops decided.
pub(super) fn partial_vectors(plan: &Plan, context: &Context<'_>) -> Plan {
    plan.each(|part| {
        let chosen = Chosen::planned(part, context.target);
        let streams = Streams::planned(part);
        let rows = Rows::of(&part.nest, &chosen);
        let marks = Marks {
            unset: unset_lanes(part.trees(), &chosen, &rows, &streams),
            rows,
            streams,
            target: context.target,
        };
        part.with(marks.nodes(&part.nodes, &Bounds::default()))
    })
}

struct Marks<'a> {
    unset: HashSet<Name>,
    rows: Rows,
    streams: Streams,
    target: &'a Target,
}

/// Loops with fewer vectors do not begin with single iterations to align their stores.
const MIN_VECTORS: i64 = 8;

impl Marks<'_> {
    fn nodes(&self, nodes: &[Node], around: &Bounds) -> Vec<Node> {
        let node = |node: &Node| match node {
            Node::Loop(l) => {
                let mut inside = around.clone();
                inside.enter(&l.of);
                let mode = match &l.mode {
                    Mode::Vector(plan) => Mode::Vector(VectorPlan {
                        trips: self.trips(&l.of, plan, &inside),
                        ..plan.clone()
                    }),
                    mode => mode.clone(),
                };
                Node::Loop(Arc::new(PlannedLoop {
                    mode,
                    body: self.nodes(&l.body, &inside),
                    ..(**l).clone()
                }))
            }
            Node::Local(local) => Node::Local(Local {
                zeros: local
                    .tensor
                    .name()
                    .is_some_and(|name| self.unset.contains(name)),
                ..local.clone()
            }),
            other => other.clone(),
        };
        nodes.iter().map(node).collect()
    }

    fn trips(&self, l: &Loop, plan: &VectorPlan, bounds: &Bounds) -> Trips {
        if let Some(lanes) = block_of_row(l) {
            let statements = with_entries(&l.body).unwrap_or_default();
            let of_rows = statements.into_iter().filter(|s| {
                let is_vector = s.target.shape().extents() == [lanes.unsigned_abs()];
                is_vector && self.rows.is_row(&s.target, &s.index, &l.name)
            });
            return Trips::Block {
                lanes,
                rows: of_rows.filter_map(|s| s.target.name().cloned()).collect(),
            };
        }
        let block = plan
            .lanes
            .unwrap_or(widest(self.target) / plan.elem.size() as i64);
        let align = self.unaligned(l, block, bounds);
        match (trips(l), l.range.lower.as_slice()) {
            (Some(count), [lower]) if lower.as_constant() == Some(0) && align.is_none() => {
                let end = End::of(l, &self.rows, &self.streams);
                let part = end.map(|end| PartialVector {
                    rest: end.rest,
                    one_by_one: end.one_by_one,
                    reads: self.accesses(l, |t, i| self.rows.covers(t, i, &l.name, count)),
                    writes: self.accesses(l, |t, i| self.rows.may_clobber(t, i, &l.name, count)),
                });
                Trips::Constant { count, part }
            }
            _ => match masked(l, &self.rows, &self.streams) {
                Some(most) => Trips::Masked {
                    most: round_up(most, block),
                    part: PartialVector {
                        rest: most,
                        one_by_one: false,
                        reads: self.accesses(l, |t, i| self.rows.covers(t, i, &l.name, most)),
                        writes: self.accesses(l, |t, i| self.rows.may_clobber(t, i, &l.name, most)),
                    },
                },
                None => Trips::Any { align },
            },
        }
    }

    /// The accesses in a loop that satisfy a condition.
    fn accesses(
        &self,
        l: &Loop,
        is: impl Fn(&Tensor, &[Affine]) -> bool,
    ) -> Vec<(Tensor, Vec<Affine>)> {
        let mut found: Vec<(Tensor, Vec<Affine>)> = Vec::new();
        let mut look = |tensor: &Tensor, index: &[Affine]| {
            let known = found.iter().any(|(t, i)| t == tensor && i == index);
            if !known && is(tensor, index) {
                found.push((tensor.clone(), index.to_vec()));
            }
        };
        for tree in &l.body {
            let Tree::Stmt(s) = tree else { continue };
            look(&s.target, &s.index);
            s.value.for_each_access(&mut |tensor, index| {
                if let Index::At(index) = index {
                    look(tensor, index);
                }
            });
        }
        found
    }

    /// The first streaming store of a vector loop, if its vectors may be unaligned and the loop is
    /// long enough to align them.
    fn unaligned(&self, l: &Loop, block: i64, bounds: &Bounds) -> Option<Arc<Stmt>> {
        let extents = l.range.upper.iter().flat_map(|upper| {
            let extents = l.range.lower.iter().map(|lower| upper.minus(lower));
            extents.filter_map(|e| Some(bounds.interval(&e)?.1))
        });
        if extents
            .min()
            .is_some_and(|most| most / block <= MIN_VECTORS)
        {
            return None;
        }
        let first = self.streams.first_of(l)?;
        (!is_aligned(first, &l.name, widest(self.target))).then(|| first.clone())
    }
}

/// The most iterations of a loop whose number is known when it runs. All of its vectors are
/// computed, and lanes behind the end are masked. `None` if shorter vectors are better.
fn masked(l: &Loop, rows: &Rows, streams: &Streams) -> Option<i64> {
    let most = rows.most(l)?;
    let ending = Ending {
        l,
        trips: most,
        rest: most,
        rows,
        streams,
    };
    let is_held = |s: &Stmt| {
        let is_row = rows.is_row(&s.target, &s.index, &l.name);
        let is_free = rows.may_clobber(&s.target, &s.index, &l.name, most);
        // Lanes behind the end hold anything afterwards.
        !is_row || is_free && rows.are_read_before(&s.target, l)
    };
    let are_held = l.body.iter().all(|tree| match tree {
        Tree::Stmt(s) => is_held(s),
        _ => false,
    });
    let is_streamed = streams.first_of(l).is_some();
    let may_be = are_held && !is_streamed && !ending.has_poles() && !ending.has_other_sizes();
    may_be.then_some(most)
}

/// A partial vector at the end of a loop.
struct End {
    /// The number of live lanes.
    rest: i64,
    /// Whether it is stored lane by lane.
    one_by_one: bool,
}

impl End {
    /// `None` if shorter vectors are better, or if there is no remainder.
    fn of(l: &Loop, rows: &Rows, streams: &Streams) -> Option<End> {
        let (rest, trips) = (rest(l, rows)?, trips(l)?);
        let ending = Ending {
            l,
            trips,
            rest,
            rows,
            streams,
        };
        if ending.has_poles() || ending.has_other_sizes() {
            return None;
        }
        let one_by_one = ending.may_be_put();
        (one_by_one || ending.may_be_masked()).then_some(End { rest, one_by_one })
    }
}

struct Ending<'a> {
    l: &'a Loop,
    trips: i64,
    rest: i64,
    rows: &'a Rows,
    streams: &'a Streams,
}

impl Ending<'_> {
    /// Whether zeros in dead lanes may have undefined results.
    fn has_poles(&self) -> bool {
        self.l.body.iter().any(|tree| match tree {
            Tree::Stmt(s) => {
                let divides = s.update.is_some_and(has_pole) && !is_uniform(&s.value, &self.l.name);
                divides || has_poles(&s.value, &self.l.name)
            }
            _ => false,
        })
    }

    /// Whether lanes read or set elements that do not fill registers.
    fn has_other_sizes(&self) -> bool {
        let size = |tensor: &Tensor| tensor.elem().size();
        let Some(own) = elem_of(self.l, &self.rows.target) else {
            return true;
        };
        self.l.body.iter().any(|tree| match tree {
            Tree::Stmt(s) => {
                let same = |tensor: &Tensor, _: &[Affine]| size(tensor) == own.size();
                size(&s.target) != own.size() || !all_read(s, &self.l.name, same)
            }
            _ => false,
        })
    }

    /// Whether the vector may be stored under a mask. Masks are only for data that is cached or
    /// reread, and only if shorter vectors do not fit the remainder. Streaming stores have no mask,
    /// and neither do sums in memory: a load after a masked store waits until the store is in the
    /// cache.
    fn may_be_masked(&self) -> bool {
        let Ending { l, trips, rows, .. } = *self;
        let masks = rows.target.instructions.has_masks() && self.rest.count_ones() > 1;
        let fits = l.body.iter().all(|tree| match tree {
            Tree::Stmt(s) => {
                let held = rows.may_clobber(&s.target, &s.index, &l.name, trips);
                let copied = rows.are_copied(s, &l.name);
                let is_sum = held && s.update.is_some();
                let near = rows.are_near(&s.target)
                    && all_read(s, &l.name, |tensor, index| {
                        copied
                            || rows.covers(tensor, index, &l.name, trips)
                            || masks
                                && (rows.are_near(tensor)
                                    || is_sum && rows.are_reread(tensor, &l.name))
                    });
                near && (held || masks && s.update.is_none())
            }
            _ => true,
        });
        fits && self.streams.first_of(l).is_none()
    }

    /// Whether the full vector may be computed and its live lanes stored one by one. Shorter
    /// vectors would recompute values that registers hold. Their partial loads would wait for all
    /// earlier stores, including streaming ones.
    fn may_be_put(&self) -> bool {
        let Ending { l, trips, rows, .. } = *self;
        let is_computed = |s: &Stmt| {
            let held = all_read(s, &l.name, |tensor, index| {
                rows.covers(tensor, index, &l.name, trips)
            });
            held && s.update.is_none() && !matches!(s.value.node(), Value::Access { .. })
        };
        let all = l.body.iter().all(|tree| match tree {
            Tree::Stmt(s) => is_computed(s),
            _ => false,
        });
        all && self.rest.count_ones() > 1 && self.streams.first_of(l).is_some()
    }
}

/// Whether a value has a division, a logarithm or a power of lane-dependent values.
fn has_poles(value: &Expr, lane: &Name) -> bool {
    let own = match value.node() {
        Value::Binary { op, right, .. } => match op {
            BinaryOp::Pow => power::has_pole(right) && !is_uniform(value, lane),
            op => has_pole(*op) && !is_uniform(right, lane),
        },
        Value::Apply { function, .. } => *function == Function::Log && !is_uniform(value, lane),
        _ => false,
    };
    own || value.children().iter().any(|child| has_poles(child, lane))
}

fn has_pole(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Div | BinaryOp::Pow)
}

/// Whether all lane-dependent reads of a statement satisfy a condition.
fn all_read(s: &Stmt, lane: &Name, is: impl Fn(&Tensor, &[Affine]) -> bool) -> bool {
    let mut all = true;
    s.value.for_each_access(&mut |tensor, index| {
        if let Index::At(index) = index {
            let moves = index.iter().any(|a| a.mentions(lane));
            all &= !moves || is(tensor, index);
        }
    });
    all
}

/// The local tensors with lanes that are read, but that not every setter of their rows sets.
fn unset_lanes(trees: &[Tree], chosen: &Chosen, rows: &Rows, streams: &Streams) -> HashSet<Name> {
    let lanes = Lanes {
        chosen,
        rows,
        streams,
    };
    let mut found = HashSet::new();
    lanes.collect(trees, &mut found);
    found
}

struct Lanes<'a> {
    chosen: &'a Chosen,
    rows: &'a Rows,
    streams: &'a Streams,
}

impl Lanes<'_> {
    fn collect(&self, trees: &[Tree], found: &mut HashSet<Name>) {
        for (k, tree) in trees.iter().enumerate() {
            match tree {
                Tree::Local(tensor) => {
                    let scope = &trees[k + 1..];
                    let read = self.read(tensor, scope);
                    if read > 0 && !self.all_set(tensor, read, scope, None) {
                        found.extend(tensor.name().cloned());
                    }
                }
                Tree::Loop(l) => self.collect(&l.body, found),
                Tree::Stmt(_) | Tree::Fill(_) => {}
            }
        }
    }

    /// The trip count of the longest loop whose last vector reads dead lanes in a row of a tensor;
    /// 0 if there is none.
    fn read(&self, tensor: &Tensor, trees: &[Tree]) -> i64 {
        let of_tree = |tree: &Tree| {
            let Tree::Loop(l) = tree else { return 0 };
            let inside = self.read(tensor, &l.body);
            let part = || {
                let end = End::of(l, self.rows, self.streams).and(trips(l));
                end.or_else(|| masked(l, self.rows, self.streams))
            };
            let Some(trips) = Some(l)
                .filter(|l| self.chosen.is_vector(l))
                .and_then(|_| part())
            else {
                return inside;
            };
            let reaches = |t: &Tensor, index: &[Affine]| {
                t.name() == tensor.name() && self.rows.covers(t, index, &l.name, trips)
            };
            let reads = l.body.iter().any(|tree| match tree {
                Tree::Stmt(s) => {
                    let mut reads = s.update.is_some() && reaches(&s.target, &s.index);
                    s.value.for_each_access(&mut |t, index| {
                        if let Index::At(index) = index {
                            reads |= reaches(t, index);
                        }
                    });
                    reads
                }
                _ => false,
            });
            if reads { inside.max(trips) } else { inside }
        };
        trees.iter().map(of_tree).max().unwrap_or(0)
    }

    /// Whether everything that sets elements of a tensor also sets the lanes after the first `read`
    /// elements of their rows.
    fn all_set(&self, tensor: &Tensor, read: i64, trees: &[Tree], around: Option<&Loop>) -> bool {
        let lanes = widest(&self.rows.target) / tensor.elem().size() as i64;
        let sets = |s: &Stmt| {
            let own = |l: &Loop| {
                let masked = || masked(l, self.rows, self.streams);
                trips(l).map_or_else(|| masked().map(|most| (most, true)), |n| Some((n, false)))
            };
            let Some((l, (trips, is_masked))) = around
                .filter(|l| self.chosen.is_vector(l) && l.lanes().is_none())
                .and_then(|l| Some((l, own(l)?)))
            else {
                return false;
            };
            let whole =
                self.rows.is_row(tensor, &s.index, &l.name) && trips >= round_up(read, lanes);
            let part = || {
                trips >= read
                    && self.rows.may_clobber(&s.target, &s.index, &l.name, trips)
                    && (is_masked
                        || End::of(l, self.rows, self.streams).is_some_and(|p| !p.one_by_one))
            };
            !is_masked && whole || part()
        };
        let fills = |fill: &Fill| {
            let row = fill.region.last();
            row.is_some_and(|(low, extent)| {
                let covers = |extent| extent >= round_up(read, lanes);
                low.as_constant() == Some(0) && extent.as_constant().is_some_and(covers)
            })
        };
        trees.iter().all(|tree| match tree {
            Tree::Loop(l) => self.all_set(tensor, read, &l.body, Some(l)),
            Tree::Stmt(s) => s.target.name() != tensor.name() || s.update.is_some() || sets(s),
            Tree::Fill(fill) => fill.target.name() != tensor.name() || fills(fill),
            Tree::Local(_) => true,
        })
    }
}
