//! Runs loops in vectors, and unrolls loops around register tiles.
//!
//! ```rhai
//! nest(`
//! f64 y[16], x[16]
//! vector for j in 0..16
//!   y[j] = x[j] * x[j]
//! `)
//! ```
//!
//! Before:
//!
//! ```text
//! for j in 0..16, in lanes of the compiler
//!   y[j] = x[j] * x[j]
//! ```
//!
//! After:
//!
//! ```text
//! for j in 0..16, in vectors of f64
//!   y[j] = x[j] * x[j]
//! ```
//!
//! A vector loop uses vector types if every access is unit-stride in its iterator or invariant to
//! it. A compiler could call functions of the C library element by element instead. Other vector
//! loops are left to compilers (`#pragma omp simd`), and the plan says why. There are as many lanes
//! as the target's registers hold, or as the script says.
//!
//! Loops that copy between a local tensor and another one also use vectors, since their iterations
//! are independent. Integers that are apart in memory are left to compilers, which transpose blocks of
//! them. If a local tensor fits into registers, the loops whose iterators index it are
//! unrolled: registers have no index. Register copies of inputs are loaded once (`registers.h`),
//! since gcc would read memory at every use.

use super::lanes::{elem_of, may_be_registers, neighbors, trips, why_not, widest};
use super::outer_lanes::obstacle;
use super::tree::{
    Context, Loop as PlannedLoop, Mode, Node, Part, Plan, Statement, Trips, VectorPlan,
};
use crate::ir::{Affine, Index, Loop, Name, Nest, Node as Value, Stmt, Tensor, Tree, ceil_div};
use crate::target::Target;
use std::collections::HashSet;
use std::sync::Arc;

/// The plan with vector loops and unrolled loops.
pub(super) fn choose_vectors(plan: &Plan, context: &Context<'_>) -> Plan {
    plan.each(|part| {
        let chosen = Chosen::of(&part.nest, context.target);
        let marks = Marks {
            chosen: &chosen,
            context,
        };
        part.with(marks.nodes(&part.nodes, None))
    })
}

struct Marks<'a> {
    chosen: &'a Chosen,
    context: &'a Context<'a>,
}

impl Marks<'_> {
    fn nodes(&self, nodes: &[Node], around: Option<&Loop>) -> Vec<Node> {
        let node = |node: &Node| match node {
            Node::Loop(l) => Node::Loop(Arc::new(self.of_loop(l))),
            Node::Stmt(s) => Node::Stmt(self.stmt(s, around)),
            other => other.clone(),
        };
        nodes.iter().map(node).collect()
    }

    fn of_loop(&self, l: &PlannedLoop) -> PlannedLoop {
        let of = &l.of;
        let unrolled = self.chosen.is_unrolled(of);
        let elem = elem_of(of, self.context.target).filter(|_| self.chosen.is_vector(of));
        let mode = match (elem, &l.mode, trips(of)) {
            (Some(elem), ..) => Mode::Vector(VectorPlan {
                elem,
                lanes: of.lanes(),
                unrolled,
                trips: Trips::Any { align: None },
            }),
            (None, Mode::Serial, Some(trips)) if unrolled => Mode::Unrolled(trips),
            (None, mode, _) => mode.clone(),
        };
        let why = (l.is_simd() && elem.is_none()).then(|| {
            if l.is_shared() {
                "threads share its iterations".to_owned()
            } else {
                let target = self.context.target;
                obstacle(of, target).unwrap_or_else(|| why_not(of, target))
            }
        });
        PlannedLoop {
            mode,
            why,
            body: self.nodes(&l.body, Some(of)),
            ..l.clone()
        }
    }

    fn stmt(&self, s: &Statement, around: Option<&Loop>) -> Statement {
        let copies = around.is_some_and(|l| {
            let key =
                s.of.target
                    .name()
                    .map(|name| (name.clone(), l.name.clone()));
            key.is_some_and(|key| self.chosen.held.contains(&key))
        });
        // Compilers may reload inputs, which do not change in memory. Copies of inputs are
        // therefore loaded explicitly, once.
        let mut constant = copies;
        s.of.value.for_each_tensor(&mut |tensor| {
            constant &= tensor
                .name()
                .is_some_and(|name| self.context.inputs.contains(name));
        });
        let row = around.map(|l| Affine::iterator(l.name.clone()));
        Statement {
            copies,
            held: constant && row.is_some() && s.of.index.last() == row.as_ref(),
            ..s.clone()
        }
    }
}

/// The most copies of a statement that unrolling for registers makes.
const MAX_UNROLLED: i64 = 256;

