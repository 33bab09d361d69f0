//! A variable as a state of a session keeps it.

use rhai::{Dynamic, ImmutableString};

/// A variable.
#[derive(Clone, Debug)]
pub struct Saved {
    pub name: ImmutableString,
    pub is_constant: bool,
    pub value: Dynamic,
    /// The value of a variable that closures share with the scope: it is changed in place.
    pub inside: Option<Dynamic>,
}
