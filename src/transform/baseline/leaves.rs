//! The loops that are tiled together when statements part inside of them.
//!
//! Pluto tiles across the level at which statements part. It requires that the loops inside keep
//! the dependences that the outer band does not carry. It separates the statements among the tiles.
//! First come the tiles that they share, then tiles of their own. In these, the loops over the
//! points of one tile are ordered for each statement alone.
//!
//! Source: `pluto_get_outermost_permutable_bands` and `pluto_tile` of Pluto.

use super::schedule::{Band, Level, Schedule};

/// Statements that share all loops that are tiled together.
pub(super) struct Leaf<'a> {
    /// In order.
    pub(super) statements: Vec<usize>,
    /// Outermost first.
    pub(super) levels: Vec<&'a Level>,
    /// The part inside of the innermost level.
    pub(super) inside: &'a Schedule,
}

impl Band {
    /// A leaf of only the loops of the band.
    pub(super) fn alone(&self) -> Leaf<'_> {
        Leaf {
            statements: self.inside.statements(),
            levels: self.levels.iter().collect(),
            inside: &self.inside,
        }
    }

    /// The leaves of the band and of the bands that are tiled with it.
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
