#![doc = include_str!("README.md")]

pub mod analysis;
pub mod codegen;
pub mod interp;
pub mod ir;
pub mod lower;
pub mod report;
pub mod runtime;
pub mod transform;
pub mod trial;
