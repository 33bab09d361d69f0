#![doc = include_str!("README.md")]

pub mod analysis;
pub mod codegen;
pub mod diag;
pub mod ir;
pub mod repl;
pub mod script;
pub mod transform;
