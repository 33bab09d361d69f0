//! The plan of nests that run on a device: what the processor does, and what each thread executes.

use super::spaces::Pass;
use crate::analysis::launches::Launch;
use crate::ir::{self, Affine, Axis, Elem, Fill, Name, Stmt, Tensor};
use crate::legality::Waiting;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

/// Everything about the code of nests on a device.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// The steps of the processor, in order.
    pub(super) steps: Vec<Step>,
    /// The bits of iterators and indices.
    pub(super) width: Width,
}

/// The bits of iterators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// 32.
    Narrow,
    /// 64.
    Wide,
    /// 32 if no size is greater than `most`, and no tensor has more elements than [`MOST`].
    Either { most: i64 },
}

/// The greatest number of 32 bits.
pub(super) const MOST: i64 = i32::MAX as i64;

/// A step of the processor.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A serial loop.
    Loop(Arc<ir::Loop>, Vec<Step>),
    /// Memory of the device for the rest of the sequence.
    Local(Tensor),
    /// A start of the device.
    Launch(Kernel),
}

/// The code of one launch.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    /// The loops of the processor around it.
    pub(super) around: Vec<Name>,
    /// The grid loops, outermost first.
    pub(super) grid: Vec<Arc<ir::Loop>>,
    /// The number of threads of a block, by dimension.
    pub(super) threads: [i64; Axis::OF_THREADS],
    /// Local tensors in memory that the threads of a block share.
    pub(super) shared: Vec<Tensor>,
    /// Local tensors that are distributed: each thread has its own part.
    pub(super) own: Vec<Tensor>,
    /// How many registers a thread needs.
    pub(super) registers: i64,
    /// How many blocks run on a processor of the device at once.
    pub(super) at_once: Option<i64>,
    /// The element types that lanes pass on.
    pub(super) passed: Vec<Elem>,
    pub(super) body: Vec<Node>,
}

/// The code of the threads of a block.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// A serial loop.
    Loop {
        of: Arc<ir::Loop>,
        body: Vec<Node>,
    },
    /// A serial loop that is unrolled, since registers have no index: from 0 on, so many iterations,
    /// each up to the ends.
    Unrolled {
        of: Arc<ir::Loop>,
        copies: i64,
        ends: Vec<Affine>,
        body: Vec<Node>,
    },
    /// The same twice: for whole tiles, which need no further bounds and whose accesses may be wide,
    /// if all conditions hold, and for all other tiles.
    Tiles {
        whole_if: Vec<Condition>,
        whole: Vec<Node>,
        part: Vec<Node>,
    },
    /// A loop whose iterations are threads. Threads from one of the ends on have no iteration.
    Threads {
        of: Arc<ir::Loop>,
        dimension: usize,
        ends: Vec<Affine>,
        body: Vec<Node>,
    },
    /// The code of the first thread of these dimensions.
    First {
        dimensions: Vec<usize>,
        body: Vec<Node>,
    },
    Stmt(Arc<Stmt>),
    Fill(Arc<Fill>),
    /// A local tensor of a thread.
    Local(Tensor),
    /// Reads a part into registers.
    Load(Move),
    /// Writes a part from registers.
    Store(Move),
    /// Lanes of a warp pass an element on.
    Pass(Pass),
    /// Threads of the block wait for each other.
    Barrier(Waiting),
}

/// Neighbors in a row of a tensor in memory, and a part in registers.
#[derive(Clone, Debug)]
pub(super) struct Move {
    pub(super) part: Tensor,
    pub(super) tensor: Tensor,
    /// The index of the first neighbor.
    pub(super) index: Vec<Affine>,
    /// The number of elements of an access.
    pub(super) width: i64,
}

/// A question that is asked when the kernel runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// The first number is at most the second.
    AtMost(Affine, Affine),
    /// A number is a multiple of another one.
    Multiple { of: Affine, by: i64 },
    /// A tensor begins at an address that is a multiple of so many bytes.
    Aligned { tensor: Tensor, bytes: i64 },
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Condition::AtMost(least, most) => write!(f, "{least} <= {most}"),
            Condition::Multiple { of, by } => write!(f, "{of} is a multiple of {by}"),
            Condition::Aligned { tensor, bytes } => {
                write!(
                    f,
                    "{} begins at a multiple of {bytes} bytes",
                    tensor.label()
                )
            }
        }
    }
}

impl Kernel {
    pub(super) fn new(launch: &Launch) -> Kernel {
        let names = launch.around.iter().map(|l| l.name.clone());
        Kernel {
            around: names.collect(),
            grid: launch.grid.iter().map(|l| Arc::new((*l).clone())).collect(),
            threads: launch.threads,
            shared: Vec::new(),
            own: Vec::new(),
            registers: 0,
            at_once: None,
            passed: Vec::new(),
            body: Vec::new(),
        }
    }

