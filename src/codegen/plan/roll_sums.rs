//! Keeps compilers from unrolling short loops over the terms of sums in registers.
//!
//! ```rhai
//! nest(`
//! f64 C[9][4][8], A[4][8], B[9][8][8]
//! for e in 0..9
//!   local f64 T[4][8]
//!   fill T[0..4][0..8] = 0
//!   for k in 0..8
//!     for i in 0..4
//!       vector for j in 0..8
//!         T[i][j] += A[i][k] * B[e][k][j]
//!   for i_2 in 0..4
//!     vector for j_2 in 0..8
//!       C[e][i_2][j_2] = T[i_2][j_2]
//! `)
//! ```
//!
//! Before:
//!
//! ```text
//! for e in 0..9
//!   local f64 T[4][8] on the stack
//!   for T_set_1 in 0..4, unrolled 4 times
//!     for T_set_2 in 0..8, in vectors of f64
//!       T[T_set_1][T_set_2] = 0
//!   for k in 0..8
//!     for i in 0..4, unrolled 4 times
//!       for j in 0..8, in vectors of f64
//!         T[i][j] += A[i][k] * B[e][k][j]
//!   for i_2 in 0..4, unrolled 4 times
//!     for j_2 in 0..8, in vectors of f64
//!       C[e][i_2][j_2] = T[i_2][j_2]
//! ```
//!
//! After:
//!
//! ```text
//! for e in 0..9
//!   local f64 T[4][8] on the stack
//!   for T_set_1 in 0..4, unrolled 4 times
//!     for T_set_2 in 0..8, in vectors of f64
//!       T[T_set_1][T_set_2] = 0
//!   for k in 0..8, not unrolled
//!     for i in 0..4, unrolled 4 times
//!       for j in 0..8, in vectors of f64
//!         T[i][j] += A[i][k] * B[e][k][j]
//!   for i_2 in 0..4, unrolled 4 times
//!     for j_2 in 0..8, in vectors of f64
//!       C[e][i_2][j_2] = T[i_2][j_2]
//! ```
//!
//! Compilers unroll a short loop over terms. Loads in the terms then have fixed addresses. Loads
//! that are the same for the next tile are hoisted out of the loop over tiles: here 32 elements of
//! `A`. The sums need the registers, so that compilers spill these elements to the stack, and read
//! vectors of `B` once for each row. In a loop, each is read once. Several simultaneous sums hide
//! the cost of the loop.

use super::keep_order::MAX_UNROLLED;
use super::lanes::{may_be_registers, trips, widest};
use super::tree::{Context, Loop as PlannedLoop, Mode, Node, Plan};
use crate::ir::{Affine, Index, Name, Stmt, Tensor, ceil_div};
use crate::target::Target;
use std::collections::HashSet;
use std::sync::Arc;

/// The fewest simultaneous sums that hide the cost of a loop: its instructions execute while the
/// sums wait for their last terms.
const ENOUGH: i64 = 4;

/// The plan with such loops not unrolled.
pub(super) fn roll_sums(plan: &Plan, context: &Context<'_>) -> Plan {
    plan.each(|part| {
        let mut locals = HashSet::new();
        declared(&part.nodes, &mut locals);
        let rolls = Rolls {
            locals,
            target: context.target,
        };
        part.with(rolls.nodes(&part.nodes, None))
    })
}

/// Collects the local tensors.
fn declared(nodes: &[Node], locals: &mut HashSet<Name>) {
    for node in nodes {
        if let Node::Local(local) = node {
            locals.extend(local.tensor.name().cloned());
        }
        declared(node.body(), locals);
    }
}

struct Rolls<'a> {
    locals: HashSet<Name>,
    target: &'a Target,
}

