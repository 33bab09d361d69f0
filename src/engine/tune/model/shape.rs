//! A nest as the model sees it: loops with trip counts, and accesses with strides.

/// A constant, and a coefficient for each loop around, outermost first.
pub(super) type Linear = Vec<f64>;

/// A node: a loop, or a statement.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Loop(Box<Level>),
    /// The accesses and the operations of a statement.
    Leaf(Leaf),
}

/// How the iterations of a loop become instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Lanes {
    /// One by one.
    One,
    /// So many at a time.
    Vector(f64),
    /// As many at a time as a compiler finds, which may reorder sums.
    Compiler,
}

/// A loop.
#[derive(Clone, Debug)]
pub(super) struct Level {
    pub name: String,
    /// Iterations of one thread.
    pub trips: f64,
    /// The most iterations that it has, if the compiler knows a number, and whether it always has
    /// so many.
    pub most: Option<f64>,
    pub constant: bool,
    /// Whether all of them are copies in the code, so that registers can hold what they index.
    pub copies: bool,
    pub lanes: Lanes,
    pub body: Vec<Item>,
    /// Its accesses in [`Shape::accesses`].
    pub range: std::ops::Range<usize>,
    /// How many loops are around it.
    pub depth: usize,
}

/// A statement.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub range: std::ops::Range<usize>,
    /// Additions, products and the like, for one element.
    pub simple: f64,
    /// Divisions and roots.
    pub divisions: f64,
    /// Calls of functions.
    pub functions: f64,
    /// Whether it is `+=` or another update.
    pub updates: bool,
    /// Whether it stores past the caches.
    pub past: bool,
    /// Whether it takes the greater or the smaller of two values, which compilers do one by one unless
    /// they are told to use vectors.
    pub chooses: bool,
}

/// An access to a tensor.
#[derive(Clone, Debug)]
pub(super) struct Access {
    /// The number of the tensor.
    pub tensor: usize,
    pub index: Vec<Linear>,
    /// The trip counts of the loops around, outermost first.
    pub trips: Vec<f64>,
    pub writes: bool,
}

/// Where a tensor is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    Memory,
    /// In registers, as far as all loops that index it are copies.
    Registers,
    /// Near, on the stack or in one place for each thread.
    Thread,
}

/// A tensor.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub name: String,
    pub bytes: f64,
    pub element: f64,
    pub extents: Vec<f64>,
    pub place: Place,
}

/// A nest.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    pub items: Vec<Item>,
    pub accesses: Vec<Access>,
    pub arrays: Vec<Array>,
    /// How many threads have work.
    pub threads: f64,
    /// How often threads are called, and how often they wait for each other.
    pub calls: f64,
    pub waits: f64,
}

/// How many rows processors follow at a time.
const STREAMS: f64 = 64.0;

impl Access {
    /// The first and the last value of an index in the loops from `depth` on, without what outer
    /// loops add.
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

    /// How much each iteration of a loop moves it: the coefficients of the loop.
    pub fn strides(&self, depth: usize) -> impl Iterator<Item = f64> {
        self.index
            .iter()
            .map(move |linear| linear.get(depth + 1).copied().unwrap_or(0.0))
    }

    /// How many bytes in a row are touched before it jumps, where several rows count as one: they are
    /// streams side by side.
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

    /// Whether a loop moves it.
    pub fn moves(&self, depth: usize) -> bool {
        self.strides(depth).any(|stride| stride != 0.0)
    }
}
