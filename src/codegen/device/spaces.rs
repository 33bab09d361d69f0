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
//! - `s*(t + n*r) + q` with n threads and `0 <= q < s`: the thread keeps the elements `s*r + q`. If
//!   several axes number the threads, `t` is `lane + lanes*x`, for example;
//! - `r`: the index says nothing about the thread.
//!
//! All accesses of a tensor have one form in each dimension, and the forms name all axes that are
//! bound around the accesses. So the element tells the thread, and the rest of it a place of its
//! own. `legality` is asked once more whether two threads use one element.
//!
//! `place` says where a tensor has to lie, and is refused where that cannot be.
//!
//! Lanes may also read what other lanes of their warp keep, if one dimension numbers the lanes alone.
//! Elements are then *passed* from register to register when the phase begins, and no statement of
//! the phase writes the tensor. `legality` is asked whether all threads that exchange its elements
//! are lanes of one warp.

use super::fills;
use crate::analysis::bounds::Bounds;
use crate::analysis::launches::{Launch, has_grid, thread};
use crate::analysis::levels::trips;
use crate::ir::{Affine, Axis, Expr, Fill, Index, Loop, Mode, Name, Nest, Range, Shape, Stmt};
use crate::ir::{Level, Space, Tensor, Tree};
use crate::legality::exchanges;
use crate::target::Device;
use std::collections::{BTreeMap, BTreeSet};
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
    let mut threads = launches
        .iter()
        .map(|launch| [launch.threads[0], launch.threads[Axis::LANE]]);
    in_steps(trees, &mut threads, &mut number)
}

