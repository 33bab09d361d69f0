//! The mode of a loop: whether its iterations run in order, on threads, in vector lanes, or on an
//! axis of a device.

use std::fmt;

/// How the iterations of a loop run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In order.
    Serial,
    /// On several threads.
    Parallel {
        /// How the threads share them.
        sharing: Sharing,
    },
    /// In vector lanes.
    Vector {
        /// The number of lanes. `None` leaves it to the compiler.
        lanes: Option<i64>,
    },
    /// On several threads, and in vector lanes on each.
    ParallelVector {
        /// How the threads share them.
        sharing: Sharing,
        /// The number of lanes. `None` leaves it to the compiler.
        lanes: Option<i64>,
    },
    /// Each on a coordinate of a device: on blocks of threads, or on the threads of a block.
    Bound {
        /// The coordinate.
        axis: Axis,
    },
}

/// A coordinate of the threads of a device. A device starts a grid of blocks, and each block has
/// threads, which share memory and wait for each other. Blocks do neither. The last coordinate of a
/// thread is its lane: threads that differ in nothing else run in step, and pass registers on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Axis {
    /// The level that it counts at.
    pub of: Level,
    /// The dimension, from 0; neighbors in dimension 0 run side by side, and lanes closer still.
    pub dimension: usize,
}

/// The two levels of coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Blocks of a grid.
    Grid,
    /// Threads of a block.
    Block,
}

impl Axis {
    /// The names of all axes.
    pub const WORDS: &[&str] = &[
        "grid.x", "grid.y", "grid.z", "block.x", "block.y", "block.z", "lane",
    ];

    /// The number of dimensions of a grid.
    pub const DIMENSIONS: usize = 3;

    /// The dimension of lanes.
    pub const LANE: usize = 3;

    /// The number of dimensions of a block.
    pub const OF_THREADS: usize = 4;

    /// The axis of that name.
    pub fn from_word(word: &str) -> Option<Axis> {
        let place = Axis::WORDS.iter().position(|known| *known == word)?;
        Some(match place.checked_sub(Axis::DIMENSIONS) {
            None => Axis {
                of: Level::Grid,
                dimension: place,
            },
            Some(dimension) => Axis {
                of: Level::Block,
                dimension,
            },
        })
    }

    /// The name.
    pub fn word(self) -> &'static str {
        let first = match self.of {
            Level::Grid => 0,
            Level::Block => Axis::DIMENSIONS,
        };
        Axis::WORDS[(first + self.dimension).min(Axis::WORDS.len() - 1)]
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Mode {
    /// The mode on several threads; lanes stay, an axis does not.
    #[must_use]
    pub fn with_threads(self, sharing: Sharing) -> Mode {
        match self {
            Mode::Serial | Mode::Parallel { .. } | Mode::Bound { .. } => Mode::Parallel { sharing },
            Mode::Vector { lanes } | Mode::ParallelVector { lanes, .. } => {
                Mode::ParallelVector { sharing, lanes }
            }
        }
    }

    /// The mode on one thread; lanes stay, an axis does not.
    #[must_use]
    pub fn without_threads(self) -> Mode {
        match self {
            Mode::Serial | Mode::Parallel { .. } | Mode::Bound { .. } => Mode::Serial,
            Mode::Vector { lanes } | Mode::ParallelVector { lanes, .. } => Mode::Vector { lanes },
        }
    }

    /// The mode without vector lanes; threads stay.
    #[must_use]
    pub fn without_lanes(self) -> Mode {
        match self {
            Mode::Vector { .. } => Mode::Serial,
            Mode::ParallelVector { sharing, .. } => Mode::Parallel { sharing },
            Mode::Serial | Mode::Parallel { .. } | Mode::Bound { .. } => self,
        }
    }

    /// The mode in vector lanes; threads stay, an axis does not.
    #[must_use]
    pub fn with_lanes(self, lanes: Option<i64>) -> Mode {
        match self {
            Mode::Serial | Mode::Vector { .. } | Mode::Bound { .. } => Mode::Vector { lanes },
            Mode::Parallel { sharing } | Mode::ParallelVector { sharing, .. } => {
                Mode::ParallelVector { sharing, lanes }
            }
        }
    }
}

/// How threads share the iterations of a parallel loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// The number of perfectly nested loops, from this one on, that share their combined
    /// iterations. At least 1.
    pub collapse: usize,
    /// The assignment of iterations to threads. `None` leaves it to the runtime.
    pub schedule: Option<Schedule>,
    /// The chunk size of the schedule. `None` leaves it to the runtime.
    pub chunk: Option<i64>,
    /// The least trip count for several threads. With fewer iterations, one thread runs all.
    pub threshold: Option<i64>,
    /// The least work of the nest for several threads, in multiply-adds or moved elements at the sizes
    /// of the call. Below that, one thread runs all iterations.
    pub work: Option<i64>,
    /// Whether iterations may update the same elements. Each update is then one atomic operation.
    pub atomic: bool,
}

impl Default for Sharing {
    fn default() -> Sharing {
        Sharing {
            collapse: 1,
            schedule: None,
            chunk: None,
            threshold: None,
            work: None,
            atomic: false,
        }
    }
}

/// A policy that assigns iterations to threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// An equal part, fixed beforehand.
    Static,
    /// The next chunk whenever a thread is idle.
    Dynamic,
    /// The next chunk whenever a thread is idle, with shrinking chunks.
    Guided,
    /// Neighboring rows with an equal part of all entries, fixed beforehand. Rows are iterations.
    Balanced,
}

impl Schedule {
    /// The names of all schedules.
    pub const WORDS: &[&str] = &["static", "dynamic", "guided", "balanced"];

    /// The schedule of that name.
    pub fn from_word(word: &str) -> Option<Schedule> {
        let all = [
            Schedule::Static,
            Schedule::Dynamic,
            Schedule::Guided,
            Schedule::Balanced,
        ];
        all.into_iter().find(|s| s.word() == word)
    }

    /// The name.
    pub fn word(self) -> &'static str {
        match self {
            Schedule::Static => "static",
            Schedule::Dynamic => "dynamic",
            Schedule::Guided => "guided",
            Schedule::Balanced => "balanced",
        }
    }
}
