//! Reports: tables of results and of next steps, and the progress of a run.

mod drawing;
mod machine;
mod moves;
mod progress;
mod reference;
mod share;
pub mod svg;
mod words;

pub use drawing::{drawing, drawing_page};
pub use machine::{device, machine};
pub use moves::moves;
pub use progress::Bar;
pub use reference::{Article, Chapter, reference};
pub use share::{is_doubtful, of_limit, percent_of_limit};
pub use svg::escaped;
pub use words::{notes_in_lines, words_in_lines};

use crate::legality::Proof;
use crate::trial::{Measured, Ranking};
use std::fmt::Write;
use std::time::Duration;

/// The growing table of a trial: one row per variant, in their order. A row is printed as soon as
/// it and all rows before it are known. Speed-ups are over the first variant.
pub struct Growing {
    widths: [usize; 7],
    /// Whether a column fits.
    shown: [bool; 7],
    flops: f64,
    labels: Vec<String>,
    /// Rows that wait for earlier ones.
    waiting: Vec<Measured>,
    /// Number of rows so far.
    count: usize,
    /// The median of the first variant.
    first: Option<Duration>,
}

/// The column heads, with minimum widths that fit the usual numbers.
const COLUMNS: [(&str, usize); 7] = [
    ("variant", 0),
    ("min", 8),
    ("median", 8),
    ("spread", 6),
    ("GFLOP/s", 7),
    ("speed-up", 8),
    ("error", 7),
];

/// The columns of a narrow table come from the front: variant, median, speed-up, GFLOP/s, error, min,
/// spread.
const BY_IMPORTANCE: [usize; 7] = [0, 2, 5, 4, 6, 1, 3];

/// So many columns are always shown.
const FEWEST: usize = 3;

impl Growing {
    /// An empty table for variants with these labels, whose computation takes `flops` operations. It
    /// is at most `room` characters wide, as far as its most important columns are.
    pub fn new<'a>(labels: impl IntoIterator<Item = &'a str>, flops: f64, room: usize) -> Growing {
        let labels: Vec<String> = labels.into_iter().map(str::to_owned).collect();
        let mut widths = COLUMNS.map(|(head, width)| width.max(head.chars().count()));
        let longest = labels.iter().map(|label| label.chars().count()).max();
        widths[0] = widths[0].max(longest.unwrap_or(0));
        let (mut shown, mut used) = ([false; 7], 1);
        for (rank, column) in BY_IMPORTANCE.into_iter().enumerate() {
            used += widths[column] + 3;
            shown[column] = rank < FEWEST || used <= room;
        }
        Growing {
            widths,
            shown,
            flops,
            labels,
            waiting: Vec::new(),
            count: 0,
            first: None,
        }
    }

    /// The lines that a row adds to the table: none while an earlier row is missing.
    pub fn add(&mut self, row: &Measured) -> Vec<String> {
        self.waiting.push(row.clone());
        let mut lines = Vec::new();
        while let Some(label) = self.labels.get(self.count) {
            let Some(next) = self.waiting.iter().position(|row| row.label == *label) else {
                break;
            };
            let row = self.waiting.remove(next);
            if self.count == 0 {
                lines.extend(self.head());
            }
            let first = *self.first.get_or_insert(row.timing.median);
            lines.push(self.line(&cells(&row, self.flops, first)));
            self.count += 1;
        }
        lines
    }

    fn head(&self) -> [String; 2] {
        let heads = COLUMNS.map(|(head, _)| head.to_owned());
        let widths = self.widths.iter().zip(self.shown);
        let widths = widths.filter(|(_, shown)| *shown);
        let dashes: Vec<String> = widths.map(|(width, _)| "-".repeat(width + 2)).collect();
        [self.line(&heads), format!("|{}|", dashes.join("|"))]
    }

    /// Names are aligned left, numbers right.
    fn line(&self, cells: &[String; 7]) -> String {
        let mut line = String::from("|");
        let columns = cells.iter().zip(self.widths).zip(self.shown).enumerate();
        for (k, ((cell, width), _)) in columns.filter(|(_, (_, shown))| *shown) {
            // Writing to a String cannot fail.
            let _ = match k {
                0 => write!(line, " {cell:<width$} |"),
                _ => write!(line, " {cell:>width$} |"),
            };
        }
        line
    }
}

