//! The least work of a computation, counted from its definition.

use super::Variant;
use super::variant::naive;
use crate::analysis::work;
use crate::ir::{Elem, Nest};

/// The least work of a computation.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// Arithmetic operations by the first variant's definition.
    pub flops: f64,
    /// The fewest arithmetic operations by any variant's definition.
    pub least_flops: f64,
    /// Bytes that are read at least: inputs, each once.
    pub read: f64,
    /// Bytes that are written at least: results, each once.
    pub written: f64,
    /// The type of the results.
    pub elem: Elem,
}

/// Arithmetic operations of the computation of `variant` by its definition.
pub fn flops(variant: &Variant) -> f64 {
    naive(variant).nests.iter().filter_map(work::flops).sum()
}

/// The least work of the computation of nests that run in order.
pub fn work(nests: &[Nest]) -> Work {
    let variant = Variant {
        label: String::new(),
        nests: nests.to_vec(),
    };
    let plain = naive(&variant);
    work_of(std::slice::from_ref(&variant), &plain)
}

/// The least work of the computation of `variants`; `plain` is the first one, untransformed.
pub(super) fn work_of(variants: &[Variant], plain: &Variant) -> Work {
    let flops = |plain: &Variant| -> f64 { plain.nests.iter().filter_map(work::flops).sum() };
    let all = variants.iter().map(naive);
    let least = all.map(|plain| flops(&plain)).fold(f64::INFINITY, f64::min);
    let last = plain.nests.last().and_then(|n| n.definition().last());
    let moved = work::moved(&plain.nests);
    Work {
        flops: flops(plain),
        least_flops: least,
        read: moved.read as f64,
        written: moved.written as f64,
        elem: last.map_or(Elem::F64, |e| e.elem()),
    }
}
