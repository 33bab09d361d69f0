//! Where values come from: exact dataflow, seen through copies.
//!
//! Each read gets a value: that of an instance `S⟨a⟩[…]` of the definition, a constant
//! `C⟨value⟩[]`, what an element `m_A[…]` held before, or what an execution `W⟨k⟩[…]` combined of
//! partial results. Statements that only copy pass on what they read. What a tensor holds in the
//! end is read at the points `O_A[…]`.
//!
//! Source: Feautrier, Dataflow Analysis of Array and Scalar References, 1991; Verdoolaege,
//! Janssens and Bruynooghe, Equivalence Checking of Static Affine Programs, 2009.

use super::memory::{Clock, read, written};
use super::program::{Leaf, What};
use super::relations::{linear, statement};
use crate::ir::{Constant, Name, Node, Tensor};
use crate::poly::{Accesses, Error, Linear, Piece, Relation, UnionMap};

/// The values of all reads, and of the tensors in the end.
pub(super) struct Values(pub(super) UnionMap);

/// The point at which an element of a tensor is read in the end.
pub(super) fn result(tensor: &Tensor) -> String {
    format!("O_{}", tensor.label())
}

/// How often the chains of copies of copies that are followed become twice as long.
const MAX_DOUBLINGS: usize = 8;

impl Values {
    /// The values in the order of `leaves`, which are numbered from `first` on.
    pub(super) fn of(leaves: &[Leaf], first: usize, results: &[&Tensor]) -> Result<Values, Error> {
        // Results are read in the end, and a statement reads before it writes.
        let clock = Clock::of(leaves);
        let at = |leaf: &Leaf, domain: Piece, writes: i64| {
            let (start, end) = (Linear::from(0), Linear::from(writes));
            let moment = clock.moment(leaf);
            domain.to("", [start].into_iter().chain(moment).chain([end]))
        };
        let (mut sinks, mut sources, mut schedule) = (Vec::new(), Vec::new(), Vec::new());
        let (mut own, mut copies) = (Vec::new(), Vec::new());
        for (leaf, k) in leaves.iter().zip(first..) {
            for (r, piece) in leaf.reads(k) {
                sinks.push(piece);
                schedule.push(at(leaf, leaf.domain(&read(k, r)), 0));
            }
            sources.push(leaf.write(k));
            schedule.push(at(leaf, leaf.domain(&written(k)), 1));
            match leaf.copies() {
                true => copies.push(leaf.domain(&written(k)).to(&read(k, 1), leaf.iterators())),
                false => own.push(leaf.value(k)),
            }
        }
        for tensor in results {
            let piece = whole(tensor);
            let elements = (0..tensor.shape().rank()).map(|d| element(d).as_str().into());
            sinks.push(piece.clone().to(&format!("m_{}", tensor.label()), elements));
            let mut end = vec![Linear::from(1)];
            end.resize(clock.coordinates() + 2, Linear::from(0));
            schedule.push(piece.to("", end));
        }

        let (sinks, sources) = (UnionMap::new(&sinks)?, UnionMap::new(&sources)?);
        let flow = Accesses {
            sink: &sinks,
            must_source: Some(&sources),
            may_source: None,
            kill: None,
            schedule: &UnionMap::new(&schedule)?,
        }
        .flow()?;
        let from = flow.must.reverse()?;
        let mut values = from.apply_range(&UnionMap::new(&own)?)?;
        values = values.union(&flow.must_no_source)?;
        let mut links = from.apply_range(&UnionMap::new(&copies)?)?;
        for round in 0..MAX_DOUBLINGS {
            let open = links.domain()?.subtract(&values.domain()?)?;
            if open.is_empty()? {
                break;
            }
            if round > 0 {
                links = links.intersect_domain(&open)?.apply_range(&links)?;
            }
            values = values.union(&links.apply_range(&values)?)?;
        }
        Ok(Values(values))
    }
}

/// The value that is this number.
pub(super) fn constant(value: Constant) -> String {
    format!("C{value}")
}

/// All elements of a tensor, as what is read in the end.
pub(super) fn whole(tensor: &Tensor) -> Piece {
    let extents = tensor.shape().extents();
    let variables: Vec<String> = (0..extents.len()).map(element).collect();
    let piece = Piece::set(&result(tensor), variables.iter().map(String::as_str));
    let bounds = variables.iter().zip(extents);
    bounds.fold(piece, |piece, (e, extent)| {
        let extent = i64::try_from(*extent).unwrap_or(i64::MAX);
        piece
            .constrain(0, Relation::LessOrEqual, e.as_str())
            .constrain(e.as_str(), Relation::Less, Linear::from(extent))
    })
}

fn element(dimension: usize) -> String {
    format!("e{dimension}")
}

impl Leaf<'_> {
    /// Whether the leaf only copies an element.
    pub(super) fn copies(&self) -> bool {
        match self.what {
            What::Stmt(s) => s.update.is_none() && matches!(s.value.node(), Node::Access { .. }),
            What::Fill(_) => false,
        }
    }

    /// Whether the leaf updates an element by another one, which is what combines partial results.
    pub(super) fn combines(&self) -> bool {
        match self.what {
            What::Stmt(s) => {
                let access = matches!(s.value.node(), Node::Access { .. });
                s.origin.is_none() && s.update.is_some() && access
            }
            What::Fill(_) => false,
        }
    }

    /// The iterators around the leaf.
    pub(super) fn iterators(&self) -> Vec<Linear> {
        let loops = 0..self.loops.len();
        loops
            .map(|d| Linear::from(super::memory::iterator(d).as_str()))
            .collect()
    }

    /// The map from a leaf's executions to the value that they compute.
    fn value(&self, k: usize) -> Piece {
        let domain = self.domain(&written(k));
        match self.what {
            What::Fill(fill) => domain.to(&constant(fill.value), []),
            What::Stmt(_) => match self.instance() {
                Some((tuple, point)) => domain.to(&tuple, point),
                None => domain.to(&written(k), self.iterators()),
            },
        }
    }

    /// The instance of the definition that a statement executes.
    pub(super) fn instance(&self) -> Option<(String, Vec<Linear>)> {
        let What::Stmt(s) = self.what else {
            return None;
        };
        let (origin, assignment) = (s.origin.as_ref()?, self.assignment?);
        let variable = |name: &Name| self.variable(name);
        let point = origin.point.iter().map(|a| linear(a, &variable));
        Some((statement(assignment), point.collect()))
    }
}
