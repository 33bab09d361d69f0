//! Trees as values: expressions and nests as maps and lists of scripts, and back.
//!
//! [`open`] makes maps, [`close`] reads them. Both match every kind of node, so that a new kind
//! cannot be forgotten. [`kinds`] has the words that both use.

mod close;
mod kinds;
mod open;
mod place;

pub use close::{Closed, closed};
pub use open::{of_expr, of_nest, opened};
