//! The baselines: what Pluto's algorithm makes of a kernel.

use super::results::Absent;
use crate::baseline::{Options, pluto};
use crate::trial::{Candidate, Contest};

const NAME: &str = "pluto";

/// Puts what Pluto's algorithm makes of the first variant behind it, unless the script has that
/// already; why there is none.
pub(super) fn add(contest: &mut Contest) -> Option<Absent> {
    let candidates = &mut contest.candidates;
    if candidates.iter().any(|c| c.label == NAME) {
        return None;
    }
    match pluto(&candidates.first()?.nests, &Options::default()) {
        Ok(nest) => {
            let (label, nests) = (NAME.to_owned(), vec![nest]);
            candidates.insert(1, Candidate { label, nests });
            None
        }
        Err(error) => Some(Absent {
            name: NAME.to_owned(),
            why: error.to_string(),
        }),
    }
}
