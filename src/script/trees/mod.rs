//! Trees as values: expressions and nests as maps and lists of scripts, and back.
//!
//! `open` makes maps, `close` reads them. Both match every kind of node, so that a new kind
//! cannot be forgotten. `kinds` has the words that both use. `fields` are what scripts read of
//! expressions and nests without opening them.

mod close;
mod fields;
mod kinds;
mod open;
mod place;
mod replaced;

pub use close::{Closed, closed};
pub use fields::{field_of, fields_of, is_field, register, similar_field};
pub use open::{of_expr, of_nest, opened};
pub use replaced::{Replacement, replaced};
