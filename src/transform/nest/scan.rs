//! `scan` computes running sums block by block: first the sum of each block, then what comes before
//! each block, then the running sums in each block.
//!
//! ```rhai
//! let X = tensor([50]);
//! let R = tensor([50]);
//! let prefix = nest(`
//!   ${X}
//!   ${R}
//!   R[0] = X[0]
//!   for i in 1..50
//!     R[i] = R[i - 1] + X[i]
//! `);
//! print(prefix.stripmine("i", 16).scan("i_o"));
//! ```
//!
//! ```text
//! f64 R[50], X[50]
//! R[0] = X[0]
//! local f64 R_i_o[4]
//! fill R_i_o[0..4] = 0
//! for i_o_2 in 0..4
//!   for i_i_2 in 16*i_o_2 + 1..min(16*i_o_2 + 17, 50)
//!     R_i_o[i_o_2] += X[i_i_2]
//! local f64 R_i_o_before[5]
//! R_i_o_before[0] = R[0]
//! for i_o_3 in 0..4
//!   R_i_o_before[i_o_3 + 1] = R_i_o_before[i_o_3]
//!   R_i_o_before[i_o_3 + 1] += R_i_o[i_o_3]
//! for i_o in 0..4
//!   local f64 R_i_o_now[]
//!   R_i_o_now[] = R_i_o_before[i_o]
//!   for i_i in 16*i_o + 1..min(16*i_o + 17, 50)
//!     R_i_o_now[] += X[i_i]
//!     R[i_i] = R_i_o_now[]
//! ```
//!
//! As far as the running sum goes, the iterations of the loop are then independent. So are those of
//! the loop that computes the sums of the blocks, `made().copies[0]`. Both loops can be parallelized.
//! Several sums also run at once where blocks are unrolled and jammed.
//!
//! The sums of blocks are a local tensor, `R_i_o` for the loop `i_o` and the target `R`. `R_i_o_before`
//! has the sums of all that is before each block, and at the end the sum of all. A scalar that is updated
//! and read in each iteration is a running sum as well:
//!
//! ```rhai
//! let X = tensor([64]);
//! let R = tensor([64]);
//! let m = tensor([]);
//! let maxima = nest(`
//!   ${X}
//!   ${R}
//!   ${m}
//!   m[] = X[0]
//!   for i in 0..64
//!     m[] max= X[i]
//!     R[i] = X[i] / m[]
//! `);
//! print(maxima.stripmine("i", 16).scan("i_o").parallelize("i_o"));
//! ```
//!
//! ```text
//! f64 m[], X[64], R[64]
//! m[] = X[0]
//! local f64 m_i_o[4]
//! fill m_i_o[0..4] = -∞
//! for i_o_2 in 0..4
//!   for i_i_2 in 16*i_o_2..16*i_o_2 + 16
//!     m_i_o[i_o_2] max= X[i_i_2]
//! local f64 m_i_o_before[5]
//! m_i_o_before[0] = m[]
//! for i_o_3 in 0..4
//!   m_i_o_before[i_o_3 + 1] = m_i_o_before[i_o_3]
//!   m_i_o_before[i_o_3 + 1] max= m_i_o[i_o_3]
//! parallel for i_o in 0..4
//!   local f64 m_i_o_now[]
//!   m_i_o_now[] = m_i_o_before[i_o]
//!   for i_i in 16*i_o..16*i_o + 16
//!     m_i_o_now[] max= X[i_i]
//!     R[i_i] = X[i_i] / m_i_o_now[]
//! m[] = m_i_o_before[4]
//! ```
//!
//! Legal when the operands may be regrouped. Those of integers, minima and maxima always may.
//! Floating-point sums and products then round differently, which needs `reductions("reassoc")`;
//! comparisons report the deviation.
//!
//! Refuses: loops that carry no running sum, product, minimum or maximum, or several; operands that
//! the loop computes; other writes of the target in the loop; statements in the loop beside other
//! loops, or local tensors; steps other than 1; loops whose number of iterations or first iteration is
//! not constant; names that are in use.
//!
//! Source: Blelloch, Prefix Sums and Their Applications, 1990.

use super::inside::Inside;
use super::parts::Names;
use super::resolve::{chain, check_step, find};
use crate::analysis::bounds::Bounds;
use crate::analysis::footprint::uses;
use crate::analysis::position::splice;
use crate::analysis::recurrence::{Recurrence, recurrence};
use crate::analysis::relative::offset_form;
use crate::analysis::verify::Invalid;
use crate::args::{LOOP, NEST};
use crate::ir::{
    Affine, BinaryOp, Expr, Fill, Index, Loop, Name, Nest, Node, Range, Reduction, Role, Shape,
    Stmt, Tensor, Tree,
};
use crate::refusals::{not_constant, unnamed};
use crate::{Error, LoopRef, Op, Returns, Value, refusal};
use std::sync::Arc;

