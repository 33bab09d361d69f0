//! The final contents of tensors, as reads at the end of the program.

use super::constraints::inside;
use super::memory::element;
use super::space::Space;
use crate::ir::Tensor;
use crate::poly::{Linear, Piece};

/// All elements of a tensor, as reads of its final contents.
pub(super) fn whole(tensor: &Tensor) -> Piece {
    let variables: Vec<String> = (0..tensor.shape().rank()).map(element).collect();
    let piece = Piece::set(
        &Space::result(tensor).name(),
        variables.iter().map(String::as_str),
    );
    inside(piece, tensor, &variables)
}

/// The indices of the element that a point of [`whole`] reads.
pub(super) fn elements(tensor: &Tensor) -> impl Iterator<Item = Linear> + use<> {
    let dimensions = 0..tensor.shape().rank();
    dimensions.map(|d| Linear::from(element(d).as_str()))
}
