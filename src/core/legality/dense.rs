//! Nests with bounds that are read, as nests with affine bounds alone.
//!
//! ```text
//! for e in ptr[i]..ptr[i + 1]      for e in 0..z
//!   let c = col[e]                   for c in 0..n
//!     y[i] += V[e]*x[c]                y[i] += select(ptr[i] <= e, select(ptr[i + 1] > e,
//!                                        select(col[e] == c, V[e]*x[c], 0), 0), 0)
//! ```
//!
//! Both compute the same, given the facts about entries: the affine bounds hold all values that are
//! read, and an iteration that the left one skips adds the identity on the right. An assignment
//! without an operation keeps the old element instead. So a proof about the right one is a proof
//! about the left one. Definitions are written in the same way, so that bounds which steps lose or
//! change are noticed.
//!
//! A tensor that is local to an iteration needs no conditions on the loops around its declaration:
//! nothing reads it in iterations that are skipped. Partial results keep all conditions of the
//! definition. So they are identities in such iterations, and adding them up needs no conditions.
//!
//! Blocks of a row begin at its first entry, so that their places depend on it. They depend on nothing
//! but its remainder by the step, which becomes an iterator of its own, in the definition as well:
//!
//! ```text
//! for b in ptr[i]..ptr[i + 1] step 4         for r in 0..4
//!   for e in b..min(b + 4, ptr[i + 1])         for b in r..z step 4
//!     y[i] += V[e]                               for e in b..min(b + 4, z)
//!                                                  y[i] += select(ptr[i] % 4 == r, select(ptr[i] <= e,
//!                                                    select(ptr[i + 1] > e, V[e], 0), 0), 0)
//! ```
//!
//! An entry of a block that is in the row has a block that begins in the row, so that `b` needs no
//! conditions.
//!
//! The loops keep what they read. Pairs of iterations that cannot both run are left out by it
//! ([`super::pairs`]).

use super::verdict::Undecided;
use crate::ir::{
    Affine, BinaryOp, Comparison, Constant, Elem, Expr, Function, Lookup, Loop, Name, Nest, Node,
    Origin, Part, Range, Segment, Shape, Stmt, Tensor, Tree,
};
use std::borrow::Cow;
use std::sync::Arc;

/// The same nests without bounds that are read.
///
/// # Errors
/// A fill sets elements only where such bounds allow.
pub(super) fn dense(nests: &[Nest]) -> Result<Cow<'_, [Nest]>, Undecided> {
    if !nests.iter().any(reads_bounds) {
        return Ok(Cow::Borrowed(nests));
    }
    let mut strides = Strides::default();
    nests.iter().for_each(|nest| strides.collect(nest.trees()));
    let dense = nests.iter().map(|nest| of_nest(nest, &strides));
    let dense: Result<Vec<Nest>, Undecided> = dense.collect();
    Ok(Cow::Owned(dense?))
}

/// Whether bounds of a nest are read from tensors.
pub(super) fn reads_bounds(nest: &Nest) -> bool {
    fn any(tree: &Tree) -> bool {
        let l = tree.as_loop();
        l.is_some_and(|l| l.range.within.is_some() || l.body.iter().any(any))
    }
    let parts = nest.originals().iter();
    let mut trees = parts.flat_map(|part| part.trees.iter()).chain(nest.trees());
    trees.any(any)
}

/// Whether entries of rows run in blocks.
pub(super) fn has_blocks(nests: &[Nest]) -> bool {
    let mut strides = Strides::default();
    nests.iter().for_each(|nest| strides.collect(nest.trees()));
    !strides.0.is_empty()
}

fn of_nest(nest: &Nest, strides: &Strides) -> Result<Nest, Undecided> {
    let mut parts = Vec::with_capacity(nest.originals().len());
    let mut places = Vec::new();
    for part in nest.originals() {
        let mut own = vec![Vec::new(); part.steps()];
        if !strides.0.is_empty() {
            strides.places(&part.trees, &mut Vec::new(), &mut own);
        }
        let trees = Walk::of(strides, &own).sequence(&part.trees)?;
        parts.push(Part {
            trees: trees.into(),
            ..part.clone()
        });
        places.extend(own);
    }
    let trees = Walk::of(strides, &places).sequence(nest.trees())?;
    Ok(nest.with_parts(trees, parts))
}

/// The tensors in which rows begin and end whose blocks have a step, with a common multiple of these
/// steps.
#[derive(Default)]
struct Strides(Vec<([String; 2], i64)>);

