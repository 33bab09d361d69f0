//! Tuning: which of many variants of a computation is the fastest.
//!
//! A space has named parameters (`space.rs`). A search proposes points of it (`search/`). Each
//! becomes nests (`maker.rs`), which a evaluator of the session's runner compiles, checks and times
//! (`tuning.rs`); nothing else here runs anything. The fastest are timed again, against each other
//! (`decide.rs`, `finals.rs`). What was tried is recorded (`record.rs`). A cost model says before
//! anything is compiled what a nest should take, and why (`model/`). Workers on other machines can
//! try what is proposed (`launch/`).

mod decide;
mod entry;
mod finals;
mod launch;
mod maker;
mod model;
mod outcome;
mod page;
mod plan;
mod rank;
mod record;
mod replay;
mod rng;
mod search;
mod space;
mod standing;
mod summary;
mod tuning;
mod value;

pub use finals::{Decided, Finalist, finals};
pub use launch::{Engine, Launch, WorkerPool, work};
pub use maker::{Made, Maker, first, sample};
pub use model::{Model, Prediction};
pub use outcome::{Ended, Trial, Tuned};
pub use page::page;
pub use plan::{Budget, Plan};
pub use rank::correlation;
pub use record::{Journal, Key, Kind, Record, best, definition, median, read, why_not};
pub use replay::Sweep;
pub use rng::Rng;
pub use search::{History, Outlook, Predict, Search, Strategy};
pub use space::{ConfigIndex, Constraint, Dependent, Domain, Halt, Parameter, Space};
pub use standing::{Observer, Standing};
pub use summary::{Ranked, line, reason, reasons, summary};
pub use tuning::tune;
pub use value::{Point, Value};
