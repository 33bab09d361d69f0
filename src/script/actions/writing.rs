//! Where scripts may write: the user's own anywhere, imported modules where the user says so.
//!
//! Rights belong to texts. A closure is a place in a text, and keeps the rights of that text
//! wherever it is called.

use crate::binding::call::{Call, Rights, Which};
use crate::binding::param::Param;
use crate::messages::fail::Failure;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The path of a file or directory to be written, which an argument is.
///
/// # Errors
/// It is not a path, or the calling code may not write there.
pub(super) fn target(call: &Call, path: &Param<String>) -> Result<PathBuf, Failure> {
    allowed(call, path, PathBuf::from(call.arg(path)?))
}

/// A path in an argument, if something may be written there.
///
/// # Errors
/// The code that calls may not write there.
pub(super) fn allowed(call: &Call, which: impl Which, path: PathBuf) -> Result<PathBuf, Failure> {
    // Elsewhere, nothing is written.
    let writes = call.workbench().runner.runs();
    if !writes || call.rights() == Rights::User {
        return Ok(path);
    }
    let allowed = call.workbench().allow_write.clone();
    let working = PathBuf::from(".");
    let inside = |directory: &PathBuf| is_below(&path, directory).unwrap_or(false);
    if std::iter::once(&working).chain(&allowed).any(inside) {
        Ok(path)
    } else {
        let what = "lies outside the working directory, where imported modules may not write";
        let failure = call.fail(which, &format!("{what}: {}", path.display()));
        let directory = path.parent().unwrap_or(Path::new("/"));
        Err(failure.help(format!(
            "`--allow-write {}` allows it; the script itself may write anywhere",
            directory.display()
        )))
    }
}

/// Whether a file written to `path` ends up below a directory, with symbolic links resolved.
fn is_below(path: &Path, directory: &Path) -> io::Result<bool> {
    let directory = directory.canonicalize()?;
    let mut known = std::path::absolute(path)?;
    let mut new = PathBuf::new();
    // The end of the path need not exist yet.
    while known.symlink_metadata().is_err() {
        match (known.file_name(), known.parent()) {
            (Some(name), Some(parent)) => {
                new = Path::new(name).join(&new);
                known = parent.to_owned();
            }
            _ => return Ok(false),
        }
    }
    let goes_up = new.components().any(|part| part == Component::ParentDir);
    // A link that leads nowhere is an error.
    Ok(!goes_up && known.canonicalize()?.starts_with(directory))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_and_parents_lead_out() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        let outside = place.path().join("outside");
        std::fs::create_dir_all(root.join("sub")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        symlink(&outside, root.join("link")).unwrap();
        symlink(outside.join("nothing"), root.join("dangling")).unwrap();
        symlink(root.join("sub"), outside.join("back")).unwrap();
        let below = |path: &str| is_below(&place.path().join(path), &root).unwrap_or(false);
        for path in [
            "root",
            "root/a.c",
            "root/sub/a.c",
            "root/new/deep/a.c",
            "outside/back/a.c",
        ] {
            assert!(below(path), "{path}");
        }
        for path in [
            "a.c",
            "outside/a.c",
            "root/../a.c",
            "root/link/a.c",
            "root/dangling",
            "root/new/../../a.c",
            "rooted/a.c",
        ] {
            assert!(!below(path), "{path}");
        }
    }
}
