//! The table of what is legal next: one row per loop, one column per operation.

use crate::advice::{Move, Moves};
use comfy_table::{Table, presets};

/// Some of the moves of a nest, `list`, as a table of the loops that were asked about.
pub fn moves(moves: &Moves, list: &[&Move]) -> String {
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
    for (outer, l) in moves.nest.loops() {
        if moves.at.as_ref().is_some_and(|at| *at != l.name) {
            continue;
        }
        let cell = |op: &&str| -> String {
            let here = list.iter().filter(|m| m.op == *op && m.at == l.name);
            let words = here.map(|m| m.with.as_deref().unwrap_or("yes"));
            words.collect::<Vec<_>>().join(", ")
        };
        // Tables cut off spaces at the start of a cell.
        let name = format!("{}{}", "· ".repeat(outer.len()), l.name);
        table.add_row([name].into_iter().chain(columns.iter().map(cell)));
    }
    lines.push(table.to_string());
    lines.extend(undecided(moves));
    lines.join("\n")
}

fn undecided(moves: &Moves) -> Option<String> {
    let of_all = match moves.at {
        None => "; `moves(nest, loop)` looks at one loop alone",
        Some(_) => "",
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
            at: at.map(|name| Name::new(name).unwrap()),
            legal: true,
            list: Vec::new(),
            undecided,
        };
        let shown = |asked: &Moves| moves(asked, &[]);
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
