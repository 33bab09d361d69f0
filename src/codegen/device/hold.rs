//! Sums of threads that stay in registers.
//!
//! In a serial loop around phases, without barriers, each thread may update one element of a shared
//! tensor. The thread then reads that element before the loop, updates a register, and writes the
//! element afterwards:
//!
//! ```text
//! for k_o in 0..9                            held = y[thread]
//!   block.x for k in 256*k_o..256*k_o + 256  for k_o in 0..9
//!     y[k - 256*k_o] += A[k]                   block.x for k in 256*k_o..256*k_o + 256
//!                                                held += A[k]
//!                                            y[thread] = held
//! ```
//!
//! All threads of the block do so, also those without an iteration. So each has to have an element of
//! its own, and no other thread uses that before the next barrier or after the last one.

use super::plan::{Kernel, Node};
use crate::ir::{Affine, Axis, Expr, Index, Level, Loop, Mode, Name, Range, Shape, Stmt, Tensor};
use crate::legality::Waiting;
use std::sync::Arc;

/// The nodes of a kernel, with sums in registers.
pub(super) fn held(kernel: &Kernel, nodes: &[Node]) -> Vec<Node> {
    of_sequence(kernel, nodes, true, &mut 0)
}

fn of_sequence(kernel: &Kernel, nodes: &[Node], is_all: bool, number: &mut usize) -> Vec<Node> {
    let mut found = Vec::new();
    for (k, node) in nodes.iter().enumerate() {
        let Node::Loop { of, body } = node else {
            found.push(node.clone());
            continue;
        };
        let (mut inside, mut before, mut after) = (body.clone(), Vec::new(), Vec::new());
        for tensor in kernel.shared.iter().filter(|_| waits_nowhere(body)) {
            let Some(place) = place(kernel, tensor, body) else {
                continue;
            };
            let mut earlier = nodes[..k].iter().rev();
            let mut later = nodes[k + 1..].iter();
            if !others_wait(tensor, &place, &mut earlier, is_all)
                || !others_wait(tensor, &place, &mut later, is_all)
            {
                continue;
            }
            *number += 1;
            let held = Held::new(tensor, place, *number);
            inside = inside.iter().map(|node| held.node(node)).collect();
            before.push(Node::Local(held.part.clone()));
            before.push(held.on_threads(kernel, held.moved(true)));
            after.push(held.on_threads(kernel, held.moved(false)));
        }
        if before.is_empty() {
            inside = of_sequence(kernel, body, false, number);
        }
        found.extend(before);
        found.push(Node::Loop {
            of: of.clone(),
            body: inside,
        });
        found.extend(after);
    }
    found
}

/// Whether a barrier is between all threads and others that use their elements: up to it, each uses
/// only its own. `is_all` says that nothing comes after the nodes.
fn others_wait(
    tensor: &Tensor,
    place: &[Affine],
    nodes: &mut dyn Iterator<Item = &Node>,
    is_all: bool,
) -> bool {
    for node in nodes {
        if matches!(node, Node::Barrier(Waiting::Block)) {
            return true;
        }
        let mut uses = Uses::of(tensor);
        let is_known = uses.collect(std::slice::from_ref(node), &mut Vec::new());
        if is_known.is_none() || uses.places.iter().any(|other| other != place) {
            return false;
        }
    }
    is_all
}

/// Whether threads exchange nothing in nodes.
fn waits_nowhere(nodes: &[Node]) -> bool {
    nodes.iter().all(|node| match node {
        Node::Loop { body, .. } | Node::Unrolled { body, .. } | Node::Threads { body, .. } => {
            waits_nowhere(body)
        }
        Node::Tiles { whole, part, .. } => waits_nowhere(whole) && waits_nowhere(part),
        Node::First { .. } | Node::Pass(_) | Node::Barrier(_) => false,
        Node::Stmt(_) | Node::Fill(_) | Node::Local(_) | Node::Load(_) | Node::Store(_) => true,
    })
}

