//! How fast the last variant of a comparison and the peers are at several sizes: as a table and as
//! a chart.

use super::chart::escaped;
use super::results::{Group, Line, Times};
use super::table::{aligned, new_table};
use serde::Serialize;
use std::fmt::{self, Write};
use std::str::FromStr;

/// Which parameters of scripts take which values, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The parameters, which all take the same value.
    pub names: Vec<String>,
    /// The values.
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
        match names.iter().any(String::is_empty) || values.contains(&0) {
            true => Err(expected()),
            false => Ok(Sizes { names, values }),
        }
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names.join(", "))
    }
}

/// A kernel at several sizes.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// The kernel.
    pub kernel: String,
    /// The parameters that differ.
    pub axis: String,
    /// In the order in which they were asked for.
    pub points: Vec<Point>,
}

/// A kernel at one size.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// The value of the parameters.
    pub at: u32,
    /// What was measured.
    pub group: Group,
}

impl Curve {
    /// Whether anything was not measured that should have been.
    pub(super) fn failed(&self) -> bool {
        self.points.iter().any(|point| point.group.failed_in_part())
    }

    /// The names of what was measured, in order.
    fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for line in self.points.iter().flat_map(|point| &point.group.lines) {
            if line.times.is_some() && !names.contains(&line.name.as_str()) {
                names.push(line.name.as_str());
            }
        }
        names
    }

    pub(super) fn heads(&self) -> Vec<String> {
        let columns = |name: &str| [format!("{name}, GFLOP/s"), "of limit".to_owned()];
        let columns = self.names().into_iter().flat_map(columns);
        [self.axis.clone()].into_iter().chain(columns).collect()
    }

    pub(super) fn rows(&self) -> Vec<Vec<String>> {
        let names = self.names();
        let cells = |point: &Point| {
            let mut row = vec![point.at.to_string()];
            for name in &names {
                let times = times(point, name);
                row.push(times.map_or("–".to_owned(), |t| format!("{:.2}", t.gflops)));
                let share = times.and_then(|t| t.share);
                row.push(share.map_or("–".to_owned(), |s| format!("{:.1} %", 100.0 * s)));
            }
            row
        };
        self.points.iter().map(cells).collect()
    }

    /// What could not be measured, and why.
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
const COLORS: [&str; 4] = ["#2f6fb3", "#d98a29", "#3c8d5a", "#8a4fa0"];

/// Lines of the share of the machine's limit over the size, which grows by factors, as SVG that
/// needs nothing else.
pub fn curve_chart(curve: &Curve) -> String {
    let sizes = curve.points.iter().map(|point| f64::from(point.at).log2());
    let (low, high) = sizes.fold((f64::MAX, f64::MIN), |(a, b), s| (a.min(s), b.max(s)));
    let across = |at: u32| {
        let part = (f64::from(at).log2() - low) / (high - low).max(1e-9);
        LEFT + part * WIDTH
    };
    let up = |share: f64| TOP + HEIGHT * (1.0 - share.clamp(0.0, 1.0));
    let (width, height) = (LEFT + WIDTH + 130.0, TOP + HEIGHT + 50.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"{LEFT}\" y=\"20\" font-weight=\"bold\">{}: share of the limit</text>\n",
        escaped(&curve.kernel)
    );
    for percent in (0..=100).step_by(20) {
        let y = up(f64::from(percent) / 100.0);
        let _ = write!(
            svg,
            "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>\n\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{percent} %</text>\n",
            LEFT + WIDTH,
            LEFT - 8.0,
            y + 4.0
        );
    }
    let bottom = TOP + HEIGHT;
    let mut last = f64::MIN;
    for point in &curve.points {
        let x = across(point.at);
        // Numbers that would overlap are left out.
        if (x - last).abs() < 34.0 {
            continue;
        }
        last = x;
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 18.0,
            point.at
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
        LEFT + WIDTH / 2.0,
        bottom + 38.0,
        escaped(&curve.axis)
    );
    for (k, name) in curve.names().into_iter().enumerate() {
        let color = COLORS[k % COLORS.len()];
        let place = |point: &Point| {
            let share = times(point, name)?.share?;
            Some((across(point.at), up(share)))
        };
        let mut places: Vec<(f64, f64)> = curve.points.iter().filter_map(place).collect();
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        let line: Vec<String> = places
            .iter()
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        let y = TOP + 18.0 * k as f64 + 10.0;
        let _ = write!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>\n\
             <text x=\"{}\" y=\"{y}\" fill=\"{color}\">{}</text>\n",
            line.join(" "),
            LEFT + WIDTH + 12.0,
            escaped(name)
        );
        for (x, y) in places {
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{color}\"/>"
            );
        }
    }
    svg.push_str("</svg>\n");
    svg
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
        for wrong in ["m", "m=", "=1", "m,=1", "m=0", "m=-1", "m=1,x"] {
            assert!(wrong.parse::<Sizes>().is_err(), "{wrong}");
        }
    }
}
