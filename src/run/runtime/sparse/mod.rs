//! Sparse tensors in files, and random ones, as the arrays that formats consist of.
//!
//! Each file becomes a list of entries ([`Coordinates`]) in the order of their places, and each format is
//! made from that list. Entries at one place are added up, as SciPy does. Files are not
//! trusted: each index is compared with the extents before anything uses it.

mod arranged;
mod coordinates;
mod load;
mod pattern;
mod scipy;
mod text;

pub use arranged::{Arranged, Layout};
pub use coordinates::Coordinates;
pub use pattern::pattern;
