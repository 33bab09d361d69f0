//! The table of legal next steps: one row per loop, one column per operation.

use crate::advice::{Move, Moves, Scope};
use crate::ir::{Loop, Tree};
use comfy_table::{Table, presets};

/// The moves `list` of a nest, as a table of the loops that were examined. `speed_up` predicts the
/// speed-up of the nest by a move, if there is a prediction.
pub fn moves(moves: &Moves, list: &[&Move], speed_up: &dyn Fn(&Move) -> Option<f64>) -> String {
    let mut columns: Vec<&str> = Vec::new();
    for m in list {
        if !columns.contains(&m.op) {
            columns.push(m.op);
        }
    }
    let mut lines = Vec::new();
    if !moves.legal {
        lines.push(
            "the nest is not legal as it is (see `check`); these steps make it so".to_owned(),
        );
    }
    if columns.is_empty() {
        lines.push("no step is known to be legal".to_owned());
        lines.extend(undecided(moves));
        return lines.join("\n");
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["loop"].iter().chain(&columns));
    let mut left_out = 0;
    for (outer, l) in moves.nest.loops() {
        if !moves.scope.has(l, outer.len()) {
            continue;
        }
        let cell = |op: &&str| -> String {
            let here = list.iter().filter(|m| m.op == *op && m.at == l.name);
            let words = here.map(|m| match (m.with.as_deref(), speed_up(m)) {
                (None, None) => "yes".to_owned(),
                (Some(with), None) => with.to_owned(),
                (None, Some(factor)) => times(factor),
                (Some(with), Some(factor)) => format!("{with} {}", times(factor)),
            });
            words.collect::<Vec<_>>().join(", ")
        };
        // The table library trims leading spaces.
        let name = format!("{}{}", "· ".repeat(outer.len()), l.name);
        table.add_row([name].into_iter().chain(columns.iter().map(cell)));
        let inside = inside(l);
        if inside > 0 && moves.scope == Scope::Levels(outer.len() + 1) {
            left_out += inside;
            let loops = if inside == 1 { "loop" } else { "loops" };
            let name = format!("{}… {inside} {loops}", "· ".repeat(outer.len() + 1));
            table.add_row(
                [name]
                    .into_iter()
                    .chain(columns.iter().map(|_| String::new())),
            );
        }
    }
    lines.push(table.to_string());
    lines.extend(not_asked(left_out));
    lines.extend(fastest(list, speed_up));
    lines.extend(undecided(moves));
    lines.join("\n")
}

/// How many loops were not examined, and how to examine them.
fn not_asked(count: usize) -> Option<String> {
    let what = match count {
        0 => return None,
        1 => "1 loop further inside is",
        _ => &format!("{count} loops further inside are"),
    };
    Some(format!(
        "{what} left out: `moves(nest, loop)` looks at one loop, `moves(nest)` at all"
    ))
}

/// Number of loops inside a loop.
fn inside(l: &Loop) -> usize {
    let loops = l.body.iter().filter_map(Tree::as_loop);
    loops.map(|l| 1 + inside(l)).sum()
}

/// How many moves are listed as the fastest.
const FASTEST: usize = 3;

/// Moves with a smaller predicted speed-up are not listed.
const NOTICEABLE: f64 = 1.05;

/// The moves with the best predicted speed-ups.
fn fastest(list: &[&Move], speed_up: &dyn Fn(&Move) -> Option<f64>) -> Option<String> {
    let expected = list.iter().filter_map(|m| Some((m, speed_up(m)?)));
    let mut expected: Vec<(&&Move, f64)> = expected.collect();
    if expected.is_empty() {
        return None;
    }
    expected.sort_by(|a, b| b.1.total_cmp(&a.1));
    expected.retain(|(_, factor)| *factor > NOTICEABLE);
    let mut seen: Vec<(&str, Vec<&str>)> = Vec::new();
    expected.retain(|(m, _)| {
        // Interchanging i and j equals interchanging j and i.
        let mut loops = vec![m.at.as_str(), m.with.as_deref().unwrap_or("")];
        loops.sort_unstable();
        let is_new = !seen.contains(&(m.op, loops.clone()));
        seen.push((m.op, loops));
        is_new
    });
    let named = expected.iter().take(FASTEST);
    let named = named.map(|(m, factor)| format!("`{}` {}", m.call, times(*factor)));
    let named: Vec<String> = named.collect();
    Some(if named.is_empty() {
        "the cost model expects none of these to be faster by itself".to_owned()
    } else {
        format!("fastest, as the cost model expects: {}", named.join(", "))
    })
}

/// A speed-up as `1.4x`.
fn times(factor: f64) -> String {
    match factor {
        factor if factor < 0.005 => "<0.01x".to_owned(),
        factor if factor < 0.995 => format!("{factor:.2}x"),
        factor if factor < 9.95 => format!("{factor:.1}x"),
        factor => format!("{factor:.0}x"),
    }
}

fn undecided(moves: &Moves) -> Option<String> {
    let of_all = match moves.scope {
        Scope::At(_) => "",
        _ => "; `moves(nest, loop)` looks at one loop alone",
    };
    match moves.undecided {
        0 => None,
        1 => Some(format!(
            "1 more step is undecided: its proof takes too long{of_all}"
        )),
        n => Some(format!(
            "{n} more steps are undecided: their proofs take too long{of_all}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Name;

    #[test]
    fn what_was_not_decided_is_said() {
        let nest = crate::ir::parse_nest("f64 A[4], B[4]\nfor i in 0..4\n  A[i] = B[i]").unwrap();
        let asked = |at: Option<&str>, undecided| Moves {
            nest: nest.clone(),
            scope: at.map_or(Scope::All, |name| Scope::At(Name::new(name).unwrap())),
            legal: true,
            list: Vec::new(),
            undecided,
        };
        let shown = |asked: &Moves| moves(asked, &[], &|_| None);
        assert_eq!(shown(&asked(None, 0)), "no step is known to be legal");
        assert_eq!(
            shown(&asked(None, 3)),
            "no step is known to be legal\n3 more steps are undecided: their proofs take too long; \
             `moves(nest, loop)` looks at one loop alone"
        );
        assert_eq!(
            shown(&asked(Some("i"), 1)),
            "no step is known to be legal\n1 more step is undecided: its proof takes too long"
        );
    }
}
