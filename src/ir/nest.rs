//! Loop nests: the trees of TeML eqs. 2 and 3.
//!
//! A nest is a sequence of trees (`⟨•, xs⟩` of eq. 3; one tree for a nest with one outermost
//! loop). A tree is a loop over further trees, a statement, a fill, or a local tensor. A fill is
//! the initialisation of part of a tensor, placed explicitly because a reduction must not rely on
//! what its target held before. A local tensor lives from its declaration to the end of the
//! sequence that it stands in: each iteration of the loop around it has one of its own, whose
//! elements are undefined until they are set.

use super::affine::Affine;
use super::constant::Constant;
use super::expr::Expr;
use super::function::BinaryOp;
use super::name::Name;
use super::path::{Path, Step};
use super::range::{Hints, Range, Sharing};
use super::tensor::Tensor;
use std::sync::Arc;

/// A loop nest together with what it computes and how it came about; cheap to clone.
///
/// Two nests are equal when their trees are.
#[derive(Clone, Debug)]
pub struct Nest(Arc<Data>);

#[derive(Clone, Debug)]
struct Data {
    trees: Vec<Tree>,
    definition: Arc<[Expr]>,
    /// The trees that `build` made for each assignment of the definition.
    built: Arc<[Arc<[Tree]>]>,
    path: Path,
    label: Option<Name>,
    /// Why it is correct, according to its author.
    assumption: Option<Arc<str>>,
    /// Where the nest is a part of another one: the loops around it, without their bodies.
    context: Arc<[Loop]>,
}

/// A node of a nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// A loop.
    Loop(Arc<Loop>),
    /// An assignment, executed once for each iteration of the loops around it.
    Stmt(Arc<Stmt>),
    /// An initialisation.
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
    /// The step that made the loop; `None` until the step is known. No part of equality.
    pub made_by: Option<Arc<Step>>,
}

impl PartialEq for Loop {
    fn eq(&self, other: &Loop) -> bool {
        self.name == other.name
            && self.range == other.range
            && self.mode() == other.mode()
            && self.body == other.body
    }
}

impl Eq for Loop {}

impl Loop {
    /// How the iterations are run.
    pub fn mode(&self) -> (bool, Sharing, bool, Option<i64>, &Hints) {
        let Loop { sharing, lanes, .. } = *self;
        (self.parallel, sharing, self.vector, lanes, &self.hints)
    }
}

/// `target op= value`, or `target = value` without an operation.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// The tensor written; it has a name.
    pub target: Tensor,
    /// Where it is written: one index per dimension.
    pub index: Vec<Affine>,
    /// The operation of an update such as `+=`.
    pub update: Option<BinaryOp>,
    /// The value: accesses, numbers and element-wise operations only.
    pub value: Expr,
    /// What it executes of the definition; `None` for copies between tensors that a
    /// transformation adds, and for nests that were read. No part of equality.
    pub origin: Option<Origin>,
}

impl PartialEq for Stmt {
    fn eq(&self, other: &Stmt) -> bool {
        let place = (&self.target, &self.index) == (&other.target, &other.index);
        place && self.update == other.update && self.value == other.value
    }
}

impl Eq for Stmt {}

/// Which instance of the definition a statement executes. It is substituted along with the
/// statement, so that it holds whatever loops become of those that `build` made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The assignment, counted from 0.
    pub assignment: usize,
    /// The iterators of the loops that `build` made for it, outermost first, in terms of the
    /// loops around the statement.
    pub point: Vec<Affine>,
}

/// `tensor[region] = value`: sets a box of elements.
#[derive(Clone, Debug)]
pub struct Fill {
    /// The tensor written; it has a name.
    pub target: Tensor,
    /// For each dimension the first index and the number of elements.
    pub region: Vec<(Affine, u64)>,
    /// The identity of the reduction.
    pub value: Constant,
    /// The assignment of the definition that it begins, counted from 0; `None` for what a
    /// transformation adds, and for nests that were read. No part of equality.
    pub assignment: Option<usize>,
}

