//! Parameters with known facts, in all sets and maps of a question.
//!
//! Sizes of a program are the same in everything that a proof compares. So they are not repeated at
//! each set: within [`assuming`], every new set and map has these parameters, under these
//! constraints.

use super::relation::Constraint;
use std::cell::RefCell;
use std::rc::Rc;

/// Parameters, and the constraints between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assumed {
    /// The names.
    pub parameters: Vec<String>,
    /// The constraints.
    pub constraints: Vec<Constraint>,
}

thread_local! {
    static ASSUMED: RefCell<Rc<Assumed>> = RefCell::default();
}

/// Restores the assumptions around, even on a panic.
struct Around(Rc<Assumed>);

impl Drop for Around {
    fn drop(&mut self) {
        ASSUMED.set(std::mem::take(&mut self.0));
    }
}

/// Runs `question` with these parameters in all sets and maps of this thread. Assumptions around it
/// do not hold inside.
pub fn assuming<T>(assumed: Assumed, question: impl FnOnce() -> T) -> T {
    let _around = Around(ASSUMED.replace(Rc::new(assumed)));
    question()
}

/// The assumptions that hold now.
pub(super) fn assumed() -> Rc<Assumed> {
    ASSUMED.with_borrow(Rc::clone)
}

/// A point of the assumptions that something holds at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// The least values.
    pub at: Vec<(String, i64)>,
    /// The condition for all of them, such as `K >= 257`.
    pub when: String,
}

impl Assumed {
    /// Whether nothing is assumed.
    pub(super) fn is_empty(&self) -> bool {
        self.parameters.is_empty()
    }
}

impl Parameters {
    /// From isl's text of a set of parameters.
    pub(super) fn condition(text: &str) -> String {
        let condition = text.split_once(':').map_or("", |(_, condition)| condition);
        condition.trim().trim_end_matches('}').trim().to_owned()
    }
}
