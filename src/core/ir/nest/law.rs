//! Nests that compute their definition by laws of operators, or in dimensions that are read as one.
//!
//! A step may combine values in another order because an operator is associative, which no proof
//! about indices can show. Such a step starts from a nest that is proved. Its result is the
//! definition that later steps are proved against, and the nest keeps the laws that connect both.
//! Results are still compared with the program that the script wrote ([`Nest::untransformed`]).

use super::{Law, Lawful, Nest, Part, Tree};
use std::sync::Arc;

impl Nest {
    /// The laws by which the nest computes what the script wrote.
    pub fn laws(&self) -> &[Law] {
        let lawful = self.0.lawful.as_deref();
        lawful.map_or(&[], |lawful| &lawful.laws)
    }

    /// The nest with other trees, which compute the same by a law. They are the definition that
    /// later steps are proved against.
    #[must_use]
    pub fn by_law(&self, trees: Vec<Tree>, law: Law) -> Nest {
        let mut laws = self.laws().to_vec();
        if !laws.contains(&law) {
            laws.push(law);
        }
        let parts = self.written_parts();
        let mut data = (*self.with_trees(trees).as_definition().0).clone();
        data.lawful = Some(Arc::new(Lawful { parts, laws }));
        Nest(Arc::new(data))
    }

    /// Whether no step has changed the nest.
    pub fn is_built(&self) -> bool {
        let is_whole = self.outer_loops().is_empty() && self.variants().is_empty();
        let own = |part: &Part| part.trees.as_ref() == self.trees();
        is_whole && matches!(self.originals(), [part] if own(part))
    }

    /// The built nest with other trees, which do the same to the same memory. They are the definition
    /// that later steps are proved against.
    #[must_use]
    pub fn rebuilt(&self, trees: Vec<Tree>) -> Nest {
        let part = |part: &Part| Part {
            trees: trees.clone().into(),
            ..part.clone()
        };
        let parts = self.originals().iter().map(part).collect();
        self.written_as(trees, parts)
    }

    /// The nest with other trees and parts, which do the same to the same memory.
    pub(super) fn written_as(&self, trees: Vec<Tree>, parts: Vec<Part>) -> Nest {
        let lawful = Lawful {
            parts: self.written_parts(),
            laws: self.laws().to_vec(),
        };
        let mut data = (*self.with_parts(trees, parts).0).clone();
        data.lawful = Some(Arc::new(lawful));
        Nest(Arc::new(data))
    }

    /// The parts of the definition that the script wrote.
    pub(super) fn written_parts(&self) -> Arc<[Part]> {
        match &self.0.lawful {
            Some(lawful) => lawful.parts.clone(),
            None => self.0.parts.clone(),
        }
    }

    /// The laws of the nest, with other parts that the script wrote.
    pub(super) fn lawful_as(&self, change: &dyn Fn(&[Part]) -> Arc<[Part]>) -> Option<Arc<Lawful>> {
        let lawful = self.0.lawful.as_ref()?;
        Some(Arc::new(Lawful {
            parts: change(&lawful.parts),
            laws: lawful.laws.clone(),
        }))
    }

    /// The laws of both nests, in sequence.
    pub(super) fn lawful_with(&self, other: &Nest) -> Option<Arc<Lawful>> {
        if self.0.lawful.is_none() && other.0.lawful.is_none() {
            return None;
        }
        let (parts, laws) = (self.written_parts(), self.laws().iter());
        let mut all: Vec<Law> = laws.cloned().collect();
        let new = other.laws().iter().filter(|law| !self.laws().contains(law));
        all.extend(new.cloned());
        Some(Arc::new(Lawful {
            parts: parts
                .iter()
                .chain(other.written_parts().iter())
                .cloned()
                .collect(),
            laws: all,
        }))
    }
}
