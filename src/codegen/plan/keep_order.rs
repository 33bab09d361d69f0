//! Avoids loops that gcc's vectorizer compiles wrongly.
//!
//! ```rhai
//! nest(`
//! f64 A[9][4]
//! for i in 2..9
//!   for j in 0..4
//!     A[i][j] = A[i - 1][j] + A[i - 2][j]
//! `)
//! ```
//!
//! Before:
//!
//! ```text
//! for i in 2..9
//!   for j in 0..4
//!     A[i][j] = A[i - 1][j] + A[i - 2][j]
//! ```
//!
//! After:
//!
//! ```text
//! for i in 2..9
//!   for j in 0..4, not unrolled
//!     A[i][j] = A[i - 1][j] + A[i - 2][j]
//! ```
//!
//! gcc 11 and 12 unroll a short loop in full, and any loop around register tiles. They then
//! vectorize the copies of its statements as groups (SLP). The result is wrong
//!
//! 1. if the loop around reads what it has just written: `x[i][j] = x[i - 1][j - 1] + 1`;
//! 2. if operands are exchanged among elements of one tensor, so that an element is the first operand
//!    in one copy and the second in another: `B[i] = A[i - 1] + A[i - 2]`;
//! 3. if a reduction reads backwards: `s += A[i][8 - j]`.
//!
//! gcc 12 also confuses addresses of one tensor that a loop walks through in both directions, if
//! the loop has several bounds (`-fivopts`): `x[c] = x[n - c]`. Functions with such a loop are compiled
//! without that optimization.
//!
//! Loops like the first two stay loops (`#pragma GCC unroll 1`), which compilers then vectorize
//! correctly. This also holds around register tiles, which are then on the stack. In the third, and
//! among statements that teml unrolled, an asm statement keeps groups from forming. It claims to
//! change memory: gcc forms groups across other asm statements. Each pattern has a test in
//! `tests/code/compilers.rs`.

use super::choose_vectors::Chosen;
use super::lanes::trips;
use super::tree::{Context, Loop as PlannedLoop, Mode, Node, Part, Plan};
use crate::ir::{Affine, Expr, Index, Loop, Name, Node as Value, Stmt, Tensor, Tree, gcd};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The most iterations of a loop that gcc unrolls in full.
pub(super) const MAX_UNROLLED: i64 = 16;

/// The plan with loops that are not unrolled and statements that stay in order.
pub(super) fn keep_order(plan: &Plan, context: &Context<'_>) -> Plan {
    plan.each(|part| {
        let chosen = Chosen::planned(part, context.target);
        let hazards = Hazards::of(part.trees(), &chosen);
        let nodes = hazards.nodes(&part.nodes, None, false);
        Part {
            both_ways: hazards.both_ways,
            ..part.with(nodes)
        }
    })
}

/// The loops and statements that compilers must not group.
#[derive(Default)]
struct Hazards {
    /// Short loops that must not be unrolled.
    rolled: HashSet<Name>,
    /// Loops that begin with an asm statement.
    in_order: HashSet<Name>,
    /// Loops with asm statements between their statements; `None` for statements outside of loops.
    apart: HashSet<Option<Name>>,
    /// Whether a loop walks through a tensor in both directions.
    both_ways: bool,
}

impl Hazards {
    fn of(trees: &[Tree], chosen: &Chosen) -> Hazards {
        let mut hazards = Hazards::default();
        hazards.look(&Body::new(None, trees, chosen), chosen);
        hazards.collect(trees, chosen);
        hazards.both_ways = goes_both_ways(trees);
        hazards
    }

