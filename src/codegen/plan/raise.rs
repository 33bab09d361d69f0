//! Raises a plan to the nests that it executes, so that it can be proved as they are.
//!
//! This says what each node means. Loops run over the iterations that the printer writes, not over
//! those of the nest that they were planned for. A vector loop is a loop over lanes, and a block copy
//! is a loop over elements. Outlined functions and regions are their bodies. Hints for compilers mean
//! nothing: prefetches, remarks, fences of loads, unrolling.
//!
//! An [`Execution`] has the rest: teams of threads, barriers, fences, and dead lanes. `legality` decides
//! about both. A node that has no meaning where it is, is
//! [`Meaningless`].
//!
//! No pass is asked, so that none of them can hide its errors here.

use super::lanes::{block_of_row, widest, with_entries};
use super::pseudo::head;
use super::tree::{
    Block, Entry, Local, Loop, Mode, Node, Part, PartialVector, Plan, Space, Statement, Trips,
    VectorPlan,
};
use crate::ir::{
    self, Affine, Expr, Fill, Index, Name, Nest, Node as Value, Range, Segment, Stmt, Tensor, Tree,
};
use crate::legality::{DeadLanes, Execution, Mark, Team};
use crate::target::Target;
use std::sync::Arc;

/// The nest that a plan executes.
#[derive(Clone, Debug)]
pub struct Raised {
    /// Its trees, with the definition of the nest.
    pub nest: Nest,
    /// How threads and lanes run them.
    pub execution: Execution,
}

/// A node without a meaning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{node}`: {why}")]
pub struct Meaningless {
    /// The node, as pseudo-code.
    pub node: String,
    pub why: String,
}

/// The nest that each part of a plan executes. `params` are the tensors that the function gets, or has space
/// for.
///
/// # Errors
/// [`Meaningless`]
pub(crate) fn raise(
    plan: &Plan,
    params: &[Tensor],
    target: &Target,
) -> Result<Vec<Raised>, Meaningless> {
    let part = |part: &Part| {
        let mut raise = Raise {
            widest: widest(target),
            depths: depths(&part.nest),
            params,
            locals: Vec::new(),
            position: Vec::new(),
            execution: Execution::default(),
            who: Who::One,
            in_lanes: false,
        };
        let trees = match part.nest.is_left_to_compiler() {
            true => plain(&part.nodes),
            false => raise.sequence(&part.nodes)?,
        };
        Ok(Raised {
            nest: part.nest.with_trees(trees),
            execution: raise.execution,
        })
    };
    plan.parts.iter().map(part).collect()
}

/// For each assignment of the definition, the number of loops around its statement.
fn depths(nest: &Nest) -> Vec<usize> {
    let mut found = Vec::new();
    for part in nest.originals() {
        let first = found.len();
        found.resize(first + part.steps(), 0);
        collect(&part.trees, 0, &mut found[first..]);
    }
    found
}

fn collect(trees: &[Tree], depth: usize, found: &mut [usize]) {
    for tree in trees {
        match tree {
            Tree::Loop(l) => collect(&l.body, depth + 1, found),
            Tree::Stmt(s) => {
                let known = s.origin.as_ref().and_then(|o| found.get_mut(o.assignment));
                known.into_iter().for_each(|known| *known = depth);
            }
            Tree::Fill(_) | Tree::Local(_) => {}
        }
    }
}

/// The trees of nodes that are printed as the loops that they were planned for.
fn plain(nodes: &[Node]) -> Vec<Tree> {
    let trees = |node: &Node| match node {
        Node::Loop(l) => vec![Tree::of_loop(ir::Loop {
            body: plain(&l.body),
            ..(*l.of).clone()
        })],
        Node::Outlined(outlined) => plain(&outlined.body),
        other => other.tree().into_iter().collect(),
    };
    nodes.iter().flat_map(trees).collect()
}

/// Who runs the nodes of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// One thread.
    One,
    /// All threads of a team, each for itself.
    Team,
}