/// The element of a shared tensor that each thread updates in nodes, in terms of its coordinates.
/// `None` if it uses several, or shares one.
fn place(kernel: &Kernel, tensor: &Tensor, nodes: &[Node]) -> Option<Vec<Affine>> {
    let mut uses = Uses::of(tensor);
    uses.collect(nodes, &mut Vec::new())?;
    let (first, others) = uses.places.split_first()?;
    let is_one = others.iter().all(|place| place == first);
    (uses.is_updated && is_one && is_own(kernel, tensor, first)).then(|| first.clone())
}

/// Whether each thread of a block has an element of its own: each coordinate is in an index of its
/// own, and all indices are in range.
fn is_own(kernel: &Kernel, tensor: &Tensor, place: &[Affine]) -> bool {
    let mut open: Vec<usize> = (0..Axis::OF_THREADS)
        .filter(|d| kernel.threads[*d] > 1)
        .collect();
    let fits = place
        .iter()
        .zip(tensor.shape().extents())
        .all(|(a, extent)| {
            let (last, rest) = match a.terms() {
                [] => (a.offset(), true),
                [(name, c)] if *c > 0 => {
                    let of = open.iter().position(|d| coordinate(*d) == *name);
                    let dimension = of.map(|k| open.remove(k));
                    let threads = dimension.map_or(1, |d| kernel.threads[d]);
                    let last = a.offset().saturating_add(c.saturating_mul(threads - 1));
                    (last, dimension.is_some())
                }
                _ => return false,
            };
            rest && a.offset() >= 0 && u64::try_from(last).is_ok_and(|last| last < *extent)
        });
    fits && open.is_empty()
}

/// The coordinate of a thread. Scripts cannot use this name.
fn coordinate(dimension: usize) -> Name {
    Name::generated(0).derived(format!("thread_{dimension}"))
}

/// The elements of a tensor that nodes use.
struct Uses<'a> {
    tensor: &'a Tensor,
    /// In terms of coordinates of threads.
    places: Vec<Vec<Affine>>,
    is_updated: bool,
}

impl Uses<'_> {
    fn of(tensor: &Tensor) -> Uses<'_> {
        Uses {
            tensor,
            places: Vec::new(),
            is_updated: false,
        }
    }

    /// Adds the uses of nodes, inside of loops with known iterators. `None` if one is not understood.
    fn collect(&mut self, nodes: &[Node], known: &mut Vec<(Name, Affine)>) -> Option<()> {
        for node in nodes {
            match node {
                Node::Threads {
                    of,
                    dimension,
                    body,
                    ..
                } => {
                    let [lower] = of.range.lower.as_slice() else {
                        return None;
                    };
                    let thread = Affine::iterator(coordinate(*dimension));
                    let value = in_terms(lower, known).plus(&thread);
                    known.push((of.name.clone(), value));
                    self.collect(body, known)?;
                    known.pop();
                }
                Node::Loop { body, .. } | Node::Unrolled { body, .. } => {
                    self.collect(body, known)?;
                }
                Node::Tiles { whole, part, .. } => {
                    self.collect(whole, known)?;
                    self.collect(part, known)?;
                }
                Node::Stmt(s) => {
                    self.add(&s.target, &s.index, known);
                    self.is_updated |= self.is(&s.target) && s.update.is_some();
                    s.value.for_each_access(&mut |tensor, index| match index {
                        Index::At(index) => self.add(tensor, index, known),
                        _ => self.add(tensor, &[], known),
                    });
                }
                Node::First { body, .. } => {
                    let mut inside = Uses::of(self.tensor);
                    inside.collect(body, known)?;
                    if !inside.places.is_empty() {
                        return None;
                    }
                }
                Node::Fill(fill) if self.is(&fill.target) => {
                    let is_one = |(_, extent): &(Affine, Affine)| extent.as_constant() == Some(1);
                    if !fill.region.iter().all(is_one) {
                        return None;
                    }
                    let index: Vec<Affine> = fill.region.iter().map(|(at, _)| at.clone()).collect();
                    self.add(&fill.target, &index, known);
                }
                // Threads load from memory of the device, and lanes pass on registers.
                Node::Fill(_)
                | Node::Load(_)
                | Node::Store(_)
                | Node::Pass(_)
                | Node::Local(_)
                | Node::Barrier(_) => {}
            }
        }
        Some(())
    }

    fn is(&self, tensor: &Tensor) -> bool {
        tensor.name() == self.tensor.name()
    }

    fn add(&mut self, tensor: &Tensor, index: &[Affine], known: &[(Name, Affine)]) {
        if self.is(tensor) {
            self.places
                .push(index.iter().map(|a| in_terms(a, known)).collect());
        }
    }
}

