//! From trees to the plan of a launch.

use super::plan::{Condition, Kernel, Node};
use super::spaces::Passes;
use super::wide::Wide;
use crate::analysis::bounds::Bounds;
use crate::analysis::levels::trips;
use crate::ir::{Affine, Axis, Index, Loop, Name, Range, Tensor, Tree};
use crate::legality::Barrier;
use std::collections::HashSet;
use std::sync::Arc;

/// Adds what each block executes to the plan of a launch.
pub(super) struct Lowering<'a> {
    pub(super) kernel: &'a mut Kernel,
    pub(super) barriers: &'a [Barrier],
    /// The elements that lanes pass on when phases begin.
    pub(super) passes: &'a Passes,
    /// The tensors that are in registers of a thread.
    pub(super) registers: HashSet<Name>,
    /// The tensors that the threads of a block share.
    pub(super) shared: HashSet<Name>,
    /// The bytes of the widest access to memory.
    pub(super) access: i64,
    /// How many parts of tensors are in registers for wide accesses.
    pub(super) parts: usize,
    /// Whether the code around is that of the first thread.
    pub(super) is_first: bool,
}

/// Loops with more iterations are not unrolled: their tensors stay in memory.
const MOST_COPIES: i64 = 64;

/// A short loop is unrolled as long as its copies have no more statements.
const MOST_STATEMENTS: i64 = 1024;

/// How many statements a loop runs, if all loops in it have constant lengths.
fn statements(l: &Loop) -> i64 {
    let count = match (l.range.lower.as_slice(), l.range.upper.as_slice()) {
        ([lower], [upper]) => upper.minus(lower).as_constant(),
        _ => None,
    };
    let each = l.body.iter().map(|tree| match tree {
        Tree::Loop(inner) => statements(inner),
        Tree::Stmt(_) | Tree::Fill(_) => 1,
        Tree::Local(_) => 0,
    });
    let each = each.fold(0, i64::saturating_add);
    count.map_or(i64::MAX, |count| count.saturating_mul(each))
}

