//! Groups the executions of a reduction that belong together if elements are computed several
//! times.

use super::memory::iterator;
use super::program::{Leaf, Program};
use super::space::Space;
use crate::poly::{Error, Linear, Piece, UnionMap, UnionSet};

/// A leaf and its number.
pub(super) type Numbered<'p, 'a> = (usize, &'p Leaf<'a>);

/// The nodes of trees: executions of updates, and of leaves that combine partial results.
pub(super) struct Nodes<'p, 'a> {
    pub(super) all: UnionSet,
    pub(super) updates: Vec<Numbered<'p, 'a>>,
    /// In topological order: each leaf follows the leaves that it reads.
    pub(super) combining: Vec<Numbered<'p, 'a>>,
    /// For each of these, from its nodes to the partial results that they add.
    pub(super) operands: Vec<UnionMap>,
    /// From nodes to the nodes that they read.
    pub(super) links: UnionMap,
    /// From nodes to the other values that they update.
    pub(super) starts: UnionMap,
}

/// Leaves whose nodes read each other. Each tree lies within one iteration of the outermost `loops`
/// loops, which surround all of the leaves.
pub(super) struct Family {
    pub(super) leaves: Vec<usize>,
    pub(super) loops: usize,
}

impl Family {
    /// A family of all nodes, if their trees need not be told apart.
    pub(super) fn of_all(nodes: &Nodes) -> Family {
        let all = nodes.updates.iter().chain(&nodes.combining);
        Family {
            leaves: all.map(|(k, _)| *k).collect(),
            loops: 0,
        }
    }

    /// Splits the nodes into families.
    pub(super) fn all(program: &Program, nodes: &Nodes) -> Result<Vec<Family>, Error> {
        let leaf = |tuple: Option<String>| Some(Space::of(tuple.as_deref())?.leaf()?.0);
        let mut pairs = Vec::new();
        for map in nodes.links.maps()? {
            let (reader, read) = map.tuples();
            pairs.extend(leaf(reader).zip(leaf(read)));
        }
        let all = nodes.updates.iter().chain(&nodes.combining);
        let mut groups: Vec<Vec<usize>> = all.map(|(k, _)| vec![*k]).collect();
        for (reader, read) in &pairs {
            let group = |k: &usize| groups.iter().position(|g| g.contains(k));
            if let (Some(one), Some(other)) = (group(reader), group(read))
                && one != other
            {
                let moved = std::mem::take(&mut groups[other]);
                groups[one].extend(moved);
            }
        }
        groups.retain(|g| !g.is_empty());
        let mut families = Vec::new();
        for leaves in groups {
            let own = pairs.iter().filter(|(reader, _)| leaves.contains(reader));
            let own: Vec<&(usize, usize)> = own.collect();
            let mut loops = common_loops(program, &leaves);
            while loops > 0 {
                let same = own.iter().map(|(reader, read)| {
                    let [reader, read] = [reader, read].map(|k| (*k, &program.leaves[*k]));
                    in_one_iteration(reader, read, loops)
                });
                let same = UnionMap::new(&same.collect::<Vec<_>>())?;
                let domains = leaves
                    .iter()
                    .map(|k| program.leaves[*k].domain(&Space::Write(*k).name()));
                let domains = UnionSet::new(&domains.collect::<Vec<_>>())?;
                let links = nodes.links.intersect_domain(&domains)?;
                if links.is_subset(&same)? {
                    break;
                }
                loops -= 1;
            }
            families.push(Family { leaves, loops });
        }
        Ok(families)
    }
}

/// The number of loops around all of the leaves.
fn common_loops(program: &Program, leaves: &[usize]) -> usize {
    let mut leaves = leaves.iter().map(|k| &program.leaves[*k]);
    let Some(first) = leaves.next() else {
        return 0;
    };
    let shared = leaves.map(|other| first.around_both(other).0);
    shared.min().unwrap_or(first.loops.len())
}

/// From executions of one leaf to those of another in the same iteration of the outermost `loops`.
fn in_one_iteration((k, from): Numbered, (other, to): Numbered, loops: usize) -> Piece {
    let values = (0..to.loops.len()).map(|d| {
        if d < loops {
            Linear::from(iterator(d).as_str())
        } else {
            Linear::from(format!("{} other", iterator(d)).as_str())
        }
    });
    from.domain(&Space::Write(k).name())
        .to(&Space::Write(other).name(), values)
}