impl PartialEq for Fill {
    fn eq(&self, other: &Fill) -> bool {
        let place = (&self.target, &self.region) == (&other.target, &other.region);
        place && self.value == other.value
    }
}

impl Eq for Fill {}

impl PartialEq for Nest {
    fn eq(&self, other: &Nest) -> bool {
        self.0.trees == other.0.trees
    }
}

impl Eq for Nest {}

impl Nest {
    /// The nest that `build` makes for an assignment.
    pub fn built(trees: Vec<Tree>, assignment: Expr) -> Nest {
        let built: Arc<[Tree]> = trees.clone().into();
        Nest::new(trees, Arc::new([assignment]), Arc::new([built]))
    }

    /// Trees of which nothing else is known.
    pub fn of_trees(trees: Vec<Tree>) -> Nest {
        Nest::new(trees, Arc::new([]), Arc::new([]))
    }

    fn new(trees: Vec<Tree>, definition: Arc<[Expr]>, built: Arc<[Arc<[Tree]>]>) -> Nest {
        let (path, label) = (Path::default(), None);
        Nest(Arc::new(Data {
            trees,
            definition,
            built,
            path,
            label,
            assumption: None,
            context: Arc::new([]),
        }))
    }

    /// The part of the nest that `trees` are, below the loops `outer`; it has taken no steps.
    #[must_use]
    pub fn part(&self, trees: Vec<Tree>, outer: &[&Loop]) -> Nest {
        let bare = |l: &Loop| Loop {
            body: Vec::new(),
            ..l.clone()
        };
        let outer = outer.iter().map(|l| bare(l));
        Nest(Arc::new(Data {
            trees,
            definition: self.0.definition.clone(),
            built: self.0.built.clone(),
            path: Path::default(),
            label: None,
            assumption: self.0.assumption.clone(),
            context: self.0.context.iter().cloned().chain(outer).collect(),
        }))
    }

    /// The loops around the nest, if it is a part of another one; their bodies are left out.
    pub fn context(&self) -> &[Loop] {
        &self.0.context
    }

    /// The trees of the outermost sequence.
    pub fn trees(&self) -> &[Tree] {
        &self.0.trees
    }

    /// The assignments that the nest computes, in order: what every variant is judged by.
    pub fn definition(&self) -> &Arc<[Expr]> {
        &self.0.definition
    }

    /// The trees that `build` made for each assignment of the definition: what origins speak of.
    pub fn originals(&self) -> &[Arc<[Tree]>] {
        &self.0.built
    }

    /// The steps that made the nest.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The name of the variable that the nest was first bound to.
    pub fn label(&self) -> Option<&Name> {
        self.0.label.as_ref()
    }

    /// The same computation with other trees; the label belongs to the old ones.
    #[must_use]
    pub fn with_trees(&self, trees: Vec<Tree>) -> Nest {
        let mut data = (*self.0).clone();
        (data.trees, data.label) = (trees, None);
        Nest(Arc::new(data))
    }

    /// Why the nest is correct, according to its author, whatever can be proved.
    pub fn assumption(&self) -> Option<&str> {
        self.0.assumption.as_deref()
    }

    /// The nest with the assumption that it is correct.
    #[must_use]
    pub fn assumed(&self, reason: &str) -> Nest {
        let mut data = (*self.0).clone();
        (data.assumption, data.label) = (Some(reason.into()), None);
        Nest(Arc::new(data))
    }

    /// The nest with its assignments counted from `first` on, as its part of a joined nest.
    #[must_use]
    pub fn counted_from(&self, first: usize) -> Nest {
        let trees = self.trees().iter().map(|t| t.counted_from(first));
        let mut data = (*self.0).clone();
        data.trees = trees.collect();
        Nest(Arc::new(data))
    }