impl Lowering<'_> {
    /// The nodes of a sequence at `position`, inside `chain`.
    pub(super) fn sequence<'t>(
        &mut self,
        trees: &'t [Tree],
        position: &mut Vec<usize>,
        chain: &mut Vec<&'t Loop>,
    ) -> Vec<Node> {
        let mut nodes = Vec::new();
        for k in 0..=trees.len() {
            position.push(k);
            let at = self
                .barriers
                .iter()
                .filter(|barrier| barrier.at == *position);
            nodes.extend(at.map(|barrier| Node::Barrier(barrier.of)));
            if let Some(tree) = trees.get(k) {
                nodes.extend(self.passed(tree));
                nodes.extend(self.tree(tree, position, chain));
            }
            position.pop();
        }
        nodes
    }

    /// The nodes by which lanes pass elements on before a tree.
    fn passed(&self, tree: &Tree) -> Vec<Node> {
        let passes = tree.as_loop().and_then(|l| self.passes.get(&l.name));
        let mut nodes = Vec::new();
        let mut last = None;
        for pass in passes.into_iter().flatten() {
            if last != Some(&pass.to) {
                nodes.push(Node::Local(pass.to.clone()));
                last = Some(&pass.to);
            }
            nodes.push(Node::Pass(pass.clone()));
        }
        nodes
    }

    fn tree<'t>(
        &mut self,
        tree: &'t Tree,
        position: &mut Vec<usize>,
        chain: &mut Vec<&'t Loop>,
    ) -> Option<Node> {
        let in_phase = chain.iter().any(|l| l.is_block());
        // Serial loops around phases run on all threads.
        let has_phase = tree.as_loop().is_some_and(|l| has_phase(l));
        let is_block = tree.as_loop().is_some_and(|l| l.is_block());
        let is_of_first = !in_phase && (!has_phase || is_block);
        let is_in_first = self.is_first;
        let node = match tree {
            Tree::Local(tensor) if in_phase => {
                self.registers.extend(tensor.name().cloned());
                return Some(Node::Local(tensor.clone()));
            }
            Tree::Local(_) => return None,
            Tree::Stmt(s) => Node::Stmt(s.clone()),
            Tree::Fill(fill) => Node::Fill(fill.clone()),
            Tree::Loop(l) => {
                let of = match self.copies(l, chain) {
                    Some(_) => from_zero(l),
                    None => l.clone(),
                };
                let ends = self.ends(&of);
                let copies = self.copies(&of, chain);
                let mut chain = chain.clone();
                chain.push(&of);
                let inner = l.body.iter().filter_map(Tree::as_loop);
                let is_phase = l.is_block() && !inner.into_iter().any(|l| l.is_block());
                self.is_first |= is_of_first && !has_phase;
                let mut body = self.sequence(&of.body, position, &mut chain);
                self.is_first = is_in_first;
                if is_phase {
                    body = self.in_tiles(&of, body, position, &chain);
                }
                let of = of.clone();
                match l.axis() {
                    Some(axis) => Node::Threads {
                        of,
                        dimension: axis.dimension,
                        ends,
                        body,
                    },
                    None => match copies {
                        Some((copies, ends)) => Node::Unrolled {
                            of,
                            copies,
                            ends,
                            body,
                        },
                        None => Node::Loop { of, body },
                    },
                }
            }
        };
        if !is_of_first || is_in_first {
            return Some(node);
        }
        let bound = tree.as_loop().map(|l| axes(l)).unwrap_or_default();
        let dimensions = (0..Axis::OF_THREADS).filter(|d| self.kernel.threads[*d] > 1);
        let dimensions: Vec<usize> = dimensions.filter(|d| !bound.contains(d)).collect();
        Some(match dimensions.is_empty() {
            true => node,
            false => Node::First {
                dimensions,
                body: vec![node],
            },
        })
    }

    /// The body of the innermost loop of a phase: for whole tiles if they can do without bounds or
    /// with wider accesses, and for others.
    fn in_tiles<'t>(
        &mut self,
        l: &'t Loop,
        part: Vec<Node>,
        position: &mut Vec<usize>,
        chain: &[&'t Loop],
    ) -> Vec<Node> {
        let bounds = whole_if(&l.body, chain);
        let whole: Vec<Tree> = l.body.iter().map(|t| whole(t, &bounds)).collect();
        let nodes = self.sequence(&whole, position, &mut chain.to_vec());
        let local = self.registers.union(&self.shared).cloned().collect();
        let mut wide = Wide {
            access: self.access,
            local: &local,
            parts: self.parts,
            conditions: Vec::new(),
        };
        let whole = wide.nodes(nodes);
        self.parts = wide.parts;
        let mut whole_if: Vec<Condition> = Vec::new();
        let bounds = bounds.into_iter().map(|of| of.holds);
        for condition in bounds.chain(wide.conditions) {
            if !whole_if.contains(&condition) {
                whole_if.push(condition);
            }
        }
        match whole_if.is_empty() {
            true => part,
            false => vec![Node::Tiles {
                whole_if,
                whole,
                part,
            }],
        }
    }

    /// The upper bounds of a bound loop that a thread of the block may reach.
    fn ends(&self, l: &Loop) -> Vec<Affine> {
        let (Some(axis), [lower]) = (l.axis(), l.range.lower.as_slice()) else {
            return Vec::new();
        };
        ends_within(l, lower, self.kernel.threads[axis.dimension])
    }

    /// How often a loop is unrolled, and the bounds that each copy checks. Loops that index
    /// registers are, and short loops of a thread that need no checks.
    fn copies(&self, l: &Loop, chain: &[&Loop]) -> Option<(i64, Vec<Affine>)> {
        let [lower] = l.range.lower.as_slice() else {
            return None;
        };
        let around = Bounds::of_chain(chain.iter().copied());
        let copies = trips(l, &around).filter(|count| *count <= MOST_COPIES)?;
        if l.axis().is_some() {
            return None;
        }
        if !self.indexes_registers(&l.body, &l.name) {
            let [upper] = l.range.upper.as_slice() else {
                return None;
            };
            let is_short = upper.minus(lower).as_constant() == Some(copies)
                && chain.iter().any(|l| l.is_block())
                && statements(l) <= MOST_STATEMENTS;
            return is_short.then(|| (copies, Vec::new()));
        }
        Some((copies, ends_within(l, lower, copies)))
    }

    /// Whether trees use an iterator in an index of a tensor in registers.
    fn indexes_registers(&self, trees: &[Tree], name: &Name) -> bool {
        let is_own = |tensor: &Tensor| tensor.name().is_some_and(|n| self.registers.contains(n));
        let uses = |index: &[Affine]| index.iter().any(|a| a.mentions(name));
        trees.iter().any(|tree| match tree {
            Tree::Local(_) => false,
            Tree::Loop(l) => {
                let bounds: Vec<Affine> = l.range.bounds().cloned().collect();
                self.indexes_registers(&l.body, name)
                    || uses(&bounds) && self.indexes_registers(&l.body, &l.name)
            }
            Tree::Fill(fill) => {
                is_own(&fill.target) && fill.region.iter().any(|(low, _)| low.mentions(name))
            }
            Tree::Stmt(s) => {
                let mut found = is_own(&s.target) && uses(&s.index);
                s.value.for_each_access(&mut |tensor, index| {
                    if let Index::At(index) = index {
                        found |= is_own(tensor) && uses(index);
                    }
                });
                found
            }
        })
    }
}

/// A loop that counts its iterations. Indices of registers are then sums of numbers of iterations,
/// which every compiler finds when it unrolls.
fn from_zero(l: &Arc<Loop>) -> Arc<Loop> {
    let [lower] = l.range.lower.as_slice() else {
        return l.clone();
    };
    let at = Affine::iterator(l.name.clone()).plus(lower);
    let map = |name: &Name| (*name == l.name).then(|| at.clone());
    Arc::new(Loop {
        range: Range {
            lower: vec![Affine::constant(0)],
            upper: l
                .range
                .upper
                .iter()
                .map(|upper| upper.minus(lower))
                .collect(),
            ..l.range.clone()
        },
        body: l.body.iter().map(|tree| tree.substitute(&map)).collect(),
        ..(**l).clone()
    })
}