/// The notes below a table.
pub fn footer(ranking: &Ranking) -> String {
    let rows: Vec<&Measured> = ranking.measured().collect();
    let runs = rows.iter().map(|r| r.timing.runs.len());
    let (fewest, most) = (runs.clone().min().unwrap_or(0), runs.max().unwrap_or(0));
    let runs = if fewest == most {
        fewest.to_string()
    } else {
        format!("{fewest} to {most}")
    };
    let plural = if ranking.threads == 1 { "" } else { "s" };
    let mut text = format!(
        "checked: {}\ntimed: {runs} interleaved runs each",
        ranking.evidence
    );
    let on_device = rows.iter().filter(|row| row.kernel.is_on_device());
    let on_device: Vec<&str> = on_device.map(|row| row.label.as_str()).collect();
    if on_device.is_empty() || on_device.len() < rows.len() {
        let _ = write!(
            text,
            ", {} thread{plural} in parallel loops",
            ranking.threads
        );
    }
    match on_device.len() {
        0 => {}
        all if all == rows.len() => text.push_str(", on the device, without copies"),
        _ => {
            let labels = on_device.join(", ");
            let _ = write!(text, "; {labels} on the device, without copies");
        }
    }
    let shares = rows
        .iter()
        .map(|row| (row.timing.runs.len(), row.timing.disturbed));
    if let Some(note) = disturbed(shares) {
        text.push('\n');
        text.push_str(&note);
    }
    for row in &rows {
        if let Some(cure) = &row.cure {
            let _ = write!(text, "\n{}: {cure}", row.label);
        }
    }
    text.push_str(&unproved(&rows));
    text
}

/// Report disturbed runs from this share on: a few are normal on any machine.
const OFTEN: f64 = 0.1;

/// A note if at least 10 % of the runs were disturbed by other processes. `variants` has the number
/// of runs of each variant and the disturbed share of them.
pub fn disturbed(variants: impl IntoIterator<Item = (usize, f64)>) -> Option<String> {
    let (mut all, mut disturbed) = (0.0, 0.0);
    for (runs, share) in variants {
        all += runs as f64;
        disturbed += runs as f64 * share;
    }
    let share = disturbed / f64::max(all, 1.0);
    let percent = 100.0 * share;
    (share >= OFTEN)
        .then(|| format!("disturbed: others used the same cores during {percent:.0} % of the runs"))
}

/// The variants without a proof, or with one that relies on laws, a line for each reason.
fn unproved(rows: &[&Measured]) -> String {
    let mut reasons: Vec<(&Proof, Vec<&str>)> = Vec::new();
    let proofs = rows.iter().map(|row| (&row.kernel.proof, row));
    for (proof, row) in proofs.filter(|(proof, _)| **proof != Proof::Proved) {
        match reasons.iter_mut().find(|(known, _)| *known == proof) {
            Some((_, labels)) => labels.push(&row.label),
            None => reasons.push((proof, vec![&row.label])),
        }
    }
    let lines = reasons
        .iter()
        .map(|(proof, labels)| format!("\n{}: {proof}", labels.join(", ")));
    lines.collect()
}

