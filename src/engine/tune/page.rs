//! A search as a self-contained page: its convergence, charts of each parameter against time, heat
//! maps of pairs of parameters, and the refusals.

use super::outcome::{Trial, Tuned};
use super::plan::Plan;
use super::summary::reasons;
use super::value::{Point, Value};
use crate::ir::Nest;
use crate::report::svg::{self, escaped, tenths};
use crate::report::{percent_of_limit, time};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, SystemTime};

const STYLE: &str = include_str!("page.css");

/// Rows of the table, and values of a parameter per chart.
const ROWS: usize = 10;
const VALUES: usize = 16;

/// Inner size and margins of charts, which fit on a telephone.
const WIDTH: f64 = 260.0;
const HEIGHT: f64 = 130.0;
const LEFT: f64 = 78.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 40.0;

/// The contents of a page that are not in the result of the search.
pub struct Shown<'a> {
    /// The names of the parameters, in order.
    pub names: &'a [&'a str],
    /// The least time that the machine allows, in seconds, if it is known.
    pub limit: Option<f64>,
    /// The path of each nest of the winner, as a script.
    pub scripts: Vec<String>,
    /// The C of the winner.
    pub code: Option<String>,
}

/// The page, as HTML that is also well-formed XML.
pub fn page(tuned: &Tuned, plan: &Plan, shown: &Shown<'_>) -> String {
    let title = escaped(&format!("Search: {}", subject(tuned)));
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    );
    html.push_str(&facts(tuned, plan));
    let varied: Vec<&str> = shown
        .names
        .iter()
        .copied()
        .filter(|name| values(tuned, name).len() > 1)
        .collect();
    html.push_str(&table(tuned, shown.limit, &varied));
    for script in &shown.scripts {
        let script = escaped(script.trim_end());
        let _ = write!(
            html,
            "<h2>The schedule of the winner</h2>\n<pre>{script}</pre>\n"
        );
    }
    if let Some(code) = &shown.code {
        let code = escaped(code.trim());
        let _ = write!(
            html,
            "<details><summary>The C of the winner</summary>\n<pre>{code}</pre>\n</details>\n"
        );
    }
    html.push_str("<h2>Convergence</h2>\n");
    html.push_str(&convergence(tuned));
    html.push_str(
        "<p class=\"legend\"><span class=\"trial\">●</span> a trial \
         <span class=\"winner\">●</span> the winner \
         <span class=\"best\">━</span> the best so far. Times are logarithmic.</p>\n",
    );
    if !varied.is_empty() {
        html.push_str(
            "<h2>Parameters</h2>\n<p>The times of all trials, by the value of a parameter.</p>\n",
        );
    }
    html.push_str("<div class=\"charts\">\n");
    for name in &varied {
        html.push_str(&strip(tuned, name));
    }
    html.push_str("</div>\n");
    if varied.len() > 1 {
        html.push_str(
            "<details><summary>Pairs of parameters</summary>\n<p>The fastest point of each pair \
             of values: the darker, the faster.</p>\n<div class=\"charts\">\n",
        );
        for (k, first) in varied.iter().enumerate() {
            for second in &varied[k + 1..] {
                html.push_str(&heat(tuned, first, second));
            }
        }
        html.push_str("</div>\n</details>\n");
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

/// The nests that the search began with.
fn baseline(tuned: &Tuned) -> Option<&Trial> {
    tuned.trials.first()
}

/// The tensor that is computed.
fn subject(tuned: &Tuned) -> String {
    let nest = baseline(tuned).and_then(|trial| trial.nests.last());
    let tensors = nest.map(declarations).unwrap_or_default();
    let first = tensors.split([',', '\n']).next().unwrap_or_default();
    let name = first.rsplit(' ').next().unwrap_or_default();
    name.split('[').next().unwrap_or_default().to_owned()
}

/// The lines of a nest that declare its sizes and tensors.
fn declarations(nest: &Nest) -> String {
    let text = nest.to_string();
    let count = text.lines().count().saturating_sub(nest.lines().len());
    text.lines().take(count).collect::<Vec<_>>().join("\n")
}

fn facts(tuned: &Tuned, plan: &Plan) -> String {
    let mut all: Vec<(&str, String)> = Vec::new();
    let mut tensors: Vec<String> = Vec::new();
    for nest in baseline(tuned).iter().flat_map(|trial| &trial.nests) {
        let text = declarations(nest);
        if !tensors.contains(&text) {
            tensors.push(text);
        }
    }
    all.push(("Tensors", tensors.join("; ")));
    if let Some(record) = &tuned.recorded {
        let key = &record.key;
        all.push(("Processor", format!("{}, {}", key.cpu, key.vector)));
        all.push(("Threads", key.threads.to_string()));
        all.push(("Compiler", key.compiler.clone()));
    }
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    all.push(("Date", now.replace('T', " ").replace('Z', " UTC")));
    let elapsed = tuned.elapsed.as_secs_f64();
    all.push((
        "Trials",
        format!(
            "{} in {elapsed:.1} s, by the search {} with seed {}",
            tuned.trials.len(),
            plan.strategy.name(),
            plan.seed
        ),
    ));
    let fastest = tuned.fastest();
    let first = baseline(tuned).and_then(|first| {
        let mut all = fastest.iter();
        all.find(|ranked| ranked.trial.digits == first.digits)
    });
    if let Some(first) = first {
        all.push(("First point", time_of(first.seconds)));
    }
    if let Some(winner) = fastest.iter().find(|ranked| ranked.is_winner) {
        let gain = match first {
            Some(first) if first.is_winner => ", the first point".to_owned(),
            Some(first) => format!(
                ", {:.2} times as fast as the first point",
                first.seconds / winner.seconds
            ),
            None => String::new(),
        };
        all.push(("Winner", format!("{}{gain}", time_of(winner.seconds))));
    }
    if let Some(text) = of_model(tuned) {
        all.push(("Cost model", text));
    }
    let cells = all
        .into_iter()
        .map(|(name, value)| format!("<div><dt>{name}</dt><dd>{}</dd></div>\n", escaped(&value)));
    format!("<dl class=\"facts\">\n{}</dl>\n", cells.collect::<String>())
}

/// How far the cost model is off, and how well it ranks.
fn of_model(tuned: &Tuned) -> Option<String> {
    let pairs = tuned.trials.iter();
    let mut factors: Vec<f64> = pairs
        .filter_map(|trial| Some((trial.expected? / trial.seconds()?).ln().abs().exp()))
        .collect();
    factors.sort_by(f64::total_cmp);
    let median = factors.get(factors.len() / 2)?;
    let rank = match tuned.agreement().correlation {
        Some(rank) => format!(", rank correlation {rank:.2}"),
        None => String::new(),
    };
    let count = factors.len();
    Some(format!(
        "off by a factor of {median:.1} (median of {count} trials){rank}"
    ))
}

fn time_of(seconds: f64) -> String {
    time(Duration::from_secs_f64(seconds))
}

/// The parameters of a point in which points differ, unless they are empty or 0.
fn readable(point: &Point, varied: &[&str]) -> String {
    let is_empty = |value: &Value| match value {
        Value::Text(text) => text.is_empty(),
        Value::List(list) => list.is_empty(),
        Value::Int(number) => *number == 0,
        _ => false,
    };
    let all = point
        .iter()
        .filter(|(name, _)| varied.contains(&name.as_str()));
    let all = all.filter(|(_, value)| !is_empty(value));
    let texts = all.map(|(name, value)| match value {
        Value::Text(text) => format!("{name} {text}"),
        value => format!("{name} {value}"),
    });
    texts.collect::<Vec<_>>().join(", ")
}

fn table(tuned: &Tuned, limit: Option<f64>, varied: &[&str]) -> String {
    let of_limit = if limit.is_some() {
        "<th>of limit</th>"
    } else {
        ""
    };
    let mut html = format!(
        "<h2>The fastest points</h2>\n<div class=\"wide\"><table>\n<tr><th></th>\
         <th>shortest time</th><th>GFLOP/s</th>{of_limit}<th>point</th></tr>\n"
    );
    let flops = tuned.work.as_ref().map_or(0.0, |work| work.flops);
    for (k, ranked) in tuned.fastest().into_iter().take(ROWS).enumerate() {
        let seconds = ranked.seconds;
        let share = limit.map_or_else(String::new, |limit| {
            format!("<td>{}</td>", percent_of_limit(limit / seconds))
        });
        let class = if ranked.is_winner {
            " class=\"best\""
        } else {
            ""
        };
        let _ = writeln!(
            html,
            "<tr{class}><td>{}</td><td>{}</td><td>{:.2}</td>{share}<td>{}{}</td></tr>",
            k + 1,
            time_of(seconds),
            flops / seconds / 1e9,
            escaped(&readable(&ranked.trial.point, varied)),
            ranked.mark()
        );
    }
    html.push_str(
        "</table></div>\n<p>A point shows the parameters in which points differ, unless they are 0 \
         or empty.</p>\n",
    );
    html
}

/// A chart with these marks, axes and a title.
fn chart(title: &str, height: f64, marks: &str) -> String {
    let (w, h) = (LEFT + WIDTH + 14.0, TOP + height + BOTTOM);
    let title = svg::text(&[("x", &LEFT), ("y", &18), ("font-weight", &"bold")], title);
    let chart = svg::document((w, h), &[], &format!("{title}{marks}"));
    format!("<div class=\"chart\">{chart}</div>\n")
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
                    &time_of(seconds),
                )
            })
            .concat()
    }
}

