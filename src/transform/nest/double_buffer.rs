//! `double_buffer` copies the tiles of the next iteration of a loop while the current ones are used.
//!
//! ```rhai
//! let A = tensor([64]);
//! let B = eq(2 * A, [i] -> [i]);
//! print(build(B).stripmine("i", 8).pack("i_o", A).double_buffer("i_o"));
//! ```
//!
//! ```text
//! f64 B[64], A[64]
//! local f64 A_pack[2][8]
//! for i_o_i_2 in 0..1
//!   for A_pack_1_2 in 0..8
//!     A_pack[0][A_pack_1_2] = A[A_pack_1_2 + 8*i_o_i_2]
//! for i_o_o in 0..4
//!   for i_o_i in 2*i_o_o..2*i_o_o + 2
//!     local f64 A_pack_next[8]
//!     for i_o_i_3 in i_o_i + 1..min(i_o_i + 2, 8)
//!       for A_pack_1_3 in 0..8
//!         A_pack_next[A_pack_1_3] = A[A_pack_1_3 + 8*i_o_i_3]
//!     for i_i in 8*i_o_i..8*i_o_i + 8
//!       B[i_i] = 2 * A_pack[i_o_i - 2*i_o_o][i_i - 8*i_o_i]
//!     for i_o_i_4 in i_o_i + 1..min(i_o_i + 2, 8)
//!       for A_pack_1_4 in 0..8
//!         A_pack[2*i_o_o - i_o_i_4 + 2][A_pack_1_4] = A_pack_next[A_pack_1_4]
//! ```
//!
//! Each local tensor that an iteration copies and then only reads has a second place: one is read
//! while the other one is filled. The copy of the first iteration comes before the loop. `A_pack_next`
//! holds what was read until the current tile is no longer needed. On a device, it lies in registers
//! of the threads that copy, so that they wait for memory while they compute. One barrier is left in
//! each iteration, instead of two. With the third argument `"direct"`, copies go straight to their
//! places.
//!
//! Legal wherever the nest is: copies read what they did before. `check` proves it.
//!
//! Refuses: a loop that copies no tile; a loop that is not serial; several lower bounds, and bounds
//! that `stripmine` refuses; steps other than 1; names that are in use.
//!
//! Source: double buffering, as in CUTLASS; TVM's `double_buffer`.

use super::parts::Names;
use super::resolve::{chain, check_step, find};
use super::stripmine::{Tail, stripmine};
use crate::analysis::footprint::uses;
use crate::analysis::position::splice;
use crate::args::{LOOP, NEST};
use crate::ir::{Affine, Expr, Index, Loop, Nest, Range, Role, Shape, Stmt, Tensor, Tree};
use crate::words::words;
use crate::{Error, LoopRef, Op, Param, Returns, Value, refusal};
use std::sync::Arc;

const WAY: Param<Option<Way>> = Param::new("way");

/// `double_buffer(nest, loop, way)`.
pub static DOUBLE_BUFFER: Op = Op {
    name: "double_buffer",
    params: &[NEST.any(), LOOP.any(), WAY.any()],
    returns: Returns::Nest,
    file: include_str!("double_buffer.rs"),
    call: |args| {
        let way = args.get(&WAY)?.unwrap_or(Way::Registers);
        double_buffer(args.get(&NEST)?, args.get(&LOOP)?, way).map(Value::Nest)
    },
};

words! {
    /// How the next tiles get to their place.
    pub enum Way {
        /// Through a tensor of the threads that copy.
        Registers = "registers",
        Direct = "direct",
    }
}

/// A local tensor that iterations copy and read.
struct Buffer<'t> {
    tensor: &'t Tensor,
    /// The loops of the copy.
    copy: &'t Tree,
    /// It, with a place for two tiles.
    both: Tensor,
    /// The elements of the next tile.
    next: Tensor,
}

