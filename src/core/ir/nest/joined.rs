//! Nests made of nests.

use super::{Data, Loop, Nest, Part, Tree};
use crate::ir::name::Name;
use std::sync::Arc;

impl Nest {
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
        let in_order = |parts: &[Part]| {
            let (mut assignments, mut steps) = (0, 0);
            let mut originals: Vec<Tree> = Vec::new();
            for part in parts {
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
                is_program: parts.iter().any(|part| part.is_program),
            };
            Arc::new([part])
        };
        let mut data = (*self.0).clone();
        (data.trees, data.label) = (repeat(&data.trees), None);
        data.remark = None;
        data.parts = in_order(&self.0.parts);
        data.lawful = self.lawful_as(&|parts| in_order(parts));
        data.context = self.context_with(&data.trees, &[]);
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
            context: self.context_with(&trees, other.definition()),
            instance: None,
            condition: self.0.condition.and(&other.0.condition).unwrap_or_default(),
            variants: Arc::new([]),
            trees,
            definition: definition.cloned().collect(),
            parts: parts.cloned().collect(),
            path: self.0.path.clone(),
            label: None,
            remark: None,
            assumption: self.0.assumption.clone().or(other.0.assumption.clone()),
            lawful: self.lawful_with(other),
            donated: self
                .0
                .donated
                .iter()
                .chain(other.donated())
                .cloned()
                .collect(),
            declared: self
                .0
                .declared
                .iter()
                .chain(other.0.declared.iter())
                .cloned()
                .collect(),
            left_to_compiler: self.0.left_to_compiler || other.0.left_to_compiler,
            beside: self.0.beside.clone(),
        }))
    }

    /// The nest with the definition of another one, whose statements have the same numbers.
    #[must_use]
    pub fn redefined(&self, original: &Nest) -> Nest {
        let mut data = (*self.0).clone();
        data.definition = original.0.definition.clone();
        data.parts = original.0.parts.clone();
        data.declared = original.0.declared.clone();
        data.lawful = original.0.lawful.clone();
        data.context = self.context_with(self.trees(), original.definition());
        (data.label, data.remark) = (None, None);
        Nest(Arc::new(data))
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
