//! A nest that computes a tensor for another one: what both have to be like, so that the values
//! can be computed where they are read.

use super::resolve::check_step;
use crate::analysis::footprint::{Use, footprint, uses};
use crate::ir::{
    Affine, Expr, Fill, Index, Loop, Name, Nest, Node, Origin, Range, Stmt, Tensor, Tree,
};
use crate::transform::Error;
use std::sync::Arc;

/// Why a tensor is not computed where it is read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoProducer {
    /// A nest is not as simple as it has to be.
    #[error("the {role} is not one assignment in plain loops: {found}")]
    NotPlain {
        /// Which of the nests.
        role: &'static str,
        /// What is in the way.
        found: String,
    },
    /// The producer reduces, and a value that is read cannot be written in the place of a read.
    #[error("{tensor} is the result of a reduction, which has no value that could be inserted")]
    Reduces {
        /// The tensor.
        tensor: String,
    },
    /// The producer needs what its target held before.
    #[error("the producer needs what {tensor} held before")]
    ReadsTarget {
        /// The tensor.
        tensor: String,
    },
    /// The consumer has no use for it.
    #[error("the consumer does not read {tensor}")]
    NotRead {
        /// The tensor.
        tensor: String,
    },
    /// The consumer writes the tensor, or what it is computed from.
    #[error("the consumer writes {written}, which {tensor} is computed from or is itself")]
    Overwritten {
        /// What the consumer writes.
        written: String,
        /// The producer's tensor.
        tensor: String,
    },
    /// The consumer reads elements that the producer does not set.
    #[error("the consumer reads {read}, and the producer sets {set}")]
    NotSet {
        /// The box that is read.
        read: String,
        /// The box that is set.
        set: String,
    },
    /// The consumer reads the tensor in other places, too.
    #[error("{tensor} is read outside of {}, too", match .names.as_slice() {
        [] => "a list without loops".to_owned(),
        names => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and "),
    })]
    ReadElsewhere {
        /// The tensor.
        tensor: String,
        /// The loops.
        names: Vec<Name>,
    },
    /// A loop of a list has nothing to read, or what another one has.
    #[error("`{name}` reads nothing of {tensor} that the other loops do not")]
    NothingOwn {
        /// The tensor.
        tensor: String,
        /// The loop.
        name: Name,
    },
}

impl NoProducer {
    /// What would be legal instead.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            NoProducer::NotPlain { .. } => {
                Some("take it as `build` makes it, and transform what comes out")
            }
            NoProducer::Reduces { .. } => Some("compute_at computes reductions in a loop"),
            NoProducer::NotSet { .. } => {
                Some("assign all that is read, or let the consumer read less")
            }
            NoProducer::ReadElsewhere { .. } => {
                Some("choose a loop around all reads, or the level 0 for the whole nest")
            }
            NoProducer::NothingOwn { .. } => Some("leave it out of the list"),
            NoProducer::ReadsTarget { .. }
            | NoProducer::NotRead { .. }
            | NoProducer::Overwritten { .. } => None,
        }
    }
}

/// One assignment in perfectly nested loops with constant bounds, and what it begins with.
pub(super) struct Plain<'a> {
    pub(super) fill: Option<&'a Arc<Fill>>,
    pub(super) loops: Vec<&'a Arc<Loop>>,
    pub(super) stmt: &'a Arc<Stmt>,
}

impl<'a> Plain<'a> {
    /// The parts of a nest, which is parameter number `argument` and called `role` in errors.
    pub(super) fn of(
        nest: &'a Nest,
        role: &'static str,
        argument: usize,
    ) -> Result<Plain<'a>, Error> {
        let refuse = |found: String, l: Option<&Arc<Loop>>| {
            let culprit = l.map(|l| l.name.clone());
            let kind = NoProducer::NotPlain { role, found };
            Err(Error::from(kind).at_argument(argument).on(nest, culprit))
        };
        let (fill, mut trees) = match nest.trees() {
            [Tree::Fill(fill), rest @ ..] => (Some(fill), rest),
            trees => (None, trees),
        };
        let mut loops: Vec<&Arc<Loop>> = Vec::new();
        loop {
            match trees {
                [Tree::Loop(l)] => {
                    check_step(nest, l).map_err(|e| e.at_argument(argument))?;
                    if l.range.as_constant().is_none() {
                        let found = format!("`{}` runs over {}", l.name, l.range);
                        return refuse(found, Some(l));
                    }
                    loops.push(l);
                    trees = &l.body;
                }
                [Tree::Stmt(stmt)] => return Ok(Plain { fill, loops, stmt }),
                [Tree::Fill(_) | Tree::Local(_)] | [] => {
                    return refuse("there is no assignment".to_owned(), None);
                }
                several => {
                    let found = format!("{} loops or statements are side by side", several.len());
                    return refuse(found, loops.last().copied());
                }
            }
        }
    }
}

