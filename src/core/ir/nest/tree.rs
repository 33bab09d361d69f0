//! Trees with other names, iterators, tensors or origins, and their contents.

use super::{Loop, Tree};
use crate::ir::affine::Affine;
use crate::ir::entries::Entries;
use crate::ir::expr::{Expr, Index};
use crate::ir::name::Name;
use crate::ir::range::Hints;
use crate::ir::statement::{Fill, Origin, Stmt};
use crate::ir::tensor::{Strides, Tensor};
use std::sync::Arc;

impl Tree {
    /// A loop as a tree.
    pub fn of_loop(l: Loop) -> Tree {
        Tree::Loop(Arc::new(l))
    }

    /// The tree as a loop.
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
                    .map(|(low, n)| (low.substitute(map), n.substitute(map)))
                    .collect(),
                origin: fill.origin.as_ref().map(|o| o.substitute(map)),
                ..(**fill).clone()
            })),
        }
    }

    /// The tree with tensors renamed in declarations, uses and hints.
    #[must_use]
    pub fn rename_tensors(&self, rename: &dyn Fn(&Name) -> Option<Name>) -> Tree {
        let renamed = |tensor: &Tensor| {
            let made = match tensor.name().and_then(rename) {
                Some(name) => tensor.named(name),
                None => tensor.clone(),
            };
            let entries = made.entries();
            let rows = entries.and_then(|entries| rename(entries.rows.as_ref()?));
            match (entries, rows) {
                (Some(entries), Some(name)) => made.with_entries(Entries {
                    rows: Some(name),
                    ..entries.clone()
                }),
                _ => made,
            }
        };
        self.rewritten(&renamed, &|hints| hints.rename_tensors(rename))
    }

    /// The tree with tensors replaced by others of the same names and ranks.
    #[must_use]
    pub fn map_tensors(&self, map: &dyn Fn(&Tensor) -> Tensor) -> Tree {
        self.rewritten(map, &Hints::clone)
    }

    /// The tree in which elements at any distance in memory are rows of one element
    /// ([`Tensor::in_rows`]).
    #[must_use]
    pub fn in_rows(&self) -> Tree {
        let is_of = |tensor: &Tensor| tensor.strided_in() == Some(Strides::All);
        let only = |tensor: &Tensor| is_of(tensor).then(|| Affine::constant(0));
        match self {
            Tree::Loop(l) => Tree::of_loop(Loop {
                body: l.body.iter().map(Tree::in_rows).collect(),
                ..(**l).clone()
            }),
            Tree::Stmt(s) => Tree::Stmt(Arc::new(Stmt {
                target: s.target.in_rows(),
                index: s.index.iter().cloned().chain(only(&s.target)).collect(),
                value: s.value.map_accesses(&|tensor, index| {
                    let Index::At(index) = index else { return None };
                    let index = index.iter().cloned().chain(only(tensor)).collect();
                    Some(Expr::access(tensor.in_rows(), Index::At(index)))
                }),
                ..(**s).clone()
            })),
            Tree::Fill(fill) => {
                let only = is_of(&fill.target).then(|| (Affine::constant(0), Affine::constant(1)));
                Tree::Fill(Arc::new(Fill {
                    target: fill.target.in_rows(),
                    region: fill.region.iter().cloned().chain(only).collect(),
                    ..(**fill).clone()
                }))
            }
            Tree::Local(_) => self.clone(),
        }
    }

    /// The tree in which some dimensions of tensors are read as one with the next ones. `places` tells
    /// those of a tensor, the last one first. `None` if a fill sets parts of several rows of them.
    pub fn with_joined(&self, places: &dyn Fn(&Tensor) -> Vec<usize>) -> Option<Tree> {
        let tensor = |tensor: &Tensor| {
            let all = places(tensor);
            all.into_iter()
                .fold(tensor.clone(), |t, d| t.with_joined(d))
        };
        let extents = |of: &Tensor| -> Vec<(usize, i64)> {
            let extents = of.shape().extents();
            let next = |d: usize| extents.get(d + 1).copied().map(|n| (d, n));
            let found = places(of).into_iter().filter_map(next);
            // Those after it are one with it already.
            let mut after: Vec<u64> = extents.to_vec();
            found
                .map(|(d, _)| {
                    let row = after.remove(d + 1);
                    after[d] = after[d].saturating_mul(row);
                    (d, i64::try_from(row).unwrap_or(i64::MAX))
                })
                .collect()
        };
        let index = |of: &Tensor, index: &[Affine]| -> Vec<Affine> {
            let mut index = index.to_vec();
            for (d, row) in extents(of) {
                let inner = index.remove(d + 1);
                index[d] = index[d].times(row).plus(&inner);
            }
            index
        };
        Some(match self {
            Tree::Loop(l) => {
                let body = l.body.iter().map(|t| t.with_joined(places));
                Tree::of_loop(Loop {
                    body: body.collect::<Option<_>>()?,
                    ..(**l).clone()
                })
            }
            Tree::Stmt(s) => Tree::Stmt(Arc::new(Stmt {
                target: tensor(&s.target),
                index: index(&s.target, &s.index),
                value: s.value.map_accesses(&|of, at| {
                    let Index::At(at) = at else { return None };
                    Some(Expr::access(tensor(of), Index::At(index(of, at))))
                }),
                ..(**s).clone()
            })),
            Tree::Fill(fill) => {
                let mut region = fill.region.clone();
                for (d, row) in extents(&fill.target) {
                    let (inner, columns) = region.remove(d + 1);
                    let (first, rows) = &region[d];
                    let low = first.times(row).plus(&inner);
                    region[d] = match (rows.as_constant(), columns.as_constant()) {
                        (Some(1), _) => (low, columns),
                        (_, Some(columns)) if columns == row => (low, rows.times(row)),
                        _ => return None,
                    };
                }
                Tree::Fill(Arc::new(Fill {
                    target: tensor(&fill.target),
                    region,
                    ..(**fill).clone()
                }))
            }
            Tree::Local(local) => Tree::Local(tensor(local)),
        })
    }

    /// The tree in whose origins no point has an iterator as a coordinate of its own.
    #[must_use]
    pub fn without_iterator(&self, name: &Name) -> Tree {
        let drop = |origin: &mut Origin| origin.point.retain(|a| a.as_iterator() != Some(name));
        self.map_origins(&drop)
    }

    fn rewritten(
        &self,
        tensors: &dyn Fn(&Tensor) -> Tensor,
        hints: &dyn Fn(&Hints) -> Hints,
    ) -> Tree {
        match self {
            Tree::Loop(l) => Tree::of_loop(Loop {
                range: l.range.map_tensors(tensors),
                hints: hints(&l.hints),
                body: l.body.iter().map(|t| t.rewritten(tensors, hints)).collect(),
                ..(**l).clone()
            }),
            Tree::Stmt(s) => Tree::Stmt(Arc::new(Stmt {
                target: tensors(&s.target),
                value: s.value.map_accesses(&|tensor, index| {
                    Some(Expr::access(tensors(tensor), index.clone()))
                }),
                ..(**s).clone()
            })),
            Tree::Fill(fill) => Tree::Fill(Arc::new(Fill {
                target: tensors(&fill.target),
                ..(**fill).clone()
            })),
            Tree::Local(tensor) => Tree::Local(tensors(tensor)),
        }
    }

    /// The local tensors declared in the tree.
    pub fn locals(&self) -> Vec<&Tensor> {
        match self {
            Tree::Loop(l) => l.body.iter().flat_map(Tree::locals).collect(),
            Tree::Local(tensor) => vec![tensor],
            Tree::Stmt(_) | Tree::Fill(_) => Vec::new(),
        }
    }

    /// Adds `first` to the assignment numbers of the statements.
    pub(super) fn counted_from(&self, first: usize) -> Tree {
        self.map_origins(&|origin| origin.assignment += first)
    }

    /// Subtracts `first` from the assignment numbers of the statements.
    pub fn counted_down(&self, first: usize) -> Tree {
        self.map_origins(&|origin| origin.assignment = origin.assignment.saturating_sub(first))
    }

    /// Adds `iterator` as the outermost iterator to the origins of statements.
    pub(super) fn repeated(&self, iterator: &Name) -> Tree {
        let outermost = Affine::iterator(iterator.clone());
        self.map_origins(&|origin| origin.point.insert(0, outermost.clone()))
    }

    fn map_origins(&self, change: &dyn Fn(&mut Origin)) -> Tree {
        match self {
            Tree::Loop(l) => Tree::of_loop(Loop {
                body: l.body.iter().map(|t| t.map_origins(change)).collect(),
                ..(**l).clone()
            }),
            Tree::Stmt(s) => {
                let mut s = (**s).clone();
                s.origin.iter_mut().for_each(change);
                Tree::Stmt(Arc::new(s))
            }
            Tree::Fill(fill) => {
                let mut fill = Fill::clone(fill);
                fill.origin.iter_mut().for_each(change);
                Tree::Fill(Arc::new(fill))
            }
            Tree::Local(_) => self.clone(),
        }
    }

    /// The tree with loops renamed, and the iterators in its statements with them.
    #[must_use]
    pub fn rename_loops(&self, rename: &dyn Fn(&Name) -> Option<Name>) -> Tree {
        fn names(tree: &Tree, rename: &dyn Fn(&Name) -> Option<Name>) -> Tree {
            match tree {
                Tree::Loop(l) => {
                    let mut l = (**l).clone();
                    if let Some(name) = rename(&l.name) {
                        l.name = name;
                    }
                    l.hints = l.hints.rename_loops(rename);
                    l.body = l.body.iter().map(|t| names(t, rename)).collect();
                    Tree::of_loop(l)
                }
                other => other.clone(),
            }
        }
        names(self, rename).substitute(&|n| rename(n).map(Affine::iterator))
    }
}
