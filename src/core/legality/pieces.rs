//! Splits programs into pieces that are proved one by one.
//!
//! If some of the assignments are executed before all others, a program is correct if both parts
//! are, whatever the initial contents of tensors. So each nest of a list gets its own proof, and so
//! does each loop of a nest that shares no assignment with the others. The time of a proof does not
//! grow with the number of its neighbors.
//!
//! A piece may keep values only in local tensors and never store them. If a later reader needs
//! them, the program is not split.

use super::program::results;
use super::program::{Leaf, Program, What, accesses};
use crate::ir::Nest;
use std::collections::HashSet;
use std::ops::Range;

/// The leaves of a piece, and the end of its range of assignments.
struct Cut {
    leaves: Range<usize>,
    end: usize,
}

/// The pieces of a program that runs `nests`; empty if it cannot be split.
pub(super) fn pieces<'a>(program: &Program<'a>, nests: &'a [Nest]) -> Vec<Program<'a>> {
    let cuts = cuts(program, nests);
    if cuts.len() < 2 {
        return Vec::new();
    }
    let (mut first, mut definition) = (0, program.definition.as_slice());
    let mut pieces = Vec::with_capacity(cuts.len());
    for Cut { leaves, end } in cuts {
        let leaves = program.leaves[leaves].to_vec();
        let own = definition
            .iter()
            .take_while(|leaf| leaf.assignment < Some(end));
        let (own, others) = definition.split_at(own.count());
        let nest = leaves.first().and_then(|leaf| nests.get(leaf.place[0]));
        pieces.push(Program {
            originals: program.originals.clone(),
            assignments: first..end,
            definition: own.to_vec(),
            leaves,
            donated: nest.iter().flat_map(|nest| nest.donated()).collect(),
            outputs: program.outputs.clone(),
        });
        (first, definition) = (end, others);
    }
    if fit(program, &pieces) {
        pieces
    } else {
        Vec::new()
    }
}

/// The points at which a program can be cut. They lie between nests, and between loops of a nest
/// that execute different parts of the definition.
fn cuts(program: &Program, nests: &[Nest]) -> Vec<Cut> {
    let mut ends = Vec::new();
    let mut steps = 0;
    for (k, nest) in nests.iter().enumerate() {
        for part in nest.originals() {
            steps += part.steps();
            ends.push((k, steps));
        }
    }
    let leaves = &program.leaves;
    let mut cuts = Vec::new();
    let mut first = 0;
    for own in leaves.chunk_by(|a, b| a.place[0] == b.place[0]) {
        let nest = own[0].place[0];
        let end = first + own.len();
        let mut cut = |leaves: Range<usize>, end: usize| cuts.push(Cut { leaves, end });
        let mut begin = first;
        for at in first + 1..end {
            let (before, after) = (&leaves[first..at], &leaves[at..end]);
            if leaves[at - 1].place[1] == leaves[at].place[1] {
                continue;
            }
            let Some(done) = before.iter().filter_map(|l| l.assignment).max() else {
                continue;
            };
            let next = after.iter().filter_map(|l| l.assignment).min();
            let part = ends.iter().find(|(_, end)| done < *end);
            if let Some((_, end)) = part.filter(|(_, end)| next >= Some(*end))
                && !share_locals(before, after)
            {
                cut(begin..at, *end);
                begin = at;
            }
        }
        let last = ends.iter().rfind(|(k, _)| *k <= nest);
        cut(begin..end, last.map_or(0, |(_, end)| *end));
        first = end;
    }
    // Nests that execute nothing belong to the piece before them.
    if let Some(last) = cuts.last_mut() {
        last.end = steps;
    }
    cuts
}

/// Whether leaves before and after a cut use the same local tensor of the whole nest.
fn share_locals(before: &[Leaf], after: &[Leaf]) -> bool {
    let used = |leaves: &[Leaf]| -> HashSet<String> {
        let used = leaves.iter().flat_map(|leaf| {
            let of_nest = |label: &str| {
                let mut locals = leaf.locals.iter();
                locals.any(|(name, scope)| *name == label && scope.len() == 1)
            };
            let mut found = touched(leaf);
            found.retain(|(label, _)| of_nest(label));
            found
        });
        used.map(|(label, _)| label.to_owned()).collect()
    };
    before
        .iter()
        .chain(after)
        .any(|leaf| !leaf.locals.is_empty())
        && !used(before).is_disjoint(&used(after))
}

/// The tensors that a leaf touches, and whether it reads them.
fn touched<'a>(leaf: &Leaf<'a>) -> Vec<(&'a str, bool)> {
    match leaf.what {
        What::Fill(fill) => vec![(fill.target.label(), false)],
        What::Stmt(s) => {
            let accesses = accesses(s).into_iter();
            accesses.map(|a| (a.tensor.label(), !a.write)).collect()
        }
    }
}

/// Whether no later piece, and no result, reads a tensor whose contents a piece leaves
/// undetermined.
fn fit(program: &Program, pieces: &[Program]) -> bool {
    let mut open: HashSet<&str> = HashSet::new();
    for piece in pieces {
        let left: HashSet<&str> = results(piece).iter().map(|t| t.label()).collect();
        let mut written = Vec::new();
        for leaf in piece.definition.iter().chain(&piece.leaves) {
            let is_local = |label: &str| leaf.locals.iter().any(|(name, _)| *name == label);
            for (label, is_read) in touched(leaf) {
                match is_read {
                    _ if is_local(label) => {}
                    true if open.contains(label) => return false,
                    true => {}
                    false => written.push(label),
                }
            }
        }
        open.extend(written.into_iter().filter(|label| !left.contains(label)));
    }
    results(program).iter().all(|t| !open.contains(t.label()))
}
