//! TeML's equations and figures, the refusals, and the canonical text.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod buffers;
mod compositions;
mod consumers;
mod digits;
mod domains;
mod expressions;
mod figures;
mod functions;
mod fusion;
mod hints;
mod locals;
mod loops;
mod partials;
mod parts;
mod producers;
mod random_text;
mod rearranged;
mod refusals;
mod refused_consumers;
mod refused_expressions;
mod refused_hints;
mod refused_inits;
mod refused_loops;
mod refused_nests;
mod refused_operands;
mod refused_partitions;
mod refused_producers;
mod refused_ranges;
mod refused_reuses;
mod refused_slabs;
mod refused_texts;
mod script;
mod text;
mod threads;
mod trees;
mod validation;
