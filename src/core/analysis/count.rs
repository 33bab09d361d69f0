//! Counts exactly how often the statements of a nest are executed. Bounds may depend on other
//! loops.

use crate::ir::{Affine, Loop, Name, Tree};

/// The budget of iterations to enumerate.
const TRIALS: u64 = 8_000_000;

/// The sum of `weight` over all executions of all statements. `None` if too many iterations would
/// have to be enumerated, or if a bound depends on an unknown iterator.
///
/// A loop is enumerated only if bounds of inner loops depend on its iterator. Of bounds that are
/// read, the average counts.
pub fn total(trees: &[Tree], weight: &dyn Fn(&Tree) -> f64) -> Option<f64> {
    let mut count = Count {
        weight,
        left: TRIALS,
        point: Vec::new(),
    };
    count.sequence(trees)
}

struct Count<'a> {
    weight: &'a dyn Fn(&Tree) -> f64,
    left: u64,
    /// The outer iterators that bounds depend on.
    point: Vec<(&'a Name, i64)>,
}

impl<'a> Count<'a> {
    fn sequence<'t: 'a>(&mut self, trees: &'t [Tree]) -> Option<f64> {
        trees.iter().map(|tree| self.tree(tree)).sum()
    }

    fn tree<'t: 'a>(&mut self, tree: &'t Tree) -> Option<f64> {
        let Tree::Loop(l) = tree else {
            return Some((self.weight)(tree));
        };
        let low = self.values(&l.range.lower)?.into_iter().max()?;
        let high = self.values(&l.range.upper)?.into_iter().min()?;
        if low >= high {
            return Some(0.0);
        }
        if let Some(segment) = &l.range.within {
            let trips = segment.usual(high.saturating_sub(low));
            return Some(trips as f64 * self.sequence(&l.body)?);
        }
        if !decides(&l.name, &l.body) {
            let trips = high.abs_diff(low).div_ceil(l.range.step.unsigned_abs());
            return Some(trips as f64 * self.sequence(&l.body)?);
        }
        self.each(l, low, high)
    }

    fn each<'t: 'a>(&mut self, l: &'t Loop, low: i64, high: i64) -> Option<f64> {
        let (mut sum, mut value) = (0.0, low);
        while value < high {
            self.left = self.left.checked_sub(1)?;
            self.point.push((&l.name, value));
            let inside = self.sequence(&l.body);
            self.point.pop();
            sum += inside?;
            value += l.range.step;
        }
        Some(sum)
    }

    fn values(&self, bounds: &[Affine]) -> Option<Vec<i64>> {
        let known = |name: &Name| {
            let found = self.point.iter().rev().find(|(n, _)| *n == name);
            found.map(|(_, value)| *value)
        };
        bounds.iter().map(|bound| bound.evaluate(&known)).collect()
    }
}

/// Whether a bound of a loop in `trees` depends on `name`.
fn decides(name: &Name, trees: &[Tree]) -> bool {
    trees.iter().any(|tree| match tree {
        Tree::Loop(l) => l.range.affine().mentions(name) || decides(name, &l.body),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_are_counted_as_they_are() {
        let text = "\
f64 A[9][9]
for t in 0..100
  for i in 0..9
    for j in 0..i step 2
      A[i][j] = 1
    for k in i - 3..min(i, 5)
      A[i][i] = 2
";
        let nest = crate::ir::parse_nest(text).unwrap();
        let (mut first, mut second) = (0, 0);
        for i in 0..9i64 {
            first += (0..i).step_by(2).count();
            second += (i - 3..i.min(5)).count();
        }
        let all = total(nest.trees(), &|_| 1.0);
        assert_eq!(all, Some(100.0 * (first + second) as f64));
    }
}
