//! All kernels in one chart: the share of the limit that each variant reaches.

use super::palette::{self, Palette};
use super::results::{Group, Line};
use super::table::{best, names};
use crate::report::svg::{self, tenths};

const LEFT: f64 = 110.0;
const SPAN: f64 = 560.0;
const RIGHT: f64 = 70.0;
const ROW: f64 = 30.0;
const TOP: f64 = 58.0;

const STYLE: &str = "\
text { font: 13px system-ui, sans-serif; fill: #1f2933; } .back { fill: #ffffff; } .axis { stroke: #d4dbe3; }
.limit { stroke: #b3261e; stroke-dasharray: 4 3; } .mark { stroke: none; } .ring { fill: none; stroke-width: 2; }
.other { fill: #1f2933; stroke: #1f2933; }
@media (prefers-color-scheme: dark) {
  text { fill: #e4e8ee; } .back { fill: #14181d; } .axis { stroke: #39424d; }
  .other { fill: #e4e8ee; stroke: #e4e8ee; }
}
";

/// The legend's label of best variants whose names no other kernel has.
const OTHER: &str = "another variant";

/// The chart: a row for each kernel, with a mark for each variant whose name several kernels have.
/// The best variant has a ring. Lines show the spreads.
pub fn overview(groups: &[Group], palette: &Palette) -> String {
    let names = names(groups);
    let shared = |group: &&Group| group.lines.iter().any(|line| share(line).is_some());
    let groups: Vec<&Group> = groups.iter().filter(shared).collect();
    let all = groups
        .iter()
        .flat_map(|group| &group.lines)
        .filter_map(share);
    let most = all.fold(1.0f64, f64::max).min(1.5);
    let across = |share: f64| LEFT + SPAN * (share / most).clamp(0.0, 1.0);
    let (width, bottom) = (LEFT + SPAN + RIGHT, TOP + ROW * groups.len() as f64);
    let height = bottom + 34.0;
    let mut body = String::new();
    let mut x = LEFT;
    let mut winners = groups.iter().filter_map(|group| best(group));
    let has_others = winners.any(|(line, _)| !names.contains(&line.name));
    let shown = names.iter();
    let shown = shown.map(|name| (palette.class(name), name.as_str()));
    for (class, name) in shown.chain(has_others.then(|| ("other".to_owned(), OTHER))) {
        body.push_str(&svg::element(
            "circle",
            &[
                ("class", &format_args!("mark {class}")),
                ("cx", &tenths(x)),
                ("cy", &14),
                ("r", &5),
            ],
        ));
        body.push_str(&svg::text(&[("x", &tenths(x + 9.0)), ("y", &18)], name));
        x += 30.0 + 7.5 * name.chars().count() as f64;
    }
    for percent in (0..=150).step_by(25).map(f64::from) {
        if percent / 100.0 > most {
            break;
        }
        let (x, class) = (
            across(percent / 100.0),
            if percent == 100.0 { "limit" } else { "axis" },
        );
        body.push_str(&svg::element(
            "line",
            &[
                ("class", &class),
                ("x1", &tenths(x)),
                ("y1", &tenths(TOP - 20.0)),
                ("x2", &tenths(x)),
                ("y2", &tenths(bottom)),
            ],
        ));
        let label = if percent == 100.0 {
            "limit".to_owned()
        } else {
            format!("{percent:.0} %")
        };
        body.push_str(&svg::text(
            &[
                ("x", &tenths(x)),
                ("y", &tenths(bottom + 20.0)),
                ("text-anchor", &"middle"),
            ],
            &label,
        ));
    }
    for (row, group) in groups.iter().enumerate() {
        let y = TOP + ROW * row as f64;
        body.push_str(&svg::text(
            &[
                ("x", &tenths(LEFT - 12.0)),
                ("y", &tenths(y + 5.0)),
                ("text-anchor", &"end"),
            ],
            &group.kernel,
        ));
        let winner = best(group).map(|(line, _)| line);
        let of_name = |name: &String| group.lines.iter().find(|line| line.name == *name);
        let named = names.iter();
        let named = named.filter_map(|name| Some((palette.class(name), of_name(name)?)));
        let other = winner.filter(|line| !names.contains(&line.name));
        for (class, line) in named.chain(other.map(|line| ("other".to_owned(), line))) {
            let Some(share) = share(line) else { continue };
            let half = line.times.as_ref().map_or(0.0, |times| times.spread / 2.0);
            let (x, y) = (tenths(across(share)), tenths(y));
            let (low, high) = (share / (1.0 + half), share / (1.0 - half).max(0.1));
            body.push_str(&svg::element(
                "line",
                &[
                    ("class", &class),
                    ("x1", &tenths(across(low))),
                    ("y1", &y),
                    ("x2", &tenths(across(high))),
                    ("y2", &y),
                ],
            ));
            body.push_str(&svg::element(
                "circle",
                &[
                    ("class", &format_args!("mark {class}")),
                    ("cx", &x),
                    ("cy", &y),
                    ("r", &5),
                ],
            ));
            if winner.is_some_and(|winner| winner.name == line.name) {
                body.push_str(&svg::element(
                    "circle",
                    &[
                        ("class", &class),
                        ("style", &"fill: none; stroke-width: 2"),
                        ("cx", &x),
                        ("cy", &y),
                        ("r", &9),
                    ],
                ));
            }
        }
    }
    svg::styled(
        (width, height),
        &format!("{STYLE}{}", palette::STYLE),
        &body,
    )
}

/// The share of the limit that a variant reaches.
fn share(line: &Line) -> Option<f64> {
    line.times.as_ref()?.share
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::results::Times;
    use super::*;

    fn line((name, speed_up): &(&str, f64)) -> Line {
        Line {
            name: (*name).to_owned(),
            peer: false,
            why: None,
            times: Some(Times {
                runs: Vec::new(),
                min: 1.0,
                median: 1.0,
                spread: 0.1,
                disturbed: 0.0,
                gflops: 1.0,
                gbytes: 1.0,
                share: Some(speed_up / 100.0),
                speed_up: *speed_up,
                error: 0.0,
            }),
            proof: String::new(),
            nest: String::new(),
            path: String::new(),
            code: String::new(),
            function: String::new(),
            compiled: String::new(),
        }
    }

    /// Results of a kernel: variants with their speed-ups, all at the same percentage of the limit.
    pub(in super::super) fn group(kernel: &str, lines: &[(&str, f64)]) -> Group {
        Group {
            kernel: kernel.to_owned(),
            why: None,
            evidence: String::new(),
            flops: 1.0,
            limit: None,
            lines: lines.iter().map(line).collect(),
            absent: Vec::new(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn each_kernel_has_its_best_variant() {
        let tmm = group("tmm", &[("naive", 1.0), ("plan", 90.0)]);
        let rings = |svg: &str| svg.matches("r=\"9\"").count();
        let mm = group("mm", &[("naive", 1.0), ("plan", 50.0), ("packed", 80.0)]);
        let svg = overview(&[mm, tmm.clone()], &Palette::default());
        assert!(svg.contains(OTHER), "{svg}");
        assert_eq!(rings(&svg), 2, "{svg}");
        let mm = group("mm", &[("naive", 1.0), ("plan", 80.0), ("packed", 50.0)]);
        let svg = overview(&[mm, tmm], &Palette::default());
        assert!(!svg.contains(OTHER), "{svg}");
        assert_eq!(rings(&svg), 2, "{svg}");
    }
}
