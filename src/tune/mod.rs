//! Tuning: which of many variants of a computation is the fastest.
//!
//! A space has named parameters (`space.rs`). A search proposes points of it (`search/`). Each
//! becomes nests, which a gauge of the session's runner compiles, checks and times (`tuning.rs`);
//! nothing else here runs anything. The fastest are timed again, against each other (`finals.rs`).
//! What was tried is recorded (`record.rs`). A cost model says before anything is compiled what a
//! nest should take, and why (`model/`).

mod dice;
mod finals;
mod model;
mod page;
mod rank;
mod record;
mod search;
mod space;
mod summary;
mod tuning;
mod value;

pub use dice::Dice;
pub use finals::{Decided, Finalist, finals};
pub use model::{Model, Prediction};
pub use page::page;
pub use rank::correlation;
pub use record::{Journal, Key, Kind, Record, best, definition, median, read};
pub use search::{History, Outlook, Predict, Search, Strategy};
pub use space::{Constraint, Dependent, Digits, Domain, Halt, Parameter, Space};
pub use summary::{line, reason, reasons, summary};
pub use tuning::{
    Audience, Budget, Ended, Made, Maker, Plan, Standing, Trial, Tuned, first, sample, tune,
};
pub use value::{Point, Value};
