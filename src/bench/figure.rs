//! All curves in one figure, as in papers.

use super::curve::{SIZE, colors, curve_chart};
use super::results::Curve;
use std::fmt::Write;

/// Charts per row.
const COLUMNS: usize = 2;

/// The charts of several curves in one self-contained SVG.
pub fn figure(curves: &[Curve]) -> String {
    let (width, height) = SIZE;
    let colors = colors(curves);
    let columns = COLUMNS.min(curves.len()).max(1);
    let rows = curves.len().div_ceil(columns);
    let (all, high) = (width * columns as f64, height * rows as f64);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {all} {high}\" \
         width=\"{all}\" height=\"{high}\">\n"
    );
    for (k, curve) in curves.iter().enumerate() {
        let (x, y) = (width * (k % columns) as f64, height * (k / columns) as f64);
        let placed = format!("<svg x=\"{x}\" y=\"{y}\" ");
        let _ = writeln!(
            svg,
            "{}",
            curve_chart(curve, &colors).replacen("<svg ", &placed, 1)
        );
    }
    svg.push_str("</svg>\n");
    svg
}
