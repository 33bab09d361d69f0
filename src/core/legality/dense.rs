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
//! The loops keep what they read. Pairs of iterations that cannot both run are left out by it
//! ([`super::pairs`]).

use super::verdict::Undecided;
use crate::ir::{
    Affine, BinaryOp, Comparison, Constant, Elem, Expr, Function, Lookup, Loop, Name, Nest, Node,
    Part, Segment, Shape, Stmt, Tensor, Tree,
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
    let dense: Result<Vec<Nest>, Undecided> = nests.iter().map(of_nest).collect();
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

fn of_nest(nest: &Nest) -> Result<Nest, Undecided> {
    let parts = nest.originals().iter().map(|part| {
        let trees = sequence(&part.trees)?;
        Ok(Part {
            trees: trees.into(),
            ..part.clone()
        })
    });
    let parts: Result<Vec<Part>, Undecided> = parts.collect();
    Ok(nest.with_parts(sequence(nest.trees())?, parts?))
}

fn sequence(trees: &[Tree]) -> Result<Vec<Tree>, Undecided> {
    Walk::default().sequence(trees)
}

/// The bounds around a tree that are read.
#[derive(Default)]
struct Walk<'a> {
    around: Vec<(&'a Name, &'a Segment)>,
    locals: Vec<Local<'a>>,
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
                let depth = self.around.len();
                let own = l.range.within.as_ref();
                self.around.extend(own.map(|segment| (&l.name, segment)));
                let body = self.sequence(&l.body);
                self.around.truncate(depth);
                Ok(Tree::of_loop(Loop {
                    body: body?,
                    ..(**l).clone()
                }))
            }
            Tree::Local(_) => Ok(tree.clone()),
            Tree::Fill(fill) if self.about(&fill.target).is_empty() => Ok(tree.clone()),
            Tree::Fill(fill) => Err(Undecided::Skipped {
                text: fill.to_string(),
            }),
            Tree::Stmt(s) => self.stmt(s).map(|s| Tree::Stmt(Arc::new(s))),
        }
    }

    /// The bounds that decide whether a statement that writes `target` counts.
    fn about(&self, target: &Tensor) -> &[(&'a Name, &'a Segment)] {
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
    fn about_stmt(&self, s: &Stmt) -> &[(&'a Name, &'a Segment)] {
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
        let mut about = self.about_stmt(s).to_vec();
        if about.is_empty() {
            return Ok(s.clone());
        }
        // The order of the definition, whatever the order of the loops.
        let point = s.origin.as_ref().map_or(&[][..], |origin| &origin.point);
        let place = |name: &Name| point.iter().position(|a| a.mentions(name));
        about.sort_by_key(|(name, _)| place(name));
        let otherwise = match s.update {
            None => Expr::element(&s.target, s.index.clone()),
            Some(op) => identity(op, s.value.elem()).ok_or_else(|| Undecided::Skipped {
                text: s.to_string(),
            })?,
        };
        let conditions: Vec<Condition> = about
            .iter()
            .flat_map(|(name, segment)| conditions(name, segment))
            .collect();
        let conditions = conditions.iter().rev();
        let value = conditions.fold(s.value.clone(), |value, condition| {
            condition.select(value, otherwise.clone())
        });
        Ok(Stmt { value, ..s.clone() })
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

/// The conditions under which an iterator has one of the values of a segment.
fn conditions(name: &Name, segment: &Segment) -> Vec<Condition> {
    let condition = |lookup: &Lookup, comparison| {
        let entry = Expr::element(&lookup.tensor, lookup.index.clone());
        let entry = match lookup.tensor.elem() {
            Elem::I64 => entry,
            _ => apply(Function::Cast(Elem::I64), vec![entry]),
        };
        let value = Affine::iterator(name.clone()).minus(&lookup.plus);
        Condition {
            entry,
            comparison,
            with: Expr::new(Node::Index(value)),
        }
    };
    match segment.as_single() {
        Some(lookup) => vec![condition(lookup, Comparison::Equal)],
        None => vec![
            condition(&segment.lower, Comparison::LessEqual),
            condition(&segment.upper, Comparison::Greater),
        ],
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
