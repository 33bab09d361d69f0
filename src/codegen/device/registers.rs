//! How many registers a thread needs.
//!
//! They hold, at each place of the plan:
//!
//! - the tensors of the thread, from their first use to the last one;
//! - the iterators of the loops around that are not unrolled;
//! - the places in memory that straight code uses. Constants are a part of instructions, so that
//!   places at a constant distance are one. Compilers ask early for what is read, so that places of
//!   reads are needed from the start;
//! - the elements that straight code uses, from the first use to the last one, and results.
//!
//! A kernel needs the most that any place does.

use super::plan::{Kernel, Move, Node};
use crate::ir::{self, Affine, BinaryOp, Elem, Expr, Index, Name, Stmt, Tensor};
use std::collections::{HashMap, HashSet};

/// The bytes of a register.
const REGISTER: u64 = 4;

/// Further registers of a thread: its number and that of its block, conditions, steps of addresses.
const OTHERS: i64 = 12;

/// The values that a division or a function needs on its way to the result.
const ON_THE_WAY: i64 = 4;

/// So many statements of straight code are looked at. Further ones are much like these.
const MOST_STATEMENTS: usize = 4096;

/// The registers of a thread, where an iterator takes so many.
pub(super) fn registers(kernel: &Kernel, iterator: i64) -> i64 {
    let names = |tensors: &[Tensor]| tensors.iter().filter_map(|t| t.name().cloned()).collect();
    let mut count = Count {
        own: names(&kernel.own),
        shared: names(&kernel.shared),
        iterator,
    };
    count.add_parts(&kernel.body);
    OTHERS.saturating_add(count.straight(&kernel.body).most())
}

fn of_tensor(tensor: &Tensor) -> i64 {
    let elements = i64::try_from(tensor.shape().elements()).unwrap_or(i64::MAX);
    elements.saturating_mul(of_elem(tensor.elem()))
}

fn of_elem(elem: Elem) -> i64 {
    in_registers(elem.size() as u64)
}

fn in_registers(bytes: u64) -> i64 {
    i64::try_from(bytes.div_ceil(REGISTER)).unwrap_or(i64::MAX)
}

struct Count {
    /// The tensors in registers.
    own: HashSet<Name>,
    shared: HashSet<Name>,
    /// The registers of an iterator.
    iterator: i64,
}

/// A value of straight code: how many registers it takes, and its first and last step.
struct Value {
    registers: i64,
    first: usize,
    last: usize,
}

/// Code without loops, but for unrolled ones. Other loops are steps of it.
#[derive(Default)]
struct Straight {
    /// The registers that each step needs for itself.
    steps: Vec<i64>,
    values: HashMap<String, Value>,
}

impl Straight {
    fn uses(&mut self, value: String, registers: i64) {
        let now = self.steps.len();
        let new = Value {
            registers,
            first: now,
            last: now,
        };
        self.values.entry(value).or_insert(new).last = now;
    }

    /// The most registers that it needs at once.
    fn most(&self) -> i64 {
        let mut held = vec![0_i64; self.steps.len() + 1];
        for value in self.values.values() {
            for step in &mut held[value.first..=value.last] {
                *step = step.saturating_add(value.registers);
            }
        }
        let steps = self.steps.iter().zip(held);
        let all = steps.map(|(step, held)| step.saturating_add(held));
        all.max().unwrap_or(0)
    }
}

