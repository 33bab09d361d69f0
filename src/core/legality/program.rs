//! Programs as instances: what the definition executes in which order, and where the nests execute
//! it.

use super::written::written;
use crate::ir::{Affine, Fill, Index, Loop, Name, Nest, Origin, Stmt, Tensor, Tree};
use std::ops::Range;
use std::rc::Rc;

/// Nests that run in order, split into leaves.
pub(super) struct Program<'a> {
    /// The assignments of all nests, in order, as `build` makes them.
    pub(super) originals: Rc<[Original<'a>]>,
    /// The assignments that the program has to execute.
    pub(super) assignments: Range<usize>,
    /// The statements and fills of these in the definition, in its order.
    pub(super) definition: Vec<Leaf<'a>>,
    /// The statements and fills of the nests, in textual order.
    pub(super) leaves: Vec<Leaf<'a>>,
    /// The tensors whose final contents are dead.
    pub(super) donated: Vec<&'a Name>,
    /// The tensors that are results even if a later assignment reads them.
    pub(super) outputs: Vec<&'a Name>,
}

/// An assignment as `build` makes it.
pub(super) struct Original<'a> {
    pub(super) fill: Option<&'a Fill>,
    /// Outermost first.
    pub(super) loops: Vec<&'a Loop>,
    pub(super) stmt: &'a Stmt,
}

/// A statement or a fill of a nest.
#[derive(Clone)]
pub(super) struct Leaf<'a> {
    pub(super) what: What<'a>,
    /// The loops around it, outermost first.
    pub(super) loops: Vec<&'a Loop>,
    /// The number of the nest. Then, for each loop around the leaf and the leaf itself, its
    /// position in its sequence.
    pub(super) place: Vec<usize>,
    /// The assignment that it executes, among those of all nests.
    pub(super) assignment: Option<usize>,
    /// The local tensors in scope: their names, and the prefix of `place` that identifies the
    /// declaring sequence.
    pub(super) locals: Vec<(&'a str, Vec<usize>)>,
    /// Unknown numbers in bounds of loops.
    pub(super) parameters: &'a [Name],
}

#[derive(Clone, Copy)]
pub(super) enum What<'a> {
    Stmt(&'a Stmt),
    Fill(&'a Fill),
}

pub(super) struct Access<'a> {
    pub(super) tensor: &'a Tensor,
    pub(super) index: Vec<Affine>,
    pub(super) write: bool,
}

impl<'a> Program<'a> {
    /// The program whose nest number k has the trees `trees[k]`: its own, or the same rerolled.
    pub(super) fn of(nests: &'a [Nest], trees: &'a [Vec<Tree>]) -> Program<'a> {
        let definition = definition(nests);
        let mut leaves = Vec::new();
        let mut first = 0;
        for (k, (nest, trees)) in nests.iter().zip(trees).enumerate() {
            Walk::from(first, k, &mut leaves).sequence(trees);
            first += nest.steps();
        }
        Program {
            originals: Original::all(&definition).into(),
            assignments: 0..first,
            definition,
            leaves,
            donated: nests.iter().flat_map(Nest::donated).collect(),
            outputs: nests.iter().flat_map(Nest::outputs).collect(),
        }
    }

    /// The program with other leaves, and the same obligations.
    pub(super) fn with_leaves(&self, leaves: Vec<Leaf<'a>>) -> Program<'a> {
        Program {
            originals: self.originals.clone(),
            assignments: self.assignments.clone(),
            definition: self.definition.clone(),
            leaves,
            donated: self.donated.clone(),
            outputs: self.outputs.clone(),
        }
    }

    /// The program with another definition, of as many assignments.
    pub(super) fn with_definition(&self, definition: Vec<Leaf<'a>>) -> Program<'a> {
        Program {
            originals: Original::all(&definition).into(),
            definition,
            ..self.with_leaves(self.leaves.clone())
        }
    }

    /// The nest with this number, without its obligations.
    pub(super) fn of_nest(&self, nest: usize) -> Program<'a> {
        let leaves = self.leaves.iter().filter(|leaf| leaf.place[0] == nest);
        Program {
            originals: self.originals.clone(),
            assignments: 0..0,
            definition: Vec::new(),
            leaves: leaves.cloned().collect(),
            donated: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// Whether it executes its definition unchanged.
    pub(super) fn is_in_place(&self) -> bool {
        let both = || self.definition.iter().zip(&self.leaves);
        let locals = |leaf: &Leaf| -> Vec<(String, usize)> {
            let locals = leaf.locals.iter();
            locals
                .map(|(name, scope)| ((*name).to_owned(), scope.len()))
                .collect()
        };
        let next = both().zip(both().skip(1));
        self.definition.len() == self.leaves.len()
            && both()
                .all(|(meant, found)| found.is_in_place(meant) && locals(meant) == locals(found))
            && next
                .into_iter()
                .all(|((meant, found), (next_meant, next_found))| {
                    meant.around_both(next_meant) == found.around_both(next_found)
                })
    }

    /// The leaf of the definition with the instances of an assignment or its initialization.
    pub(super) fn original_leaf(&self, assignment: usize, fill: bool) -> Option<&Leaf<'a>> {
        let is =
            |l: &&Leaf| l.assignment == Some(assignment) && fill == matches!(l.what, What::Fill(_));
        self.definition.iter().find(is)
    }
}

/// The statements and fills of trees, in textual order.
pub(super) fn leaves(trees: &[Tree]) -> Vec<Leaf<'_>> {
    let mut leaves = Vec::new();
    Walk::from(0, 0, &mut leaves).sequence(trees);
    leaves
}

