//! What was measured, kept in files of the cache directory, and measured again where others used the
//! machine meanwhile.

use crate::runtime::{RuntimeError, Timing};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// How often what others disturb is measured.
pub(super) const TRIES: usize = 3;

/// A larger share of disturbed runs than this makes a measurement worth repeating.
const DISTURBED: f64 = 0.5;

/// Where half of the runs take longer than the shortest one by more than this factor, others use the
/// cores. [`Timing::disturbed`] sees that on the core of the first thread alone.
const UNEVEN: u32 = 2;

/// What a measurement tells of the machine.
pub(super) trait Probed: Clone + Serialize + DeserializeOwned {
    /// Whether others left the machine alone.
    fn is_quiet(&self) -> bool;

    /// Whether it tells of a faster machine.
    fn is_faster(&self, other: &Self) -> bool;
}

/// Whether others left the machine alone during measurements.
pub(super) fn are_quiet(timings: &[Timing]) -> bool {
    let is_quiet = |t: &Timing| t.disturbed <= DISTURBED && t.median <= UNEVEN * t.min;
    timings.iter().all(is_quiet)
}

/// What a file remembers, or what is measured now: again where others disturbed it, now or then.
///
/// # Errors
/// Those of `probe`.
pub(super) fn measured<T: Probed>(
    file: Option<&Path>,
    probe: impl Fn() -> Result<Option<T>, RuntimeError>,
) -> Result<Option<T>, RuntimeError> {
    let mut known = recall::<T>(file);
    for _ in 0..TRIES {
        if known.as_ref().is_some_and(T::is_quiet) {
            break;
        }
        let Some(now) = probe()? else {
            break;
        };
        // Whatever else a machine does makes it slower, never faster.
        let is_better = |before: &T| {
            if now.is_quiet() == before.is_quiet() {
                now.is_faster(before)
            } else {
                now.is_quiet()
            }
        };
        if known.as_ref().is_none_or(is_better) {
            remember(file, &now);
            known = Some(now);
        }
    }
    Ok(known)
}

/// What a file remembers, unless others disturbed it.
pub(super) fn known<T: Probed>(file: Option<&Path>) -> Option<T> {
    recall(file).filter(T::is_quiet)
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use std::cell::Cell;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Rate(u32, bool);

    impl Probed for Rate {
        fn is_quiet(&self) -> bool {
            self.1
        }

        fn is_faster(&self, other: &Rate) -> bool {
            self.0 > other.0
        }
    }

    #[test]
    fn what_others_disturbed_is_measured_again() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("rate.json");
        let probes = Cell::new(0);
        let probe = |found: &[Rate]| {
            probes.set(0);
            let next = || {
                probes.set(probes.get() + 1);
                Ok(found.get(probes.get() - 1).cloned())
            };
            measured(Some(&file), next).unwrap()
        };
        let busy = [
            Rate(2, false),
            Rate(5, false),
            Rate(3, false),
            Rate(9, true),
        ];
        assert_eq!(probe(&busy), Some(Rate(5, false)));
        // Nothing is taken from that, and what nobody disturbed counts more.
        assert_eq!(known::<Rate>(Some(&file)), None);
        assert_eq!(probe(&[Rate(4, true)]), Some(Rate(4, true)));
        assert_eq!(known(Some(&file)), Some(Rate(4, true)));
        assert_eq!(probe(&busy), Some(Rate(4, true)));
        assert_eq!(probes.get(), 0);
    }
}