/// `scan(nest, loop)`.
pub static SCAN: Op = Op {
    name: "scan",
    params: &[NEST.any(), LOOP.any()],
    returns: Returns::Nest,
    file: include_str!("scan.rs"),
    call: |args| scan(args.get(&NEST)?, args.get(&LOOP)?).map(Value::Nest),
};

/// The nest with the running reduction of a loop computed in blocks, one for each iteration.
///
/// # Errors
/// As the header says.
pub fn scan(nest: &Nest, reference: &LoopRef) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    let loops = chain(nest, &position);
    let l = loops[position.len() - 1];
    let around = Bounds::around(nest, loops[..loops.len() - 1].iter().map(|l| &***l));
    let inside = Inside::of(l);
    for l in &inside.loops {
        check_step(nest, l)?;
    }
    let running = inside.running().map_err(|e| e.on(nest, [l.name.clone()]))?;
    let (first, rest) = offset_form(l, &around).ok_or_else(|| not_constant(nest, l))?;
    let blocks = Blocks::of(&running, l, (first, rest.saturating_add(1)))?;
    for local in [&blocks.sums, &blocks.before, &blocks.now] {
        if !uses(nest, local.label()).is_empty() {
            let tensor = local.label().to_owned();
            return Err(Error::from(Invalid::LocalClash { tensor }).on(nest, []));
        }
    }
    let start = inside.start(&running, &blocks.first);
    let start = start.map_err(|l| not_constant(nest, l))?;
    let trees = blocks.trees(&inside, &running, start, Names::of(nest));
    Ok(nest.with_trees(splice(nest.trees(), &position, trees)))
}

/// A running reduction in a loop.
struct Running<'a> {
    /// Its place in the innermost body.
    at: usize,
    stmt: &'a Stmt,
    reduction: Reduction,
    operand: &'a Expr,
    /// The index of the element that it updates, if it stores the result in another one.
    before: Option<Vec<Affine>>,
}

