//! Drawings of nests: nested boxes, one for each loop, as a self-contained SVG.

use super::svg::{self, escaped};
use crate::analysis::levels::{Level, levels};
use crate::ir::{Mode, Nest, Tree};
use std::fmt::Write;

/// Minimum width.
const WIDTH: usize = 760;
/// Approximate width of a character.
const CHARACTER: usize = 8;
const ROW: usize = 24;
const STEP: usize = 14;
const GAP: usize = 6;

/// Colors for light and dark backgrounds.
const STYLE: &str = "\
text { font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #1f2933; }
.back { fill: #ffffff; } .serial { fill: #eef1f5; stroke: #b8c0cc; }
.parallel { fill: #e3f3e6; stroke: #4c9a5b; } .vector { fill: #f1e6f8; stroke: #8a4fb0; }
.note { fill: #6b7785; font-size: 12px; }
@media (prefers-color-scheme: dark) {
  text { fill: #e4e8ee; } .back { fill: #14181d; } .serial { fill: #20262e; stroke: #48525f; }
  .parallel { fill: #18301d; stroke: #4c9a5b; } .vector { fill: #2c1c37; stroke: #9b62c0; }
  .note { fill: #98a3b1; }
}
";

/// The drawing of nests that run in order.
pub fn drawing(nests: &[Nest]) -> String {
    let mut body = String::new();
    let mut y = GAP;
    let texts = nests.iter().map(|nest| needed(nest.trees(), GAP));
    let width = texts.fold(WIDTH, usize::max);
    for nest in nests {
        let levels = levels(nest);
        let lines = declarations(nest).into_iter();
        for line in lines.flat_map(|line| broken(&line, room(GAP))) {
            body.push_str(&text(GAP, y + 16, "note", &line));
            y += ROW;
        }
        y = trees(&mut body, nest.trees(), &levels, (GAP, width), y) + GAP;
    }
    let height = y + GAP;
    svg::styled((width, height), STYLE, &body)
}

fn declarations(nest: &Nest) -> Vec<String> {
    let text = nest.to_string();
    let count = text.lines().count().saturating_sub(nest.lines().len());
    text.lines().take(count).map(str::to_owned).collect()
}

/// The text of a tree, without its children.
fn line(tree: &Tree) -> String {
    match tree {
        Tree::Stmt(s) => s.to_string(),
        Tree::Fill(fill) => fill.to_string(),
        Tree::Local(tensor) => format!("local {} {tensor}", tensor.elem()),
        Tree::Loop(l) => l.to_string(),
    }
}

/// The characters that fit at margin `x` where a drawing has its usual width, beside a trip count.
fn room(x: usize) -> usize {
    (WIDTH.saturating_sub(2 * x + STEP) / CHARACTER)
        .saturating_sub(6)
        .max(40)
}

/// How far line `k` of a text is from the margin.
fn indent(k: usize) -> usize {
    if k == 0 { 8 } else { 24 }
}

/// A text in lines of at most `most` characters, broken at spaces where there are some.
fn broken(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let fits = |line: &&mut String| line.chars().count() + 1 + word.chars().count() <= most;
        match lines.last_mut().filter(fits) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The width at which the texts of a sequence starting at `x` fit into their boxes.
fn needed(trees: &[Tree], x: usize) -> usize {
    let widths = trees.iter().map(|tree| {
        let of_body = match tree {
            Tree::Loop(l) => needed(&l.body, x + STEP),
            _ => 0,
        };
        // A trip count may follow it.
        let lines = broken(&line(tree), room(x)).into_iter();
        let longest = lines.map(|line| line.chars().count()).max().unwrap_or(0);
        of_body.max(2 * x + CHARACTER * (longest + 6))
    });
    widths.max().unwrap_or(0)
}

/// Draws a sequence from `y` on, with margin `x` on both sides, and returns where it ends.
fn trees(
    out: &mut String,
    trees: &[Tree],
    levels: &[Level],
    (x, whole): (usize, usize),
    mut y: usize,
) -> usize {
    for tree in trees {
        let Tree::Loop(l) = tree else {
            for (k, part) in broken(&line(tree), room(x)).iter().enumerate() {
                out.push_str(&text(x + indent(k), y + 16, "", part));
                y += ROW;
            }
            continue;
        };
        let class = match l.mode {
            Mode::Parallel { .. } | Mode::ParallelVector { .. } => "parallel",
            Mode::Vector { .. } => "vector",
            Mode::Bound { .. } => "parallel",
            Mode::Serial => "serial",
        };
        let mut inner = String::new();
        let head = broken(&l.to_string(), room(x));
        let below = y + ROW * head.len() + GAP;
        let end = self::trees(&mut inner, &l.body, levels, (x + STEP, whole), below) + GAP;
        let width = whole.saturating_sub(2 * x).max(STEP);
        out.push_str(&svg::element(
            "rect",
            &[
                ("class", &class),
                ("x", &x),
                ("y", &y),
                ("width", &width),
                ("height", &(end - y)),
                ("rx", &5),
            ],
        ));
        for (k, part) in head.iter().enumerate() {
            out.push_str(&text(x + indent(k), y + 17 + ROW * k, "", part));
        }
        let trips = levels.iter().find(|level| level.of.name == l.name);
        if let Some(trips) = trips.and_then(|level| level.trips) {
            out.push_str(&svg::text(
                &[
                    ("class", &"note"),
                    ("x", &(x + width - 8)),
                    ("y", &(y + 17)),
                    ("text-anchor", &"end"),
                ],
                &format!("×{trips}"),
            ));
        }
        out.push_str(&inner);
        y = end + GAP;
    }
    y
}

fn text(x: usize, y: usize, class: &str, text: &str) -> String {
    svg::text(&[("class", &class), ("x", &x), ("y", &y)], text)
}

const PAGE: &str = "\
:root { color-scheme: light dark; }
body { font-family: system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
pre { overflow-x: auto; padding: 0.8rem; border: 1px solid #8886; border-radius: 6px; }
.wide { overflow-x: auto; }
@media (prefers-color-scheme: dark) { body { background: #14181d; color: #e4e8ee; } }
";

/// A page with the drawing of nests, the scripts of their paths and their C.
pub fn drawing_page(name: &str, nests: &[Nest], paths: &[String], code: Option<&str>) -> String {
    let name = escaped(name);
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{name}</title>\n<style>\n{PAGE}</style>\n</head>\n<body>\n<h1>{name}</h1>\n\
         <div class=\"wide\">{}</div>\n",
        drawing(nests)
    );
    for path in paths {
        let _ = write!(html, "<h2>Path</h2>\n<pre>{}</pre>\n", escaped(path));
    }
    if let Some(code) = code {
        let _ = write!(html, "<h2>C</h2>\n<pre>{}</pre>\n", escaped(code));
    }
    html.push_str("</body>\n</html>\n");
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_broken() {
        assert_eq!(
            broken("one two three four", 9),
            ["one two", "three", "four"]
        );
        let terms: Vec<String> = (0..40).map(|k| format!("A[i + {k}]")).collect();
        let text = format!(
            "f64 B[8], A[48]\nfor i in 0..8\n  B[i] = {}",
            terms.join(" + ")
        );
        let nest = crate::ir::parse_nest(&text).unwrap();
        let svg = drawing(&[nest]);
        let width = svg
            .split("width=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        assert!(width.parse::<usize>().unwrap() < 900, "{svg}");
        assert!(svg.contains("A[i + 39]</text>"), "{svg}");
    }

    #[test]
    fn drawings_are_well_formed() {
        let text = "f64 A[8], B[8]\nparallel for i in 0..8\n  A[i] = B[i] * select(B[i] < 1, 2, 3)";
        let nest = crate::ir::parse_nest(text).unwrap();
        let svg = drawing(std::slice::from_ref(&nest));
        assert!(roxmltree::Document::parse(&svg).is_ok(), "{svg}");
        assert!(
            svg.contains("class=\"parallel\"") && svg.contains("×8"),
            "{svg}"
        );
        let page = drawing_page("a<b", &[nest], &["build(A)".to_owned()], Some("a < b"));
        let page = page.split_once('\n').unwrap().1;
        assert!(roxmltree::Document::parse(page).is_ok(), "{page}");
    }
}
