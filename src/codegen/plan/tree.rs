//! The nodes of a plan.

use crate::analysis::prefetch_address::Touch;
use crate::analysis::prefetch_plan::Prefetched;
use crate::ir::{self, Affine, Elem, Fill, Name, Nest, Stmt, Tensor, Tree};
use crate::target::Target;
use std::collections::HashSet;
use std::sync::Arc;

/// The code of a kernel, with all decisions about it: nests that run in order.
#[derive(Clone, Debug)]
pub struct Plan {
    pub parts: Vec<Part>,
}

/// The plan of one nest.
#[derive(Clone, Debug)]
pub struct Part {
    /// The nest itself: passes analyze it to decide questions of meaning.
    pub nest: Nest,
    pub nodes: Vec<Node>,
    /// Whether a loop walks through a tensor in both directions: compilers then confuse addresses.
    pub both_ways: bool,
}

/// Facts that passes know in addition to the plan.
pub struct Context<'a> {
    /// The machine that the plan is for.
    pub target: &'a Target,
    /// The tensors that the kernel only reads.
    pub inputs: &'a HashSet<Name>,
}

/// A step of a kernel.
#[derive(Clone, Debug)]
pub enum Node {
    Loop(Arc<Loop>),
    Stmt(Statement),
    Fill(Arc<Fill>),
    Local(Local),
    /// A parallel region, whose body all threads execute.
    Region(Region),
    /// A call of an outlined C function.
    Outlined(Outlined),
    /// A copy of one contiguous block past the caches.
    Copy(Block),
    /// Prefetches for later iterations.
    Fetch(Fetch),
    /// A fence: other threads then see earlier streaming stores.
    Fence,
    /// A barrier of all threads of the region.
    Barrier,
    /// Keeps compilers from combining statements before it with statements after it.
    InOrder,
    /// Keeps compilers from hoisting loads above it.
    LoadFence,
}

#[derive(Clone, Debug)]
pub struct Loop {
    /// The loop of the nest, with its body before planning.
    pub of: Arc<ir::Loop>,
    pub mode: Mode,
    /// Why a vector loop does not run in vectors.
    pub why: Option<String>,
    /// Whether the remark is shown at this loop.
    pub shows_remark: bool,
    pub body: Vec<Node>,
}

/// How the iterations of a loop run.
#[derive(Clone, Debug)]
pub enum Mode {
    /// In order.
    Serial,
    /// In order, and compilers must not unroll the loop.
    Rolled,
    /// Unrolled, with this number of copies, since registers have no index.
    Unrolled(i64),
    /// On threads, perhaps in lanes that compilers choose.
    Parallel {
        entry: Entry,
        simd: bool,
    },
    /// On threads, collapsed with a parallel loop around.
    Collapsed {
        simd: bool,
    },
    /// In lanes that compilers choose.
    Simd,
    Vector(VectorPlan),
}

/// How threads enter a parallel loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// It starts them.
    Call,
    /// The region around has started them.
    Join,
    /// The region around has started them, and no barrier follows.
    JoinWithoutWaiting,
}

/// The vectors of a loop.
#[derive(Clone, Debug)]
pub struct VectorPlan {
    pub elem: Elem,
    /// The number of lanes; `None` for as many as a register holds.
    pub lanes: Option<i64>,
    /// Whether the vectors are unrolled, since registers have no index.
    pub unrolled: bool,
    /// Where its iterations begin and end.
    pub trips: Trips,
}

#[derive(Clone, Debug)]
pub enum Trips {
    /// From 0 to a constant.
    Constant {
        count: i64,
        /// A partial vector for the remainder; without it, shorter vectors are used.
        part: Option<PartialVector>,
    },
    /// From 0 to a number that is known when the loop runs, and is at most `most`. All vectors are
    /// computed, each as a partial one.
    Masked { most: i64, part: PartialVector },
    /// From 0 to a number that is known when the loop runs. So many lanes run as one vector, and fewer
    /// one by one.
    Block {
        lanes: i64,
        /// The local tensors that are such a vector.
        rows: Vec<Name>,
    },
    /// Any bounds. With a statement, single iterations run until its stores are aligned.
    Any { align: Option<Arc<Stmt>> },
}

/// A vector with dead lanes.
#[derive(Clone, Debug)]
pub struct PartialVector {
    /// The number of live lanes.
    pub rest: i64,
    /// Whether it is stored lane by lane instead of under a mask.
    pub one_by_one: bool,
    /// The accesses whose rows have room for the dead lanes, so that whole vectors are read.
    pub reads: Vec<(Tensor, Vec<Affine>)>,
    /// The accesses whose dead lanes can also be overwritten.
    pub writes: Vec<(Tensor, Vec<Affine>)>,
}

#[derive(Clone, Debug)]
pub struct Statement {
    pub of: Arc<Stmt>,
    /// Whether it copies to registers.
    pub copies: bool,
    /// Whether its register copy is loaded here, once.
    pub held: bool,
    /// Whether it stores past the caches.
    pub past: bool,
    /// Whether it updates its element by one atomic operation.
    pub atomic: bool,
}

#[derive(Clone, Debug)]
pub struct Local {
    pub tensor: Tensor,
    pub space: Space,
    /// Whether it is initialized with zeros.
    pub zeros: bool,
    /// Whether anything reads it.
    pub is_read: bool,
}

