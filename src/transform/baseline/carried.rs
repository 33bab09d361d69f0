//! The dependences between statements of a group that loops carry, and the remaining ones.

use super::error::NoSchedule;
use super::problem::{Dependence, Row};
use super::schedule::Level;

/// The rows of a dependence's statements among the rows of a group.
fn of<'a>(dependence: &Dependence, group: &[usize], rows: &'a [Row]) -> (&'a Row, &'a Row) {
    let row = |statement| {
        let k = group.iter().position(|s| *s == statement);
        &rows[k.unwrap_or(0)]
    };
    (row(dependence.first), row(dependence.later))
}

/// The dependences between statements of a group that loops do not carry.
pub(super) fn within(
    dependences: &[Dependence],
    group: &[usize],
    rows: &[Row],
) -> Result<Vec<Dependence>, NoSchedule> {
    let mut left = Vec::new();
    for dependence in dependences {
        left.extend(dependence.within(of(dependence, group, rows))?);
    }
    Ok(left)
}

/// The dependence graph of a group: pairs of positions in it.
pub(super) fn edges(group: &[usize], dependences: &[Dependence]) -> Vec<(usize, usize)> {
    let at = |statement: usize| group.iter().position(|s| *s == statement);
    let pair = |d: &Dependence| Some((at(d.first)?, at(d.later)?));
    dependences.iter().filter_map(pair).collect()
}

/// The statements whose dependences a loop carries. The loop reverses none of them.
pub(super) fn crossed(
    dependences: &[Dependence],
    group: &[usize],
    rows: &[Row],
) -> Result<Vec<(usize, usize)>, NoSchedule> {
    let mut found = Vec::new();
    for dependence in dependences {
        let pair = (dependence.first, dependence.later);
        if !found.contains(&pair) && dependence.is_carried(of(dependence, group, rows))? {
            found.push(pair);
        }
    }
    Ok(found)
}

/// Whether loops reverse no dependence between statements of a group.
pub(super) fn keeps(
    dependences: &[Dependence],
    group: &[usize],
    levels: &[Level],
) -> Result<bool, NoSchedule> {
    for level in levels {
        for dependence in dependences {
            if dependence.is_reversed(of(dependence, group, &level.rows))? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
