//! Keeps measurements in files of the cache directory, and repeats them if other programs disturbed
//! them.

use crate::runtime::tolerances::{MACHINE_DISTURBED_SHARE, MACHINE_TRIES, MACHINE_UNEVEN_RATIO};
use crate::runtime::{RuntimeError, Timing};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// A measured property of the machine.
pub(super) trait Probed: Clone + Serialize + DeserializeOwned {
    /// Whether no other program disturbed the measurement.
    fn is_quiet(&self) -> bool;

    /// Whether it shows a faster machine than `other`.
    fn is_faster(&self, other: &Self) -> bool;
}

/// Whether no other program disturbed the measurements.
pub(super) fn are_quiet(timings: &[Timing]) -> bool {
    let is_even = |t: &Timing| t.median <= t.min.mul_f64(MACHINE_UNEVEN_RATIO);
    let is_quiet = |t: &Timing| t.disturbed <= MACHINE_DISTURBED_SHARE && is_even(t);
    timings.iter().all(is_quiet)
}

/// The remembered measurement, or a new one if there is none or it was disturbed. A disturbed one
/// is repeated.
///
/// # Errors
/// Those of `probe`.
pub(super) fn measured<T: Probed>(
    file: Option<&Path>,
    probe: impl Fn() -> Result<Option<T>, RuntimeError>,
) -> Result<Option<T>, RuntimeError> {
    let mut known = recall::<T>(file);
    for _ in 0..MACHINE_TRIES {
        if known.as_ref().is_some_and(T::is_quiet) {
            break;
        }
        let Some(now) = probe()? else {
            break;
        };
        // Other programs make a machine slower, never faster.
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

/// The contents of a file, unless the measurement was disturbed.
pub(super) fn known<T: Probed>(file: Option<&Path>) -> Option<T> {
    recall(file).filter(T::is_quiet)
}

/// The contents of a file; `None` if it is missing or another version wrote it.
pub(super) fn recall<T: DeserializeOwned>(file: Option<&Path>) -> Option<T> {
    let text = std::fs::read_to_string(file?).ok()?;
    serde_json::from_str(&text).ok()
}

/// Writes a file. If that fails, the property is measured again next time.
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
        // A disturbed measurement is not used, and an undisturbed one replaces it.
        assert_eq!(known::<Rate>(Some(&file)), None);
        assert_eq!(probe(&[Rate(4, true)]), Some(Rate(4, true)));
        assert_eq!(known(Some(&file)), Some(Rate(4, true)));
        assert_eq!(probe(&busy), Some(Rate(4, true)));
        assert_eq!(probes.get(), 0);
    }
}
