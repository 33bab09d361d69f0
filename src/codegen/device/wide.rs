//! Accesses of several elements at once: a thread that uses neighbors in a row moves them between
//! memory and its registers in the widest accesses of the device.
//!
//! A loop of a thread over neighbors is unrolled. Each tensor in memory of the device that it moves
//! along its rows gets a part in registers. The part is loaded before the loop, and stored after it
//! if the loop writes it. The loop uses the part. Elements that the loop does not use are not
//! touched.
//!
//! Rows have to begin at multiples of an access. The indices of the loop say so. The places of
//! tensors and the sizes of rows are conditions, which are asked when the kernel runs.

use super::plan::{Condition, Move, Node};
use crate::ir::{Affine, Expr, Index, Loop, Name, Shape, Stmt, Tensor};
use std::collections::HashSet;
use std::sync::Arc;

/// The most elements that CUDA C moves at once.
const WIDEST: i64 = 4;

/// The facts that wide accesses need, and the conditions under which they are right.
pub(super) struct Wide<'a> {
    /// The bytes of the widest access.
    pub(super) access: i64,
    /// The local tensors of blocks and threads, which are not in memory of the device.
    pub(super) local: &'a HashSet<Name>,
    /// How many parts there are.
    pub(super) parts: usize,
    /// When the accesses are right.
    pub(super) conditions: Vec<Condition>,
}

impl Wide<'_> {
    /// The nodes with wide accesses.
    pub(super) fn nodes(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        let mut found = Vec::new();
        for node in nodes {
            match node {
                Node::Unrolled {
                    of,
                    copies,
                    ends,
                    body,
                } => {
                    let run = match ends.is_empty() {
                        true => self.of_run(&of, copies, &body),
                        false => None,
                    };
                    let Some((before, body, after)) = run else {
                        let body = self.nodes(body);
                        found.push(Node::Unrolled {
                            of,
                            copies,
                            ends,
                            body,
                        });
                        continue;
                    };
                    found.extend(before);
                    found.push(Node::Unrolled {
                        of,
                        copies,
                        ends,
                        body,
                    });
                    found.extend(after);
                }
                Node::Loop { of, body } => found.push(Node::Loop {
                    of,
                    body: self.nodes(body),
                }),
                node => found.push(node),
            }
        }
        found
    }

    /// The loads before a loop over neighbors, its body, and the stores after it. `None` if it uses
    /// no neighbors.
    fn of_run(
        &mut self,
        of: &Loop,
        copies: i64,
        body: &[Node],
    ) -> Option<(Vec<Node>, Vec<Node>, Vec<Node>)> {
        let statements = body.iter().map(|node| match node {
            Node::Stmt(s) => Some(s.clone()),
            _ => None,
        });
        let mut statements: Vec<Arc<Stmt>> = statements.collect::<Option<_>>()?;
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut uses: Vec<Use> = Vec::new();
        for s in &statements {
            add(&mut uses, &s.target, &s.index, true, s.update.is_some());
            s.value.for_each_access(&mut |tensor, index| match index {
                Index::At(index) => add(&mut uses, tensor, index, false, true),
                _ => add(&mut uses, tensor, &[], false, true),
            });
        }
        let one_each = |of: &Use| {
            let mut same = uses.iter().filter(|other| other.tensor == of.tensor);
            same.clone().count() == 1 || same.all(|other| !other.is_written)
        };
        for of_part in uses.iter().filter(|of| one_each(of)) {
            let run = Run {
                name: &of.name,
                copies,
            };
            let Some((width, conditions)) = self.width(of_part, &run) else {
                continue;
            };
            for condition in conditions {
                if !self.conditions.contains(&condition) {
                    self.conditions.push(condition);
                }
            }
            self.parts += 1;
            // Scripts cannot use this name.
            let name = Name::generated(0).derived(format!("wide_{}", self.parts));
            let extent = u64::try_from(copies).ok()?;
            let part = of_part.tensor.stored_as(Shape::of_extents([extent]));
            let part = part.named(name);
            let moved = Move {
                part: part.clone(),
                tensor: of_part.tensor.clone(),
                index: of_part.index.iter().map(|a| run.first(a)).collect(),
                width,
            };
            before.push(Node::Local(part.clone()));
            if of_part.is_read {
                before.push(Node::Load(moved.clone()));
            }
            if of_part.is_written {
                after.push(Node::Store(moved));
            }
            let at = Affine::iterator(of.name.clone());
            let replaced = statements.iter().map(|s| of_part.replaced(s, &part, &at));
            statements = replaced.map(Arc::new).collect();
        }
        let body = statements.into_iter().map(Node::Stmt).collect();
        (!before.is_empty()).then_some((before, body, after))
    }

    /// How many elements an access has, and when that is right. `None` if accesses have one.
    fn width(&self, of: &Use, run: &Run) -> Option<(i64, Vec<Condition>)> {
        let tensor = &of.tensor;
        let is_local = tensor.name().is_none_or(|name| self.local.contains(name));
        if is_local || tensor.is_by_value() {
            return None;
        }
        let (last, rows) = of.index.split_last()?;
        let moves_rows = rows.iter().any(|a| a.mentions(run.name));
        if moves_rows || last.coefficient(run.name) != 1 {
            return None;
        }
        let bytes = i64::try_from(tensor.elem().size()).ok()?;
        let width = run.copies.min(self.access / bytes).min(WIDEST);
        let is_power = u64::try_from(width).is_ok_and(u64::is_power_of_two);
        let is_even = |a: &Affine| {
            let terms = a.terms().iter().map(|(_, c)| c);
            terms.chain([&a.offset()]).all(|c| c % width == 0)
        };
        let fits = width > 1 && is_power && run.copies % width == 0;
        if !fits || !is_even(&run.first(last)) {
            return None;
        }
        let mut conditions = vec![Condition::Aligned {
            tensor: tensor.clone(),
            bytes: width * bytes,
        }];
        for distance in row_distances(tensor) {
            match distance.as_constant() {
                Some(distance) if distance % width != 0 => return None,
                Some(_) => {}
                None if is_even(&distance) => {}
                None => conditions.push(Condition::Multiple {
                    of: distance,
                    by: width,
                }),
            }
        }
        Some((width, conditions))
    }
}

