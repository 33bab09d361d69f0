//! The text of scripts: tokens, what is added before Rhai reads them, and where everything is.

pub mod declarations;
pub mod dropped;
pub mod lex;
pub mod lists;
pub mod operands;
pub mod places;
pub mod rewrite;
