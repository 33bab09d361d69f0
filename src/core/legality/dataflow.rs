//! The producers of values, seen through copies.
//!
//! Each read gets one of these values:
//! - an instance `S⟨a⟩[…]` of the definition;
//! - a constant `C⟨value⟩[]`;
//! - the old value of an element `m_A[…]`;
//! - partial results combined by an execution `W⟨k⟩[…]`.
//!
//! Statements that only copy pass on the value that they read. The points `O_A[…]` read the final
//! contents of tensor A.
//!
//! Source: Verdoolaege, Janssens and Bruynooghe, Equivalence Checking of Static Affine Programs,
//! 2009.

use super::constraints::linear;
use super::program::{Leaf, What};
use super::sources::Sources;
use super::space::Space;
use crate::ir::{Name, Node, Tensor};
use crate::poly::{Error, Linear, Piece, UnionMap, UnionSet};

/// The producers of all values that reads and final contents get.
pub(super) struct Values {
    /// From reads to the executions that computed their values.
    executions: UnionMap,
    /// From the remaining reads to the elements whose old values they get.
    elements: UnionMap,
}

/// Rounds of following copies of copies: each doubles the length of the chains.
const MAX_DOUBLINGS: usize = 8;

impl Values {
    /// The values in the order of `leaves`, which are numbered from `first` on. Executions in
    /// `skipped` change nothing.
    pub(super) fn of(
        leaves: &[Leaf],
        first: usize,
        results: &[&Tensor],
        skipped: &UnionSet,
    ) -> Result<Values, Error> {
        let (mut own, mut copies) = (Vec::new(), Vec::new());
        for (leaf, k) in leaves.iter().zip(first..) {
            let executions = leaf.domain(&Space::Write(k).name());
            if leaf.copies() {
                copies.push(
                    executions.to(&Space::Read { leaf: k, access: 1 }.name(), leaf.iterators()),
                )
            } else {
                own.push(executions)
            }
        }
        let sources = Sources::of(leaves, first, results, skipped)?;
        let own = UnionSet::new(&own)?;
        let mut executions = sources.executions.intersect_range(&own)?;
        let mut elements = sources.elements;
        let mut links = sources.executions.apply_range(&UnionMap::new(&copies)?)?;
        for round in 0..MAX_DOUBLINGS {
            let known = executions.domain()?.union(&elements.domain()?)?;
            let open = links.domain()?.subtract(&known)?;
            if open.is_empty()? {
                break;
            }
            if round > 0 {
                links = links.intersect_domain(&open)?.apply_range(&links)?;
            }
            executions = executions.union(&links.apply_range(&executions)?)?;
            elements = elements.union(&links.apply_range(&elements)?)?;
        }
        Ok(Values {
            executions,
            elements,
        })
    }

    /// The value of each read. Executions of one instance of the definition share one value. Each
    /// execution of a leaf in `apart` has a value of its own, the point `W⟨k⟩[…]`.
    pub(super) fn named(
        &self,
        leaves: &[Leaf],
        first: usize,
        apart: &dyn Fn(&Leaf) -> bool,
    ) -> Result<UnionMap, Error> {
        let own = leaves
            .iter()
            .zip(first..)
            .filter(|(leaf, _)| !leaf.copies());
        let names: Vec<Piece> = own.map(|(leaf, k)| leaf.value(k, apart(leaf))).collect();
        let values = self.executions.apply_range(&UnionMap::new(&names)?)?;
        values.union(&self.elements)
    }
}

impl Leaf<'_> {
    /// Whether the leaf only copies an element.
    pub(super) fn copies(&self) -> bool {
        match self.what {
            What::Stmt(s) => s.update.is_none() && matches!(s.value.node(), Node::Access { .. }),
            What::Fill(_) => false,
        }
    }

    /// Whether the leaf updates an element by another one, which combines partial results.
    pub(super) fn combines(&self) -> bool {
        match self.what {
            What::Stmt(s) => {
                let access = matches!(s.value.node(), Node::Access { .. });
                s.origin.is_none() && s.update.is_some() && access
            }
            What::Fill(_) => false,
        }
    }

    pub(super) fn iterators(&self) -> Vec<Linear> {
        let loops = 0..self.loops.len();
        loops
            .map(|d| Linear::from(super::memory::iterator(d).as_str()))
            .collect()
    }

    /// The map from a leaf's executions to the values that they compute.
    fn value(&self, k: usize, apart: bool) -> Piece {
        let domain = self.domain(&Space::Write(k).name());
        match (self.what, self.instance().filter(|_| !apart)) {
            (What::Fill(fill), _) => domain.to(&Space::constant(fill.value).name(), []),
            (What::Stmt(_), Some((space, point))) => domain.to(&space.name(), point),
            (What::Stmt(_), None) => domain.to(&Space::Write(k).name(), self.iterators()),
        }
    }

    /// The instance of the definition that a statement executes.
    pub(super) fn instance(&self) -> Option<(Space, Vec<Linear>)> {
        let What::Stmt(s) = self.what else {
            return None;
        };
        let (origin, assignment) = (s.origin.as_ref()?, self.assignment?);
        let variable = |name: &Name| self.variable(name);
        let point = origin.point.iter().map(|a| linear(a, &variable));
        Some((Space::Statement(assignment), point.collect()))
    }
}
