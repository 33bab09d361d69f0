//! Reports, searches and diagnostics about nests.

pub mod diag;
pub mod report;
pub mod tune;
pub mod verbs;

use teml_codegen as codegen;
use teml_core::{analysis, ir, legality, target};
use teml_run::{machine, package, runtime, trial};
use teml_transform as transform;
use teml_transform::advice;
