//! Brings the lanes of vector loops inside: around each statement, below all other loops.
//!
//! ```rhai
//! nest(`
//! f64 y[20], x[20]
//! vector for i in 0..20
//!   local f64 s
//!   s = x[i]
//!   for k in 0..5
//!     s = s * s + x[i]
//!   y[i] = s
//! `)
//! ```
//!
//! Before:
//!
//! ```text
//! for i in 0..20, in lanes of the compiler
//!   local f64 s on the stack
//!   s = x[i]
//!   for k in 0..5
//!     s = s * s + x[i]
//!   y[i] = s
//! ```
//!
//! After:
//!
//! ```text
//! for i_o in 0..1
//!   local f64 s[16] on the stack
//!   for i_i in 0..16, in lanes of the compiler
//!     s[i_i] = x[i_i + 16*i_o]
//!   for k in 0..5
//!     for i_i_2 in 0..16, in lanes of the compiler
//!       s[i_i_2] = s[i_i_2] * s[i_i_2] + x[i_i_2 + 16*i_o]
//!   for i_i_3 in 0..16, in lanes of the compiler
//!     y[i_i_3 + 16*i_o] = s[i_i_3]
//! for i_o_2 in 1..2
//!   local f64 s[4] on the stack
//!   for i_i_4 in 0..4, in lanes of the compiler
//!     s[i_i_4] = x[i_i_4 + 16*i_o_2]
//!   for k_2 in 0..5
//!     for i_i_5 in 0..4, in lanes of the compiler
//!       s[i_i_5] = s[i_i_5] * s[i_i_5] + x[i_i_5 + 16*i_o_2]
//!   for i_i_6 in 0..4, in lanes of the compiler
//!     y[i_i_6 + 16*i_o_2] = s[i_i_6]
//! ```
//!
//! Iterations that run in lanes do not depend on each other. So each statement may run in all lanes
//! of a block before the next one does. Local tensors get a dimension for the lanes. Loops inside run
//! once for all lanes, so their bounds must not depend on the lane.
//!
//! Blocks have as many iterations as a register has lanes; the last one may have fewer. If loops
//! inside change local tensors, each iteration waits for the one before. Blocks are then several
//! vectors, which do not wait for each other, as long as half of the registers hold these tensors.

use super::lanes::{Lanes, is_vector_statement, neighbors, trips, widest};
use crate::analysis::bounds::Bounds;
use crate::ir::{
    Affine, Elem, Expr, Fill, Hints, Index, Loop, Mode, Name, Nest, Node, Range, Shape, Stmt,
    Tensor, Tree,
};
use crate::target::Target;
use std::collections::HashSet;
use std::sync::Arc;

/// The nest whose vector loops have only statements inside, where that is possible.
pub(super) fn outer_lanes(nest: &Nest, target: &Target) -> Nest {
    if !nest.loops().iter().any(|(_, l)| is_outer(l)) {
        return nest.clone();
    }
    let mut blocks = Blocks {
        target,
        names: names(nest),
        band: 0,
    };
    nest.with_trees(blocks.trees(nest.trees(), &Bounds::default()))
}

/// The names of all loops and tensors.
pub(super) fn names(nest: &Nest) -> HashSet<Name> {
    let loops = nest.loops().into_iter().map(|(_, l)| l.name.clone());
    let tensors = nest.tensors().into_iter().filter_map(|t| t.name().cloned());
    loops.chain(tensors).collect()
}

/// Whether a vector loop has more inside than statements.
fn is_outer(l: &Loop) -> bool {
    l.is_vector() && !l.body.iter().all(|tree| matches!(tree, Tree::Stmt(_)))
}

/// Why the lanes of such a loop cannot be inside of it, if anything prevents that.
pub(super) fn obstacle(l: &Loop, target: &Target) -> Option<String> {
    if !is_outer(l) {
        return None;
    }
    if let Some(lanes) = l.lanes()
        && !(lanes.count_ones() == 1 && (2..=16).contains(&lanes))
    {
        return Some(format!("it has {lanes} lanes"));
    }
    let Some(lanes) = lanes(l, target) else {
        return Some("nothing in it sets elements".to_owned());
    };
    if lanes < 2 {
        return Some(format!(
            "its elements fill a vector of {} bytes",
            widest(target)
        ));
    }
    if trips(l).is_none() {
        return Some("the number of its iterations is not a constant".to_owned());
    }
    l.body.iter().find_map(|tree| bounded_by(tree, &l.name))
}

