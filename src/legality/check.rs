//! The proof that nests execute what their definition says, in an order that keeps its meaning.
//!
//! Nests compute what their definition says if
//!
//! 1. every instance of the definition is executed exactly once, and nothing else is,
//! 2. of two instances that touch the same element, which one of them writes, the one that the
//!    definition executes first is executed first (updates of one reduction among each other
//!    only under [`Reductions::Strict`]),
//! 3. no parallel or vector loop runs two such instances at the same time.
//!
//! All three are questions about relations between integer points and are decided exactly.
//!
//! Source: Feautrier, Dataflow Analysis of Array and Scalar References, 1991; Kelly and Pugh, A
//! Unifying Framework for Iteration Reordering Transformations, 1995.

use super::find;
use super::program::{Leaf, Program, What};
use super::relations::{Meaning, executed, in_order, iterations, time};
use super::reroll::Reroll;
use super::violation::Violation;
use crate::ir::{BinaryOp, Name, Nest, Tree};
use crate::poly::{self, Error, UnionMap, UnionSet};

/// What may become of the order of a reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reductions {
    /// It is kept.
    #[default]
    Strict,
    /// The updates of one element by one reduction may be executed in any order.
    Reassociate,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The nests compute what their definition says.
    Legal,
    /// They do not.
    Illegal(Box<Violation>),
    /// That is not known.
    Undecided(Undecided),
}

/// Why nothing is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undecided {
    /// A nest was read, or made by hand.
    #[error("what `{statement}` executes of the definition is not known")]
    Unknown {
        /// A statement.
        statement: String,
    },
    /// A statement computes something else than the definition says.
    #[error("`{statement}` is not what the definition says: `{original}`")]
    Rewritten {
        /// The statement.
        statement: String,
        /// The original at the same place.
        original: String,
    },
    /// A loop's iterations are not affine.
    #[error("loop `{name}` has a step and several lower bounds")]
    Stepped {
        /// The loop.
        name: Name,
    },
    /// The polyhedral library has no answer.
    #[error(transparent)]
    Library(#[from] Error),
}

/// How much a proof may take of the polyhedral library.
const OPERATIONS: u64 = 20_000_000;

/// Whether `nests`, in order, compute what their definition says.
pub fn check(nests: &[Nest], reductions: Reductions) -> Verdict {
    let trees: Vec<Vec<Tree>> = nests.iter().map(|n| n.trees().to_vec()).collect();
    if let Err(undecided) = known(&Program::of(nests, &trees)) {
        return Verdict::Undecided(undecided);
    }
    let mut reroll = Reroll::default();
    let rolled: Vec<Vec<Tree>> = trees.iter().map(|t| reroll.sequence(t)).collect();
    let program = Program::of(nests, &rolled);
    match poly::bounded(OPERATIONS, || violation(&program, reductions)) {
        Ok(None) => Verdict::Legal,
        Ok(Some(violation)) => Verdict::Illegal(Box::new(violation)),
        Err(error) => Verdict::Undecided(error.into()),
    }
}

/// That it is known what each statement executes, and that it is the same as in the definition.
fn known(program: &Program) -> Result<(), Undecided> {
    for leaf in &program.leaves {
        let stepped = |l: &&&crate::ir::Loop| l.range.step != 1 && l.range.lower.len() != 1;
        if let Some(l) = leaf.loops.iter().find(stepped) {
            let name = l.name.clone();
            return Err(Undecided::Stepped { name });
        }
        let statement = match leaf.what {
            What::Stmt(s) => s.to_string(),
            What::Fill(fill) => fill.to_string(),
        };
        let original = leaf.assignment.and_then(|a| program.originals.get(a));
        let Some(original) = original else {
            return Err(Undecided::Unknown { statement });
        };
        let (same, text) = match leaf.what {
            What::Stmt(s) => {
                let point = s.origin.as_ref().map_or(&[][..], |o| &o.point);
                let original = original.at(point);
                (original == *s, original.to_string())
            }
            What::Fill(fill) => match original.fill {
                Some(f) => {
                    let same = (&f.target, f.value) == (&fill.target, fill.value);
                    (same, f.to_string())
                }
                None => (false, original.stmt.to_string()),
            },
        };
        if !same {
            return Err(Undecided::Rewritten {
                statement,
                original: text,
            });
        }
    }
    Ok(())
}