struct Raise<'a> {
    /// The bytes of a vector register.
    widest: i64,
    /// The loops around each assignment of the definition.
    depths: Vec<usize>,
    params: &'a [Tensor],
    /// The local tensors in scope.
    locals: Vec<Tensor>,
    /// The position of the sequence whose nodes are raised.
    position: Vec<usize>,
    execution: Execution,
    who: Who,
    /// Whether compilers run the nodes in lanes.
    in_lanes: bool,
}

impl Raise<'_> {
    fn sequence(&mut self, nodes: &[Node]) -> Result<Vec<Tree>, Meaningless> {
        let outside = self.locals.len();
        let mut trees = Vec::with_capacity(nodes.len());
        self.nodes(nodes, &mut trees)?;
        self.locals.truncate(outside);
        Ok(trees)
    }

    /// Appends the trees of nodes to those before them in their sequence.
    fn nodes(&mut self, nodes: &[Node], trees: &mut Vec<Tree>) -> Result<(), Meaningless> {
        for node in nodes {
            let wrong = |why: String| Meaningless {
                node: head(node),
                why,
            };
            self.node(node, trees).map_err(|wrongly| match wrongly {
                Wrong::Here(why) => wrong(why),
                Wrong::Inside(inside) => inside,
            })?;
        }
        Ok(())
    }

    fn node(&mut self, node: &Node, trees: &mut Vec<Tree>) -> Result<(), Wrong> {
        let is_shared = matches!(
            node,
            Node::Stmt(_) | Node::Fill(_) | Node::Copy(_) | Node::Local(_)
        );
        if self.who == Who::Team && is_shared {
            return Err(here("all threads of a region would execute it"));
        }
        match node {
            Node::Loop(l) => self.of_loop(l, trees)?,
            Node::Stmt(s) => {
                let tree = self.stmt(s)?;
                if s.past {
                    self.execution.streams.push(self.at(trees));
                }
                trees.push(tree);
            }
            Node::Fill(fill) => {
                self.declared(&fill.target)?;
                trees.push(Tree::Fill(fill.clone()));
            }
            Node::Local(local) => {
                self.local(local)?;
                trees.push(Tree::Local(local.tensor.clone()));
            }
            Node::Region(region) => {
                if self.who == Who::Team {
                    return Err(here("each thread of a region would start more threads"));
                }
                let first = trees.len();
                self.mark(trees, Mark::Team);
                self.who = Who::Team;
                let result = self.nodes(&region.body, trees);
                self.who = Who::One;
                result?;
                self.mark(trees, Mark::Team);
                self.execution.teams.push(Team {
                    sequence: self.position.clone(),
                    trees: first..trees.len(),
                });
            }
            Node::Outlined(outlined) => self.nodes(&outlined.body, trees)?,
            Node::Copy(block) => {
                let tree = self.block(block)?;
                let mut at = self.at(trees);
                at.extend([0, 0]);
                self.execution.streams.push(at);
                trees.push(tree);
            }
            Node::Fence => self.mark(trees, Mark::Fence),
            Node::Barrier if self.who == Who::One => {
                return Err(here("only threads of a region wait for each other"));
            }
            Node::Barrier => self.mark(trees, Mark::Barrier),
            Node::Fetch(_) | Node::InOrder | Node::LoadFence => {}
        }
        Ok(())
    }

    /// The position of the next tree.
    fn at(&self, trees: &[Tree]) -> Vec<usize> {
        let next = self.position.iter().copied();
        next.chain([trees.len()]).collect()
    }

    fn mark(&mut self, trees: &[Tree], mark: Mark) {
        self.execution.marks.push((self.at(trees), mark));
    }

    fn local(&mut self, local: &Local) -> Result<(), Wrong> {
        if self.in_lanes && local.space == Space::Thread {
            return Err(here("all lanes of the compiler would share it"));
        }
        self.locals.push(local.tensor.clone());
        Ok(())
    }

    /// Whether the C declares a tensor so.
    fn declared(&self, tensor: &Tensor) -> Result<(), Wrong> {
        let known = self.locals.iter().rev().chain(self.params);
        let known = known.into_iter().find(|t| t.name() == tensor.name());
        match known {
            Some(known) if known == tensor => Ok(()),
            Some(known) => Err(Wrong::Here(format!(
                "{known} is declared, and not {tensor}"
            ))),
            None => Err(Wrong::Here(format!("{} is not declared", tensor.label()))),
        }
    }

    fn stmt(&self, statement: &Statement) -> Result<Tree, Wrong> {
        let s = &statement.of;
        self.declared(&s.target)?;
        let mut all = Ok(());
        s.value.for_each_tensor(&mut |tensor| {
            if all.is_ok() {
                all = self.declared(tensor);
            }
        });
        all?;
        Ok(match (s.value.node(), s.update, &s.origin) {
            // An instance of a statement has a coordinate for each loop. It is an initialization.
            (Value::Constant(value), None, origin)
                if origin
                    .as_ref()
                    .is_none_or(|o| self.depths.get(o.assignment) > Some(&o.point.len())) =>
            {
                let one = Affine::constant(1);
                let region = s.index.iter().map(|at| (at.clone(), one.clone()));
                Tree::Fill(Arc::new(Fill {
                    target: s.target.clone(),
                    region: region.collect(),
                    value: *value,
                    origin: origin.clone(),
                }))
            }
            _ => Tree::Stmt(s.clone()),
        })
    }

    fn of_loop(&mut self, l: &Loop, trees: &mut Vec<Tree>) -> Result<(), Wrong> {
        for lookup in l.of.range.within.iter().flat_map(Segment::lookups) {
            self.declared(&lookup.tensor)?;
        }
        let (outer, in_lanes) = (self.who, self.in_lanes);
        let mode = self.mode(l)?;
        let range = match &l.mode {
            Mode::Vector(plan) => self.lanes(l, plan, self.at(trees))?,
            _ => l.of.range.clone(),
        };
        if l.is_parallel() {
            self.who = Who::One;
        }
        self.in_lanes |= l.is_simd();
        self.position.push(trees.len());
        let body = self.sequence(&l.body);
        self.position.pop();
        (self.who, self.in_lanes) = (outer, in_lanes);
        trees.push(Tree::of_loop(ir::Loop {
            range,
            mode,
            body: body?,
            ..(*l.of).clone()
        }));
        if let Mode::Parallel {
            entry: Entry::Join, ..
        } = l.mode
        {
            self.mark(trees, Mark::Barrier);
        }
        Ok(())
    }

    /// Which iterations run at the same time.
    fn mode(&self, l: &Loop) -> Result<ir::Mode, Wrong> {
        let serial = ir::Mode::Serial;
        let lanes = l.of.lanes();
        Ok(match &l.mode {
            Mode::Serial | Mode::Rolled | Mode::Unrolled(_) => serial,
            Mode::Simd | Mode::Collapsed { simd: true } => serial.with_lanes(lanes),
            Mode::Collapsed { simd: false } => serial,
            Mode::Parallel { entry, simd } => {
                match (self.who, *entry == Entry::Call) {
                    (Who::Team, true) => {
                        return Err(here("each thread of a region would run all iterations"));
                    }
                    (Who::One, false) => {
                        return Err(here("no region around it has started threads"));
                    }
                    _ => {}
                }
                let shared = serial.with_threads(l.of.sharing().unwrap_or_default());
                match simd {
                    true => shared.with_lanes(lanes),
                    false => shared,
                }
            }
            Mode::Vector(plan) => serial.with_lanes(plan.lanes),
        })
    }

    /// The live iterations of a vector loop. The dead lanes are noted.
    fn lanes(&mut self, l: &Loop, plan: &VectorPlan, at: Vec<usize>) -> Result<Range, Wrong> {
        let lane = &l.of.name;
        if let Trips::Block { lanes, .. } = plan.trips {
            return block(l, plan, lanes);
        }
        let mut statements: Vec<&Stmt> = Vec::new();
        for node in &l.body {
            let Node::Stmt(s) = node else {
                return Err(here("there are other things than statements in vectors"));
            };
            let is_shared = Lanes::of(&s.of.index, lane) == Lanes::Shared;
            if s.of.target.elem().size() > plan.elem.size() || is_shared {
                return Err(Wrong::Here(format!(
                    "lanes of {lane} cannot run `{}`",
                    s.of
                )));
            }
            statements.push(&s.of);
        }
        let block = plan.lanes.unwrap_or(self.widest / plan.elem.size() as i64);
        let end = |count: i64| Affine::constant((count + block - 1) / block * block);
        let of = &l.of.range;
        let zero = Affine::constant(0);
        let (range, dead) = match &plan.trips {
            Trips::Block { .. } => return Ok(of.clone()),
            Trips::Any { .. } => {
                let range = Range {
                    within: None,
                    step: 1,
                    ..of.clone()
                };
                return Ok(range);
            }
            Trips::Constant { count, part: None } => return Ok(Range::constant(0, *count)),
            Trips::Constant {
                count,
                part: Some(part),
            } => {
                let after = Range::between(Affine::constant(*count), end(*count));
                (Range::constant(0, *count), (part, vec![after]))
            }
            Trips::Masked { most, part } => {
                let after = |bound: &Affine| Range {
                    lower: vec![zero.clone(), bound.clone()],
                    ..Range::between(zero.clone(), end(*most))
                };
                let range = Range {
                    upper: of
                        .upper
                        .iter()
                        .cloned()
                        .chain([Affine::constant(*most)])
                        .collect(),
                    ..Range::between(zero.clone(), zero.clone())
                };
                (range, (part, of.upper.iter().map(after).collect()))
            }
        };
        let (part, ranges) = dead;
        if let Some(s) = statements
            .iter()
            .filter(|s| Lanes::of(&s.index, lane) == Lanes::Neighbors)
            .find(|s| s.update.is_some() && !writes_row(part, s))
        {
            return Err(Wrong::Here(format!(
                "a store under a mask cannot update in `{s}`"
            )));
        }
        let lanes = ranges.into_iter().map(|range| ir::Loop {
            range,
            body: Vec::new(),
            ..(*l.of).clone()
        });
        self.execution.dead.push(DeadLanes {
            position: at,
            lanes: lanes.collect(),
            touched: touched(&statements, part, lane),
        });
        Ok(range)
    }

    /// The loops over the elements of a block.
    fn block(&self, block: &Block) -> Result<Tree, Wrong> {
        let l = &block.of;
        let ([Tree::Loop(row)], Some((first, _))) = (&l.body[..], l.range.as_constant()) else {
            return Err(here("it is not a loop over rows"));
        };
        let ([Tree::Stmt(s)], Some((low, high))) = (&row.body[..], row.range.as_constant()) else {
            return Err(here("its rows are not loops over elements"));
        };
        let Value::Access {
            index: Index::At(read),
            tensor,
        } = s.value.node()
        else {
            return Err(here("it does not copy"));
        };
        let (to, from) = (&block.to, &block.from);
        self.declared(&to.0)?;
        self.declared(&from.0)?;
        let size = to.0.elem().size() as i64;
        let width = high - low;
        let bytes = width * size;
        let same = (&to.0, &from.0, from.0.elem()) == (&s.target, tensor, to.0.elem());
        if !same || s.update.is_some() || bytes <= 0 || block.bytes % bytes != 0 {
            return Err(here("it is not what the loop copies"));
        }
        // Element `width * l + row` of the block.
        let [rows, elements] = [l, row].map(|l| Affine::iterator(l.name.clone()));
        let number = rows.times(width).plus(&elements);
        let moved = |first: &[Affine], index: &[Affine]| -> Vec<Affine> {
            let by = |a: &Affine| {
                let [rows, elements] = [(&rows, &l.name), (&elements, &row.name)]
                    .map(|(iterator, name)| iterator.times(a.coefficient(name)));
                rows.plus(&elements)
            };
            first
                .iter()
                .zip(index)
                .map(|(first, a)| first.plus(&by(a)))
                .collect()
        };
        let (to_index, from_index) = (moved(&to.1, &s.index), moved(&from.1, read));
        for (tensor, first, index) in [(&to.0, &to.1, &to_index), (&from.0, &from.1, &from_index)] {
            let start = address(tensor, first);
            let apart = address(tensor, index).zip(start).map(|(a, b)| a.minus(&b));
            if apart.as_ref() != Some(&number) {
                return Err(Wrong::Here(format!(
                    "its elements in {tensor} are not neighbors"
                )));
            }
        }
        let value = Value::Access {
            tensor: from.0.clone(),
            index: Index::At(from_index),
        };
        let start = |name: &Name| match name {
            name if *name == l.name => Some(rows.plus_constant(first)),
            name if *name == row.name => Some(elements.plus_constant(low)),
            _ => None,
        };
        let stmt = Stmt {
            index: to_index,
            value: Expr::new(value),
            ..s.substitute(&start)
        };
        let inner = ir::Loop {
            range: Range::constant(0, width),
            mode: ir::Mode::Serial.with_lanes(None),
            body: vec![Tree::Stmt(Arc::new(stmt))],
            ..(**row).clone()
        };
        Ok(Tree::of_loop(ir::Loop {
            range: Range::constant(0, block.bytes / bytes),
            mode: ir::Mode::Serial,
            body: vec![Tree::of_loop(inner)],
            ..(**l).clone()
        }))
    }
}