    /// The nest of two nests' trees that computes what both compute, `self` first. The
    /// statements of `other` are [counted from](Nest::counted_from) the end of `self`.
    #[must_use]
    pub fn joined(&self, other: &Nest, trees: Vec<Tree>) -> Nest {
        let definition = self.0.definition.iter().chain(other.0.definition.iter());
        let built = self.0.built.iter().chain(other.0.built.iter());
        Nest(Arc::new(Data {
            trees,
            definition: definition.cloned().collect(),
            built: built.cloned().collect(),
            path: self.0.path.clone(),
            label: None,
            assumption: self.0.assumption.clone().or(other.0.assumption.clone()),
            context: self.0.context.clone(),
        }))
    }

    /// The nest under a name.
    #[must_use]
    pub fn labelled(&self, label: Name) -> Nest {
        let mut data = (*self.0).clone();
        data.label = Some(label);
        Nest(Arc::new(data))
    }

    /// The nest without the steps that made it.
    #[must_use]
    pub fn without_path(&self) -> Nest {
        let mut data = (*self.0).clone();
        data.path = Path::default();
        Nest(Arc::new(data))
    }

    /// The nest with `step` appended to its path; loops that no step has made are credited to it.
    #[must_use]
    pub fn made_by(&self, step: &Arc<Step>) -> Nest {
        let mut data = (*self.0).clone();
        data.path = data.path.then(step.clone());
        data.trees = credit(&data.trees, step);
        Nest(Arc::new(data))
    }

    /// The loops around each loop of the nest, in depth-first order: (outer loops, loop).
    pub fn loops(&self) -> Vec<(Vec<&Loop>, &Loop)> {
        fn walk<'a>(
            trees: &'a [Tree],
            outer: &mut Vec<&'a Loop>,
            found: &mut Vec<(Vec<&'a Loop>, &'a Loop)>,
        ) {
            for tree in trees {
                if let Tree::Loop(l) = tree {
                    found.push((outer.clone(), l));
                    outer.push(l);
                    walk(&l.body, outer, found);
                    outer.pop();
                }
            }
        }
        let mut found = Vec::new();
        walk(self.trees(), &mut Vec::new(), &mut found);
        found
    }

    /// Whether a loop of the nest or around it has this name.
    pub fn has_loop(&self, name: &Name) -> bool {
        let around = self.context().iter().any(|l| l.name == *name);
        around || self.loops().iter().any(|(_, l)| l.name == *name)
    }
}

fn credit(trees: &[Tree], step: &Arc<Step>) -> Vec<Tree> {
    trees
        .iter()
        .map(|tree| match tree {
            Tree::Loop(l) if has_uncredited(tree) => {
                let mut l = (**l).clone();
                l.made_by.get_or_insert_with(|| step.clone());
                l.body = credit(&l.body, step);
                Tree::Loop(Arc::new(l))
            }
            _ => tree.clone(),
        })
        .collect()
}

fn has_uncredited(tree: &Tree) -> bool {
    match tree {
        Tree::Loop(l) => l.made_by.is_none() || l.body.iter().any(has_uncredited),
        _ => false,
    }
}

impl Stmt {
    /// The statement with iterators replaced, all at once.
    #[must_use]
    pub fn substitute(&self, map: &dyn Fn(&Name) -> Option<Affine>) -> Stmt {
        let replace = |index: &[Affine]| index.iter().map(|a| a.substitute(map)).collect();
        Stmt {
            target: self.target.clone(),
            index: replace(&self.index),
            update: self.update,
            value: self.value.substitute(map),
            origin: self.origin.as_ref().map(|origin| Origin {
                assignment: origin.assignment,
                point: replace(&origin.point),
            }),
        }
    }
}

impl Tree {
    /// A loop as a tree.
    pub fn of_loop(l: Loop) -> Tree {
        Tree::Loop(Arc::new(l))
    }

    /// The loop, if it is one.
    pub fn as_loop(&self) -> Option<&Arc<Loop>> {
        match self {
            Tree::Loop(l) => Some(l),
            _ => None,
        }
    }

    /// The number of loops, statements, fills and local tensors.
    pub fn size(&self) -> usize {
        match self {
            Tree::Loop(l) => 1 + l.body.iter().map(Tree::size).sum::<usize>(),
            _ => 1,
        }
    }

