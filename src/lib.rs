#![doc = include_str!("README.md")]

pub mod codegen;
pub mod ir;
pub mod runtime;