/// The iterations of a loop over one block of a row. None of its lanes is dead.
fn block(l: &Loop, plan: &VectorPlan, lanes: i64) -> Result<Range, Wrong> {
    let of = &l.of;
    let statements = with_entries(&of.body);
    let statements = statements.ok_or_else(|| here("its lanes do more than statements"))?;
    for s in &statements {
        let is_row = Lanes::of(&s.index, &of.name) == Lanes::Neighbors;
        if s.target.elem() != plan.elem || !is_row {
            return Err(Wrong::Here(format!(
                "lanes of {} cannot run `{s}`",
                of.name
            )));
        }
    }
    match block_of_row(of) == Some(lanes) {
        true => Ok(of.range.clone()),
        false => Err(Wrong::Here(format!("it is not a block of {lanes} entries"))),
    }
}

/// Why a node has no meaning.
enum Wrong {
    Here(String),
    /// A node in it has none.
    Inside(Meaningless),
}

impl From<Meaningless> for Wrong {
    fn from(inside: Meaningless) -> Wrong {
        Wrong::Inside(inside)
    }
}

fn here(why: &str) -> Wrong {
    Wrong::Here(why.to_owned())
}

/// How many elements are before one in memory; `None` if that is not affine.
fn address(tensor: &Tensor, index: &[Affine]) -> Option<Affine> {
    let extents = tensor.shape().numbers().filter(|_| !tensor.is_strided())?;
    let mut all = index.iter().zip(extents);
    all.try_fold(Affine::constant(0), |before, (index, extent)| {
        Some(before.times(i64::try_from(*extent).ok()?).plus(index))
    })
}

