//! `collapse` makes one loop of a loop and the only loop inside of it. Tensors that both index by
//! adjacent dimensions are read as if these dimensions were one.
//!
//! ```rhai
//! let A = tensor([3, 4, 5]);
//! let W = tensor([6, 3]);
//! let B = einsum("cyx,fc->fyx", A, W);
//! print(build(B).collapse("y"));
//! ```
//!
//! ```text
//! f64 B[6][4 x 5], A[3][4 x 5], W[6][3]
//! fill B[0..6][0..20] = 0
//! for f in 0..6
//!   for y in 0..20
//!     for c in 0..3
//!       B[f][y] += A[c][y] * W[f][c]
//! ```
//!
//! `collapse(nest, loop)`: rows follow each other in memory, so elements stay where they are, and
//! callers see the tensors as before. The loop keeps the name of the outer one. A long loop fills
//! vectors that short rows leave half empty. Elements that other loops of the nest read, or other nests
//! that run with it, get one index for both dimensions, such as `A[5*y_2 + x_2]`. Several calls collapse
//! more loops.
//!
//! Always legal. The result is the definition that later steps are proved against, and results are
//! still compared with the nest that `build` made.
//!
//! Refuses: nests that a step has changed; loops with anything else beside the inner loop; an inner loop
//! that does not run over a whole dimension, from 0 to a number; indices that mention one of both
//! loops alone; tensors with sizes, strides or zeros that are known.
//!
//! Source: MLIR's `tensor.collapse_shape`, and the collapsing of dimensions of its `linalg.generic`.

use super::fuse_inner::one_line;
use super::resolve::{chain, check_step, find};
use crate::analysis::position::splice;
use crate::args::{LOOP, NEST};
use crate::ir::{Affine, Index, Loop, Name, Nest, Range, Segment, Tensor, Tree};
use crate::{Error, LoopRef, Op, Returns, Value, refusal};

/// `collapse(nest, loop)`.
pub static COLLAPSE: Op = Op {
    name: "collapse",
    params: &[NEST.any(), LOOP.any()],
    returns: Returns::Nest,
    file: include_str!("collapse.rs"),
    call: |args| collapse(args.get(&NEST)?, args.get(&LOOP)?).map(Value::Nest),
};

/// The nest with a loop and the only loop inside of it as one.
///
/// # Errors
/// As the header says.
pub fn collapse(nest: &Nest, reference: &LoopRef) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    let outer = chain(nest, &position)[position.len() - 1];
    let refuse = |error: Error| error.at(&LOOP).on(nest, [outer.name.clone()]);
    if !nest.is_built() {
        let text = "a step has changed this nest, and dimensions are read as one from the start";
        return Err(refuse(
            refusal(text).help("collapse loops of the nest that `build` makes"),
        ));
    }
    let [Tree::Loop(inner)] = outer.body.as_slice() else {
        let text = format!("`{}` does not hold one loop and nothing else", outer.name);
        return Err(refuse(refusal(text)));
    };
    check_step(nest, outer)?;
    check_step(nest, inner)?;
    let Some((0, extent @ 1..)) = inner.range.as_constant() else {
        let text = format!("`{}` does not run from 0 to a number", inner.name);
        return Err(refuse(refusal(text)));
    };
    let mut pair = Pair {
        outer: &outer.name,
        inner: &inner.name,
        extent,
        joined: Vec::new(),
    };
    pair.find(&inner.body).map_err(refuse)?;
    let joined = nest.trees().iter().map(|tree| pair.joined(tree));
    let joined = joined.collect::<Result<_, _>>().map_err(refuse)?;
    let joined = nest.with_trees(joined);
    let body = &chain(&joined, &[&position[..], &[0]].concat())[position.len()].body;
    body.iter()
        .zip(&inner.body)
        .try_for_each(|(tree, was)| pair.check(tree, was))
        .map_err(refuse)?;
    let iterator = Affine::iterator(outer.name.clone());
    let scaled = |bounds: &[Affine]| bounds.iter().map(|bound| bound.times(extent)).collect();
    let one = Tree::of_loop(Loop {
        range: Range {
            lower: scaled(&outer.range.lower),
            upper: scaled(&outer.range.upper),
            step: 1,
            within: None,
        },
        body: body
            .iter()
            .map(|tree| pair.replaced(tree, &iterator))
            .collect(),
        lineage: outer.lineage.fused(&inner.lineage),
        ..(**outer).clone()
    });
    Ok(nest.rebuilt(splice(joined.trees(), &position, vec![one])))
}

/// Two loops that become one.
struct Pair<'a> {
    outer: &'a Name,
    inner: &'a Name,
    /// The number of values of the inner one, from 0 on.
    extent: i64,
    /// Tensors, and a dimension that is read as one with the next.
    joined: Vec<(Tensor, usize)>,
}

