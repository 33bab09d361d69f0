//! Loops for an assignment that may read elements that it overwrites. It is computed in place if
//! that is legal, and through a temporary otherwise.
//!
//! The temporary is a local tensor of the target's shape. The values go there first, and are copied
//! once all of them are known. If the assignment accumulates onto the target, the temporary begins
//! with a copy of it. In place, loops may have to run in another order. A reduction then needs a
//! number beside the elements that it reads: a temporary with one element per iteration.
//!
//! The definition stays one assignment. The statements of `Nest::originals` are the steps of its
//! execution, and origins number these.

use super::no_nest::NoNest;
use super::steps::{First, Step, around, numbered, one_loop, separate, whole};
use crate::analysis::shape::IteratorRange;
use crate::ir::{Affine, Expr, Fill, Index, Infix, Name, Node, Shape, Stmt, Tensor, Tree};
use crate::legality::{InPlace, Run, in_place};
use std::sync::Arc;

/// An assignment without its loops.
pub(super) struct Assignment {
    /// The target, the update and the value.
    pub(super) stmt: Stmt,
    /// The initialization before the loops.
    pub(super) first: Option<First>,
    /// Whether a reduction begins from that initialization, not from the target.
    pub(super) begins: bool,
    /// Whether elements that no iteration reaches are also set.
    pub(super) elsewhere: bool,
    /// The loops, outermost first, in their default order.
    pub(super) loops: Vec<IteratorRange>,
    /// The loops whose iterators index the target.
    pub(super) own: Vec<Name>,
}

impl Assignment {
    /// The trees that compute all elements from the old contents of the tensors.
    pub(super) fn build(&self) -> Vec<Tree> {
        let repeats = self.own.len() < self.loops.len();
        match self.way() {
            InPlace::Compatible { reads_own } if reads_own && (repeats || self.begins) => {
                let own = self.own_loops().map(|l| (l, false)).collect();
                self.with_one_element(own)
            }
            InPlace::Compatible { .. } => self.in_order(),
            InPlace::Ordered { loops, reads_own } if self.can_be_nested(&loops) => {
                let own = self.ranges(&loops);
                if self.begins || reads_own && repeats {
                    return self.with_one_element(own);
                }
                let stmt = mirrored(&self.stmt, &own);
                let loops = own.into_iter().map(|(l, _)| l).chain(self.other_loops());
                let loops: Vec<IteratorRange> = loops.collect();
                numbered(vec![around(&loops, Tree::Stmt(Arc::new(stmt)))])
            }
            InPlace::Ordered { .. } | InPlace::Never => self.through_temporary(),
        }
    }

    /// The trees that assign one element after the other.
    pub(super) fn in_order(&self) -> Vec<Tree> {
        let (first, loops, stmt) = (self.first.clone(), self.loops.clone(), self.stmt.clone());
        numbered(Step { first, loops, stmt }.trees())
    }

    /// Whether [`Self::build`] keeps the loops and the statement as written.
    pub(super) fn is_in_order(&self) -> bool {
        let repeats = self.own.len() < self.loops.len();
        match self.way() {
            InPlace::Compatible { reads_own } => !(reads_own && (repeats || self.begins)),
            InPlace::Ordered { .. } | InPlace::Never => false,
        }
    }

    /// Checks that no other element is computed from an element that is reduced, or set before.
    pub(super) fn check_order(&self) -> Result<(), NoNest> {
        let Stmt {
            target,
            index,
            value,
            update,
            ..
        } = &self.stmt;
        let shown = |index: Vec<Affine>| Infix(&Expr::element(target, index)).to_string();
        let mut read = None;
        if self.elsewhere && update.is_some() && !self.begins {
            read = Some(shown(index.clone()));
        } else if self.elsewhere || self.begins || self.own.len() < self.loops.len() {
            value.for_each_access(&mut |tensor, at| {
                if tensor.name() == target.name() && read.is_none() {
                    read = Some(Infix(&Expr::access(tensor.clone(), at.clone())).to_string());
                }
            });
        }
        let target = shown(index.clone());
        read.map_or(Ok(()), |read| Err(NoNest::ReadsTarget { read, target }))
    }

    fn way(&self) -> InPlace {
        let Stmt {
            target,
            index,
            value,
            update,
            ..
        } = &self.stmt;
        let mut reads = update.is_some() && !self.begins;
        value.for_each_tensor(&mut |tensor| reads |= tensor.name() == target.name());
        if reads && self.elsewhere {
            // The fill before the loops overwrites the whole target.
            return InPlace::Never;
        }
        let own: Vec<IteratorRange> = self.own_loops().collect();
        let others: Vec<IteratorRange> = self.other_loops().collect();
        // A temporary is always legal, so use it if the order cannot be decided.
        in_place(target, index, value, &own, &others).unwrap_or(InPlace::Never)
    }

    fn own_loops(&self) -> impl Iterator<Item = IteratorRange> {
        let own = self.loops.iter().filter(|l| self.own.contains(&l.name));
        own.cloned()
    }

    fn other_loops(&self) -> impl Iterator<Item = IteratorRange> {
        let others = self.loops.iter().filter(|l| !self.own.contains(&l.name));
        others.cloned()
    }

    /// Whether the loops can be nested in this order. Bounds must depend only on outer loops. A
    /// loop that runs backwards must take all values between two numbers, and no bound may depend
    /// on it.
    fn can_be_nested(&self, runs: &[Run]) -> bool {
        runs.iter().enumerate().all(|(k, run)| {
            let later = &runs[k + 1..];
            self.loops
                .iter()
                .filter(|l| l.name == run.iterator)
                .all(|l| {
                    let depends = later.iter().any(|r| l.range().mentions(&r.iterator));
                    !depends && (!run.backwards || l.is_whole())
                })
        }) && !runs.iter().any(|run| {
            run.backwards && self.loops.iter().any(|l| l.range().mentions(&run.iterator))
        })
    }