impl<'a> Inside<'a> {
    /// The only running reduction.
    fn running(&self) -> Result<Running<'a>, Error> {
        let name = &self.loops[0].name;
        if self
            .body
            .iter()
            .any(|t| matches!(t, Tree::Loop(_) | Tree::Fill(_)))
        {
            let text = format!("`{name}` has statements beside other loops");
            return Err(refusal(text).help("distribute the loop first"));
        }
        if let Some(local) = self.body.iter().flat_map(Tree::locals).next() {
            let text = format!(
                "each iteration of `{name}` has a local tensor, {}",
                local.label()
            );
            return Err(refusal(text).help("`regroup` combines accumulators of several scalars"));
        }
        let statements = || {
            self.body
                .iter()
                .enumerate()
                .filter_map(|(at, tree)| match tree {
                    Tree::Stmt(s) => Some((at, &**s)),
                    _ => None,
                })
        };
        let mut found = statements().filter_map(|(at, s)| self.runs(at, s));
        let Some(running) = found.next() else {
            return Err(self.no_running(name));
        };
        if let Some(other) = found.next() {
            let [one, other] = [running.stmt, other.stmt].map(|s| s.target.label());
            let text = format!("`{name}` carries the running results {one} and {other}");
            return Err(refusal(text).help("distribute the loop first"));
        }
        let target = running.stmt.target.label();
        let writes = |label: &str| {
            statements()
                .filter(|(_, s)| s.target.label() == label)
                .count()
        };
        if writes(target) > 1 {
            let text = format!("{target} is written in `{name}` by more than its running update");
            return Err(refusal(text).help("distribute the loop first"));
        }
        let mut computed = None;
        running.operand.for_each_tensor(&mut |tensor| {
            computed = computed.or((writes(tensor.label()) > 0).then(|| tensor.label()));
        });
        if let Some(tensor) = computed {
            let text = format!(
                "`{name}` computes {tensor}, which the sums of blocks need first: {}",
                running.stmt
            );
            return Err(refusal(text).help("compute it in a loop before"));
        }
        Ok(running)
    }

    /// Why no statement is a running reduction.
    fn no_running(&self, name: &Name) -> Error {
        let statements = self.body.iter().filter_map(|tree| match tree {
            Tree::Stmt(s) => Some(&**s),
            _ => None,
        });
        let reads_itself = |s: &&Stmt| {
            let mut found = false;
            let own = s.target.label();
            s.value
                .for_each_tensor(&mut |read| found |= read.label() == own);
            found
        };
        let Some(s) = statements.into_iter().find(reads_itself) else {
            let text = format!(
                "`{name}` carries no running sum: no statement updates the result of the iteration \
                 before and keeps what it gets"
            );
            let help = "a sum that is read only after the loop has partial results: `rfactor`";
            return refusal(text).help(help);
        };
        let subtracts = matches!(
            s.value.node(),
            Node::Binary {
                op: BinaryOp::Sub,
                ..
            }
        );
        let (what, help) = if s.update.is_some() {
            let help = "store the results in another tensor, as R[i] = R[i - 1] + x[i] does";
            ("overwrites the operands of its running result", help)
        } else if recurrence(s).is_some() {
            let help = "each iteration has to continue the one directly before";
            ("continues the result of another iteration", help)
        } else if subtracts {
            let help = "add negative operands instead, as in R[i] = R[i - 1] + -1 * x[i]";
            ("subtracts from the result of the iteration before", help)
        } else {
            let help = "a running result only adds, multiplies, or takes a minimum or maximum with \
                        one operand, which has to be computed before";
            ("computes more than a running sum", help)
        };
        refusal(format!("`{name}` {what}: {s}")).help(help)
    }

    /// The running reduction that a statement computes, if any.
    fn runs(&self, at: usize, stmt: &'a Stmt) -> Option<Running<'a>> {
        let (op, operand, before) = match (stmt.update, recurrence(stmt)) {
            (Some(op), _) => {
                let mut loops = self.loops.iter();
                let moves = loops.any(|l| stmt.index.iter().any(|a| a.mentions(&l.name)));
                if moves || !self.is_read(&stmt.target) {
                    return None;
                }
                (op, &stmt.value, None)
            }
            (
                None,
                Some(Recurrence {
                    op,
                    before: Index::At(before),
                    operand,
                    ..
                }),
            ) => {
                let last = &self.loops[self.loops.len() - 1].name;
                let previous = Affine::iterator(last.clone()).plus_constant(-1);
                let previous = |name: &Name| (name == last).then(|| previous.clone());
                let index = stmt.index.iter().map(|a| a.substitute(&previous));
                if !index.eq(before.iter().cloned()) || *before == stmt.index {
                    return None;
                }
                (op, operand, Some(before.clone()))
            }
            _ => return None,
        };
        let reduction = Reduction::ALL.into_iter().find(|r| r.op() == op)?;
        Some(Running {
            at,
            stmt,
            reduction,
            operand,
            before,
        })
    }

    /// Whether a statement of the body reads a tensor.
    fn is_read(&self, tensor: &Tensor) -> bool {
        let mut found = false;
        for tree in self.body {
            if let Tree::Stmt(s) = tree {
                s.value
                    .for_each_tensor(&mut |read| found |= read.label() == tensor.label());
            }
        }
        found
    }

    /// The index of the element that the first update finds, where the outermost loop starts at
    /// `first`. The loop is returned whose first iteration is not known.
    fn start(&self, running: &Running, first: &Affine) -> Result<Vec<Affine>, &'a Loop> {
        let Some(before) = &running.before else {
            return Ok(running.stmt.index.clone());
        };
        let mut begins: Vec<(&Name, Affine)> = vec![(&self.loops[0].name, first.clone())];
        for l in &self.loops[1..] {
            let known = |name: &Name| value(&begins, name);
            let all: Vec<Affine> = l.range.lower.iter().map(|a| a.substitute(&known)).collect();
            let greatest = all.iter().filter_map(Affine::as_constant).max();
            let begin = match (&all[..], greatest) {
                ([only], _) => only.clone(),
                (all, Some(greatest)) if all.iter().all(|a| a.as_constant().is_some()) => {
                    Affine::constant(greatest)
                }
                _ => return Err(l),
            };
            begins.push((&l.name, begin));
        }
        let known = |name: &Name| value(&begins, name);
        Ok(before.iter().map(|a| a.substitute(&known)).collect())
    }
}

fn value(known: &[(&Name, Affine)], name: &Name) -> Option<Affine> {
    let known = known.iter().find(|(other, _)| *other == name);
    known.map(|(_, value)| value.clone())
}

