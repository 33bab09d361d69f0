//! Compiles kernels for this machine, calls them, compares their results with the reference, times
//! them, and packages them for other programs.

pub mod machine;
pub mod package;
pub mod runtime;
pub mod trial;

use teml_codegen as codegen;
use teml_core::{analysis, interp, ir, legality, target};
