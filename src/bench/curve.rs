//! Curves over problem sizes or numbers of threads, as a table and as a chart. They show how fast
//! the last variant of a comparison and the peers are, or the speed-ups of all variants over the
//! first.

use super::cells::{aligned, new_table, seconds};
use super::palette::{self, Palette};
use super::results::{Curve, Height, Line, Point, Times};
use crate::report::percent_of_limit;
use crate::report::svg::{self, tenths};
use std::fmt;
use std::str::FromStr;

/// Parameters of scripts with the values that they take one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Parameters, which all take the same value.
    pub names: Vec<String>,
    /// The values, in order.
    pub values: Vec<u32>,
}

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Sizes, String> {
        let expected = || "expected NAMES=VALUES, such as m,n,k=64,128,256".to_owned();
        let (names, values) = text.split_once('=').ok_or_else(expected)?;
        let names: Vec<String> = names.split(',').map(|n| n.trim().to_owned()).collect();
        let values = values.split(',').map(|v| v.trim().parse());
        let values: Vec<u32> = values.collect::<Result<_, _>>().map_err(|_| expected())?;
        let sizes = Sizes { names, values };
        let too_many = |threads: &u32| *threads > u32::from(u16::MAX);
        if sizes.are_threads() && sizes.values.iter().any(too_many) {
            return Err(format!("at most {} threads", u16::MAX));
        }
        if sizes.names.iter().any(String::is_empty) || sizes.values.contains(&0) {
            Err(expected())
        } else {
            Ok(sizes)
        }
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names.join(", "))
    }
}

/// The axis that sets threads instead of script parameters.
const THREADS: &str = "threads";

impl Sizes {
    /// Whether the values are numbers of threads of parallel loops.
    pub(super) fn are_threads(&self) -> bool {
        self.names == [THREADS]
    }
}

impl Curve {
    /// The labels of all variants and peers, in order.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for line in self.points.iter().flat_map(|point| &point.group.lines) {
            if line.times.is_some() && !names.contains(&line.name.as_str()) {
                names.push(line.name.as_str());
            }
        }
        names
    }

    pub(super) fn heads(&self) -> Vec<String> {
        let columns = |name: &str| match self.height {
            Height::Share => vec![format!("{name}, GFLOP/s"), "of limit".to_owned()],
            Height::SpeedUp => vec![name.to_owned(), "speed-up".to_owned()],
        };
        let columns = self.names().into_iter().flat_map(columns);
        [self.axis.clone()].into_iter().chain(columns).collect()
    }

    pub(super) fn rows(&self) -> Vec<Vec<String>> {
        let names = self.names();
        let cells = |point: &Point| {
            let mut row = vec![point.at.to_string()];
            for name in &names {
                let times = times(point, name);
                let nothing = || "–".to_owned();
                match self.height {
                    Height::Share => {
                        row.push(times.map_or_else(nothing, |t| format!("{:.2}", t.gflops)));
                        let share = times.and_then(|t| t.share);
                        row.push(share.map_or_else(nothing, percent_of_limit));
                    }
                    Height::SpeedUp => {
                        row.push(times.map_or_else(nothing, |t| seconds(t.median)));
                        row.push(times.map_or_else(nothing, |t| format!("{:.2}x", t.speed_up)));
                    }
                }
            }
            row
        };
        self.points.iter().map(cells).collect()
    }

    /// The height of a label's curve at a point.
    fn height_of(&self, point: &Point, name: &str) -> Option<f64> {
        let times = times(point, name)?;
        match self.height {
            Height::Share => times.share,
            Height::SpeedUp => Some(times.speed_up),
        }
    }

    /// The marks of the vertical axis, up to above all points, with their labels.
    fn marks(&self) -> Vec<(f64, String)> {
        let Height::SpeedUp = self.height else {
            let percent = (0..=100).step_by(20);
            return percent
                .map(|p| (f64::from(p) / 100.0, format!("{p} %")))
                .collect();
        };
        let names = self.names();
        let all = self.points.iter();
        let all = all.flat_map(|p| names.iter().filter_map(|name| self.height_of(p, name)));
        let highest = all.fold(1.0, f64::max);
        // At most ten steps of 1, 2 or 5 times a power of ten.
        let power = 10f64.powf((highest / 10.0).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let fits = |step: &f64| highest / step <= 10.0;
        let step = steps.into_iter().find(fits).unwrap_or(highest);
        let count = (highest / step).ceil() as u32;
        let marks = (0..=count).map(|k| f64::from(k) * step);
        marks
            .map(|mark| {
                (
                    mark,
                    format!("{mark:.3}")
                        .trim_end_matches('0')
                        .trim_end_matches('.')
                        .to_owned(),
                )
            })
            .collect()
    }

    fn title(&self) -> String {
        let kernel = &self.kernel;
        match (self.height, self.names().first()) {
            (Height::SpeedUp, Some(first)) => format!("{kernel}: speed-up over {first}"),
            _ => format!("{kernel}: share of the limit"),
        }
    }

    /// Notes on variants that could not be measured, with the reason.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for Point { at, group } in &self.points {
            let axis = &self.axis;
            if let Some(why) = &group.why {
                notes.push(format!("{axis} = {at}: {}", why.trim_end()));
            }
            for line in &group.lines {
                if let Some(why) = &line.why {
                    notes.push(format!("{axis} = {at}, {}: {}", line.name, why.trim_end()));
                }
            }
        }
        notes
    }
}

