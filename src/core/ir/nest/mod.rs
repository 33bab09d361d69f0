//! A nest and all that it holds: its trees, its definition and its path.
//!
//! A nest has trees and a path. A path has steps, which keep their arguments. An argument may be a
//! nest. Each loop of a tree keeps the step that made it. So these types hold each other and share
//! this file, with the methods of nests. The methods of each other type are in the file of its
//! name, and none of those files needs another.
//!
//! Trees are TeML's eqs. 2 and 3. A tree is a loop over further trees, a statement, a fill, or a
//! local tensor. A local tensor lives from its declaration to the end of its sequence. Each
//! iteration of the loop around it has its own copy, whose elements are undefined until they are
//! set. A local tensor is not an argument of the kernel. A nest is a sequence of trees: `⟨•, xs⟩`
//! of eq. 3. A nest with one outermost loop is one tree.
//!
//! Trees are immutable and shared. A nest carries its definition and its path. Neither is part of
//! equality.
//!
//! A definition is a list of parts ([`Nest::originals`]). Most parts are one assignment, which
//! computes all elements from the old contents. A part in order is executed in the order of its
//! loops: `sweep` makes one from an assignment, `repeat` from several, whose outermost iterator is
//! then the time step. A text is a list of parts in order, one per outermost loop.
//!
//! A nest whose inputs are donated ([`Nest::donated`]) may overwrite them: proofs then do not
//! require their final contents.
//!
//! The nest of an assignment of a program keeps the qualifier of its target
//! ([`Nest::is_output`]).

mod alike;
mod arg;
mod contents;
mod invocation;
mod joined;
mod law;
mod lineage;
mod loops;
mod own;
mod part;
mod path;
mod sizes;
mod tree;

pub use path::Taken;

use crate::ir::affine::Affine;
use crate::ir::condition::Condition;
use crate::ir::domain::Domain;
use crate::ir::elem::Elem;
use crate::ir::expr::Expr;
use crate::ir::function::Comparison;
use crate::ir::literal::{Arrow, Iters, LoopRef, Number};
use crate::ir::mode::Mode;
use crate::ir::name::Name;
use crate::ir::operator::Operator;
use crate::ir::range::{Hints, Range};
use crate::ir::role::Role;
use crate::ir::statement::{Fill, Stmt};
use crate::ir::tensor::Tensor;
use std::sync::{Arc, OnceLock};

/// A loop nest, its definition and its path. Cheap to clone.
///
/// Two nests are equal when their trees are, and those of their variants.
#[derive(Clone, Debug)]
pub struct Nest(Arc<Data>);

#[derive(Clone, Debug)]
struct Data {
    trees: Vec<Tree>,
    definition: Arc<[Expr]>,
    /// The definition, part by part.
    parts: Arc<[Part]>,
    path: Path,
    label: Option<Name>,
    /// The words of the schedule that made it. Steps drop them, as they drop the label.
    remark: Option<Arc<str>>,
    /// The author's reason why it is correct.
    assumption: Option<Arc<str>>,
    /// The definition that the script wrote, if laws connect it with this one.
    lawful: Option<Arc<Lawful>>,
    /// Tensors whose contents are dead afterwards.
    donated: Arc<[Name]>,
    /// Assigned tensors that a program declares, and whether they are outputs of it.
    declared: Arc<[(Name, bool)]>,
    /// Whether the code keeps the loops as they are, and leaves vectors to the compiler.
    left_to_compiler: bool,
    /// The sizes as loops. Then, if the nest is a part of another one, the loops around it, without
    /// their bodies.
    context: Arc<[Loop]>,
    /// The nest with sizes that this one is at some numbers.
    instance: Option<Arc<Instance>>,
    /// The values of sizes that it is for, if it is not for all.
    condition: Condition,
    /// Plans that run in its place where their conditions hold. The first one that fits runs.
    variants: Arc<[Nest]>,
    /// The names of loops and local tensors elsewhere in that nest.
    beside: Arc<[Name]>,
}

