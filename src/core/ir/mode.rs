//! The mode of a loop: whether its iterations run in order, on threads or in vector lanes.

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
}

impl Mode {
    /// The mode on several threads; lanes stay.
    #[must_use]
    pub fn with_threads(self, sharing: Sharing) -> Mode {
        match self {
            Mode::Serial | Mode::Parallel { .. } => Mode::Parallel { sharing },
            Mode::Vector { lanes } | Mode::ParallelVector { lanes, .. } => {
                Mode::ParallelVector { sharing, lanes }
            }
        }
    }

    /// The mode on one thread; lanes stay.
    #[must_use]
    pub fn without_threads(self) -> Mode {
        match self {
            Mode::Serial | Mode::Parallel { .. } => Mode::Serial,
            Mode::Vector { lanes } | Mode::ParallelVector { lanes, .. } => Mode::Vector { lanes },
        }
    }

    /// The mode in vector lanes; threads stay.
    #[must_use]
    pub fn with_lanes(self, lanes: Option<i64>) -> Mode {
        match self {
            Mode::Serial | Mode::Vector { .. } => Mode::Vector { lanes },
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
    /// How often the busiest statement of the nest has to run for several threads, at the sizes of
    /// the call. Below that, one thread runs all iterations.
    pub work: Option<i64>,
}

impl Default for Sharing {
    fn default() -> Sharing {
        Sharing {
            collapse: 1,
            schedule: None,
            chunk: None,
            threshold: None,
            work: None,
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
}

impl Schedule {
    /// The names of all schedules.
    pub const WORDS: &[&str] = &["static", "dynamic", "guided"];

    /// The schedule of that name.
    pub fn from_word(word: &str) -> Option<Schedule> {
        let all = [Schedule::Static, Schedule::Dynamic, Schedule::Guided];
        all.into_iter().find(|s| s.word() == word)
    }

    /// The name.
    pub fn word(self) -> &'static str {
        match self {
            Schedule::Static => "static",
            Schedule::Dynamic => "dynamic",
            Schedule::Guided => "guided",
        }
    }
}
