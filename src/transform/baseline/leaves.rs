//! Which loops are tiled together where statements part inside of them.
//!
//! Pluto tiles through the level at which statements part, as long as the loops inside keep the
//! dependences that the band around leaves, and separates the statements among the tiles: first the
//! tiles that they share, then tiles of their own, and in these the loops of each over the points
//! of one tile, which are ordered for it alone.
//!
//! Source: `pluto_get_outermost_permutable_bands` and `pluto_tile` of Pluto.

use super::schedule::{Band, Level, Schedule};

/// Statements that share all loops that are tiled together.
pub(super) struct Leaf<'a> {
    /// In order.
    pub(super) statements: Vec<usize>,
    /// The outermost first.
    pub(super) levels: Vec<&'a Level>,
    /// What is in the innermost one.
    pub(super) inside: &'a Schedule,
}

impl Band {
    /// The loops of the band, and nothing of what is inside.
    pub(super) fn alone(&self) -> Leaf<'_> {
        Leaf {
            statements: self.inside.statements(),
            levels: self.levels.iter().collect(),
            inside: &self.inside,
        }
    }

    /// What parts in the band and in those that are tiled with it.
    pub(super) fn leaves(&self) -> Vec<Leaf<'_>> {
        let Some(parts) = self.joined_parts() else {
            return vec![self.alone()];
        };
        let mut found = Vec::new();
        for part in parts {
            found.extend(match part {
                Schedule::Band(band) => band.leaves(),
                other => vec![Leaf {
                    statements: other.statements(),
                    levels: Vec::new(),
                    inside: other,
                }],
            });
        }
        for leaf in &mut found {
            leaf.levels = self.levels.iter().chain(leaf.levels.drain(..)).collect();
        }
        found
    }

    /// The parts inside, if loops of them are tiled with those of the band.
    pub(super) fn joined_parts(&self) -> Option<Vec<&Schedule>> {
        let Schedule::Sequence(parts) = &*self.inside else {
            return None;
        };
        let mut found = Vec::new();
        flat(parts, &mut found);
        let mut bands = found.iter().filter_map(|part| match part {
            Schedule::Band(band) => Some(band.joined),
            _ => None,
        });
        let (has_bands, all) = (bands.clone().next().is_some(), bands.all(|joined| joined));
        (has_bands && all).then_some(found)
    }
}

fn flat<'a>(parts: &'a [Schedule], found: &mut Vec<&'a Schedule>) {
    for part in parts {
        match part {
            Schedule::Sequence(parts) => flat(parts, found),
            one => found.push(one),
        }
    }
}
