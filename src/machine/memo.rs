//! What was measured, kept in files of the cache directory.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// What a file holds; `None` where there is none, or one that another version wrote.
pub(super) fn recall<T: DeserializeOwned>(file: Option<&Path>) -> Option<T> {
    let text = std::fs::read_to_string(file?).ok()?;
    serde_json::from_str(&text).ok()
}

/// Writes a file. Where nothing can be kept, it is measured again next time.
pub(super) fn remember<T: Serialize>(file: Option<&Path>, value: &T) {
    if let Some(file) = file {
        let _ = write(file, value);
    }
}

/// Removes a file, if there is one.
pub(super) fn forget(file: Option<&Path>) {
    if let Some(file) = file {
        let _ = std::fs::remove_file(file);
    }
}

fn write<T: Serialize>(file: &Path, value: &T) -> std::io::Result<()> {
    let directory = file.parent().ok_or(std::io::ErrorKind::NotFound)?;
    std::fs::create_dir_all(directory)?;
    let new = tempfile::NamedTempFile::new_in(directory)?;
    serde_json::to_writer(&new, value)?;
    new.persist(file)?;
    Ok(())
}