/// The nest in which a loop copies the tiles of its next iteration.
///
/// # Errors
/// As the header says.
pub fn double_buffer(nest: &Nest, reference: &LoopRef, way: Way) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    let l = chain(nest, &position)[position.len() - 1];
    check_step(nest, l)?;
    if !l.is_serial() {
        let text = format!("the iterations of `{}` do not run in order", l.name);
        let error = refusal(text).help("choose the serial loop around the copies");
        return Err(error.at(&LOOP).on(nest, [l.name.clone()]));
    }
    let found = buffers(l);
    if found.is_empty() {
        let text = format!(
            "`{}` copies nothing that it then reads: no local tensor in it is set by one assignment",
            l.name
        );
        let error = refusal(text).help("`pack` or `stage` copies a tile in each iteration");
        return Err(error.on(nest, [l.name.clone()]));
    }
    for of in &found {
        if way == Way::Registers && !uses(nest, of.next.label()).is_empty() {
            let text = format!("`{}` is already the name of a tensor", of.next.label());
            return Err(refusal(text).on(nest, [l.name.clone()]));
        }
    }
    let [lower] = l.range.lower.as_slice() else {
        let text = format!("`{}` has several lower bounds: {}", l.name, l.range);
        return Err(refusal(text).on(nest, [l.name.clone()]));
    };
    let pairs = stripmine(nest, reference, 2, Tail::Guard)?;
    let outer = chain(&pairs, &position)[position.len() - 1];
    let [Tree::Loop(inner)] = outer.body.as_slice() else {
        let text = format!("`{}` has one iteration", l.name);
        return Err(refusal(text).on(nest, [l.name.clone()]));
    };
    let mut names = Names::of(&pairs);
    let of = Tiles {
        buffers: &buffers(inner),
        ends: &l.range.upper,
    };
    let zero = Affine::constant(0);
    let first = Tree::of_loop(Loop {
        body: of.copies(&|of| &of.both, &|index| beside(&zero, index)),
        ..(**inner).clone()
    });
    let first = of.one(lower, &first, Role::Peeled, &mut names);
    // 0 or 1: the place of the tile that an iteration reads.
    let iteration = Affine::iterator(inner.name.clone());
    let own = inner
        .range
        .lower
        .first()
        .map(|lower| iteration.minus(lower));
    let own = own.unwrap_or(zero);
    let next = iteration.plus_constant(1);
    // The place of its tile, as the next iteration says it.
    let other = Affine::constant(2).minus(&own);
    let later = |body: Vec<Tree>| {
        Tree::of_loop(Loop {
            body,
            ..(**inner).clone()
        })
    };
    let (mut before, mut after) = (Vec::new(), Vec::new());
    match way {
        Way::Direct => {
            let body = of.copies(&|of| &of.both, &|index| beside(&other, index));
            before.push(of.one(&next, &later(body), Role::Load, &mut names));
        }
        Way::Registers => {
            before.extend(of.buffers.iter().map(|of| Tree::Local(of.next.clone())));
            let body = of.copies(&|of| &of.next, &|index| index.to_vec());
            before.push(of.one(&next, &later(body), Role::Load, &mut names));
            let body = of.stores(&other);
            after.push(of.one(&next, &later(body), Role::Store, &mut names));
        }
    }
    let rest = inner.body.iter().filter(|tree| !of.is_copy(tree));
    let rest = rest.map(|tree| of.reads(tree, &own));
    let inner = Tree::of_loop(Loop {
        body: before.into_iter().chain(rest).chain(after).collect(),
        ..(**inner).clone()
    });
    let outer = Tree::of_loop(Loop {
        body: vec![inner],
        ..(**outer).clone()
    });
    let locals = of.buffers.iter().map(|of| Tree::Local(of.both.clone()));
    let trees = locals.chain([first, outer]).collect();
    Ok(pairs.with_trees(splice(pairs.trees(), &position, trees)))
}

/// The tiles of a loop.
struct Tiles<'t> {
    buffers: &'t [Buffer<'t>],
    /// The upper bounds of all iterations.
    ends: &'t [Affine],
}

impl Tiles<'_> {
    /// The iteration at `first` of a loop, if there is one, as a loop of its own.
    fn one(&self, first: &Affine, l: &Tree, role: Role, names: &mut Names) -> Tree {
        let Tree::Loop(l) = l else {
            return l.clone();
        };
        let is_far = |end: &&Affine| end.minus(first).as_constant().is_some_and(|n| n >= 1);
        let ends = self.ends.iter().filter(|end| !is_far(end)).cloned();
        let range = Range {
            lower: vec![first.clone()],
            upper: [first.plus_constant(1)].into_iter().chain(ends).collect(),
            step: 1,
            within: None,
        };
        let name = names.number(&l.name);
        names.part(l, role, name, range)
    }

    /// The copies, to other tensors.
    fn copies(
        &self,
        to: &dyn for<'b> Fn(&'b Buffer) -> &'b Tensor,
        at: &dyn Fn(&[Affine]) -> Vec<Affine>,
    ) -> Vec<Tree> {
        let copy = |of: &Buffer| {
            of.with_statement(&|s| Stmt {
                target: to(of).clone(),
                index: at(&s.index),
                ..s.clone()
            })
        };
        self.buffers.iter().map(copy).collect()
    }

    /// The copies of what was read to its place.
    fn stores(&self, place: &Affine) -> Vec<Tree> {
        let store = |of: &Buffer| {
            of.with_statement(&|s| Stmt {
                target: of.both.clone(),
                index: beside(place, &s.index),
                value: Expr::access(of.next.clone(), Index::At(s.index.clone())),
                ..s.clone()
            })
        };
        self.buffers.iter().map(store).collect()
    }

    fn is_copy(&self, tree: &Tree) -> bool {
        self.buffers.iter().any(|of| match tree {
            Tree::Local(tensor) => tensor.name() == of.tensor.name(),
            tree => std::ptr::eq(tree, of.copy),
        })
    }

    /// A tree that reads tiles at a place.
    fn reads(&self, tree: &Tree, place: &Affine) -> Tree {
        with_statements(tree, &|s| Stmt {
            value: s.value.map_accesses(&|tensor, index| {
                let mut all = self.buffers.iter();
                let of = all.find(|of| of.tensor.name() == tensor.name())?;
                let at = match index {
                    Index::At(index) => beside(place, index),
                    _ => vec![place.clone()],
                };
                Some(Expr::access(of.both.clone(), Index::At(at)))
            }),
            ..s.clone()
        })
    }
}

