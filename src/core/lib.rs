//! Trees, what they mean, and what is proved of them. No I/O, no C, no script.

pub mod analysis;
pub mod interp;
pub mod ir;
pub mod legality;
pub mod lower;
pub mod poly;
pub mod target;