/// The statements and fills of the definition of all nests, in its order.
pub(super) fn definition(nests: &[Nest]) -> Vec<Leaf<'_>> {
    let mut leaves = Vec::new();
    let mut first = 0;
    let parts = nests.iter().flat_map(Nest::originals).enumerate();
    for (place, part) in parts {
        Walk::from(first, place, &mut leaves).sequence(&part.trees);
        first += part.steps();
    }
    leaves
}

impl<'a> Leaf<'a> {
    /// The tensor that the leaf writes.
    pub(super) fn target(&self) -> &'a Tensor {
        match self.what {
            What::Stmt(s) => &s.target,
            What::Fill(fill) => &fill.target,
        }
    }

    /// Whether a bound of a loop around it is read from a tensor.
    pub(super) fn reads_bounds(&self) -> bool {
        self.loops.iter().any(|l| l.range.within.is_some())
    }

    /// Whether a tensor is local at the leaf.
    pub(super) fn is_local(&self, tensor: &Tensor) -> bool {
        self.locals.iter().any(|(name, _)| *name == tensor.label())
    }

    /// The statement or fill as written in the nest.
    pub(super) fn text(&self) -> String {
        match self.what {
            What::Stmt(s) => written(s).to_string(),
            What::Fill(fill) => fill.to_string(),
        }
    }

    /// The number of loops around both leaves, and whether this one comes first in an iteration of
    /// all of them.
    pub(super) fn around_both(&self, other: &Leaf) -> (usize, bool) {
        let places = self.place.iter().zip(&other.place);
        let same = places.take_while(|(a, b)| a == b).count();
        let loops = self.loops.len().min(other.loops.len());
        (same.saturating_sub(1).min(loops), self.place < other.place)
    }

    /// Whether this leaf executes the same as a leaf of the definition, in the same loops up to
    /// renaming.
    pub(super) fn is_in_place(&self, original: &Leaf) -> bool {
        let both = || original.loops.iter().zip(&self.loops);
        let map = |name: &Name| {
            let (_, own) = both().find(|(l, _)| l.name == *name)?;
            Some(Affine::iterator(own.name.clone()))
        };
        let all = |these: &[Affine], those: &[Affine]| {
            these
                .iter()
                .map(|a| a.substitute(&map))
                .eq(those.iter().cloned())
        };
        let same_loop = |(l, own): (&&Loop, &&Loop)| {
            let (meant, found) = (&l.range, &own.range);
            meant.step == found.step
                && all(&meant.lower, &found.lower)
                && all(&meant.upper, &found.upper)
        };
        let same_origin = |meant: &Option<Origin>, found: &Option<Origin>| match (meant, found) {
            (Some(meant), Some(found)) => all(&meant.point, &found.point),
            _ => false,
        };
        let same_leaf = match (original.what, self.what) {
            (What::Stmt(meant), What::Stmt(found)) => {
                same_origin(&meant.origin, &found.origin) && meant.substitute(&map) == *found
            }
            (What::Fill(meant), What::Fill(found)) => {
                let [low, own] = [meant, found].map(|f| f.region.iter());
                let same_region = low
                    .zip(own)
                    .all(|((low, n), (own, m))| n == m && low.substitute(&map) == *own);
                same_region
                    && same_origin(&meant.origin, &found.origin)
                    && (&meant.target, meant.value) == (&found.target, found.value)
            }
            _ => false,
        };
        same_leaf
            && self.assignment == original.assignment
            && self.loops.len() == original.loops.len()
            && both().all(same_loop)
    }

    /// How many of the outermost loops are those around the leaf of the definition, up to renaming.
    /// As many coordinates of an instance are their iterators.
    pub(super) fn settled(&self, original: &Leaf) -> usize {
        let Some(origin) = self.origin() else {
            return 0;
        };
        let map = |name: &Name| {
            let k = original.loops.iter().position(|l| l.name == *name)?;
            origin.point.get(k).cloned()
        };
        let all = original.loops.iter().zip(&self.loops).zip(&origin.point);
        let is_settled = |((meant, own), at): &((&&Loop, &&Loop), &Affine)| {
            at.as_iterator() == Some(&own.name) && meant.range.substitute(&map) == own.range
        };
        all.take_while(is_settled).count()
    }

    /// Whether the loops are those around the leaf of the definition, up to renaming and order.
    /// Then each of its instances is executed once.
    pub(super) fn executes_each(&self, original: &Leaf) -> bool {
        let Some(origin) = self.origin() else {
            return false;
        };
        let map = |name: &Name| {
            let k = original.loops.iter().position(|l| l.name == *name)?;
            origin.point.get(k).cloned()
        };
        let mut own: Vec<&Loop> = self.loops.clone();
        let is_own = |(meant, at): (&&Loop, &Affine)| {
            let named = |l: &&Loop| at.as_iterator() == Some(&l.name);
            let Some(k) = own.iter().position(named) else {
                return false;
            };
            own.remove(k).range == meant.range.substitute(&map)
        };
        let same_region = match (self.what, original.what) {
            (What::Fill(found), What::Fill(meant)) => {
                let mut both = meant.region.iter().zip(&found.region);
                both.all(|((low, n), (own, m))| n == m && low.substitute(&map) == *own)
            }
            (What::Stmt(_), What::Stmt(_)) => true,
            _ => false,
        };
        same_region
            && self.loops.len() == original.loops.len()
            && origin.point.len() == original.loops.len()
            && original.loops.iter().zip(&origin.point).all(is_own)
    }

    /// The instance of the definition that it executes, if any.
    pub(super) fn origin(&self) -> Option<&'a Origin> {
        match self.what {
            What::Stmt(s) => s.origin.as_ref(),
            What::Fill(fill) => fill.origin.as_ref(),
        }
    }

    /// The time of an iteration: positions in sequences alternate with values of iterators.
    pub(super) fn time_of(&self, iteration: &[i64]) -> Vec<i64> {
        let mut time = vec![self.place[0] as i64];
        for (k, place) in self.place[1..].iter().enumerate() {
            time.push(*place as i64);
            time.extend(iteration.get(k).filter(|_| k < self.loops.len()));
        }
        time.extend(iteration.get(self.loops.len()..).unwrap_or_default());
        time
    }
}

