//! The self-contained page of a bench: results, machine, settings, and the C.

use super::against::Against;
use super::baselines::{NAMES, NOTE};
use super::cells::seconds;
use super::chart::chart;
use super::code::highlighted;
use super::curve::curve_chart;
use super::overview::overview;
use super::palette::Palette;
use super::results::{Curve, Group, Line, Results};
use super::table::{COLUMNS, absent, best, cells, names, notes, rows};
use crate::machine::Speed;
use crate::report::{self, escaped};
use std::fmt::Write;

const STYLE: &str = include_str!("page.css");

/// The page, as HTML that is also well-formed XML. With `against`, it also shows the times of an
/// earlier bench.
pub fn page(results: &Results, against: Option<&Against>) -> String {
    let title = format!("teml bench, {}", results.date);
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>teml bench</h1>\n{}",
        facts(results)
    );
    let palette = palette(results);
    if results.groups.len() > 1 {
        html.push_str("<h2>Share of the limit</h2>\n");
        html.push_str(&wide(&overview(&results.groups, &palette)));
    }
    let names = names(&results.groups);
    let heads = ["kernel"]
        .into_iter()
        .chain(names.iter().map(String::as_str));
    if !results.groups.is_empty() {
        html.push_str("<h2>Speed-ups over the untransformed nests</h2>\n");
        let rows = rows(results, &names);
        html.push_str(&table(heads.chain(["best", "is"]), rows, None));
        if names.iter().any(|name| NAMES.contains(&name.as_str())) {
            let _ = writeln!(html, "<p class=\"note\">{}</p>", escaped(NOTE));
        }
    }
    html.push_str(&list(absent(&results.absent)));
    html.push_str(&contents(results));
    html.extend(results.curves.iter().map(|one| curve(one, &palette)));
    for group in &results.groups {
        html.push_str(&section(group, against));
    }
    html.push_str("<section id=\"how\"><h2>How it was measured</h2>\n");
    html.push_str(&provenance(results, against));
    html.push_str("</section>\n</body>\n</html>\n");
    html
}

/// Machine, sizes and threads, at the top of the page.
fn facts(results: &Results) -> String {
    let cpu = results.machine.cpu.as_deref();
    let vectors = results.machine.vector.as_ref();
    let vectors = vectors.map_or("unknown".to_owned(), |v| {
        format!("{} bits ({})", v.bytes * 8, v.name)
    });
    let facts = [
        ("Processor", cpu.unwrap_or("unknown").to_owned()),
        ("Threads", results.threads.to_string()),
        ("Vectors", vectors),
        (
            "Arithmetic",
            format!("{:.1} GFLOP/s on f64", results.rates.gflops_f64),
        ),
        ("Memory", format!("{:.1} GB/s", results.rates.bandwidth())),
        ("Sizes", results.size.to_owned()),
        ("Compiler", results.compiler.clone()),
        ("Date", results.date.clone()),
    ];
    let facts = facts
        .iter()
        .map(|(name, value)| format!("<div><dt>{name}</dt><dd>{}</dd></div>\n", escaped(value)));
    format!("<dl class=\"facts\">\n{}</dl>\n", facts.collect::<String>())
}

fn contents(results: &Results) -> String {
    let link = |id: &str| format!("<a href=\"#{0}\">{0}</a>\n", escaped(id));
    let curves = results
        .curves
        .iter()
        .map(|curve| format!("{}_curve", curve.kernel));
    let groups = results.groups.iter().map(|group| group.kernel.clone());
    let links: String = curves.chain(groups).map(|id| link(&id)).collect();
    format!("<nav>\n{links}<a href=\"#how\">how it was measured</a>\n</nav>\n")
}

fn section(group: &Group, against: Option<&Against>) -> String {
    let kernel = escaped(&group.kernel);
    let mut html = format!("<section id=\"{kernel}\"><h2>{kernel}</h2>\n");
    if let Some(why) = &group.why {
        let _ = writeln!(html, "<pre>{}</pre>\n</section>", escaped(why));
        return html;
    }
    html.push_str(&wide(&chart(group)));
    let timed: Vec<&Line> = group.lines.iter().filter(|l| l.times.is_some()).collect();
    let winner = best(group).and_then(|(best, _)| timed.iter().position(|l| l.name == best.name));
    let row = |line: &&Line| -> Vec<String> {
        let times = line.times.as_ref();
        let mut row = times.map_or_else(Vec::new, |times| cells(line, times).to_vec());
        if let (Some(against), Some(times)) = (against, times) {
            row.push(match against.median(&group.kernel, &line.name) {
                Some(before) => format!(
                    "{} ({:+.0} %)",
                    seconds(before),
                    100.0 * (times.median / before - 1.0)
                ),
                None => "–".to_owned(),
            });
        }
        row
    };
    let heads = COLUMNS.into_iter().chain(against.map(|_| "before"));
    html.push_str(&table(heads, timed.iter().map(row).collect(), winner));
    html.push_str(&list(notes(group)));
    let lines = group.lines.iter().filter(|line| !line.code.is_empty());
    html.extend(lines.map(source));
    html.push_str("</section>\n");
    html
}

