//! The schedule: bands of permutable loops, level by level, and cuts between statements.

use super::problem::Row;

/// A schedule tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Parts that run one after the other.
    Sequence(Vec<Schedule>),
    /// Loops around a part.
    Band(Band),
    /// A statement of the definition, counted from 0.
    Statement(usize),
}

/// Consecutive loops that may be interchanged and tiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Band {
    /// The statements in it, in the order of the rows of levels.
    pub statements: Vec<usize>,
    /// Outermost first.
    pub levels: Vec<Level>,
    /// Whether these loops may be tiled together with the surrounding band, in which statements
    /// part. All of them then keep all dependences in any order.
    pub joined: bool,
    /// The part inside of the innermost level.
    pub inside: Box<Schedule>,
}

/// A loop that statements share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// The value of the loop's iterator for each statement of the band.
    pub rows: Vec<Row>,
    /// Whether the loop carries no dependence that the loops around the band leave. It is then
    /// parallel at any position in the band and in the loops inside.
    pub coincident: bool,
    /// Whether it is parallel at its position.
    pub parallel: bool,
    /// The statements whose dependences it carries: at any position, and at its own.
    pub crossed: [Vec<(usize, usize)>; 2],
}

impl Level {
    /// Whether it is parallel for some statements alone: at any position, and at its own.
    pub(super) fn is_parallel_for(&self, statements: &[usize]) -> [bool; 2] {
        let inside = |(first, later): &(usize, usize)| {
            statements.contains(first) && statements.contains(later)
        };
        let [anywhere, there] = &self.crossed;
        [anywhere, there].map(|crossed| !crossed.iter().any(inside))
    }
}

impl Schedule {
    /// The statements in it, in order.
    pub fn statements(&self) -> Vec<usize> {
        match self {
            Schedule::Sequence(parts) => parts.iter().flat_map(Schedule::statements).collect(),
            Schedule::Band(band) => band.inside.statements(),
            Schedule::Statement(k) => vec![*k],
        }
    }

    /// The schedule without the parts of these statements.
    pub(super) fn without(&self, statements: &[usize]) -> Schedule {
        let parts = match self {
            Schedule::Sequence(parts) => parts.as_slice(),
            one => std::slice::from_ref(one),
        };
        let stays = |part: &&Schedule| part.statements().iter().all(|s| !statements.contains(s));
        let mut left: Vec<Schedule> = parts.iter().filter(stays).cloned().collect();
        match left.len() {
            1 => left.remove(0),
            _ => Schedule::Sequence(left),
        }
    }

    /// The hyperplanes of a statement, outermost first.
    pub fn rows(&self, statement: usize) -> Vec<Row> {
        match self {
            Schedule::Statement(_) => Vec::new(),
            Schedule::Sequence(parts) => {
                let part = parts.iter().find(|p| p.statements().contains(&statement));
                part.map_or(Vec::new(), |p| p.rows(statement))
            }
            Schedule::Band(band) => {
                let k = band.statements.iter().position(|s| *s == statement);
                let own = band.levels.iter().filter_map(|l| l.rows.get(k?).cloned());
                own.chain(band.inside.rows(statement)).collect()
            }
        }
    }
}
