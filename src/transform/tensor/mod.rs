//! Operations that make tensor expressions: TeML Figs. 1 and 8.

pub mod declare;
pub mod eq;
mod infer;
pub mod op;
mod operand;
pub mod vat;
pub mod vcontract;
pub mod veq;
pub mod vop;
pub mod vsum;

pub use infer::with_shapes;
