//! What a plan is made of.

use crate::analysis::prefetch_address::Touch;
use crate::analysis::prefetch_plan::Slice;
use crate::ir::{self, Affine, Elem, Fill, Name, Nest, Stmt, Tensor, Tree};
use crate::target::Target;
use std::collections::HashSet;
use std::sync::Arc;

/// What a kernel executes, with all decisions about it: nests that run in order.
#[derive(Clone, Debug)]
pub struct Plan {
    pub parts: Vec<Part>,
}

/// One nest.
#[derive(Clone, Debug)]
pub struct Part {
    /// What it is a plan of: passes ask it questions that are about meaning.
    pub nest: Nest,
    pub nodes: Vec<Node>,
    /// Whether a loop walks through a tensor in both directions: compilers mix up addresses there.
    pub both_ways: bool,
}

/// What passes know beside the plan.
pub struct Context<'a> {
    /// What the plan is for.
    pub target: &'a Target,
    /// The tensors that the kernel only reads.
    pub inputs: &'a HashSet<Name>,
}

/// One thing that a kernel does.
#[derive(Clone, Debug)]
pub enum Node {
    Loop(Arc<Loop>),
    Stmt(Statement),
    Fill(Arc<Fill>),
    Local(Local),
    /// All threads execute what is in it.
    Region(Region),
    /// A C function, which is called.
    Outlined(Outlined),
    /// Copies elements past the caches as one block.
    Copy(Block),
    /// Fetches elements for later iterations.
    Fetch(Fetch),
    /// Other threads see stores past the caches after it.
    Fence,
    /// All threads of the region wait for each other.
    Barrier,
    /// Compilers do not combine statements before it with others after it.
    InOrder,
    /// What comes after it is loaded there, and not earlier.
    LoadFence,
}

#[derive(Clone, Debug)]
pub struct Loop {
    /// The loop of the nest; its body is that before planning.
    pub of: Arc<ir::Loop>,
    pub mode: Mode,
    /// Why it does not run in vectors, though the nest asks for it.
    pub why: Option<String>,
    /// Whether readers are told the remark here.
    pub shows_remark: bool,
    pub body: Vec<Node>,
}

/// How the iterations of a loop run.
#[derive(Clone, Debug)]
pub enum Mode {
    /// One after the other.
    Serial,
    /// One after the other, and compilers make no copies of what they execute.
    Rolled,
    /// So many copies, so that registers have no index.
    Unrolled(i64),
    /// On threads, perhaps in lanes that compilers choose.
    Parallel { entry: Entry, simd: bool },
    /// On threads, together with those of a parallel loop around.
    Collapsed { simd: bool },
    /// In lanes that compilers choose.
    Simd,
    /// In vectors.
    Vector(VectorPlan),
}

/// How threads come to a parallel loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// They are called for it.
    Call,
    /// They are there.
    Join,
    /// They are there, and do more after it before they wait.
    JoinWithoutWaiting,
}

/// The vectors of a loop.
#[derive(Clone, Debug)]
pub struct VectorPlan {
    pub elem: Elem,
    /// How many elements; `None` for as many as a register holds.
    pub lanes: Option<i64>,
    /// Whether it is unrolled, since registers have no index.
    pub unrolled: bool,
    /// Where its iterations begin and end.
    pub trips: Trips,
}

#[derive(Clone, Debug)]
pub enum Trips {
    /// From 0 to a number that is known.
    Constant {
        count: i64,
        /// What is left of them is part of a vector; otherwise it is cut into shorter ones.
        part: Option<PartialVector>,
    },
    /// Any bounds; with a statement, single iterations run until its stores are aligned.
    Any { align: Option<Arc<Stmt>> },
}

/// A vector of which not all lanes count.
#[derive(Clone, Debug)]
pub struct PartialVector {
    /// The lanes that count.
    pub rest: i64,
    /// Whether they are stored one by one, and not under a mask.
    pub one_by_one: bool,
    /// The accesses whose rows hold the other lanes, too: they are read as a whole.
    pub reads: Vec<(Tensor, Vec<Affine>)>,
    /// The same where the other lanes can be overwritten.
    pub writes: Vec<(Tensor, Vec<Affine>)>,
}

#[derive(Clone, Debug)]
pub struct Statement {
    pub of: Arc<Stmt>,
    /// Whether it copies to registers.
    pub copies: bool,
    /// Whether what it copies is loaded once, here.
    pub held: bool,
    /// Whether it stores past the caches.
    pub past: bool,
}

#[derive(Clone, Debug)]
pub struct Local {
    pub tensor: Tensor,
    pub space: Space,
    /// Whether it begins with zeros.
    pub zeros: bool,
    /// Whether anything reads it.
    pub is_read: bool,
}

/// Where the elements of a local tensor are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// In registers, as far as compilers see how; otherwise on the stack.
    Register,
    /// On the stack.
    Stack,
    /// In one place for each thread.
    Thread,
}

#[derive(Clone, Debug)]
pub struct Region {
    /// The loop that decides whether threads are called.
    pub around: Option<Arc<ir::Loop>>,
    pub body: Vec<Node>,
}

#[derive(Clone, Debug)]
pub struct Outlined {
    /// The loop of which it is an iteration.
    pub of: Name,
    /// The iterators that it mentions.
    pub iterators: Vec<Name>,
    /// The tensors that it mentions and does not declare.
    pub tensors: Vec<Tensor>,
    pub body: Vec<Node>,
}

/// Elements that lie one behind the other, and are copied to where they do so, too.
#[derive(Clone, Debug)]
pub struct Block {
    /// The loop that would copy them.
    pub of: Arc<ir::Loop>,
    /// A tensor, and where the first element is stored.
    pub to: (Tensor, Vec<Affine>),
    /// Where it is read.
    pub from: (Tensor, Vec<Affine>),
    pub bytes: i64,
}

#[derive(Clone, Debug)]
pub enum Fetch {
    /// One element.
    Touch(Touch),
    /// An equal share of what a later iteration touches.
    Slice(Slice),
}

impl Part {
    /// What the nodes are made of.
    pub fn trees(&self) -> &[Tree] {
        self.nest.trees()
    }

    /// The same with other nodes.
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

    /// The loops that are to run in vectors and have loops inside, and why they do not: compilers, which
    /// they are left to, vectorize innermost loops.
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

    /// The plan in which each part is another one, but for plain loops: these stay as they are.
    pub fn each(&self, map: impl Fn(&Part) -> Part) -> Plan {
        Plan {
            parts: self
                .parts
                .iter()
                .map(|part| {
                    if part.nest.is_plain() {
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
    /// What it is made of, unless a pass made it.
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

    /// What is in it.
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
