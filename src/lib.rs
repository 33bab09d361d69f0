#![doc = include_str!("README.md")]

pub mod advice;
pub mod analysis;
pub mod codegen;
pub mod diag;
pub mod interp;
pub mod ir;
pub mod legality;
pub mod lower;
pub mod machine;
pub mod poly;
pub mod repl;
pub mod report;
pub mod runtime;
pub mod script;
pub mod transform;
pub mod trial;
