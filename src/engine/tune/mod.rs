//! Tuning: finds the fastest of many variants of a computation.
//!
//! A space has named parameters (`space.rs`). A search proposes points of it (`search/`). Each
//! point becomes nests (`maker.rs`). An evaluator of the session's runner compiles, checks and
//! times them (`tuning.rs`): it compiles on all cores, then runs one variant after the other, each
//! compared with the reference before its time counts. Nothing else here runs anything, so that
//! tests can stub the times. The fastest are timed again, against each other (`decide.rs`,
//! `finals.rs`). Trials are recorded (`record.rs`). A cost model predicts the time of a nest before
//! anything is compiled, and what bounds it (`model/`). Workers on other machines can try the
//! proposed points (`launch/`).

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
mod tolerances;
mod tuning;
mod value;

pub use finals::{Decided, Finalist, finals};
pub use launch::{Engine, Launch, WorkerPool, work};
pub use maker::{Made, Maker, first, sample};
pub use model::{Model, Prediction};
pub use outcome::{Ended, Trial, Tuned};
pub use page::{Shown, page};
pub use plan::{Budget, Plan};
pub use rank::Order;
pub use record::{Journal, Key, Kind, Record, best, definition, median, read, why_not};
pub use replay::Sweep;
pub use rng::Rng;
pub use search::{History, Outlook, Predict, Search, Strategy};
pub use space::{ConfigIndex, Constraint, Dependent, Domain, Halt, Parameter, Space};
pub use standing::{Observer, Standing};
pub use summary::{Ranked, line, reason, reasons, summary};
pub use tuning::tune;
pub use value::{Point, Value};
