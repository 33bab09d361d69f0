//! `rfactor` gives each iteration of a reduction's loop a partial result of its own.
//!
//! ```rhai
//! let A = tensor([4, 50]);
//! let y = eq(vsum(vat(A, [i, k]), [k]), [i]);
//! print(build(y).stripmine("k", 16).rfactor("k_i"));
//! ```
//!
//! ```text
//! f64 y[4], A[4][50]
//! fill y[0..4] = 0
//! for i in 0..4
//!   local f64 y_k_i[16]
//!   fill y_k_i[0..16] = 0
//!   for k_o in 0..4
//!     for k_i in 16*k_o..min(16*k_o + 16, 50)
//!       y_k_i[k_i - 16*k_o] += A[i][k_i]
//!   for k_i_2 in 0..16
//!     y[i] += y_k_i[k_i_2]
//! ```
//!
//! The partial results are a local tensor, `y_k_i` for the loop `k_i` and the target `y`, filled
//! with the identity of the reduction. They are combined afterwards, in the order of the loop. They
//! live as long as the same elements of the target are updated: outside of all loops around `k_i`
//! that do not change which elements these are. If loops inside change the elements, each iteration
//! has a partial result for each of them:
//!
//! ```rhai
//! let A = tensor([4, 50]);
//! let y = eq(vsum(vat(A, [i, k]), [k]), [i]);
//! print(build(y).stripmine("k", 16).reorder(["k_o", "i"]).rfactor("k_o").parallelize("k_o"));
//! ```
//!
//! ```text
//! f64 y[4], A[4][50]
//! fill y[0..4] = 0
//! local f64 y_k_o[4][4]
//! fill y_k_o[0..4][0..4] = 0
//! parallel for k_o in 0..4
//!   for i in 0..4
//!     for k_i in 16*k_o..min(16*k_o + 16, 50)
//!       y_k_o[k_o][i] += A[i][k_i]
//! for k_o_2 in 0..4
//!   for i_2 in 0..4
//!     y[i_2] += y_k_o[k_o_2][i_2]
//! ```
//!
//! As far as the reduction goes, the iterations of the loop are then independent, and the loop can
//! be parallelized or vectorized.
//!
//! Legal when the operands of the reduction may be regrouped. Integers, minima and maxima always
//! may. Floating-point sums and products then round differently; comparisons report the deviation.
//!
//! Refuses: loops that carry no reduction, or more than one statement of it; updates other than
//! `+=`, `-=`, `*=`, minima and maxima; other uses of the target in the loop; steps other than 1; a
//! name for the partial results that is in use.
//!
//! Source: `rfactor` of Halide (Suriana, Adams, Kamil, CGO 2017) and TVM.

use super::parts::Names;
use super::resolve::{chain, check_step, find};
use crate::analysis::bounds::Bounds;
use crate::analysis::footprint::{AccessKind, Side, Use, footprint, uses};
use crate::analysis::position::{splice, walk};
use crate::analysis::relative::offset_form;
use crate::analysis::verify::Invalid;
use crate::args::{LOOP, NEST};
use crate::ir::{
    Affine, BinaryOp, Expr, Fill, Index, Loop, Name, Nest, Range, Reduction, Shape, Stmt, Tensor,
    Tree,
};
use crate::refusals::{not_constant, unnamed};
use crate::{Error, LoopRef, Op, Returns, Value, refusal};
use std::sync::Arc;

/// `rfactor(nest, loop)`.
pub static RFACTOR: Op = Op {
    name: "rfactor",
    params: &[NEST.any(), LOOP.any()],
    returns: Returns::Nest,
    file: include_str!("rfactor.rs"),
    call: |args| rfactor(args.get(&NEST)?, args.get(&LOOP)?).map(Value::Nest),
};

