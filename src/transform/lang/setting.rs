//! Values for the sizes and types that a text leaves open.

use crate::ir::Elem;
use std::collections::BTreeMap;

/// The caller's part of a program.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    /// Values for the names of extents.
    pub sizes: BTreeMap<String, u64>,
    /// The type of numbers and of elements whose type the text does not name.
    pub elem: Elem,
}
