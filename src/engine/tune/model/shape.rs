//! A nest as the model sees it: loops with trip counts, and accesses with strides.

use super::operations::Operations;

/// A constant, and a coefficient for each surrounding loop, outermost first.
pub(super) type Linear = Vec<f64>;

/// A node: a loop, or a statement.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Loop(Box<Level>),
    Leaf(Leaf),
}

/// How the iterations of a loop become instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Lanes {
    /// One at a time.
    One,
    /// This many at a time.
    Vector(f64),
    /// As many at a time as the compiler's vectorizer finds, which may reorder sums.
    Compiler,
}

#[derive(Clone, Debug)]
pub(super) struct Level {
    pub name: String,
    /// Iterations of one thread.
    pub trips: f64,
    /// The maximum trip count, if the compiler knows it. `constant` says whether it is always
    /// reached.
    pub most: Option<f64>,
    pub constant: bool,
    /// Whether it is unrolled completely, so that registers can hold the tensors that it indexes.
    pub copies: bool,
    pub lanes: Lanes,
    pub body: Vec<Item>,
    /// The range of its accesses in [`Shape::accesses`].
    pub range: std::ops::Range<usize>,
    /// Number of surrounding loops.
    pub depth: usize,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Leaf {
    pub range: std::ops::Range<usize>,
    /// Those of each element.
    pub operations: Operations,
    /// Whether it is `+=` or another update.
    pub updates: bool,
    /// Whether it stores with streaming stores, past the caches.
    pub past: bool,
    /// Whether it takes a minimum or maximum, which compilers do not vectorize on their own.
    pub chooses: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Access {
    /// The number of the tensor.
    pub tensor: usize,
    pub index: Vec<Linear>,
    /// The trip counts of the surrounding loops, outermost first.
    pub trips: Vec<f64>,
    pub writes: bool,
    /// The loops, by depth, whose iterations read the index from a tensor: each may touch any row.
    pub gathers: Vec<usize>,
    /// The operations between a read and the write of its statement, one after the other.
    pub after: Operations,
}

/// The memory space of a tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    Memory,
    /// In registers, if all loops that index it are unrolled.
    Registers,
    /// On the stack, or in a buffer per thread.
    Thread,
}

#[derive(Clone, Debug)]
pub(super) struct Array {
    pub name: String,
    pub bytes: f64,
    pub element: f64,
    pub extents: Vec<f64>,
    pub place: Place,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    pub items: Vec<Item>,
    pub accesses: Vec<Access>,
    pub arrays: Vec<Array>,
    /// Number of threads with work.
    pub threads: f64,
    /// Number of parallel regions, and number of barriers.
    pub calls: f64,
    pub waits: f64,
}

/// Number of address streams that a hardware prefetcher follows.
const STREAMS: f64 = 64.0;

impl Level {
    /// The lanes of a vector loop.
    pub fn vector(&self) -> Option<f64> {
        match self.lanes {
            Lanes::Vector(lanes) => Some(lanes),
            Lanes::One | Lanes::Compiler => None,
        }
    }

    /// How many times the body is executed if an instruction has that many lanes.
    pub fn executions(&self, lanes: f64) -> f64 {
        match self.vector() {
            Some(lanes) => {
                let whole = (self.trips / lanes).floor();
                let rest = self.trips - whole * lanes;
                // The remainder is one shorter or masked vector.
                whole + if rest > 0.0 { 1.0 } else { 0.0 }
            }
            None => (self.trips / lanes).max(1.0),
        }
    }
}

impl Access {
    /// The range of an index over the loops from `depth` on, without the contribution of outer
    /// loops.
    pub fn hull(&self, dimension: usize, depth: usize) -> (f64, f64) {
        let linear = &self.index[dimension];
        let (mut low, mut high) = (linear[0], linear[0]);
        for (coefficient, trips) in linear[1..].iter().zip(&self.trips).skip(depth) {
            let reach = coefficient * (trips - 1.0).max(0.0);
            low += reach.min(0.0);
            high += reach.max(0.0);
        }
        (low, high)
    }

    /// The strides of the access in a loop: its coefficients in each dimension.
    pub fn strides(&self, depth: usize) -> impl Iterator<Item = f64> {
        self.index
            .iter()
            .map(move |linear| linear.get(depth + 1).copied().unwrap_or(0.0))
    }

    /// Length of a contiguous run in bytes. Several rows that are read side by side count as one
    /// run, as prefetchers follow several streams.
    pub fn run(&self, array: &Array) -> f64 {
        let mut scale = array.element;
        let mut scales: Vec<f64> = Vec::new();
        for extent in array.extents.iter().rev() {
            scales.push(scale);
            scale *= extent;
        }
        scales.reverse();
        let (mut run, mut streams) = (array.element, 1.0);
        for depth in (0..self.trips.len()).rev() {
            let strides = self.strides(depth).zip(&scales);
            let stride: f64 = strides.map(|(stride, scale)| stride * scale).sum();
            let trips = self.trips[depth];
            if stride == 0.0 || trips <= 1.0 {
                continue;
            }
            if stride.abs() <= run {
                run += (trips - 1.0) * stride.abs();
            } else {
                streams *= trips;
            }
            if streams > STREAMS {
                break;
            }
        }
        run
    }

    /// The depth inside of all loops that gather.
    pub fn inside_gathers(&self) -> usize {
        self.gathers.iter().max().map_or(0, |depth| depth + 1)
    }

    /// How many times the loops from `depth` on gather: at most so many rows are touched.
    pub fn gathered(&self, depth: usize) -> f64 {
        let around = depth..self.inside_gathers();
        let own = around.filter(|d| self.gathers.contains(d) || self.moves(*d));
        own.map(|d| self.trips[d]).product()
    }

    /// Whether the access varies with a loop.
    pub fn moves(&self, depth: usize) -> bool {
        self.strides(depth).any(|stride| stride != 0.0)
    }
}
