//! The trees: element types, shapes, affine index expressions, tensor expressions, loop nests.
//!
//! No I/O, no C, no script. Trees are immutable and shared; equality is structural.

mod affine;
mod elem;
mod name;
mod tensor;

pub use affine::Affine;
pub use elem::Elem;
pub use name::{Name, NameError};
pub use tensor::{Shape, ShapeError, Tensor};