/// A law of an operator, as a nest relies on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Law {
    /// The law in words.
    pub text: String,
    /// Whether results are the same to the last bit. Otherwise they round differently.
    pub is_exact: bool,
}

/// The definition that the script wrote, and the laws by which the present one computes the same.
#[derive(Clone, Debug)]
struct Lawful {
    parts: Arc<[Part]>,
    laws: Vec<Law>,
}

/// The nest with sizes, and their values.
#[derive(Debug)]
struct Instance {
    nest: Nest,
    values: Vec<(Name, i64)>,
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
pub struct Path(Option<Arc<Link>>);

#[derive(Debug)]
struct Link {
    step: Arc<Step>,
    effects: Effects,
    before: Path,
    length: usize,
    /// The nesting depth of nests in arguments.
    depth: usize,
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
    Loop(LoopRef),
    /// Several loops.
    Loops(Vec<LoopRef>),
    /// One of a few words, or the name of a tensor.
    Word(String),
    /// An integer.
    Int(i64),
    /// Whether something is so.
    Flag(bool),
    /// A list of extents, which may have sizes.
    Extents(Vec<Affine>),
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
    /// Options by name: integers, flags and words.
    Options(Vec<(String, Arg)>),
    /// Ranges of iterators.
    Ranges(Domain),
    /// Several operands: expressions and numbers.
    Operands(Vec<Arg>),
    /// An operator of the user's own.
    Operator(Arc<Operator>),
}

/// A call of a library function, whose inner steps are recorded.
#[derive(Debug)]
pub struct Invocation {
    /// The function, with its namespace.
    pub function: String,
    /// Its arguments, starting with the receiver of a method.
    pub args: Vec<Given>,
    /// The number of steps of the nest that it returned, if the same call returns that nest again.
    made: OnceLock<usize>,
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub enum Given {
    Nest(Nest),
    List(Vec<Given>),
    /// Any value that a script writes like this.
    Text(String),
    /// A value that a script cannot write.
    Other,
}

impl PartialEq for Nest {
    fn eq(&self, other: &Nest) -> bool {
        self.0.trees == other.0.trees && self.0.variants == other.0.variants
    }
}

impl Eq for Nest {}

impl Nest {
    /// The nest that `build` makes for an assignment.
    pub fn built(trees: Vec<Tree>, assignment: Expr) -> Nest {
        Nest::defined(trees, assignment, false)
    }

    /// The nest of an assignment whose elements are assigned in the order of the loops.
    pub fn in_order(trees: Vec<Tree>, assignment: Expr) -> Nest {
        Nest::defined(trees, assignment, true)
    }

    fn defined(trees: Vec<Tree>, assignment: Expr, in_order: bool) -> Nest {
        let part = Part {
            assignments: 1,
            trees: trees.clone().into(),
            in_order,
            is_program: false,
        };
        Nest::new(trees, Arc::new([assignment]), Arc::new([part]))
    }

    /// The nest of a program. Its definition has an assignment for each statement, and its parts
    /// are executed in order.
    pub fn program(trees: Vec<Tree>, definition: Vec<Expr>, parts: Vec<Part>) -> Nest {
        Nest::new(trees, definition.into(), parts.into())
    }

    /// Trees without a definition.
    pub fn of_trees(trees: Vec<Tree>) -> Nest {
        Nest::new(trees, Arc::new([]), Arc::new([]))
    }

    fn new(trees: Vec<Tree>, definition: Arc<[Expr]>, parts: Arc<[Part]>) -> Nest {
        let (path, label) = (Path::default(), None);
        let context = Nest::loops_of_sizes(&trees, &definition, &[]).into();
        Nest(Arc::new(Data {
            trees,
            definition,
            parts,
            path,
            label,
            remark: None,
            assumption: None,
            lawful: None,
            donated: Arc::new([]),
            declared: Arc::new([]),
            left_to_compiler: false,
            context,
            instance: None,
            condition: Condition::default(),
            variants: Arc::new([]),
            beside: Arc::new([]),
        }))
    }