impl Buffer<'_> {
    fn with_statement(&self, map: &dyn Fn(&Stmt) -> Stmt) -> Tree {
        with_statements(self.copy, map)
    }
}

fn with_statements(tree: &Tree, map: &dyn Fn(&Stmt) -> Stmt) -> Tree {
    match tree {
        Tree::Loop(l) => Tree::of_loop(Loop {
            body: l.body.iter().map(|t| with_statements(t, map)).collect(),
            ..(**l).clone()
        }),
        Tree::Stmt(s) => Tree::Stmt(Arc::new(map(s))),
        Tree::Fill(_) | Tree::Local(_) => tree.clone(),
    }
}

fn beside(place: &Affine, index: &[Affine]) -> Vec<Affine> {
    [place].into_iter().chain(index).cloned().collect()
}

/// The local tensors that each iteration of a loop sets by one assignment, and then only reads.
fn buffers(l: &Loop) -> Vec<Buffer<'_>> {
    let mut found: Vec<Buffer> = Vec::new();
    for tree in &l.body {
        let Tree::Local(tensor) = tree else {
            continue;
        };
        let is_it = |of: &Tensor| of.name() == tensor.name();
        let others = l.body.iter().filter(|tree| !matches!(tree, Tree::Local(_)));
        let mut using = others.filter(|tree| mentions(tree, &is_it));
        let Some(copy) = using.next() else {
            continue;
        };
        let is_local = |of: &Tensor| {
            let locals = l.body.iter().flat_map(Tree::locals);
            locals.into_iter().any(|local| local.name() == of.name())
        };
        let is_copy = match only_statement(copy) {
            Some(s) => is_it(&s.target) && s.update.is_none() && !reads(&s.value, &is_local),
            None => false,
        };
        let extents = tensor.shape().numbers();
        let (Some(extents), Some(name)) = (extents, tensor.name()) else {
            continue;
        };
        if !is_copy || using.any(|tree| sets(tree, &is_it)) {
            continue;
        }
        let both = [2].into_iter().chain(extents.iter().copied());
        found.push(Buffer {
            tensor,
            copy,
            both: tensor.stored_as(Shape::of_extents(both)),
            next: tensor.named(name.derived("next")),
        });
    }
    found
}

/// The statement of a tree that holds nothing else.
fn only_statement(tree: &Tree) -> Option<&Stmt> {
    match tree {
        Tree::Loop(l) => match l.body.as_slice() {
            [only] => only_statement(only),
            _ => None,
        },
        Tree::Stmt(s) => Some(s),
        Tree::Fill(_) | Tree::Local(_) => None,
    }
}

fn mentions(tree: &Tree, is_it: &dyn Fn(&Tensor) -> bool) -> bool {
    match tree {
        Tree::Loop(l) => l.body.iter().any(|tree| mentions(tree, is_it)),
        Tree::Stmt(s) => is_it(&s.target) || reads(&s.value, is_it),
        Tree::Fill(fill) => is_it(&fill.target),
        Tree::Local(_) => false,
    }
}

fn sets(tree: &Tree, is_it: &dyn Fn(&Tensor) -> bool) -> bool {
    match tree {
        Tree::Loop(l) => l.body.iter().any(|tree| sets(tree, is_it)),
        Tree::Stmt(s) => is_it(&s.target),
        Tree::Fill(fill) => is_it(&fill.target),
        Tree::Local(_) => false,
    }
}

fn reads(value: &Expr, is_it: &dyn Fn(&Tensor) -> bool) -> bool {
    let mut found = false;
    value.for_each_access(&mut |tensor, _| found |= is_it(tensor));
    found
}
