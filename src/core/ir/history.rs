//! A nest, its loops, and the steps that made both: types that hold each other.
//!
//! A nest has trees and a path; a path has steps, which remember their arguments; an argument may
//! be a nest; and each loop of a tree remembers the step that it was born of. So these types are
//! defined in one file. What can be done with each is in the file of its name, and none of those
//! files needs another one's.
//!
//! Trees are TeML's eqs. 2 and 3. A tree is a loop over further trees, a statement, a fill, or a
//! local tensor. A local tensor lives from its declaration to the end of the sequence that it stands
//! in: each iteration of the loop around it has one of its own, whose elements are undefined until
//! they are set. A nest is a sequence of trees: `⟨•, xs⟩` of eq. 3; one tree for a nest with one
//! outermost loop.

use super::affine::Affine;
use super::domain::Domain;
use super::elem::Elem;
use super::expr::Expr;
use super::function::Comparison;
use super::literal::{Arrow, Iters, LoopRef, Number};
use super::name::Name;
use super::range::{Hints, Range, Sharing};
use super::role::Role;
use super::statement::{Fill, Stmt};
use super::tensor::Tensor;
use std::sync::{Arc, OnceLock};

/// A loop nest together with what it computes and how it came about; cheap to clone.
///
/// Two nests are equal when their trees are.
#[derive(Clone, Debug)]
pub struct Nest(pub(super) Arc<Data>);

impl Nest {
    /// Whether both are one nest in memory, with one path, and not only equal.
    pub fn is(&self, other: &Nest) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Data {
    pub(super) trees: Vec<Tree>,
    pub(super) definition: Arc<[Expr]>,
    /// The definition, part by part.
    pub(super) parts: Arc<[Part]>,
    pub(super) path: Path,
    pub(super) label: Option<Name>,
    /// Why it is correct, according to its author.
    pub(super) assumption: Option<Arc<str>>,
    /// Tensors that may hold anything afterwards.
    pub(super) donated: Arc<[Name]>,
    /// Whether the C is plain loops, and compilers find the vectors.
    pub(super) plain: bool,
    /// Where the nest is a part of another one: the loops around it, without their bodies.
    pub(super) context: Arc<[Loop]>,
    /// The names that loops and local tensors elsewhere in that nest have.
    pub(super) beside: Arc<[Name]>,
}

/// A part of a definition: assignments that follow each other, and the loops that `build` made for
/// them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// How many assignments of the definition it has.
    pub assignments: usize,
    /// The loops; their statements count the assignments of this part from 0, the steps of one
    /// whose value goes through a temporary as several.
    pub trees: Arc<[Tree]>,
    /// Whether the loops are executed as they stand. Otherwise there is one assignment, which gives
    /// all elements their values over the old store.
    pub in_order: bool,
    /// Whether it was written as a program, which needs what every tensor holds that it assigns,
    /// but for local ones.
    pub is_program: bool,
}

/// A node of a nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// A loop.
    Loop(Arc<Loop>),
    /// An assignment, executed once for each iteration of the loops around it.
    Stmt(Arc<Stmt>),
    /// An initialization.
    Fill(Arc<Fill>),
    /// The declaration of a tensor for the rest of the sequence; it has a name.
    Local(Tensor),
}

/// A loop: its iterator is its name.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Unique in the nest.
    pub name: Name,
    /// The values that the iterator takes.
    pub range: Range,
    /// Iterations may run on several threads.
    pub parallel: bool,
    /// How they are shared among threads, if they are.
    pub sharing: Sharing,
    /// Iterations may run in vector lanes.
    pub vector: bool,
    /// The number of lanes, if it is a vector loop; `None` leaves it to the compiler.
    pub lanes: Option<i64>,
    /// What is said to the machine and to readers, and changes no result.
    pub hints: Hints,
    /// What each iteration executes, in order.
    pub body: Vec<Tree>,
    /// Where the loop comes from. No part of equality.
    pub lineage: Lineage,
}

