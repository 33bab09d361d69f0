//! Operations that make tensor expressions: TeML Figs. 1 and 8.

pub mod declare;
pub mod eq;
pub mod op;
mod operand;
pub mod vcontract;
pub mod vop;
pub mod vsum;
