//! A bar chart of one kernel, as a self-contained SVG.

use super::cells::seconds;
use super::results::{Group, Line, Times};
use super::table::best;
use crate::report::percent_of_limit;
use crate::report::svg::{self, tenths};

const ROW: usize = 26;
const LEFT: usize = 150;
const BARS: usize = 420;
const RIGHT: usize = 230;
const TOP: usize = 46;

/// Colors for light and dark backgrounds.
const STYLE: &str = "\
text { font: 13px system-ui, sans-serif; fill: #1f2933; } .back { fill: #ffffff; }
.value { fill: #5b6773; stroke: #ffffff; stroke-width: 4px; paint-order: stroke; }
.strong { font-weight: 600; } .first { fill: #9aa0a6; } .own { fill: #2f6fb3; }
.peer { fill: #d98a29; } .spread { stroke: #1f2933; } .limit { stroke: #b3261e; }
.over { fill: #b3261e; }
@media (prefers-color-scheme: dark) {
  text { fill: #e4e8ee; } .back { fill: #14181d; }
  .value { fill: #98a3b1; stroke: #14181d; } .own { fill: #5b9bdc; }
  .spread { stroke: #e4e8ee; } .limit { stroke: #ef7d74; } .over { fill: #ef7d74; }
}
";

/// A bar chart of speeds: each bar has its spread, and a mark shows the machine's limit. The name
/// of the fastest variant is bold.
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
    let mut body = svg::text(
        &[("class", &"strong"), ("x", &LEFT), ("y", &20)],
        &group.kernel,
    );
    if let Some(rate) = limit {
        let x = tenths(LEFT as f64 + length(rate));
        body.push_str(&svg::element(
            "line",
            &[
                ("class", &"limit"),
                ("x1", &x),
                ("y1", &(TOP - 6)),
                ("x2", &x),
                ("y2", &bottom),
                ("stroke-dasharray", &"4 3"),
            ],
        ));
        body.push_str(&svg::text(
            &[
                ("class", &"over"),
                ("x", &x),
                ("y", &(TOP - 10)),
                ("text-anchor", &"middle"),
            ],
            "limit",
        ));
    }
    let winner = best(group).map(|(line, _)| line.name.as_str());
    for (k, (line, times)) in timed.iter().enumerate() {
        let (y, long) = (TOP + ROW * k, length(1.0 / times.median));
        let class = match (k, line.peer) {
            (0, _) => "first",
            (_, false) => "own",
            (_, true) => "peer",
        };
        let share = times
            .share
            .map(|share| format!(", {} of limit", percent_of_limit(share)));
        let label = format!(
            "{}, {:.2}x{}",
            seconds(times.median),
            times.speed_up,
            share.unwrap_or_default()
        );
        let strong = if winner == Some(line.name.as_str()) {
            "strong"
        } else {
            ""
        };
        // The spread is an interquartile range: half of it lies on each side of the median.
        let half = times.spread / 2.0;
        let ends = [1.0 + half, (1.0 - half).max(0.1)];
        let [low, high] = ends.map(|part| LEFT as f64 + length(1.0 / (times.median * part)));
        let middle = y + (ROW - 6) / 2;
        body.push_str(&svg::text(
            &[
                ("class", &strong),
                ("x", &(LEFT - 8)),
                ("y", &(y + 15)),
                ("text-anchor", &"end"),
            ],
            &line.name,
        ));
        body.push_str(&svg::element(
            "rect",
            &[
                ("class", &class),
                ("x", &LEFT),
                ("y", &y),
                ("width", &tenths(long)),
                ("height", &(ROW - 6)),
            ],
        ));
        body.push_str(&svg::element(
            "line",
            &[
                ("class", &"spread"),
                ("x1", &tenths(low)),
                ("y1", &middle),
                ("x2", &tenths(high)),
                ("y2", &middle),
            ],
        ));
        let end = high.max(LEFT as f64 + long) + 6.0;
        body.push_str(&svg::text(
            &[("class", &"value"), ("x", &tenths(end)), ("y", &(y + 15))],
            &label,
        ));
    }
    svg::styled((width, height), STYLE, &body)
}