/// A loop or a fill whose bounds depend on the lane, as a reason.
fn bounded_by(tree: &Tree, lane: &Name) -> Option<String> {
    match tree {
        Tree::Loop(l) if l.range.mentions(lane) => {
            Some(format!("the bounds of loop {} depend on {lane}", l.name))
        }
        Tree::Loop(l) => l.body.iter().find_map(|tree| bounded_by(tree, lane)),
        Tree::Fill(fill) if fill.region.iter().any(|(_, n)| n.mentions(lane)) => Some(format!(
            "the size of a part of {} depends on {lane}",
            fill.target.label()
        )),
        Tree::Fill(_) | Tree::Local(_) | Tree::Stmt(_) => None,
    }
}

/// The lanes of a vector: as many as a register has for the largest elements that the loop sets.
fn lanes(l: &Loop, target: &Target) -> Option<i64> {
    let largest = l.body.iter().filter_map(largest).max()?;
    let natural = widest(target) / largest as i64;
    Some(l.lanes().map_or(natural, |lanes| lanes.min(natural)))
}

/// The most vectors of a block.
const MAX_VECTORS: i64 = 4;

/// The vectors of a block.
fn vectors(l: &Loop, lanes: i64, trips: i64, target: &Target) -> i64 {
    let locals: Vec<&Tensor> = l.body.iter().flat_map(Tree::locals).collect();
    let bytes = locals
        .iter()
        .map(|t| t.shape().elements().saturating_mul(t.elem().size() as u64));
    let bytes = bytes.fold(0, u64::saturating_add).max(1);
    let waits = |tree: &Tree| matches!(tree, Tree::Loop(_)) && changes(tree, &locals);
    let side_by_side =
        l.lanes().is_none() && l.body.iter().all(|tree| are_neighbors(tree, &l.name));
    if !side_by_side || !l.body.iter().any(waits) {
        return 1;
    }
    let fits = |vectors: &i64| {
        let lanes = lanes * vectors;
        let held = bytes.saturating_mul(lanes.unsigned_abs());
        lanes <= trips && held <= target.register_bytes() / 2
    };
    let sizes = std::iter::successors(Some(MAX_VECTORS), |n| Some(n / 2));
    sizes.take_while(|n| *n > 1).find(fits).unwrap_or(1)
}

/// Whether a tree sets elements of one of these tensors.
fn changes(tree: &Tree, tensors: &[&Tensor]) -> bool {
    let is_one = |target: &Tensor| tensors.iter().any(|t| t.name() == target.name());
    match tree {
        Tree::Loop(l) => l.body.iter().any(|tree| changes(tree, tensors)),
        Tree::Stmt(s) => is_one(&s.target),
        Tree::Fill(fill) => is_one(&fill.target),
        Tree::Local(_) => false,
    }
}

/// Whether the lanes of all accesses are neighbors in memory, or the same.
fn are_neighbors(tree: &Tree, lane: &Name) -> bool {
    match tree {
        Tree::Loop(l) => l.body.iter().all(|tree| are_neighbors(tree, lane)),
        Tree::Stmt(s) => {
            let mut all = neighbors(&s.index, lane).is_some();
            s.value.for_each_access(&mut |_, index| {
                if let Index::At(index) = index {
                    all &= neighbors(index, lane).is_some();
                }
            });
            all
        }
        Tree::Fill(fill) => !fill.region.iter().any(|(low, _)| low.mentions(lane)),
        Tree::Local(_) => true,
    }
}

fn largest(tree: &Tree) -> Option<usize> {
    match tree {
        Tree::Loop(l) => l.body.iter().filter_map(largest).max(),
        Tree::Stmt(s) => Some(s.target.elem().size()),
        Tree::Fill(fill) => Some(fill.target.elem().size()),
        Tree::Local(_) => None,
    }
}

struct Blocks<'a> {
    target: &'a Target,
    /// The names of all loops and tensors.
    names: HashSet<Name>,
    /// How many loops, from the next one on, share their iterations among threads with the loops
    /// around.
    band: usize,
}