fn times<'p>(point: &'p Point, name: &str) -> Option<&'p Times> {
    let line: Option<&Line> = point.group.lines.iter().find(|line| line.name == name);
    line?.times.as_ref()
}

/// The table of one curve.
pub fn curve_table(curve: &Curve) -> String {
    let heads = curve.heads();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut table = new_table(&heads);
    for row in curve.rows() {
        table.add_row(row);
    }
    let mut lines = vec![format!("{}:", curve.kernel), aligned(table)];
    lines.extend(curve.notes());
    lines.join("\n")
}

const LEFT: f64 = 60.0;
const WIDTH: f64 = 640.0;
const TOP: f64 = 40.0;
const HEIGHT: f64 = 260.0;
const RIGHT: f64 = 130.0;
const BOTTOM: f64 = 50.0;

/// The size of a chart.
pub(super) const SIZE: (f64, f64) = (LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM);

/// Colors for light and dark backgrounds.
const STYLE: &str = "\
text { font: 13px system-ui, sans-serif; fill: #1f2933; } .back { fill: #ffffff; }
.strong { font-weight: 600; } .grid { stroke: #dddddd; }
.curve { fill: none; stroke-width: 2; }
polyline.curve { fill: none; } text.name { stroke: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #e4e8ee; } .back { fill: #14181d; } .grid { stroke: #303943; }
}
";

/// The chart of a curve, as a self-contained SVG: the share of the machine's limit, or the
/// speed-up, over the size on a logarithmic axis. `palette` is that of all charts.
pub fn curve_chart(curve: &Curve, palette: &Palette) -> String {
    let sizes = curve.points.iter().map(|point| f64::from(point.at).log2());
    let (low, high) = sizes.fold((f64::MAX, f64::MIN), |(a, b), s| (a.min(s), b.max(s)));
    let across = |at: u32| {
        let part = (f64::from(at).log2() - low) / (high - low).max(1e-9);
        LEFT + part * WIDTH
    };
    let marks = curve.marks();
    let highest = marks.last().map_or(1.0, |(mark, _)| *mark);
    let up = |height: f64| TOP + HEIGHT * (1.0 - (height / highest).clamp(0.0, 1.0));
    let mut body = svg::text(
        &[("class", &"strong"), ("x", &LEFT), ("y", &20)],
        &curve.title(),
    );
    for (mark, label) in &marks {
        let y = up(*mark);
        body.push_str(&svg::element(
            "line",
            &[
                ("class", &"grid"),
                ("x1", &LEFT),
                ("y1", &tenths(y)),
                ("x2", &(LEFT + WIDTH)),
                ("y2", &tenths(y)),
            ],
        ));
        body.push_str(&svg::text(
            &[
                ("x", &(LEFT - 8.0)),
                ("y", &tenths(y + 4.0)),
                ("text-anchor", &"end"),
            ],
            label,
        ));
    }
    let bottom = TOP + HEIGHT;
    let mut last = f64::MIN;
    for point in &curve.points {
        let x = across(point.at);
        // Skip labels that would overlap.
        if (x - last).abs() < 34.0 {
            continue;
        }
        last = x;
        body.push_str(&svg::text(
            &[
                ("x", &tenths(x)),
                ("y", &(bottom + 18.0)),
                ("text-anchor", &"middle"),
            ],
            &point.at.to_string(),
        ));
    }
    body.push_str(&svg::text(
        &[
            ("x", &(LEFT + WIDTH / 2.0)),
            ("y", &(bottom + 38.0)),
            ("text-anchor", &"middle"),
        ],
        &curve.axis,
    ));
    for (k, name) in curve.names().into_iter().enumerate() {
        let class = palette.class(name);
        let place = |point: &Point| {
            let height = curve.height_of(point, name)?;
            Some((across(point.at), up(height)))
        };
        let mut places: Vec<(f64, f64)> = curve.points.iter().filter_map(place).collect();
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        let line: Vec<String> = places
            .iter()
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        let y = TOP + 18.0 * k as f64 + 10.0;
        body.push_str(&svg::element(
            "polyline",
            &[
                ("class", &format_args!("curve {class}")),
                ("points", &line.join(" ")),
            ],
        ));
        body.push_str(&svg::text(
            &[
                ("class", &format_args!("name {class}")),
                ("x", &(LEFT + WIDTH + 12.0)),
                ("y", &y),
            ],
            name,
        ));
        for (x, y) in places {
            body.push_str(&svg::element(
                "circle",
                &[
                    ("class", &class),
                    ("cx", &tenths(x)),
                    ("cy", &tenths(y)),
                    ("r", &3),
                ],
            ));
        }
    }
    svg::styled(SIZE, &format!("{STYLE}{}", palette::STYLE), &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let sizes = Sizes {
            names: vec!["m".to_owned(), "n".to_owned()],
            values: vec![64, 128],
        };
        assert_eq!("m, n=64,128".parse(), Ok(sizes));
        for wrong in [
            "m",
            "m=",
            "=1",
            "m,=1",
            "m=0",
            "m=-1",
            "m=1,x",
            "threads=70000",
        ] {
            assert!(wrong.parse::<Sizes>().is_err(), "{wrong}");
        }
    }
}
