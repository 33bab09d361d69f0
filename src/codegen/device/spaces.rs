//! Which memory local tensors have on a device.
//!
//! A tensor that is declared inside the grid loops and outside of block loops is shared by the
//! threads of a block. It has one place in memory for the whole launch, so it is declared at the
//! start of it: iterations of serial loops then use one memory, and barriers take account of that.
//!
//! Such a tensor is *distributed* if each of its elements is used by one thread: then each thread
//! keeps its part in registers. Each index has one of these forms, where `t` is the coordinate of
//! the thread, and `r` what a thread does on its own:
//!
//! - `s*(t + n*r) + q` with n threads and `0 <= q < s`: the thread keeps the elements `s*r + q`;
//! - `r`: the index says nothing about the thread.
//!
//! All accesses of a tensor have one form in each dimension, and the forms name all axes that are
//! bound around the accesses. So the element tells the thread, and the rest of it a place of its
//! own. `legality` is asked once more whether two threads use one element.

use super::fills;
use crate::analysis::bounds::Bounds;
use crate::analysis::launches::{Launch, has_grid, thread};
use crate::analysis::levels::trips;
use crate::ir::{Affine, Axis, Expr, Fill, Index, Loop, Mode, Name, Nest, Range, Shape, Stmt};
use crate::ir::{Level, Tensor, Tree};
use crate::legality::exchanges;
use crate::target::Device;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The trees of a nest in which each launch has a grid loop. Local tensors of a block are declared at
/// its start.
pub(super) fn hoisted(nest: &Nest, device: &Device, number: &mut usize) -> Vec<Tree> {
    steps(nest.trees(), device.block(), number)
}

fn steps(trees: &[Tree], threads: i64, number: &mut usize) -> Vec<Tree> {
    let step = |tree: &Tree| match tree {
        Tree::Local(_) => tree.clone(),
        Tree::Fill(fill) => {
            fills::grid(fill, threads, number).unwrap_or_else(|| in_grid(&one_block(tree, number)))
        }
        Tree::Loop(l) if l.is_grid() => in_grid(l),
        Tree::Loop(l) if has_grid(&l.body) => Tree::of_loop(Loop {
            body: steps(&l.body, threads, number),
            ..(**l).clone()
        }),
        tree => in_grid(&one_block(tree, number)),
    };
    trees.iter().map(step).collect()
}

/// Hoisted trees whose launches spread fills over their threads.
pub(super) fn with_spread_fills(trees: &[Tree], launches: &[Launch], number: usize) -> Vec<Tree> {
    let mut number = number;
    let mut threads = launches.iter().map(|launch| launch.threads[0]);
    in_steps(trees, &mut threads, &mut number)
}

fn in_steps(
    trees: &[Tree],
    threads: &mut dyn Iterator<Item = i64>,
    number: &mut usize,
) -> Vec<Tree> {
    let mut found = Vec::new();
    for tree in trees {
        found.push(match tree {
            Tree::Loop(l) if l.is_grid() => {
                let threads = threads.next().unwrap_or(1);
                in_blocks(l, threads, number)
            }
            Tree::Loop(l) => Tree::of_loop(Loop {
                body: in_steps(&l.body, threads, number),
                ..(**l).clone()
            }),
            tree => tree.clone(),
        });
    }
    found
}

fn in_blocks(l: &Loop, threads: i64, number: &mut usize) -> Tree {
    let body = match l.body.as_slice() {
        [Tree::Loop(inner)] if inner.is_grid() => vec![in_blocks(inner, threads, number)],
        body => fills::spread(body, threads, number),
    };
    Tree::of_loop(Loop { body, ..l.clone() })
}

/// A grid of one block.
fn one_block(tree: &Tree, number: &mut usize) -> Loop {
    *number += 1;
    let range = Range::between(Affine::constant(0), Affine::constant(1));
    let axis = Axis {
        of: Level::Grid,
        dimension: 0,
    };
    Loop {
        mode: Mode::Bound { axis },
        // Scripts cannot use this name.
        ..Loop::serial(
            Name::generated(0).derived(format!("block_{number}")),
            range,
            vec![tree.clone()],
        )
    }
}

