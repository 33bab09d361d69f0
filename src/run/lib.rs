//! Kernels for this machine: compiled, called, compared with the reference, timed, and handed to others.

pub mod machine;
pub mod package;
pub mod runtime;
pub mod trial;

use teml_codegen as codegen;
use teml_core::{analysis, interp, ir, legality, target};
