//! Variants of a computation, and what defines it.

use crate::ir::{Expr, Nest, Part};

/// One way to compute something: nests that run in order.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name in tables.
    pub label: String,
    /// The nests, at least one.
    pub nests: Vec<Nest>,
}

impl Variant {
    /// Whether the variant has the definition of another one.
    pub fn is_defined_as(&self, other: &Variant) -> bool {
        definition(self).eq(definition(other))
    }

    /// Whether texts define it.
    pub fn is_text(&self) -> bool {
        let mut parts = self.nests.iter().flat_map(Nest::originals);
        parts.any(|part: &Part| part.is_program)
    }
}

/// The untransformed nests of a variant's definition.
pub(super) fn naive(variant: &Variant) -> Variant {
    let nests = variant.nests.iter().flat_map(Nest::untransformed);
    Variant {
        label: variant.label.clone(),
        nests: nests.collect(),
    }
}

/// The statements that define what a variant computes.
pub(super) fn definition(variant: &Variant) -> impl Iterator<Item = &Expr> {
    variant.nests.iter().flat_map(|n| n.definition().iter())
}
