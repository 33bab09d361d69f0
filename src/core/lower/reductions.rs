//! Temporaries for reductions that cannot move out of the operation around them.
//!
//! `y = 2 * sum(j: A[i][j] * x[j]) + 3 * y[i]` reads a temporary in place of the sum. The temporary
//! is a single number, computed in the loops that the reduction depends on, if these loops are
//! around the operation. Otherwise it is a tensor, computed before the assignment. Tensors are
//! needed if the loops differ, or if the reduction reads the target. They are also needed if the
//! assignment has another order or a temporary of its own. Equal reductions share one temporary.
//!
//! The definition stays one assignment.

use super::explicit::{readably_explicit, spelled};
use super::flatten::{Stuck, flatten};
use super::no_nest::NoNest;
use super::overwrite::Assignment;
use super::statement::{Refused, lower};
use super::steps::{First, around, distinct, numbered, one_loop};
use crate::analysis::shape::{self, IteratorRange};
use crate::ir::{
    Affine, Domain, Expr, Fill, Index, Infix, Name, Node, Range, Shape, Stmt, Tensor, Tree,
};
use std::sync::Arc;

/// An assignment that reads temporaries in place of reductions.
pub(super) struct Split {
    /// In an order in which each comes after the temporaries that it reads.
    temporaries: Vec<Temporary>,
    main: Assignment,
    /// The assignment that `main` executes.
    rest: Expr,
}

struct Temporary {
    /// The assignment of the reduction to the tensor.
    definition: Expr,
    /// With an element for each value of `iterators`.
    tensor: Tensor,
    iterators: Vec<Name>,
    assignment: Assignment,
}

/// Splits an assignment with a reduction that needs a temporary.
///
/// # Errors
/// As [`build`](super::build::build).
pub(super) fn split(assignment: &Expr) -> Result<Split, NoNest> {
    let assignment = readably_explicit(assignment)?;
    let Node::Assign { target, value, .. } = assignment.node() else {
        return Err(malformed());
    };
    let mut splitting = Splitting {
        ranges: shape::all_ranges(&assignment)?,
        free: assignment.iterators(),
        target: target.tensor().and_then(Tensor::name).cloned(),
        taken: Vec::new(),
        found: Vec::new(),
    };
    assignment.for_each_tensor(&mut |tensor| {
        splitting.taken.extend(tensor.name().cloned());
    });
    let value = splitting.value(value.clone())?;
    let main = assignment.with_value(value);
    let found = splitting.found.into_iter();
    let temporaries = found.map(|(_, temporary)| temporary).collect();
    Ok(Split {
        temporaries,
        main: whole(&main)?,
        rest: main,
    })
}

/// Assignments that compute an assignment: one for each reduction that has a temporary, in a tensor
/// of its own, and at last the one that reads these tensors. They are in the order of the
/// statements of [`build`](super::build::build).
///
/// # Errors
/// As [`build`](super::build::build).
pub fn in_steps(assignment: &Expr) -> Result<Vec<Expr>, NoNest> {
    let split = split(assignment)?;
    let levels = split.levels();
    let mut temporaries: Vec<_> = split.temporaries.iter().zip(levels).collect();
    temporaries.sort_by_key(|(_, level)| *level);
    let definitions = temporaries.into_iter().map(|(t, _)| &t.definition);
    let steps = definitions.chain([&split.rest]).map(inferred);
    Ok(steps.collect())
}

/// The same without ranges that follow from the tensors.
fn inferred(assignment: &Expr) -> Expr {
    let Ok(meant) = shape::all_ranges(assignment) else {
        return assignment.clone();
    };
    let short = assignment.without_ranges();
    let is_box = |r: &IteratorRange| {
        let given = r.given.as_ref().map(|range| range.as_constant());
        given.is_none_or(|range| range == Some((r.low, r.high)))
    };
    let is_same = |found: &[IteratorRange]| {
        let ends = |all: &[IteratorRange]| -> Vec<_> {
            let ends = all.iter().map(|r| (r.name.clone(), r.low, r.high));
            ends.collect()
        };
        ends(found) == ends(&meant)
    };
    match shape::all_ranges(&short) {
        Ok(found) if meant.iter().all(is_box) && is_same(&found) => short,
        _ => assignment.clone(),
    }
}