/// Where a loop comes from. No part of equality.
#[derive(Clone, Debug)]
pub enum Lineage {
    /// The step that makes it is not over yet.
    New {
        /// What it is to the step.
        role: Role,
        /// The loops that it is made of.
        of: Vec<Arc<Birth>>,
    },
    /// A step made it.
    Born(Arc<Birth>),
}

/// How a loop came about.
#[derive(Clone, Debug)]
pub struct Birth {
    /// The step that made it.
    pub step: Arc<Step>,
    /// Its name then.
    pub name: Name,
    /// What it is to the step.
    pub role: Role,
    /// The loops that it was made of.
    pub of: Vec<Arc<Birth>>,
}

/// What a step did to loops and local tensors.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// The loops that it made, in the order of the text.
    pub made: Vec<Arc<Birth>>,
    /// The loops that are no longer there.
    pub ended: Vec<Arc<Birth>>,
    /// The local tensors that it made.
    pub tensors: Vec<Name>,
    /// The local tensors that are no longer there.
    pub gone: Vec<Name>,
}

/// A list of steps that nests share: appending leaves the old path as it was.
#[derive(Clone, Debug, Default)]
pub struct Path(pub(super) Option<Arc<Link>>);

#[derive(Debug)]
pub(super) struct Link {
    pub(super) step: Arc<Step>,
    pub(super) effects: Effects,
    pub(super) before: Path,
    pub(super) length: usize,
    /// How deeply nests in arguments hold nests in arguments.
    pub(super) depth: usize,
}

/// One application of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The operation.
    pub op: &'static str,
    /// The arguments after the nest.
    pub args: Vec<Arg>,
    /// Where it was asked for; `None` outside scripts.
    pub site: Option<Site>,
}

/// Where in a script something was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The script's name, as messages show it.
    pub source: Arc<str>,
    /// Counted from 1.
    pub line: u32,
    /// In characters, counted from 1.
    pub column: u32,
    /// The call of the library there, if it is one, which asked for it.
    pub invocation: Option<Arc<Invocation>>,
}

/// An argument of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// A loop nest.
    Nest(Nest),
    /// A tensor expression.
    Expr(Expr),
    /// Several tensor expressions.
    Exprs(Vec<Expr>),
    /// A number as an operand.
    Number(Number),
    /// A comparison of elements.
    Comparison(Comparison),
    /// A loop.
    Loop(LoopRef),
    /// Several loops.
    Loops(Vec<LoopRef>),
    /// One of a few words, or the name of a tensor.
    Word(String),
    /// An integer.
    Int(i64),
    /// A list of extents.
    Extents(Vec<i64>),
    /// An element type.
    Elem(Elem),
    /// A list of iterators.
    Iters(Vec<Affine>),
    /// Lists of iterators for several operands; as many as were given.
    IterLists(Vec<Iters>),
    /// Iterators of operands and target.
    Arrow(Arrow),
    /// Pairs of dimensions, counted from 1.
    Dimensions(Vec<[i64; 2]>),
    /// Dimensions in some order, counted from 1.
    Order(Vec<i64>),
    /// Steps on a part of a nest.
    Steps(Path),
    /// Options by name: integers and words.
    Options(Vec<(String, Arg)>),
    /// Ranges of iterators.
    Ranges(Domain),
}

/// A call of a function of the library, of which steps are the inner ones.
#[derive(Debug)]
pub struct Invocation {
    /// The function, with its namespace.
    pub function: String,
    /// Its arguments, the receiver of a method first.
    pub args: Vec<Given>,
    /// The number of steps of the nest that it returned, if the same call returns that nest again.
    pub(super) made: OnceLock<usize>,
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub enum Given {
    /// A nest.
    Nest(Nest),
    /// A list.
    List(Vec<Given>),
    /// Anything that a script writes like this.
    Text(String),
    /// What has no text.
    Other,
}
