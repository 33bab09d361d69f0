//! Nests: their definition and contents, and nests made of nests.
//!
//! A definition is a list of parts ([`Nest::originals`]). Most parts are one assignment, which
//! computes all elements from the old contents. A part in order is executed in the order of its
//! loops: `sweep` makes one from an assignment, `repeat` from several, whose outermost iterator is
//! then the time step. A text is a list of parts in order, one per outermost loop.
//!
//! A nest whose inputs are donated ([`Nest::donated`]) may overwrite them: proofs then do not
//! require their final contents.

use super::expr::Expr;
use super::history::{Data, Loop, Nest, Part, Path, Tree};
use super::name::Name;
use super::tensor::Tensor;
use std::sync::Arc;

impl Part {
    /// The tensors that the loops assign, except local ones.
    pub fn assigned(&self) -> Vec<&Tensor> {
        let locals: Vec<&Tensor> = self.trees.iter().flat_map(Tree::locals).collect();
        let mut found = Vec::new();
        let mut open: Vec<&Tree> = self.trees.iter().collect();
        while let Some(tree) = open.pop() {
            match tree {
                Tree::Loop(l) => open.extend(&l.body),
                Tree::Stmt(s) if !locals.contains(&&s.target) => found.push(&s.target),
                Tree::Stmt(_) | Tree::Fill(_) | Tree::Local(_) => {}
            }
        }
        found
    }

    /// The number of assignments that origins number. Every statement is one.
    pub fn steps(&self) -> usize {
        fn statements(tree: &Tree) -> usize {
            match tree {
                Tree::Loop(l) => l.body.iter().map(statements).sum(),
                Tree::Stmt(_) => 1,
                Tree::Fill(_) | Tree::Local(_) => 0,
            }
        }
        self.trees.iter().map(statements).sum()
    }
}

impl PartialEq for Nest {
    fn eq(&self, other: &Nest) -> bool {
        self.0.trees == other.0.trees
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
        Nest(Arc::new(Data {
            trees,
            definition,
            parts,
            path,
            label,
            assumption: None,
            donated: Arc::new([]),
            plain: false,
            context: Arc::new([]),
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
            assumption: self.0.assumption.clone(),
            donated: self.0.donated.clone(),
            plain: self.0.plain,
            context: self.0.context.iter().cloned().chain(outer).collect(),
            beside: self.0.beside.iter().cloned().chain(beside).collect(),
        }))
    }