fn rows(segment: &Segment) -> Option<[String; 2]> {
    let first = segment.of_row()?;
    Some([&first.tensor, &segment.upper.tensor].map(|tensor| tensor.label().to_owned()))
}

impl Strides {
    fn collect(&mut self, trees: &[Tree]) {
        for l in trees.iter().filter_map(Tree::as_loop) {
            if let Some(segment) = l.range.within.as_ref().filter(|s| s.step > 1)
                && let Some(rows) = rows(segment)
            {
                match self.0.iter_mut().find(|(known, _)| *known == rows) {
                    Some((_, step)) => *step = common_multiple(*step, segment.step),
                    None => self.0.push((rows, segment.step)),
                }
            }
            self.collect(&l.body);
        }
    }

    /// The step of blocks in the rows of a segment.
    fn of(&self, segment: &Segment) -> Option<i64> {
        let rows = rows(segment)?;
        let found = self.0.iter().find(|(known, _)| *known == rows);
        found.map(|(_, step)| *step)
    }

    /// For each assignment of a definition, the loops over such rows, as numbers of loops around.
    fn places(&self, trees: &[Tree], around: &mut Vec<bool>, found: &mut [Vec<usize>]) {
        for tree in trees {
            match tree {
                Tree::Loop(l) => {
                    let segment = l.range.within.as_ref();
                    around.push(segment.is_some_and(|segment| self.of(segment).is_some()));
                    self.places(&l.body, around, found);
                    around.pop();
                }
                Tree::Stmt(s) => {
                    let origin = s.origin.as_ref();
                    if let Some(known) = origin.and_then(|o| found.get_mut(o.assignment)) {
                        let depths = around.iter().enumerate().filter(|(_, has)| **has);
                        *known = depths.map(|(depth, _)| depth).collect();
                    }
                }
                Tree::Fill(_) | Tree::Local(_) => {}
            }
        }
    }
}

fn common_multiple(a: i64, b: i64) -> i64 {
    let (mut divisor, mut rest) = (a, b);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (a / divisor).saturating_mul(b)
}

/// A condition on the iterations that run.
#[derive(Clone)]
enum Limit<'a> {
    /// An iterator has one of the values of a segment.
    Values(&'a Name, Segment),
    /// The remainder of an entry, by a step.
    Remainder(Name, Lookup, i64),
    /// A condition that a loop inside implies.
    Implied,
}

/// A row whose entries run in blocks.
struct Row<'a> {
    /// The iterators of its loops.
    names: Vec<&'a Name>,
    segment: &'a Segment,
    /// The iterator of the remainder of its first entry.
    remainder: Name,
    /// The place of the loop over blocks in [`Walk::around`].
    place: usize,
}

impl Row<'_> {
    /// Where a block begins and ends, in the terms of a segment within it.
    fn block(&self, part: &Segment) -> [Affine; 2] {
        let by = part.upper.plus.minus(&self.segment.upper.plus);
        let begin = Affine::iterator(self.names[0].clone()).plus(&by);
        let stop = begin.plus_constant(self.segment.step);
        [begin, stop]
    }

    /// The most values that entries have. If they are few, bounds of blocks follow from the facts.
    fn values(&self) -> Option<i64> {
        self.segment
            .high()?
            .minus(&self.segment.low()?)
            .as_constant()
    }
}

/// The bounds around a tree that are read.
struct Walk<'a> {
    strides: &'a Strides,
    /// For each assignment, the coordinates before which a remainder is one more.
    places: &'a [Vec<usize>],
    around: Vec<Limit<'a>>,
    rows: Vec<Row<'a>>,
    locals: Vec<Local<'a>>,
    /// The number of loops over remainders.
    remainders: usize,
}

/// A local tensor in scope.
struct Local<'a> {
    tensor: &'a Tensor,
    /// The number of bounds that are read around its declaration.
    depth: usize,
    /// The operation of its partial results, if it has nothing else: fills set its identity, and all
    /// updates are those of the definition, or of other partial results.
    partial: Option<BinaryOp>,
}