    /// The part of the nest that consists of `trees`, inside the loops `outer`. The names `beside`
    /// are in use elsewhere. The part has an empty path.
    #[must_use]
    pub fn part(&self, trees: Vec<Tree>, outer: &[&Loop], beside: Vec<Name>) -> Nest {
        let bare = |l: &Loop| Loop {
            body: Vec::new(),
            ..l.clone()
        };
        let outer = outer.iter().map(|l| bare(l));
        Nest(Arc::new(Data {
            trees,
            definition: self.0.definition.clone(),
            parts: self.0.parts.clone(),
            path: Path::default(),
            label: None,
            remark: None,
            assumption: self.0.assumption.clone(),
            lawful: self.0.lawful.clone(),
            donated: self.0.donated.clone(),
            declared: self.0.declared.clone(),
            left_to_compiler: self.0.left_to_compiler,
            context: self.0.context.iter().cloned().chain(outer).collect(),
            instance: None,
            condition: self.0.condition.clone(),
            variants: Arc::new([]),
            beside: self.0.beside.iter().cloned().chain(beside).collect(),
        }))
    }

    /// The sizes as loops, outermost. Then the loops around the nest, without their bodies, if it
    /// is a part of another one.
    pub fn context(&self) -> &[Loop] {
        &self.0.context
    }

    /// The loops around the nest, if it is a part of another one.
    pub fn outer_loops(&self) -> &[Loop] {
        let sizes = self
            .context()
            .iter()
            .take_while(|l| l.name.size().is_some());
        &self.context()[sizes.count()..]
    }

    /// The names of loops and local tensors elsewhere, if the nest is a part of another one.
    pub fn beside(&self) -> &[Name] {
        &self.0.beside
    }

    /// The outermost sequence of trees.
    pub fn trees(&self) -> &[Tree] {
        &self.0.trees
    }

    /// The assignments that the nest computes, in order. Every variant is compared with them.
    pub fn definition(&self) -> &Arc<[Expr]> {
        &self.0.definition
    }

    /// The parts of the definition, with the loops that origins refer to.
    pub fn originals(&self) -> &[Part] {
        &self.0.parts
    }

    /// The number of assignments that origins number.
    pub fn steps(&self) -> usize {
        self.0.parts.iter().map(Part::steps).sum()
    }

    /// The nests that the script wrote, one for each part of the definition, in order, before any
    /// step.
    pub fn untransformed(&self) -> Vec<Nest> {
        let (parts, mut first) = (self.written_parts(), 0);
        let nests = parts.iter().map(|part| {
            let end = first + part.assignments;
            let definition = self.0.definition.get(first..end).unwrap_or_default();
            first = end;
            let (trees, parts) = (part.trees.to_vec(), Arc::new([part.clone()]));
            Nest::new(trees, definition.into(), parts)
        });
        nests.collect()
    }

    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The variable that the nest was first bound to.
    pub fn label(&self) -> Option<&Name> {
        self.0.label.as_ref()
    }

    /// The words of the schedule that made the nest.
    pub fn remark(&self) -> Option<&str> {
        self.0.remark.as_deref()
    }

    /// The nest with such words.
    #[must_use]
    pub fn remarked(&self, remark: &str) -> Nest {
        let mut data = (*self.0).clone();
        data.remark = Some(remark.into());
        Nest(Arc::new(data))
    }

    /// The same computation with other trees. It loses the label, which named the old ones.
    #[must_use]
    pub fn with_trees(&self, trees: Vec<Tree>) -> Nest {
        let mut data = (*self.0).clone();
        data.context = self.context_with(&trees, &[]);
        (data.trees, data.label, data.instance) = (trees, None, None);
        data.remark = None;
        data.variants = Arc::new([]);
        Nest(Arc::new(data))
    }

