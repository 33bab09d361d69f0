//! From loop nests to C text. Pure: no files, no compiler, no script.

mod kernel;

pub use kernel::{ALIGNMENT, Kernel, Param, Role};
