//! Transformations of loop nests: TeML Fig. 9 and §3.3.3.

pub mod at;
pub mod build;
pub mod fuse_inner;
pub mod fuse_outer;
pub mod interchange;
pub mod mode;
mod resolve;
pub mod stripmine;
pub mod unroll;