impl Split {
    /// The trees that compute all elements from the old contents of the tensors.
    pub(super) fn build(&self) -> Vec<Tree> {
        if !self.is_in_place() {
            let levels = vec![None; self.temporaries.len()];
            return self.trees(&levels, self.main.build());
        }
        let levels = self.levels();
        self.trees(&levels, self.fused(&levels))
    }

    /// Whether each element is assigned where the temporaries for it are computed.
    fn is_in_place(&self) -> bool {
        let own = self.main.stmt.target.name();
        let reads_own = |t: &Temporary| own.is_some_and(|own| t.reads(own));
        self.main.is_in_order() && !self.temporaries.iter().any(reads_own)
    }

    /// The loop levels of scalar temporaries in [`Self::build`], and `None` for tensors.
    fn levels(&self) -> Vec<Option<usize>> {
        if !self.is_in_place() {
            return vec![None; self.temporaries.len()];
        }
        let around = |t: &Temporary| {
            let loops = self.main.loops.iter().take(t.iterators.len());
            let known = |l: &IteratorRange| t.iterators.contains(&l.name);
            (loops.filter(|l| known(l)).count() == t.iterators.len()).then_some(t.iterators.len())
        };
        self.before_tensors(self.temporaries.iter().map(around).collect())
    }

    /// The trees that assign one element after the other.
    ///
    /// # Errors
    /// A reduction reads the target and would need a tensor.
    pub(super) fn in_order(&self) -> Result<Vec<Tree>, NoNest> {
        let own = self.main.stmt.target.name();
        let deepest = |names: &[Name]| {
            let level = |name: &Name| self.main.loops.iter().position(|l| l.name == *name);
            let levels: Option<Vec<usize>> = names.iter().map(|n| Some(level(n)? + 1)).collect();
            levels.map(|levels| levels.into_iter().max().unwrap_or(0))
        };
        let mut changing: Vec<&Name> = own.into_iter().collect();
        let mut levels = Vec::with_capacity(self.temporaries.len());
        for t in &self.temporaries {
            let changes = changing.iter().any(|name| t.reads(name));
            if changes {
                changing.extend(t.tensor.name());
            }
            let level = deepest(&t.iterators);
            if changes && level.is_none() {
                let shown = |tensor: &Tensor, index: &[Affine]| {
                    let index = Index::At(index.to_vec());
                    Infix(&Expr::access(tensor.clone(), index)).to_string()
                };
                let stmt = &self.main.stmt;
                return Err(NoNest::ReadsTarget {
                    read: shown(&stmt.target, &stmt.index),
                    target: shown(&stmt.target, &stmt.index),
                });
            }
            // All loops over the target assign the elements that it reads.
            let all = deepest(&self.main.own).filter(|_| changes);
            levels.push(level.max(all));
        }
        let levels = self.before_tensors(levels);
        Ok(self.trees(&levels, self.fused(&levels)))
    }

    /// The loop levels of scalar temporaries. A temporary that a tensor reads must be a tensor
    /// (`None`).
    fn before_tensors(&self, mut levels: Vec<Option<usize>>) -> Vec<Option<usize>> {
        for k in (0..levels.len()).rev() {
            if levels[k].is_none() {
                for (t, level) in self.temporaries[..k].iter().zip(&mut levels) {
                    if t.tensor
                        .name()
                        .is_some_and(|n| self.temporaries[k].reads(n))
                    {
                        *level = None;
                    }
                }
            }
        }
        levels
    }

    /// The trees of the tensor temporaries, followed by the main trees.
    fn trees(&self, levels: &[Option<usize>], main: Vec<Tree>) -> Vec<Tree> {
        let tensors = self.temporaries.iter().zip(levels);
        let tensors = tensors.filter(|(_, level)| level.is_none());
        let mut groups: Vec<Vec<Tree>> = Vec::new();
        for (t, _) in tensors {
            groups.push(vec![Tree::Local(t.tensor.clone())]);
            groups.push(t.assignment.in_order());
        }
        groups.push(main);
        numbered(distinct(groups))
    }

