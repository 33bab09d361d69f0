//! A tree as the model sees it: loops with trip counts, and accesses with strides.
//!
//! Bounds that depend on outer iterators are taken in the middle of their ranges. Iterators count
//! from 0 here, so that an index is a constant and a stride for each loop around it.

use crate::ir::{Affine, BinaryOp, Expr, Function, Index, Name, Nest, Node, Stmt, Tensor, Tree};
use std::collections::HashMap;

/// A constant, and a coefficient for each loop around, outermost first.
pub(super) type Linear = Vec<f64>;

/// A node: a loop, or a statement.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Loop(Box<Level>),
    /// The accesses and the operations of a statement.
    Leaf(Leaf),
}

/// A loop.
#[derive(Clone, Debug)]
pub(super) struct Level {
    pub name: String,
    /// Iterations of one thread.
    pub trips: f64,
    pub vector: bool,
    pub lanes: Option<f64>,
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
    /// Vector instructions for one element: cycles of one unit.
    pub operations: f64,
    /// Whether it is `+=` or another update.
    pub updates: bool,
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

/// A tensor.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub name: String,
    pub bytes: f64,
    pub element: f64,
    pub extents: Vec<f64>,
    pub is_local: bool,
}

/// A tree.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub items: Vec<Item>,
    pub accesses: Vec<Access>,
    pub arrays: Vec<Array>,
    threads: f64,
    parallel: bool,
    regions: f64,
}

/// Cycles of one unit for an operation on a vector.
const SIMPLE: f64 = 1.0;
const DIVISION: f64 = 8.0;
const FUNCTION: f64 = 20.0;

impl Shape {
    /// The shape of one of the outermost trees of a nest, where parallel loops have at most `threads`
    /// threads; `None` where a bound or an index is beyond the model.
    pub fn of(nest: &Nest, tree: &Tree, threads: f64) -> Option<Shape> {
        let mut reader = Reader {
            shape: Shape {
                items: Vec::new(),
                accesses: Vec::new(),
                arrays: Vec::new(),
                threads: 1.0,
                parallel: false,
                regions: 0.0,
            },
            numbers: HashMap::new(),
            locals: nest.locals_by_name(),
            known: HashMap::new(),
            trips: Vec::new(),
            threads,
        };
        let items = reader.sequence(std::slice::from_ref(tree))?;
        Some(Shape {
            items,
            ..reader.shape
        })
    }

    /// Whether a loop runs on several threads.
    pub fn is_parallel(&self) -> bool {
        self.parallel
    }

    /// How many threads have work.
    pub fn threads(&self) -> f64 {
        self.threads
    }

    /// How often parallel loops begin.
    pub fn regions(&self) -> f64 {
        self.regions
    }
}

trait Locals {
    fn locals_by_name(&self) -> Vec<Name>;
}

impl Locals for Nest {
    fn locals_by_name(&self) -> Vec<Name> {
        let locals = self.trees().iter().flat_map(Tree::locals);
        locals.filter_map(|t| t.name().cloned()).collect()
    }
}

struct Reader {
    shape: Shape,
    numbers: HashMap<String, usize>,
    locals: Vec<Name>,
    /// Iterators: their values in terms of loops that count from 0, and in the middle.
    known: HashMap<Name, (Linear, f64)>,
    trips: Vec<f64>,
    threads: f64,
}

impl Reader {
    fn sequence(&mut self, trees: &[Tree]) -> Option<Vec<Item>> {
        let mut items = Vec::new();
        for tree in trees {
            match tree {
                Tree::Loop(l) => items.push(self.level(l)?),
                Tree::Stmt(s) => items.push(Item::Leaf(self.leaf(s)?)),
                // Initializations are written by what follows anyway.
                Tree::Fill(_) | Tree::Local(_) => {}
            }
        }
        Some(items)
    }