/// An index in terms of coordinates of threads.
fn in_terms(index: &Affine, known: &[(Name, Affine)]) -> Affine {
    index.substitute(&|name| {
        let of = known.iter().rev().find(|(of, _)| of == name);
        of.map(|(_, value)| value.clone())
    })
}

/// An element of a thread, and its register.
struct Held<'a> {
    tensor: &'a Tensor,
    place: Vec<Affine>,
    part: Tensor,
}

impl<'a> Held<'a> {
    fn new(tensor: &'a Tensor, place: Vec<Affine>, number: usize) -> Held<'a> {
        // Scripts cannot use this name.
        let name = Name::generated(0).derived(format!("held_{number}"));
        let part = tensor.stored_as(Shape::of_extents([1])).named(name);
        Held {
            tensor,
            place,
            part,
        }
    }

    fn at(&self) -> Vec<Affine> {
        vec![Affine::constant(0)]
    }

    /// Reads the element, or writes it.
    fn moved(&self, reads: bool) -> Node {
        let memory = (self.tensor.clone(), self.place.clone());
        let register = (self.part.clone(), self.at());
        let ((target, index), (from, at)) = match reads {
            true => (register, memory),
            false => (memory, register),
        };
        Node::Stmt(Arc::new(Stmt {
            target,
            index,
            update: None,
            value: Expr::access(from, Index::At(at)),
            origin: None,
        }))
    }

    /// A statement of all threads.
    fn on_threads(&self, kernel: &Kernel, s: Node) -> Node {
        let dimensions = (0..Axis::OF_THREADS).filter(|d| kernel.threads[*d] > 1);
        dimensions.fold(s, |node, dimension| {
            let range = Range::constant(0, kernel.threads[dimension]);
            let axis = Axis {
                of: Level::Block,
                dimension,
            };
            Node::Threads {
                of: Arc::new(Loop {
                    mode: Mode::Bound { axis },
                    ..Loop::serial(coordinate(dimension), range, Vec::new())
                }),
                dimension,
                ends: Vec::new(),
                body: vec![node],
            }
        })
    }

    /// A node that uses the register.
    fn node(&self, node: &Node) -> Node {
        let all = |nodes: &[Node]| nodes.iter().map(|node| self.node(node)).collect();
        match node {
            Node::Loop { of, body } => Node::Loop {
                of: of.clone(),
                body: all(body),
            },
            Node::Unrolled {
                of,
                copies,
                ends,
                body,
            } => Node::Unrolled {
                of: of.clone(),
                copies: *copies,
                ends: ends.clone(),
                body: all(body),
            },
            Node::Tiles {
                whole_if,
                whole,
                part,
            } => Node::Tiles {
                whole_if: whole_if.clone(),
                whole: all(whole),
                part: all(part),
            },
            Node::Threads {
                of,
                dimension,
                ends,
                body,
            } => Node::Threads {
                of: of.clone(),
                dimension: *dimension,
                ends: ends.clone(),
                body: all(body),
            },
            Node::Stmt(s) => Node::Stmt(Arc::new(self.stmt(s))),
            node => node.clone(),
        }
    }

    fn stmt(&self, s: &Stmt) -> Stmt {
        let is_it = |tensor: &Tensor| tensor.name() == self.tensor.name();
        let register = || Expr::access(self.part.clone(), Index::At(self.at()));
        let value = s
            .value
            .map_accesses(&|tensor, _| is_it(tensor).then(register));
        match is_it(&s.target) {
            true => Stmt {
                target: self.part.clone(),
                index: self.at(),
                value,
                ..s.clone()
            },
            false => Stmt { value, ..s.clone() },
        }
    }
}
