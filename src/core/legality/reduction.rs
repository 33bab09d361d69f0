//! Reductions whose operands are combined in another order.
//!
//! The executions of updates form trees. Each node reads the result of one node, or starts from the
//! identity. A node that combines partial results reads two nodes. The root, which no other node
//! reads, holds the result. It contains each operand exactly once under these conditions:
//! - no node is read twice;
//! - all nodes of a tree belong to one element;
//! - each element has all instances of the definition, each once, and one root.
//!
//! A statement that adds an empty slot, which still holds the identity, changes nothing. It is not a
//! node: who reads its result reads what it found. So a sum from 0 to a size that is 0 keeps what it
//! starts from.
//!
//! If the definition subtracts, partial results add up the subtrahends. A node that adds updates
//! only such nodes, all combined nodes add, and roots subtract.
//!
//! An element that is computed several times has a tree for each time. The loops whose iterations
//! no tree leaves tell these apart.

use super::constraints::{bounded, linear};
use super::families::{Family, Nodes, Numbered};
use super::memory::iterator;
use super::program::Definition;
use super::program::{Leaf, Program, What};
use super::reassociation::operation;
use super::space::Space;
use crate::ir::{Affine, BinaryOp, Name, Reduction, Stmt};
use crate::poly::{Error, Linear, Piece, UnionMap, UnionSet};

/// The reductions that nests execute as such trees.
pub(super) struct Trees {
    assignments: Vec<usize>,
    /// The executions that add empty slots.
    empty: UnionSet,
    /// From the roots of nests and definition to the elements `E⟨a⟩[…]`.
    roots: UnionMap,
    /// The values of reads. Updates are named by their execution.
    values: UnionMap,
}

/// The most levels of combining partial results.
const MAX_LEVELS: usize = 4;

impl Trees {
    /// The reductions among `assignments` that the nests execute as such trees. `values` gives the
    /// values of reads in the nests, if some executions change nothing; updates of the assignments
    /// are named by execution. Slots of all reductions that `reassociates` accepts may be empty.
    pub(super) fn of(
        program: &Program,
        definition: &Definition,
        (assignments, reassociates): (&[usize], &dyn Fn(usize) -> bool),
        values: &Without<'_>,
        meant: &UnionMap,
    ) -> Result<Trees, Error> {
        let all = program.originals.iter().enumerate();
        let updates =
            all.filter(|(a, original)| original.stmt.update.is_some() && reassociates(*a));
        let updates: Vec<&Stmt> = updates.map(|(_, original)| original.stmt).collect();
        let (values, empty) = without_empty(program, &updates, values)?;
        let mut trees = Trees {
            assignments: Vec::new(),
            empty,
            roots: UnionMap::new(&[])?,
            values,
        };
        // A reduction may start from the result of an earlier one.
        for a in assignments {
            let (found, meant) = trees.rooted(meant)?;
            let reduction = Reduced {
                a: *a,
                program,
                definition,
                empty: &trees.empty,
                found: &found,
                meant: &meant,
            };
            if let Some(roots) = reduction.roots()? {
                trees.assignments.push(*a);
                trees.roots = trees.roots.union(&roots)?;
            }
        }
        Ok(trees)
    }

    /// Whether nests execute nothing in another way than the definition.
    pub(super) fn is_empty(&self) -> Result<bool, Error> {
        Ok(self.assignments.is_empty() && self.empty.is_empty()?)
    }

    /// Whether a leaf updates the result of one of the trees.
    pub(super) fn covers(&self, leaf: &Leaf) -> bool {
        leaf.assignment
            .is_some_and(|a| self.assignments.contains(&a))
    }

    /// The values of reads in the nests, and in the definition (`meant`), with elements in place of
    /// the roots.
    pub(super) fn rooted(&self, meant: &UnionMap) -> Result<(UnionMap, UnionMap), Error> {
        let roots = self.roots.domain()?;
        let rooted = |values: &UnionMap| {
            let others = values.range()?.subtract(&roots)?;
            let elements = values.apply_range(&self.roots)?;
            elements.union(&values.intersect_range(&others)?)
        };
        Ok((rooted(&self.values)?, rooted(meant)?))
    }
}

/// Gives the values of reads, if some executions change nothing.
pub(super) type Without<'f> = dyn Fn(&UnionSet) -> Result<UnionMap, Error> + 'f;

