//! Checks that a nest computes a tensor for another nest in a form simple enough to compute its
//! values where they are read. It knows one consumer: `compare` finds reads of other nests.

use super::resolve::check_step;
use crate::analysis::facts::is_nonnegative;
use crate::analysis::footprint::{Use, footprint, uses};
use crate::failure::Parameter;
use crate::ir::{
    Affine, Expr, Fill, Index, Loop, Name, Nest, Node, Origin, Range, Stmt, Tensor, Tree,
};
use crate::{Error, refusal};
use std::sync::Arc;

/// The refusal for a nest, the argument for `parameter`, that is not that simple; `found` is in the
/// way.
pub(super) fn not_plain(parameter: &dyn Parameter, found: &str) -> Error {
    let role = parameter.name();
    let text = format!("the {role} is not one assignment in plain loops: {found}");
    let help = "take it as `build` makes it, and transform what comes out";
    refusal(text).help(help).at(parameter)
}

/// One assignment in perfectly nested loops from numbers to numbers or sizes, and its
/// initialization.
pub(super) struct Plain<'a> {
    pub(super) fill: Option<&'a Arc<Fill>>,
    pub(super) loops: Vec<&'a Arc<Loop>>,
    pub(super) stmt: &'a Arc<Stmt>,
}

impl<'a> Plain<'a> {
    /// The parts of a nest, which is the argument for `parameter`.
    pub(super) fn of(nest: &'a Nest, parameter: &dyn Parameter) -> Result<Plain<'a>, Error> {
        let refuse = |found: &str, l: Option<&Arc<Loop>>| {
            let culprit = l.map(|l| l.name.clone());
            Err(not_plain(parameter, found).on(nest, culprit))
        };
        let (fill, mut trees) = match nest.trees() {
            [Tree::Fill(fill), rest @ ..] => (Some(fill), rest),
            trees => (None, trees),
        };
        let mut loops: Vec<&Arc<Loop>> = Vec::new();
        loop {
            match trees {
                [Tree::Loop(l)] => {
                    check_step(nest, l).map_err(|error| error.at(parameter))?;
                    if span(&l.range).is_none() {
                        let found = format!("`{}` runs over {}", l.name, l.range);
                        return refuse(&found, Some(l));
                    }
                    loops.push(l);
                    trees = &l.body;
                }
                [Tree::Stmt(stmt)] => return Ok(Plain { fill, loops, stmt }),
                [Tree::Fill(_) | Tree::Local(_)] | [] => {
                    return refuse("there is no assignment", None);
                }
                several => {
                    let found = format!("{} loops or statements are side by side", several.len());
                    return refuse(&found, loops.last().copied());
                }
            }
        }
    }
}

/// One assignment in such loops, which sets each element of a box once.
pub(super) struct Producer<'a> {
    pub(super) fill: Option<&'a Arc<Fill>>,
    pub(super) loops: Vec<&'a Arc<Loop>>,
    pub(super) stmt: &'a Arc<Stmt>,
    /// The box of elements that it sets: the first index, and the number of indices.
    pub(super) region: Vec<(i64, Affine)>,
}

