//! The colors of series: one series has one color in all charts of a run.

use std::collections::BTreeMap;

/// The number of colors, which [`STYLE`] lists.
const COLORS: usize = 10;

/// The classes of series, for light and dark backgrounds.
pub(super) const STYLE: &str = "\
.s0 { stroke: #2f6fb3; fill: #2f6fb3; } .s1 { stroke: #d98a29; fill: #d98a29; }
.s2 { stroke: #3c8d5a; fill: #3c8d5a; } .s3 { stroke: #8a4fa0; fill: #8a4fa0; }
.s4 { stroke: #c0574f; fill: #c0574f; } .s5 { stroke: #1f8a99; fill: #1f8a99; }
.s6 { stroke: #c2508f; fill: #c2508f; } .s7 { stroke: #8a6d5a; fill: #8a6d5a; }
.s8 { stroke: #8f8a2e; fill: #8f8a2e; } .s9 { stroke: #9aa0a6; fill: #9aa0a6; }
@media (prefers-color-scheme: dark) {
  .s0 { stroke: #5b9bdc; fill: #5b9bdc; } .s2 { stroke: #5fb77f; fill: #5fb77f; }
  .s3 { stroke: #b583cc; fill: #b583cc; }
}
";

/// The numbers of the colors of series, by the labels of these.
#[derive(Debug, Default)]
pub struct Palette(BTreeMap<String, usize>);

impl Palette {
    /// Colors for the labels of all charts of a run. As long as there are enough, all differ, and
    /// then at least those in one chart.
    pub(super) fn of(charts: &[Vec<&str>]) -> Palette {
        let mut found: BTreeMap<String, usize> = BTreeMap::new();
        for name in charts.iter().flatten() {
            if found.contains_key(*name) {
                continue;
            }
            let beside = charts.iter().filter(|names| names.contains(name)).flatten();
            let beside: Vec<usize> = beside.filter_map(|n| found.get(*n).copied()).collect();
            let times = |color: usize| {
                let beside = beside.iter().filter(|taken| **taken == color).count();
                (
                    beside,
                    found.values().filter(|taken| **taken == color).count(),
                )
            };
            let color = (0..COLORS).min_by_key(|color| times(*color)).unwrap_or(0);
            found.insert((*name).to_owned(), color);
        }
        Palette(found)
    }

    /// The class of a series.
    pub(super) fn class(&self, name: &str) -> String {
        format!("s{}", self.0.get(name).copied().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_has_one_color_in_all_charts() {
        let own = |names: &[&str], palette: &Palette| {
            let mut own: Vec<String> = names.iter().map(|name| palette.class(name)).collect();
            own.sort_unstable();
            own.dedup();
            own.len()
        };
        let panels = [
            vec!["sequential", "pluto", "transposed", "teml", "optimized"],
            vec!["sequential", "pluto", "teml", "openblas"],
            vec!["cc", "polly"],
        ];
        let all = panels.concat();
        let colors = Palette::of(&panels);
        // Labels of different panels also differ.
        assert_eq!(own(&all, &colors), 8, "{colors:?}");
        let many = [
            vec!["packed", "openblas", "cc"],
            vec!["plan", "openblas"],
            vec!["rows", "cc", "polly", "plan"],
            vec!["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"],
        ];
        let colors = Palette::of(&many);
        for names in &many {
            let count = own(names, &colors);
            assert_eq!(count, names.len().min(COLORS), "{names:?}: {colors:?}");
        }
        assert!((0..COLORS).all(|color| STYLE.contains(&format!(".s{color} {{"))));
    }
}
