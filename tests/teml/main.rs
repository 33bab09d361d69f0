//! TeML's equations and figures, the refusals, and the canonical text.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod digits;
mod domains;
mod expressions;
mod figures;
mod functions;
mod fusion;
mod hints;
mod locals;
mod loops;
mod parts;
mod random_text;
mod rearranged;
mod refusals;
mod refused_expressions;
mod refused_hints;
mod refused_inits;
mod refused_loops;
mod refused_nests;
mod refused_operands;
mod script;
mod text;
mod trees;
mod validation;
