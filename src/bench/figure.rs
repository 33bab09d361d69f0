//! All curves in one figure, as in papers.

use super::curve::{SIZE, curve_chart};
use super::palette::Palette;
use super::results::Curve;
use crate::report::svg;

/// Charts per row.
const COLUMNS: usize = 2;

/// The charts of several curves in one self-contained SVG.
pub fn figure(curves: &[Curve], palette: &Palette) -> String {
    let (width, height) = SIZE;
    let columns = COLUMNS.min(curves.len()).max(1);
    let rows = curves.len().div_ceil(columns);
    let (all, high) = (width * columns as f64, height * rows as f64);
    let mut body = String::new();
    for (k, curve) in curves.iter().enumerate() {
        let (x, y) = (width * (k % columns) as f64, height * (k / columns) as f64);
        body.push_str(&svg::placed(&curve_chart(curve, palette), x, y));
        body.push('\n');
    }
    svg::document((all, high), &[], &body)
}