    /// The nest with other trees, and with other parts of its definition.
    #[must_use]
    pub fn with_parts(&self, trees: Vec<Tree>, parts: Vec<Part>) -> Nest {
        let mut data = (*self.with_trees(trees).0).clone();
        data.parts = parts.into();
        data.label = self.0.label.clone();
        Nest(Arc::new(data))
    }

    /// The context, with the sizes of other trees and definitions.
    fn context_with(&self, trees: &[Tree], definition: &[Expr]) -> Arc<[Loop]> {
        let outer = self.outer_loops();
        let sizes = &self.context()[..self.context().len() - outer.len()];
        let sizes = Nest::loops_of_sizes(trees, definition, sizes);
        sizes.iter().chain(outer).cloned().collect()
    }

    /// The author's reason why the nest is correct, for nests that cannot be proved.
    pub fn assumption(&self) -> Option<&str> {
        self.0.assumption.as_deref()
    }

    /// The nest with the assumption that it is correct.
    #[must_use]
    pub fn assumed(&self, reason: &str) -> Nest {
        let mut data = (*self.0).clone();
        (data.assumption, data.label) = (Some(reason.into()), None);
        data.remark = None;
        Nest(Arc::new(data))
    }

    /// The tensors whose contents are dead afterwards, so that the nest may overwrite them.
    pub fn donated(&self) -> &[Name] {
        &self.0.donated
    }

    /// Marks the contents of `tensor` as dead after the nest.
    #[must_use]
    pub fn donating(&self, tensor: Name) -> Nest {
        let mut data = (*self.0).clone();
        data.donated = self.0.donated.iter().cloned().chain([tensor]).collect();
        (data.label, data.remark) = (None, None);
        Nest(Arc::new(data))
    }

    /// Whether a tensor that the nest assigns is an output of a program: a result, even if a later
    /// assignment reads it. A program declares all other tensors as temporaries, which are not
    /// results. `None` if no program declares it.
    pub fn is_output(&self, tensor: &Name) -> Option<bool> {
        let mut declared = self.0.declared.iter();
        declared.find_map(|(name, is_output)| (name == tensor).then_some(*is_output))
    }

    /// The declared tensors that are outputs.
    pub fn outputs(&self) -> impl Iterator<Item = &Name> {
        let outputs = self.0.declared.iter().filter(|(_, is_output)| *is_output);
        outputs.map(|(name, _)| name)
    }

    /// The nest with what a program declares of a tensor that the nest assigns.
    #[must_use]
    pub fn declaring(&self, tensor: Name, is_output: bool) -> Nest {
        let mut data = (*self.0).clone();
        let declared = self.0.declared.iter().cloned();
        data.declared = declared.chain([(tensor, is_output)]).collect();
        Nest(Arc::new(data))
    }

    /// Whether the code keeps the loops as they are, and leaves vectors to the compiler.
    pub fn is_left_to_compiler(&self) -> bool {
        self.0.left_to_compiler
    }

    /// The nest whose code keeps the loops as they are, and leaves vectors to the compiler.
    #[must_use]
    pub fn left_to_compiler(&self) -> Nest {
        let mut data = (*self.0).clone();
        data.left_to_compiler = true;
        (data.label, data.remark) = (None, None);
        Nest(Arc::new(data))
    }

    /// The nest with a label.
    #[must_use]
    pub fn labelled(&self, label: Name) -> Nest {
        let mut data = (*self.0).clone();
        data.label = Some(label);
        Nest(Arc::new(data))
    }

    /// The nest with an empty path.
    #[must_use]
    pub fn without_path(&self) -> Nest {
        let mut data = (*self.0).clone();
        data.path = Path::default();
        Nest(Arc::new(data))
    }

    /// Whether both are the same object in memory, with one path, not only equal.
    pub fn is(&self, other: &Nest) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
