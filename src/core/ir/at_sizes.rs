//! Expressions whose sizes are replaced, by numbers or by other sizes, and the sizes that occur in
//! them.

use super::affine::Affine;
use super::domain::Domain;
use super::expr::{Expr, Index, Node};
use super::name::Name;
use super::range::Range;
use super::segment::Segment;
use super::tensor::Tensor;

impl Tensor {
    /// The same tensor with sizes replaced.
    #[must_use]
    pub fn at_sizes(&self, value: &dyn Fn(&Name) -> Option<Affine>) -> Tensor {
        let tensor = match self.entries() {
            Some(entries) => self.with_entries(entries.at_sizes(value)),
            None => self.clone(),
        };
        if self.shape().is_sized() {
            tensor.with_shape(self.shape().at_sizes(value))
        } else {
            tensor
        }
    }
}

impl Range {
    /// The range with sizes replaced, also those of the tensors that it reads.
    #[must_use]
    pub fn at_sizes(&self, value: &dyn Fn(&Name) -> Option<Affine>) -> Range {
        let range = self.substitute(value);
        range.map_tensors(&|tensor| tensor.at_sizes(value))
    }

    /// Calls `see` with each size in it.
    pub(super) fn for_each_size(&self, see: &mut dyn FnMut(&Name)) {
        let read = self.within.iter().flat_map(Segment::parts);
        self.bounds()
            .chain(read)
            .flat_map(Affine::sizes)
            .for_each(&mut *see);
        for lookup in self.within.iter().flat_map(Segment::lookups) {
            lookup.tensor.shape().for_each_size(see);
        }
    }
}

impl Domain {
    fn at_sizes(&self, value: &dyn Fn(&Name) -> Option<Affine>) -> Domain {
        let ranges = self.iter();
        Domain::new(ranges.map(|(name, range)| (name.clone(), range.at_sizes(value))))
    }
}

impl Expr {
    /// The same expression with sizes replaced.
    #[must_use]
    pub fn at_sizes(&self, value: &dyn Fn(&Name) -> Option<Affine>) -> Expr {
        let parts = self.map_parts(&|part| part.at_sizes(value));
        let ranged = parts.with_domain(&|within| within.at_sizes(value));
        ranged.changed(|node| match node {
            Node::Access { tensor, index } => {
                *tensor = tensor.at_sizes(value);
                if let Index::At(index) = index {
                    index.iter_mut().for_each(|a| *a = a.substitute(value));
                }
            }
            Node::Index(index) => *index = index.substitute(value),
            Node::Binary { shape, .. }
            | Node::Apply { shape, .. }
            | Node::Reduce { shape, .. }
            | Node::Virtual { shape, .. } => *shape = shape.at_sizes(value),
            Node::Assign { .. } | Node::Constant(_) | Node::Pieces { .. } => {}
        })
    }

    /// The sizes in it, and the sizes that they are derived from, which come first.
    pub fn sizes(&self) -> Vec<Name> {
        let mut found: Vec<Name> = Vec::new();
        self.for_each_size(&mut |name| {
            if !found.contains(name) {
                found.push(name.clone());
            }
        });
        Name::add_parts(&mut found);
        found.sort_by_key(Name::derivation);
        found
    }

    /// Calls `see` with each size in shapes, indices and ranges, as often as it occurs.
    pub fn for_each_size(&self, see: &mut dyn FnMut(&Name)) {
        let of_domain = |within: &Domain, see: &mut dyn FnMut(&Name)| {
            within
                .iter()
                .for_each(|(_, range)| range.for_each_size(&mut *see));
        };
        match self.node() {
            Node::Access { tensor, index } => {
                tensor.shape().for_each_size(see);
                if let Index::At(index) = index {
                    index.iter().flat_map(Affine::sizes).for_each(&mut *see);
                }
            }
            Node::Index(index) => index.sizes().for_each(&mut *see),
            Node::Reduce { within, .. } | Node::Assign { within, .. } => of_domain(within, see),
            _ => {}
        }
        for child in self.children() {
            child.for_each_size(see);
        }
    }
}
