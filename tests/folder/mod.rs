//! The scripts in a folder.

use std::path::{Path, PathBuf};

/// The scripts in a folder, in order.
pub fn scripts(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_script = |path: &PathBuf| path.extension().is_some_and(|e| e == "rhai");
    let mut scripts: Vec<PathBuf> = paths.filter(is_script).collect();
    scripts.sort();
    scripts
}