/// The loops with explicit vectors, and the unrolled loops.
pub(super) struct Chosen {
    /// The machine that they are chosen for.
    target: Target,
    /// The loops whose iterations threads share. OpenMP requires plain loops: nothing may come
    /// between collapsed ones.
    shared: HashSet<Name>,
    vectors: HashSet<Name>,
    unrolled: HashSet<Name>,
    held: HashSet<(Name, Name)>,
}

impl Chosen {
    /// No loops.
    pub(super) fn none(target: &Target) -> Chosen {
        Chosen {
            target: target.clone(),
            shared: HashSet::new(),
            vectors: HashSet::new(),
            unrolled: HashSet::new(),
            held: HashSet::new(),
        }
    }

    /// The choice for a nest.
    pub(super) fn of(nest: &Nest, target: &Target) -> Chosen {
        let mut chosen = Chosen::none(target);
        chosen.threads(nest.trees(), 0);
        chosen.vectors(nest.trees(), &mut Vec::new());
        chosen.registers(nest.trees());
        chosen
    }

    pub(super) fn target(&self) -> &Target {
        &self.target
    }

    pub(super) fn is_vector(&self, l: &Loop) -> bool {
        self.vectors.contains(&l.name)
    }

    pub(super) fn is_shared(&self, l: &Loop) -> bool {
        self.shared.contains(&l.name)
    }

    pub(super) fn is_unrolled(&self, l: &Loop) -> bool {
        self.unrolled.contains(&l.name)
    }

    /// The local tensors that are register copies, each with a loop that copies: another scope may
    /// declare a tensor of that name.
    pub(super) fn held(&self) -> &HashSet<(Name, Name)> {
        &self.held
    }

    /// The shared loops, vector loops and unrolled loops of a plan.
    pub(super) fn planned(part: &Part, target: &Target) -> Chosen {
        let mut chosen = Chosen::none(target);
        let mut see = |l: &PlannedLoop| {
            let name = || l.of.name.clone();
            if l.is_vector() {
                chosen.vectors.insert(name());
            }
            if l.is_shared() {
                chosen.shared.insert(name());
            }
            if l.is_unrolled() {
                chosen.unrolled.insert(name());
            }
            for node in &l.body {
                if let Node::Stmt(s) = node
                    && let (true, Some(target)) = (s.copies, s.of.target.name())
                {
                    chosen.held.insert((target.clone(), name()));
                }
            }
        };
        part.nodes
            .iter()
            .for_each(|node| node.for_each_loop(&mut see));
        chosen
    }

    /// Collects the shared loops; `band` more loops share their iterations with one around.
    fn threads(&mut self, trees: &[Tree], band: usize) {
        for l in trees.iter().filter_map(Tree::as_loop) {
            if l.is_parallel() || band > 0 {
                self.shared.insert(l.name.clone());
            }
            self.threads(&l.body, l.band_inside(band));
        }
    }

    fn vectors(&mut self, trees: &[Tree], locals: &mut Vec<Name>) {
        let outside = locals.len();
        for tree in trees {
            match tree {
                Tree::Local(tensor) => locals.extend(tensor.name().cloned()),
                Tree::Loop(l) => {
                    let marked = l.is_vector() || copies(l, locals);
                    if marked && !self.is_shared(l) && elem_of(l, &self.target).is_some() {
                        self.vectors.insert(l.name.clone());
                    }
                    self.vectors(&l.body, locals);
                }
                Tree::Stmt(_) | Tree::Fill(_) => {}
            }
        }
        locals.truncate(outside);
    }

    fn registers(&mut self, trees: &[Tree]) {
        for (k, tree) in trees.iter().enumerate() {
            match tree {
                Tree::Local(tensor) => self.tile(tensor, &trees[k + 1..]),
                Tree::Loop(l) => self.registers(&l.body),
                Tree::Stmt(_) | Tree::Fill(_) => {}
            }
        }
    }

    /// Unrolls the loops in the scope of a register tile that index it.
    fn tile(&mut self, tensor: &Tensor, scope: &[Tree]) {
        if !may_be_registers(tensor, &self.target) {
            return;
        }
        let mut found = Vec::new();
        if self.indexing(tensor, scope, &mut Vec::new(), &mut found) {
            self.unrolled.extend(found);
            let mut loops = Vec::new();
            if let (Some(name), true) = (tensor.name(), copied(tensor, scope, None, &mut loops)) {
                let pairs = loops.into_iter().map(|l| (name.clone(), l));
                self.held.extend(pairs);
            }
        }
    }