/// The nest with partial results for each iteration of a loop.
///
/// # Errors
/// As the header says.
pub fn rfactor(nest: &Nest, reference: &LoopRef) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    let loops = chain(nest, &position);
    let l = loops[position.len() - 1];
    if !l.range.is_part() {
        check_step(nest, l)?;
    }
    let refuse = |error: Error| error.on(nest, [l.name.clone()]);
    let (stmt, update) = update_in(nest, l, &position).map_err(refuse)?;
    let op = stmt.update.unwrap_or(BinaryOp::Add);
    let reduction = reduction(op).ok_or_else(|| {
        let op = op.symbol();
        refuse(refusal(format!(
            "partial results of `{op}=` cannot be combined"
        )))
    })?;

    let (depth, sides) = scope(nest, &update, position.len() - 1).ok_or_else(|| {
        let (tensor, name) = (stmt.target.label(), &l.name);
        refuse(refusal(format!(
            "{tensor} is used in `{name}` by more than its update"
        )))
    })?;
    let around = Bounds::around(nest, loops[..loops.len() - 1].iter().map(|l| &***l));
    let (first, rest) = offset_form(l, &around).ok_or_else(|| not_constant(nest, l))?;
    let partials = Partials::of(stmt, l, rest.saturating_add(1), sides)?;
    if !uses(nest, partials.local.label()).is_empty() {
        let tensor = partials.local.label().to_owned();
        return Err(Error::from(Invalid::LocalClash { tensor }).on(nest, []));
    }

    let slot = Affine::iterator(l.name.clone()).minus(&first);
    let partial = Tree::Stmt(Arc::new(Stmt {
        target: partials.local.clone(),
        index: partials.index(slot, &stmt.index),
        update: Some(reduction.op()),
        ..stmt.clone()
    }));
    let place = &update.position[..=depth];
    let factored = splice(nest.trees(), &update.position, vec![partial]);
    let inner = chain(&nest.with_trees(factored.clone()), place)[depth].clone();
    let combined = partials.combine(stmt, op, l, &update.loops, Names::of(nest));
    let trees = vec![
        Tree::Local(partials.local.clone()),
        partials.fill(reduction),
        Tree::Loop(inner),
        combined,
    ];
    Ok(nest.with_trees(splice(&factored, place, trees)))
}

/// The reduction that combines partial results of `op`.
fn reduction(op: BinaryOp) -> Option<Reduction> {
    match op {
        // a - b - c is a - (b + c).
        BinaryOp::Sub => Some(Reduction::Sum),
        op => Reduction::ALL.into_iter().find(|r| r.op() == op),
    }
}

/// The only statement in the loop at `position` that updates the same elements in all of its
/// iterations.
fn update_in<'a>(
    nest: &'a Nest,
    l: &Loop,
    position: &[usize],
) -> Result<(&'a Stmt, Use<'a>), Error> {
    let mut found: Vec<(&Stmt, Use)> = Vec::new();
    walk(nest.trees(), &mut |at, loops, tree| {
        let Tree::Stmt(s) = tree else { return };
        if s.update.is_none() || !at.starts_with(position) {
            return;
        }
        let update = Use {
            position: at.to_vec(),
            loops: loops.to_vec(),
            tensor: &s.target,
            region: s
                .index
                .iter()
                .map(|a| (a.clone(), Affine::constant(1)))
                .collect(),
            access: AccessKind::Update,
        };
        let sides = footprint(nest, std::slice::from_ref(&update), position.len());
        if sides.is_some_and(|sides| !moves(&sides, &l.name)) {
            found.push((s, update));
        }
    });
    let (name, count) = (&l.name, found.len());
    match found.pop() {
        Some(update) if count == 1 => Ok(update),
        Some(_) => {
            let text =
                format!("`{name}` carries {count} updates, and partial results are those of one");
            Err(refusal(text).help("distribute the loop first"))
        }
        None => {
            let text = format!(
                "`{name}` carries no reduction: no update is of the same elements in all iterations"
            );
            let help = "choose a loop whose iterator does not index the target of an update";
            Err(refusal(text).help(help))
        }
    }
}

/// Whether a box moves with a loop.
fn moves(sides: &[Side], l: &Name) -> bool {
    let mut sides = sides.iter();
    sides.any(|side| side.low.mentions(l) || side.offsets.mentions(l))
}