impl Blocks<'_> {
    fn trees(&mut self, trees: &[Tree], around: &Bounds) -> Vec<Tree> {
        let mut result = Vec::with_capacity(trees.len());
        for tree in trees {
            match tree {
                Tree::Loop(l) => self.of_loop(l, around, &mut result),
                Tree::Stmt(_) | Tree::Fill(_) | Tree::Local(_) => result.push(tree.clone()),
            }
        }
        result
    }

    fn of_loop(&mut self, l: &Arc<Loop>, around: &Bounds, result: &mut Vec<Tree>) {
        let in_band = self.band > 0 || l.collapse() > 1;
        if is_outer(l) && !in_band {
            let range = around.needed(&l.range);
            let l = Loop {
                range,
                ..(**l).clone()
            };
            if obstacle(&l, self.target).is_none()
                && let (Some(lanes), Some(trips)) = (lanes(&l, self.target), trips(&l))
                && let [lower] = l.range.lower.as_slice()
            {
                let lanes = lanes * vectors(&l, lanes, trips, self.target);
                let whole = trips / lanes;
                if whole > 0 {
                    result.push(self.block(&l, lower, Range::constant(0, whole), (lanes, lanes)));
                }
                if trips % lanes > 0 {
                    let l = Loop {
                        mode: l.mode.without_threads(),
                        ..self.copy(&l)
                    };
                    let last = Range::constant(whole, whole + 1);
                    result.push(self.block(&l, lower, last, (lanes, trips % lanes)));
                }
                return;
            }
        }
        let outside = self.band;
        self.band = l.band_inside(self.band);
        let mut inside = around.clone();
        inside.enter(l);
        let body = self.trees(&l.body, &inside);
        self.band = outside;
        result.push(Tree::of_loop(Loop {
            body,
            ..(**l).clone()
        }));
    }

    /// A loop over blocks that are `lanes` iterations apart, and that run `live` of them.
    fn block(&mut self, l: &Loop, lower: &Affine, range: Range, (lanes, live): (i64, i64)) -> Tree {
        let name = self.fresh(&format!("{}_o", l.name));
        let first = Affine::iterator(name.clone()).times(lanes).plus(lower);
        let mut inside = Inside {
            l,
            first,
            live,
            locals: l.body.iter().flat_map(Tree::locals).cloned().collect(),
            blocks: self,
        };
        let body = inside.trees(&l.body);
        let mode = match l.sharing() {
            Some(sharing) => Mode::Parallel { sharing },
            None => Mode::Serial,
        };
        let hints = Hints {
            stream: Vec::new(),
            ..l.hints.clone()
        };
        Tree::of_loop(Loop {
            name,
            range,
            mode,
            hints,
            body,
            lineage: l.lineage.clone(),
        })
    }

    /// The loop with other names of the loops inside.
    fn copy(&mut self, l: &Loop) -> Loop {
        let mut renamed = Vec::new();
        l.body
            .iter()
            .for_each(|tree| self.rename(tree, &mut renamed));
        let new = |name: &Name| {
            let found = renamed.iter().find(|(old, _)| old == name);
            found.map(|(_, new)| new.clone())
        };
        let body = l.body.iter().map(|tree| tree.rename_loops(&new)).collect();
        Loop { body, ..l.clone() }
    }

    fn rename(&mut self, tree: &Tree, renamed: &mut Vec<(Name, Name)>) {
        if let Tree::Loop(l) = tree {
            renamed.push((l.name.clone(), self.fresh(l.name.as_str())));
            l.body.iter().for_each(|tree| self.rename(tree, renamed));
        }
    }

    fn fresh(&mut self, text: &str) -> Name {
        fresh(text, &mut self.names)
    }
}

/// The name, or one with a number behind it, that is not taken. It is taken then.
pub(super) fn fresh(text: &str, taken: &mut HashSet<Name>) -> Name {
    let numbered = (2..).map(|k| format!("{text}_{k}"));
    let mut texts = std::iter::once(text.to_owned()).chain(numbered);
    loop {
        let name = texts.next().and_then(|t| Name::new(&t).ok());
        if let Some(name) = name
            && taken.insert(name.clone())
        {
            return name;
        }
    }
}

/// The inside of a block.
struct Inside<'b, 'a> {
    /// The vector loop.
    l: &'b Loop,
    /// The iteration in the first lane.
    first: Affine,
    /// The number of lanes that run.
    live: i64,
    /// The local tensors that each lane has.
    locals: Vec<Tensor>,
    blocks: &'b mut Blocks<'a>,
}

/// Statements that run in the same lanes.
struct Group {
    lane: Name,
    elem: Elem,
    /// Whether they can be vectors.
    vectors: bool,
    statements: Vec<Tree>,
}