    /// The main loops, with each scalar temporary computed at its level.
    fn fused(&self, levels: &[Option<usize>]) -> Vec<Tree> {
        let numbers: Vec<(usize, Tensor, &Temporary)> = self
            .temporaries
            .iter()
            .zip(levels)
            .filter_map(|(t, level)| Some((level.as_ref().copied()?, t.number(), t)))
            .collect();
        let read = |value: &Expr| {
            value.map_accesses(&|tensor, _| {
                let (_, number, _) = numbers.iter().find(|(_, _, t)| t.tensor == *tensor)?;
                Some(Expr::access(number.clone(), Index::At(Vec::new())))
            })
        };
        let main = &self.main;
        let stmt = Stmt {
            value: read(&main.stmt.value),
            ..main.stmt.clone()
        };
        let mut body = vec![Tree::Stmt(Arc::new(stmt))];
        for level in (0..=main.loops.len()).rev() {
            let mut inside = Vec::new();
            for (_, number, t) in numbers.iter().filter(|(at, ..)| *at == level) {
                inside.push(Tree::Local(number.clone()));
                inside.extend(t.compute(number, &read));
            }
            if level == 0 {
                inside.extend(main.first.iter().cloned().map(First::tree));
            }
            inside.extend(body);
            body = match level.checked_sub(1) {
                Some(outer) => vec![one_loop(&main.loops[outer], inside)],
                None => inside,
            };
        }
        body
    }
}

impl Temporary {
    fn reads(&self, name: &Name) -> bool {
        let mut reads = false;
        let value = &self.assignment.stmt.value;
        value.for_each_tensor(&mut |tensor| reads |= tensor.name() == Some(name));
        reads
    }

    /// The temporary as a scalar.
    fn number(&self) -> Tensor {
        let number = Tensor::new(Shape::of_extents([]), self.tensor.elem());
        match self.tensor.name() {
            Some(name) => number.named(name.clone()),
            None => number,
        }
    }

    /// The trees that compute the temporary as a scalar, within the loops of its iterators.
    fn compute(&self, number: &Tensor, read: &dyn Fn(&Expr) -> Expr) -> Vec<Tree> {
        let of = &self.assignment;
        let first = of.first.as_ref().map(|first| First {
            fill: Fill {
                target: number.clone(),
                region: Vec::new(),
                ..first.fill.clone()
            },
            loops: Vec::new(),
        });
        let inner = of.loops.iter().filter(|l| !of.own.contains(&l.name));
        let stmt = Stmt {
            target: number.clone(),
            index: Vec::new(),
            value: read(&of.stmt.value),
            ..of.stmt.clone()
        };
        let computed = around(inner.collect::<Vec<_>>(), Tree::Stmt(Arc::new(stmt)));
        first
            .map(First::tree)
            .into_iter()
            .chain([computed])
            .collect()
    }
}

/// The state of splitting an assignment into temporaries.
struct Splitting {
    /// All iterators with their ranges, those of the target first.
    ranges: Vec<IteratorRange>,
    free: Vec<Name>,
    target: Option<Name>,
    /// The names of tensors in use.
    taken: Vec<Name>,
    /// Reductions with numbered iterators, and their temporaries.
    found: Vec<(Expr, Temporary)>,
}

impl Splitting {
    /// The value with temporaries in place of reductions that cannot move out.
    fn value(&mut self, mut value: Expr) -> Result<Expr, NoNest> {
        loop {
            let mut taken = self.free.clone();
            let Err(Stuck(reduction)) = flatten(&value, &mut taken) else {
                return Ok(value);
            };
            let key = spelled(&reduction);
            let access = match self.found.iter().find(|(known, _)| *known == key) {
                Some((_, temporary)) => self.access(temporary),
                None => {
                    let temporary = self.temporary(&reduction)?;
                    let access = self.access(&temporary);
                    self.found.push((key.clone(), temporary));
                    access
                }
            };
            value = value.replace(&|part| {
                let is_reduction = matches!(part.node(), Node::Reduce { .. });
                (is_reduction && spelled(part) == key).then(|| access.clone())
            });
        }
    }