    /// The nodes of an iteration of `around`, with an order that compilers must keep if it is
    /// `due`.
    fn nodes(&self, nodes: &[Node], around: Option<&Loop>, due: bool) -> Vec<Node> {
        let mut result = Vec::with_capacity(nodes.len());
        // OpenMP requires that collapsed loops are perfectly nested.
        let collapsed =
            |node: &Node| matches!(node, Node::Loop(l) if matches!(l.mode, Mode::Collapsed { .. }));
        let due = due || around.is_some_and(|l| self.in_order.contains(&l.name));
        let waits = nodes.iter().any(collapsed);
        if due && !waits {
            result.push(Node::InOrder);
        }
        for node in nodes {
            match node {
                Node::Loop(l) if !l.is_vector() => {
                    let mode = match l.mode {
                        Mode::Serial | Mode::Unrolled(_) if self.rolled.contains(&l.of.name) => {
                            Mode::Rolled
                        }
                        ref mode => mode.clone(),
                    };
                    result.push(Node::Loop(Arc::new(PlannedLoop {
                        mode,
                        body: self.nodes(&l.body, Some(&l.of), due && waits),
                        ..(**l).clone()
                    })));
                }
                Node::Stmt(_) if self.apart.contains(&around.map(|l| l.name.clone())) => {
                    result.extend([Node::InOrder, node.clone()]);
                }
                other => result.push(other.clone()),
            }
        }
        result
    }

    fn collect(&mut self, trees: &[Tree], chosen: &Chosen) {
        for tree in trees {
            let Tree::Loop(l) = tree else { continue };
            if !chosen.is_vector(l) {
                self.look(&Body::new(Some(l), &l.body, chosen), chosen);
            }
            self.collect(&l.body, chosen);
        }
    }

    fn look(&mut self, found: &Body<'_>, chosen: &Chosen) {
        let shorts = found.inner.iter().flat_map(|i| &i.short);
        // Outside of loops, compilers only unroll where the pragma demands it.
        let copied = |short: &&&Loop| found.l.is_some() || chosen.is_unrolled(short);
        let risky = shorts.filter(copied).filter(|short| found.is_group(short));
        self.rolled.extend(risky.map(|short| short.name.clone()));
        if let Some(l) = found.l.filter(|_| found.reads_backwards()) {
            self.in_order.insert(l.name.clone());
        }
        if found.has_group_of_statements() {
            self.apart.insert(found.l.map(|l| l.name.clone()));
        }
    }
}

/// The statements of a loop, or those outside of loops, including those in short or unrolled loops
/// inside.
struct Body<'t> {
    l: Option<&'t Loop>,
    inner: Vec<Inner<'t>>,
    /// The tensors declared there; each iteration has its own.
    locals: Vec<&'t Tensor>,
}

/// A statement, and the loops between it and the outer loop.
struct Inner<'t> {
    s: &'t Stmt,
    short: Vec<&'t Loop>,
}