    /// The tree with iterators replaced in statements, fills and bounds, all at once.
    ///
    /// Loop names are unique in a nest, so a replacement is never captured.
    #[must_use]
    pub fn substitute(&self, map: &dyn Fn(&Name) -> Option<Affine>) -> Tree {
        match self {
            Tree::Loop(l) => Tree::of_loop(Loop {
                range: l.range.substitute(map),
                body: l.body.iter().map(|t| t.substitute(map)).collect(),
                ..(**l).clone()
            }),
            Tree::Stmt(s) => Tree::Stmt(Arc::new(s.substitute(map))),
            Tree::Local(_) => self.clone(),
            Tree::Fill(fill) => Tree::Fill(Arc::new(Fill {
                region: fill
                    .region
                    .iter()
                    .map(|(low, n)| (low.substitute(map), *n))
                    .collect(),
                ..(**fill).clone()
            })),
        }
    }

    /// The tree with local tensors renamed where they are declared and used.
    #[must_use]
    pub fn rename_locals(&self, rename: &dyn Fn(&Name) -> Option<Name>) -> Tree {
        let renamed = |tensor: &Tensor| match tensor.name().and_then(rename) {
            Some(name) => tensor.named(name),
            None => tensor.clone(),
        };
        match self {
            Tree::Loop(l) => Tree::of_loop(Loop {
                hints: l.hints.renamed(rename),
                body: l.body.iter().map(|t| t.rename_locals(rename)).collect(),
                ..(**l).clone()
            }),
            Tree::Stmt(s) => Tree::Stmt(Arc::new(Stmt {
                target: renamed(&s.target),
                value: s.value.map_accesses(&|tensor, index| {
                    Some(Expr::access(renamed(tensor), index.clone()))
                }),
                ..(**s).clone()
            })),
            Tree::Fill(fill) => Tree::Fill(Arc::new(Fill {
                target: renamed(&fill.target),
                ..(**fill).clone()
            })),
            Tree::Local(tensor) => Tree::Local(renamed(tensor)),
        }
    }

    /// The local tensors that are declared in the tree.
    pub fn locals(&self) -> Vec<&Tensor> {
        match self {
            Tree::Loop(l) => l.body.iter().flat_map(Tree::locals).collect(),
            Tree::Local(tensor) => vec![tensor],
            Tree::Stmt(_) | Tree::Fill(_) => Vec::new(),
        }
    }

    /// The tree with the assignments of its statements counted from `first` on.
    fn counted_from(&self, first: usize) -> Tree {
        match self {
            Tree::Loop(l) => Tree::of_loop(Loop {
                body: l.body.iter().map(|t| t.counted_from(first)).collect(),
                ..(**l).clone()
            }),
            Tree::Stmt(s) => {
                let mut s = (**s).clone();
                if let Some(origin) = &mut s.origin {
                    origin.assignment += first;
                }
                Tree::Stmt(Arc::new(s))
            }
            Tree::Fill(fill) => {
                let assignment = fill.assignment.map(|a| a + first);
                let fill = Fill::clone(fill);
                Tree::Fill(Arc::new(Fill { assignment, ..fill }))
            }
            Tree::Local(_) => self.clone(),
        }
    }

    /// The tree with loops renamed, and with them the iterators in its statements.
    #[must_use]
    pub fn rename_loops(&self, rename: &dyn Fn(&Name) -> Option<Name>) -> Tree {
        fn names(tree: &Tree, rename: &dyn Fn(&Name) -> Option<Name>) -> Tree {
            match tree {
                Tree::Loop(l) => {
                    let mut l = (**l).clone();
                    if let Some(name) = rename(&l.name) {
                        l.name = name;
                    }
                    l.body = l.body.iter().map(|t| names(t, rename)).collect();
                    Tree::of_loop(l)
                }
                other => other.clone(),
            }
        }
        names(self, rename).substitute(&|n| rename(n).map(Affine::iterator))
    }
}
