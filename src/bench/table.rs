//! Results as text tables.

use super::cells::{aligned, new_table, seconds};
use super::curve::curve_table;
use super::results::{Absent, Group, Line, Results, Times};
use crate::report;

/// The column heads of a table.
pub(super) const COLUMNS: [&str; 10] = [
    "variant", "runs", "min", "median", "spread", "GFLOP/s", "GB/s", "of limit", "speed-up",
    "error",
];

/// The table of one kernel with its notes.
pub fn table(group: &Group) -> String {
    let mut lines = vec![format!("{}:", group.kernel)];
    if let Some(why) = &group.why {
        lines.push(why.trim_end().to_owned());
        return lines.join("\n");
    }
    let mut table = new_table(&COLUMNS);
    for line in &group.lines {
        if let Some(times) = &line.times {
            table.add_row(cells(line, times));
        }
    }
    lines.push(aligned(table));
    lines.extend(notes(group));
    lines.join("\n")
}

pub(super) fn cells(line: &Line, times: &Times) -> [String; 10] {
    [
        line.name.clone(),
        times.runs.len().to_string(),
        seconds(times.min),
        seconds(times.median),
        format!("{:.1} %", 100.0 * times.spread),
        format!("{:.2}", times.gflops),
        format!("{:.2}", times.gbytes),
        times.share.map_or("–".to_owned(), report::percent_of_limit),
        format!("{:.2}x", times.speed_up),
        match times.error {
            0.0 => "0".to_owned(),
            error => format!("{error:.1e}"),
        },
    ]
}

/// The notes below a table.
pub(super) fn notes(group: &Group) -> Vec<String> {
    let mut notes = vec![format!("checked: {}", group.evidence)];
    if let Some(limit) = &group.limit {
        let (count, what, rate) = match limit.by {
            "memory" => (limit.bytes, "B of inputs and results", "GB/s"),
            _ => (limit.flops, "FLOP", "GFLOP/s"),
        };
        notes.push(format!(
            "limit: {}, set by {}: {}{what} at {:.1} {rate}, in the median ({:.1} at best)",
            seconds(limit.seconds),
            limit.by,
            scaled(count),
            limit.rate,
            limit.best
        ));
    }
    let beating: Vec<&str> = group.beating().collect();
    if !beating.is_empty() {
        notes.push(format!(
            "! {} beats the limit by more than a tenth: the machine was slower when its rates were \
             measured, so the limit is too long",
            beating.join(", ")
        ));
    }
    let times = group.lines.iter().filter_map(|line| line.times.as_ref());
    notes.extend(report::disturbed(
        times.map(|t| (t.runs.len(), t.disturbed)),
    ));
    notes.extend(group.notes.iter().cloned());
    for line in &group.lines {
        if let Some(why) = &line.why {
            notes.push(format!("{}: failed: {}", line.name, why.trim_end()));
        }
        if !line.proof.is_empty() {
            notes.push(format!("{}: {}", line.name, line.proof));
        }
    }
    notes.extend(absent(&group.absent));
    notes
}

/// The summary: speed-ups over the untransformed nests, with a row for each kernel. Columns are the
/// labels that several kernels share, and the best variant. Curves have a table each. Below follow
/// the machine, and the absent peers.
pub fn summary(results: &Results) -> String {
    let mut lines = Vec::new();
    if !results.groups.is_empty() {
        let names = names(&results.groups);
        let heads = ["kernel"]
            .into_iter()
            .chain(names.iter().map(String::as_str));
        let heads: Vec<&str> = heads.chain(["best", "is"]).collect();
        let mut table = new_table(&heads);
        for row in rows(results, &names) {
            table.add_row(row);
        }
        lines.push("speed-ups over the untransformed nests:".to_owned());
        lines.push(aligned(table));
    }
    lines.extend(results.curves.iter().map(curve_table));
    lines.push(place(results));
    lines.extend(absent(&results.absent));
    lines.join("\n")
}