impl<'t> Body<'t> {
    fn new(l: Option<&'t Loop>, trees: &'t [Tree], chosen: &Chosen) -> Body<'t> {
        let (inner, locals) = (Vec::new(), Vec::new());
        let mut body = Body { l, inner, locals };
        body.flatten(trees, chosen, &mut Vec::new());
        body
    }

    fn flatten(&mut self, trees: &'t [Tree], chosen: &Chosen, around: &mut Vec<&'t Loop>) {
        for tree in trees {
            match tree {
                Tree::Loop(l) => {
                    let short = trips(l).is_some_and(|trips| trips <= MAX_UNROLLED);
                    if (short || chosen.is_unrolled(l)) && !chosen.is_vector(l) {
                        around.push(l);
                        self.flatten(&l.body, chosen, around);
                        around.pop();
                    }
                }
                Tree::Stmt(s) => {
                    let short = around.clone();
                    self.inner.push(Inner { s, short });
                }
                Tree::Local(tensor) => self.locals.push(tensor),
                Tree::Fill(_) => {}
            }
        }
    }

    /// Whether unrolling a loop makes copies of a statement that gcc may group wrongly.
    fn is_group(&self, short: &Loop) -> bool {
        let is_inside = |i: &&Inner| i.short.iter().any(|l| l.name == short.name);
        let moves = |i: &&Inner| i.s.index.iter().any(|a| a.mentions(&short.name));
        let mut stored = self.inner.iter().filter(is_inside).filter(moves);
        stored.any(|i| self.mixes(i.s, i.s) || self.is_carried(i.s))
    }

    fn has_group_of_statements(&self) -> bool {
        let direct: Vec<&Stmt> = self
            .inner
            .iter()
            .filter(|i| i.short.is_empty())
            .map(|i| i.s)
            .collect();
        direct.iter().enumerate().any(|(k, s)| {
            let others = direct[..k].iter().chain(&direct[k + 1..]);
            let mut grouped = others.filter(|o| o.target == s.target && o.index != s.index);
            let falls = direct[k + 1..].iter().any(|o| reduce_backwards(s, o));
            falls || grouped.any(|o| self.mixes(s, o) || self.mixes(s, s) || self.is_carried(s))
        })
    }

    /// Whether an operand of a commutative operation in a statement is another operand in a copy of
    /// `other`.
    fn mixes(&self, s: &'t Stmt, other: &'t Stmt) -> bool {
        if !exchanges(&s.value) {
            return false;
        }
        let (own, others) = (reads(&s.value), reads(&other.value));
        let varying = self.varying();
        // Compilers load an input once, before the loop, if its element is the same in all iterations.
        let is_loaded_before = |tensor: &Tensor, index: &Index| {
            let moves = |a: &Affine| varying.iter().any(|l| a.mentions(&l.name));
            let Index::At(index) = index else {
                return false;
            };
            !varying.is_empty()
                && !index.iter().any(moves)
                && self.inner.iter().all(|i| i.s.target != *tensor)
        };
        own.iter().any(|(tensor, _)| {
            let of = |all: &[(&Tensor, &'t Index)]| -> Vec<&Index> {
                let same = all.iter().filter(|(t, _)| t == tensor);
                let same = same.filter(|(t, index)| !is_loaded_before(t, index));
                same.map(|(_, index)| *index).collect()
            };
            let (own, others) = (of(&own), of(&others));
            let alike = own.len() == others.len();
            own.iter().enumerate().any(|(k, a)| {
                others.iter().enumerate().any(|(m, b)| {
                    let is_same = if alike { k == m } else { a == b };
                    !is_same
                        && match (a, b) {
                            (Index::At(a), Index::At(b)) => may_meet(a, b, &varying),
                            _ => true,
                        }
                })
            })
        })
    }

    /// The loops whose copies of a statement compilers may group.
    fn varying(&self) -> Vec<&'t Loop> {
        let shorts = self.inner.iter().flat_map(|i| i.short.iter().copied());
        shorts.chain(self.l).collect()
    }

    /// Whether another iteration of the loop may read an element that a statement writes.
    fn is_carried(&self, s: &Stmt) -> bool {
        let Some(l) = self.l.filter(|_| !self.locals.contains(&&s.target)) else {
            return false;
        };
        let varying = self.varying();
        let moves = s.index.iter().any(|a| a.mentions(&l.name));
        self.inner.iter().any(|other| {
            let mut carried = false;
            let mut read = |tensor: &Tensor, index: &[Affine]| {
                let same = index == s.index.as_slice();
                carried |= tensor.name() == s.target.name()
                    && (!same || !moves)
                    && may_meet(index, &s.index, &varying);
            };
            other.s.value.for_each_access(&mut |tensor, index| {
                if let Index::At(index) = index {
                    read(tensor, index);
                }
            });
            if other.s.update.is_some() && other.s.index != s.index {
                read(&other.s.target, &other.s.index);
            }
            carried
        })
    }

    /// Whether a reduction over a short loop reads backwards.
    fn reads_backwards(&self) -> bool {
        let reductions = self.inner.iter().filter(|i| i.s.update.is_some());
        let mut backwards = false;
        for i in reductions {
            i.s.value.for_each_access(&mut |_, index| {
                if let Index::At(index) = index {
                    let falls = |a: &Affine| i.short.iter().any(|l| a.coefficient(&l.name) < 0);
                    backwards |= index.iter().any(falls);
                }
            });
        }
        backwards
    }
}

/// Whether the iterator of a loop in trees has a positive factor in one index of a tensor and a
/// negative one in another.
pub(super) fn goes_both_ways(trees: &[Tree]) -> bool {
    both_ways(trees, &mut Vec::new(), &mut HashMap::new())
}