    fn level(&mut self, l: &crate::ir::Loop) -> Option<Item> {
        let value = |bounds: &[Affine], reader: &Reader, least: bool| -> Option<(f64, Affine)> {
            let valued = bounds.iter().map(|b| Some((reader.middle(b)?, b.clone())));
            let valued: Vec<(f64, Affine)> = valued.collect::<Option<_>>()?;
            let order = |a: &(f64, Affine), b: &(f64, Affine)| a.0.total_cmp(&b.0);
            match least {
                true => valued.into_iter().min_by(order),
                false => valued.into_iter().max_by(order),
            }
        };
        let (low, base) = value(&l.range.lower, self, false)?;
        let (high, _) = value(&l.range.upper, self, true)?;
        let step = l.range.step as f64;
        let all = ((high - low) / step).ceil().max(0.0);
        let depth = self.trips.len();
        let is_first = l.parallel && !self.shape.parallel;
        let mut trips = all;
        if l.parallel {
            self.shape.regions += self.trips.iter().product::<f64>();
            if is_first {
                let threads = self.threads.min(all.max(1.0));
                self.shape.parallel = true;
                self.shape.threads = self.shape.threads.max(threads);
                trips = (all / threads).ceil();
            }
        }
        let mut linear = self.linear(&base)?;
        linear.resize(depth + 1, 0.0);
        linear.push(step);
        let middle = low + step * (all - 1.0).max(0.0) / 2.0;
        let before = self.known.insert(l.name.clone(), (linear, middle));
        let start = self.shape.accesses.len();
        self.trips.push(trips);
        let body = self.sequence(&l.body);
        self.trips.pop();
        match before {
            Some(before) => self.known.insert(l.name.clone(), before),
            None => self.known.remove(&l.name),
        };
        if is_first {
            self.shape.parallel = true;
        }
        Some(Item::Loop(Box::new(Level {
            name: l.name.to_string(),
            trips,
            vector: l.vector,
            lanes: l.lanes.map(|n| n as f64),
            body: body?,
            range: start..self.shape.accesses.len(),
            depth,
        })))
    }

    fn leaf(&mut self, s: &Stmt) -> Option<Leaf> {
        let start = self.shape.accesses.len();
        let mut read = Vec::new();
        s.value.for_each_access(&mut |tensor, index| {
            if let Index::At(index) = index {
                read.push((tensor.clone(), index.clone()));
            }
        });
        for (tensor, index) in read {
            self.access(&tensor, &index, false)?;
        }
        self.access(&s.target, &s.index, true)?;
        let own = operations(&s.value);
        let updates = s.update.is_some();
        // An update of a product is one fused operation.
        let is_product = matches!(
            s.value.node(),
            Node::Binary {
                op: BinaryOp::Mul,
                ..
            }
        );
        let update = match s.update {
            Some(BinaryOp::Add | BinaryOp::Sub) if is_product => 0.0,
            Some(BinaryOp::Div) => DIVISION,
            Some(_) => SIMPLE,
            None => 0.0,
        };
        Some(Leaf {
            range: start..self.shape.accesses.len(),
            operations: own + update,
            updates,
        })
    }

    fn access(&mut self, tensor: &Tensor, index: &[Affine], writes: bool) -> Option<()> {
        let label = tensor.label().to_owned();
        let arrays = &mut self.shape.arrays;
        let is_local = tensor.name().is_some_and(|name| self.locals.contains(name));
        let number = *self.numbers.entry(label.clone()).or_insert_with(|| {
            let extents: Vec<f64> = tensor.shape().extents().iter().map(|n| *n as f64).collect();
            let element = tensor.elem().size() as f64;
            arrays.push(Array {
                name: label,
                bytes: element * extents.iter().product::<f64>(),
                element,
                extents,
                is_local,
            });
            arrays.len() - 1
        });
        let depth = self.trips.len();
        let index = index.iter().map(|affine| {
            let mut linear = self.linear(affine)?;
            linear.resize(depth + 1, 0.0);
            Some(linear)
        });
        let index: Vec<Linear> = index.collect::<Option<_>>()?;
        self.shape.accesses.push(Access {
            tensor: number,
            index,
            trips: self.trips.clone(),
            writes,
        });
        Some(())
    }

    fn linear(&self, affine: &Affine) -> Option<Linear> {
        let mut sum = vec![affine.offset() as f64];
        for (name, coefficient) in affine.terms() {
            let (linear, _) = self.known.get(name)?;
            if sum.len() < linear.len() {
                sum.resize(linear.len(), 0.0);
            }
            for (total, part) in sum.iter_mut().zip(linear) {
                *total += *coefficient as f64 * part;
            }
        }
        Some(sum)
    }

    fn middle(&self, affine: &Affine) -> Option<f64> {
        let terms = affine.terms().iter();
        let terms = terms.map(|(name, c)| Some(*c as f64 * self.known.get(name)?.1));
        Some(affine.offset() as f64 + terms.sum::<Option<f64>>()?)
    }
}

/// Cycles of one unit for the operations of a value on one vector.
fn operations(expr: &Expr) -> f64 {
    let own = match expr.node() {
        Node::Binary { op, .. } => match op {
            BinaryOp::Div | BinaryOp::Mod => DIVISION,
            BinaryOp::Pow => FUNCTION,
            _ => SIMPLE,
        },
        Node::Apply { function, .. } => match function {
            Function::Cast(_) | Function::Select(_) => SIMPLE,
            Function::Sqrt => DIVISION,
            Function::Abs => SIMPLE,
            _ => FUNCTION,
        },
        _ => 0.0,
    };
    own + expr.children().into_iter().map(operations).sum::<f64>()
}

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

    /// Whether a loop moves it.
    pub fn moves(&self, depth: usize) -> bool {
        self.strides(depth).any(|stride| stride != 0.0)
    }
}