/// The machine and the settings, in a line.
fn place(results: &Results) -> String {
    let (threads, rates) = (results.threads, results.rates);
    let plural = if threads == 1 { "" } else { "s" };
    let cpu = results.machine.cpu.as_deref();
    format!(
        "{}, {threads} thread{plural}: at best {:.1} GFLOP/s on f64, {:.1} GB/s; {}; {} sizes; {}",
        cpu.unwrap_or("an unknown processor"),
        rates.gflops_f64,
        rates.bandwidth(),
        results.compiler,
        results.size,
        results.date
    )
}

pub(super) fn absent(peers: &[Absent]) -> Vec<String> {
    let peers = peers.iter();
    peers
        .map(|peer| format!("{}: absent: {}", peer.name, peer.why))
        .collect()
}

/// The labels of most scripts, in the order of the summary.
const KNOWN: [&str; 6] = ["naive", "pluto", "pluto_c", "pluto_best", "paper", "plan"];

/// The labels of the summary's columns: the known ones, then labels that several kernels share,
/// then peers.
pub(super) fn names(groups: &[Group]) -> Vec<String> {
    let measured: Vec<&Group> = groups.iter().filter(|g| g.why.is_none()).collect();
    let least = measured.len().min(2);
    let lines = measured.iter().flat_map(|g| &g.lines);
    let mut columns: Vec<(usize, &str)> = Vec::new();
    for line in lines {
        let has = |g: &&&Group| g.lines.iter().any(|l| l.name == line.name);
        let place = match KNOWN.iter().position(|known| *known == line.name) {
            Some(place) => place,
            None if line.peer => KNOWN.len() + 1,
            None if measured.iter().filter(has).count() >= least => KNOWN.len(),
            None => continue,
        };
        if !columns.contains(&(place, &line.name)) {
            columns.push((place, &line.name));
        }
    }
    columns.sort_by_key(|(place, _)| *place);
    columns
        .into_iter()
        .map(|(_, name)| name.to_owned())
        .collect()
}

/// The fastest variant or peer.
pub(super) fn best(group: &Group) -> Option<(&Line, &Times)> {
    let timed = group.lines.iter();
    let timed = timed.filter_map(|line| Some((line, line.times.as_ref()?)));
    timed.max_by(|a, b| a.1.speed_up.total_cmp(&b.1.speed_up))
}

/// The rows of the summary.
pub(super) fn rows(results: &Results, names: &[String]) -> Vec<Vec<String>> {
    let shown = |times: &Times| format!("{:.2}x", times.speed_up);
    let row = |group: &Group| -> Vec<String> {
        let mut row = vec![group.kernel.clone()];
        for name in names {
            let line = group.lines.iter().find(|l| l.name == *name);
            let times = line.and_then(|l| l.times.as_ref());
            row.push(times.map_or("–".to_owned(), shown));
        }
        let best = best(group);
        row.push(best.map_or("–".to_owned(), |(_, times)| shown(times)));
        row.push(best.map_or("–".to_owned(), |(line, _)| line.name.clone()));
        row
    };
    results.groups.iter().map(row).collect()
}

/// A number with a prefix for the unit that follows.
fn scaled(count: f64) -> String {
    let prefixes = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    let prefix = prefixes.into_iter().find(|(unit, _)| count >= *unit);
    let (unit, prefix) = prefix.unwrap_or((1.0, ""));
    format!("{:.3} {prefix}", count / unit)
}

#[cfg(test)]
mod tests {
    use super::super::overview::tests::group;
    use super::*;

    #[test]
    fn what_beats_its_limit_by_more_than_a_tenth_is_marked() {
        let text = table(&group(
            "mm",
            &[("naive", 1.0), ("near", 109.0), ("plan", 180.0)],
        ));
        assert!(
            text.contains("180.0 % !") && !text.contains("109.0 % !"),
            "{text}"
        );
        assert!(
            text.contains("! plan beats the limit by more than a tenth"),
            "{text}"
        );
        let text = table(&group("mm", &[("naive", 1.0), ("near", 109.0)]));
        assert!(!text.contains('!'), "{text}");
    }
}
