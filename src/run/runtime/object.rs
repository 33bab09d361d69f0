//! Checks whether a compiler's output is a shared object, as far as its header shows.

use std::io;
use std::path::Path;

/// Why a file cannot be a shared object; `None` if it can.
pub(super) fn doubt(object: &Path) -> Option<String> {
    let bytes = match std::fs::read(object) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Some("it wrote no shared object".to_owned());
        }
        Err(error) => return Some(format!("its shared object cannot be read: {error}")),
    };
    (!is_whole(&bytes)).then(|| "it wrote something else than a shared object".to_owned())
}

/// Whether bytes are an ELF file with all of its sections; the sections come last.
fn is_whole(bytes: &[u8]) -> bool {
    let Some((head, _)) = bytes.split_first_chunk::<64>() else {
        return false;
    };
    if !head.starts_with(b"\x7fELF") {
        return false;
    }
    // 64 bits, little-endian; the loader judges other formats.
    if head[4..6] != [2, 1] {
        return true;
    }
    let number = |at: usize, bytes: usize| {
        let digits = head[at..at + bytes].iter().rev();
        digits.fold(0u64, |number, digit| number << 8 | u64::from(*digit))
    };
    let (sections, size, count) = (number(40, 8), number(58, 2), number(60, 2));
    sections.saturating_add(size * count) <= bytes.len() as u64
}
