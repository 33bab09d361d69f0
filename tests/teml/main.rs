//! TeML's equations and figures, the refusals, and the canonical text.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod domains;
mod expressions;
mod figures;
mod functions;
mod fusion;
mod loops;
mod random_text;
mod refusals;
mod refused_expressions;
mod refused_nests;
mod refused_operands;
mod script;
mod text;
mod trees;