fn in_steps(
    trees: &[Tree],
    threads: &mut dyn Iterator<Item = [i64; 2]>,
    number: &mut usize,
) -> Vec<Tree> {
    let mut found = Vec::new();
    for tree in trees {
        found.push(match tree {
            Tree::Loop(l) if l.is_grid() => {
                let threads = threads.next().unwrap_or([1; 2]);
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

fn in_blocks(l: &Loop, threads: [i64; 2], number: &mut usize) -> Tree {
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

/// A tensor that is to lie in registers, and whose elements several threads use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{tensor} cannot lie in registers: {why}")]
pub struct NotOwn {
    pub tensor: String,
    pub why: String,
}

/// A distributed tensor: each thread keeps its own part.
pub(super) struct Distributed {
    tensor: Tensor,
    /// The part of a thread.
    pub(super) part: Tensor,
    forms: Vec<Form>,
    /// Whether lanes read what other lanes keep.
    pub(super) is_passed: bool,
}

/// An element that each lane gets from a lane of its warp, when a phase begins.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    /// The registers of the lanes that get it, and its place there.
    pub(super) to: Tensor,
    pub(super) at: Vec<Affine>,
    /// The registers of the lane that has it, and its place there.
    pub(super) from: Tensor,
    pub(super) slot: Vec<Affine>,
    /// The lane that has it: so many times the number of the lane that gets it, plus a number.
    pub(super) times: i64,
    pub(super) plus: i64,
}

/// The elements that lanes pass on, by the loop where the phase begins.
pub(super) type Passes = BTreeMap<Name, Vec<Pass>>;

/// A phase fetches at most so many elements of a tensor for one access.
const MOST_PASSES: i64 = 64;

/// The relation of an index to the thread.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    /// Nothing.
    Whole,
    /// `size*(t + threads*r) + q` with `0 <= q < size`. The axes number the threads, the first one
    /// fastest: each has its coefficient in the index.
    Blocks {
        axes: Vec<(usize, i64)>,
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
///
/// # Errors
/// A tensor is placed where it cannot be.
pub(super) fn spaces(
    nest: &Nest,
    trees: &[Tree],
    launch: &Launch,
    context: &[&Loop],
) -> Result<(Vec<Tensor>, Vec<Distributed>), NotOwn> {
    let (mut shared, mut distributed) = (Vec::new(), Vec::new());
    for tree in launch.body {
        let Tree::Local(tensor) = tree else {
            continue;
        };
        let is_it = |other: &Tensor| other.name() == tensor.name();
        let own = Distributed::of(tensor, launch, context).filter(|own| {
            let exchanges = exchanges(nest, trees, launch, &is_it, true);
            exchanges.iter().all(|e| own.is_passed && e.is_in_warp)
        });
        match (own, tensor.space()) {
            (Some(own), None | Some(Space::Registers)) => distributed.push(own),
            (_, None | Some(Space::Shared)) => shared.push(tensor.clone()),
            (None, Some(Space::Registers)) => {
                let exchanges = exchanges(nest, trees, launch, &is_it, true);
                let places = exchanges.first().map(|e| [&e.from, &e.to]);
                let texts = places.map(|places| places.map(|place| text_at(trees, place)));
                return Err(NotOwn {
                    tensor: tensor.label().to_owned(),
                    why: match texts {
                        Some([from, to]) if from == to => format!("several threads run `{from}`"),
                        Some([from, to]) => {
                            format!("one thread runs `{from}`, and another one `{to}`")
                        }
                        None => "its indices do not say which thread uses each element".to_owned(),
                    },
                });
            }
        }
    }
    Ok((shared, distributed))
}

/// The statement at a position.
fn text_at(trees: &[Tree], place: &[usize]) -> String {
    let Some((first, rest)) = place.split_first() else {
        return String::new();
    };
    match trees.get(*first) {
        Some(Tree::Loop(l)) => text_at(&l.body, rest),
        Some(Tree::Stmt(s)) => s.to_string(),
        Some(Tree::Fill(fill)) => fill.to_string(),
        Some(Tree::Local(_)) | None => String::new(),
    }
}

impl Distributed {
    fn of(tensor: &Tensor, launch: &Launch, context: &[&Loop]) -> Option<Distributed> {
        let mut chain: Vec<&Loop> = context.to_vec();
        chain.extend(launch.around.iter().chain(&launch.grid));
        let fixed = chain.len();
        let mut uses = Vec::new();
        collect(launch.body, tensor, &mut chain, fixed, &mut uses)?;
        let rank = tensor.shape().rank();
        let written: Vec<&Use> = uses.iter().filter(|of| of.is_written).collect();
        let mut forms = Vec::new();
        for d in 0..rank {
            forms.push(form(&written, d, &launch.threads)?);
        }
        let has_forms = |of: &&Use| have_forms(&of.offsets, &forms);
        let (own, others): (Vec<&Use>, Vec<&Use>) = uses.iter().partition(has_forms);
        let lanes = launch.threads[Axis::LANE];
        let is_set_in = |phase: &Option<Name>| written.iter().any(|of| of.phase == *phase);
        let can_pass = |of: &&Use| of.can_be_passed(&forms, tensor, lanes) && !is_set_in(&of.phase);
        if !others.iter().all(can_pass) {
            return None;
        }
        let mut extents = Vec::new();
        for (d, form) in forms.iter().enumerate() {
            let last = own.iter().map(|of| of.offsets[d].last_slot(form));
            let last = last.collect::<Option<Vec<i64>>>()?.into_iter().max()?;
            extents.push(u64::try_from(last + 1).ok()?);
        }
        let named = forms.iter().flat_map(|form| match form {
            Form::Whole => &[],
            Form::Blocks { axes, .. } => axes.as_slice(),
        });
        let named: BTreeSet<usize> = named.map(|(axis, _)| *axis).collect();
        let mut axes = own.iter().flat_map(|of| &of.axes);
        axes.all(|axis| named.contains(axis)).then(|| Distributed {
            tensor: tensor.clone(),
            part: tensor.stored_as(Shape::of_extents(extents)),
            is_passed: !others.is_empty(),
            forms,
        })
    }

    /// Whether it is this tensor.
    pub(super) fn is(&self, tensor: &Tensor) -> bool {
        self.tensor.name() == tensor.name()
    }
}

/// The form that all indices of a dimension have.
fn form(uses: &[&Use], d: usize, threads: &[i64]) -> Option<Form> {
    let mut forms = uses.iter().map(|of| of.offsets[d].form(threads));
    let first = forms.next()??;
    forms
        .all(|form| form.as_ref() == Some(&first))
        .then_some(first)
}

/// Whether indices have these forms.
fn have_forms(offsets: &[Offsets], forms: &[Form]) -> bool {
    offsets.iter().zip(forms).all(|(of, form)| of.is_of(form))
}

/// A use of a tensor.
struct Use {
    offsets: Vec<Offsets>,
    is_written: bool,
    /// The loop where its phase begins, if it is in one.
    phase: Option<Name>,
    /// The axes that are bound around it.
    axes: BTreeSet<usize>,
}

impl Use {
    /// Whether it reads what a lane of the same warp keeps: one dimension numbers the lanes, and all
    /// others agree with the forms and say nothing of lanes.
    fn can_be_passed(&self, forms: &[Form], tensor: &Tensor, lanes: i64) -> bool {
        let Some(d) = forms.iter().position(Form::is_of_lanes) else {
            return false;
        };
        let extent = tensor.shape().extents().get(d);
        let is_one_each =
            extent.is_some_and(|extent| i64::try_from(*extent).is_ok_and(|n| n <= lanes));
        let is_of_lane = self.offsets[d]
            .threads
            .iter()
            .all(|(axis, _)| *axis == Axis::LANE);
        let mut others = self.offsets.iter().zip(forms).enumerate();
        let agree = others.all(|(k, (offsets, form))| {
            let says_lane = offsets.threads.iter().any(|(axis, _)| *axis == Axis::LANE);
            k == d || !says_lane && offsets.is_of(form)
        });
        let copies = self.offsets.iter().flat_map(|of| &of.rest);
        let copies = copies.fold(1i64, |all, (_, _, most)| all.saturating_mul(most + 1));
        !self.is_written && is_one_each && is_of_lane && agree && copies <= MOST_PASSES
    }
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
        threads.sort_by_key(|(_, c)| *c);
        Some(Offsets {
            threads,
            rest,
            constant,
        })
    }

    fn form(&self, threads: &[i64]) -> Option<Form> {
        let Some((_, size)) = self.threads.first().copied() else {
            return self.last().map(|_| Form::Whole);
        };
        // Each axis counts all threads of those before it.
        let mut all = size;
        for (axis, c) in &self.threads {
            if *c != all || size < 1 {
                return None;
            }
            all = all.checked_mul(threads[*axis])?;
        }
        let form = Form::Blocks {
            axes: self.threads.clone(),
            size,
            threads: all / size,
        };
        self.is_of(&form).then_some(form)
    }

    /// Whether the index has a form.
    fn is_of(&self, form: &Form) -> bool {
        if self.last().is_none() {
            return false;
        }
        let Form::Blocks {
            axes,
            size,
            threads,
        } = form
        else {
            return self.threads.is_empty();
        };
        // Numbers below a block, and multiples of all blocks.
        let all = size * threads;
        let within = self.rest.iter().filter(|(_, c, _)| c % all != 0);
        let most = within.map(|(_, c, most)| c.saturating_mul((*most).max(0)));
        let most = most.fold(self.constant % all, i64::saturating_add);
        self.threads == *axes && most < *size
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
    fn last_slot(&self, form: &Form) -> Option<i64> {
        let mut terms = self.rest.iter();
        terms.try_fold(form.slot(self.constant), |sum, (_, c, most)| {
            sum.checked_add(form.slot(*c).checked_mul((*most).max(0))?)
        })
    }

    /// The place in the part of a thread.
    fn slot(&self, form: &Form) -> Affine {
        let constant = Affine::constant(form.slot(self.constant));
        let terms = self.rest.iter();
        terms.fold(constant, |sum, (r, c, _)| sum.plus(&r.times(form.slot(*c))))
    }
}

impl Form {
    /// Whether the index is the number of the lane.
    fn is_of_lanes(&self) -> bool {
        matches!(self, Form::Blocks { axes, size: 1, .. } if axes.as_slice() == [(Axis::LANE, 1)])
    }

    /// The place in the part of a thread of an element at a distance from its first one.
    fn slot(&self, distance: i64) -> i64 {
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

/// All uses of a tensor. `None` if an index has no form.
fn collect<'t>(
    trees: &'t [Tree],
    tensor: &Tensor,
    chain: &mut Vec<&'t Loop>,
    fixed: usize,
    uses: &mut Vec<Use>,
) -> Option<()> {
    for tree in trees {
        let mut of_tree: Vec<Use> = Vec::new();
        let mut fits = true;
        let mut see = |other: &Tensor, index: &[Affine], is_written: bool| {
            if other.name() == tensor.name() {
                let offsets = index.iter().map(|a| Offsets::of(a, chain, fixed));
                let mut bound = chain.iter().filter(|l| l.is_block());
                // A loop with one iteration has the first thread.
                let place = |l: &Loop| chain.iter().position(|o| o.name == l.name).unwrap_or(0);
                let is_several = |l: &&&Loop| at_most(l, &chain[..place(l)]) != Some(1);
                let axes = bound.clone().filter(is_several).filter_map(|l| l.axis());
                match offsets.collect::<Option<Vec<Offsets>>>() {
                    Some(offsets) => of_tree.push(Use {
                        offsets,
                        is_written,
                        phase: bound.next().map(|l| l.name.clone()),
                        axes: axes.map(|axis| axis.dimension).collect(),
                    }),
                    None => fits = false,
                }
            }
        };
        match tree {
            Tree::Local(_) => {}
            Tree::Loop(l) => {
                chain.push(l);
                collect(&l.body, tensor, chain, fixed, uses)?;
                chain.pop();
            }
            Tree::Stmt(s) => {
                see(&s.target, &s.index, true);
                s.value.for_each_access(&mut |tensor, index| match index {
                    Index::At(index) => see(tensor, index, false),
                    _ => see(tensor, &[], false),
                });
            }
            Tree::Fill(fill) => {
                let low: Vec<Affine> = fill.region.iter().map(|(low, _)| low.clone()).collect();
                see(&fill.target, &low, true);
                for of in &mut of_tree {
                    for (of, (_, extent)) in of.offsets.iter_mut().zip(&fill.region) {
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
        uses.extend(of_tree);
    }
    Some(())
}

/// Trees inside `chain`, with distributed tensors replaced by the parts of threads. Elements that lanes
/// pass on are found in registers of their own, which `passes` fill.
pub(super) fn with_parts<'t>(
    trees: &'t [Tree],
    all: &[Distributed],
    chain: &mut Vec<&'t Loop>,
    fixed: usize,
    passes: &mut Passes,
) -> Vec<Tree> {
    let mut found = Vec::new();
    for tree in trees {
        found.push(match tree {
            Tree::Loop(l) => {
                chain.push(l);
                let body = with_parts(&l.body, all, chain, fixed, passes);
                chain.pop();
                Tree::of_loop(Loop {
                    body,
                    ..(**l).clone()
                })
            }
            Tree::Local(_) => tree.clone(),
            Tree::Stmt(s) => Tree::Stmt(Arc::new(stmt(s, all, (chain, fixed), passes))),
            Tree::Fill(fill) => Tree::Fill(Arc::new(self::fill(fill, all, chain, fixed))),
        });
    }
    found
}

fn stmt(
    s: &Stmt,
    all: &[Distributed],
    (chain, fixed): (&[&Loop], usize),
    passes: &mut Passes,
) -> Stmt {
    let part = |tensor: &Tensor, index: &[Affine]| part(tensor, index, all, chain, fixed);
    let mut passed = Vec::new();
    s.value.for_each_access(&mut |tensor, index| {
        if let Index::At(index) = index
            && part(tensor, index).is_none()
            && let Some(own) = own(tensor, index, all, (chain, fixed), passes)
        {
            passed.push((tensor.clone(), index.to_vec(), own));
        }
    });
    let value = s.value.map_accesses(&|tensor, index| match index {
        Index::At(index) => {
            let is_it = |(of, at, _): &&(Tensor, Vec<Affine>, _)| of == tensor && at == index;
            let own = passed.iter().find(is_it).map(|(_, _, own)| own.clone());
            let (tensor, index) = own.or_else(|| part(tensor, index))?;
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
    let offsets = index.iter().map(|a| Offsets::of(a, chain, fixed));
    let offsets = offsets.collect::<Option<Vec<Offsets>>>()?;
    let slots = offsets
        .iter()
        .zip(&of.forms)
        .map(|(of, form)| of.slot(form));
    have_forms(&offsets, &of.forms).then(|| (of.part.clone(), slots.collect()))
}

/// The access of registers that get what other lanes have, in each iteration of the loops of a phase
/// that the index mentions.
fn own(
    tensor: &Tensor,
    index: &[Affine],
    all: &[Distributed],
    (chain, fixed): (&[&Loop], usize),
    passes: &mut Passes,
) -> Option<(Tensor, Vec<Affine>)> {
    let of = all.iter().find(|of| of.is_passed && of.is(tensor))?;
    let phase = chain.iter().find(|l| l.is_block())?.name.clone();
    let offsets = index.iter().map(|a| Offsets::of(a, chain, fixed));
    let offsets = offsets.collect::<Option<Vec<Offsets>>>()?;
    let lane = of.forms.iter().position(Form::is_of_lanes)?;
    let copies: Vec<(Affine, i64)> = offsets
        .iter()
        .flat_map(|of| of.rest.iter().map(|(at, _, most)| (at.clone(), most + 1)))
        .collect();
    let number = passes.values().map(Vec::len).sum::<usize>() + 1;
    let extents = copies.iter().map(|(_, count)| u64::try_from(*count));
    let extents = extents.collect::<Result<Vec<u64>, _>>().ok()?;
    // Scripts cannot use this name.
    let name = Name::generated(0).derived(format!("passed_{number}"));
    let to = tensor.stored_as(Shape::of_extents(extents)).named(name);
    let times = offsets[lane].threads.iter().map(|(_, c)| c).sum();
    let mut places = vec![Vec::new()];
    for (_, count) in &copies {
        let longer = places.iter().flat_map(|place: &Vec<i64>| {
            (0..*count).map(|k| place.iter().copied().chain([k]).collect())
        });
        places = longer.collect();
    }
    for place in places {
        // Numbers of iterations come in the order of the terms.
        let mut numbers = place.iter();
        let values: Vec<(i64, i64)> = offsets
            .iter()
            .zip(&of.forms)
            .map(|(of, form)| {
                let terms = of.rest.iter().zip(numbers.by_ref());
                let start = (of.constant, form.slot(of.constant));
                terms.fold(start, |(value, slot), ((_, c, _), n)| {
                    (value + c * n, slot + form.slot(*c) * n)
                })
            })
            .collect();
        let slots = values
            .iter()
            .enumerate()
            .map(|(d, (_, slot))| match d == lane {
                true => Affine::constant(0),
                false => Affine::constant(*slot),
            });
        passes.entry(phase.clone()).or_default().push(Pass {
            to: to.clone(),
            at: place.iter().map(|k| Affine::constant(*k)).collect(),
            from: of.part.clone(),
            slot: slots.collect(),
            times,
            plus: values[lane].0,
        });
    }
    Some((to, copies.into_iter().map(|(at, _)| at).collect()))
}
