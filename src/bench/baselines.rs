//! The baselines: what Pluto's algorithm makes of a kernel.

use super::Task;
use super::results::Absent;
use crate::script::{Session, Size};
use crate::trial::{Contest, Variant};

/// What readers of a column of these baselines have to know.
pub(super) const NOTE: &str = "pluto and pluto_best are teml's implementation of Pluto's algorithm. \
    On partially fused bands (2mm, 3mm) they are slower than Pluto's own code: only the shared \
    loops are tiled together, and the loops inside are ordered for each statement alone. They are \
    also slower on fused statements with different ranges (deriche), whose guards stay in the \
    innermost loops.";

/// The names of the baselines.
pub(super) const NAMES: [&str; 2] = ["pluto", "pluto_best"];

/// Functions that take the untransformed nests of a kernel and return a nest. The second one times
/// many, which takes too long where times mean nothing.
fn baselines(size: Size) -> &'static [&'static str] {
    match size {
        Size::Bench => &NAMES,
        Size::Mini => &NAMES[..1],
    }
}

/// A contest with the baselines behind its first variant, unless the script has them already.
pub(super) fn with(
    mut contest: Contest,
    size: Size,
    session: &mut Session,
    say: &dyn Fn(&str),
) -> Task {
    let (mut absent, mut notes) = (Vec::new(), Vec::new());
    let first = contest.variants.first().cloned();
    let mut place = 1;
    for name in baselines(size).iter().copied() {
        if contest.variants.iter().any(|c| c.label == name) {
            continue;
        }
        say(name);
        let nests = first.as_ref().map_or(&[][..], |first| &first.nests);
        let why = match session.make(name, nests) {
            Ok(Some(nest)) => {
                let own = nest.label().filter(|own| own.as_str() != name);
                notes.extend(own.map(|own| format!("{name}: {own}")));
                let (label, nests) = (name.to_owned(), vec![nest]);
                contest.variants.insert(place, Variant { label, nests });
                place += 1;
                continue;
            }
            Ok(None) => "it makes no nest".to_owned(),
            Err(error) => error.to_string(),
        };
        let name = name.to_owned();
        absent.push(Absent { name, why });
    }
    Task {
        contest,
        absent,
        notes,
    }
}