fn in_grid(l: &Loop) -> Tree {
    let body = match l.body.as_slice() {
        [Tree::Loop(inner)] if inner.is_grid() => vec![in_grid(inner)],
        body => {
            let mut locals = Vec::new();
            let rest = without_locals(body, &mut locals);
            let locals = locals.into_iter().map(Tree::Local);
            locals.chain(rest).collect()
        }
    };
    Tree::of_loop(Loop { body, ..l.clone() })
}

/// The trees without the local tensors outside of block loops.
fn without_locals(trees: &[Tree], locals: &mut Vec<Tensor>) -> Vec<Tree> {
    let mut rest = Vec::new();
    for tree in trees {
        match tree {
            Tree::Local(tensor) => locals.push(tensor.clone()),
            Tree::Loop(l) if !l.is_block() => rest.push(Tree::of_loop(Loop {
                body: without_locals(&l.body, locals),
                ..(**l).clone()
            })),
            tree => rest.push(tree.clone()),
        }
    }
    rest
}

/// A distributed tensor: each thread keeps its own part.
pub(super) struct Distributed {
    tensor: Tensor,
    /// The part of a thread.
    pub(super) part: Tensor,
    forms: Vec<Form>,
}

/// The relation of an index to the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Nothing.
    Whole,
    /// `size*(t + threads*r) + q` with `0 <= q < size`.
    Blocks {
        dimension: usize,
        size: i64,
        threads: i64,
    },
}

/// An index, in terms of threads and of what each does on its own.
struct Offsets {
    /// Coefficients of coordinates of threads.
    threads: Vec<(usize, i64)>,
    /// Coefficients of numbers from 0 to a maximum, and these.
    rest: Vec<(Affine, i64, i64)>,
    constant: i64,
}

/// The local tensors of a launch: shared ones, and distributed ones.
pub(super) fn spaces(
    nest: &Nest,
    trees: &[Tree],
    launch: &Launch,
    context: &[&Loop],
) -> (Vec<Tensor>, Vec<Distributed>) {
    let (mut shared, mut distributed) = (Vec::new(), Vec::new());
    for tree in launch.body {
        let Tree::Local(tensor) = tree else {
            continue;
        };
        let own = Distributed::of(tensor, launch, context).filter(|_| {
            let is_it = |other: &Tensor| other.name() == tensor.name();
            exchanges(nest, trees, launch, &is_it, true).is_empty()
        });
        match own {
            Some(own) => distributed.push(own),
            None => shared.push(tensor.clone()),
        }
    }
    (shared, distributed)
}

impl Distributed {
    fn of(tensor: &Tensor, launch: &Launch, context: &[&Loop]) -> Option<Distributed> {
        let mut chain: Vec<&Loop> = context.to_vec();
        chain.extend(launch.around.iter().chain(&launch.grid));
        let fixed = chain.len();
        let mut uses = Vec::new();
        let mut axes = BTreeSet::new();
        collect(launch.body, tensor, &mut chain, fixed, &mut uses, &mut axes)?;
        let rank = tensor.shape().rank();
        let mut forms = Vec::new();
        let mut extents = Vec::new();
        for d in 0..rank {
            let form = form(&uses, d, &launch.threads)?;
            let last = uses.iter().map(|of| of[d].last_slot(form));
            let last = last.collect::<Option<Vec<i64>>>()?.into_iter().max()?;
            extents.push(u64::try_from(last + 1).ok()?);
            forms.push(form);
        }
        let named = forms.iter().filter_map(|form| match form {
            Form::Whole => None,
            Form::Blocks { dimension, .. } => Some(*dimension),
        });
        let named: BTreeSet<usize> = named.collect();
        axes.is_subset(&named).then(|| Distributed {
            tensor: tensor.clone(),
            part: tensor.stored_as(Shape::of_extents(extents)),
            forms,
        })
    }

    /// Whether it is this tensor.
    pub(super) fn is(&self, tensor: &Tensor) -> bool {
        self.tensor.name() == tensor.name()
    }
}

/// The form that all indices of a dimension have.
fn form(uses: &[Vec<Offsets>], d: usize, threads: &[i64]) -> Option<Form> {
    let mut forms = uses.iter().map(|of| of[d].form(threads));
    let first = forms.next()??;
    forms.all(|form| form == Some(first)).then_some(first)
}

