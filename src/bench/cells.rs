//! The cells of the bench's tables.

use crate::report::time;
use comfy_table::{CellAlignment, Table, presets};
use std::time::Duration;

pub(super) fn seconds(seconds: f64) -> String {
    time(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

pub(super) fn new_table(heads: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(heads);
    table
}

pub(super) fn aligned(mut table: Table) -> String {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}
