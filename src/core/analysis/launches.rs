//! Which parts of a nest a device runs: launches, grids, and the threads of their blocks.
//!
//! Trees are steps of the processor, until a chain of grid loops begins: that is a launch. Serial
//! loops around launches run on the processor. A tree without grid loops is a launch of one block.
//! In a launch, a chain of block loops is a phase, in which each iteration has a thread of its own.
//! Everything outside of all phases runs on the first thread.

use super::bounds::Bounds;
use super::levels::trips;
use crate::ir::{Affine, Axis, Level, Loop, Mode, Name, Tree};

/// One start of a device.
#[derive(Clone, Debug)]
pub struct Launch<'t> {
    /// The position of its outermost tree.
    pub position: Vec<usize>,
    /// The loops of the processor around it, outermost first.
    pub around: Vec<&'t Loop>,
    /// Its grid loops, outermost first. None means one block.
    pub grid: Vec<&'t Loop>,
    /// The code of each block.
    pub body: &'t [Tree],
    /// The number of threads of a block, by dimension.
    pub threads: [i64; Axis::OF_THREADS],
}

/// Why loops are not launches.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misplaced {
    /// A loop for threads or lanes of the processor.
    #[error("loop `{inner}` is {mode}, and loop `{outer}` runs on a device")]
    OfProcessor {
        inner: Name,
        mode: &'static str,
        outer: Name,
    },
    /// A grid loop that is not directly inside another one, or outermost on the device.
    #[error("{axis} loop `{inner}` is inside loop `{outer}`, which runs on the device")]
    GridInside {
        inner: Name,
        axis: Axis,
        outer: Name,
    },
    /// A grid loop with another one inside and something beside it.
    #[error("grid loop `{outer}` holds {axis} loop `{inner}` and something else")]
    ImperfectGrid {
        outer: Name,
        inner: Name,
        axis: Axis,
    },
    /// A block loop with another one inside and something beside it.
    #[error("loop `{outer}` holds loop `{inner}` and something else, and both are block loops")]
    ImperfectPhase { outer: Name, inner: Name },
    /// Bounds of a grid loop that the processor does not know.
    #[error("the bounds of {axis} loop `{name}` depend on loop `{on}`, which the device runs")]
    GridDepends { name: Name, axis: Axis, on: Name },
    /// A bound loop with several lower bounds.
    #[error("{axis} loop `{name}` has several lower bounds")]
    LowerBounds { name: Name, axis: Axis },
    /// A block loop without a known number of iterations.
    #[error("nothing bounds the number of iterations of {axis} loop `{name}` by a number")]
    UnknownThreads { name: Name, axis: Axis },
}

impl Misplaced {
    /// The loops at fault.
    pub fn loops(&self) -> Vec<Name> {
        match self {
            Misplaced::OfProcessor { inner, outer, .. }
            | Misplaced::GridInside { inner, outer, .. }
            | Misplaced::ImperfectGrid { inner, outer, .. }
            | Misplaced::ImperfectPhase { outer, inner } => vec![inner.clone(), outer.clone()],
            Misplaced::GridDepends { name, on, .. } => vec![name.clone(), on.clone()],
            Misplaced::LowerBounds { name, .. } | Misplaced::UnknownThreads { name, .. } => {
                vec![name.clone()]
            }
        }
    }

    /// A legal alternative.
    pub fn help(&self) -> &'static str {
        match self {
            Misplaced::OfProcessor { .. } => {
                "bind the loop to an axis, or leave it serial; threads of the processor run around \
                 no launch"
            }
            Misplaced::GridInside { .. } | Misplaced::ImperfectGrid { .. } => {
                "grid loops are perfectly nested, with serial loops around them only; interchange \
                 or distribute the loops"
            }
            Misplaced::ImperfectPhase { .. } => {
                "block loops are perfectly nested; distribute the outer one, or bind one of them \
                 to the grid"
            }
            Misplaced::GridDepends { .. } => {
                "bind the inner loop to a block axis, or leave it serial"
            }
            Misplaced::LowerBounds { .. } => "separate the loop first, or leave it serial",
            Misplaced::UnknownThreads { .. } => {
                "stripmine the loop, and bind the inner one, whose length is a number"
            }
        }
    }
}