impl Rolls<'_> {
    /// The nodes in a loop with the iterator `around`. Loops of one iteration are ignored.
    fn nodes(&self, nodes: &[Node], around: Option<&Name>) -> Vec<Node> {
        let node = |node: &Node| match node {
            Node::Loop(l) if !l.is_vector() && !l.is_unrolled() => {
                let count = trips(&l.of);
                let inside = match count {
                    Some(1) => around,
                    _ => Some(&l.of.name),
                };
                let is_short = count.is_some_and(|count| (2..=MAX_UNROLLED).contains(&count));
                let mode = match (&l.mode, around) {
                    (Mode::Serial, Some(around)) if is_short && self.lacks_registers(l, around) => {
                        Mode::Rolled
                    }
                    (mode, _) => mode.clone(),
                };
                Node::Loop(Arc::new(PlannedLoop {
                    mode,
                    body: self.nodes(&l.body, inside),
                    ..(**l).clone()
                }))
            }
            other => other.clone(),
        };
        nodes.iter().map(node).collect()
    }

    /// Whether the copies of an unrolled loop over terms need more registers than there are.
    fn lacks_registers(&self, l: &PlannedLoop, around: &Name) -> bool {
        let mut tile = Tile {
            rolls: self,
            terms: (&l.of.name, trips(&l.of).unwrap_or(1)),
            around,
            copied: Vec::new(),
            sums: 0,
            fixed: Vec::new(),
        };
        let registers = self.target.register_bytes() / self.target.vector_bytes().max(1);
        let is_tile = tile.see(&l.body);
        let fixed: i64 = tile.fixed.iter().map(|(.., values)| values).sum();
        is_tile && tile.sums >= ENOUGH && tile.sums + fixed > registers.cast_signed()
    }
}

/// The registers that a loop over terms needs.
struct Tile<'a> {
    rolls: &'a Rolls<'a>,
    /// The loop's iterator and its trip count.
    terms: (&'a Name, i64),
    /// The iterator of the loop over tiles.
    around: &'a Name,
    /// The loops around, each with the number of copies of its body.
    copied: Vec<(&'a Name, i64)>,
    /// The vectors of sums.
    sums: i64,
    /// The accesses that are the same for all tiles, each with its number of values in all terms.
    fixed: Vec<(&'a Tensor, &'a [Affine], i64)>,
}

impl<'a> Tile<'a> {
    /// Counts the registers of nodes; false if they do anything but add to register tiles.
    fn see(&mut self, nodes: &'a [Node]) -> bool {
        nodes.iter().all(|node| match node {
            Node::Loop(l) if l.is_unrolled() || l.is_vector() => {
                let Some(count) = trips(&l.of) else {
                    return false;
                };
                let lanes = match &l.mode {
                    Mode::Vector(plan) => {
                        let most = widest(self.rolls.target) / plan.elem.size() as i64;
                        plan.lanes.unwrap_or(most)
                    }
                    _ => 1,
                };
                let copies = ceil_div(count, lanes);
                self.copied.push((&l.of.name, copies));
                let all = self.see(&l.body);
                self.copied.pop();
                all
            }
            Node::Stmt(s) => self.adds(&s.of),
            Node::Fetch(_) => true,
            _ => false,
        })
    }

    fn adds(&mut self, s: &'a Stmt) -> bool {
        let name = s.target.name();
        let is_tile = name.is_some_and(|name| self.rolls.locals.contains(name))
            && may_be_registers(&s.target, self.rolls.target)
            && !mention(&s.index, self.terms.0);
        if !is_tile || s.update.is_none() {
            return false;
        }
        self.sums += self.values(&s.index);
        s.value.for_each_access(&mut |tensor, index| {
            let Index::At(index) = index else { return };
            let mut fixed = self.fixed.iter();
            let known = fixed.any(|(t, i, _)| *t == tensor && *i == index);
            if !known && mention(index, self.terms.0) && !mention(index, self.around) {
                let values = self.values(index) * self.terms.1;
                self.fixed.push((tensor, index, values));
            }
        });
        true
    }

    /// The registers for the elements of an access, for one term.
    fn values(&self, index: &[Affine]) -> i64 {
        let of = self.copied.iter().filter(|(name, _)| mention(index, name));
        of.map(|(_, copies)| copies).product()
    }
}

fn mention(index: &[Affine], name: &Name) -> bool {
    index.iter().any(|a| a.mentions(name))
}