    fn temporary(&mut self, reduction: &Expr) -> Result<Temporary, NoNest> {
        let value = self.value(reduction.clone())?;
        let mut names = reduction.iterators();
        // If a range depends on iterators that the reduction does not have, use a box around its
        // values. The box must stay inside of all tensors.
        loop {
            let of_all = self.ranges.iter();
            let own: Vec<&IteratorRange> = of_all.filter(|r| names.contains(&r.name)).collect();
            let made = self.assigned(&value, &own);
            let open: Vec<Name> = own
                .iter()
                .filter_map(|r| r.given.as_ref())
                .flat_map(Range::bounds)
                .flat_map(Affine::iterators)
                .filter(|name| !names.contains(name))
                .cloned()
                .collect();
            match made {
                Err(Refused::NoNest(NoNest::Shape(_))) if !open.is_empty() => names.extend(open),
                Err(refused) => return Err(refused.into()),
                Ok(temporary) => {
                    self.taken.extend(temporary.tensor.name().cloned());
                    return Ok(temporary);
                }
            }
        }
    }

    fn assigned(&self, value: &Expr, own: &[&IteratorRange]) -> Result<Temporary, Refused> {
        let dim = |r: &&IteratorRange| match r.dim().as_constant() {
            Some(extent) => Affine::constant(extent.max(1)),
            None => r.dim(),
        };
        let shape = Shape::of_virtual_dims(own.iter().map(dim).collect());
        let tensor = Tensor::new(shape, value.elem());
        let kind = match value.node() {
            Node::Reduce { reduction, .. } => reduction.name(),
            _ => return Err(malformed().into()),
        };
        let tensor = tensor.named(self.name(kind));
        let known = |range: &Range| {
            let mut names = range.bounds().flat_map(Affine::iterators);
            names.all(|name| own.iter().any(|r| r.name == *name))
        };
        let domain = own.iter().map(|r| {
            let given = r.given.clone().filter(known);
            let whole = || Range::constant(r.low, r.high);
            (r.name.clone(), given.unwrap_or_else(whole))
        });
        let assignment = Expr::new(Node::Assign {
            target: at(&tensor, own),
            value: value.clone(),
            within: Domain::new(domain),
            elsewhere: None,
        });
        Ok(Temporary {
            tensor,
            iterators: own.iter().map(|r| r.name.clone()).collect(),
            assignment: lower(&assignment)?,
            definition: assignment,
        })
    }

    fn access(&self, temporary: &Temporary) -> Expr {
        let own = |name: &Name| self.ranges.iter().find(|r| r.name == *name);
        let own: Vec<&IteratorRange> = temporary.iterators.iter().filter_map(own).collect();
        at(&temporary.tensor, &own)
    }

    /// The first free name derived from the target and the kind of reduction.
    fn name(&self, kind: &str) -> Name {
        let Some(target) = &self.target else {
            return Name::generated(self.taken.len());
        };
        let taken =
            |name: &Name| self.taken.contains(name) || self.ranges.iter().any(|r| r.name == *name);
        let mut name = target.derived(kind);
        let mut number = 2;
        while taken(&name) {
            name = target.derived(format!("{kind}{number}"));
            number += 1;
        }
        name
    }
}

/// The temporary at iterators, counted from the first value of each.
fn at(tensor: &Tensor, own: &[&IteratorRange]) -> Expr {
    let index = own.iter().map(|r| {
        let iterator = Affine::iterator(r.name.clone());
        iterator.plus_constant(-r.low)
    });
    Expr::access(tensor.clone(), Index::At(index.collect()))
}

/// An assignment without reductions that need temporaries.
fn whole(assignment: &Expr) -> Result<Assignment, NoNest> {
    lower(assignment).map_err(NoNest::from)
}

fn malformed() -> NoNest {
    let what = "malformed";
    NoNest::NotAnAssignment { what }
}
