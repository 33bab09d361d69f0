//! Operations that make tensor expressions: TeML Figs. 1 and 8.

pub mod aligned;
pub mod cast;
pub mod contraction;
pub mod declare;
mod entries;
pub mod entrywise;
pub mod eq;
pub mod fold;
pub mod function;
pub(crate) mod gather;
pub mod indices;
mod infer;
pub mod masks;
pub mod matrices;
pub mod mirrored;
pub mod op;
mod operand;
pub mod pad;
pub mod partition;
pub mod reduce;
pub mod scatter;
pub mod select;
pub mod sorted;
mod split;
pub mod strided;
pub mod triangular;
mod unfit;
pub mod vat;
pub mod vcontract;
pub mod veq;
pub mod vfunction;
pub mod vindex;
pub mod vop;
pub mod vreduce;

pub use infer::{with_shape_of_root, with_shapes};
pub use operand::Operand;
