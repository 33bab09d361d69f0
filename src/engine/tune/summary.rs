//! The text report of a search.

use super::outcome::{Trial, Tuned};
use super::rank::Order;
use super::standing::Standing;
use crate::report::time;
use std::collections::BTreeMap;
use std::time::Duration;

/// Number of best points shown.
const TOP: usize = 10;

/// Number of reasons shown.
const REASONS: usize = 5;

/// A reason without its numbers and names, so that similar refusals are counted together: the first
/// line, with an ellipsis for each number and each `name`.
pub fn reason(message: &str) -> String {
    let first = message.lines().next().unwrap_or_default();
    let mut text = String::new();
    // Every other part is quoted; an unmatched quote quotes nothing.
    let count = first.matches('`').count();
    for (k, part) in first.split('`').enumerate() {
        if k % 2 == 1 && k < count {
            text.push_str("`…`")
        } else {
            text.push_str(&without_numbers(part))
        }
    }
    text
}

/// Replaces each number by an ellipsis. Digits in a word are part of its name.
fn without_numbers(text: &str) -> String {
    let mut kept = String::new();
    let mut is_word = false;
    for c in text.chars() {
        match c.is_ascii_digit() && !is_word {
            true if kept.ends_with('…') => {}
            true => kept.push('…'),
            false => kept.push(c),
        }
        is_word = c.is_alphabetic() || c == '_' || is_word && c.is_ascii_digit();
    }
    kept
}

/// Refusals, most frequent reason first.
pub fn reasons(refused: &BTreeMap<String, usize>) -> Vec<String> {
    let mut all: Vec<(&String, &usize)> = refused.iter().collect();
    all.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let rest: usize = all.iter().skip(REASONS).map(|(_, count)| **count).sum();
    let shown = all.iter().take(REASONS);
    let mut lines: Vec<String> = shown
        .map(|(why, count)| format!("{count}x {why}"))
        .collect();
    if rest > 0 {
        lines.push(format!("{rest}x other reasons"));
    }
    lines
}

/// The progress of a search, in a line.
pub fn line(standing: &Standing<'_>) -> String {
    let mut text = standing.doing.to_owned();
    if let Some((point, best)) = standing.best {
        text.push_str(&format!(", best {} at {point}", seconds_text(best)));
    }
    if standing.done > 0 {
        let seconds = standing.elapsed.as_secs_f64().max(1e-3);
        let rate = standing.done as f64 / seconds;
        let by_trials = standing.total.saturating_sub(standing.done) as f64 / rate;
        let left = standing
            .left
            .map_or(by_trials, |left| left.as_secs_f64().min(by_trials));
        text.push_str(&format!(", {rate:.1} trials/s, {left:.0} s left"));
    }
    text
}

fn seconds_text(seconds: f64) -> String {
    time(Duration::from_secs_f64(seconds))
}

/// Minimum number of trials for a statement about the model.
const ENOUGH: usize = 10;

impl Tuned {
    /// How well predictions agree with the times of trials.
    pub fn agreement(&self) -> Order {
        let pairs = self.trials.iter();
        let pairs: Vec<(f64, f64)> = pairs
            .filter_map(|trial| Some((trial.expected?, trial.seconds()?)))
            .collect();
        Order::of(&pairs)
    }

    /// The winning trial, with its median seconds.
    pub fn winner(&self) -> Option<(&Trial, f64)> {
        let first = self.decided.finalists.first()?;
        Some((self.trials.get(first.number)?, first.median()))
    }