/// The distances between rows in memory, in elements. Rows begin at sums of their multiples.
fn row_distances(tensor: &Tensor) -> Vec<Affine> {
    let strides = tensor.strides();
    let dims = tensor.shape().dims();
    match (strides.is_empty(), dims.last()) {
        (true, Some(length)) if dims.len() > 1 => vec![length.clone()],
        (true, _) => Vec::new(),
        (false, _) => strides.into_iter().map(Affine::size).collect(),
    }
}

/// Iterations from 0 on that use neighbors.
struct Run<'a> {
    name: &'a Name,
    copies: i64,
}

impl Run<'_> {
    /// An index in the first iteration.
    fn first(&self, index: &Affine) -> Affine {
        index.substitute(&|name| (name == self.name).then(|| Affine::constant(0)))
    }
}

/// An element that statements use.
struct Use {
    tensor: Tensor,
    index: Vec<Affine>,
    is_written: bool,
    /// Whether its value before the statements counts.
    is_read: bool,
}

fn add(uses: &mut Vec<Use>, tensor: &Tensor, index: &[Affine], writes: bool, reads: bool) {
    let is_it = |of: &&mut Use| of.tensor == *tensor && of.index == index;
    match uses.iter_mut().find(is_it) {
        Some(known) => {
            known.is_written |= writes;
            known.is_read |= reads;
        }
        None => uses.push(Use {
            tensor: tensor.clone(),
            index: index.to_vec(),
            is_written: writes,
            is_read: reads,
        }),
    }
}

impl Use {
    /// A statement that uses element `at` of a part instead.
    fn replaced(&self, s: &Stmt, part: &Tensor, at: &Affine) -> Stmt {
        let is_it = |tensor: &Tensor, index: &[Affine]| {
            *tensor == self.tensor && index == self.index.as_slice()
        };
        let value = s.value.map_accesses(&|tensor, index| match index {
            Index::At(index) if is_it(tensor, index) => {
                let index = Index::At(vec![at.clone()]);
                Some(Expr::access(part.clone(), index))
            }
            _ => None,
        });
        let (target, index) = match is_it(&s.target, &s.index) {
            true => (part.clone(), vec![at.clone()]),
            false => (s.target.clone(), s.index.clone()),
        };
        Stmt {
            target,
            index,
            value,
            ..s.clone()
        }
    }
}
