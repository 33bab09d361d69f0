//! What people read: tables of results and of next steps, and how far a run is.

mod machine;
mod moves;
mod progress;

pub use machine::machine;
pub use moves::moves;
pub use progress::Bar;

use crate::legality::Proof;
use crate::trial::{Outcome, Row};
use comfy_table::{CellAlignment, Table, presets};
use std::fmt::Write;
use std::time::Duration;

/// The table of a trial: one row per variant, speed-ups over the first one.
pub fn table(outcome: &Outcome) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header([
        "variant", "min", "median", "spread", "GFLOP/s", "speed-up", "error",
    ]);
    for row in &outcome.rows {
        table.add_row(cells(row, outcome));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = table.to_string();
    let runs = outcome.rows.iter().map(|r| r.timing.runs.len());
    let (fewest, most) = (runs.clone().min().unwrap_or(0), runs.max().unwrap_or(0));
    let runs = if fewest == most {
        fewest.to_string()
    } else {
        format!("{fewest} to {most}")
    };
    let plural = if outcome.threads == 1 { "" } else { "s" };
    let _ = write!(
        text,
        "\nchecked: {}\ntimed: {runs} interleaved runs each, {} thread{plural} in parallel loops",
        outcome.evidence, outcome.threads,
    );
    text.push_str(&unproved(&outcome.rows));
    text
}

/// The variants that are not proved to be correct, and why not, a line for each reason.
fn unproved(rows: &[Row]) -> String {
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

fn cells(row: &Row, outcome: &Outcome) -> [String; 7] {
    let median = row.timing.median.as_secs_f64();
    let first = outcome
        .rows
        .first()
        .map_or(median, |r| r.timing.median.as_secs_f64());
    let rate = match outcome.flops > 0.0 && median > 0.0 {
        true => format!("{:.2}", outcome.flops / median / 1e9),
        false => "–".to_owned(),
    };
    let speed_up = match median > 0.0 {
        true => format!("{:.2}x", first / median),
        false => "–".to_owned(),
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

/// A time with four digits and a unit that suits it.
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

    #[test]
    fn times_have_four_digits() {
        let shown = |nanos| time(Duration::from_nanos(nanos));
        assert_eq!(shown(1_234_567_890), "1.235 s");
        assert_eq!(shown(123_456_789), "123.5 ms");
        assert_eq!(shown(12_346), "12.35 µs");
        assert_eq!(shown(7), "7.000 ns");
    }
}