/// Adds the operations of all updates of a tensor in trees, and what fills set it to. `adds` gives
/// the operation of a statement that adds partial results to it or to others.
fn written_to(
    tensor: &Tensor,
    trees: &[Tree],
    adds: &dyn Fn(&Stmt) -> Option<BinaryOp>,
    found: &mut (Vec<Option<BinaryOp>>, Vec<Constant>),
) {
    for tree in trees {
        match tree {
            Tree::Loop(l) => written_to(tensor, &l.body, adds, found),
            Tree::Stmt(s) if s.target.name() == tensor.name() => found.0.push(adds(s)),
            Tree::Fill(fill) if fill.target.name() == tensor.name() => found.1.push(fill.value),
            Tree::Stmt(_) | Tree::Fill(_) | Tree::Local(_) => {}
        }
    }
}

impl<'a> Walk<'a> {
    fn of(strides: &'a Strides, places: &'a [Vec<usize>]) -> Walk<'a> {
        Walk {
            strides,
            places,
            around: Vec::new(),
            rows: Vec::new(),
            locals: Vec::new(),
            remainders: 0,
        }
    }

    fn sequence(&mut self, trees: &'a [Tree]) -> Result<Vec<Tree>, Undecided> {
        let outside = self.locals.len();
        let made = trees.iter().enumerate();
        let made = made.map(|(k, tree)| match tree {
            Tree::Local(tensor) => {
                self.locals.push(Local {
                    tensor,
                    depth: self.around.len(),
                    partial: self.partial(tensor, &trees[k..]),
                });
                Ok(tree.clone())
            }
            tree => self.tree(tree),
        });
        let made = made.collect();
        self.locals.truncate(outside);
        made
    }

    fn tree(&mut self, tree: &'a Tree) -> Result<Tree, Undecided> {
        match tree {
            Tree::Loop(l) => {
                let (depth, rows) = (self.around.len(), self.rows.len());
                let made = self.of_loop(l);
                self.around.truncate(depth);
                self.rows.truncate(rows);
                made
            }
            Tree::Local(_) => Ok(tree.clone()),
            Tree::Fill(fill) if self.about(&fill.target).is_empty() => {
                let mut fill = (**fill).clone();
                fill.origin = self.with_remainders(fill.origin.as_ref())?;
                Ok(Tree::Fill(Arc::new(fill)))
            }
            Tree::Fill(fill) => Err(Undecided::Skipped {
                text: fill.to_string(),
            }),
            Tree::Stmt(s) => self.stmt(s).map(|s| Tree::Stmt(Arc::new(s))),
        }
    }

    fn of_loop(&mut self, l: &'a Loop) -> Result<Tree, Undecided> {
        let with = |range: Range, body: Vec<Tree>| {
            Tree::of_loop(Loop {
                range,
                body,
                ..l.clone()
            })
        };
        let Some(segment) = &l.range.within else {
            return Ok(with(l.range.clone(), self.sequence(&l.body)?));
        };
        if l.range.is_part() {
            return self.part(l, segment, &with);
        }
        let values = Limit::Values(&l.name, segment.clone());
        let (Some(step), Some(first)) = (self.strides.of(segment), segment.of_row()) else {
            self.around.push(values);
            return Ok(with(l.range.clone(), self.sequence(&l.body)?));
        };
        let low = segment.low().and_then(|low| low.as_constant());
        let low = low.ok_or_else(|| undecided(&l.range))?;
        self.remainders += 1;
        let remainder = Name::generated(self.remainders);
        let first = first.plus(&Affine::constant(-low));
        let limit = Limit::Remainder(remainder.clone(), first, step);
        self.around.push(limit);
        self.rows.push(Row {
            names: vec![&l.name],
            segment,
            remainder: remainder.clone(),
            place: self.around.len(),
        });
        self.around.push(values);
        let body = self.sequence(&l.body)?;
        // The first entry is at least as large as its remainder.
        let lower = vec![Affine::iterator(remainder.clone()).plus_constant(low)];
        let range = match segment.step {
            1 => Range {
                lower,
                ..l.range.clone()
            },
            own => Range {
                lower,
                step: own,
                within: None,
                ..l.range.clone()
            },
        };
        let remainders = Range::constant(0, step);
        let inside = vec![with(range, body)];
        Ok(Tree::of_loop(Loop::serial(remainder, remainders, inside)))
    }

    /// A loop over the entries of one block of a row.
    fn part(
        &mut self,
        l: &'a Loop,
        segment: &'a Segment,
        with: &dyn Fn(Range, Vec<Tree>) -> Tree,
    ) -> Result<Tree, Undecided> {
        let begins_at = |row: &Row| {
            let by = segment.upper.plus.minus(&row.segment.upper.plus);
            let low = row.segment.low().map(|low| low.plus(&by));
            low.is_some_and(|low| l.range.lower.contains(&low))
        };
        let of_row = self.rows.iter().rposition(|row| {
            let (upper, end) = (&row.segment.upper, &segment.upper);
            let [begin, stop] = row.block(segment);
            let few = |most: i64| row.values().is_some_and(|values| values <= most);
            (&upper.tensor, &upper.index) == (&end.tensor, &end.index)
                && (l.range.lower.contains(&begin) || few(1) && begins_at(row))
                && (l.range.upper.contains(&stop) || few(row.segment.step))
        });
        let of_row = of_row.filter(|_| segment.step == 1);
        let found = of_row.and_then(|k| Some((k, self.rows[k].segment.of_row()?)));
        let (k, first) = found.ok_or_else(|| undecided(&l.range))?;
        let row = &mut self.rows[k];
        let ends = row.block(segment);
        let by = segment.upper.plus.minus(&row.segment.upper.plus);
        let whole = Segment::between(first.plus(&by), segment.upper.clone());
        row.names.push(&l.name);
        let place = row.place;
        let outside = std::mem::replace(&mut self.around[place], Limit::Implied);
        self.around.push(Limit::Values(&l.name, whole.clone()));
        let body = self.sequence(&l.body);
        self.around[place] = outside;
        self.rows[k].names.pop();
        let [begin, stop] = ends;
        let with_bound = |bounds: &[Affine], more: [Option<Affine>; 2]| -> Vec<Affine> {
            let more = more.into_iter().flatten();
            let more = more.filter(|bound| !bounds.contains(bound));
            bounds.iter().cloned().chain(more).collect()
        };
        let range = Range {
            lower: with_bound(&l.range.lower, [Some(begin), whole.low()]),
            upper: with_bound(&l.range.upper, [Some(stop), None]),
            within: Some(whole),
            ..l.range.clone()
        };
        Ok(with(range, body?))
    }

    /// The instance of the definition with its remainders.
    fn with_remainders(&self, origin: Option<&Origin>) -> Result<Option<Origin>, Undecided> {
        let Some(origin) = origin else {
            return Ok(None);
        };
        let mut point = Vec::with_capacity(origin.point.len());
        let places = self.places.get(origin.assignment).map_or(&[][..], |of| of);
        for (depth, value) in origin.point.iter().enumerate() {
            if places.contains(&depth) {
                let of_row = |row: &&Row| row.names.iter().any(|name| value.mentions(name));
                let row = self.rows.iter().rev().find(of_row);
                let row = row.ok_or_else(|| Undecided::Skipped {
                    text: value.to_string(),
                })?;
                point.push(Affine::iterator(row.remainder.clone()));
            }
            point.push(value.clone());
        }
        Ok(Some(Origin {
            point,
            ..origin.clone()
        }))
    }

    /// The bounds that decide whether a statement that writes `target` counts.
    fn about(&self, target: &Tensor) -> &[Limit<'a>] {
        let depth = self.local(target).map_or(0, |local| local.depth);
        &self.around[depth..]
    }

    fn local(&self, tensor: &Tensor) -> Option<&Local<'a>> {
        let mut locals = self.locals.iter().rev();
        locals.find(|local| local.tensor.name() == tensor.name())
    }

    /// The operation of the partial results in a local tensor of these trees.
    fn partial(&self, tensor: &Tensor, trees: &[Tree]) -> Option<BinaryOp> {
        let adds = |s: &Stmt| match s.origin {
            Some(_) => s.update,
            None => s.update.filter(|op| {
                let added = s.value.tensor().and_then(|added| self.local(added));
                added.is_some_and(|local| local.partial == Some(*op))
            }),
        };
        let mut found = (Vec::new(), Vec::new());
        written_to(tensor, trees, &adds, &mut found);
        let (updates, fills) = found;
        let op = (*updates.first()?)?;
        let identity = identity(op, tensor.elem())?;
        let is_identity = |value: &Constant| *identity.node() == Node::Constant(*value);
        let is_partial = updates.iter().all(|other| *other == Some(op));
        (is_partial && !fills.is_empty() && fills.iter().all(is_identity)).then_some(op)
    }

    /// The same for a statement.
    fn about_stmt(&self, s: &Stmt) -> &[Limit<'a>] {
        if s.update.is_some() && s.origin.is_some() {
            return &self.around;
        }
        let of_target = self.about(&s.target);
        let added = s.value.tensor().filter(|_| s.update.is_some());
        let added = added.and_then(|tensor| self.local(tensor));
        match added.filter(|local| local.partial == s.update) {
            Some(local) => &self.around[local.depth.max(self.around.len() - of_target.len())..],
            None => of_target,
        }
    }

    fn stmt(&self, s: &Stmt) -> Result<Stmt, Undecided> {
        let origin = self.with_remainders(s.origin.as_ref())?;
        let mut about = self.about_stmt(s).to_vec();
        if about.is_empty() {
            return Ok(Stmt {
                origin,
                ..s.clone()
            });
        }
        // The order of the definition, whatever the order of the loops.
        let point = origin.as_ref().map_or(&[][..], |origin| &origin.point);
        let place = |limit: &Limit| {
            let name = match limit {
                Limit::Values(name, _) => *name,
                Limit::Remainder(name, ..) => name,
                Limit::Implied => return None,
            };
            point.iter().position(|a| a.mentions(name))
        };
        about.sort_by_key(place);
        let otherwise = match s.update {
            None => Expr::element(&s.target, s.index.clone()),
            Some(op) => identity(op, s.value.elem()).ok_or_else(|| Undecided::Skipped {
                text: s.to_string(),
            })?,
        };
        let conditions: Vec<Condition> = about.iter().flat_map(conditions).collect();
        let conditions = conditions.iter().rev();
        let value = conditions.fold(s.value.clone(), |value, condition| {
            condition.select(value, otherwise.clone())
        });
        Ok(Stmt {
            value,
            origin,
            ..s.clone()
        })
    }
}

