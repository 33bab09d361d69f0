//! What a definition asks of every order of its instances, for whoever looks for one.

use super::program::{Original, Program, accesses, originals};
use super::relations::{Meaning, assignment_of};
use crate::ir::{Affine, Loop, Name, Nest, Range};
use crate::poly::{Error, Map};
use std::collections::BTreeSet;

/// Instances of one assignment that have to come before instances of another one, or of the same.
pub struct Asked {
    /// The assignment of those that come first, counted from 0 through all nests.
    pub first: usize,
    /// The assignment of those that come later.
    pub later: usize,
    /// The pairs. The coordinates of an instance are the iterators of the loops that `build` made
    /// for the assignment, outermost first.
    pub pairs: Map,
}

/// What `nests`, in order, ask of every order of the statements of their definition, whatever the
/// extents of loops are: equal ends of ranges are one parameter. Where iterators count like digits
/// in an index, whose meaning depends on their extents, they keep these.
///
/// Initializations are not among the instances, and the updates of a reduction keep their order.
///
/// # Errors
/// The polyhedral library has no answer.
pub fn asked(nests: &[Nest]) -> Result<Vec<Asked>, Error> {
    let exact = originals(nests);
    let digits = digits(&exact);
    let mut ends: Vec<i64> = Vec::new();
    let mut ranges: Vec<Vec<Loop>> = Vec::new();
    for original in &exact {
        let mut of_one = Vec::new();
        for l in &original.loops {
            let bare = Loop {
                body: Vec::new(),
                ..(*l).clone()
            };
            of_one.push(match l.range.as_constant() {
                Some((_, end)) if !digits.contains(&l.name) => Loop {
                    range: Range {
                        upper: vec![Affine::iterator(parameter(end, &mut ends))],
                        ..l.range.clone()
                    },
                    ..bare
                },
                _ => bare,
            });
        }
        ranges.push(of_one);
    }
    let parameters: Vec<Name> = (1..=ends.len()).map(Name::generated).collect();
    let symbolic = exact.iter().zip(&ranges).map(|(original, loops)| Original {
        fill: None,
        loops: loops.iter().collect(),
        stmt: original.stmt,
        parameters: &parameters,
    });
    let program = Program {
        originals: symbolic.collect(),
        leaves: Vec::new(),
    };
    let mut asked = Vec::new();
    for pairs in Meaning::of(&program)?.dependences()?.maps()? {
        let (from, to) = pairs.tuples();
        let [from, to] = [from, to].map(|t| assignment_of(t.as_deref()));
        if let (Some((first, _)), Some((later, _))) = (from, to) {
            asked.push(Asked {
                first,
                later,
                pairs,
            });
        }
    }
    asked.sort_by_key(|a| (a.first, a.later));
    Ok(asked)
}

/// The parameter that stands for the end of a range.
fn parameter(end: i64, ends: &mut Vec<i64>) -> Name {
    let known = ends.iter().position(|e| *e == end);
    let k = known.unwrap_or_else(|| {
        ends.push(end);
        ends.len() - 1
    });
    Name::generated(k + 1)
}

/// The iterators that count like digits where something is written that is used.
fn digits(originals: &[Original]) -> BTreeSet<Name> {
    let written: Vec<&str> = originals.iter().map(|o| o.stmt.target.label()).collect();
    let mut digits = BTreeSet::new();
    for access in originals.iter().flat_map(|o| accesses(o.stmt)) {
        if !written.contains(&access.tensor.label()) {
            continue;
        }
        for index in &access.index {
            let terms = index.terms();
            let counts = access.write || terms.iter().any(|(_, c)| c.abs() != 1);
            if terms.len() > 1 && counts {
                digits.extend(terms.iter().map(|(name, _)| name.clone()));
            }
        }
    }
    digits
}