/// One assignment in loops with constant bounds, each dimension of whose target has an iterator of
/// its own.
pub(super) struct Producer<'a> {
    pub(super) fill: Option<&'a Arc<Fill>>,
    pub(super) loops: Vec<&'a Arc<Loop>>,
    pub(super) stmt: &'a Arc<Stmt>,
    /// The box that is set.
    pub(super) region: Vec<(i64, u64)>,
}

impl<'a> Producer<'a> {
    /// The producer that a nest is.
    pub(super) fn of(nest: &'a Nest) -> Result<Producer<'a>, Error> {
        let Plain { fill, loops, stmt } = Plain::of(nest, "producer", 0)?;
        let refuse = |kind: NoProducer| Err(Error::from(kind).at_argument(0).on(nest, []));
        let plain = |found| {
            let role = "producer";
            NoProducer::NotPlain { role, found }
        };
        let region = match region(&stmt.target, &stmt.index, &loops) {
            Ok(region) => region,
            Err(found) => return refuse(plain(found)),
        };
        let tensor = stmt.target.label().to_owned();
        let filled = fill.filter(|fill| fill.target == stmt.target);
        let filled = filled.and_then(|fill| {
            let as_region = |(low, n): &(Affine, u64)| Some((low.as_constant()?, *n));
            let filled: Option<Vec<_>> = fill.region.iter().map(as_region).collect();
            Some((fill, filled?))
        });
        let begins = filled.as_ref().is_some_and(|(_, filled)| *filled == region);
        if let Some((fill, filled)) = &filled
            && !begins
            && filled
                .iter()
                .zip(&region)
                .all(|(all, own)| contains(*all, *own))
        {
            let found = format!("`{fill}` sets more than the loops do");
            return refuse(plain(found));
        }
        if (stmt.update.is_some() || fill.is_some()) && !begins || reads(&stmt.value, &stmt.target)
        {
            return refuse(NoProducer::ReadsTarget { tensor });
        }
        Ok(Producer {
            fill,
            loops,
            stmt,
            region,
        })
    }

    /// The tensor that it computes.
    pub(super) fn tensor(&self) -> &'a Tensor {
        &self.stmt.target
    }

    /// The reads of the tensor in another nest.
    pub(super) fn reads_in<'c>(&self, consumer: &'c Nest) -> Vec<Use<'c>> {
        let mut found = uses(consumer, self.tensor().label());
        // A tensor of the same name and another shape is none.
        found.retain(|used| used.tensor == self.tensor());
        found
    }

    /// That what `consumer` reads of the tensor is what the producer computes.
    pub(super) fn check_consumer(&self, consumer: &Nest) -> Result<(), Error> {
        let label = || self.tensor().label().to_owned();
        let refuse = |kind: NoProducer| Err(Error::from(kind).at_argument(1).on(consumer, []));
        for line in consumer.lines() {
            let written = match line.tree {
                Tree::Stmt(s) => &s.target,
                Tree::Fill(fill) => &fill.target,
                Tree::Loop(_) | Tree::Local(_) => continue,
            };
            let same = written.name() == self.tensor().name();
            if same || reads(&self.stmt.value, written) {
                let (written, tensor) = (written.label().to_owned(), label());
                return refuse(NoProducer::Overwritten { written, tensor });
            }
        }
        let Some(read) = footprint(consumer, &self.reads_in(consumer), 0) else {
            return refuse(NoProducer::NotRead { tensor: label() });
        };
        let read: Vec<Range> = read.iter().map(|s| s.offsets.shifted(&s.low)).collect();
        let inside = read.iter().zip(&self.region).all(|(range, (low, n))| {
            let (first, end) = range.as_constant().unwrap_or((i64::MIN, i64::MAX));
            first >= *low && end <= low.saturating_add_unsigned(*n)
        });
        if inside {
            return Ok(());
        }
        let set = self.region.iter().map(|(low, n)| whole(*low, *n));
        let (read, set) = (self.shown(read.into_iter()), self.shown(set));
        refuse(NoProducer::NotSet { read, set })
    }

    fn shown(&self, ranges: impl Iterator<Item = Range>) -> String {
        let ranges: String = ranges.map(|range| format!("[{range}]")).collect();
        format!("{}{ranges}", self.tensor().label())
    }
}

