//! Transformations of loop nests: TeML Fig. 9 and §3.3.3.

pub mod annotate;
pub mod at;
pub mod build;
pub mod distribute;
pub mod fuse;
pub mod fuse_inner;
pub mod fuse_outer;
pub mod interchange;
pub mod mode;
mod parts;
pub mod peel;
mod permute;
pub mod place_init;
pub mod prefetch;
pub mod reorder;
mod resolve;
pub mod reverse;
pub mod shift;
pub mod skew;
pub mod stripmine;
pub mod unroll;
pub mod unroll_and_jam;
