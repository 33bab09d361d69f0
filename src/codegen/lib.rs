//! From loop nests to C text. Pure: no files, no compiler, no script.
//!
//! Passes make a plan of nests, which decides everything (`plan`). The plan is proved as well (`proof`). The printer then only prints it as C (`c`).

use teml_core::{analysis, ir, legality, target};

mod c;
mod derived;
mod device;
mod elem;
mod function;
mod generate;
mod kernel;
mod plan;
mod proof;
mod support;
pub mod symbol;
mod taken;
mod unit;

pub use derived::definition_of_size;
pub use device::{NoDevice, Phases, is_on_device, phases};
pub use elem::c_type;
pub use function::{NoCode, at_fault, check, limit, outer_vectors, prove_plan, stages, unproved};
pub use generate::{generate, generate_for, generate_with_own};
pub use kernel::{ALIGNMENT, DEVICE_FAILURE, Header, Kernel, Param, Role, Vectors, apart, passed};
pub use plan::tree as planned;
pub use plan::{Plan, Stage};
pub use proof::Faulty;
pub use unit::{BASE, C_BEGINS, C_ENDS, Preamble, unit, unit_after};
