//! The elements of tensors as what is read in the end.

use super::memory::element;
use crate::ir::Tensor;
use crate::poly::{Linear, Piece, Relation};

/// The point at which an element of a tensor is read in the end.
pub(super) fn result(tensor: &Tensor) -> String {
    format!("O_{}", tensor.label())
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

/// The elements of a tensor, in terms of [`whole`].
pub(super) fn elements(tensor: &Tensor) -> impl Iterator<Item = Linear> + use<> {
    let dimensions = 0..tensor.shape().rank();
    dimensions.map(|d| Linear::from(element(d).as_str()))
}
