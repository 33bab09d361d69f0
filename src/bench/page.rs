//! One page with everything: what was measured, where, how, and the C. It needs no other file.

use super::baselines::{NAMES, NOTE};
use super::chart::chart;
use super::curve::{Curve, curve_chart};
use super::results::{Group, Results};
use super::table::{COLUMNS, absent, cells, names, notes, rows};
use crate::machine::Speed;
use crate::report::{self, escaped};
use std::fmt::Write;

const STYLE: &str = "\
body { font-family: sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { padding: 0.2em 0.7em; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
pre { background: #f6f6f6; padding: 0.8em; overflow-x: auto; font-size: 85%; }
svg { max-width: 100%; height: auto; }
summary { cursor: pointer; }
ul { color: #444; }
";

/// The page, as HTML that is well-formed XML, too.
pub fn page(results: &Results) -> String {
    let title = format!("teml bench, {}", results.date);
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    );
    let names = names(results);
    let heads = ["kernel"]
        .into_iter()
        .chain(names.iter().map(String::as_str));
    if !results.groups.is_empty() {
        html.push_str("<h2>Speed-ups over the untransformed nests</h2>\n");
        html.push_str(&table(heads.chain(["best", "is"]), rows(results, &names)));
        if names.iter().any(|name| NAMES.contains(&name.as_str())) {
            let _ = writeln!(html, "<p>{}</p>", escaped(NOTE));
        }
    }
    html.push_str(&list(absent(&results.absent)));
    html.extend(results.curves.iter().map(curve));
    for group in &results.groups {
        html.push_str(&section(group));
    }
    html.push_str("<h2>How it was measured</h2>\n");
    html.push_str(&provenance(results));
    html.push_str("</body>\n</html>\n");
    html
}

fn section(group: &Group) -> String {
    let mut html = format!("<h2>{}</h2>\n", escaped(&group.kernel));
    if let Some(why) = &group.why {
        let _ = writeln!(html, "<pre>{}</pre>", escaped(why));
        return html;
    }
    html.push_str(&chart(group));
    let timed = group.lines.iter();
    let timed = timed.filter_map(|line| Some(cells(line, line.times.as_ref()?).to_vec()));
    html.push_str(&table(COLUMNS, timed.collect()));
    html.push_str(&list(notes(group)));
    for line in group.lines.iter().filter(|line| !line.code.is_empty()) {
        let _ = write!(
            html,
            "<details><summary>The C of {}</summary>\n<p>{}</p>\n<pre>{}</pre>\n</details>\n",
            escaped(&line.name),
            escaped(&line.compiled),
            escaped(&line.code)
        );
    }
    html
}

fn curve(curve: &Curve) -> String {
    let heads = curve.heads();
    let heads = heads.iter().map(String::as_str);
    format!(
        "<h2>{}</h2>\n{}{}{}",
        escaped(&curve.kernel),
        curve_chart(curve),
        table(heads, curve.rows()),
        list(curve.notes())
    )
}

fn list(lines: Vec<String>) -> String {
    let lines = lines
        .iter()
        .map(|line| format!("<li>{}</li>\n", escaped(line)));
    let lines: String = lines.collect();
    match lines.is_empty() {
        true => lines,
        false => format!("<ul>\n{lines}</ul>\n"),
    }
}

fn table<'a>(heads: impl IntoIterator<Item = &'a str>, rows: Vec<Vec<String>>) -> String {
    let cells = |kind: &str, cells: Vec<String>| -> String {
        let cells = cells.iter();
        let cells = cells.map(|cell| format!("<{kind}>{}</{kind}>", escaped(cell)));
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let heads = heads.into_iter().map(str::to_owned).collect();
    let mut html = format!("<table>\n{}", cells("th", heads));
    for row in rows {
        html.push_str(&cells("td", row));
    }
    html.push_str("</table>\n");
    html
}

fn provenance(results: &Results) -> String {
    let (threads, rates) = (results.threads, results.rates);
    let machine = report::machine(&results.machine, &[Speed { threads, rates }]);
    let text = [
        format!("teml {}, {}", results.teml, results.date),
        format!(
            "sizes: {}; threads of parallel loops: {threads}",
            results.size
        ),
        format!("compiler: {}\nflags: {}", results.compiler, results.flags),
        machine,
    ];
    let rules = "Every element of every result is compared with the reference before anything is \
                 timed. Then all variants of a kernel take turns in one run. An untimed warm-up \
                 call precedes each timed call, unless it takes 50 ms or more, or the kernel reads \
                 what it writes. Times are those of the kernel alone. GFLOP/s count the operations \
                 of the definition; GB/s count inputs and results once each. The limit is the \
                 larger of two times. One is the time of the fewest operations of any variant, at \
                 the machine's rate of arithmetic. The other applies if inputs and results exceed \
                 the caches: it is their time at the memory rate of probes with the same mix of \
                 reads and writes. Rates are medians, as times are; the best rates are listed \
                 below the tables. All rates were measured in the same run, between the variants: \
                 on a shared machine they drift from minute to minute. The spread is the \
                 interquartile range over the median. The error is the largest difference over \
                 the largest value.";
    format!("<p>{rules}</p>\n<pre>{}</pre>\n", escaped(&text.join("\n")))
}
