//! The cache of shared objects: named by what they were made from, sealed by what they are.

use super::control::Control;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The name of what `source` compiles to with these flags, this compiler and, because the flags
/// say "native", this processor.
pub(super) fn key(source: &str, flags: &[String], compiler: &[Vec<u8>]) -> String {
    let mut hasher = blake3::Hasher::new();
    let processor = processor();
    let fields = flags.iter().map(String::as_bytes);
    let fields = fields.chain(compiler.iter().map(Vec::as_slice));
    for field in fields.chain([source.as_bytes(), processor.as_bytes()]) {
        // The length first, so that no two lists of fields are the same bytes.
        hasher.update(&(field.len() as u64).to_le_bytes());
        hasher.update(field);
    }
    hasher.finalize().to_hex().to_string()
}

fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let first = info.split("\n\n").next().unwrap_or_default();
    let telling = [
        "vendor_id",
        "cpu family",
        "model",
        "stepping",
        "flags",
        "Features",
        "CPU ",
    ];
    let lines = first.lines();
    let lines = lines.filter(|line| telling.iter().any(|key| line.starts_with(key)));
    lines.collect::<Vec<_>>().join("\n")
}

/// Where shared objects are kept; `None` where the user has no cache directory.
pub(super) fn directory(control: &Control) -> Option<PathBuf> {
    let chosen = || std::env::var_os("TEML_CACHE_DIR").filter(|dir| !dir.is_empty());
    let place = control.cache_dir.clone();
    let place = place.or_else(|| chosen().map(PathBuf::from));
    let place = place.or_else(|| dirs::cache_dir().map(|dir| dir.join("teml")))?;
    // Absolute, because a worker or the compiler may run elsewhere.
    std::path::absolute(place).ok()
}

/// Appends a hash of the file to it (what follows a shared object's last section is ignored when
/// it is loaded), so that a file that a full disk or a power failure cut short is not used.
pub(super) fn seal(object: &Path) -> io::Result<()> {
    let hash = blake3::hash(&std::fs::read(object)?);
    let mut file = std::fs::OpenOptions::new().append(true).open(object)?;
    file.write_all(hash.as_bytes())
}

/// Whether the cache holds this file, whole.
pub(super) fn is_whole(object: &Path) -> bool {
    let Ok(bytes) = std::fs::read(object) else {
        return false;
    };
    let Some((body, hash)) = bytes.split_last_chunk::<{ blake3::OUT_LEN }>() else {
        return false;
    };
    blake3::hash(body).as_bytes() == hash
}