impl<'a> Producer<'a> {
    /// Takes a nest, the argument for `parameter`, as a producer. Each dimension of its target has
    /// an iterator of its own.
    pub(super) fn of(nest: &'a Nest, parameter: &dyn Parameter) -> Result<Producer<'a>, Error> {
        Producer::over(Plain::of(nest, parameter)?, nest, parameter, region)
    }

    /// Takes a nest with these parts as a producer of the box `region`.
    pub(super) fn over(
        Plain { fill, loops, stmt }: Plain<'a>,
        nest: &'a Nest,
        parameter: &dyn Parameter,
        region: impl FnOnce(&Tensor, &[Affine], &[&Arc<Loop>]) -> Result<Vec<(i64, Affine)>, String>,
    ) -> Result<Producer<'a>, Error> {
        let not_plain = |found: &str| not_plain(parameter, found).on(nest, []);
        let region = region(&stmt.target, &stmt.index, &loops);
        let region = region.map_err(|found| not_plain(&found))?;
        let filled = fill.filter(|fill| fill.target == stmt.target);
        let filled = filled.and_then(|fill| {
            let as_region = |(low, n): &(Affine, Affine)| Some((low.as_constant()?, n.clone()));
            let filled: Option<Vec<_>> = fill.region.iter().map(as_region).collect();
            Some((fill, filled?))
        });
        let begins = filled.as_ref().is_some_and(|(_, filled)| *filled == region);
        if let Some((fill, filled)) = &filled
            && !begins
            && filled
                .iter()
                .zip(&region)
                .all(|(all, own)| contains(all, own))
        {
            let found = format!("`{fill}` sets more than the loops do");
            return Err(not_plain(&found));
        }
        if (stmt.update.is_some() || fill.is_some()) && !begins || reads(&stmt.value, &stmt.target)
        {
            let tensor = stmt.target.label();
            let text = format!("the producer needs what {tensor} held before");
            return Err(refusal(text).at(parameter).on(nest, []));
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
        // A tensor of the same name with another shape is a different one.
        found.retain(|used| used.tensor == self.tensor());
        found
    }

    /// Checks that the producer computes all elements that `consumer` reads of the tensor.
    /// `consumer` is the argument for `parameter`.
    pub(super) fn check_consumer(
        &self,
        consumer: &Nest,
        parameter: &dyn Parameter,
    ) -> Result<(), Error> {
        let tensor = self.tensor().label();
        let refuse = |error: Error| Err(error.at(parameter).on(consumer, []));
        for line in consumer.lines() {
            let written = match line.tree {
                Tree::Stmt(s) => &s.target,
                Tree::Fill(fill) => &fill.target,
                Tree::Loop(_) | Tree::Local(_) => continue,
            };
            let same = written.name() == self.tensor().name();
            if same || reads(&self.stmt.value, written) {
                let written = written.label();
                return refuse(refusal(format!(
                    "the consumer writes {written}, which {tensor} is computed from or is itself"
                )));
            }
        }
        let Some(read) = footprint(consumer, &self.reads_in(consumer), 0) else {
            return refuse(refusal(format!("the consumer does not read {tensor}")));
        };
        let read: Vec<Range> = read.iter().map(|s| s.offsets.shifted(&s.low)).collect();
        let inside = read.iter().zip(&self.region).all(|(range, (low, n))| {
            let is_least = |first: &Affine| is_nonnegative(&first.plus_constant(-low), &[]);
            let is_most = |end: &Affine| is_nonnegative(&n.plus_constant(*low).minus(end), &[]);
            range.lower.iter().any(is_least) && range.upper.iter().any(is_most)
        });
        if inside {
            return Ok(());
        }
        let set = self.region.iter().map(|(low, n)| whole(*low, n));
        let (read, set) = (self.shown(read.into_iter()), self.shown(set));
        let error = refusal(format!(
            "the consumer reads {read}, and the producer sets {set}"
        ));
        refuse(error.help("assign all that is read, or let the consumer read less"))
    }

    fn shown(&self, ranges: impl Iterator<Item = Range>) -> String {
        let ranges: String = ranges.map(|range| format!("[{range}]")).collect();
        format!("{}{ranges}", self.tensor().label())
    }
}

/// Whether one side of a box contains another one.
fn contains((low, extent): &(i64, Affine), (inner, inner_extent): &(i64, Affine)) -> bool {
    let behind = extent.plus_constant(low - inner).minus(inner_extent);
    low <= inner && is_nonnegative(&behind, &[])
}

/// The `extent` indices from `low` on.
fn whole(low: i64, extent: &Affine) -> Range {
    Range::between(Affine::constant(low), extent.plus_constant(low))
}

/// The box of elements of `tensor` at an index with an iterator of its own, or a constant, in each
/// dimension. The error describes any other index.
pub(super) fn region(
    tensor: &Tensor,
    index: &[Affine],
    loops: &[&Arc<Loop>],
) -> Result<Vec<(i64, Affine)>, String> {
    let dimension = |at: &Affine| {
        let name = match at.terms() {
            [] => return Ok((at.offset(), Affine::constant(1))),
            [(name, 1)] => name,
            _ => return Err(format!("{} is indexed by `{at}`", tensor.label())),
        };
        let (low, extent) = values(name, index, loops)?;
        Ok((low.saturating_add(at.offset()), extent))
    };
    index.iter().map(dimension).collect()
}

/// The first value of an iterator of one dimension of an index, and the number of its values. The
/// error describes an iterator of several dimensions, or one whose loop is not among `loops`.
pub(super) fn values(
    name: &Name,
    index: &[Affine],
    loops: &[&Arc<Loop>],
) -> Result<(i64, Affine), String> {
    if index.iter().filter(|a| a.mentions(name)).count() > 1 {
        return Err(format!("`{name}` indexes several dimensions"));
    }
    let range = loops.iter().find(|l| l.name == *name);
    range
        .and_then(|l| span(&l.range))
        .ok_or_else(|| format!("`{name}` is not one of its loops"))
}

/// The first value of a range, and the number of values. `None` if the first is not a number, or if
/// iterators decide the end.
fn span(range: &Range) -> Option<(i64, Affine)> {
    if let Some((low, high)) = range.as_constant() {
        return Some((low, Affine::constant(high.saturating_sub(low).max(0))));
    }
    match (&range.lower[..], &range.upper[..]) {
        ([low], [end]) if end.is_fixed() => {
            let low = low.as_constant()?;
            Some((low, end.plus_constant(-low)))
        }
        _ => None,
    }
}

/// Whether a value reads a tensor of that name.
fn reads(value: &Expr, tensor: &Tensor) -> bool {
    let mut found = false;
    value.for_each_tensor(&mut |t| found |= t.name() == tensor.name());
    found
}

/// The replacement of a read, by the indices of the read.
pub(super) struct Replacement<'f> {
    pub(super) value: &'f dyn Fn(&[Affine]) -> Expr,
    /// The origin of a statement that only copied the element.
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
