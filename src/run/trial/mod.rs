//! Trials: each variant of one computation is checked, then all are timed in one run.
//!
//! The first variant's definition is the reference. Its untransformed nests are compiled without
//! the optimizations that variants get, so that they do not share a miscompilation. Their results
//! are compared with the definition: in full if that is cheap, otherwise at samples. Every element
//! of every variant's results is compared with them. Only then is anything timed.
//!
//! A session has one [`Runner`], which takes a [`Comparison`] and runs, checks, emits or collects
//! its variants.

mod check;
mod comparison;
mod definitions;
mod error;
mod evaluator;
mod export;
mod generate;
mod inputs;
mod reference;
mod results;
mod runner;
mod samples;
mod settings;
mod ship;
pub mod sizes;
mod sweep;
mod variant;
mod work;

pub use check::{Cure, Progress, run};
pub use comparison::{Comparison, Failed, Measured, Peer, Ranking};
pub use definitions::{Equality, equality};
pub use error::{Blame, Defect, TrialError};
pub use evaluator::{Evaluator, LocalEvaluator, Prepared, Ready, Screened};
pub use export::{ExportedFile, export, rehearse};
pub use inputs::Inputs;
pub use reference::Evidence;
pub use results::{is_own, results};
pub use runner::{Check, Collect, Emit, Kept, Run, RunContext, Runner, free_symbol};
pub use samples::{Samples, samples};
pub use settings::Settings;
pub use ship::{Cargo, Shipped, Source};
pub use variant::Variant;
pub use work::{Work, flops, work};