/// The local tensors of blocks.
struct Blocks {
    /// The result of each block.
    sums: Tensor,
    /// The result before each block, and after all.
    before: Tensor,
    /// The running result in a block.
    now: Tensor,
    /// The first iteration of the loop, and the number of iterations.
    first: Affine,
    count: i64,
}

impl Blocks {
    fn of(running: &Running, l: &Loop, (first, count): (Affine, i64)) -> Result<Blocks, Error> {
        let target = &running.stmt.target;
        let name = target.name().map(|name| name.derived(&l.name));
        let name = name.ok_or_else(unnamed)?;
        let local = |name: Name, extents: &[i64]| -> Result<Tensor, Error> {
            let shape = Shape::new(extents, target.elem())?;
            Ok(Tensor::new(shape, target.elem()).named(name))
        };
        Ok(Blocks {
            sums: local(name.clone(), &[count])?,
            before: local(name.derived("before"), &[count.saturating_add(1)])?,
            now: local(name.derived("now"), &[])?,
            first,
            count,
        })
    }

    /// The sums of blocks, what comes before each, and the loops with running results; `start` is
    /// the index of the element that the first update finds.
    fn trees(
        &self,
        inside: &Inside,
        running: &Running,
        start: Vec<Affine>,
        mut names: Names,
    ) -> Vec<Tree> {
        let l = inside.loops[0];
        let target = &running.stmt.target;
        let op = running.reduction.op();
        let slot = Affine::iterator(l.name.clone()).minus(&self.first);
        let update = |target: &Tensor, index: Vec<Affine>| {
            Tree::Stmt(Arc::new(Stmt {
                target: target.clone(),
                index,
                update: Some(op),
                value: running.operand.clone(),
                origin: running.stmt.origin.clone(),
            }))
        };
        let sum = inside.around(Vec::new(), vec![update(&self.sums, vec![slot.clone()])]);
        let name = names.number(&l.name);
        let sums = names.part(&sum, Role::Copy, name, l.range.clone());

        let block = names.number(&l.name);
        let at = Affine::iterator(block.clone());
        let next = || vec![at.plus_constant(1)];
        let value = Expr::element(&self.sums, vec![at.clone()]);
        let carried = vec![
            copy((&self.before, next()), (&self.before, vec![at.clone()])),
            Tree::Stmt(Arc::new(Stmt {
                target: self.before.clone(),
                index: next(),
                update: Some(op),
                value,
                origin: None,
            })),
        ];
        let carried = Loop::serial(block, Range::constant(0, self.count), carried);

        let now = |tensor: &Tensor| {
            let is_scalar = running.before.is_none() && tensor.label() == target.label();
            is_scalar.then(|| Expr::element(&self.now, Vec::new()))
        };
        let body = inside
            .body
            .iter()
            .enumerate()
            .flat_map(|(k, tree)| match tree {
                Tree::Stmt(_) if k == running.at => {
                    let kept = (target, running.stmt.index.clone());
                    let kept = running
                        .before
                        .is_some()
                        .then(|| copy(kept, (&self.now, Vec::new())));
                    [Some(update(&self.now, Vec::new())), kept]
                }
                Tree::Stmt(s) => {
                    let value = s.value.map_accesses(&|tensor, _| now(tensor));
                    let s = Stmt {
                        value,
                        ..(**s).clone()
                    };
                    [Some(Tree::Stmt(Arc::new(s))), None]
                }
                other => [Some(other.clone()), None],
            });
        let opening = vec![
            Tree::Local(self.now.clone()),
            copy((&self.now, Vec::new()), (&self.before, vec![slot])),
        ];
        let runs = inside.around(opening, body.flatten().collect());

        let mut trees = vec![
            Tree::Local(self.sums.clone()),
            Tree::Fill(Arc::new(Fill {
                target: self.sums.clone(),
                region: self.sums.shape().whole(),
                value: running.reduction.identity(target.elem()),
                origin: None,
            })),
            sums,
            Tree::Local(self.before.clone()),
            copy(
                (&self.before, vec![Affine::constant(0)]),
                (target, start.clone()),
            ),
            Tree::of_loop(carried),
            Tree::of_loop(runs),
        ];
        if running.before.is_none() {
            let all = vec![Affine::constant(self.count)];
            trees.push(copy((target, start), (&self.before, all)));
        }
        trees
    }
}

/// `target = value` for two elements.
fn copy((target, index): (&Tensor, Vec<Affine>), (from, at): (&Tensor, Vec<Affine>)) -> Tree {
    Tree::Stmt(Arc::new(Stmt {
        target: target.clone(),
        index,
        update: None,
        value: Expr::element(from, at),
        origin: None,
    }))
}