impl<'a> Original<'a> {
    /// The assignments whose statements and fills are `leaves`, in order.
    fn all(leaves: &[Leaf<'a>]) -> Vec<Original<'a>> {
        let fill_of = |assignment| {
            leaves.iter().find_map(|leaf| match leaf.what {
                What::Fill(fill) if leaf.assignment == assignment => Some(fill),
                _ => None,
            })
        };
        let originals = leaves.iter().filter_map(|leaf| match leaf.what {
            What::Stmt(stmt) => Some(Original {
                fill: fill_of(leaf.assignment),
                loops: leaf.loops.clone(),
                stmt,
            }),
            What::Fill(_) => None,
        });
        originals.collect()
    }

    /// The statement that executes the instance `point`.
    pub(super) fn at(&self, point: &[Affine]) -> Stmt {
        self.stmt.substitute(&|name| {
            let k = self.loops.iter().position(|l| l.name == *name)?;
            point.get(k).cloned()
        })
    }
}

struct Walk<'a, 'p> {
    first: usize,
    loops: Vec<&'a Loop>,
    place: Vec<usize>,
    locals: Vec<(&'a str, Vec<usize>)>,
    leaves: &'p mut Vec<Leaf<'a>>,
}

impl<'a, 'p> Walk<'a, 'p> {
    /// A walk through tree sequence number `place`, whose first assignment is number `first`.
    fn from(first: usize, place: usize, leaves: &'p mut Vec<Leaf<'a>>) -> Walk<'a, 'p> {
        Walk {
            first,
            loops: Vec::new(),
            place: vec![place],
            locals: Vec::new(),
            leaves,
        }
    }

    fn sequence(&mut self, trees: &'a [Tree]) {
        let outside = self.locals.len();
        for (k, tree) in trees.iter().enumerate() {
            self.place.push(k);
            let (what, assignment) = match tree {
                Tree::Loop(l) => {
                    self.loops.push(l);
                    self.sequence(&l.body);
                    self.loops.pop();
                    self.place.pop();
                    continue;
                }
                Tree::Local(tensor) => {
                    self.place.pop();
                    self.locals.push((tensor.label(), self.place.clone()));
                    continue;
                }
                Tree::Stmt(s) => (What::Stmt(s), s.origin.as_ref().map(|o| o.assignment)),
                Tree::Fill(fill) => (What::Fill(fill), fill.origin.as_ref().map(|o| o.assignment)),
            };
            self.leaves.push(Leaf {
                what,
                loops: self.loops.clone(),
                place: self.place.clone(),
                assignment: assignment.map(|a| a + self.first),
                locals: self.locals.clone(),
                parameters: &[],
            });
            self.place.pop();
        }
        self.locals.truncate(outside);
    }
}

/// The accesses of a statement, the target first. An update also reads its target.
pub(super) fn accesses(s: &Stmt) -> Vec<Access<'_>> {
    let access = |tensor, index: &[Affine], write| Access {
        tensor,
        index: index.to_vec(),
        write,
    };
    let mut found = vec![access(&s.target, &s.index, true)];
    if s.update.is_some() {
        found.push(access(&s.target, &s.index, false));
    }
    s.value.for_each_access(&mut |tensor, index| {
        let index = match index {
            Index::At(index) => index.as_slice(),
            _ => &[],
        };
        found.push(access(tensor, index, false));
    });
    found
}

/// The leaves of the definition, numbered from `first` on.
pub(super) struct Definition<'p, 'a> {
    pub(super) leaves: &'p [Leaf<'a>],
    pub(super) first: usize,
}

impl Definition<'_, '_> {
    /// The number of the leaf that is the statement of an assignment.
    pub(super) fn statement(&self, a: usize) -> Option<usize> {
        let is = |l: &Leaf| l.assignment == Some(a) && matches!(l.what, What::Stmt(_));
        Some(self.first + self.leaves.iter().position(is)?)
    }
}

/// The live-out tensors. These are the tensors that the nests write, except local and dead ones.
/// Tensors that the definition computes and does not read later also count, and so do outputs.
pub(super) fn results<'a>(program: &Program<'a>) -> Vec<&'a Tensor> {
    let mut found: Vec<&Tensor> = Vec::new();
    let mut add = |tensor: &'a Tensor| {
        if !found.contains(&tensor) {
            found.push(tensor);
        }
    };
    for leaf in &program.leaves {
        let target = leaf.target();
        if !leaf.is_local(target)
            && !program
                .donated
                .iter()
                .any(|name| target.name() == Some(*name))
        {
            add(target);
        }
    }
    for a in program.assignments.clone() {
        let target = &program.originals[a].stmt.target;
        let leaf = program.original_leaf(a, false);
        if leaf.is_some_and(|leaf| leaf.is_local(target)) {
            continue;
        }
        let later = program.originals[a + 1..program.assignments.end].iter();
        let read = later.flat_map(|o| accesses(o.stmt));
        let is_read = read.into_iter().any(|r| r.tensor.name() == target.name());
        if !is_read
            || program
                .outputs
                .iter()
                .any(|name| target.name() == Some(*name))
        {
            add(target);
        }
    }
    found
}