/// Where the lanes of an access are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lanes {
    /// All at one element.
    Shared,
    /// At neighbors in memory.
    Neighbors,
    /// Apart in memory. Dead ones touch nothing.
    Apart,
}

impl Lanes {
    fn of(index: &[Affine], lane: &Name) -> Lanes {
        let moves = |index: &[Affine]| index.iter().any(|a| a.mentions(lane));
        match index.split_last() {
            Some((last, outer)) if !moves(outer) && last.coefficient(lane) == 1 => Lanes::Neighbors,
            _ if moves(index) => Lanes::Apart,
            _ => Lanes::Shared,
        }
    }
}

fn writes_row(part: &PartialVector, s: &Stmt) -> bool {
    let mut writes = part.writes.iter();
    writes.any(|(tensor, index)| *tensor == s.target && *index == s.index)
}

/// The elements that dead lanes touch, and whether they write them. Others are under a mask.
fn touched(
    statements: &[&Stmt],
    part: &PartialVector,
    lane: &Name,
) -> Vec<(Tensor, Vec<Affine>, bool)> {
    let mut found = Vec::new();
    for s in statements {
        if Lanes::of(&s.index, lane) == Lanes::Neighbors && writes_row(part, s) {
            found.push((s.target.clone(), s.index.clone(), true));
        }
        s.value.for_each_access(&mut |tensor, index| {
            let Index::At(index) = index else { return };
            let reads = match Lanes::of(index, lane) {
                Lanes::Shared => true,
                Lanes::Neighbors => part.reads.iter().any(|(t, i)| t == tensor && i == index),
                Lanes::Apart => false,
            };
            if reads {
                found.push((tensor.clone(), index.clone(), false));
            }
        });
    }
    found
}
