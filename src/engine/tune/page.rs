//! A search as a self-contained page: its convergence, charts of each parameter against time, heat
//! maps of pairs of parameters, and the refusals.

use super::outcome::{Trial, Tuned};
use super::plan::Plan;
use super::summary::reasons;
use super::value::Value;
use crate::report::svg::{self, escaped, tenths};
use crate::report::time;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

const STYLE: &str = "\
body { font-family: sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { padding: 0.2em 0.7em; text-align: right; border-bottom: 1px solid #ddd; }
th:last-child, td:last-child { text-align: left; }
svg { max-width: 100%; height: auto; }
ul { color: #444; }
";

/// Rows of the table, and values of a parameter per chart.
const ROWS: usize = 10;
const VALUES: usize = 16;

/// Inner size and margins of charts.
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 160.0;
const LEFT: f64 = 90.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 40.0;

/// The page, as HTML that is also well-formed XML. `limit` is the least time that the machine
/// allows, in seconds, if it is known.
pub fn page(tuned: &Tuned, names: &[&str], plan: &Plan, limit: Option<f64>) -> String {
    let title = "teml tune";
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    );
    let elapsed = tuned.elapsed.as_secs_f64();
    let _ = writeln!(
        html,
        "<p>{} trials in {elapsed:.1} s, proposed by the search `{}` with seed {}.</p>",
        tuned.trials.len(),
        plan.strategy.name(),
        plan.seed
    );
    html.push_str(&table(tuned, limit));
    html.push_str("<h2>Convergence</h2>\n");
    html.push_str(&convergence(tuned));
    html.push_str("<h2>Parameters</h2>\n");
    let varied: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| values(tuned, name).len() > 1)
        .collect();
    for name in &varied {
        html.push_str(&strip(tuned, name));
    }
    if varied.len() > 1 {
        html.push_str(
            "<h2>Pairs of parameters</h2>\n<p>The fastest point of each pair of values; \
                       the darker, the faster.</p>\n",
        );
    }
    for (k, first) in varied.iter().enumerate() {
        for second in &varied[k + 1..] {
            html.push_str(&heat(tuned, first, second));
        }
    }
    if !tuned.refused.is_empty() {
        html.push_str("<h2>Refused points</h2>\n<ul>\n");
        for line in reasons(&tuned.refused) {
            let _ = writeln!(html, "<li>{}</li>", escaped(&line));
        }
        html.push_str("</ul>\n");
    }
    html.push_str("</body>\n</html>\n");
    html
}

fn shown(seconds: f64) -> String {
    time(Duration::from_secs_f64(seconds))
}

fn table(tuned: &Tuned, limit: Option<f64>) -> String {
    let mut html = String::from(
        "<table>\n<tr><th></th><th>shortest time</th><th>GFLOP/s</th><th>of limit</th><th>point</th></tr>\n",
    );
    let flops = tuned.work.as_ref().map_or(0.0, |work| work.flops);
    for (k, ranked) in tuned.fastest().into_iter().take(ROWS).enumerate() {
        let seconds = ranked.seconds;
        let share = limit.map_or("–".to_owned(), |limit| {
            format!("{:.1} %", 100.0 * limit / seconds)
        });
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td>{}</td><td>{:.2}</td><td>{share}</td><td>{}{}</td></tr>",
            k + 1,
            shown(seconds),
            flops / seconds / 1e9,
            escaped(&ranked.trial.point.to_string()),
            ranked.mark()
        );
    }
    html.push_str("</table>\n");
    html
}

/// A chart with these marks, axes and a title.
fn chart(title: &str, height: f64, marks: &str) -> String {
    let (w, h) = (LEFT + WIDTH + 20.0, TOP + height + BOTTOM);
    let back = svg::element(
        "rect",
        &[("width", &w), ("height", &h), ("fill", &"#ffffff")],
    );
    let title = svg::text(&[("x", &LEFT), ("y", &18), ("font-weight", &"bold")], title);
    svg::document(
        (w, h),
        &[("font-family", &"sans-serif"), ("font-size", &12)],
        &format!("{back}{title}{marks}"),
    )
}

