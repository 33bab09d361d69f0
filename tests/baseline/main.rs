//! The baseline finds what Pluto finds: the rows of TeML's Table 2, and the hyperplanes that are
//! published for classic kernels.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod best;
mod by_hand;
#[path = "../classics/mod.rs"]
mod classics;
#[path = "../dialog/mod.rs"]
mod dialog;
mod diamonds;
mod hyperplanes;
mod options;
mod polybench;
mod rows;
mod scattering;
mod table;

use dialog::{nest, shown, string};
