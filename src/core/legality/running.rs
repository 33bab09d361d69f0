//! Running reductions, whose intermediate results are read, in blocks.
//!
//! ```text
//! the definition               a program
//! for i in 1..n                for b
//!   R[i] = R[i - 1] + X[i]       for i in block b
//!                                  P[b] += X[i]
//!                              c = R[0]
//!                              for b
//!                                C[b] = c
//!                                c += P[b]
//!                              for b
//!                                r = C[b]
//!                                for i in block b
//!                                  r += X[i]
//!                                  R[i] = r
//! ```
//!
//! The operation is associative and commutative. Then each update of `c` has the value of the
//! instance `R[i]` with the last operand of the block, under these conditions:
//! - partial results begin with the identity, and contain no operand twice;
//! - the operands of a block are those of consecutive instances: all but one are the predecessor of
//!   another one;
//! - the update finds the value that the first of these instances finds.
//!
//! By induction over time, the second condition may use the values of earlier updates. All other
//! operands are compared as in every program ([`super::values`]).
//!
//! The operands in partial results are the only solution of an equation. An update adds its own
//! operand to what it reads, and a combination adds another partial result. So any way to find a
//! solution will do: isl approximates chains of updates, and the equation is tested.
//!
//! Source: Blelloch, Prefix Sums and Their Applications, 1990.

use super::program::{Definition, Leaf, Program, What};
use super::reassociation::operation;
use super::reduction::{accumulates, identity, parted, through, values_of, without_empty};
use super::space::Space;
use crate::analysis::recurrence::recurrence;
use crate::ir::{BinaryOp, Stmt};
use crate::poly::{Error, Piece, UnionMap, UnionSet};

/// A running reduction that nests compute in blocks.
pub(super) struct Running {
    /// The leaves that update partial results.
    pub(super) partial: Vec<usize>,
    /// The values of reads, where updates of what is carried from block to block are instances of
    /// the definition.
    pub(super) values: UnionMap,
}

/// Gives the values of reads, with each execution of some leaves named apart, if some executions
/// change nothing.
type Named<'f> = dyn Fn(&dyn Fn(&Leaf) -> bool, &UnionSet) -> Result<UnionMap, Error> + 'f;

/// A leaf and its number.
type Numbered<'p, 'a> = (usize, &'p Leaf<'a>);

impl Running {
    /// Assignment `a` in blocks, if that is how the nests compute it. `meant` are the
    /// values of reads in the definition.
    pub(super) fn of<'a>(
        program: &Program<'a>,
        definition: &Definition<'_, 'a>,
        a: usize,
        named: &Named<'_>,
        meant: &UnionMap,
    ) -> Result<Option<Running>, Error> {
        let statement = program.originals[a].stmt;
        let numbered = || program.leaves.iter().enumerate();
        let combines =
            |l: &Leaf| l.combines() && matches!(l.what, What::Stmt(s) if accumulates(s, statement));
        let partial = partial(program, a, &combines);
        let carries: Vec<Numbered> = numbered()
            .filter(|(k, l)| combines(l) && !partial.contains(k) && is_kept(program, l))
            .collect();
        // The partial results of a difference are added up, and their sum is subtracted.
        let subtracts = operation(statement) == Some(BinaryOp::Sub);
        if subtracts || partial.is_empty() || carries.is_empty() {
            return Ok(None);
        }
        let is_partial = |leaf: &Leaf| {
            let mut all = partial.iter();
            all.any(|k| program.leaves[*k].place == leaf.place)
        };
        let without = |skipped: &UnionSet| named(&is_partial, skipped);
        let (values, empty) = without_empty(program, &[statement], &without)?;
        let parts: Vec<Numbered> = numbered().filter(|(k, _)| partial.contains(k)).collect();
        let found = Found {
            values: &values,
            empty: &empty,
        };
        let Some((nodes, contained)) = found.contained(&parts, statement)? else {
            return Ok(None);
        };
        let (carried, before) = (executions(&carries)?, found.reads(&carries, 0)?);
        let carried = carried.subtract(&empty)?;
        let added = found.reads(&carries, 1)?;
        let Some(earlier) = earlier(definition, a, statement, meant)? else {
            return Ok(None);
        };
        // The operands of each block, the values that they are added to, and the last operand.
        let block = added.apply_range(&contained)?;
        let found_by_block = block.apply_range(&earlier)?;
        let last = block.subtract(&found_by_block)?;
        let first = found_by_block.subtract(&block)?;
        let is_function = |map: &UnionMap| -> Result<bool, Error> {
            Ok(map.is_single_valued()? && carried.is_subset(&map.domain()?)?)
        };
        let is_running = added.range()?.is_subset(&nodes)?
            && is_function(&added)?
            && is_function(&before)?
            && is_function(&last)?
            && is_function(&first)?
            && through(&before, &last)?.is_equal(&first)?;
        let values = through(&values, &last)?;
        let partial = parts.iter().filter(|(_, l)| l.assignment == Some(a));
        Ok(is_running.then(|| Running {
            partial: partial.map(|(k, _)| *k).collect(),
            values,
        }))
    }
}

