//! The baselines: Pluto's schedules of a kernel.

use super::results::Absent;
use super::task::Task;
use crate::script::Session;
use crate::trial::{Comparison, Variant};
use crate::verbs::Size;

/// The note on the columns of these baselines.
pub(super) const NOTE: &str = "pluto, pluto_c and pluto_best are teml's implementation of Pluto's \
    algorithm. Below the schedule, pluto has teml's code generator, and pluto_c plain loops with \
    the pragmas that Pluto emits, which the C compiler turns into vectors as it does with Pluto's \
    own C. pluto_best is the fastest of both with other options.";

/// The labels of the baselines.
pub(super) const NAMES: [&str; 3] = ["pluto", "pluto_c", "pluto_best"];

/// A name, a function of the library, and its options.
type Baseline = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

/// The baselines, each with the function that takes the untransformed nests of a kernel and returns
/// a nest, and what it takes beside them. The last one times many, which takes too long where times
/// mean nothing.
fn baselines(size: Size) -> &'static [Baseline] {
    const ALL: [Baseline; 3] = [
        (NAMES[0], "pluto", &[]),
        (NAMES[1], "pluto", &[("code", "pluto")]),
        (NAMES[2], "pluto_best", &[]),
    ];
    match size {
        Size::Bench | Size::Any => &ALL,
        Size::Mini => &ALL[..2],
    }
}

/// Inserts the baselines after the first variant of a comparison, unless the script has them
/// already.
pub(super) fn with(
    mut comparison: Comparison,
    size: Size,
    session: &mut Session,
    say: &dyn Fn(&str),
) -> Task {
    let (mut absent, mut notes) = (Vec::new(), Vec::new());
    let first = comparison.variants.first().cloned();
    let mut place = 1;
    for (name, function, options) in baselines(size).iter().copied() {
        if comparison.variants.iter().any(|c| c.label == name) {
            continue;
        }
        say(name);
        let nests = first.as_ref().map_or(&[][..], |first| &first.nests);
        let why = match session.make(function, nests, options) {
            Ok(Some(nest)) => {
                let own = nest.label().filter(|own| own.as_str() != name);
                notes.extend(own.map(|own| format!("{name}: {own}")));
                let (label, nests) = (name.to_owned(), vec![nest]);
                comparison.variants.insert(place, Variant { label, nests });
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
        comparison,
        absent,
        notes,
    }
}
