//! Suggestions for the next step: moves with predicted times, and a search.

use crate::advice::{self, Move, Scope};
use crate::ir::Nest;
use crate::repl::arguments::parts;
use crate::repl::failure::{failed, failed_with};
use crate::repl::timeline::Subject;
use crate::repl::{Outcome, Repl, Reply};
use crate::report;
use crate::transform::nest::interchange::INTERCHANGE;
use crate::transform::trace::{self, Calls};
use crate::verbs::Refusal;
use std::collections::HashMap;
use std::time::Duration;

pub fn moves(repl: &mut Repl, rest: &str) -> Reply {
    let all = parts(rest);
    let subject = repl.subject(all.first().copied().unwrap_or(""))?;
    let [nest] = subject.nests.as_slice() else {
        return Err(failed(":moves takes one nest, not a list"));
    };
    let moves = match all.get(1) {
        Some(which) => repl.moves_of(nest, which)?,
        None => {
            let (scope, reductions) = (of_whole(nest), repl.reductions());
            repl.verb("moves", |_| {
                let known = advice::known(nest, &scope, reductions);
                known.map_err(|why| Refusal::new(format!("undecided: {why}")))
            })?
        }
    };
    let forecast = repl.forecast();
    let now = forecast.seconds(std::slice::from_ref(nest));
    let list: Vec<&Move> = moves.list.iter().collect();
    let mut different: Vec<&Move> = Vec::new();
    let mut numbers: HashMap<(&str, Vec<&str>, Option<&str>), usize> = HashMap::new();
    for m in &list {
        numbers.entry(result(m)).or_insert_with(|| {
            different.push(m);
            different.len() - 1
        });
    }
    let expected = forecast.seconds_of_each(&different, |m| m.apply(nest, None).ok());
    let speed_up = |m: &Move| {
        let after = expected[*numbers.get(&result(m))?]?;
        Some(now? / after)
    };
    let text = report::moves(&moves, &list, &speed_up);
    let width = repl.width();
    let is_row = |line: &str| line.starts_with('|');
    let mut rows = text.lines().filter(|line| is_row(line));
    let text = if rows.all(|line| line.chars().count() <= width) {
        text
    } else {
        by_loop(&text)
    };
    let lines = text.lines().map(|line| {
        if is_row(line) {
            line.to_owned()
        } else {
            crate::repl::wrap::wrapped(line, width)
        }
    });
    Ok(Outcome::Text(lines.collect::<Vec<_>>().join("\n")))
}

/// The most loops that a table has room for.
const ROOM: usize = 48;

/// The scope of moves for a whole nest: all loops, or as many outer levels as a table has room for.
fn of_whole(nest: &Nest) -> Scope {
    let depths: Vec<usize> = nest.loops().iter().map(|(outer, _)| outer.len()).collect();
    let count = |levels: usize| depths.iter().filter(|depth| **depth < levels).count();
    match depths.iter().max() {
        Some(deepest) if depths.len() > ROOM => {
            let levels = (1..=*deepest).rev().find(|levels| count(*levels) <= ROOM);
            Scope::Levels(levels.unwrap_or(1))
        }
        _ => Scope::All,
    }
}

/// A key that is equal for moves that make the same nest: to exchange i and j is to exchange j and
/// i.
fn result(m: &Move) -> (&str, Vec<&str>, Option<&str>) {
    let mut loops = m.loops();
    let is_pair = m.op == INTERCHANGE.name;
    if is_pair {
        loops.sort_unstable();
    }
    (m.op, loops, m.with.as_deref().filter(|_| !is_pair))
}

/// A table with a row for each loop, as a list with a line for each operation of each loop.
fn by_loop(table: &str) -> String {
    let cells = |line: &str| -> Vec<String> {
        let inner = line.trim_matches('|').split('|');
        inner.map(|cell| cell.trim().to_owned()).collect()
    };
    let mut heads: Vec<String> = Vec::new();
    let mut lines = Vec::new();
    for line in table.lines() {
        if !line.starts_with('|') {
            lines.push(line.to_owned());
        } else if heads.is_empty() {
            heads = cells(line);
        } else if !line.starts_with("|-") {
            let row = cells(line);
            lines.push(row.first().cloned().unwrap_or_default());
            for (head, cell) in heads.iter().zip(&row).skip(1) {
                match cell.as_str() {
                    "" => {}
                    "yes" => lines.push(format!("    {head}")),
                    with => lines.push(format!("    {head}: {with}")),
                }
            }
        }
    }
    lines.join("\n")
}

/// Searches, then evaluates a line that makes the winner without a search.
pub fn tune(repl: &mut Repl, rest: &str) -> Reply {
    let all = parts(rest);
    let (nest, options) = match all.as_slice() {
        [options] if options.starts_with("#{") => ("", *options),
        [nest, options] => (*nest, *options),
        [nest] => (*nest, ""),
        [] => ("", ""),
        _ => {
            return Err(failed(
                "`:tune` takes a nest and options: `:tune plan, #{trials: 20}`",
            ));
        }
    };
    let Subject { nests, .. } = repl.subject(nest)?;
    let tuned = repl.tuned(&nests, options)?;
    let mut scripts = Vec::new();
    for nest in &tuned.nests {
        let script = trace::script(nest, Calls::Unfolded);
        let script = script.map_err(|error| failed(error.to_string()))?;
        let lines: Vec<String> = script.lines().map(|line| format!("    {line}")).collect();
        scripts.push(format!("{{\n{}\n}}", lines.join("\n")));
    }
    let line = match scripts.as_slice() {
        [one] => format!("let tuned = {one};"),
        several => format!("let tuned = [{}];", several.join(", ")),
    };
    let reply = repl.step(&line, None).map_err(|_| {
        failed_with(
            "the winner has no script",
            "`let tuned = autotune(nest).nest` keeps it",
        )
    });
    let time = Duration::from_secs_f64(tuned.median.max(0.0));
    if reply.is_ok() {
        repl.timeline().now().measured(time);
    }
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_become_lists() {
        let table = "| loop | reverse | tile |\n|------|---------|------|\n| i    | yes     | i, j |\n| · j  |         |      |\n1 more step";
        let list = "i\n    reverse\n    tile: i, j\n· j\n1 more step";
        assert_eq!(by_loop(table), list);
    }
}