    /// The loops around the nest, without their bodies, if it is a part of another one.
    pub fn context(&self) -> &[Loop] {
        &self.0.context
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

    /// The original nests of the parts of the definition, in order, before any step.
    pub fn untransformed(&self) -> Vec<Nest> {
        let mut first = 0;
        let nests = self.0.parts.iter().map(|part| {
            let end = first + part.assignments;
            let definition = self.0.definition.get(first..end).unwrap_or_default();
            first = end;
            let (trees, parts) = (part.trees.to_vec(), Arc::new([part.clone()]));
            Nest::new(trees, definition.into(), parts)
        });
        nests.collect()
    }

    /// Executes the definition of this nest, in order, for each iteration of `around`. The trees
    /// are repeated likewise.
    #[must_use]
    pub fn repeated(&self, around: &Loop) -> Nest {
        let repeat = |trees: &[Tree]| {
            let body = trees.iter().map(|t| t.repeated(&around.name)).collect();
            vec![Tree::of_loop(Loop {
                body,
                ..around.clone()
            })]
        };
        let (mut assignments, mut steps) = (0, 0);
        let mut originals: Vec<Tree> = Vec::new();
        for part in self.0.parts.iter() {
            let trees = part.trees.iter().map(|t| t.counted_from(steps));
            let trees = with_free_locals(&originals, trees.collect());
            originals.extend(with_free_loops(&originals, &trees));
            assignments += part.assignments;
            steps += part.steps();
        }
        let part = Part {
            assignments,
            trees: repeat(&originals).into(),
            in_order: true,
            is_program: self.0.parts.iter().any(|part| part.is_program),
        };
        let mut data = (*self.0).clone();
        (data.trees, data.label) = (repeat(&data.trees), None);
        data.parts = Arc::new([part]);
        Nest(Arc::new(data))
    }

    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The variable that the nest was first bound to.
    pub fn label(&self) -> Option<&Name> {
        self.0.label.as_ref()
    }

    /// The same computation with other trees. It loses the label, which named the old ones.
    #[must_use]
    pub fn with_trees(&self, trees: Vec<Tree>) -> Nest {
        let mut data = (*self.0).clone();
        (data.trees, data.label) = (trees, None);
        Nest(Arc::new(data))
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
        data.label = None;
        Nest(Arc::new(data))
    }

    /// Whether the C is plain loops, which the compiler vectorizes.
    pub fn is_plain(&self) -> bool {
        self.0.plain
    }

    /// The nest whose C is plain loops.
    #[must_use]
    pub fn plain(&self) -> Nest {
        let mut data = (*self.0).clone();
        data.plain = true;
        data.label = None;
        Nest(Arc::new(data))
    }

    /// Numbers the assignments of the nest from `first` on, for a part of a joined nest.
    #[must_use]
    pub fn counted_from(&self, first: usize) -> Nest {
        let trees = self.trees().iter().map(|t| t.counted_from(first));
        let mut data = (*self.0).clone();
        data.trees = trees.collect();
        Nest(Arc::new(data))
    }

    /// Computes both nests, `self` first, with the given trees. The statements of `other` are
    /// [counted from](Nest::counted_from) the end of `self`.
    #[must_use]
    pub fn joined(&self, other: &Nest, trees: Vec<Tree>) -> Nest {
        let definition = self.0.definition.iter().chain(other.0.definition.iter());
        let parts = self.0.parts.iter().chain(other.0.parts.iter());
        Nest(Arc::new(Data {
            trees,
            definition: definition.cloned().collect(),
            parts: parts.cloned().collect(),
            path: self.0.path.clone(),
            label: None,
            assumption: self.0.assumption.clone().or(other.0.assumption.clone()),
            donated: self
                .0
                .donated
                .iter()
                .chain(other.donated())
                .cloned()
                .collect(),
            plain: self.0.plain || other.0.plain,
            context: self.0.context.clone(),
            beside: self.0.beside.clone(),
        }))
    }

    /// Both nests in sequence. Loops and local tensors of `other` get a number if their names are
    /// in use.
    #[must_use]
    pub fn followed_by(&self, other: &Nest) -> Nest {
        let other = other.counted_from(self.steps());
        let tail = with_free_locals(self.trees(), other.trees().to_vec());
        let tail = with_free_loops(self.trees(), &tail);
        let trees = self.trees().iter().cloned().chain(tail).collect();
        self.joined(&other, trees)
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

    /// Each loop of the nest with the loops around it, in depth-first order: (outer loops, loop).
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

/// Renames the local tensors of `trees` whose names `before` uses.
fn with_free_locals(before: &[Tree], trees: Vec<Tree>) -> Vec<Tree> {
    let names = |trees: &[Tree]| -> Vec<Name> {
        let nest = Nest::of_trees(trees.to_vec());
        let tensors = nest.tensors();
        let all = tensors.iter().chain(nest.locals());
        all.filter_map(|t| t.name().cloned()).collect()
    };
    let (taken, own) = (names(before), names(&trees));
    let locals = trees.iter().flat_map(Tree::locals);
    let locals: Vec<Name> = locals.filter_map(|t| t.name().cloned()).collect();
    let rename = |name: &Name| {
        if !locals.contains(name) || !taken.contains(name) {
            return None;
        }
        let mut numbered = (2..).map(|number| name.derived(number));
        numbered.find(|n| !taken.contains(n) && !own.contains(n))
    };
    trees.iter().map(|t| t.rename_tensors(&rename)).collect()
}

/// Renames the loops of `trees` whose names `before` uses.
fn with_free_loops(before: &[Tree], trees: &[Tree]) -> Vec<Tree> {
    let names = |trees: &[Tree]| -> Vec<Name> {
        let nest = Nest::of_trees(trees.to_vec());
        let loops = nest.loops();
        loops.iter().map(|(_, l)| l.name.clone()).collect()
    };
    let (taken, own) = (names(before), names(trees));
    let rename = |name: &Name| {
        if !own.contains(name) || !taken.contains(name) {
            return None;
        }
        let mut numbered = (2..).map(|number| name.derived(number));
        numbered.find(|n| !taken.contains(n) && !own.contains(n))
    };
    trees.iter().map(|t| t.rename_loops(&rename)).collect()
}
