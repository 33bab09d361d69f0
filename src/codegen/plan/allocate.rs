//! Gives local tensors their place.
//!
//! ```rhai
//! nest(`
//! f64 y[64], x[64]
//! local f64 T[8]
//! local f64 S[128][128]
//! for i in 0..8
//!   T[i] = x[i]
//! for j in 0..64
//!   for k in 0..64
//!     S[j][k] = x[j]
//! for l in 0..8
//!   y[l] = T[l] + S[l][l]
//! `)
//! ```
//!
//! Before:
//!
//! ```text
//! local f64 T[8] on the stack
//! local f64 S[128][128] on the stack
//! for i in 0..8, in vectors of f64
//!   T[i] = x[i], loaded once
//! for j in 0..64
//!   for k in 0..64, in vectors of f64
//!     S[j][k] = x[j]
//! for l in 0..8, unrolled 8 times
//!   y[l] = T[l] + S[l][l]
//! ```
//!
//! After:
//!
//! ```text
//! local f64 T[8] in registers
//! local f64 S[128][128] one for each thread
//! for i in 0..8, in vectors of f64
//!   T[i] = x[i], loaded once
//! for j in 0..64
//!   for k in 0..64, in vectors of f64
//!     S[j][k] = x[j]
//! for l in 0..8, unrolled 8 times
//!   y[l] = T[l] + S[l][l]
//! ```
//!
//! Small tensors are variables, which compilers may keep in registers. Larger ones have one place
//! per thread, which is allocated once: the stack is small.

use super::lanes::may_be_registers;
use super::tree::{Context, Local, Loop, Mode, Node, Outlined, Part, Plan, Region, Space};
use crate::ir::{Name, Tensor, Tree};
use crate::target::Target;
use std::collections::HashSet;
use std::sync::Arc;

/// The most bytes of a local tensor that is a variable: 64 KiB. Larger ones would take the stack from
/// smaller ones.
const MAX_VARIABLE: u64 = 1 << 16;

/// The same if it begins with zeros, which a variable does each time.
const MAX_ZEROS: u64 = 1 << 14;

/// The most bytes of all local tensors that are variables: 128 KiB. Stacks are seldom smaller than
/// 2 MiB.
const MAX_STACK: u64 = 1 << 17;

/// The plan with a memory space for each local tensor.
pub(super) fn allocate(plan: &Plan, context: &Context<'_>) -> Plan {
    let mut places = Places {
        target: context.target,
        stack: 0,
        read: HashSet::new(),
    };
    let part = |part: &Part| {
        for line in part.nest.lines() {
            if let Tree::Stmt(s) = line.tree {
                let mut add = |t: &Tensor| places.read.extend(t.name().cloned());
                s.value.for_each_tensor(&mut |t| add(t));
            }
        }
        part.with(places.nodes(&part.nodes))
    };
    Plan {
        parts: plan.parts.iter().map(part).collect(),
    }
}

struct Places<'a> {
    target: &'a Target,
    /// The bytes of all local tensors that are variables.
    stack: u64,
    /// The names of the tensors that are read.
    read: HashSet<Name>,
}

impl Places<'_> {
    fn nodes(&mut self, nodes: &[Node]) -> Vec<Node> {
        nodes.iter().map(|node| self.node(node)).collect()
    }

    fn node(&mut self, node: &Node) -> Node {
        match node {
            Node::Local(local) => Node::Local(self.local(local)),
            Node::Loop(l) => {
                let lanes = self.has_lanes(l);
                let mode = match &l.mode {
                    Mode::Simd if !lanes => Mode::Serial,
                    Mode::Parallel { entry, simd } => Mode::Parallel {
                        entry: *entry,
                        simd: *simd && lanes,
                    },
                    Mode::Collapsed { simd } => Mode::Collapsed {
                        simd: *simd && lanes,
                    },
                    mode => mode.clone(),
                };
                Node::Loop(Arc::new(Loop {
                    mode,
                    body: self.nodes(&l.body),
                    ..(**l).clone()
                }))
            }
            Node::Region(region) => Node::Region(Region {
                body: self.nodes(&region.body),
                ..region.clone()
            }),
            Node::Outlined(outlined) => Node::Outlined(Outlined {
                body: self.nodes(&outlined.body),
                ..outlined.clone()
            }),
            other => other.clone(),
        }
    }

    fn local(&mut self, local: &Local) -> Local {
        let tensor = &local.tensor;
        let fits = !local.zeros || bytes(tensor) <= MAX_ZEROS;
        let space = match fits && self.fit_variables([tensor]) {
            false => Space::Thread,
            true if may_be_registers(tensor, self.target) => Space::Register,
            true => Space::Stack,
        };
        let is_variable = space != Space::Thread;
        if is_variable {
            self.stack += bytes(tensor);
        }
        // If loops set a single element, compilers warn that it may stay unset.
        let single = is_variable && tensor.shape().elements() == 1;
        let is_read = tensor.name().is_some_and(|name| self.read.contains(name));
        Local {
            space,
            zeros: local.zeros || single,
            is_read,
            ..local.clone()
        }
    }

    /// Whether each lane can have its own copy of the local tensors in the loop: only if all are
    /// scalar variables. gcc makes one array of the arrays of all lanes, and then assumes an
    /// alignment that it does not have (`vmovapd`). Without the pragma it still vectorizes such
    /// loops.
    fn has_lanes(&self, l: &Loop) -> bool {
        let locals = || l.of.body.iter().flat_map(Tree::locals);
        locals().all(|t| t.shape().elements() == 1) && self.fit_variables(locals())
    }

    /// Whether the local tensors all fit on the stack as variables.
    fn fit_variables<'t>(&self, locals: impl IntoIterator<Item = &'t Tensor>) -> bool {
        let mut stack = self.stack;
        locals.into_iter().map(bytes).all(|bytes| {
            stack = stack.saturating_add(bytes);
            bytes <= MAX_VARIABLE && stack <= MAX_STACK
        })
    }
}

/// The size of a tensor; local ones have at most 1 GiB.
fn bytes(tensor: &Tensor) -> u64 {
    let elements = tensor.shape().elements();
    elements.saturating_mul(tensor.elem().size() as u64)
}