fn convergence(tuned: &Tuned) -> String {
    let scale = Scale::of(tuned);
    let count = tuned.trials.len().max(2) as f64;
    let mut marks = scale.axis();
    let winner = tuned
        .decided
        .finalists
        .first()
        .map(|finalist| finalist.number);
    let is_winner = |k: usize| winner == Some(k);
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
                    ("r", &if is_winner(k) { 4.5 } else { 2.5 }),
                    ("class", &if is_winner(k) { "winner" } else { "trial" }),
                ],
            ));
        }
        if best.is_finite() {
            let _ = write!(line, "{x:.1},{:.1} ", scale.y(best));
        }
    }
    marks.push_str(&svg::element(
        "polyline",
        &[("points", &line.trim_end()), ("class", &"best")],
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
    let stride = stride(&values, step);
    for (k, value) in values.iter().enumerate() {
        let x = LEFT + step * (k as f64 + 0.5);
        if k % stride == 0 {
            marks.push_str(&label_below(x, TOP + HEIGHT + 24.0, value));
        }
        for trial in &tuned.trials {
            let own = trial.point.get(name).map(Value::to_string);
            if let (Some(seconds), true) = (trial.seconds(), own.as_ref() == Some(value)) {
                marks.push_str(&svg::element(
                    "circle",
                    &[
                        ("cx", &tenths(x)),
                        ("cy", &tenths(scale.y(seconds))),
                        ("r", &3),
                        ("class", &"value"),
                    ],
                ));
            }
        }
    }
    chart(name, HEIGHT, &marks)
}

/// The width of a character of a label.
const CHARACTER: f64 = 7.0;

/// The most characters of a label.
const LABEL: usize = 10;

/// Each label of this number has room, if values are `step` apart.
fn stride(values: &[String], step: f64) -> usize {
    let lengths = values.iter().map(|value| value.chars().count());
    let longest = lengths.max().unwrap_or(0).min(LABEL) + 1;
    ((longest as f64 * CHARACTER / step).ceil() as usize).max(1)
}

/// A value of a parameter, centered at `x`.
fn label_below(x: f64, y: f64, value: &str) -> String {
    let label = svg::text(
        &[("x", &tenths(x)), ("y", &y), ("text-anchor", &"middle")],
        &shortened(value, LABEL),
    );
    label.replacen(
        "</text>",
        &format!("<title>{}</title></text>", escaped(value)),
        1,
    )
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
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
            // The margin has less room.
            &shortened(a, LABEL - 1),
        ));
        for (c, b) in columns.iter().enumerate() {
            let x = LEFT + column * c as f64;
            let (class, opacity, label) = match best.get(&(a.clone(), b.clone())) {
                Some(seconds) => ("cell", 1.0 - 0.9 * scale.part(*seconds), time_of(*seconds)),
                None => ("untried", 1.0, "not tried".to_owned()),
            };
            marks.push_str(&svg::titled(
                "rect",
                &[
                    ("x", &tenths(x)),
                    ("y", &tenths(y)),
                    ("width", &tenths(column - 2.0)),
                    ("height", &(row - 2.0)),
                    ("class", &class),
                    ("fill-opacity", &format_args!("{opacity:.2}")),
                ],
                &label,
            ));
        }
    }
    let height = row * rows.len() as f64;
    for (c, b) in columns.iter().enumerate().step_by(stride(&columns, column)) {
        let x = LEFT + column * (c as f64 + 0.5);
        marks.push_str(&label_below(x, TOP + height + 18.0, b));
    }
    chart(&format!("{first} (rows) and {second}"), height, &marks)
}