    /// The threads of a block as the device counts them: lanes are neighbors in x.
    pub(super) fn block(&self) -> [i64; Axis::DIMENSIONS] {
        let [x, y, z, lanes] = self.threads.map(|n| n.max(1));
        [x.saturating_mul(lanes), y, z]
    }

    /// The bytes of memory that the threads of a block share, with what alignment takes.
    pub(super) fn shared_bytes(&self) -> u64 {
        let aligned = |tensor: &Tensor| {
            let parts = bytes(tensor).div_ceil(SHARED_ALIGNMENT);
            parts.saturating_mul(SHARED_ALIGNMENT)
        };
        self.shared.iter().map(aligned).fold(0, u64::saturating_add)
    }

    /// The threads of a block.
    pub(super) fn threads_of_block(&self) -> i64 {
        self.block().into_iter().fold(1, i64::saturating_mul)
    }
}

impl Plan {
    /// Visits all loops.
    pub(super) fn for_each_loop(&self, see: &mut dyn FnMut(&ir::Loop)) {
        loops_of_steps(&self.steps, see);
    }
}

fn loops_of_steps(steps: &[Step], see: &mut dyn FnMut(&ir::Loop)) {
    for step in steps {
        match step {
            Step::Loop(l, body) => {
                see(l);
                loops_of_steps(body, see);
            }
            Step::Local(_) => {}
            Step::Launch(kernel) => {
                kernel.grid.iter().for_each(|l| see(l));
                loops_of_nodes(&kernel.body, see);
            }
        }
    }
}

fn loops_of_nodes(nodes: &[Node], see: &mut dyn FnMut(&ir::Loop)) {
    for node in nodes {
        match node {
            Node::Loop { of, body }
            | Node::Unrolled { of, body, .. }
            | Node::Threads { of, body, .. } => {
                see(of);
                loops_of_nodes(body, see);
            }
            Node::Tiles { whole, part, .. } => {
                loops_of_nodes(whole, see);
                loops_of_nodes(part, see);
            }
            Node::First { body, .. } => loops_of_nodes(body, see),
            Node::Stmt(_)
            | Node::Fill(_)
            | Node::Local(_)
            | Node::Load(_)
            | Node::Store(_)
            | Node::Pass(_)
            | Node::Barrier(_) => {}
        }
    }
}

/// Shared tensors begin at multiples of so many bytes (`TEML_SHARED` in `words_gpu.h`).
const SHARED_ALIGNMENT: u64 = 16;

fn bytes(tensor: &Tensor) -> u64 {
    let elements = tensor.shape().elements();
    elements.saturating_mul(tensor.elem().size() as u64)
}

/// The names of dimensions.
pub(super) const DIMENSIONS: [&str; Axis::OF_THREADS] = ["x", "y", "z", "lane"];

impl Display for Plan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.width {
            Width::Narrow => {}
            Width::Wide => writeln!(f, "indices of 64 bits")?,
            Width::Either { most } => writeln!(
                f,
                "indices of 32 bits if sizes are at most {most} and 32 bits count elements, else of 64"
            )?,
        }
        steps(f, &self.steps, 0)
    }
}

fn steps(f: &mut Formatter<'_>, steps: &[Step], depth: usize) -> fmt::Result {
    let indent = 2 * depth;
    for step in steps {
        match step {
            Step::Loop(l, body) => {
                writeln!(f, "{:indent$}for {} in {}", "", l.name, l.range)?;
                self::steps(f, body, depth + 1)?;
            }
            Step::Local(tensor) => {
                writeln!(
                    f,
                    "{:indent$}{} in memory of the device",
                    "",
                    declared(tensor)
                )?;
            }
            Step::Launch(kernel) => {
                let [x, y, z, lanes] = kernel.threads;
                let lanes = match lanes {
                    1 => String::new(),
                    lanes => format!(" × {lanes}"),
                };
                write!(
                    f,
                    "{:indent$}launch blocks of {x} × {y} × {z}{lanes} threads",
                    ""
                )?;
                write!(f, " with about {} registers each", kernel.registers)?;
                match kernel.shared_bytes() {
                    0 => {}
                    shared => write!(f, ", which share {shared} bytes")?,
                }
                match kernel.at_once {
                    None => {}
                    Some(count) => write!(f, ", {count} blocks on a processor at once")?,
                }
                writeln!(f)?;
                let mut depth = depth + 1;
                for l in &kernel.grid {
                    writeln!(f, "{:indent$}{}", "", bound(l), indent = 2 * depth)?;
                    depth += 1;
                }
                for tensor in &kernel.shared {
                    let declared = declared(tensor);
                    writeln!(f, "{:indent$}{declared} shared", "", indent = 2 * depth)?;
                }
                for tensor in &kernel.own {
                    let declared = declared(tensor);
                    let indent = 2 * depth;
                    writeln!(f, "{:indent$}{declared} in registers of each thread", "")?;
                }
                nodes(f, &kernel.body, depth)?;
            }
        }
    }
    Ok(())
}