/// The values of reads where executions that add empty slots change nothing; and these executions.
pub(super) fn without_empty(
    program: &Program,
    reductions: &[&Stmt],
    values_without: &Without<'_>,
) -> Result<(UnionMap, UnionSet), Error> {
    let mut all = UnionSet::new(&[])?;
    let mut values = values_without(&all)?;
    for _ in 0..MAX_LEVELS {
        let mut found = UnionSet::new(&[])?;
        for (k, leaf) in program.leaves.iter().enumerate() {
            let What::Stmt(s) = leaf.what else { continue };
            let own = reductions.iter().find(|of| accumulates(s, of));
            let Some(own) = own.filter(|_| leaf.combines()) else {
                continue;
            };
            let slots = leaf.domain(&Space::Read { leaf: k, access: 1 }.name());
            let slots = slots.to(&Space::Write(k).name(), leaf.iterators());
            let slots = values_of(slots, &values)?;
            found = found.union(&slots.intersect_range(&identity(own)?)?.domain()?)?;
        }
        if found.is_subset(&all)? {
            break;
        }
        all = all.union(&found)?;
        values = values_without(&all)?;
    }
    Ok((values, all))
}

/// The values, each replaced by what `replaced` maps it to, if it does.
pub(super) fn through(values: &UnionMap, replaced: &UnionMap) -> Result<UnionMap, Error> {
    let changed = values.intersect_range(&replaced.domain()?)?;
    let others = values.subtract(&changed)?;
    others.union(&changed.apply_range(replaced)?)
}

/// A reduction as nests execute it.
struct Reduced<'r, 'p, 'a> {
    a: usize,
    program: &'p Program<'a>,
    definition: &'r Definition<'p, 'a>,
    /// The executions that add empty slots.
    empty: &'r UnionSet,
    /// The values of reads in the nests. Updates of the reduction are named by execution.
    found: &'r UnionMap,
    /// The values of reads in the definition.
    meant: &'r UnionMap,
}

