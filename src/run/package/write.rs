//! A package in a directory: its texts, and its library in binary form.

use super::{Package, python};
use crate::runtime::{Control, Library, Writer};
use std::io;
use std::path::{Path, PathBuf};

/// Why there is no package.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {error}", .path.display())]
pub struct NoPackage {
    pub path: PathBuf,
    pub error: io::Error,
}

/// Writes a package and its library to a directory through `writer`. Returns the files, relative to
/// the directory.
///
/// # Errors
/// [`NoPackage`]; some files may be missing then. Nothing is written if teml did not make one of
/// the files.
pub fn write(
    package: &Package,
    library: Library,
    directory: &Path,
    writer: &Writer,
    control: &Control,
) -> Result<Vec<String>, NoPackage> {
    let name = &package.name;
    let texts = package.files().into_iter();
    let mut files: Vec<(String, Vec<u8>)> = texts
        .map(|file| (file.path, file.text.into_bytes()))
        .collect();
    let archive = library.archive(control);
    files.push((format!("lib/lib{name}.so"), library.shared.clone()));
    files.push((format!("python/{name}/lib{name}.so"), library.shared));
    files.extend(archive.map(|bytes| (format!("lib/lib{name}.a"), bytes)));
    write_files(&files, directory, writer)?;
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

/// Writes files, given by paths relative to a directory, through `writer`.
///
/// # Errors
/// As [`write()`].
pub fn write_files(
    files: &[(String, Vec<u8>)],
    directory: &Path,
    writer: &Writer,
) -> Result<(), NoPackage> {
    for (path, _) in files {
        let path = directory.join(path);
        let checked = writer.check(&path);
        checked.map_err(|error| NoPackage { path, error })?;
    }
    for (path, contents) in files {
        let path = directory.join(path);
        let made = match path.parent() {
            Some(parent) => std::fs::create_dir_all(parent),
            None => Ok(()),
        };
        let written = made.and_then(|()| writer.write(&path, contents));
        written.map_err(|error| NoPackage { path, error })?;
    }
    Ok(())
}

/// Writes the Python module of a package with its library, and nothing else, as a new directory.
/// It appears whole or not at all; another process may have written it in the meantime.
///
/// # Errors
/// The error of the system.
pub fn write_module(package: &Package, library: &Library, directory: &Path) -> io::Result<()> {
    let name = &package.name;
    let above = directory.parent().unwrap_or(directory);
    std::fs::create_dir_all(above)?;
    let made = tempfile::tempdir_in(above)?;
    let module = made.path().join(name);
    std::fs::create_dir(&module)?;
    std::fs::write(module.join("__init__.py"), python::module(package))?;
    std::fs::write(module.join(format!("lib{name}.so")), &library.shared)?;
    match std::fs::rename(made.path(), directory) {
        Ok(()) => drop(made.keep()),
        Err(_) if directory.join(name).is_dir() => {}
        Err(error) => return Err(error),
    }
    Ok(())
}
