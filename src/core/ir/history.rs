//! A nest, its loops, and the steps that made both: types that hold each other.
//!
//! A nest has trees and a path. A path has steps, which keep their arguments. An argument may be a
//! nest. Each loop of a tree keeps the step that made it. So these types share one file. The
//! methods of each type are in the file of its name, and none of those files needs another.
//!
//! Trees are TeML's eqs. 2 and 3. A tree is a loop over further trees, a statement, a fill, or a
//! local tensor. A local tensor lives from its declaration to the end of its sequence. Each
//! iteration of the loop around it has its own copy, whose elements are undefined until they are
//! set. A local tensor is not an argument of the kernel. A nest is a sequence of trees: `⟨•, xs⟩`
//! of eq. 3. A nest with one outermost loop is one tree.
//!
//! Trees are immutable and shared. A nest carries its definition and its path. Neither is part of
//! equality.

use super::affine::Affine;
use super::domain::Domain;
use super::elem::Elem;
use super::expr::Expr;
use super::function::Comparison;
use super::literal::{Arrow, Iters, LoopRef, Number};
use super::mode::Mode;
use super::name::Name;
use super::range::{Hints, Range};
use super::role::Role;
use super::statement::{Fill, Stmt};
use super::tensor::Tensor;
use std::sync::{Arc, OnceLock};

/// A loop nest, its definition and its path. Cheap to clone.
///
/// Two nests are equal when their trees are.
#[derive(Clone, Debug)]
pub struct Nest(pub(super) Arc<Data>);

impl Nest {
    /// Whether both are the same object in memory, with one path, not only equal.
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
    /// The author's reason why it is correct.
    pub(super) assumption: Option<Arc<str>>,
    /// Tensors whose contents are dead afterwards.
    pub(super) donated: Arc<[Name]>,
    /// Whether the C is plain loops, which the compiler vectorizes.
    pub(super) plain: bool,
    /// If the nest is a part of another one, the loops around it, without their bodies.
    pub(super) context: Arc<[Loop]>,
    /// The names of loops and local tensors elsewhere in that nest.
    pub(super) beside: Arc<[Name]>,
}

/// A part of a definition: consecutive assignments, and the loops that `build` made for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The number of assignments of the definition in this part.
    pub assignments: usize,
    /// The loops. Their statements number the assignments of this part from 0. An assignment whose
    /// value goes through a temporary has several statements, and counts as several.
    pub trees: Arc<[Tree]>,
    /// Whether the loops are executed in their order. Otherwise there is one assignment, which
    /// computes all elements from the old contents.
    pub in_order: bool,
    /// Whether it was written as a program. All tensors that a program assigns are results, except
    /// local ones.
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
    /// The declaration of a named tensor for the rest of the sequence.
    Local(Tensor),
}

/// A loop: its iterator is its name.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Unique in the nest.
    pub name: Name,
    /// The values that the iterator takes.
    pub range: Range,
    /// How the iterations run.
    pub mode: Mode,
    /// Notes for the machine and for readers, without effect on results.
    pub hints: Hints,
    /// The body of an iteration, in order.
    pub body: Vec<Tree>,
    /// The origin of the loop. Not part of equality.
    pub lineage: Lineage,
}

/// The origin of a loop. Not part of equality.
#[derive(Clone, Debug)]
pub enum Lineage {
    /// Its step has not finished.
    New {
        /// Its role in the step.
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
    /// Its name at birth.
    pub name: Name,
    /// Its role in the step.
    pub role: Role,
    /// The loops that it was made of.
    pub of: Vec<Arc<Birth>>,
}

/// The effects of a step on loops and local tensors.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// The new loops, in the order of the text.
    pub made: Vec<Arc<Birth>>,
    /// The loops that no longer exist.
    pub ended: Vec<Arc<Birth>>,
    /// The new local tensors.
    pub tensors: Vec<Name>,
    /// The local tensors that no longer exist.
    pub gone: Vec<Name>,
}

/// A list of steps that nests share. Appending does not change the old path.
#[derive(Clone, Debug, Default)]
pub struct Path(pub(super) Option<Arc<Link>>);

#[derive(Debug)]
pub(super) struct Link {
    pub(super) step: Arc<Step>,
    pub(super) effects: Effects,
    pub(super) before: Path,
    pub(super) length: usize,
    /// The nesting depth of nests in arguments.
    pub(super) depth: usize,
}

/// One application of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The operation.
    pub op: &'static str,
    /// The arguments after the nest.
    pub args: Vec<Arg>,
    /// The place of the call; `None` outside scripts.
    pub site: Option<Site>,
}

/// A place in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The script's name, as messages show it.
    pub source: Arc<str>,
    /// Counted from 1.
    pub line: u32,
    /// In characters, counted from 1.
    pub column: u32,
    /// The library call at this place, if the step is one of its inner steps.
    pub invocation: Option<Arc<Invocation>>,
}

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

/// A call of a library function, whose inner steps are recorded.
#[derive(Debug)]
pub struct Invocation {
    /// The function, with its namespace.
    pub function: String,
    /// Its arguments, starting with the receiver of a method.
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
    /// Any value that a script writes like this.
    Text(String),
    /// A value that a script cannot write.
    Other,
}
