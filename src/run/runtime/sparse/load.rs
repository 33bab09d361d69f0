//! Sparse tensors in files.

use super::coordinates::Coordinates;
use super::{scipy, text};
use crate::runtime::RuntimeError;
use std::path::Path;

impl Coordinates {
    /// Loads a file: SciPy's `.npz` (csr, csc or coo), Matrix Market's `.mtx`, or FROSTT's `.tns`.
    ///
    /// # Errors
    /// [`RuntimeError::NoArray`], with the line where a text is wrong.
    pub fn load(file: &Path) -> Result<Coordinates, RuntimeError> {
        let extension = file.extension().and_then(|e| e.to_str());
        let read = match extension {
            Some("npz") => scipy::read(file),
            Some("mtx") => text::matrix_market(file),
            Some("tns") => text::frostt(file),
            Some("gz") => Err("it is compressed: `gunzip` makes a text of it".to_owned()),
            _ => Err("sparse tensors are in files that end with .npz, .mtx or .tns".to_owned()),
        };
        read.map_err(|reason| RuntimeError::NoArray {
            file: file.to_owned(),
            reason,
        })
    }
}
