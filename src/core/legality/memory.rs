//! A sequence of leaves as memory accesses: the elements that each execution reads and writes, and
//! when.
//!
//! Leaf k is executed at the points `W⟨k⟩[…]` of the iterators around it; a fill's points also have
//! the indices of the element. Its access number r reads at the points `R⟨k⟩_⟨r⟩[…]`. The elements
//! of tensor A are the points `m_A[…]`. A local tensor has separate elements in each iteration of
//! the loops around its declaration.

use super::constraints::{bounded, linear, within};
use super::program::{Access, Leaf, What, accesses};
use super::space::Space;
use crate::ir::{Affine, Fill, Name, Stmt, Tensor};
use crate::poly::{Linear, Piece};

/// The iterator of the loop at `depth` around a leaf.
pub(super) fn iterator(depth: usize) -> String {
    format!("t{depth}")
}

/// The memory of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Memory {
    /// Its elements.
    pub(super) space: Space,
    /// The number of loops whose iterations each have separate elements.
    pub(super) loops: usize,
}

impl Memory {
    /// The memory of a tensor that is not local.
    pub(super) fn shared(tensor: &Tensor) -> Memory {
        Memory {
            space: Space::shared(tensor),
            loops: 0,
        }
    }

    /// The iterators that tell private copies of the tensor apart.
    fn around(&self) -> impl Iterator<Item = Linear> + use<> {
        (0..self.loops).map(|d| Linear::from(iterator(d).as_str()))
    }
}

impl Leaf<'_> {
    /// The variable for an iterator around the leaf.
    pub(super) fn variable(&self, name: &Name) -> Option<String> {
        let depth = self.loops.iter().position(|l| l.name == *name)?;
        Some(iterator(depth))
    }

    /// All iterations of the loops around the leaf, as points of a tuple. A fill has one point for
    /// each element that it sets.
    pub(super) fn domain(&self, tuple: &str) -> Piece {
        let variables = self.coordinates("");
        let piece = Piece::set(tuple, variables.iter().map(String::as_str));
        let parameters = self.parameters.iter();
        let piece = parameters.fold(piece, |piece, name| piece.parameter(name.as_str()));
        self.bound(piece, "")
    }

    /// The variables of [`Leaf::domain`], with a suffix.
    pub(super) fn coordinates(&self, mark: &str) -> Vec<String> {
        let iterators = (0..self.loops.len()).map(iterator);
        let elements = (0..self.region().len()).map(element);
        let all = iterators.chain(elements);
        all.map(|name| name + mark).collect()
    }

    /// The constraints of [`Leaf::domain`] on these variables.
    pub(super) fn bound(&self, piece: Piece, mark: &str) -> Piece {
        let variable = |name: &Name| Some(self.variable(name)? + mark);
        let piece = self.loops.iter().enumerate().fold(piece, |piece, (d, l)| {
            bounded(piece, &l.range, &(iterator(d) + mark), &variable)
        });
        let elements: Vec<String> = (0..self.region().len())
            .map(|d| element(d) + mark)
            .collect();
        within(piece, self.region(), &elements, &variable)
    }

    /// The box of elements that a fill sets.
    fn region(&self) -> &[(Affine, Affine)] {
        match self.what {
            What::Fill(fill) => &fill.region,
            What::Stmt(_) => &[],
        }
    }

    /// The elements that each execution (a point of `domain`) touches, and whether it writes them.
    pub(super) fn touched(&self, domain: &Piece) -> Vec<(Piece, bool)> {
        match self.what {
            What::Stmt(s) => accesses(s)
                .iter()
                .map(|access| (self.touches(domain.clone(), access), access.write))
                .collect(),
            What::Fill(fill) => vec![(self.sets(domain.clone(), fill), true)],
        }
    }

    /// The map from executions to the element that the leaf writes.
    pub(super) fn write(&self, k: usize) -> Piece {
        let domain = self.domain(&Space::Write(k).name());
        match self.what {
            What::Stmt(s) => self.touches(domain, &accesses(s)[0]),
            What::Fill(fill) => self.sets(domain, fill),
        }
    }

    fn sets(&self, domain: Piece, fill: &Fill) -> Piece {
        let memory = self.memory(&fill.target);
        let elements = (0..fill.region.len()).map(|d| element(d).as_str().into());
        domain.to(&memory.space.name(), memory.around().chain(elements))
    }

    /// The reads of the leaf: number, tensor, and the map to elements.
    pub(super) fn reads(&self, k: usize) -> Vec<(usize, &Tensor, Piece)> {
        let What::Stmt(s) = self.what else {
            return Vec::new();
        };
        let numbered = read_accesses(s).into_iter();
        let pieces = numbered.map(|(r, access)| {
            let space = Space::Read { leaf: k, access: r };
            let piece = self.touches(self.domain(&space.name()), &access);
            (r, access.tensor, piece)
        });
        pieces.collect()
    }

    fn touches(&self, domain: Piece, access: &Access) -> Piece {
        let memory = self.memory(access.tensor);
        let variable = |name: &Name| self.variable(name);
        let index = access.index.iter().map(|a| linear(a, &variable));
        domain.to(&memory.space.name(), memory.around().chain(index))
    }

    /// The memory of a tensor, as seen by the leaf.
    pub(super) fn memory(&self, tensor: &Tensor) -> Memory {
        let label = tensor.label();
        match self.locals.iter().find(|(name, _)| *name == label) {
            None => Memory::shared(tensor),
            Some((_, scope)) => Memory {
                space: Space::Local {
                    tensor: label.to_owned(),
                    scope: scope.clone(),
                },
                loops: scope.len() - 1,
            },
        }
    }
}

/// The reads of a statement, by number.
pub(super) fn read_accesses(s: &Stmt) -> Vec<(usize, Access<'_>)> {
    let first = usize::from(s.update.is_none());
    let reads = accesses(s).into_iter().filter(|a| !a.write);
    reads.enumerate().map(|(r, a)| (r + first, a)).collect()
}

/// The variable for an index of an element that a fill sets.
pub(super) fn element(dimension: usize) -> String {
    format!("e{dimension}")
}
