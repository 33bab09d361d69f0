//! The steps that execute an assignment, and loops around them.

use crate::analysis::shape::IteratorRange;
use crate::ir::{Affine, Fill, Loop, Name, Origin, Stmt, Tensor, Tree};
use std::sync::Arc;

/// A step of an assignment: a statement in its loops, with its initialization.
pub(super) struct Step {
    pub(super) first: Option<First>,
    pub(super) loops: Vec<IteratorRange>,
    pub(super) stmt: Stmt,
}

/// The initialization before the loops of an assignment: a box, or single elements in loops.
#[derive(Clone)]
pub(super) struct First {
    pub(super) fill: Fill,
    pub(super) loops: Vec<IteratorRange>,
}

impl First {
    /// The same with iterators renamed.
    pub(super) fn renamed(self, rename: &dyn Fn(&Name) -> Option<Name>) -> First {
        let map = |name: &Name| rename(name).map(Affine::iterator);
        let region = self.fill.region.iter();
        let region = region.map(|(low, extent)| (low.substitute(&map), extent.clone()));
        let fill = Fill {
            region: region.collect(),
            ..self.fill
        };
        let loops = self.loops.into_iter().map(|l| IteratorRange {
            name: rename(&l.name).unwrap_or(l.name),
            given: l.given.map(|range| range.substitute(&map)),
            ..l
        });
        let loops = loops.collect();
        First { fill, loops }
    }

    /// The fill in its loops.
    pub(super) fn tree(self) -> Tree {
        around(&self.loops, Tree::Fill(Arc::new(self.fill)))
    }
}

impl Step {
    /// The initialization, and the statement in its loops.
    pub(super) fn trees(self) -> Vec<Tree> {
        let fill = self.first.map(First::tree);
        let loops = around(&self.loops, Tree::Stmt(Arc::new(self.stmt)));
        fill.into_iter().chain([loops]).collect()
    }
}

/// The trees of steps in sequence. Loops whose names are in use get a number.
pub(super) fn separate(steps: Vec<Step>) -> Vec<Tree> {
    distinct(steps.into_iter().map(Step::trees).collect())
}

/// The trees of groups in sequence. Loops whose names an earlier group uses get a number.
pub(super) fn distinct(groups: Vec<Vec<Tree>>) -> Vec<Tree> {
    fn names(trees: &[Tree], found: &mut Vec<Name>) {
        for l in trees.iter().filter_map(Tree::as_loop) {
            found.push(l.name.clone());
            names(&l.body, found);
        }
    }
    let all = |trees: &[Tree]| {
        let mut found = Vec::new();
        names(trees, &mut found);
        found
    };
    let own: Vec<Name> = groups.iter().flat_map(|trees| all(trees)).collect();
    let mut taken: Vec<Name> = Vec::new();
    let mut made = Vec::new();
    for trees in groups {
        let mut renamed: Vec<(Name, Name)> = Vec::new();
        for name in all(&trees) {
            let numbered = (2..).map(|number| name.derived(number));
            let mut free = numbered.filter(|n| !taken.contains(n) && !own.contains(n));
            let new = if taken.contains(&name) {
                free.next().unwrap_or(name.clone())
            } else {
                name.clone()
            };
            taken.push(new.clone());
            renamed.push((name, new));
        }
        let rename = |name: &Name| {
            let (_, new) = renamed.iter().find(|(old, _)| old == name)?;
            Some(new.clone())
        };
        made.extend(trees.iter().map(|t| t.rename_loops(&rename)));
    }
    made
}

/// Gives each statement and fill an origin. Statements are numbered, and a fill belongs to the
/// statement after it. The iterators of the loops around them identify instances.
pub(super) fn numbered(trees: Vec<Tree>) -> Vec<Tree> {
    fn walk(tree: &Tree, around: &mut Vec<Affine>, next: &mut usize) -> Tree {
        let origin = |assignment: usize, around: &[Affine]| {
            let point = around.to_vec();
            Some(Origin { assignment, point })
        };
        match tree {
            Tree::Loop(l) => {
                around.push(Affine::iterator(l.name.clone()));
                let body = l.body.iter().map(|t| walk(t, around, next)).collect();
                around.pop();
                Tree::of_loop(Loop {
                    body,
                    ..(**l).clone()
                })
            }
            Tree::Stmt(s) => {
                let origin = origin(*next, around);
                *next += 1;
                Tree::Stmt(Arc::new(Stmt {
                    origin,
                    ..(**s).clone()
                }))
            }
            Tree::Fill(fill) => Tree::Fill(Arc::new(Fill {
                origin: origin(*next, around),
                ..(**fill).clone()
            })),
            Tree::Local(_) => tree.clone(),
        }
    }
    let mut next = 0;
    let trees = trees.iter();
    trees.map(|t| walk(t, &mut Vec::new(), &mut next)).collect()
}

/// Loops over all elements of a tensor, named after it and its dimensions, and their iterators.
pub(super) fn whole(tensor: &Tensor) -> (Vec<IteratorRange>, Vec<Affine>) {
    let name = |d: usize| tensor.name().map(|name| name.derived(d + 1));
    let dims = tensor.shape().dims().into_iter().enumerate();
    let loops = dims.filter_map(|(d, extent)| Some(IteratorRange::of_dim(name(d)?, extent)));
    let loops: Vec<IteratorRange> = loops.collect();
    let index = loops.iter().map(|l| Affine::iterator(l.name.clone()));
    let index = index.collect();
    (loops, index)
}

/// The tree in loops, the first one outermost.
pub(super) fn around<'l>(
    loops: impl IntoIterator<Item = &'l IteratorRange, IntoIter: DoubleEndedIterator>,
    tree: Tree,
) -> Tree {
    let loops = loops.into_iter().rev();
    loops.fold(tree, |tree, l| one_loop(l, vec![tree]))
}

pub(super) fn one_loop(l: &IteratorRange, body: Vec<Tree>) -> Tree {
    Tree::of_loop(Loop::serial(l.name.clone(), l.range(), body))
}
