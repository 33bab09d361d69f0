//! The values that scripts compute with, beside Rhai's own: tensors, nests, index expressions and
//! arrows, and the results of functions.

mod code;
mod grid;
mod handle;
mod index;
mod kinds;
mod moves;
mod numbers;
mod operator;
mod path;
mod prediction;
mod program;
mod reductions;
mod shown;
mod text;
mod verdict;

pub use code::Code;
pub use handle::{HANDLES, Handle, Made, handles_in};
pub use index::{Index, RawArrow};
pub use kinds::{name_of, register, shown};
pub use moves::{Listed, One};
pub use numbers::{Numbers, number};
pub use path::Path;
pub use shown::shorten;
pub use text::{describe, nests, printed, show, type_in_words};

/// Marks a value whose contents were already printed: the REPL shows only its name.
pub const SHOWN: i32 = 1;

/// Marks a tensor that has the name that its declaration gives: assignments to the variable that
/// holds it keep that name.
pub const NAMED: i32 = 2;

/// Marks a nest whose label is the name of a variable inside of a function: the variable that the
/// call is bound to labels it anew.
pub const INNER: i32 = 3;
