//! Checks that all accesses of trees stay inside their tensors. The first one that does not is
//! returned with the iteration as a witness.

use super::facts::is_nonnegative;
use super::inside::{Form, Span, Stays, stays};
use super::mismatch::{Dimension, Mismatch};
use crate::ir::{Affine, Fill, Index, Loop, Name, Nest, Stmt, Tensor, Tree};

/// An access that leaves its tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outside {
    /// The statement or fill.
    pub text: String,
    /// The index that leaves, and the iteration.
    pub why: Mismatch,
}

/// The first access of `trees`, in the order of the text, that leaves its tensor or cannot be
/// decided.
pub fn first_outside(nest: &Nest) -> Option<Outside> {
    sequence(nest.trees(), &mut nest.context().iter().collect())
}

fn sequence<'a>(trees: &'a [Tree], around: &mut Vec<&'a Loop>) -> Option<Outside> {
    trees.iter().find_map(|tree| match tree {
        Tree::Loop(l) => {
            around.push(l);
            let found = sequence(&l.body, around);
            around.pop();
            found
        }
        leaf => outside(leaf, around),
    })
}

/// The first access of a statement or fill in the loops `around` that leaves its tensor or cannot
/// be decided.
pub fn outside(tree: &Tree, around: &[&Loop]) -> Option<Outside> {
    let (why, text): (_, &dyn ToString) = match tree {
        Tree::Stmt(s) => (of_stmt(s, around)?, s),
        Tree::Fill(fill) => (of_fill(fill, around)?, fill),
        Tree::Loop(_) | Tree::Local(_) => return None,
    };
    let text = text.to_string();
    Some(Outside { text, why })
}

fn of_stmt(s: &Stmt, around: &[&Loop]) -> Option<Mismatch> {
    let mut found = access(&s.target, &s.index, around);
    s.value.for_each_access(&mut |tensor, index| {
        if let (None, Index::At(index)) = (&found, index) {
            found = access(tensor, index, around);
        }
    });
    found
}

/// Whether a fill sets elements outside of its tensor in an iteration of the loops around it.
pub fn leaves(fill: &Fill, around: &[&Loop]) -> bool {
    matches!(of_fill(fill, around), Some(Mismatch::Leaves { .. }))
}

/// Whether an access may leave its tensor in an iteration of the loops around it.
pub fn may_leave(tensor: &Tensor, index: &[Affine], around: &[&Loop]) -> bool {
    access(tensor, index, around).is_some()
}

fn of_fill(fill: &Fill, around: &[&Loop]) -> Option<Mismatch> {
    // Sizes may leave nothing to fill.
    let dims = fill.target.shape().dims();
    let mut sides = fill.region.iter().zip(&dims);
    let fits = sides.all(|((low, count), extent)| {
        let behind = extent.minus(&low.plus(count));
        is_nonnegative(low, around) && is_nonnegative(&behind, around)
    });
    if fits {
        return None;
    }
    let corner = |last: bool| -> Vec<Affine> {
        let sides = fill.region.iter();
        let sides = sides.map(|(low, n)| match last {
            true => low.plus(n).plus_constant(-1),
            false => low.clone(),
        });
        sides.collect()
    };
    let ends = [corner(false), corner(true)];
    ends.iter()
        .find_map(|index| access(&fill.target, index, around))
}

fn access(tensor: &Tensor, index: &[Affine], around: &[&Loop]) -> Option<Mismatch> {
    let extents = tensor.shape().dims();
    let mut dimensions = index.iter().zip(extents).enumerate();
    dimensions.find_map(|(d, (index, extent))| {
        let left = extent.minus(index).plus_constant(-1);
        if is_nonnegative(index, around) && is_nonnegative(&left, around) {
            return None;
        }
        let loops = needed(&[index, &extent], around);
        let spans: Vec<(usize, Span)> = loops.iter().map(|k| (*k, span(*k, around))).collect();
        let place = || Dimension {
            tensor: tensor.label().to_owned(),
            dimension: d + 1,
            extent: extent.clone(),
        };
        let facts = quotients(&loops, around);
        match stays(&form(index, around), &form(&extent, around), &spans, &facts) {
            Stays::Inside => None,
            Stays::Open => Some(Mismatch::Unclear {
                index: index.clone(),
                place: place(),
            }),
            Stays::Leaves(value, values) => Some(Mismatch::Leaves {
                index: index.clone(),
                value,
                at: at(&loops, &values, around),
                place: place(),
            }),
        }
    })
}