    /// The loops, each with whether it runs backwards.
    fn ranges(&self, runs: &[Run]) -> Vec<(IteratorRange, bool)> {
        let range = |run: &Run| {
            let l = self.loops.iter().find(|l| l.name == run.iterator)?;
            Some((l.clone(), run.backwards))
        };
        runs.iter().filter_map(range).collect()
    }

    /// Computes the whole temporary first, and then the target.
    fn through_temporary(&self) -> Vec<Tree> {
        let tensor = self.temporary();
        let mut trees = vec![Tree::Local(tensor.clone())];
        trees.extend(separate(self.steps(&tensor)));
        numbered(trees)
    }

    /// Uses one element of the temporary in each iteration of `own`: loops, each with whether it
    /// runs backwards.
    fn with_one_element(&self, own: Vec<(IteratorRange, bool)>) -> Vec<Tree> {
        let tensor = self.temporary();
        let element = Tensor::new(Shape::of_extents([]), tensor.elem());
        let element = tensor
            .name()
            .map_or(element.clone(), |n| element.named(n.clone()));
        let steps = self.steps(&tensor);
        let mut body = vec![Tree::Local(element.clone())];
        for step in &steps {
            body.extend(step.first.iter().map(|first| {
                Tree::Fill(Arc::new(Fill {
                    target: element.clone(),
                    region: Vec::new(),
                    value: first.fill.value,
                    origin: None,
                }))
            }));
            let mut stmt = mirrored(&step.stmt, &own);
            if stmt.target == tensor {
                (stmt.target, stmt.index) = (element.clone(), Vec::new());
            }
            let of_element = |read: &Tensor, _: &Index| {
                let index = Index::At(Vec::new());
                (*read == tensor).then(|| Expr::access(element.clone(), index))
            };
            stmt.value = stmt.value.map_accesses(&of_element);
            let inner = step.loops.iter().filter(|l| !self.own.contains(&l.name));
            body.push(around(inner, Tree::Stmt(Arc::new(stmt))));
        }
        for (l, _) in own.iter().rev() {
            body = vec![one_loop(l, body)];
        }
        numbered(body)
    }

    /// The steps of the assignment, which write the temporary before the target.
    fn steps(&self, temporary: &Tensor) -> Vec<Step> {
        let Stmt {
            target,
            index,
            update,
            value,
            ..
        } = &self.stmt;
        let own: Vec<IteratorRange> = self.own_loops().collect();
        let assign = |value: Expr| Stmt {
            target: temporary.clone(),
            index: index.clone(),
            update: None,
            value,
            origin: None,
        };
        let first = |loops: &[IteratorRange], stmt: Stmt| Step {
            first: self.first.clone().map(|first| First {
                fill: Fill {
                    target: temporary.clone(),
                    ..first.fill
                },
                ..first
            }),
            loops: loops.to_vec(),
            stmt,
        };
        let old = || Expr::element(target, index.clone());
        let mut steps = Vec::new();
        match update {
            Some(op) if !self.begins && own.len() == self.loops.len() => {
                let sum = Node::Binary {
                    op: *op,
                    shape: Shape::of_extents([]),
                    left: old(),
                    right: value.clone(),
                };
                steps.push(first(&own, assign(Expr::new(sum))));
            }
            update => {
                let mut stmt = assign(value.clone());
                stmt.update = *update;
                if update.is_some() && !self.begins {
                    steps.push(first(&own, assign(old())));
                    steps.push(Step {
                        first: None,
                        loops: self.loops.clone(),
                        stmt,
                    });
                } else {
                    steps.push(first(&self.loops, stmt));
                }
            }
        }
        let (loops, index) = if self.elsewhere {
            whole(temporary)
        } else {
            (own, index.clone())
        };
        steps.push(Step {
            first: None,
            loops,
            stmt: Stmt {
                target: target.clone(),
                value: Expr::element(temporary, index.clone()),
                index,
                update: None,
                origin: None,
            },
        });
        steps
    }

    /// A tensor like the target. It has the first name that is free, together with the names of
    /// loops over it.
    fn temporary(&self) -> Tensor {
        let Stmt { target, value, .. } = &self.stmt;
        let tensor = Tensor::new(target.shape().clone(), target.elem());
        let Some(own) = target.name() else {
            return tensor;
        };
        let mut taken: Vec<Name> = self.loops.iter().map(|l| l.name.clone()).collect();
        value.for_each_tensor(&mut |tensor| taken.extend(tensor.name().cloned()));
        let is_free = |name: &Name| {
            let mut loops = (1..=target.shape().rank()).map(|d| name.derived(d));
            !taken.contains(name) && !loops.any(|l| taken.contains(&l))
        };
        let mut name = own.derived("tmp");
        let mut number = 2;
        while !is_free(&name) {
            name = own.derived(format!("tmp{number}"));
            number += 1;
        }
        tensor.named(name)
    }
}

/// The statement with reversed iterators for the loops that run backwards.
fn mirrored(stmt: &Stmt, loops: &[(IteratorRange, bool)]) -> Stmt {
    stmt.substitute(&|name| {
        let (l, _) = loops
            .iter()
            .find(|(l, backwards)| *backwards && l.name == *name)?;
        let turn = Affine::constant(l.low + l.high - 1);
        Some(turn.minus(&Affine::iterator(name.clone())))
    })
}