/// The same for `loops` around as well. `signs` has the factors seen before.
fn both_ways(
    trees: &[Tree],
    loops: &mut Vec<Name>,
    signs: &mut HashMap<(Name, Name), bool>,
) -> bool {
    trees.iter().any(|tree| match tree {
        Tree::Loop(l) => {
            loops.push(l.name.clone());
            let found = both_ways(&l.body, loops, signs);
            loops.pop();
            found
        }
        Tree::Stmt(s) => {
            let mut found = false;
            let mut look = |tensor: &Tensor, index: &[Affine]| {
                let terms = index.iter().flat_map(Affine::terms);
                for (iterator, c) in terms.filter(|(name, _)| loops.contains(name)) {
                    let Some(tensor) = tensor.name() else {
                        continue;
                    };
                    let key = (tensor.clone(), iterator.clone());
                    found |= *signs.entry(key).or_insert(*c > 0) != (*c > 0);
                }
            };
            look(&s.target, &s.index);
            s.value.for_each_access(&mut |tensor, index| {
                if let Index::At(index) = index {
                    look(tensor, index);
                }
            });
            found
        }
        Tree::Fill(_) | Tree::Local(_) => false,
    })
}

/// Whether two indices may refer to the same element. Iterators of `varying` loops may have different
/// values in the two indices; all others have the same value.
fn may_meet(a: &[Affine], b: &[Affine], varying: &[&Loop]) -> bool {
    let varies = |name: &Name| varying.iter().any(|l| l.name == *name);
    a.iter().zip(b).all(|(a, b)| {
        let fixed = |a: &Affine| a.substitute(&|name| varies(name).then(Affine::default));
        let Some(apart) = fixed(a).minus(&fixed(b)).as_constant() else {
            return true;
        };
        let steps = a.terms().iter().chain(b.terms());
        let steps = steps.filter(|(name, _)| varies(name)).map(|(_, by)| *by);
        match steps.fold(0, gcd) {
            0 => apart == 0,
            step => {
                apart % step == 0 && farthest(a, b, varying).is_none_or(|far| apart.abs() <= far)
            }
        }
    })
}

/// The most that the iterators of `varying` loops add to the distance of two indices, if their numbers
/// of iterations tell.
fn farthest(a: &Affine, b: &Affine, varying: &[&Loop]) -> Option<i64> {
    let by = |l: &&Loop| match (a.coefficient(&l.name), b.coefficient(&l.name)) {
        (0, 0) => Some(0),
        (c, d) if c == d => c.abs().checked_mul((trips(l)? - 1).max(0)),
        _ => None,
    };
    varying
        .iter()
        .map(by)
        .try_fold(0i64, |all, by| all.checked_add(by?))
}

/// The accesses of a value, in order.
fn reads(value: &Expr) -> Vec<(&Tensor, &Index)> {
    let mut all = Vec::new();
    value.for_each_access(&mut |tensor, index| all.push((tensor, index)));
    all
}

/// Whether a commutative operation takes several elements of one tensor.
fn exchanges(value: &Expr) -> bool {
    let own = match value.node() {
        Value::Binary { op, .. } if op.commutes() => {
            let read = reads(value);
            let others = |k: usize| read[..k].iter();
            let several = |(k, (tensor, index)): (usize, &(&Tensor, &Index))| {
                others(k).any(|(t, i)| t == tensor && i != index)
            };
            read.iter().enumerate().any(several)
        }
        _ => false,
    };
    own || value.children().iter().any(|child| exchanges(child))
}

/// Whether two statements add to one element, and the second reads an element before the one that
/// the first reads.
fn reduce_backwards(first: &Stmt, second: &Stmt) -> bool {
    let same = first.target == second.target && first.index == second.index;
    if !same || first.update.is_none() || second.update.is_none() {
        return false;
    }
    let mut falls = false;
    first.value.for_each_access(&mut |tensor, index| {
        let Index::At(from) = index else { return };
        second.value.for_each_access(&mut |other, index| {
            let Index::At(to) = index else { return };
            let apart = |(a, b): (&Affine, &Affine)| b.minus(a).as_constant();
            let apart = from.iter().zip(to).map(apart).find(|by| *by != Some(0));
            falls |= tensor == other && apart.flatten().is_some_and(|by| by < 0);
        });
    });
    falls
}
