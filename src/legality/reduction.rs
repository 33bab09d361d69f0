//! Reductions whose operands are combined in another order.
//!
//! The updates of one element are the nodes of a tree: each reads what one node left behind, or
//! begins anew with the identity; where partial results are combined, it reads two nodes. All
//! operands are in the result, each once, if every instance of the definition is one node, no
//! node is read twice, all nodes of a tree belong to one element, and each element has one node
//! that no other one reads: the root, which holds the result.

use super::dataflow;
use super::equal::{Definition, node};
use super::memory::{read, written};
use super::program::{Leaf, Program, What};
use super::relations::{instances, linear};
use crate::ir::{Name, Reduction, Stmt};
use crate::poly::{Error, Linear, Piece, UnionMap, UnionSet};

/// The reductions that nests execute as such trees.
pub(super) struct Trees {
    assignments: Vec<usize>,
    /// From the roots of nests and definition to the elements `E⟨a⟩[…]`.
    roots: UnionMap,
}

/// How often partial results are combined of partial results.
const MAX_LEVELS: usize = 4;

impl Trees {
    /// The trees of all assignments that may be reassociated and that are such trees.
    pub(super) fn of(
        program: &Program,
        definition: &Definition,
        found: &UnionMap,
        meant: &UnionMap,
        reassociates: &dyn Fn(usize) -> bool,
    ) -> Result<Trees, Error> {
        let mut trees = Trees {
            assignments: Vec::new(),
            roots: UnionMap::new(&[])?,
        };
        for a in 0..program.originals.len() {
            if program.originals[a].stmt.update.is_none() || !reassociates(a) {
                continue;
            }
            if let Some(roots) = roots(a, program, definition, found, meant)? {
                trees.assignments.push(a);
                trees.roots = trees.roots.union(&roots)?;
            }
        }
        Ok(trees)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.assignments.is_empty()
    }

    /// Whether a leaf updates the result of one of the trees.
    pub(super) fn covers(&self, leaf: &Leaf) -> bool {
        leaf.assignment
            .is_some_and(|a| self.assignments.contains(&a))
    }

    /// Values with the elements in place of the roots.
    pub(super) fn rooted(&self, values: &UnionMap) -> Result<UnionMap, Error> {
        let elements = values.apply_range(&self.roots)?;
        let roots = self.roots.domain()?;
        let others = values.range()?.subtract(&roots)?.identity()?;
        elements.union(&values.apply_range(&others)?)
    }
}

/// The roots of an assignment's trees in nests and definition, with their elements, if the nests
/// execute it as such trees.
fn roots(
    a: usize,
    program: &Program,
    definition: &Definition,
    found: &UnionMap,
    meant: &UnionMap,
) -> Result<Option<UnionMap>, Error> {
    let original = &program.originals[a];
    let all = UnionSet::new(&[instances(a, original)])?;
    let own: Vec<(usize, &Leaf)> = numbered(program)
        .filter(|(_, l)| l.assignment == Some(a) && matches!(l.what, What::Stmt(_)))
        .collect();
    // Every instance is executed once.
    let executed: Vec<Piece> = own
        .iter()
        .filter_map(|(k, l)| {
            let (tuple, point) = l.instance()?;
            Some(l.domain(&written(*k)).to(&tuple, point))
        })
        .collect();
    let executed = UnionMap::new(&executed)?;
    if !executed.is_injective()? || !executed.range()?.is_equal(&all)? {
        return Ok(None);
    }

    // The nodes and their elements, level by level: what combines nodes is a node.
    let mut nodes = all.clone();
    let mut elements = UnionMap::new(&[element(a, program)])?;
    let mut combining = Vec::new();
    let mut open: Vec<(usize, &Leaf)> = numbered(program).filter(|(_, l)| l.combines()).collect();
    let identity = identity(original.stmt)?;
    for _ in 0..MAX_LEVELS {
        let mut waiting = Vec::new();
        for (k, leaf) in open {
            let (operands, others) = linked(k, leaf, 1, found, &nodes)?;
            if operands.is_empty()? || !others.range()?.is_subset(&identity)? {
                waiting.push((k, leaf));
                continue;
            }
            if !matches!(leaf.what, What::Stmt(s) if s.update == original.stmt.update) {
                return Ok(None);
            }
            // Slots that hold nothing belong to the element that the others are combined for.
            let places = UnionMap::new(&[leaf.write(k)])?;
            let of_places = places
                .reverse()?
                .apply_range(&operands.apply_range(&elements)?)?;
            elements = elements.union(&places.apply_range(&of_places)?)?;
            nodes = nodes.union(&UnionSet::new(&[leaf.domain(&written(k))])?)?;
            combining.push((k, leaf));
        }
        open = waiting;
    }
    let mut links = UnionMap::new(&[])?;
    let mut starts = UnionMap::new(&[])?;
    for (k, leaf) in own.iter().chain(&combining) {
        let (before, others) = linked(*k, leaf, 0, found, &nodes)?;
        links = links.union(&before)?;
        starts = starts.union(&others)?;
    }
    for (k, leaf) in &combining {
        links = links.union(&linked(*k, leaf, 1, found, &nodes)?.0)?;
    }

    let same_element = links.apply_range(&elements)?.is_subset(&elements)?;
    if !links.is_injective()? || !same_element || !elements.is_single_valued()? {
        return Ok(None);
    }
    if !begins(a, program, definition, (&starts, &elements), meant)? {
        return Ok(None);
    }
    let left = nodes.subtract(&links.range()?)?;
    let roots = elements.intersect_domain(&left)?;
    if !roots.is_injective()? {
        return Ok(None);
    }
    let Some(of) = definition.statement(a) else {
        return Ok(None);
    };
    let (meant_links, _) = linked(
        of,
        &definition.leaves[of - definition.first],
        0,
        meant,
        &all,
    )?;
    let meant_left = all.subtract(&meant_links.range()?)?;
    let meant_roots = UnionMap::new(&[element(a, program)])?.intersect_domain(&meant_left)?;
    Ok(Some(roots.union(&meant_roots)?))
}

