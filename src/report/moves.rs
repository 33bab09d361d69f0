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
    lines.join("\n")
}