/// The loops that determine the values of an index: its iterators, the loops that may not run, and
/// the loops that the bounds of either depend on.
fn needed(of: &[&Affine], around: &[&Loop]) -> Vec<usize> {
    let runs = |l: &Loop| l.range.as_constant().is_some_and(|(low, high)| low < high);
    let mut counts = vec![false; around.len()];
    for (k, l) in around.iter().enumerate().rev() {
        let inner = around.iter().zip(&counts).skip(k + 1);
        let bounds = inner
            .into_iter()
            .any(|(o, c)| *c && o.range.mentions(&l.name));
        counts[k] = of.iter().any(|a| a.mentions(&l.name)) || bounds || !runs(l);
    }
    (0..around.len()).filter(|k| counts[*k]).collect()
}

/// The iteration found, with the first value of each other loop.
fn at(loops: &[usize], values: &[i64], around: &[&Loop]) -> Vec<(Name, i64)> {
    let found = |k: usize| {
        let place = loops.iter().position(|l| *l == k)?;
        values.get(place).copied()
    };
    let first = |l: &Loop| l.range.as_constant().map(|(low, _)| low);
    let all = around.iter().enumerate();
    all.filter_map(|(k, l)| Some((l.name.clone(), found(k).or_else(|| first(l))?)))
        .collect()
}

/// The definitions of the derived sizes among loops, as forms that are at least 0. A quotient of
/// several times a size bounds no loop.
fn quotients(loops: &[usize], around: &[&Loop]) -> Vec<Form> {
    let forms = loops.iter().filter_map(|k| {
        let of = around[*k].name.size()?.of.as_ref()?;
        let sum = Form {
            offset: of.offset,
            terms: [(*k, -of.divisor)].into(),
        };
        let rest = of.terms.iter().try_fold(sum, |mut sum, (name, c)| {
            let mut parts = loops.iter();
            sum.terms
                .push((*parts.find(|k| around[**k].name == *name)?, *c));
            Some(sum)
        })?;
        let mut above = rest.plus(&[(rest.clone(), -2)], &[]);
        above.offset += of.divisor - 1;
        Some([rest, above])
    });
    forms.flatten().collect()
}

fn span(k: usize, around: &[&Loop]) -> Span {
    let range = &around[k].range;
    let forms = |bounds: &[Affine]| bounds.iter().map(|b| form(b, around)).collect();
    Span {
        lower: forms(&range.lower),
        upper: forms(&range.upper),
        step: range.step,
    }
}

fn form(affine: &Affine, around: &[&Loop]) -> Form {
    let number = |name: &Name| around.iter().position(|l| l.name == *name);
    let terms = affine.terms().iter();
    Form {
        offset: affine.offset(),
        terms: terms
            .filter_map(|(name, c)| Some((number(name)?, *c)))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str) -> Option<String> {
        let nest = crate::ir::parse_nest(text).unwrap();
        first_outside(&nest).map(|o| format!("{}: {}", o.text, o.why))
    }

    #[test]
    fn an_access_and_its_iteration_are_named() {
        let found = first(
            "f64 A[9], B[9][9]\n\
             for t in 0..3\n  for i in 0..9\n    for j in i + 1..9\n      A[j] = B[i + 1][j]",
        );
        assert_eq!(found, None);
        let found = first("f64 A[9]\nfor t in 2..3\n  for i in 0..9\n    A[i] += A[i + 1]");
        let expected = "A[i] += A[i + 1]: index `i + 1` is 9 at t = 2, i = 8, outside of \
                        dimension 1 of A (extent 9)";
        assert_eq!(found.as_deref(), Some(expected));
        let found = first("f64 A[9]\nfor i in 0..9\n  fill A[i..+2] = 0");
        assert!(found.is_some_and(|f| f.contains("is 9 at i = 8")));
    }
}
