//! Whether nests compute what their definition says: the one authority.
//!
//! [`check()`] proves it, shows what is wrong, or says what it could not decide; [`prove`] is what code
//! needs; [`BatchProver`] answers it for many variants of one nest, and [`Steps`] for what steps made of
//! a legal one, where they changed it; [`dependences()`] is what whoever looks for an
//! order has to keep. [`unset()`] finds elements that are read and never set. [`in_place`] says which assignments may overwrite what they read. [`independence`] is a
//! quick test of whether parallel loops are independent, which needs no polyhedral library; where it
//! sees none, [`check()`] decides.

mod barriers;
mod batch;
mod buffers;
mod check;
mod clock;
pub mod complement;
mod concurrent;
mod constraints;
mod dataflow;
mod dependences;
mod directions;
mod elements;
mod families;
pub mod independence;
mod inplace;
mod limit;
mod memo;
mod memory;
mod misread;
mod order;
mod pairs;
pub mod partition;
mod pieces;
mod program;
mod proof;
mod reassociation;
mod reduction;
mod relations;
mod reordered;
mod reroll;
mod reversed;
mod sequence;
mod sources;
mod staging;
mod steps;
mod unset;
mod values;
mod verdict;
mod violation;
mod witness;

pub use barriers::elidable_barriers;
pub use batch::BatchProver;
pub use check::check;
pub use dependences::{ParametricDependence, dependences, inputs};
pub use inplace::{InPlace, Run, in_place, is_compatible};
pub use limit::{together, within};
pub use memo::{Inquiry, Verdicts, remembered};
pub use proof::{Proof, Refused, prove};
pub use reassociation::Reductions;
pub use steps::{Kept, Numbered, Steps};
pub use unset::{assigns_all, unset};
pub use verdict::{Question, Undecided, Verdict};
pub use violation::{Dependence, DependenceKind, Instance, Place, Violation};

/// Whether proofs are stopped, and lets them go on.
pub use crate::poly::{is_stopped, resume};
