//! The dependences of a definition, for schedulers.

use super::pairs::{Iteration, Touching, before, reading, touching};
use super::program::{Leaf, What, accesses, definition};
use super::sizes::without_limits;
use crate::ir::{Affine, Loop, Name, Nest, Range};
use crate::poly::{Error, Map, Piece};
use std::collections::BTreeSet;

/// A dependence between instances of two assignments, or of one.
pub struct ParametricDependence {
    /// The assignment of the source instances, counted from 0 through all nests.
    pub first: usize,
    /// The assignment of the sink instances.
    pub later: usize,
    /// The pairs of source and sink. The coordinates of an instance are the iterators of the loops
    /// around the assignment in the definition, outermost first.
    pub pairs: Map,
}

/// The dependences between the statements that define `nests`, for all extents of loops: equal ends
/// of ranges become one parameter. Sizes have no greatest value, since large numbers would make
/// integer programs slow. Iterators that form a mixed-radix index keep their extents as numbers,
/// since its meaning depends on them.
///
/// Initializations are not among the instances. The updates of a reduction keep their order.
///
/// # Errors
/// The polyhedral library has no answer.
pub fn dependences(nests: &[Nest]) -> Result<Vec<ParametricDependence>, Error> {
    without_limits(nests, || ordered(nests, |pair| touching(pair, false)))
}

/// Pairs of instances that read one element, in the order of the definition. Schedules need not
/// keep them. They have the parameters of [`dependences`].
///
/// # Errors
/// The polyhedral library has no answer.
pub fn inputs(nests: &[Nest]) -> Result<Vec<ParametricDependence>, Error> {
    without_limits(nests, || ordered(nests, reading))
}

/// The pairs of `related` whose first instance precedes the second in the definition.
fn ordered(
    nests: &[Nest],
    related: impl Fn(&[Iteration; 2]) -> Vec<Touching>,
) -> Result<Vec<ParametricDependence>, Error> {
    let mut exact = definition(nests);
    exact.retain(|leaf| matches!(leaf.what, What::Stmt(_)));
    let digits = digits(&exact);
    let mut ends: Vec<i64> = Vec::new();
    let mut symbolic = |l: &Loop| {
        let upper = if digits.contains(&l.name) {
            l.range.upper.clone()
        } else {
            symbolic_ends(&l.range, &mut ends)
        };
        Loop {
            range: Range {
                upper,
                ..l.range.clone()
            },
            body: Vec::new(),
            ..l.clone()
        }
    };
    let loops = exact.iter().map(|leaf| &leaf.loops);
    let loops: Vec<Vec<Loop>> = loops
        .map(|loops| loops.iter().map(|l| symbolic(l)).collect())
        .collect();
    let parameters: Vec<Name> = (1..=ends.len()).map(Name::generated).collect();
    let definition = exact.into_iter().zip(&loops).map(|(leaf, loops)| Leaf {
        loops: loops.iter().collect(),
        parameters: &parameters,
        ..leaf
    });
    let definition: Vec<Leaf> = definition.collect();
    let mut asked = Vec::new();
    for from in &definition {
        for to in &definition {
            let (Some(first), Some(later)) = (from.assignment, to.assignment) else {
                continue;
            };
            let pair = Iteration::pair(from, to);
            let [x, y] = pair.each_ref().map(Iteration::iterators);
            let (loops, is_first) = from.around_both(to);
            let related = related(&pair);
            let each = related.iter().flat_map(Touching::each);
            let pieces = each.flat_map(|piece| before(piece, (&x, &y), loops, is_first));
            let pieces: Vec<Piece> = pieces.collect();
            if pieces.is_empty() {
                continue;
            }
            let pairs = Map::new(&pieces)?;
            if !pairs.is_empty()? {
                asked.push(ParametricDependence {
                    first,
                    later,
                    pairs,
                });
            }
        }
    }
    asked.sort_by_key(|a| (a.first, a.later));
    Ok(asked)
}

/// The ends of a range, with parameters instead of numbers. In a triangle such as `k + 1..12` the
/// ends stay numbers if a lower bound contains a size as a number (`12 - k..12`).
fn symbolic_ends(range: &Range, ends: &mut Vec<i64>) -> Vec<Affine> {
    if let Some((_, end)) = range.as_constant() {
        return vec![Affine::iterator(parameter(end, ends))];
    }
    let offsets = range.lower.iter().map(|a| a.offset().saturating_abs());
    let largest = offsets.max().unwrap_or(0);
    let upper = range.upper.iter().map(|a| match a.as_constant() {
        Some(end) if largest.saturating_mul(2) < end => Affine::iterator(parameter(end, ends)),
        _ => a.clone(),
    });
    upper.collect()
}

/// The parameter for the end of a range.
fn parameter(end: i64, ends: &mut Vec<i64>) -> Name {
    let known = ends.iter().position(|e| *e == end);
    let k = known.unwrap_or_else(|| {
        ends.push(end);
        ends.len() - 1
    });
    Name::generated(k + 1)
}

/// The iterators in mixed-radix indices of values that are written and used.
fn digits(definition: &[Leaf]) -> BTreeSet<Name> {
    let statements = definition.iter().filter_map(|leaf| match leaf.what {
        What::Stmt(s) => Some(s),
        What::Fill(_) => None,
    });
    let statements: Vec<_> = statements.collect();
    let written: Vec<&str> = statements.iter().map(|s| s.target.label()).collect();
    let mut digits = BTreeSet::new();
    for access in statements.iter().flat_map(|s| accesses(s)) {
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