impl Offsets {
    /// An index inside loops. From number `fixed` on, these are loops of one block.
    fn of(index: &Affine, chain: &[&Loop], fixed: usize) -> Option<Offsets> {
        if !chain.iter().any(|l| l.is_block()) {
            return None;
        }
        let mut left = index.clone();
        let (mut threads, mut rest) = (Vec::new(), Vec::new());
        for (k, l) in chain.iter().enumerate().rev() {
            let c = left.coefficient(&l.name);
            let is_outside = k < fixed;
            // A loop with one iteration says nothing.
            if c == 0 || is_outside && at_most(l, &chain[..k]) != Some(1) {
                continue;
            }
            let [lower] = l.range.lower.as_slice() else {
                return None;
            };
            left = left
                .minus(&Affine::iterator(l.name.clone()).times(c))
                .plus(&lower.times(c));
            match l.axis() {
                _ if is_outside => {}
                Some(axis) => threads.push((axis.dimension, c)),
                None => rest.push((thread(l), c, at_most(l, &chain[..k])? - 1)),
            }
        }
        let constant = left.as_constant()?;
        Some(Offsets {
            threads,
            rest,
            constant,
        })
    }

    fn form(&self, threads: &[i64]) -> Option<Form> {
        self.last()?;
        match *self.threads.as_slice() {
            [] => Some(Form::Whole),
            [(dimension, size)] if size >= 1 => {
                let threads = threads[dimension];
                let all = size.checked_mul(threads)?;
                // Numbers below a block, and multiples of all blocks.
                let within = self.rest.iter().filter(|(_, c, _)| c % all != 0);
                let most = within.map(|(_, c, most)| c.saturating_mul((*most).max(0)));
                let most = most.fold(self.constant % all, i64::saturating_add);
                (most < size).then_some(Form::Blocks {
                    dimension,
                    size,
                    threads,
                })
            }
            _ => None,
        }
    }

    /// The greatest value without the thread; `None` if it may be negative.
    fn last(&self) -> Option<i64> {
        if self.constant < 0 || self.rest.iter().any(|(_, c, _)| *c < 0) {
            return None;
        }
        let mut terms = self.rest.iter();
        terms.try_fold(self.constant, |sum, (_, c, most)| {
            sum.checked_add(c.checked_mul((*most).max(0))?)
        })
    }

    /// The greatest place in the part of a thread.
    fn last_slot(&self, form: Form) -> Option<i64> {
        let mut terms = self.rest.iter();
        terms.try_fold(form.slot(self.constant), |sum, (_, c, most)| {
            sum.checked_add(form.slot(*c).checked_mul((*most).max(0))?)
        })
    }

    /// The place in the part of a thread.
    fn slot(&self, form: Form) -> Affine {
        let constant = Affine::constant(form.slot(self.constant));
        let terms = self.rest.iter();
        terms.fold(constant, |sum, (r, c, _)| sum.plus(&r.times(form.slot(*c))))
    }
}

impl Form {
    /// The place in the part of a thread of an element at a distance from its first one.
    fn slot(self, distance: i64) -> i64 {
        match self {
            Form::Whole => distance,
            Form::Blocks { size, threads, .. } => {
                let all = size * threads;
                distance / all * size + distance % all
            }
        }
    }
}

/// The most iterations of a loop inside `chain`.
fn at_most(l: &Loop, chain: &[&Loop]) -> Option<i64> {
    trips(l, &Bounds::of_chain(chain.iter().copied()))
}