/// Whether one side of a box contains another one.
fn contains((low, extent): (i64, u64), (inner, inner_extent): (i64, u64)) -> bool {
    let end = |low: i64, extent| low.saturating_add_unsigned(extent);
    low <= inner && end(inner, inner_extent) <= end(low, extent)
}

/// The `extent` indices from `low` on.
fn whole(low: i64, extent: u64) -> Range {
    Range::constant(low, low.saturating_add_unsigned(extent))
}

/// The box of elements of `tensor` at an index with an iterator of its own, or none, in each
/// dimension; or what it has in place of that.
pub(super) fn region(
    tensor: &Tensor,
    index: &[Affine],
    loops: &[&Arc<Loop>],
) -> Result<Vec<(i64, u64)>, String> {
    let dimension = |at: &Affine| {
        let name = match at.terms() {
            [] => return Ok((at.offset(), 1)),
            [(name, 1)] => name,
            _ => return Err(format!("{} is indexed by `{at}`", tensor.label())),
        };
        if index.iter().filter(|a| a.mentions(name)).count() > 1 {
            return Err(format!("`{name}` indexes several dimensions"));
        }
        let range = loops.iter().find(|l| l.name == *name);
        let (low, high) = range
            .and_then(|l| l.range.as_constant())
            .ok_or_else(|| format!("`{name}` is not one of its loops"))?;
        let extent = high.saturating_sub(low).max(0).unsigned_abs();
        Ok((low.saturating_add(at.offset()), extent))
    };
    index.iter().map(dimension).collect()
}

/// Whether a value reads a tensor of that name.
fn reads(value: &Expr, tensor: &Tensor) -> bool {
    let mut found = false;
    value.for_each_access(&mut |t, _| found |= t.name() == tensor.name());
    found
}

/// What a read of a tensor is replaced by, by its indices.
pub(super) struct Replacement<'f> {
    pub(super) value: &'f dyn Fn(&[Affine]) -> Expr,
    /// What a statement executes that only copied the element that was read.
    pub(super) origin: &'f dyn Fn(&[Affine]) -> Option<Origin>,
}

/// The tree with every read of `tensor` replaced.
pub(super) fn replace_reads(tree: &Tree, tensor: &Tensor, with: &Replacement) -> Tree {
    match tree {
        Tree::Loop(l) => {
            let body = l.body.iter().map(|t| replace_reads(t, tensor, with));
            Tree::of_loop(Loop {
                body: body.collect(),
                ..(**l).clone()
            })
        }
        Tree::Stmt(s) => {
            let replaced = |t: &Tensor, index: &Index| match index {
                _ if t != tensor => None,
                Index::At(index) => Some((with.value)(index)),
                Index::Unset | Index::Forbidden => Some((with.value)(&[])),
            };
            let copied = match s.value.node() {
                Node::Access { tensor: t, index } if t == tensor => match index {
                    Index::At(index) => (with.origin)(index),
                    Index::Unset | Index::Forbidden => (with.origin)(&[]),
                },
                _ => None,
            };
            let value = s.value.map_accesses(&replaced);
            let s = Stmt::clone(s);
            let is_copy = s.origin.is_none() && s.update.is_none();
            let origin = s.origin.or(copied.filter(|_| is_copy));
            Tree::Stmt(Arc::new(Stmt { value, origin, ..s }))
        }
        Tree::Fill(_) | Tree::Local(_) => tree.clone(),
    }
}