fn cells(row: &Measured, flops: f64, first: Duration) -> [String; 7] {
    let median = row.timing.median.as_secs_f64();
    let rate = if flops > 0.0 && median > 0.0 {
        format!("{:.2}", flops / median / 1e9)
    } else {
        "–".to_owned()
    };
    let speed_up = if median > 0.0 {
        format!("{:.2}x", first.as_secs_f64() / median)
    } else {
        "–".to_owned()
    };
    [
        row.label.clone(),
        time(row.timing.min),
        time(row.timing.median),
        format!("{:.1} %", 100.0 * row.timing.spread),
        rate,
        speed_up,
        match row.error {
            0.0 => "0".to_owned(),
            error => format!("{error:.1e}"),
        },
    ]
}

/// A time with four digits and a suitable unit.
pub fn time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s if s >= 1e-6 => (s * 1e6, "µs"),
        s => (s * 1e9, "ns"),
    };
    let digits = match value {
        v if v >= 100.0 => 1,
        v if v >= 10.0 => 2,
        _ => 3,
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codegen::Kernel;
    use crate::runtime::Timing;

    fn row(label: &str, milliseconds: u64) -> Measured {
        let time = Duration::from_millis(milliseconds);
        Measured {
            label: label.to_owned(),
            timing: Timing {
                label: label.to_owned(),
                min: time,
                median: time,
                spread: 0.01,
                runs: vec![time],
                at_best: time,
                disturbed: 0.0,
            },
            error: 0.0,
            cure: None,
            kernel: Kernel {
                symbol: label.to_owned(),
                headers: Default::default(),
                function: String::new(),
                sizes: Vec::new(),
                params: Vec::new(),
                proof: Proof::Proved,
                vectors: Default::default(),
                plan: String::new(),
            },
        }
    }

    #[test]
    fn rows_appear_in_order_as_they_are_known() {
        let mut table = Growing::new(["naive", "transposed", "plan"], 3e9, usize::MAX);
        assert_eq!(table.add(&row("plan", 500)), [] as [&str; 0]);
        let first = [
            "| variant    |      min |   median | spread | GFLOP/s | speed-up |   error |",
            "|------------|----------|----------|--------|---------|----------|---------|",
            "| naive      |  4.000 s |  4.000 s |  1.0 % |    0.75 |    1.00x |       0 |",
        ];
        assert_eq!(table.add(&row("naive", 4000)), first);
        let rest = [
            "| transposed |  1.500 s |  1.500 s |  1.0 % |    2.00 |    2.67x |       0 |",
            "| plan       | 500.0 ms | 500.0 ms |  1.0 % |    6.00 |    8.00x |       0 |",
        ];
        assert_eq!(table.add(&row("transposed", 1500)), rest);
    }

    #[test]
    fn narrow_tables_have_the_columns_that_fit() {
        let shown = |room| {
            let mut table = Growing::new(["naive"], 3e9, room);
            table.add(&row("naive", 4000))
        };
        let narrow = [
            "| variant |   median | speed-up |",
            "|---------|----------|----------|",
            "| naive   |  4.000 s |    1.00x |",
        ];
        assert_eq!(shown(40), narrow);
        assert_eq!(shown(5), narrow);
        assert_eq!(
            shown(60)[0],
            "| variant |   median | GFLOP/s | speed-up |   error |"
        );
        assert_eq!(shown(75)[0], shown(usize::MAX)[0]);
    }

    #[test]
    fn who_disturbed_many_runs_is_told() {
        assert_eq!(disturbed([]), None);
        assert_eq!(disturbed([(30, 0.0), (10, 0.3)]), None);
        let told = "disturbed: others used the same cores during 25 % of the runs";
        assert_eq!(disturbed([(30, 0.2), (10, 0.4)]).as_deref(), Some(told));
    }

    #[test]
    fn times_have_four_digits() {
        let shown = |nanos| time(Duration::from_nanos(nanos));
        assert_eq!(shown(1_234_567_890), "1.235 s");
        assert_eq!(shown(123_456_789), "123.5 ms");
        assert_eq!(shown(12_346), "12.35 µs");
        assert_eq!(shown(7), "7.000 ns");
    }
}
