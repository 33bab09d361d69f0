//! Checks that only this user can have written the directories and files of the cache. Others are
//! neither read nor loaded.

use super::sys;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Mode bits: group members, and other users, may write.
const GROUP: u32 = 0o020;
const OTHERS: u32 = 0o002;

/// Why others may write to a directory; `None` if only this user may. A missing directory is made,
/// for this user alone.
pub(super) fn directory(place: &Path) -> Option<String> {
    let mut ours = std::fs::DirBuilder::new();
    // If it cannot be made, later writes report why.
    let _ = ours.recursive(true).mode(0o700).create(place);
    doubt(&std::fs::metadata(place).ok()?, GROUP | OTHERS)
}

/// Whether it is a regular file that nobody else can have written. Members of our group may if it
/// is `shared`: files of users with groups of their own are made so.
pub(super) fn is_ours(file: &Path, shared: bool) -> bool {
    let bits = if shared { OTHERS } else { GROUP | OTHERS };
    let data = std::fs::metadata(file);
    data.is_ok_and(|data| data.is_file() && doubt(&data, bits).is_none())
}

/// Whether it is a directory to which nobody else can write, except members of our group.
pub(super) fn is_our_directory(place: &Path) -> bool {
    let data = std::fs::symlink_metadata(place);
    data.is_ok_and(|data| data.is_dir() && doubt(&data, OTHERS).is_none())
}

/// Opens a file that only this user can have written. Anything else, such as a pipe, is an error at
/// once.
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

/// Why others may have written it; `None` if they cannot.
fn doubt(data: &Metadata, bits: u32) -> Option<String> {
    if data.uid() != sys::user() {
        return Some("belongs to another user".to_owned());
    }
    let mode = data.mode() & 0o7777;
    (mode & bits != 0).then(|| format!("can be written by others (mode {mode:03o})"))
}
