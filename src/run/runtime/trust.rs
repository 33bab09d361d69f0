//! Which directories and files of the cache are ours alone: what others could have written is neither
//! read nor loaded.

use super::sys;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Mode bits: members of the group, and others, may write.
const GROUP: u32 = 0o020;
const OTHERS: u32 = 0o002;

/// Why a directory is not ours alone, if it is not. One that is missing is made, for us alone.
pub(super) fn directory(place: &Path) -> Option<String> {
    let mut ours = std::fs::DirBuilder::new();
    // Where it cannot be made, whoever writes there says why.
    let _ = ours.recursive(true).mode(0o700).create(place);
    doubt(&std::fs::metadata(place).ok()?, GROUP | OTHERS)
}

/// Whether a file is a file that nobody else can have written. Others in our group may, where it is
/// `shared`: files of people whose groups are their own are made so.
pub(super) fn is_ours(file: &Path, shared: bool) -> bool {
    let bits = if shared { OTHERS } else { GROUP | OTHERS };
    let data = std::fs::metadata(file);
    data.is_ok_and(|data| data.is_file() && doubt(&data, bits).is_none())
}

/// Opens a file that is ours alone. Anything else, such as a pipe, is an error at once.
pub(super) fn open(place: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(place)?;
    let data = file.metadata()?;
    if data.is_file() && doubt(&data, GROUP | OTHERS).is_none() {
        Ok(file)
    } else {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

/// Why others may have written it, if they may.
fn doubt(data: &Metadata, bits: u32) -> Option<String> {
    if data.uid() != sys::user() {
        return Some("belongs to another user".to_owned());
    }
    let mode = data.mode() & 0o7777;
    (mode & bits != 0).then(|| format!("can be written by others (mode {mode:03o})"))
}
