//! From Rhai to the engine and back: calls, arguments, names and operators.

pub mod arithmetic;
pub mod call;
pub mod captured;
pub mod conversion;
pub mod formula;
pub mod function;
pub mod function_values;
pub mod indices;
pub mod invocations;
pub mod methods;
pub mod names;
pub mod operand_names;
pub mod operations;
pub mod operators;
pub mod param;
pub mod ranges;
pub mod state;
pub mod takes;