fn nodes(f: &mut Formatter<'_>, all: &[Node], depth: usize) -> fmt::Result {
    let indent = 2 * depth;
    for node in all {
        match node {
            Node::Loop { of, body } => {
                writeln!(f, "{:indent$}for {} in {}", "", of.name, of.range)?;
                nodes(f, body, depth + 1)?;
            }
            Node::Unrolled {
                of, copies, body, ..
            } => {
                let (name, range) = (&of.name, &of.range);
                writeln!(
                    f,
                    "{:indent$}for {name} in {range}, unrolled {copies} times",
                    ""
                )?;
                nodes(f, body, depth + 1)?;
            }
            Node::Tiles {
                whole_if,
                whole,
                part,
            } => {
                let conditions = whole_if.iter().map(Condition::to_string);
                let conditions = conditions.collect::<Vec<_>>().join(" and ");
                writeln!(f, "{:indent$}whole tiles, if {conditions}", "")?;
                nodes(f, whole, depth + 1)?;
                writeln!(f, "{:indent$}tiles in part", "")?;
                nodes(f, part, depth + 1)?;
            }
            Node::Threads { of, ends, body, .. } => {
                let how = if ends.is_empty() {
                    ""
                } else {
                    ", threads behind it idle"
                };
                writeln!(f, "{:indent$}{}{how}", "", bound(of))?;
                nodes(f, body, depth + 1)?;
            }
            Node::First { dimensions, body } => {
                let names: Vec<&str> = dimensions.iter().map(|d| DIMENSIONS[*d]).collect();
                writeln!(f, "{:indent$}first thread in {}", "", names.join(", "))?;
                nodes(f, body, depth + 1)?;
            }
            Node::Stmt(s) => writeln!(f, "{:indent$}{s}", "")?,
            Node::Fill(fill) => writeln!(f, "{:indent$}{fill}", "")?,
            Node::Local(tensor) => writeln!(f, "{:indent$}{}", "", declared(tensor))?,
            Node::Load(of) => {
                let (part, width) = (of.part.label(), of.width);
                writeln!(
                    f,
                    "{:indent$}{part} = {}, {width} at a time",
                    "",
                    of.neighbors()
                )?;
            }
            Node::Store(of) => {
                let (part, width) = (of.part.label(), of.width);
                writeln!(
                    f,
                    "{:indent$}{} = {part}, {width} at a time",
                    "",
                    of.neighbors()
                )?;
            }
            Node::Pass(of) => writeln!(f, "{:indent$}{of}", "")?,
            Node::Barrier(Waiting::Block) => writeln!(f, "{:indent$}barrier", "")?,
            Node::Barrier(Waiting::Warp) => writeln!(f, "{:indent$}barrier of each warp", "")?,
        }
    }
    Ok(())
}

impl Display for Pass {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let access = |tensor: &Tensor, index: &[Affine]| {
            let index: String = index.iter().map(|a| format!("[{a}]")).collect();
            format!("{}{index}", tensor.label())
        };
        let (to, from) = (access(&self.to, &self.at), access(&self.from, &self.slot));
        write!(f, "{to} = {from} of lane {}", self.lane("lane"))
    }
}

impl Pass {
    /// The number of the lane that has the element, where `lane` is the one that gets it.
    pub(super) fn lane(&self, lane: &str) -> String {
        match (self.times, self.plus) {
            (0, plus) => plus.to_string(),
            (1, 0) => lane.to_owned(),
            (1, plus) => format!("{lane} + {plus}"),
            (times, 0) => format!("{times}*{lane}"),
            (times, plus) => format!("{times}*{lane} + {plus}"),
        }
    }
}

impl Move {
    /// The neighbors, as text.
    fn neighbors(&self) -> String {
        let count = self.part.shape().elements();
        let Some((last, rows)) = self.index.split_last() else {
            return self.tensor.label().to_owned();
        };
        let rows: String = rows.iter().map(|a| format!("[{a}]")).collect();
        format!("{}{rows}[{last}..+{count}]", self.tensor.label())
    }
}

fn bound(l: &ir::Loop) -> String {
    let axis = l.axis().map_or("", Axis::word);
    format!("{axis} for {} in {}", l.name, l.range)
}

fn declared(tensor: &Tensor) -> String {
    let dims = tensor.shape().dims();
    let dims: String = dims.iter().map(|d| format!("[{d}]")).collect();
    format!("{} {}{dims}", tensor.elem(), tensor.label())
}
