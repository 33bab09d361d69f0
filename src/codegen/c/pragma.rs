//! The OpenMP pragmas of loops.

use super::printer::Printer;
use super::shares::shares;
use crate::ir::{Affine, Loop, Schedule, ceil_div};
use crate::kernel::Header;
use crate::plan::tree::{Entry, Loop as PlannedLoop, Mode};
use std::fmt::Write;

impl Printer<'_> {
    /// The pragma of a parallel or vector loop.
    pub(super) fn pragma(&self, planned: &PlannedLoop) -> Option<String> {
        let l = &*planned.of;
        let (entry, simd) = match planned.mode {
            Mode::Parallel { simd, .. } | Mode::Collapsed { simd } if self.on_one_thread => {
                (None, simd)
            }
            Mode::Parallel { entry, simd } => (Some(entry), simd),
            Mode::Collapsed { simd } => (None, simd),
            Mode::Simd => (None, true),
            Mode::Serial | Mode::Rolled | Mode::Unrolled(_) | Mode::Vector(_) => (None, false),
        };
        let mut text = "#pragma omp".to_owned();
        text.push_str(match entry {
            Some(Entry::Call) => " parallel for",
            Some(Entry::Join | Entry::JoinWithoutWaiting) => " for",
            None => "",
        });
        if simd {
            text.push_str(" simd");
        }
        if let Some(lanes) = l.lanes().filter(|_| simd) {
            let _ = write!(text, " safelen({lanes}) simdlen({lanes})");
        }
        if !self.on_one_thread {
            text.push_str(&sharing(l));
        }
        if entry == Some(Entry::JoinWithoutWaiting) {
            text.push_str(" nowait");
        }
        (entry.is_some() || simd).then_some(text)
    }

    /// The condition under which threads run a parallel loop. `None` if they always do. Otherwise
    /// there may be too little to do: few iterations, or little work.
    pub(super) fn threshold(&mut self, l: &Loop) -> Option<String> {
        let sharing = l.sharing()?;
        let mut tests = Vec::new();
        if let Some(threshold) = sharing.threshold {
            tests.push(format!("{} >= {threshold}", self.iterations(l)));
        }
        if let (Some(work), Some(all)) = (sharing.work, &self.work) {
            tests.push(format!("{all} >= {work}"));
            tests.extend(sized_extent(l).map(|extent| format!("{extent} > 1")));
            // A loop over what whole tiles leave may be empty.
            let inside = std::iter::successors(only(l), |l| only(l));
            tests.extend(
                inside
                    .filter_map(sized_extent)
                    .map(|extent| format!("{extent} > 0")),
            );
        }
        (!tests.is_empty()).then(|| tests.join(" && "))
    }

    /// Prints statements for threads, and for one thread where a condition fails. The clause `if` of
    /// OpenMP would start a team of one thread, which takes as long as a small kernel.
    pub(super) fn on_threads_if(
        &mut self,
        condition: Option<String>,
        print: &mut dyn FnMut(&mut Self),
    ) {
        let Some(condition) = condition.filter(|_| !self.on_one_thread) else {
            return print(self);
        };
        self.line(&format!("if ({condition}) {{"));
        self.depth += 1;
        print(self);
        self.depth -= 1;
        self.line("} else {");
        self.depth += 1;
        self.on_one_thread = true;
        print(self);
        self.on_one_thread = false;
        self.depth -= 1;
        self.line("}");
    }

    /// The number of iterations that threads share in a parallel loop.
    fn iterations(&mut self, l: &Loop) -> String {
        let band = std::iter::successors(Some(l), |l| Some(&**l.body.first()?.as_loop()?));
        let (mut constant, mut factors) = (1i64, Vec::new());
        for l in band.take(l.collapse()) {
            let step = l.range.step;
            if let Some((low, high)) = l.range.as_constant() {
                let extent = high.saturating_sub(low).max(0);
                let count = ceil_div(extent, step);
                constant = constant.saturating_mul(count);
                continue;
            }
            let extent = self.extent(l);
            factors.push(match step {
                1 => extent,
                _ => format!("({extent} + {}) / {step}", step - 1),
            });
        }
        match factors.as_slice() {
            [] => constant.to_string(),
            [one] if constant == 1 => one.clone(),
            several => {
                self.values.headers.insert(Header::Integers);
                format!("INT64_C({constant}) * ({})", several.join(") * ("))
            }
        }
    }

    /// The distance between the bounds of a loop.
    fn extent(&mut self, l: &Loop) -> String {
        if let ([lower], [upper]) = (l.range.lower.as_slice(), l.range.upper.as_slice()) {
            return upper.minus(lower).to_string();
        }
        let upper = self.bound("min", &l.range.upper);
        let lower = self.bound("max", &l.range.lower);
        match l.range.lower.len() {
            1 => format!("{upper} - ({lower})"),
            _ => format!("{upper} - {lower}"),
        }
    }
}

/// The largest chunk in a pragma: libgomp multiplies it by the number of threads, and the product
/// must not overflow.
const MAX_CHUNK: i64 = i32::MAX as i64;

/// How threads share a parallel loop, as clauses of its pragma.
pub(super) fn sharing(l: &Loop) -> String {
    let mut text = String::new();
    let Some(sharing) = l.sharing() else {
        return text;
    };
    if sharing.collapse > 1 {
        let _ = write!(text, " collapse({})", sharing.collapse);
    }
    // Without the places where rows begin, equal numbers of rows are the best that is known.
    let schedule = match sharing.schedule {
        Some(Schedule::Balanced) if shares(l).is_some() => {
            text.push_str(" schedule(static, 1)");
            return text;
        }
        Some(Schedule::Balanced) => Some(Schedule::Static),
        other => other,
    };
    if let Some(schedule) = schedule {
        let chunk = sharing.chunk.map(|n| format!(", {}", n.min(MAX_CHUNK)));
        let _ = write!(
            text,
            " schedule({}{})",
            schedule.word(),
            chunk.unwrap_or_default()
        );
    }
    text
}

/// The loop that is all of another one's body.
fn only(l: &Loop) -> Option<&Loop> {
    match l.body.as_slice() {
        [tree] => tree.as_loop().map(|inner| &**inner),
        _ => None,
    }
}

/// The number of iterations of a loop, if sizes alone decide it.
fn sized_extent(l: &Loop) -> Option<Affine> {
    let ([lower], [upper]) = (l.range.lower.as_slice(), l.range.upper.as_slice()) else {
        return None;
    };
    let extent = upper.minus(lower);
    (l.range.step == 1 && extent.is_fixed() && extent.as_constant().is_none()).then_some(extent)
}