/// The scope of the partial results: how many loops are around it, at most `depth`, and the box of
/// the target that they belong to. `None` if the loop `depth` levels deep uses the target
/// otherwise.
fn scope(nest: &Nest, update: &Use, depth: usize) -> Option<(usize, Vec<Side>)> {
    let name = update.tensor.label();
    let uses = uses(nest, name);
    // Whether the loop `depth` levels deep uses the target in the update only.
    let alone = |depth: usize| {
        let place = &update.position[..=depth];
        let inside = uses.iter().filter(|u| u.position.starts_with(place));
        let declared = update.loops[depth].body.iter().any(|t| match t {
            Tree::Local(local) => local.label() == name,
            _ => false,
        });
        !declared && inside.count() == 1
    };
    let sides = |depth: usize| footprint(nest, std::slice::from_ref(update), depth);
    let (mut depth, mut region) = (depth, sides(depth).filter(|_| alone(depth))?);
    while depth > 0 && alone(depth - 1) && !moves(&region, &update.loops[depth - 1].name) {
        depth -= 1;
        region = sides(depth)?;
    }
    Some((depth, region))
}

/// The distance between elements of an index, if only `l` moves it, upwards from the `low` end of
/// the box.
fn stride(index: &Affine, l: &Loop, low: &Affine) -> Option<i64> {
    let [lower] = &l.range.lower[..] else {
        return None;
    };
    let first = index.substitute(&|name| (*name == l.name).then(|| lower.clone()));
    let apart = index.coefficient(&l.name).checked_mul(l.range.step)?;
    (first == *low && apart > 0).then_some(apart)
}

/// The local tensor of partial results.
struct Partials {
    local: Tensor,
    /// The number of iterations.
    slots: i64,
    /// The box of the target that they belong to.
    sides: Vec<Side>,
}

/// Whether a side of a box is a single element.
fn is_single(side: &Side) -> bool {
    side.offsets.as_constant() == Some((0, 1))
}

impl Partials {
    fn of(stmt: &Stmt, l: &Loop, slots: i64, sides: Vec<Side>) -> Result<Partials, Error> {
        let several = sides.iter().filter(|side| !is_single(side));
        let extents = several.map(|side| i64::try_from(side.extent).unwrap_or(i64::MAX));
        let extents: Vec<i64> = [slots].into_iter().chain(extents).collect();
        let elem = stmt.target.elem();
        let local = Tensor::new(Shape::new(&extents, elem)?, elem);
        let name = stmt.target.name().map(|name| name.derived(&l.name));
        let name = name.ok_or_else(unnamed)?;
        let local = local.named(name);
        Ok(Partials {
            local,
            slots,
            sides,
        })
    }

    /// The partial result that one iteration has for an element of the target.
    fn index(&self, slot: Affine, index: &[Affine]) -> Vec<Affine> {
        let dimensions = index.iter().zip(&self.sides);
        let several = dimensions.filter(|(_, side)| !is_single(side));
        let own = several.map(|(index, side)| index.minus(&side.low));
        [slot].into_iter().chain(own).collect()
    }

    fn fill(&self, reduction: Reduction) -> Tree {
        Tree::Fill(Arc::new(Fill {
            target: self.local.clone(),
            region: self.local.shape().whole(),
            value: reduction.identity(self.local.elem()),
            origin: None,
        }))
    }

    /// The loops that combine the partial results with the target; `stmt` is its update in `loops`.
    fn combine(
        &self,
        stmt: &Stmt,
        op: BinaryOp,
        l: &Loop,
        loops: &[&Arc<Loop>],
        mut names: Names,
    ) -> Tree {
        let slot = names.number(&l.name);
        let mut ranges = vec![(slot.clone(), Range::constant(0, self.slots))];
        let mut index = Vec::with_capacity(self.sides.len());
        for (side, own) in self.sides.iter().zip(&stmt.index) {
            if is_single(side) {
                index.push(side.low.clone());
                continue;
            }
            // The new loop is named after the innermost loop that moves in this dimension.
            let of = loops.iter().rev().find(|l| own.mentions(&l.name));
            let name = names.number(of.map_or(&l.name, |l| &l.name));
            index.push(Affine::iterator(name.clone()));
            let step = of.and_then(|l| stride(own, l, &side.low)).unwrap_or(1);
            let range = side.offsets.shifted(&side.low);
            ranges.push((name, Range { step, ..range }));
        }
        let own = self.index(Affine::iterator(slot), &index);
        let mut tree = Tree::Stmt(Arc::new(Stmt {
            target: stmt.target.clone(),
            index,
            update: Some(op),
            value: Expr::access(self.local.clone(), Index::At(own)),
            origin: None,
        }));
        for (name, range) in ranges.into_iter().rev() {
            tree = Tree::of_loop(Loop::serial(name, range, vec![tree]));
        }
        tree
    }
}