    /// Collects the loops that index a tensor; false if one of them cannot be unrolled.
    fn indexing<'t>(
        &self,
        tensor: &Tensor,
        trees: &'t [Tree],
        around: &mut Vec<&'t Loop>,
        found: &mut Vec<Name>,
    ) -> bool {
        trees.iter().all(|tree| match tree {
            Tree::Loop(l) => {
                around.push(l);
                let all = self.indexing(tensor, &l.body, around, found);
                around.pop();
                all
            }
            Tree::Stmt(s) => {
                let mut copies = 1i64;
                let mut indices: Vec<&[Affine]> = Vec::new();
                if s.target.name() == tensor.name() {
                    indices.push(&s.index);
                }
                s.value.for_each_access(&mut |t, index| {
                    if let (true, Index::At(index)) = (t.name() == tensor.name(), index) {
                        indices.push(index);
                    }
                });
                // Each thread has its own registers.
                if !indices.is_empty() && around.iter().any(|l| self.is_shared(l)) {
                    return false;
                }
                let is_innermost = |l: &Loop| around.last().is_some_and(|last| last.name == l.name);
                for l in around.iter() {
                    if !indices
                        .iter()
                        .any(|i| i.iter().any(|a| a.mentions(&l.name)))
                    {
                        continue;
                    }
                    let elem = elem_of(l, &self.target).filter(|_| self.is_vector(l));
                    if !l.is_vector() && elem.is_none() && folds_integers(s, &l.name) {
                        continue;
                    }
                    let lanes = match elem {
                        Some(elem) => widest(&self.target) / elem.size() as i64,
                        None if l.is_vector() => return false,
                        None if is_innermost(l) && gathers_integers(s, &l.name) => return false,
                        None => 1,
                    };
                    let Some(trips) = trips(l) else {
                        // Lanes behind an end that is known when the loop runs may be masked.
                        let Some(row) = tensor.shape().extents().last() else {
                            return false;
                        };
                        if !self.is_vector(l) {
                            return false;
                        }
                        let row = i64::try_from(*row).unwrap_or(i64::MAX);
                        copies = copies.saturating_mul(ceil_div(row, lanes));
                        continue;
                    };
                    copies = copies.saturating_mul(ceil_div(trips, lanes));
                    found.push(l.name.clone());
                }
                copies <= MAX_UNROLLED
            }
            Tree::Fill(fill) => fill.target.name() != tensor.name(),
            Tree::Local(_) => true,
        })
    }
}

/// Whether all iterations of a loop update one integer. Compilers do so in lanes, in any order, unless
/// the loop is unrolled.
fn folds_integers(s: &Stmt, l: &Name) -> bool {
    let is_one = !s.index.iter().any(|a| a.mentions(l));
    s.update.is_some() && is_one && !s.target.elem().is_float()
}

/// Whether a statement copies integers whose lanes are apart in memory. Compilers transpose whole
/// blocks of them.
fn gathers_integers(s: &Stmt, lane: &Name) -> bool {
    let Value::Access {
        index: Index::At(index),
        ..
    } = s.value.node()
    else {
        return false;
    };
    let is_apart = [index, &s.index]
        .into_iter()
        .any(|index| neighbors(index, lane).is_none());
    s.update.is_none() && !s.target.elem().is_float() && is_apart
}

/// Collects the loops that copy to a local tensor; false if anything else writes it.
fn copied(tensor: &Tensor, trees: &[Tree], around: Option<&Name>, loops: &mut Vec<Name>) -> bool {
    trees.iter().all(|tree| match tree {
        Tree::Loop(l) => copied(tensor, &l.body, Some(&l.name), loops),
        Tree::Stmt(s) if s.target.name() == tensor.name() => {
            loops.extend(around.cloned());
            s.update.is_none() && matches!(s.value.node(), Value::Access { .. })
        }
        Tree::Fill(fill) => fill.target.name() != tensor.name(),
        Tree::Stmt(_) | Tree::Local(_) => true,
    })
}

/// Whether a loop only copies between a local tensor and another one.
fn copies(l: &Loop, locals: &[Name]) -> bool {
    let is_local = |t: &Tensor| t.name().is_some_and(|name| locals.contains(name));
    l.body.iter().all(|tree| match tree {
        Tree::Stmt(s) => match s.value.node() {
            Value::Access { tensor, .. } => {
                s.update.is_none()
                    && !gathers_integers(s, &l.name)
                    && tensor.name() != s.target.name()
                    && (is_local(tensor) || is_local(&s.target))
            }
            _ => false,
        },
        _ => false,
    })
}
