//! The final contents of tensors, as reads at the end of the program.

use super::memory::element;
use super::space::Space;
use crate::ir::Tensor;
use crate::poly::{Linear, Piece, Relation};

/// All elements of a tensor, as reads of its final contents.
pub(super) fn whole(tensor: &Tensor) -> Piece {
    let extents = tensor.shape().extents();
    let variables: Vec<String> = (0..extents.len()).map(element).collect();
    let piece = Piece::set(
        &Space::result(tensor).name(),
        variables.iter().map(String::as_str),
    );
    let bounds = variables.iter().zip(extents);
    bounds.fold(piece, |piece, (e, extent)| {
        let extent = i64::try_from(*extent).unwrap_or(i64::MAX);
        piece
            .constrain(0, Relation::LessOrEqual, e.as_str())
            .constrain(e.as_str(), Relation::Less, Linear::from(extent))
    })
}

/// The indices of the element that a point of [`whole`] reads.
pub(super) fn elements(tensor: &Tensor) -> impl Iterator<Item = Linear> + use<> {
    let dimensions = 0..tensor.shape().rank();
    dimensions.map(|d| Linear::from(element(d).as_str()))
}
