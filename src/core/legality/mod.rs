//! Whether nests compute their definition.
//!
//! Nothing else in the project decides legality:
//! - [`check()`] proves it, shows a violation, or says what it could not decide;
//! - [`prove`] is the condition for generating code;
//! - [`needs()`] finds the sizes at which they do;
//! - [`BatchProver`] judges many variants of one nest;
//! - [`Steps`] judges steps applied to a legal nest, only where they changed it;
//! - [`dependences()`] are the constraints on a scheduler;
//! - [`unset()`] finds reads of undefined elements;
//! - [`exchanges()`] finds the threads of a device that need a barrier;
//! - [`executes()`] judges how a plan runs its trees: dead lanes, barriers, streaming stores;
//! - [`obeyed()`] tests the laws of an operator, which no proof decides;
//! - [`in_place`] tells which assignments may overwrite a tensor that they read;
//! - [`independence`] is a quick test of parallel loops that needs no polyhedral library.
//!   [`check()`] decides exactly if this test fails.
//!
//! Answers are legal, illegal or undecided. Each proof has a budget of polyhedral operations.
//! Beyond it the answer is [`Undecided`] with the open question. There is no code for such a nest,
//! and nothing calls it illegal.

mod barriers;
mod batch;
mod buffers;
mod check;
mod clock;
pub mod complement;
mod concurrent;
mod constraints;
mod dataflow;
mod dense;
mod dependences;
mod directions;
mod elements;
mod execution;
mod families;
mod fences;
pub mod independence;
mod inplace;
mod laws;
mod limit;
mod lookups;
mod memo;
mod memory;
mod misread;
mod needs;
mod order;
mod pairs;
pub mod partition;
mod phases;
mod pieces;
mod program;
mod proof;
mod reassociation;
mod reduction;
mod relations;
mod reordered;
mod reroll;
mod reused;
mod reversed;
mod running;
mod sequence;
mod sizes;
mod soundness;
mod sources;
mod space;
mod staging;
mod steps;
mod strips;
mod unset;
mod values;
mod verdict;
mod violation;
mod witness;
mod written;

pub use barriers::elidable_barriers;
pub use batch::BatchProver;
pub use check::check;
pub use dependences::{ParametricDependence, dependences, inputs};
pub use execution::{DeadLanes, Execution, Mark, Team};
pub use inplace::{InPlace, Run, in_place, is_compatible};
pub use laws::{Obeyed, Unlawful, obeyed};
pub use limit::{together, within};
pub use memo::{Inquiry, Verdicts, remembered};
pub use needs::needs;
pub use phases::{Barrier, Exchange, Waiting, exchanges};
pub use proof::{Proof, Refused, prove};
pub use reassociation::Reductions;
pub use soundness::{Unsound, executes};
pub use steps::{Kept, Numbered, Steps};
pub use unset::{assigns_all, sets_first, unset};
pub use verdict::{Question, Undecided, Verdict};
pub use violation::{Dependence, DependenceKind, Instance, Place, Violation};

/// Cancellation of running proofs, and its reset.
pub use crate::poly::{is_stopped, resume};