    /// The trials with times, each with its shortest one. The finalists come first, with times of
    /// interleaved runs, then the others. Both are sorted by time.
    pub fn fastest(&self) -> Vec<Ranked<'_>> {
        let finalists = &self.decided.finalists;
        let tied = if self.decided.tied > 1 {
            self.decided.tied
        } else {
            0
        };
        let places = finalists.iter().enumerate();
        let mut all: Vec<Ranked<'_>> = places
            .filter_map(|(place, finalist)| {
                Some(Ranked {
                    trial: self.trials.get(finalist.number)?,
                    seconds: finalist.least(),
                    is_winner: place == 0,
                    is_tied: place < tied,
                })
            })
            .collect();
        let is_finalist = |k: usize| finalists.iter().any(|f| f.number == k);
        let others = self.trials.iter().enumerate();
        let others = others.filter(|(k, _)| !is_finalist(*k));
        let mut others: Vec<Ranked<'_>> = others
            .filter_map(|(_, trial)| {
                Some(Ranked {
                    trial,
                    seconds: trial.seconds()?,
                    is_winner: false,
                    is_tied: false,
                })
            })
            .collect();
        for part in [&mut all, &mut others] {
            part.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        }
        all.extend(others);
        all
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Ranked<'a> {
    pub trial: &'a Trial,
    /// Its shortest time: interference only makes runs longer.
    pub seconds: f64,
    pub is_winner: bool,
    /// Whether it ties with other variants.
    pub is_tied: bool,
}

impl Ranked<'_> {
    /// A mark to follow the point: its result in the finals.
    pub fn mark(&self) -> &'static str {
        match (self.is_winner, self.is_tied) {
            (true, true) => " (tied, wins)",
            (true, false) => " (wins)",
            (false, true) => " (tied)",
            (false, false) => "",
        }
    }
}

/// The result of a search: number of trials, the best points, and the refusals.
pub fn summary(tuned: &Tuned) -> Vec<String> {
    let elapsed = tuned.elapsed.as_secs_f64();
    let count = tuned.trials.len();
    let rate = count as f64 / elapsed.max(1e-3);
    let share = 100.0 * tuned.compiling.as_secs_f64() / elapsed.max(1e-3);
    let mut lines = vec![format!(
        "tuned: {count} trials in {elapsed:.1} s ({rate:.1}/s, {share:.0} % of it compiling)"
    )];
    if tuned.known > 0 {
        lines.push(format!("recorded before: {} of the trials", tuned.known));
    }
    if tuned.same > 0 {
        let count = tuned.same;
        let s = if count == 1 { "point" } else { "points" };
        lines.push(format!(
            "not tried again: {count} {s} whose nests are those of another point"
        ));
    }
    let flops = tuned.work.as_ref().map_or(0.0, |work| work.flops);
    lines.push(match tuned.decided.finalists.len() {
        0 | 1 => "shortest times:".to_owned(),
        count => format!("shortest times, those of the first {count} from interleaved runs:"),
    });
    for (k, ranked) in tuned.fastest().into_iter().take(TOP).enumerate() {
        let rate = if flops > 0.0 {
            format!(", {:.2} GFLOP/s", flops / ranked.seconds / 1e9)
        } else {
            String::new()
        };
        lines.push(format!(
            "{:>3}. {}{rate}: {}{}",
            k + 1,
            seconds_text(ranked.seconds),
            ranked.trial.point,
            ranked.mark()
        ));
    }
    let tied = tuned.decided.tied;
    if tied > 1 {
        lines.push(format!(
            "tie: {tied} points are as fast as each other, as far as interleaved runs tell; of those \
             within 2 % of the fastest, the one with the shortest path wins, and of several the \
             first of the space"
        ));
    }
    let left_out = tuned.decided.left_out.len();
    if left_out > 0 {
        let points = if left_out == 1 { "point" } else { "points" };
        lines.push(format!(
            "no place in the finals: {left_out} {points} that may be as fast, by their first times"
        ));
    }
    let mut failed: BTreeMap<String, usize> = BTreeMap::new();
    for (word, _) in tuned.trials.iter().filter_map(|t| t.outcome.as_ref().err()) {
        *failed.entry(word.clone()).or_default() += 1;
    }
    lines.extend(
        failed
            .iter()
            .map(|(word, count)| format!("out: {count} {word}")),
    );
    lines.extend(
        reasons(&tuned.refused)
            .into_iter()
            .map(|line| format!("refused: {line}")),
    );
    let agreement = tuned.agreement();
    if agreement.variants >= ENOUGH && agreement.correlation.is_some() {
        lines.push(format!("model: {agreement}"));
    }
    if tuned.interrupted {
        lines.push("stopped: the fastest so far were not timed again".to_owned());
    }
    lines
}