impl<'p, 'a> Reduced<'_, 'p, 'a> {
    /// The roots of the trees in nests and definition, with their elements. `None` if the nests do
    /// not execute the reduction as such trees.
    fn roots(&self) -> Result<Option<UnionMap>, Error> {
        let Some(nodes) = self.nodes()? else {
            return Ok(None);
        };
        let is_once = self.executed(&nodes, |_| Some((0, 0)))?.is_injective()?;
        let families = if is_once {
            vec![Family::of_all(&nodes)]
        } else {
            Family::all(self.program, &nodes)?
        };
        let family = |k: usize| {
            let f = families.iter().position(|f| f.leaves.contains(&k))?;
            Some((f, families[f].loops))
        };
        let elements = self.elements(&nodes, &family)?;
        let stay = nodes.links.apply_range(&elements)?.is_subset(&elements)?;
        if !stay || !nodes.links.is_injective()? || !elements.is_single_valued()? {
            return Ok(None);
        }
        // Each element has all instances, each once.
        let executed = self.executed(&nodes, family)?;
        let numbered = families.iter().enumerate();
        let all = numbered.clone().map(|(f, family)| {
            let piece = self.instances(&Space::Executed { family: f }, family.loops);
            self.to_element(piece, f, family.loops)
        });
        let all = UnionMap::new(&all.collect::<Vec<_>>())?;
        let needed = all.intersect_range(&elements.range()?)?.domain()?;
        if !executed.is_injective()? || !needed.is_subset(&executed.range()?)? {
            return Ok(None);
        }
        let left = nodes.all.subtract(&nodes.links.range()?)?;
        let roots = elements.intersect_domain(&left)?;
        let own = numbered.map(|(f, family)| self.without_loops(f, family.loops));
        let own = UnionMap::new(&own.collect::<Vec<_>>())?;
        let of_own = elements.apply_range(&own)?;
        if !roots.is_injective()? || !self.begin(&nodes, is_once, &of_own)? {
            return Ok(None);
        }
        let roots = of_own.intersect_domain(&left)?;
        let meant = self.meant()?;
        Ok(match meant {
            Some((links, _, elements)) => {
                let left = elements.domain()?.subtract(&links.range()?)?;
                Some(roots.union(&elements.intersect_domain(&left)?)?)
            }
            None => None,
        })
    }

    /// The nodes, level by level: a leaf that combines nodes is a node.
    fn nodes(&self) -> Result<Option<Nodes<'p, 'a>>, Error> {
        let numbered = || self.program.leaves.iter().enumerate();
        let is_update = |l: &Leaf| l.assignment == Some(self.a) && matches!(l.what, What::Stmt(_));
        let updates: Vec<Numbered> = numbered().filter(|(_, l)| is_update(l)).collect();
        let domains: Vec<Piece> = updates
            .iter()
            .map(|(k, l)| l.domain(&Space::Write(*k).name()))
            .collect();
        let mut nodes = Nodes {
            all: UnionSet::new(&domains)?,
            updates,
            combining: Vec::new(),
            operands: Vec::new(),
            links: UnionMap::new(&[])?,
            starts: UnionMap::new(&[])?,
        };
        let statement = self.program.originals[self.a].stmt;
        let mut open = Vec::new();
        for (k, leaf) in numbered().filter(|(_, l)| l.combines()) {
            open.push((k, leaf, self.read(k, leaf, 1)?));
        }
        for _ in 0..MAX_LEVELS {
            let mut waiting = Vec::new();
            for (k, leaf, read) in open {
                let (operands, others) = parted(&read, &nodes.all)?;
                if operands.is_empty()? || !others.is_empty()? {
                    waiting.push((k, leaf, read));
                    continue;
                }
                if !matches!(leaf.what, What::Stmt(s) if accumulates(s, statement)) {
                    return Ok(None);
                }
                let own = UnionSet::new(&[leaf.domain(&Space::Write(k).name())])?;
                nodes.all = nodes.all.union(&own.subtract(self.empty)?)?;
                nodes.combining.push((k, leaf));
                nodes.operands.push(operands);
            }
            open = waiting;
        }
        for (k, leaf) in nodes.updates.iter().chain(&nodes.combining) {
            let (before, others) = parted(&self.read(*k, leaf, 0)?, &nodes.all)?;
            nodes.links = nodes.links.union(&before)?;
            nodes.starts = nodes.starts.union(&others)?;
        }
        for operands in &nodes.operands {
            nodes.links = nodes.links.union(operands)?;
        }
        Ok(self.has_right_signs(&nodes)?.then_some(nodes))
    }

    /// Whether subtrahends are added up before they are subtracted.
    fn has_right_signs(&self, nodes: &Nodes<'p, 'a>) -> Result<bool, Error> {
        let statement = self.program.originals[self.a].stmt;
        if statement.update != Some(BinaryOp::Sub) {
            return Ok(true);
        }
        let all = || nodes.updates.iter().chain(&nodes.combining);
        let adds = |leaf: &Leaf| matches!(leaf.what, What::Stmt(s) if s.update != statement.update);
        let adding = all().filter(|(_, leaf)| adds(leaf));
        let adding: Vec<Piece> = adding
            .map(|(k, leaf)| leaf.domain(&Space::Write(*k).name()))
            .collect();
        let adding = UnionSet::new(&adding)?;
        let subtracting = nodes.all.subtract(&adding)?;
        let left = nodes.all.subtract(&nodes.links.range()?)?;
        let starts = nodes.starts.intersect_domain(&adding)?;
        let old = parted(&starts, &identity(statement)?)?.1;
        if !left.is_subset(&subtracting)? || !old.is_empty()? {
            return Ok(false);
        }
        for (k, leaf) in all() {
            let own = if adds(leaf) { &adding } else { &subtracting };
            let before = parted(&self.read(*k, leaf, 0)?, &nodes.all)?.0;
            if !before.range()?.is_subset(own)? {
                return Ok(false);
            }
        }
        for operands in &nodes.operands {
            if !operands.range()?.is_subset(&adding)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The values that the executions of a leaf read with an access. Skips executions that add empty
    /// slots.
    fn read(&self, k: usize, leaf: &Leaf, access: usize) -> Result<UnionMap, Error> {
        let reads = leaf.domain(&Space::Read { leaf: k, access }.name());
        let reads = reads.to(&Space::Write(k).name(), leaf.iterators());
        let all = values_of(reads, self.found)?;
        all.subtract(&all.intersect_domain(self.empty)?)
    }

    /// From updates to the instances that they execute, the points `I⟨f⟩[…]`. Their coordinates are
    /// the iterators that separate the trees of the family, then those of the definition.
    fn executed(
        &self,
        nodes: &Nodes,
        family: impl Fn(usize) -> Option<(usize, usize)>,
    ) -> Result<UnionMap, Error> {
        let updates = nodes.updates.iter();
        let pieces = updates.filter_map(|(k, leaf)| {
            let ((f, loops), (_, point)) = (family(*k)?, leaf.instance()?);
            let around = leaf.iterators().into_iter().take(loops);
            let domain = leaf.domain(&Space::Write(*k).name());
            Some(domain.to(&Space::Executed { family: f }.name(), around.chain(point)))
        });
        UnionMap::new(&pieces.collect::<Vec<_>>())
    }

    /// From nodes to their elements, the points `E⟨a⟩ ⟨f⟩[…]`. Their coordinates are the iterators
    /// that separate the trees of the family, then the element.
    fn elements(
        &self,
        nodes: &Nodes,
        family: &dyn Fn(usize) -> Option<(usize, usize)>,
    ) -> Result<UnionMap, Error> {
        let original = &self.program.originals[self.a];
        let mut pieces = Vec::new();
        for (k, leaf) in &nodes.updates {
            let (Some((f, loops)), What::Stmt(s)) = (family(*k), leaf.what) else {
                continue;
            };
            let point = s.origin.iter().flat_map(|origin| &origin.point);
            let point: Vec<Affine> = point.cloned().collect();
            let around = leaf.iterators().into_iter().take(loops);
            let variable = |name: &Name| leaf.variable(name);
            let element = point.iter().take(self.loops_of_target());
            let index = original.at(&point).index;
            let element = element.chain(&index).map(|a| linear(a, &variable));
            let domain = leaf.domain(&Space::Write(*k).name());
            pieces.push(domain.to(&self.tuple(f), around.chain(element)));
        }
        let mut elements = UnionMap::new(&pieces)?;
        for ((k, leaf), operands) in nodes.combining.iter().zip(&nodes.operands) {
            let Some((f, loops)) = family(*k) else {
                continue;
            };
            let any = (0..self.coordinates()).map(|d| Linear::from(coordinate(d).as_str()));
            let around = leaf.iterators().into_iter().take(loops);
            let domain = leaf.domain(&Space::Write(*k).name());
            let own = UnionMap::new(&[domain.to(&self.tuple(f), around.chain(any))])?;
            let of_leaf = operands.apply_range(&elements)?.intersect(&own)?;
            elements = elements.union(&of_leaf)?;
        }
        Ok(elements)
    }

    /// Whether trees start as in the definition, and partial results from the identity.
    fn begin(&self, nodes: &Nodes, is_once: bool, elements: &UnionMap) -> Result<bool, Error> {
        let identity = identity(self.program.originals[self.a].stmt)?;
        let Some((_, meant_starts, meant_elements)) = self.meant()? else {
            return Ok(false);
        };
        let old = parted(&nodes.starts, &identity)?.1;
        if parted(&meant_starts, &identity)?.1.is_empty()? {
            return old.is_empty();
        }
        // One tree of each element starts from the old value, once; the others start from the
        // identity.
        let of_old = old.reverse()?.apply_range(elements)?;
        let of_meant = meant_starts.reverse()?.apply_range(&meant_elements)?;
        let of_meant = of_meant.intersect_range(&elements.range()?)?;
        Ok(is_once && old.is_injective()? && of_old.is_equal(&of_meant)?)
    }

    /// The nodes of the definition: the links between them, their initial values, and their
    /// elements.
    fn meant(&self) -> Result<Option<(UnionMap, UnionMap, UnionMap)>, Error> {
        let Some(of) = self.definition.statement(self.a) else {
            return Ok(None);
        };
        let leaf = &self.definition.leaves[of - self.definition.first];
        let Some((space, point)) = leaf.instance() else {
            return Ok(None);
        };
        let reads = Space::Read {
            leaf: of,
            access: 0,
        };
        let reads = leaf.domain(&reads.name()).to(&space.name(), point);
        let instances = self.instances(&space, 0);
        let all = UnionSet::new(std::slice::from_ref(&instances))?;
        let (links, starts) = parted(&values_of(reads, self.meant)?, &all)?;
        let elements = self.to_element(instances, 0, 0);
        let elements = UnionMap::new(&[elements])?;
        let own = UnionMap::new(&[self.without_loops(0, 0)])?;
        Ok(Some((links, starts, elements.apply_range(&own)?)))
    }

    /// The instances of the assignment, as points of a space. `others` more coordinates come first.
    fn instances(&self, space: &Space, others: usize) -> Piece {
        let original = &self.program.originals[self.a];
        let own = (0..original.loops.len()).map(coordinate);
        let variables: Vec<String> = (0..others).map(iterator).chain(own).collect();
        let piece = Piece::set(&space.name(), variables.iter().map(String::as_str));
        let variable = |name: &Name| self.coordinate_of(name);
        let loops = original.loops.iter().zip(0..);
        loops.fold(piece, |piece, (l, d)| {
            bounded(piece, &l.range, &coordinate(d), &variable)
        })
    }

    /// The map from [`Reduced::instances`] to the elements that they update. Those of a local
    /// tensor are distinct in each iteration of the loops around its declaration.
    fn to_element(&self, instances: Piece, f: usize, others: usize) -> Piece {
        let stmt = self.program.originals[self.a].stmt;
        let others = (0..others).map(|d| Linear::from(iterator(d).as_str()));
        let around = 0..self.loops_of_target();
        let around = around.map(|d| Linear::from(coordinate(d).as_str()));
        let variable = |name: &Name| self.coordinate_of(name);
        let index = stmt.index.iter().map(|i| linear(i, &variable));
        instances.to(&self.tuple(f), others.chain(around).chain(index))
    }

    /// From the elements of a family to the elements `E⟨a⟩[…]`.
    fn without_loops(&self, f: usize, loops: usize) -> Piece {
        let own: Vec<String> = (0..self.coordinates()).map(coordinate).collect();
        let all: Vec<String> = (0..loops).map(iterator).chain(own.clone()).collect();
        let piece = Piece::set(&self.tuple(f), all.iter().map(String::as_str));
        let own = own.iter().map(|x| Linear::from(x.as_str()));
        piece.to(&self.element(None).name(), own)
    }

    fn tuple(&self, f: usize) -> String {
        self.element(Some(f)).name()
    }

    /// The elements, of a family or of all.
    fn element(&self, family: Option<usize>) -> Space {
        Space::Element {
            assignment: self.a,
            family,
        }
    }

    fn coordinate_of(&self, name: &Name) -> Option<String> {
        let loops = &self.program.originals[self.a].loops;
        Some(coordinate(loops.iter().position(|l| l.name == *name)?))
    }

    /// The number of loops of the definition around the declaration of a local target; 0 if it is
    /// not local.
    fn loops_of_target(&self) -> usize {
        let target = self.program.originals[self.a].stmt.target.label();
        let leaf = self.program.original_leaf(self.a, false);
        let mut locals = leaf.iter().flat_map(|leaf| &leaf.locals);
        let scope = locals.find(|(name, _)| *name == target);
        scope.map_or(0, |(_, scope)| scope.len() - 1)
    }

    /// The number of coordinates of an element.
    fn coordinates(&self) -> usize {
        self.loops_of_target() + self.program.originals[self.a].stmt.index.len()
    }
}

fn coordinate(k: usize) -> String {
    format!("x{k}")
}

/// The values behind the reads of nodes. `reads` maps reads to the nodes.
pub(super) fn values_of(reads: Piece, values: &UnionMap) -> Result<UnionMap, Error> {
    UnionMap::new(&[reads])?.reverse()?.apply_range(values)
}

/// The links to nodes, and to others.
pub(super) fn parted(links: &UnionMap, nodes: &UnionSet) -> Result<(UnionMap, UnionMap), Error> {
    let own = links.intersect_range(nodes)?;
    let others = links.subtract(&own)?;
    Ok((own, others))
}

/// Whether a statement may combine partial results of a reduction, or add up its subtrahends.
pub(super) fn accumulates(s: &Stmt, reduction: &Stmt) -> bool {
    let reduction = operation(reduction);
    let adds = (s.update, reduction) == (Some(BinaryOp::Add), Some(BinaryOp::Sub));
    s.update == reduction || adds
}

/// The identity of a statement's update or recurrence.
pub(super) fn identity(s: &Stmt) -> Result<UnionSet, Error> {
    let reduction = |r: &Reduction| Some(r.op()) == operation(s);
    let reduction = Reduction::ALL.into_iter().find(reduction);
    let identity = reduction.unwrap_or(Reduction::Sum);
    let identity = Space::constant(identity.identity(s.target.elem()));
    UnionSet::new(&[Piece::set(&identity.name(), [])])
}