/// Whether a loop of the trees runs on a device.
pub fn is_on_device(trees: &[Tree]) -> bool {
    let mut loops = trees.iter().filter_map(Tree::as_loop);
    loops.any(|l| l.axis().is_some() || is_on_device(&l.body))
}

/// The launches of trees, in order. `context` has the loops around all of them.
///
/// # Errors
/// [`Misplaced`].
pub fn launches<'t>(trees: &'t [Tree], context: &[&'t Loop]) -> Result<Vec<Launch<'t>>, Misplaced> {
    let mut found = Vec::new();
    let walk = Walk { context };
    walk.steps(trees, &mut Vec::new(), &mut Vec::new(), &mut found)?;
    Ok(found)
}

struct Walk<'c, 't> {
    context: &'c [&'t Loop],
}

impl<'t> Walk<'_, 't> {
    fn steps(
        &self,
        trees: &'t [Tree],
        position: &mut Vec<usize>,
        around: &mut Vec<&'t Loop>,
        found: &mut Vec<Launch<'t>>,
    ) -> Result<(), Misplaced> {
        for (k, tree) in trees.iter().enumerate() {
            position.push(k);
            match tree {
                Tree::Local(_) => {}
                Tree::Loop(l) if !l.is_grid() && has_grid(&l.body) => {
                    if l.is_block() {
                        return Err(inside(l, &l.body));
                    }
                    of_processor(l, &l.body)?;
                    around.push(l);
                    self.steps(&l.body, position, around, found)?;
                    around.pop();
                }
                tree => found.push(self.launch(tree, position, around)?),
            }
            position.pop();
        }
        Ok(())
    }

    fn launch(
        &self,
        tree: &'t Tree,
        position: &[usize],
        around: &[&'t Loop],
    ) -> Result<Launch<'t>, Misplaced> {
        let mut grid: Vec<&Loop> = Vec::new();
        let mut body = std::slice::from_ref(tree);
        while let [Tree::Loop(l)] = body
            && l.is_grid()
        {
            let mut bounds = l.range.bounds();
            let on = grid.iter().find(|o| bounds.any(|b| b.mentions(&o.name)));
            if let (Some(on), Some(axis)) = (on, l.axis()) {
                let (name, on) = (l.name.clone(), on.name.clone());
                return Err(Misplaced::GridDepends { name, axis, on });
            }
            one_lower_bound(l)?;
            grid.push(l);
            body = &l.body;
        }
        if let Some(outer) = grid.last().filter(|_| has_grid(body)) {
            return Err(inside(outer, body));
        }
        let mut chain: Vec<&Loop> = self.context.to_vec();
        chain.extend(around.iter().chain(&grid));
        let mut threads = [1; Axis::OF_THREADS];
        self.block(body, &mut chain, &mut threads)?;
        Ok(Launch {
            position: position.to_vec(),
            around: around.to_vec(),
            grid,
            body,
            threads,
        })
    }

    /// Checks what a block executes, and counts its threads.
    fn block(
        &self,
        trees: &'t [Tree],
        chain: &mut Vec<&'t Loop>,
        threads: &mut [i64; Axis::OF_THREADS],
    ) -> Result<(), Misplaced> {
        for l in trees.iter().filter_map(Tree::as_loop) {
            let outer = chain.iter().rev().find(|o| o.axis().is_some());
            let mode = match l.mode {
                Mode::Serial | Mode::Bound { .. } => None,
                Mode::Vector { .. } => Some("a vector loop"),
                Mode::Parallel { .. } | Mode::ParallelVector { .. } => Some("parallel"),
            };
            let of_device = outer
                .copied()
                .or_else(|| first(&l.body, &|l| l.axis().is_some()));
            if let (Some(mode), Some(outer)) = (mode, of_device) {
                let (inner, outer) = (l.name.clone(), outer.name.clone());
                return Err(Misplaced::OfProcessor { inner, mode, outer });
            }
            if let Some(axis) = l.axis() {
                one_lower_bound(l)?;
                if let Some(outer) = chain.last().filter(|o| o.is_block() && trees.len() > 1) {
                    let (outer, inner) = (outer.name.clone(), l.name.clone());
                    return Err(Misplaced::ImperfectPhase { outer, inner });
                }
                let inside = chain.iter().find(|o| o.is_block());
                if let Some(outer) = inside.filter(|_| !chain.last().is_some_and(|o| o.is_block()))
                {
                    let (outer, inner) = (outer.name.clone(), l.name.clone());
                    return Err(Misplaced::ImperfectPhase { outer, inner });
                }
                // A size without a known end has one that no device reaches.
                let around = Bounds::of_chain(chain.iter().copied());
                let count = trips(l, &around).filter(|count| *count < i64::from(i32::MAX));
                let count = count.ok_or(Misplaced::UnknownThreads {
                    name: l.name.clone(),
                    axis,
                })?;
                let own = &mut threads[axis.dimension];
                *own = count.max(*own);
            }
            chain.push(l);
            self.block(&l.body, chain, threads)?;
            chain.pop();
        }
        Ok(())
    }
}