impl Count {
    /// Adds the tensors that threads declare to those in registers.
    fn add_parts(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Local(tensor) => self.own.extend(tensor.name().cloned()),
                Node::Loop { body, .. }
                | Node::Unrolled { body, .. }
                | Node::Threads { body, .. }
                | Node::First { body, .. } => self.add_parts(body),
                Node::Tiles { whole, part, .. } => {
                    self.add_parts(whole);
                    self.add_parts(part);
                }
                Node::Stmt(_)
                | Node::Fill(_)
                | Node::Load(_)
                | Node::Store(_)
                | Node::Pass(_)
                | Node::Barrier(_) => {}
            }
        }
    }

    fn straight(&self, nodes: &[Node]) -> Straight {
        let mut straight = Straight::default();
        self.collect(nodes, &mut Vec::new(), &mut straight);
        straight
    }

    fn collect(&self, nodes: &[Node], at: &mut Vec<(Name, i64)>, straight: &mut Straight) {
        for node in nodes {
            match node {
                Node::Loop { body, .. } => self.inside(&[body], self.iterator, straight),
                Node::Tiles { whole, part, .. } => self.inside(&[whole, part], 0, straight),
                Node::Unrolled {
                    of, copies, body, ..
                } => {
                    for k in 0..*copies {
                        if straight.steps.len() >= MOST_STATEMENTS {
                            break;
                        }
                        at.push((of.name.clone(), k));
                        self.collect(body, at, straight);
                        at.pop();
                    }
                }
                Node::Threads { body, .. } | Node::First { body, .. } => {
                    self.collect(body, at, straight);
                }
                Node::Stmt(s) => self.statement(s, at, straight),
                Node::Load(of) => self.moved(of, at, true, straight),
                Node::Store(of) => self.moved(of, at, false, straight),
                Node::Fill(fill) => self.own(&fill.target, straight),
                Node::Pass(of) => {
                    self.own(&of.from, straight);
                    self.own(&of.to, straight);
                    straight.steps.push(0);
                }
                Node::Local(_) | Node::Barrier(_) => {}
            }
        }
    }

    /// Other code as one step. The tensors of the thread that it uses live as long as they are used
    /// around it.
    fn inside(&self, bodies: &[&Vec<Node>], more: i64, straight: &mut Straight) {
        let mut most = 0;
        for body in bodies {
            let mut inner = self.straight(body);
            let own = |name: &String| self.own.iter().any(|own| own.as_str() == name);
            inner.values.retain(|name, value| {
                let is_own = own(name);
                if is_own {
                    straight.uses(name.clone(), value.registers);
                }
                !is_own
            });
            most = most.max(inner.most());
        }
        straight.steps.push(most.saturating_add(more));
    }

    /// A tensor of the thread.
    fn own(&self, tensor: &Tensor, straight: &mut Straight) {
        if let Some(name) = tensor.name().filter(|name| self.own.contains(*name)) {
            straight.uses(name.to_string(), of_tensor(tensor));
        }
    }

    fn statement(&self, s: &Stmt, at: &[(Name, i64)], straight: &mut Straight) {
        s.value.for_each_access(&mut |tensor, index| match index {
            Index::At(index) => self.access(tensor, index, at, true, straight),
            Index::Forbidden | Index::Unset => self.access(tensor, &[], at, true, straight),
        });
        self.access(&s.target, &s.index, at, s.update.is_some(), straight);
        let result = of_elem(s.target.elem());
        straight.steps.push(match takes_steps(&s.value) {
            true => result * (1 + ON_THE_WAY),
            false => result,
        });
    }

    fn access(
        &self,
        tensor: &Tensor,
        index: &[Affine],
        at: &[(Name, i64)],
        is_read: bool,
        straight: &mut Straight,
    ) {
        if tensor.is_by_value() {
            return;
        }
        if tensor.name().is_some_and(|name| self.own.contains(name)) {
            return self.own(tensor, straight);
        }
        let index = numbered(index, at);
        self.place(tensor, &index, is_read, straight);
        if is_read {
            let texts: String = index.iter().map(|a| format!("[{a}]")).collect();
            straight.uses(format!("{}{texts}", tensor.label()), of_elem(tensor.elem()));
        }
    }

    fn moved(&self, of: &Move, at: &[(Name, i64)], is_read: bool, straight: &mut Straight) {
        self.own(&of.part, straight);
        self.place(&of.tensor, &numbered(&of.index, at), is_read, straight);
        straight.steps.push(0);
    }

    /// The place of an element in memory, up to a number.
    fn place(&self, tensor: &Tensor, index: &[Affine], is_read: bool, straight: &mut Straight) {
        let registers = match tensor.name().is_some_and(|name| self.shared.contains(name)) {
            true => 1,
            false => 2,
        };
        // Rows are at a constant distance if their lengths are numbers.
        let is_constant = tensor.shape().numbers().is_some() && !tensor.is_strided();
        let last = index.len().saturating_sub(1);
        let varying = index
            .iter()
            .enumerate()
            .map(|(d, a)| match is_constant || d == last {
                true => a.plus_constant(a.offset().saturating_neg()),
                false => a.clone(),
            });
        let texts: String = varying.map(|a| format!("[{a}]")).collect();
        let key = format!("&{}{texts}", tensor.label());
        straight.uses(key.clone(), registers);
        if is_read && let Some(value) = straight.values.get_mut(&key) {
            value.first = 0;
        }
    }
}

/// Whether a value takes many instructions: a division or a function.
fn takes_steps(value: &Expr) -> bool {
    match value.node() {
        ir::Node::Binary {
            op, left, right, ..
        } => {
            matches!(op, BinaryOp::Div | BinaryOp::Pow | BinaryOp::Mod)
                || takes_steps(left)
                || takes_steps(right)
        }
        ir::Node::Apply { .. } => true,
        _ => false,
    }
}

/// Indices in one iteration of each unrolled loop.
fn numbered(index: &[Affine], at: &[(Name, i64)]) -> Vec<Affine> {
    let number = |name: &Name| {
        let of = at.iter().rev().find(|(of, _)| of == name);
        of.map(|(_, k)| Affine::constant(*k))
    };
    index.iter().map(|a| a.substitute(&number)).collect()
}