/// The nest of a variant beside its path, and its C with the support code folded.
fn source(line: &Line) -> String {
    let mut html = format!("<details><summary>{}</summary>\n", escaped(&line.name));
    if !line.nest.is_empty() {
        let _ = write!(
            html,
            "<div class=\"pair\"><div><h3>Nest</h3><pre>{}</pre></div>\n\
             <div><h3>Path</h3><pre>{}</pre></div></div>\n",
            escaped(&line.nest),
            escaped(&line.path)
        );
    }
    if !line.compiled.is_empty() {
        let _ = writeln!(html, "<p class=\"note\">{}</p>", escaped(&line.compiled));
    }
    html.push_str("<h3>C</h3>\n");
    let begins = line.code.find(&line.function).unwrap_or(0);
    let (support, rest) = line.code.split_at(begins);
    if !support.trim().is_empty() {
        let _ = write!(
            html,
            "<details><summary>{} lines of support code</summary>\n<pre>{}</pre></details>\n",
            support.lines().count(),
            highlighted(support)
        );
    }
    let _ = write!(html, "<pre>{}</pre>\n</details>\n", highlighted(rest));
    html
}

/// The colors of all series in the charts of a run.
pub(super) fn palette(results: &Results) -> Palette {
    let kernels = names(&results.groups);
    let kernels = kernels.iter().map(String::as_str).collect();
    let curves = results.curves.iter().map(Curve::names);
    let charts: Vec<Vec<&str>> = curves.chain([kernels]).collect();
    Palette::of(&charts)
}

fn curve(curve: &Curve, palette: &Palette) -> String {
    let heads = curve.heads();
    let heads = heads.iter().map(String::as_str);
    let kernel = escaped(&curve.kernel);
    format!(
        "<section id=\"{kernel}_curve\"><h2>{kernel}</h2>\n{}{}{}</section>\n",
        wide(&curve_chart(curve, palette)),
        table(heads, curve.rows(), None),
        list(curve.notes())
    )
}

/// Wraps a chart that scrolls rather than shrinks on narrow screens.
fn wide(svg: &str) -> String {
    format!("<div class=\"wide\">{svg}</div>\n")
}

fn list(lines: Vec<String>) -> String {
    let lines = lines
        .iter()
        .map(|line| format!("<li>{}</li>\n", escaped(line)));
    let lines: String = lines.collect();
    if lines.is_empty() {
        lines
    } else {
        format!("<ul>\n{lines}</ul>\n")
    }
}

/// A table with the winner's row marked.
fn table<'a>(
    heads: impl IntoIterator<Item = &'a str>,
    rows: Vec<Vec<String>>,
    winner: Option<usize>,
) -> String {
    let cells = |kind: &str, class: &str, cells: Vec<String>| -> String {
        let cells = cells.iter();
        let cells = cells.map(|cell| format!("<{kind}>{}</{kind}>", escaped(cell)));
        format!("<tr{class}>{}</tr>\n", cells.collect::<String>())
    };
    let heads = heads.into_iter().map(str::to_owned).collect();
    let mut html = format!("<div class=\"wide\"><table>\n{}", cells("th", "", heads));
    for (k, row) in rows.into_iter().enumerate() {
        let class = if winner == Some(k) {
            " class=\"best\""
        } else {
            ""
        };
        html.push_str(&cells("td", class, row));
    }
    html.push_str("</table></div>\n");
    html
}

fn provenance(results: &Results, against: Option<&Against>) -> String {
    let (threads, rates) = (results.threads, results.rates);
    let machine = report::machine(
        &results.machine,
        &[Speed {
            threads,
            rates,
            quiet: true,
        }],
    );
    let mut text = vec![
        format!("teml {}, {}", results.teml, results.date),
        format!(
            "sizes: {}; threads of parallel loops: {threads}",
            results.size
        ),
        format!("compiler: {}\nflags: {}", results.compiler, results.flags),
    ];
    text.extend(against.map(|a| format!("before: {}", a.place())));
    text.push(machine);
    let rules = "Every element of every result is compared with the reference before anything is \
                 timed. Then all variants of a kernel take turns in one run. An untimed warm-up \
                 call precedes each timed call, unless it takes 50 ms or more. Inputs that the \
                 kernel overwrites are restored in between. Times are those of the kernel alone. \
                 GFLOP/s count the operations of the definition; GB/s count inputs and results \
                 once each. The limit is the larger of two times. One is the time of the fewest operations of any variant, at \
                 the machine's rate of arithmetic. The other applies if inputs and results exceed \
                 the caches: it is their time at the memory rate of probes with the same mix of \
                 reads and writes. Rates are medians, as times are; the best rates are listed \
                 below the tables. All rates were measured in the same run, between the variants: \
                 on a shared machine they drift from minute to minute. The spread is the \
                 interquartile range over the median. The error is the largest difference over \
                 the largest value.";
    format!("<p>{rules}</p>\n<pre>{}</pre>\n", escaped(&text.join("\n")))
}