fn numbered<'p, 'a>(program: &'p Program<'a>) -> impl Iterator<Item = (usize, &'p Leaf<'a>)> {
    program.leaves.iter().enumerate()
}

/// What the nodes of a leaf read with an access: nodes, and other values.
fn linked(
    k: usize,
    leaf: &Leaf,
    access: usize,
    values: &UnionMap,
    nodes: &UnionSet,
) -> Result<(UnionMap, UnionMap), Error> {
    let reads = leaf.domain(&read(k, access));
    let (tuple, point) = match leaf.instance() {
        Some(instance) => instance,
        None => (node(leaf, k), leaf.iterators()),
    };
    let reader = UnionMap::new(&[reads.to(&tuple, point)])?;
    let links = reader.reverse()?.apply_range(values)?;
    let others = links.range()?.subtract(nodes)?;
    let to = |set: &UnionSet| links.apply_range(&set.identity()?);
    Ok((to(&links.range()?.subtract(&others)?)?, to(&others)?))
}

/// The map from the instances of an assignment to the elements that they update; those of a local
/// tensor are others in each iteration of the loops around it.
fn element(a: usize, program: &Program) -> Piece {
    let original = &program.originals[a];
    let target = original.stmt.target.label();
    let leaf = program.original_leaf(a, false);
    let mut locals = leaf.iter().flat_map(|leaf| &leaf.locals);
    let scope = locals.find(|(name, _)| *name == target);
    let loops = scope.map_or(0, |(_, scope)| scope.len() - 1);
    let around = (0..loops).map(|d| Linear::from(format!("x{d}").as_str()));
    let variable = |name: &Name| {
        let d = original.loops.iter().position(|l| l.name == *name)?;
        Some(format!("x{d}"))
    };
    let index = original.stmt.index.iter().map(|i| linear(i, &variable));
    instances(a, original).to(&format!("E{a}"), around.chain(index))
}

/// What changes nothing when a statement updates its target by it.
fn identity(s: &Stmt) -> Result<UnionSet, Error> {
    let reduction = |r: &Reduction| Some(r.op()) == s.update;
    let reduction = Reduction::ALL.into_iter().find(reduction);
    let identity = reduction.unwrap_or(Reduction::Sum);
    let identity = dataflow::constant(identity.identity(s.target.elem()));
    UnionSet::new(&[Piece::set(&identity, [])])
}

/// Whether trees begin as the definition does, and partial results with the identity.
fn begins(
    a: usize,
    program: &Program,
    definition: &Definition,
    (starts, elements): (&UnionMap, &UnionMap),
    meant: &UnionMap,
) -> Result<bool, Error> {
    let original = &program.originals[a];
    let identity = identity(original.stmt)?;
    let Some(of) = definition.statement(a) else {
        return Ok(false);
    };
    let all = UnionSet::new(&[instances(a, original)])?;
    let leaf = &definition.leaves[of - definition.first];
    let (_, meant_starts) = linked(of, leaf, 0, meant, &all)?;
    if meant_starts.range()?.is_subset(&identity)? {
        return starts.range()?.is_subset(&identity);
    }
    // Each element's tree begins once with what the element held, the others with the identity.
    let old = starts.apply_range(&starts.range()?.subtract(&identity)?.identity()?)?;
    let meant_elements = UnionMap::new(&[element(a, program)])?;
    let of_old = old.reverse()?.apply_range(elements)?;
    let of_meant = meant_starts.reverse()?.apply_range(&meant_elements)?;
    Ok(old.is_injective()? && of_old.is_equal(&of_meant)?)
}