/// The indices of all uses of a tensor, and the axes that are bound around them. `None` if one has
/// no form.
fn collect<'t>(
    trees: &'t [Tree],
    tensor: &Tensor,
    chain: &mut Vec<&'t Loop>,
    fixed: usize,
    uses: &mut Vec<Vec<Offsets>>,
    axes: &mut BTreeSet<usize>,
) -> Option<()> {
    for tree in trees {
        let mut of_tree: Vec<Vec<Offsets>> = Vec::new();
        let mut fits = true;
        let mut see = |other: &Tensor, index: &[Affine]| {
            if other.name() == tensor.name() {
                let offsets = index.iter().map(|a| Offsets::of(a, chain, fixed));
                match offsets.collect::<Option<Vec<Offsets>>>() {
                    Some(offsets) => of_tree.push(offsets),
                    None => fits = false,
                }
            }
        };
        match tree {
            Tree::Local(_) => {}
            Tree::Loop(l) => {
                chain.push(l);
                collect(&l.body, tensor, chain, fixed, uses, axes)?;
                chain.pop();
            }
            Tree::Stmt(s) => {
                see(&s.target, &s.index);
                s.value.for_each_access(&mut |tensor, index| match index {
                    Index::At(index) => see(tensor, index),
                    _ => see(tensor, &[]),
                });
            }
            Tree::Fill(fill) => {
                let low: Vec<Affine> = fill.region.iter().map(|(low, _)| low.clone()).collect();
                see(&fill.target, &low);
                for offsets in &mut of_tree {
                    for (of, (_, extent)) in offsets.iter_mut().zip(&fill.region) {
                        let most = extent.as_constant()? - 1;
                        if most > 0 {
                            of.rest.push((Affine::constant(0), 1, most));
                        }
                    }
                }
            }
        }
        if !fits {
            return None;
        }
        if !of_tree.is_empty() {
            let bound = chain.iter().filter(|l| l.is_block());
            axes.extend(bound.filter_map(|l| l.axis()).map(|axis| axis.dimension));
            uses.extend(of_tree);
        }
    }
    Some(())
}

/// Trees inside `chain`, with distributed tensors replaced by the parts of threads.
pub(super) fn with_parts<'t>(
    trees: &'t [Tree],
    all: &[Distributed],
    chain: &mut Vec<&'t Loop>,
    fixed: usize,
) -> Vec<Tree> {
    let mut found = Vec::new();
    for tree in trees {
        found.push(match tree {
            Tree::Loop(l) => {
                chain.push(l);
                let body = with_parts(&l.body, all, chain, fixed);
                chain.pop();
                Tree::of_loop(Loop {
                    body,
                    ..(**l).clone()
                })
            }
            Tree::Local(_) => tree.clone(),
            Tree::Stmt(s) => Tree::Stmt(Arc::new(stmt(s, all, chain, fixed))),
            Tree::Fill(fill) => Tree::Fill(Arc::new(self::fill(fill, all, chain, fixed))),
        });
    }
    found
}

fn stmt(s: &Stmt, all: &[Distributed], chain: &[&Loop], fixed: usize) -> Stmt {
    let part = |tensor: &Tensor, index: &[Affine]| part(tensor, index, all, chain, fixed);
    let value = s.value.map_accesses(&|tensor, index| match index {
        Index::At(index) => {
            let (tensor, index) = part(tensor, index)?;
            Some(Expr::access(tensor, Index::At(index)))
        }
        _ => None,
    });
    let (target, index) =
        part(&s.target, &s.index).unwrap_or_else(|| (s.target.clone(), s.index.clone()));
    Stmt {
        target,
        index,
        value,
        ..s.clone()
    }
}

fn fill(fill: &Fill, all: &[Distributed], chain: &[&Loop], fixed: usize) -> Fill {
    let low: Vec<Affine> = fill.region.iter().map(|(low, _)| low.clone()).collect();
    match part(&fill.target, &low, all, chain, fixed) {
        Some((target, low)) => Fill {
            target,
            region: low
                .into_iter()
                .zip(fill.region.iter().map(|(_, extent)| extent.clone()))
                .collect(),
            ..fill.clone()
        },
        None => fill.clone(),
    }
}

/// The access of a thread's own part.
fn part(
    tensor: &Tensor,
    index: &[Affine],
    all: &[Distributed],
    chain: &[&Loop],
    fixed: usize,
) -> Option<(Tensor, Vec<Affine>)> {
    let of = all.iter().find(|of| of.is(tensor))?;
    let slots = index.iter().zip(&of.forms);
    let slots = slots.map(|(a, form)| Some(Offsets::of(a, chain, fixed)?.slot(*form)));
    Some((of.part.clone(), slots.collect::<Option<Vec<Affine>>>()?))
}