/// The memory space of a local tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Registers, if compilers can keep it there; otherwise the stack.
    Register,
    Stack,
    /// One place per thread.
    Thread,
}

#[derive(Clone, Debug)]
pub struct Region {
    /// The loop whose threshold decides whether threads are started.
    pub around: Option<Arc<ir::Loop>>,
    pub body: Vec<Node>,
}

#[derive(Clone, Debug)]
pub struct Outlined {
    /// Whether a loop in it walks through a tensor in both directions.
    pub both_ways: bool,
    /// The parallel loop of the iteration.
    pub of: Name,
    /// The iterators that it uses.
    pub iterators: Vec<Name>,
    /// The tensors that it uses and does not declare.
    pub tensors: Vec<Tensor>,
    pub body: Vec<Node>,
}

/// Contiguous elements that are copied to contiguous memory.
#[derive(Clone, Debug)]
pub struct Block {
    /// The loop that the block replaces.
    pub of: Arc<ir::Loop>,
    /// The target, with the index of its first element.
    pub to: (Tensor, Vec<Affine>),
    /// The source, with the index of its first element.
    pub from: (Tensor, Vec<Affine>),
    pub bytes: i64,
}

#[derive(Clone, Debug)]
pub enum Fetch {
    /// One element.
    Touch(Touch),
    /// A share of a later iteration's footprint.
    Share(Prefetched),
}

impl Part {
    /// The trees of the nest.
    pub fn trees(&self) -> &[Tree] {
        self.nest.trees()
    }

    /// The part with other nodes.
    pub fn with(&self, nodes: Vec<Node>) -> Part {
        Part {
            nodes,
            ..self.clone()
        }
    }
}

impl Plan {
    /// The loops that are unrolled in the C.
    pub fn unrolled(&self) -> HashSet<Name> {
        let mut names = HashSet::new();
        for node in self.parts.iter().flat_map(|part| &part.nodes) {
            node.for_each_loop(&mut |l| {
                if l.is_unrolled() {
                    names.insert(l.of.name.clone());
                }
            });
        }
        names
    }

    /// The vector loops that have loops inside, and why they do not run in vectors. They are left
    /// to compilers, which vectorize only innermost loops.
    pub fn outer_vectors(&self) -> Vec<(Name, String)> {
        let mut found = Vec::new();
        for node in self.parts.iter().flat_map(|part| &part.nodes) {
            node.for_each_loop(&mut |l| {
                let has_loop = l.body.iter().any(|node| matches!(node, Node::Loop(_)));
                if let (Some(why), true) = (&l.why, has_loop) {
                    found.push((l.of.name.clone(), why.clone()));
                }
            });
        }
        found
    }

    /// The plan with each part replaced, except for plain loops: these stay as they are.
    pub fn each(&self, map: impl Fn(&Part) -> Part) -> Plan {
        Plan {
            parts: self
                .parts
                .iter()
                .map(|part| {
                    if part.nest.is_left_to_compiler() {
                        part.clone()
                    } else {
                        map(part)
                    }
                })
                .collect(),
        }
    }
}

impl Node {
    /// The tree of the node; `None` if a pass made it.
    pub fn tree(&self) -> Option<Tree> {
        match self {
            Node::Loop(l) => Some(Tree::Loop(l.of.clone())),
            Node::Stmt(s) => Some(Tree::Stmt(s.of.clone())),
            Node::Fill(fill) => Some(Tree::Fill(fill.clone())),
            Node::Local(local) => Some(Tree::Local(local.tensor.clone())),
            Node::Copy(block) => Some(Tree::Loop(block.of.clone())),
            Node::Outlined(_)
            | Node::Region(_)
            | Node::Fetch(_)
            | Node::Fence
            | Node::Barrier
            | Node::InOrder
            | Node::LoadFence => None,
        }
    }

    /// The nodes in it.
    pub fn body(&self) -> &[Node] {
        match self {
            Node::Loop(l) => &l.body,
            Node::Region(region) => &region.body,
            Node::Outlined(outlined) => &outlined.body,
            _ => &[],
        }
    }

    /// The loops in it, and itself if it is one.
    pub fn for_each_loop<'n>(&'n self, see: &mut dyn FnMut(&'n Loop)) {
        if let Node::Loop(l) = self {
            see(l);
        }
        self.body().iter().for_each(|node| node.for_each_loop(see));
    }
}

impl Loop {
    pub fn is_vector(&self) -> bool {
        matches!(self.mode, Mode::Vector(_))
    }

    /// Whether it is a parallel loop, and not only collapsed with one.
    pub fn is_parallel(&self) -> bool {
        matches!(self.mode, Mode::Parallel { .. })
    }

    /// Whether it runs in lanes that compilers choose.
    pub fn is_simd(&self) -> bool {
        match self.mode {
            Mode::Parallel { simd, .. } | Mode::Collapsed { simd } => simd,
            Mode::Simd => true,
            Mode::Serial | Mode::Rolled | Mode::Unrolled(_) | Mode::Vector(_) => false,
        }
    }

    /// Whether threads share its iterations.
    pub fn is_shared(&self) -> bool {
        matches!(self.mode, Mode::Parallel { .. } | Mode::Collapsed { .. })
    }

    /// Whether it is unrolled, since registers have no index.
    pub fn is_unrolled(&self) -> bool {
        match &self.mode {
            Mode::Unrolled(_) => true,
            Mode::Vector(plan) => plan.unrolled,
            _ => false,
        }
    }
}