/// The upper bounds of a loop that may come before `count` iterations from its lower bound on.
fn ends_within(l: &Loop, lower: &Affine, count: i64) -> Vec<Affine> {
    let is_far = |upper: &&Affine| {
        let distance = upper.minus(lower).as_constant();
        distance.is_some_and(|distance| distance >= count)
    };
    let upper = l.range.upper.iter();
    upper.filter(|upper| !is_far(upper)).cloned().collect()
}

/// Whether a loop, or one in it, is a phase.
fn has_phase(l: &Loop) -> bool {
    let mut inner = l.body.iter().filter_map(Tree::as_loop);
    l.is_block() || inner.any(|l| has_phase(l))
}

/// The dimensions that a phase binds.
fn axes(l: &Loop) -> Vec<usize> {
    let own = l.axis().map(|axis| axis.dimension);
    let inner = match l.body.as_slice() {
        [Tree::Loop(inner)] if inner.is_block() => axes(inner),
        _ => Vec::new(),
    };
    own.into_iter().chain(inner).collect()
}

/// An upper bound of a loop that whole tiles do not need.
struct Needless {
    name: Name,
    upper: Affine,
    /// The condition under which it is needless, in all iterations of the loops of a thread.
    holds: Condition,
}

/// The upper bounds that the loops of a thread do not need in whole tiles: then each has a constant
/// number of iterations. `chain` has the loops around them.
fn whole_if(trees: &[Tree], chain: &[&Loop]) -> Vec<Needless> {
    let mut found = Vec::new();
    collect(trees, chain, &mut Vec::new(), &mut found);
    found
}

fn collect<'t>(
    trees: &'t [Tree],
    chain: &[&Loop],
    inside: &mut Vec<&'t Loop>,
    found: &mut Vec<Needless>,
) {
    for l in trees.iter().filter_map(Tree::as_loop) {
        let (end, others) = tile(l).unwrap_or_default();
        for upper in others {
            let greatest = |a: &Affine| greatest(a, inside);
            // A bound that moves with these loops is compared in each iteration.
            let is_known = |a: &Affine| {
                let mut names = a.iterators();
                names.all(|name| chain.iter().any(|l| l.name == *name))
            };
            let Some(end) = greatest(&end).filter(|end| is_known(end) && is_known(upper)) else {
                continue;
            };
            found.push(Needless {
                name: l.name.clone(),
                upper: upper.clone(),
                holds: Condition::AtMost(end, upper.clone()),
            });
        }
        inside.push(l);
        collect(&l.body, chain, inside, found);
        inside.pop();
    }
}

/// The greatest value of a sum in whole tiles of the loops `inside`, outermost first.
fn greatest(sum: &Affine, inside: &[&Loop]) -> Option<Affine> {
    inside.iter().rev().try_fold(sum.clone(), |sum, l| {
        let c = sum.coefficient(&l.name);
        let at = match c {
            0 => return Some(sum),
            1.. => end(l)?.plus_constant(-1),
            _ => l
                .range
                .lower
                .first()
                .filter(|_| l.range.lower.len() == 1)?
                .clone(),
        };
        Some(sum.substitute(&|name| (*name == l.name).then(|| at.clone())))
    })
}

/// The end of a loop in a whole tile.
fn end(l: &Loop) -> Option<Affine> {
    match (tile(l), l.range.upper.as_slice()) {
        (Some((end, _)), _) => Some(end),
        (None, [upper]) => Some(upper.clone()),
        (None, _) => None,
    }
}

/// The upper bound of a loop at a constant distance from its lower bound, and the others.
fn tile(l: &Loop) -> Option<(Affine, Vec<&Affine>)> {
    let [lower] = l.range.lower.as_slice() else {
        return None;
    };
    let count = |upper: &&Affine| upper.minus(lower).as_constant();
    let (numbers, others): (Vec<&Affine>, Vec<&Affine>) =
        l.range.upper.iter().partition(|u| count(u).is_some());
    let end = numbers.into_iter().min_by_key(count)?;
    (!others.is_empty()).then(|| (end.clone(), others))
}

/// A tree whose loops have only the bounds that whole tiles need.
fn whole(tree: &Tree, needless: &[Needless]) -> Tree {
    let Tree::Loop(l) = tree else {
        return tree.clone();
    };
    let mut range = l.range.clone();
    let is_needless = |upper: &Affine| {
        let mut of_loop = needless.iter().filter(|of| of.name == l.name);
        of_loop.any(|of| of.upper == *upper)
    };
    range.upper.retain(|upper| !is_needless(upper));
    Tree::of_loop(Loop {
        range,
        body: l.body.iter().map(|t| whole(t, needless)).collect(),
        ..(**l).clone()
    })
}
