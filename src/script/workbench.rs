//! What `codegen`, `compare` and `init` of a session need and leave behind.

use crate::codegen::Kernel;
use crate::runtime::Control;
use crate::trial::{Inputs, Settings};

/// What becomes of generated code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// It is compiled, checked and timed where the script asks for it.
    #[default]
    Run,
    /// It is only collected: `compare` and `save` do nothing else.
    Emit,
}

/// Where kernels are made and tried.
#[derive(Debug, Default)]
pub struct Workbench {
    /// What becomes of code.
    pub mode: Mode,
    /// Limits, threads, and where to stop.
    pub control: Control,
    /// How variants are timed.
    pub settings: Settings,
    /// What `init` said.
    pub inputs: Inputs,
    /// What `codegen` made, in order.
    pub generated: Vec<Kernel>,
    /// What `compare` was given, in order; collected in [`Mode::Emit`].
    pub compared: Vec<Kernel>,
    /// Whether to say on standard error what a long run is doing.
    pub shows_progress: bool,
}
