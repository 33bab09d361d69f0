//! Writes results to files.

use super::page::palette;
use super::{Against, Results, chart, curve_chart, figure, page};
use std::io;
use std::path::Path;

/// Writes the results as data to `json`. The directory `out` gets the data, a page, a chart for
/// each kernel, and a figure of all curves. The page also shows the times of an earlier bench, if
/// one is given.
///
/// # Errors
/// A file cannot be written.
pub fn write(
    results: &Results,
    json: Option<&Path>,
    out: Option<&Path>,
    against: Option<&Against>,
) -> io::Result<()> {
    let data = || -> io::Result<String> { Ok(serde_json::to_string_pretty(results)? + "\n") };
    if let Some(path) = json {
        std::fs::write(path, data()?).map_err(|error| named(path, &error))?;
    }
    let Some(out) = out else { return Ok(()) };
    std::fs::create_dir_all(out).map_err(|error| named(out, &error))?;
    let write = |name: &str, text: String| {
        let path = out.join(name);
        std::fs::write(&path, text).map_err(|error| named(&path, &error))
    };
    write("bench.json", data()?)?;
    write("index.html", page(results, against))?;
    for group in results.groups.iter().filter(|g| g.why.is_none()) {
        write(&format!("{}.svg", group.kernel), chart(group))?;
    }
    let palette = palette(results);
    for curve in &results.curves {
        let chart = curve_chart(curve, &palette);
        write(&format!("{}_sizes.svg", curve.kernel), chart)?;
    }
    if results.curves.len() > 1 {
        write("figure.svg", figure(&results.curves, &palette))?;
    }
    Ok(())
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
