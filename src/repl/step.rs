//! The line below each step: whether the nest is legal, what changed, and how fast it should be.

use super::paint::Paint;
use crate::ir::{Loop, Mode, Nest, Step};
use crate::legality::{self, Reductions, Verdict};
use crate::report;
use crate::verbs::Forecast;
use std::sync::Arc;
use std::time::Duration;

/// The budget of the proof for this line, in operations of the polyhedral library: imperceptible.
const OPERATIONS: u64 = 1_000_000;

/// More loops than this are counted, not named.
const NAMED: usize = 8;

/// The line about a nest that a line of the session has made; `before` are the nests that were
/// there.
pub fn line(
    name: &str,
    nest: &Nest,
    before: &[(String, Nest)],
    reductions: Reductions,
    forecast: &Forecast,
    paint: Paint,
) -> String {
    let taken = match base(nest, before) {
        Some((of, 0)) => format!("; the same steps as {of}"),
        Some((of, 1)) => format!("; 1 step after {of}"),
        Some((of, count)) => format!("; {count} steps after {of}"),
        None => String::new(),
    };
    let nests = std::slice::from_ref(nest);
    let verdict = legality::within(OPERATIONS, || legality::check(nests, reductions));
    let expected = match verdict {
        Some(Verdict::Illegal(_)) => String::new(),
        _ => expected(nests, forecast),
    };
    let (verdict, loops) = (shown(verdict, paint), paint.faint(&loops(nest)));
    format!(
        "{name}: {verdict}{taken}; {loops}{}",
        paint.faint(&expected)
    )
}

/// The prediction of the cost model, such as `; predicted 5.90 ms, 81 % of the limit`.
fn expected(nests: &[Nest], forecast: &Forecast) -> String {
    let Some(seconds) = forecast.seconds(nests) else {
        return String::new();
    };
    let time = report::time(Duration::from_secs_f64(seconds));
    match forecast.share(nests, seconds) {
        Some(share) => format!("; predicted {time}, {}", report::of_limit(share)),
        None => format!("; predicted {time}"),
    }
}

/// Whether a nest is legal, in a few words.
fn shown(verdict: Option<Verdict>, paint: Paint) -> String {
    match verdict {
        Some(Verdict::Legal) => paint.good("legal"),
        Some(Verdict::Illegal(violation)) => {
            format!("{}, {} (:check)", paint.bad("illegal"), violation.summary())
        }
        Some(Verdict::Undecided(_)) => "undecided (:check)".to_owned(),
        None => "not proved".to_owned(),
    }
}

/// The nest whose steps are the beginning of this one's, and how many are added; the one with the
/// most steps.
fn base<'a>(nest: &Nest, before: &'a [(String, Nest)]) -> Option<(&'a str, usize)> {
    let steps = nest.path().steps();
    let same = |(a, b): (&Arc<Step>, &Arc<Step>)| Arc::ptr_eq(a, b) || a.same(b);
    let is_start = |other: &Nest| {
        let own = other.path().steps();
        !own.is_empty() && own.len() <= steps.len() && own.iter().zip(&steps).all(same)
    };
    let found = before.iter().filter(|(_, other)| is_start(other));
    let (name, other) = found.max_by_key(|(_, other)| other.path().len())?;
    // A call of the library is one step.
    let (all, own) = (nest.path().entries().len(), other.path().entries().len());
    let added = usize::from(steps.len() > other.path().len());
    Some((name, all.saturating_sub(own).max(added)))
}

/// `loops i (parallel), k, j (vector)`.
fn loops(nest: &Nest) -> String {
    let loops = nest.loops();
    let parallel = loops.iter().filter(|(_, l)| l.is_parallel()).count();
    let vector = loops.iter().filter(|(_, l)| l.is_vector()).count();
    if loops.len() > NAMED {
        return format!(
            "{} loops, {parallel} parallel, {vector} vector",
            loops.len()
        );
    }
    let shown = |l: &Loop| match l.mode {
        Mode::ParallelVector { .. } => format!("{} (parallel vector)", l.name),
        Mode::Parallel { .. } => format!("{} (parallel)", l.name),
        Mode::Vector { .. } => format!("{} (vector)", l.name),
        Mode::Bound { axis } => format!("{} ({axis})", l.name),
        Mode::Serial => l.name.to_string(),
    };
    let names: Vec<String> = loops.iter().map(|(_, l)| shown(l)).collect();
    match names.len() {
        0 => "no loops".to_owned(),
        1 => format!("loop {}", names[0]),
        _ => format!("loops {}", names.join(", ")),
    }
}