/// The leaves whose results others combine: updates that execute assignment `a`, and combinations.
/// Other readers of the results have wrong values, and are found as such.
fn partial(program: &Program, a: usize, combines: &dyn Fn(&Leaf) -> bool) -> Vec<usize> {
    let reads = |leaf: &Leaf, other: &Leaf| match leaf.what {
        What::Stmt(s) => {
            let read = s.value.tensor();
            read.is_some_and(|t| leaf.memory(t) == other.memory(other.target()))
        }
        What::Fill(_) => false,
    };
    let adds = |leaf: &Leaf| match leaf.what {
        What::Stmt(s) => s.update.is_some() && (leaf.assignment == Some(a) || combines(leaf)),
        What::Fill(_) => false,
    };
    let combining = || program.leaves.iter().filter(|l| combines(l));
    let all = program.leaves.iter().enumerate();
    let found = all.filter(|(_, l)| adds(l) && combining().any(|c| reads(c, l)));
    found.map(|(k, _)| k).collect()
}

/// Whether a leaf copies what this one updates.
fn is_kept(program: &Program, carry: &Leaf) -> bool {
    let of = carry.memory(carry.target());
    program.leaves.iter().any(|leaf| match leaf.what {
        What::Stmt(s) if leaf.copies() => s.value.tensor().is_some_and(|t| leaf.memory(t) == of),
        _ => false,
    })
}

/// All executions of leaves.
fn executions(leaves: &[Numbered]) -> Result<UnionSet, Error> {
    let all = leaves
        .iter()
        .map(|(k, l)| l.domain(&Space::Write(*k).name()));
    UnionSet::new(&all.collect::<Vec<_>>())
}

/// From instances of the assignment to the values that they update in the definition.
fn earlier(
    definition: &Definition,
    a: usize,
    statement: &Stmt,
    meant: &UnionMap,
) -> Result<Option<UnionMap>, Error> {
    let Some(of) = definition.statement(a) else {
        return Ok(None);
    };
    let leaf = &definition.leaves[of - definition.first];
    let Some((space, point)) = leaf.instance() else {
        return Ok(None);
    };
    let access = recurrence(statement).map_or(0, |r| r.access);
    let reads = leaf.domain(&Space::Read { leaf: of, access }.name());
    Ok(Some(values_of(reads.to(&space.name(), point), meant)?))
}

/// The values of reads in the nests.
struct Found<'r> {
    values: &'r UnionMap,
    /// The executions that add empty slots.
    empty: &'r UnionSet,
}

impl Found<'_> {
    /// From executions of leaves to the values that they read with an access. Skips executions that
    /// add empty slots.
    fn reads(&self, leaves: &[Numbered], access: usize) -> Result<UnionMap, Error> {
        let mut all = UnionMap::new(&[])?;
        for (k, leaf) in leaves {
            let reads = leaf.domain(&Space::Read { leaf: *k, access }.name());
            let reads = reads.to(&Space::Write(*k).name(), leaf.iterators());
            all = all.union(&values_of(reads, self.values)?)?;
        }
        all.subtract(&all.intersect_domain(self.empty)?)
    }

    /// The executions that update partial results, and the instances that each result contains.
    /// `None` if a result does not begin with the identity, or contains an instance twice.
    fn contained(
        &self,
        leaves: &[Numbered],
        statement: &Stmt,
    ) -> Result<Option<(UnionSet, UnionMap)>, Error> {
        let combining: Vec<Numbered> = leaves
            .iter()
            .filter(|(_, l)| l.combines())
            .copied()
            .collect();
        let nodes = executions(leaves)?.subtract(self.empty)?;
        let (before, added) = (self.reads(leaves, 0)?, self.reads(&combining, 1)?);
        let combined = executions(&combining)?.subtract(self.empty)?;
        let (links, starts) = parted(&before, &nodes)?;
        let is_closed = nodes.is_subset(&before.domain()?)?
            && combined.is_subset(&added.domain()?)?
            && added.range()?.is_subset(&nodes)?
            && starts.range()?.is_subset(&identity(statement)?)?
            && before.is_single_valued()?
            && added.is_single_valued()?;
        if !is_closed {
            return Ok(None);
        }
        let own: Vec<Piece> = leaves
            .iter()
            .filter_map(|(k, leaf)| {
                let (space, point) = leaf.instance()?;
                let domain = leaf.domain(&Space::Write(*k).name());
                Some(domain.to(&space.name(), point))
            })
            .collect();
        let own = UnionMap::new(&own)?;
        let chains = links.union(&added)?.transitive_closure()?;
        let contained = own.union(&chains.apply_range(&own)?)?;
        let [found, more] = [&links, &added].map(|of| of.apply_range(&contained));
        let (found, more) = (found?, more?);
        let once = found.intersect(&own.union(&more)?)?.is_empty()?;
        let solves = contained.is_equal(&own.union(&found)?.union(&more)?)?;
        Ok((once && solves).then_some((nodes, contained)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poly::available;

    /// Chains in blocks, and across several tuples, are found exactly.
    #[test]
    fn chains_are_found() {
        if available().is_err() {
            return;
        }
        let links = "[n] -> { W0[b, i] -> W0[b, i - 1] : 8b < i < 8b + 8 and 0 <= i < n }";
        let all = "[n] -> { W0[b, i] -> W0[b, j] : 8b <= j < i < 8b + 8 and 0 <= i < n }";
        let found = UnionMap::read(links).and_then(|links| links.transitive_closure());
        assert_eq!(
            found.unwrap().is_equal(&UnionMap::read(all).unwrap()),
            Ok(true)
        );
    }
}