/// The number of the thread that runs an iteration of a bound loop.
pub fn thread(l: &Loop) -> Affine {
    let iterator = Affine::iterator(l.name.clone());
    match l.range.lower.as_slice() {
        [lower] => iterator.minus(lower),
        _ => iterator,
    }
}

fn one_lower_bound(l: &Loop) -> Result<(), Misplaced> {
    match (l.range.lower.as_slice(), l.axis()) {
        ([_], _) | (_, None) => Ok(()),
        (_, Some(axis)) => Err(Misplaced::LowerBounds {
            name: l.name.clone(),
            axis,
        }),
    }
}

/// Whether a loop of the trees runs on blocks of a device.
pub fn has_grid(trees: &[Tree]) -> bool {
    let mut loops = trees.iter().filter_map(Tree::as_loop);
    loops.any(|l| l.is_grid() || has_grid(&l.body))
}

/// A loop of the processor around launches has to be serial.
fn of_processor(l: &Loop, body: &[Tree]) -> Result<(), Misplaced> {
    let mode = match l.mode {
        Mode::Parallel { .. } | Mode::ParallelVector { .. } => "parallel",
        Mode::Vector { .. } => "a vector loop",
        Mode::Serial | Mode::Bound { .. } => return Ok(()),
    };
    let grid = first(body, &Loop::is_grid).unwrap_or(l);
    let (inner, outer) = (l.name.clone(), grid.name.clone());
    Err(Misplaced::OfProcessor { inner, mode, outer })
}

/// The first loop of that kind.
fn first<'t>(trees: &'t [Tree], is: &dyn Fn(&Loop) -> bool) -> Option<&'t Loop> {
    let mut loops = trees.iter().filter_map(Tree::as_loop);
    loops.find_map(|l| match is(l) {
        true => Some(&**l),
        false => first(&l.body, is),
    })
}

/// The first grid loop in a body of a loop of the device.
fn inside(outer: &Loop, body: &[Tree]) -> Misplaced {
    let inner = first(body, &Loop::is_grid).unwrap_or(outer);
    let axis = inner.axis().unwrap_or(Axis {
        of: Level::Grid,
        dimension: 0,
    });
    let (inner, outer_name) = (inner.name.clone(), outer.name.clone());
    match outer.is_grid() {
        true => Misplaced::ImperfectGrid {
            outer: outer_name,
            inner,
            axis,
        },
        false => Misplaced::GridInside {
            inner,
            axis,
            outer: outer_name,
        },
    }
}