fn violation(program: &Program, reductions: Reductions) -> Result<Option<Violation>, Error> {
    let meaning = Meaning::of(program)?;
    let depth = program.depth();
    let pieces: Vec<_> = program
        .leaves
        .iter()
        .filter_map(|l| time(l, depth))
        .collect();
    let time = UnionMap::new(&pieces)?;

    let executed = time.domain()?;
    if let Some(instance) = find::first(&meaning.instances.subtract(&executed)?)? {
        return Ok(Some(find::missing(program, &instance)));
    }
    if let Some(instance) = find::first(&executed.subtract(&meaning.instances)?)? {
        return Ok(Some(find::extra(program, &instance)));
    }
    if !time.is_single_valued()? {
        return find::twice(program, &time);
    }

    let dependences = meaning.dependences()?;
    let ordered = match reductions {
        Reductions::Strict => dependences.clone(),
        Reductions::Reassociate => {
            dependences.subtract(&within_reductions(program, &dependences)?)?
        }
    };
    let reversed = in_order(&ordered, &time, UnionMap::lex_ge)?;
    if let Some(pair) = find::first_pair(&reversed)? {
        return find::reversed(program, &pair).map(Some);
    }
    concurrent(program, &dependences)
}

/// The dependences among the updates of one reduction.
fn within_reductions(program: &Program, dependences: &UnionMap) -> Result<UnionMap, Error> {
    let reassociates = |op: &BinaryOp| op.commutes();
    let mut tuples = Vec::new();
    for (a, original) in program.originals.iter().enumerate() {
        // A difference of sums is one, too: all of its terms are subtracted.
        let update = original.stmt.update;
        if update.is_some_and(|op| reassociates(&op) || op == BinaryOp::Sub) {
            tuples.push(super::relations::instances(a, original));
        }
    }
    let mut within = UnionMap::new(&[])?;
    for piece in tuples {
        let one = UnionSet::new(&[piece])?;
        let own = dependences.intersect_domain(&one)?.intersect_range(&one)?;
        within = within.union(&own)?;
    }
    Ok(within)
}

/// The first dependence that a parallel or vector loop carries.
fn concurrent(program: &Program, dependences: &UnionMap) -> Result<Option<Violation>, Error> {
    let mut seen: Vec<(usize, &Name)> = Vec::new();
    for leaf in &program.leaves {
        for (depth, l) in leaf.loops.iter().enumerate() {
            let collapsed = (0..depth).any(|d| leaf.loops[d].sharing.collapse > depth - d);
            let marked = l.parallel || l.vector || collapsed;
            if !marked || seen.contains(&(leaf.place[0], &l.name)) {
                continue;
            }
            seen.push((leaf.place[0], &l.name));
            let inside: Vec<&Leaf> = program
                .leaves
                .iter()
                .filter(|other| is_inside(other, leaf, depth))
                .collect();
            let carried = carried(&inside, depth, dependences)?;
            if let Some(pair) = find::first_pair(&carried)? {
                let parallel = l.parallel || !l.vector;
                return find::concurrent(program, &pair, &l.name, parallel).map(Some);
            }
        }
    }
    Ok(None)
}

/// Whether a leaf is in the loop at `depth` around another one.
fn is_inside(leaf: &Leaf, other: &Leaf, depth: usize) -> bool {
    let loops = |l: &Leaf| l.loops.get(depth).map(|l| l.name.clone());
    leaf.place[0] == other.place[0] && loops(leaf) == loops(other)
}

/// The dependences between iterations of the loop at `depth` around `leaves`, in one iteration of
/// the loops further out.
fn carried(leaves: &[&Leaf], depth: usize, dependences: &UnionMap) -> Result<UnionMap, Error> {
    let relation = |count| {
        let pieces: Vec<_> = leaves.iter().filter_map(|l| iterations(l, count)).collect();
        UnionMap::new(&pieces)
    };
    let domain: Vec<_> = leaves.iter().filter_map(|l| executed(l)).collect();
    let domain = UnionSet::new(&domain)?;
    let inside = dependences
        .intersect_domain(&domain)?
        .intersect_range(&domain)?;
    if inside.is_empty()? {
        return Ok(inside);
    }
    let (outer, all) = (relation(depth)?, relation(depth + 1)?);
    let together = outer.apply_range(&outer.reverse()?)?;
    let same = all.apply_range(&all.reverse()?)?;
    inside.intersect(&together)?.subtract(&same)
}
