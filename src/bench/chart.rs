//! A bar chart of one kernel, as SVG that needs nothing else.

use super::results::{Group, Line, Times};
use super::table::seconds;
use crate::report::escaped;
use std::fmt::Write;

const ROW: usize = 26;
const LEFT: usize = 150;
const BARS: usize = 420;
const RIGHT: usize = 230;
const TOP: usize = 46;

/// Bars as long as a variant is fast, with a mark where the machine's limit is.
pub fn chart(group: &Group) -> String {
    let timed = group.lines.iter();
    let timed: Vec<(&Line, &Times)> = timed
        .filter_map(|line| Some((line, line.times.as_ref()?)))
        .collect();
    let limit = group.limit.as_ref().map(|limit| 1.0 / limit.seconds);
    let fastest = timed.iter().map(|(_, times)| 1.0 / times.median);
    let longest = fastest.chain(limit).fold(f64::MIN_POSITIVE, f64::max);
    let length = |rate: f64| (rate / longest * BARS as f64).clamp(1.0, BARS as f64);

    let (width, bottom) = (LEFT + BARS + RIGHT, TOP + ROW * timed.len());
    let height = bottom + 14;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"{LEFT}\" y=\"20\" font-weight=\"bold\">{}</text>\n",
        escaped(&group.kernel)
    );
    for (k, (line, times)) in timed.iter().enumerate() {
        let (y, long) = (TOP + ROW * k, length(1.0 / times.median));
        let color = match (k, line.peer) {
            (0, _) => "#9aa0a6",
            (_, false) => "#2f6fb3",
            (_, true) => "#d98a29",
        };
        let share = times
            .share
            .map(|s| format!(", {:.0} % of limit", 100.0 * s));
        let label = format!(
            "{}, {:.2}x{}",
            seconds(times.median),
            times.speed_up,
            share.unwrap_or_default()
        );
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n\
             <rect x=\"{LEFT}\" y=\"{y}\" width=\"{long:.1}\" height=\"{}\" fill=\"{color}\"/>\n\
             <text x=\"{:.1}\" y=\"{}\" fill=\"#444444\">{label}</text>\n",
            LEFT - 8,
            y + 15,
            escaped(&line.name),
            ROW - 6,
            LEFT as f64 + long + 6.0,
            y + 15,
        );
    }
    if let Some(rate) = limit {
        let x = LEFT as f64 + length(rate);
        let _ = write!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"{}\" x2=\"{x:.1}\" y2=\"{bottom}\" stroke=\"#b3261e\" \
             stroke-dasharray=\"4 3\"/>\n\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"#b3261e\">limit</text>\n",
            TOP - 6,
            TOP - 10,
        );
    }
    svg.push_str("</svg>\n");
    svg
}