/// The value with which an update leaves an element as it is.
fn identity(op: BinaryOp, elem: Elem) -> Option<Expr> {
    let identity = op.identity(elem)?;
    Some(Expr::new(Node::Constant(identity)))
}

/// An entry compared with the value of an index.
struct Condition {
    entry: Expr,
    comparison: Comparison,
    with: Expr,
}

/// The conditions under which an iteration runs.
fn conditions(limit: &Limit) -> Vec<Condition> {
    let (name, segment) = match limit {
        Limit::Values(name, segment) => (*name, segment),
        Limit::Remainder(name, first, step) => {
            let binary = |op, left, by| {
                Expr::new(Node::Binary {
                    op,
                    left,
                    right: Expr::new(Node::Constant(Constant::I64(by))),
                    shape: Shape::of_extents([]),
                })
            };
            let from_low = match first.plus.as_constant() {
                Some(0) | None => entry(first),
                Some(by) => binary(BinaryOp::Add, entry(first), by),
            };
            return vec![Condition {
                entry: binary(BinaryOp::Mod, from_low, *step),
                comparison: Comparison::Equal,
                with: Expr::new(Node::Index(Affine::iterator(name.clone()))),
            }];
        }
        Limit::Implied => return Vec::new(),
    };
    let condition = |lookup: &Lookup, comparison| {
        let value = Affine::iterator(name.clone()).minus(&lookup.plus);
        Condition {
            entry: entry(lookup),
            comparison,
            with: Expr::new(Node::Index(value)),
        }
    };
    match (segment.as_single(), &segment.lower) {
        (Some(lookup), _) => vec![condition(lookup, Comparison::Equal)],
        (None, lower) => {
            let lower = lower
                .iter()
                .map(|lower| condition(lower, Comparison::LessEqual));
            let upper = condition(&segment.upper, Comparison::Greater);
            lower.chain([upper]).collect()
        }
    }
}

/// The element that is read, as an integer of 64 bits.
fn entry(lookup: &Lookup) -> Expr {
    let entry = Expr::element(&lookup.tensor, lookup.index.clone());
    match lookup.tensor.elem() {
        Elem::I64 => entry,
        _ => apply(Function::Cast(Elem::I64), vec![entry]),
    }
}

fn undecided(range: &Range) -> Undecided {
    Undecided::Skipped {
        text: range.to_string(),
    }
}

impl Condition {
    fn select(&self, value: Expr, otherwise: Expr) -> Expr {
        let args = vec![self.entry.clone(), self.with.clone(), value, otherwise];
        apply(Function::Select(self.comparison), args)
    }
}

fn apply(function: Function, args: Vec<Expr>) -> Expr {
    Expr::new(Node::Apply {
        function,
        shape: Shape::of_extents([]),
        args,
    })
}