impl Inside<'_, '_> {
    fn trees(&mut self, trees: &[Tree]) -> Vec<Tree> {
        let mut result = Vec::new();
        let mut group: Option<Group> = None;
        for tree in trees {
            if let Tree::Stmt(s) = tree {
                group = Some(self.grouped(s, group.take(), &mut result));
                continue;
            }
            result.extend(group.take().map(|group| self.lanes(group)));
            match tree {
                Tree::Loop(l) => result.push(Tree::of_loop(Loop {
                    body: self.trees(&l.body),
                    ..(**l).clone()
                })),
                Tree::Local(tensor) => result.push(Tree::Local(self.widened(tensor))),
                Tree::Fill(fill) => result.push(self.filled(fill)),
                Tree::Stmt(_) => {}
            }
        }
        result.extend(group.map(|group| self.lanes(group)));
        result
    }

    /// The group with one more statement. A statement that cannot join it begins another one.
    fn grouped(&mut self, s: &Stmt, group: Option<Group>, result: &mut Vec<Tree>) -> Group {
        let longest = widest(self.blocks.target) / s.target.elem().size() as i64;
        let single = self.live <= longest;
        let lanes = Lanes::of(s.target.elem(), single, self.blocks.target);
        if let Some(mut group) = group {
            let own = self.stmt(s, &group.lane);
            let vectors = is_vector_statement(&own, &group.lane, &lanes);
            if (group.elem, group.vectors) == (s.target.elem(), vectors) {
                group.statements.push(Tree::Stmt(Arc::new(own)));
                return group;
            }
            result.push(self.lanes(group));
        }
        let lane = self.blocks.fresh(&format!("{}_i", self.l.name));
        let own = self.stmt(s, &lane);
        Group {
            elem: s.target.elem(),
            vectors: is_vector_statement(&own, &lane, &lanes),
            statements: vec![Tree::Stmt(Arc::new(own))],
            lane,
        }
    }

    /// The loop over the lanes of statements.
    fn lanes(&self, group: Group) -> Tree {
        let mut lanes = Loop::serial(group.lane, Range::constant(0, self.live), group.statements);
        lanes.mode = Mode::Vector {
            lanes: self.l.lanes(),
        };
        lanes.hints.stream = self.l.hints.stream.clone();
        Tree::of_loop(lanes)
    }

    /// Loops over the elements of a fill, and its lanes in them.
    fn filled(&mut self, fill: &Fill) -> Tree {
        let mut loops = Vec::new();
        let mut index = Vec::new();
        for (d, (low, extent)) in fill.region.iter().enumerate() {
            let name = format!("{}_set_{}", fill.target.label(), d + 1);
            let name = self.blocks.fresh(&name);
            index.push(low.plus(&Affine::iterator(name.clone())));
            loops.push((name, Range::between(Affine::constant(0), extent.clone())));
        }
        let s = Stmt {
            target: fill.target.clone(),
            index,
            update: None,
            value: Expr::new(Node::Constant(fill.value)),
            origin: fill.origin.clone(),
        };
        let group = self.grouped(&s, None, &mut Vec::new());
        let lanes = self.lanes(group);
        loops
            .into_iter()
            .rev()
            .fold(lanes, |inside, (name, range)| {
                Tree::of_loop(Loop::serial(name, range, vec![inside]))
            })
    }

    fn stmt(&self, s: &Stmt, lane: &Name) -> Stmt {
        let at = Affine::iterator(lane.clone());
        let iteration = self.first.plus(&at);
        let s = s.substitute(&|name| (*name == self.l.name).then(|| iteration.clone()));
        let value = s.value.map_accesses(&|tensor, index| {
            let index: &[Affine] = match index {
                Index::At(index) => index,
                Index::Unset | Index::Forbidden => &[],
            };
            let index = || index.iter().cloned().chain([at.clone()]).collect();
            let is_own = self.is_own(tensor);
            is_own.then(|| Expr::element(&self.widened(tensor), index()))
        });
        let index = match self.is_own(&s.target) {
            true => s.index.iter().cloned().chain([at.clone()]).collect(),
            false => s.index.clone(),
        };
        Stmt {
            target: self.widened(&s.target),
            index,
            value,
            ..s
        }
    }

    fn is_own(&self, tensor: &Tensor) -> bool {
        self.locals.iter().any(|own| own.name() == tensor.name())
    }

    /// A tensor that each lane has, with a dimension for them.
    fn widened(&self, tensor: &Tensor) -> Tensor {
        let Some(name) = tensor.name().filter(|_| self.is_own(tensor)) else {
            return tensor.clone();
        };
        let extents = tensor.shape().extents().iter().copied();
        let live = self.live.unsigned_abs();
        Tensor::new(Shape::of_extents(extents.chain([live])), tensor.elem()).named(name.clone())
    }
}