impl Pair<'_> {
    /// Finds the dimensions that both index.
    fn find(&mut self, trees: &[Tree]) -> Result<(), Error> {
        let mut all = Vec::new();
        accesses(trees, &mut all);
        for (tensor, index) in all {
            let along = |a: &Affine| a.as_iterator() == Some(self.inner);
            let Some(d @ 1..) = index.iter().position(along) else {
                continue;
            };
            if !index[d - 1].mentions(self.outer) {
                continue;
            }
            let Some(extents) = tensor.shape().numbers() else {
                return Err(unjoined(tensor, "has sizes"));
            };
            let is_plain = tensor.triangle().is_none() && tensor.inner().is_none();
            if tensor.is_strided() || tensor.entries().is_some() || !is_plain {
                let why = "has strides, or known elements";
                return Err(unjoined(tensor, why));
            }
            if extents[d] != self.extent.unsigned_abs() {
                return Err(unjoined(tensor, "has rows of other lengths"));
            }
            let found = (tensor.clone(), d - 1);
            if !self.joined.contains(&found) {
                self.joined.push(found);
            }
        }
        Ok(())
    }

    /// The tree in which these dimensions are read as one.
    fn joined(&self, tree: &Tree) -> Result<Tree, Error> {
        let places = |tensor: &Tensor| -> Vec<usize> {
            let of = self.joined.iter().filter(|(known, _)| known == tensor);
            let mut places: Vec<usize> = of.map(|(_, d)| *d).collect();
            places.sort_unstable_by(|a, b| b.cmp(a));
            places
        };
        let Some((tensor, _)) = self.joined.first() else {
            return Ok(tree.clone());
        };
        let joined = tree.with_joined(&places);
        joined.ok_or_else(|| unjoined(tensor, "is filled in parts of several rows"))
    }

    /// Checks that each index mentions both loops as the one that they become. Errors show the tree as it
    /// was.
    fn check(&self, tree: &Tree, was: &Tree) -> Result<(), Error> {
        let check = |a: &Affine| {
            let (outer, inner) = (self.outer, self.inner);
            let of_outer = a.coefficient(inner).checked_mul(self.extent);
            if of_outer == Some(a.coefficient(outer)) {
                return Ok(());
            }
            let line = one_line(was);
            let text = format!("`{line}` does not index by `{outer}` and `{inner}` as one");
            Err(refusal(text).help("both must index adjacent dimensions, along whole rows"))
        };
        match (tree, was) {
            (Tree::Loop(l), Tree::Loop(was)) => {
                let read = l.range.within.iter().flat_map(Segment::parts);
                l.range.bounds().chain(read).try_for_each(check)?;
                let mut both = l.body.iter().zip(&was.body);
                both.try_for_each(|(tree, was)| self.check(tree, was))
            }
            (Tree::Stmt(s), _) => {
                let mut first = s.index.iter().try_for_each(check);
                s.value.for_each_index(&mut |a| {
                    if first.is_ok() {
                        first = check(a);
                    }
                });
                first
            }
            (Tree::Fill(fill), _) => {
                let mut bounds = fill.region.iter().flat_map(|(low, n)| [low, n]);
                bounds.try_for_each(check)
            }
            _ => Ok(()),
        }
    }

    /// The tree with the iterator of the one loop.
    fn replaced(&self, tree: &Tree, one: &Affine) -> Tree {
        let map = |name: &Name| match name {
            name if name == self.outer => Some(Affine::constant(0)),
            name if name == self.inner => Some(one.clone()),
            _ => None,
        };
        tree.without_iterator(self.outer).substitute(&map)
    }
}

fn unjoined(tensor: &Tensor, why: &str) -> Error {
    let text = format!(
        "the dimensions of {} are not read as one: it {why}",
        tensor.label()
    );
    refusal(text)
}

/// All accesses, and the first elements of fills.
fn accesses<'t>(trees: &'t [Tree], found: &mut Vec<(&'t Tensor, Vec<Affine>)>) {
    for tree in trees {
        match tree {
            Tree::Loop(l) => accesses(&l.body, found),
            Tree::Stmt(s) => {
                found.push((&s.target, s.index.clone()));
                s.value.for_each_access(&mut |tensor, index| {
                    if let Index::At(index) = index {
                        found.push((tensor, index.clone()));
                    }
                });
            }
            Tree::Fill(fill) => {
                let lows = fill.region.iter().map(|(low, _)| low.clone());
                found.push((&fill.target, lows.collect()));
            }
            Tree::Local(_) => {}
        }
    }
}