/// A logarithmic scale of times, from the least to the greatest.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn of(tuned: &Tuned) -> Scale {
        let times = tuned.trials.iter().filter_map(Trial::seconds);
        let (low, high) = times.fold((f64::INFINITY, 0.0f64), |(l, h), t| (l.min(t), h.max(t)));
        Scale {
            low,
            high: high.max(1.01 * low),
        }
    }

    /// The position on the scale: 0 at the least time, 1 at the greatest.
    fn part(&self, seconds: f64) -> f64 {
        let part = (seconds / self.low).ln() / (self.high / self.low).ln();
        if part.is_finite() {
            part.clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    fn y(&self, seconds: f64) -> f64 {
        TOP + HEIGHT * (1.0 - self.part(seconds))
    }

    fn axis(&self) -> String {
        [self.low, self.high]
            .map(|seconds| {
                svg::text(
                    &[
                        ("x", &(LEFT - 8.0)),
                        ("y", &tenths(self.y(seconds) + 4.0)),
                        ("text-anchor", &"end"),
                    ],
                    &shown(seconds),
                )
            })
            .concat()
    }
}

fn convergence(tuned: &Tuned) -> String {
    let scale = Scale::of(tuned);
    let count = tuned.trials.len().max(2) as f64;
    let mut marks = scale.axis();
    let mut best = f64::INFINITY;
    let mut line = String::new();
    for (k, trial) in tuned.trials.iter().enumerate() {
        let x = LEFT + WIDTH * k as f64 / (count - 1.0);
        if let Some(seconds) = trial.seconds() {
            best = best.min(seconds);
            let y = scale.y(seconds);
            marks.push_str(&svg::element(
                "circle",
                &[
                    ("cx", &tenths(x)),
                    ("cy", &tenths(y)),
                    ("r", &2.5),
                    ("fill", &"#9aa0a6"),
                ],
            ));
        }
        if best.is_finite() {
            let _ = write!(line, "{x:.1},{:.1} ", scale.y(best));
        }
    }
    marks.push_str(&svg::element(
        "polyline",
        &[
            ("points", &line.trim_end()),
            ("fill", &"none"),
            ("stroke", &"#2f6fb3"),
            ("stroke-width", &2),
        ],
    ));
    let foot = TOP + HEIGHT + 24.0;
    marks.push_str(&svg::text(&[("x", &LEFT), ("y", &foot)], "trial 1"));
    marks.push_str(&svg::text(
        &[
            ("x", &(LEFT + WIDTH)),
            ("y", &foot),
            ("text-anchor", &"end"),
        ],
        &format!("trial {}", tuned.trials.len()),
    ));
    chart("time of each trial, and the best so far", HEIGHT, &marks)
}

/// The values of a parameter with measured times, in order.
fn values(tuned: &Tuned, name: &str) -> Vec<String> {
    let timed = tuned.trials.iter().filter(|t| t.seconds().is_some());
    let mut all: Vec<&Value> = Vec::new();
    for value in timed.filter_map(|t| t.point.get(name)) {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    let number = |value: &Value| value.number().unwrap_or(f64::INFINITY);
    all.sort_by(|a, b| {
        let order = number(a).total_cmp(&number(b));
        order.then_with(|| a.to_string().cmp(&b.to_string()))
    });
    all.into_iter().map(Value::to_string).take(VALUES).collect()
}

fn strip(tuned: &Tuned, name: &str) -> String {
    let scale = Scale::of(tuned);
    let values = values(tuned, name);
    let step = WIDTH / values.len().max(1) as f64;
    let mut marks = scale.axis();
    for (k, value) in values.iter().enumerate() {
        let x = LEFT + step * (k as f64 + 0.5);
        marks.push_str(&label_below(x, TOP + HEIGHT + 24.0, value));
        for trial in &tuned.trials {
            let own = trial.point.get(name).map(Value::to_string);
            if let (Some(seconds), true) = (trial.seconds(), own.as_ref() == Some(value)) {
                marks.push_str(&svg::element(
                    "circle",
                    &[
                        ("cx", &tenths(x)),
                        ("cy", &tenths(scale.y(seconds))),
                        ("r", &3),
                        ("fill", &"#2f6fb3"),
                        ("fill-opacity", &0.5),
                    ],
                ));
            }
        }
    }
    chart(name, HEIGHT, &marks)
}

/// A value of a parameter, centered at `x`.
fn label_below(x: f64, y: f64, value: &str) -> String {
    svg::text(
        &[("x", &tenths(x)), ("y", &y), ("text-anchor", &"middle")],
        &shortened(value),
    )
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(14) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn heat(tuned: &Tuned, first: &str, second: &str) -> String {
    let scale = Scale::of(tuned);
    let mut best: BTreeMap<(String, String), f64> = BTreeMap::new();
    for trial in &tuned.trials {
        let text = |name: &str| trial.point.get(name).map(Value::to_string);
        if let (Some(a), Some(b), Some(seconds)) = (text(first), text(second), trial.seconds()) {
            let known = best.entry((a, b)).or_insert(seconds);
            *known = known.min(seconds);
        }
    }
    let (rows, columns) = (values(tuned, first), values(tuned, second));
    let (row, column) = (22.0, WIDTH / columns.len().max(1) as f64);
    let mut marks = String::new();
    for (r, a) in rows.iter().enumerate() {
        let y = TOP + row * r as f64;
        marks.push_str(&svg::text(
            &[
                ("x", &(LEFT - 8.0)),
                ("y", &(y + 15.0)),
                ("text-anchor", &"end"),
            ],
            &shortened(a),
        ));
        for (c, b) in columns.iter().enumerate() {
            let x = LEFT + column * c as f64;
            let (fill, opacity, label) = match best.get(&(a.clone(), b.clone())) {
                Some(seconds) => ("#2f6fb3", 1.0 - 0.9 * scale.part(*seconds), shown(*seconds)),
                None => ("#eeeeee", 1.0, "not tried".to_owned()),
            };
            marks.push_str(&svg::titled(
                "rect",
                &[
                    ("x", &tenths(x)),
                    ("y", &tenths(y)),
                    ("width", &tenths(column - 2.0)),
                    ("height", &(row - 2.0)),
                    ("fill", &fill),
                    ("fill-opacity", &format_args!("{opacity:.2}")),
                ],
                &label,
            ));
        }
    }
    let height = row * rows.len() as f64;
    for (c, b) in columns.iter().enumerate() {
        let x = LEFT + column * (c as f64 + 0.5);
        marks.push_str(&label_below(x, TOP + height + 18.0, b));
    }
    chart(&format!("{first} (rows) and {second}"), height, &marks)
}
