//! A kernel: the cycles of a loop's instructions, by resource.

/// The cycles of a kernel over all its executions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Kernel {
    /// The first accesses of its statements.
    pub leaves: Vec<usize>,
    /// The name of its loop.
    pub name: String,
    /// Elements per instruction.
    pub lanes: f64,
    pub arithmetic: f64,
    pub moves: f64,
    pub latency: f64,
    /// Whether the latency is that of a recurrence.
    pub recurs: bool,
    /// Instructions at the start and end of loops, and calls.
    pub overhead: f64,
    /// Values that are spilled.
    pub spilled: f64,
}

impl Kernel {
    /// The resources with their cycles, and a reason each.
    pub fn parts(&self) -> [(&'static str, f64, String); 4] {
        let name = &self.name;
        let vectors = if self.lanes > 1.0 {
            format!(
                "the loop `{name}` computes {:.0} elements at a time",
                self.lanes
            )
        } else {
            format!("the loop `{name}` has no vectors")
        };
        let moves = if self.spilled > 0.0 {
            format!("the loop `{name}` needs {:.0} more registers", self.spilled)
        } else {
            format!("the loop `{name}` loads and stores more than it computes")
        };
        let latency = if self.recurs {
            format!("each iteration of the loop `{name}` waits for the one before")
        } else {
            format!("the sum in `{name}` waits for its last term")
        };
        let overhead = format!("the loop `{name}` is short, and begins and ends often");
        [
            ("arithmetic", self.arithmetic, vectors),
            ("loads and stores", self.moves, moves),
            ("latency", self.latency, latency),
            ("loop overhead", self.overhead, overhead),
        ]
    }
}
