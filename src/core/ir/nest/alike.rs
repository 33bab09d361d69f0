//! Nests that run together, with each tensor's dimensions read in one way.

use super::{Nest, Part, Tree};
use crate::ir::tensor::Tensor;
use std::borrow::Cow;
use std::collections::BTreeSet;

impl Nest {
    /// The same nests. Dimensions that one of them reads as one are read as one in all of them, with
    /// indices such as `5*i + j`. So elements have the same indices everywhere. If a fill sets parts of
    /// several rows, nothing changes, and the nests do not run together.
    pub fn alike(nests: &[Nest]) -> Cow<'_, [Nest]> {
        let tensors: Vec<Tensor> = nests.iter().flat_map(Nest::tensors).collect();
        // A tensor as callers know it, and the ends of dimensions that are apart in all nests.
        let mut kept: Vec<(Tensor, BTreeSet<usize>)> = Vec::new();
        for tensor in tensors.iter().filter(|tensor| tensor.is_joined()) {
            let (given, ends) = (tensor.as_given(), tensor.ends_of_dims());
            match kept.iter_mut().find(|(known, _)| *known == given) {
                Some((_, common)) => common.retain(|end| ends.contains(end)),
                None => kept.push((given, ends.into_iter().collect())),
            }
        }
        let places = |tensor: &Tensor| -> Vec<usize> {
            let given = tensor.as_given();
            let Some((_, common)) = kept.iter().find(|(known, _)| *known == given) else {
                return Vec::new();
            };
            let ends = tensor.ends_of_dims().into_iter().enumerate().rev();
            let apart = ends.filter(|(_, end)| !common.contains(end));
            apart.map(|(d, _)| d).collect()
        };
        if tensors.iter().all(|tensor| places(tensor).is_empty()) {
            return Cow::Borrowed(nests);
        }
        let alike = nests.iter().map(|nest| nest.with_joined(&places));
        let alike: Option<Vec<Nest>> = alike.collect();
        alike.map_or(Cow::Borrowed(nests), Cow::Owned)
    }

    fn with_joined(&self, places: &dyn Fn(&Tensor) -> Vec<usize>) -> Option<Nest> {
        let joined = |trees: &[Tree]| -> Option<Vec<Tree>> {
            trees.iter().map(|tree| tree.with_joined(places)).collect()
        };
        let part = |part: &Part| {
            Some(Part {
                trees: joined(&part.trees)?.into(),
                ..part.clone()
            })
        };
        let parts: Option<Vec<Part>> = self.originals().iter().map(part).collect();
        Some(self.written_as(joined(self.trees())?, parts?))
    }
}
