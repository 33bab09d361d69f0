//! Decides whether an index stays inside of its dimension, in loops whose bounds depend on each
//! other. If not, it finds an iteration as a witness.
//!
//! The greatest and the least value follow from the bounds, from the innermost loop outwards. That
//! is exact if every loop runs. Otherwise the search enumerates values of the outer loops while the
//! answer is open. Iterations and bounds have budgets. Beyond them, the polyhedral library decides.
//! If it cannot, the answer is [`Stays::Open`].

use crate::poly::{self, Assumed, Linear, Piece, Relation, is_stopped};

/// A sum of numbered variables with factors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) offset: i64,
    pub(super) terms: Vec<(usize, i64)>,
}

/// The values of a variable: from the greatest of `lower` to before the least of `upper`.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) lower: Vec<Form>,
    pub(super) upper: Vec<Form>,
    pub(super) step: i64,
}

/// The budget of iterations.
const TRIALS: u64 = 2_000_000;

/// The budget of bounds, for loops with several, which have very many combinations.
const BOUNDS: u64 = 1_000_000;

/// The budget of the polyhedral library, in its operations.
const OPERATIONS: u64 = 2_000_000;

/// The search polls for a stop request after this many iterations or bounds.
const ASKED: u64 = 4096;

/// The answer about an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stays {
    /// It stays inside.
    Inside,
    /// It leaves the dimension, with its value and the values of the loops, outermost first.
    Leaves(i64, Vec<i64>),
    /// A budget is exhausted.
    Open,
}

/// Whether `index` is in `0..extent` in all iterations of `loops`. A loop is a variable with its
/// values, and comes after the loops that its bounds depend on. Sizes are the first loops. In each
/// iteration that there is, the `facts` are at least 0.
pub(super) fn stays(index: &Form, extent: &Form, loops: &[(usize, Span)], facts: &[Form]) -> Stays {
    let mut rest = extent.plus(&[(index.clone(), -1)], &[]);
    rest.offset = rest.offset.saturating_sub(1);
    let mut search = Search {
        both: [index.clone(), rest],
        loops,
        facts,
        // A size has too many values to try them.
        left: if loops.iter().any(|(_, span)| span.is_vast()) {
            0
        } else {
            TRIALS
        },
        bounds: BOUNDS,
    };
    let leaves = |values: Vec<i64>| {
        let known = known(loops, &values);
        Stays::Leaves(index.plus(&[], &known).offset, values)
    };
    let mut values = Vec::new();
    match search.visit(&mut values) {
        None => match poly::assuming(Assumed::default(), || exactly(&search.both, loops, facts)) {
            None => Stays::Open,
            Some(None) => Stays::Inside,
            Some(Some(values)) => leaves(values),
        },
        Some(false) => Stays::Inside,
        Some(true) => leaves(values),
    }
}

/// The first iteration in which one of two forms is negative, decided by the polyhedral library.
/// `None` if it cannot.
fn exactly(both: &[Form; 2], loops: &[(usize, Span)], facts: &[Form]) -> Option<Option<Vec<i64>>> {
    let variable = |v: usize| format!("v{v}");
    let linear = |form: &Form| {
        let terms = form.terms.iter().map(|(v, c)| (*c, variable(*v)));
        Linear::new(terms, form.offset)
    };
    let names: Vec<String> = loops.iter().map(|(v, _)| variable(*v)).collect();
    // Sizes are variables here.
    let mut all = Piece::set("", names.iter().map(String::as_str));
    for ((_, span), x) in loops.iter().zip(&names) {
        for bound in &span.lower {
            all = all.constrain(linear(bound), Relation::LessOrEqual, x.as_str());
        }
        for bound in &span.upper {
            all = all.constrain(x.as_str(), Relation::Less, linear(bound));
        }
        if let (true, [first]) = (span.step > 1, &span.lower[..]) {
            let count = format!("{x} count");
            let at = Linear::new([(1, x.as_str()), (-span.step, count.as_str())], 0);
            all = all
                .exists(&count)
                .constrain(at, Relation::Equal, linear(first));
        } else if span.step > 1 {
            return None;
        }
    }
    for fact in facts {
        all = all.constrain(0, Relation::LessOrEqual, linear(fact));
    }
    let mut found: Option<Vec<i64>> = None;
    for form in both {
        let negative = all.clone().constrain(linear(form), Relation::Less, 0);
        let point = poly::bounded(OPERATIONS, || negative.first()).ok()?;
        let values = point.map(|point| point.coordinates);
        found = match (found, values) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
    Some(found)
}

fn known(loops: &[(usize, Span)], values: &[i64]) -> Vec<(usize, i64)> {
    let loops = loops.iter().map(|(v, _)| *v);
    loops.zip(values.iter().copied()).collect()
}

struct Search<'a> {
    /// The index, and its distance from the last element: both have to be at least 0.
    both: [Form; 2],
    loops: &'a [(usize, Span)],
    facts: &'a [Form],
    left: u64,
    /// The remaining budget of bounds, for loops with several.
    bounds: u64,
}

impl Search<'_> {
    /// Whether an iteration with these values of the outer loops leaves the dimension. Its values
    /// are then in `values`. `None` if that is open.
    fn visit(&mut self, values: &mut Vec<i64>) -> Option<bool> {
        let known = known(self.loops, values);
        let loops = self.loops;
        let inner = &loops[values.len()..];
        let mut stays = true;
        for form in &self.both {
            let form = form.plus(&[], &known);
            stays &= least(&form, inner, &known, &mut self.bounds)? >= 0;
        }
        if stays {
            return Some(false);
        }
        let Some((_, span)) = inner.first() else {
            let mut facts = self.facts.iter();
            return Some(facts.all(|fact| fact.plus(&[], &known).offset >= 0));
        };
        let (low, high) = span.values(&known);
        let mut value = low;
        while value < high {
            self.left = one_less(self.left)?;
            values.push(value);
            if self.visit(values)? {
                return Some(true);
            }
            values.pop();
            value += span.step;
        }
        Some(false)
    }
}

/// Takes one from a budget. `None` if it is exhausted or the search is stopped.
fn one_less(budget: u64) -> Option<u64> {
    let left = budget.checked_sub(1)?;
    (left % ASKED != 0 || !is_stopped()).then_some(left)
}

/// A bound of the least value of `form` over the `loops`. `None` if it needs more than `left`
/// bounds, or the search is stopped.
fn least(
    form: &Form,
    loops: &[(usize, Span)],
    known: &[(usize, i64)],
    left: &mut u64,
) -> Option<i64> {
    let Some(((v, span), outer)) = loops.split_last() else {
        return Some(form.offset);
    };
    let c = form.factor(*v);
    if c == 0 {
        return least(form, outer, known, left);
    }
    let (bounds, shift) = if c < 0 {
        (&span.upper, -1)
    } else {
        (&span.lower, 0)
    };
    let mut found: Option<i64> = None;
    for bound in bounds {
        if bounds.len() > 1 {
            *left = one_less(*left)?;
        }
        let mut bound = bound.plus(&[], known);
        bound.offset += shift;
        let rest = form.without(*v).plus(&[(bound, c)], &[]);
        let value = least(&rest, outer, known, left)?;
        // All bounds hold, so take the tightest one.
        found = Some(found.map_or(value, |other| value.max(other)));
    }
    Some(found.unwrap_or(form.offset))
}

impl Form {
    fn factor(&self, v: usize) -> i64 {
        let found = self.terms.iter().find(|(var, _)| *var == v);
        found.map_or(0, |(_, c)| *c)
    }

    fn without(&self, v: usize) -> Form {
        let mut form = self.clone();
        form.terms.retain(|(var, _)| *var != v);
        form
    }

    /// The form plus multiples of others, with known variables replaced.
    pub(super) fn plus(&self, others: &[(Form, i64)], known: &[(usize, i64)]) -> Form {
        let mut sum = self.clone();
        for (other, factor) in others {
            sum.offset = sum
                .offset
                .saturating_add(other.offset.saturating_mul(*factor));
            for (v, c) in &other.terms {
                let c = c.saturating_mul(*factor);
                match sum.terms.iter_mut().find(|(var, _)| var == v) {
                    Some((_, own)) => *own = own.saturating_add(c),
                    None => sum.terms.push((*v, c)),
                }
            }
        }
        for (v, value) in known {
            let c = sum.factor(*v);
            sum.offset = sum.offset.saturating_add(c.saturating_mul(*value));
            sum.terms.retain(|(var, _)| var != v);
        }
        sum
    }
}

impl Span {
    /// Whether it has more values than can be tried.
    fn is_vast(&self) -> bool {
        let (low, high) = self.values(&[]);
        let is_number = |form: &Form| form.terms.is_empty();
        self.upper.iter().all(is_number) && high.saturating_sub(low).unsigned_abs() > TRIALS
    }

    /// The first value, and one past the last, if the variables in the bounds are known.
    fn values(&self, known: &[(usize, i64)]) -> (i64, i64) {
        let value = |bound: &Form| bound.plus(&[], known).offset;
        let low = self.lower.iter().map(value).max().unwrap_or(0);
        let high = self.upper.iter().map(value).min().unwrap_or(0);
        (low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(offset: i64, terms: &[(usize, i64)]) -> Form {
        let terms = terms.to_vec();
        Form { offset, terms }
    }

    fn span(lower: Form, upper: Form) -> Span {
        let (lower, upper) = (vec![lower], vec![upper]);
        let step = 1;
        Span { lower, upper, step }
    }

    #[test]
    fn triangles_are_exact() {
        // i in 0..10, j in 0..i + 1
        let loops = [
            (0, span(form(0, &[]), form(10, &[]))),
            (1, span(form(0, &[]), form(1, &[(0, 1)]))),
        ];
        assert_eq!(
            stays(&form(0, &[(0, 1), (1, -1)]), &form(10, &[]), &loops, &[]),
            Stays::Inside
        );
        assert_eq!(
            stays(&form(0, &[(0, 1), (1, 1)]), &form(19, &[]), &loops, &[]),
            Stays::Inside
        );
        let leaves = stays(&form(0, &[(0, 1), (1, 1)]), &form(18, &[]), &loops, &[]);
        assert_eq!(leaves, Stays::Leaves(18, vec![9, 9]));
        let leaves = stays(&form(-1, &[(0, 1), (1, -1)]), &form(10, &[]), &loops, &[]);
        assert_eq!(leaves, Stays::Leaves(-1, vec![0, 0]));
    }

    #[test]
    fn loops_that_do_not_run_leave_nothing() {
        // i in 0..10, j in i + 1..10: for i = 9 there is no j.
        let loops = [
            (0, span(form(0, &[]), form(10, &[]))),
            (1, span(form(1, &[(0, 1)]), form(10, &[]))),
        ];
        assert_eq!(
            stays(&form(1, &[(0, 1)]), &form(10, &[]), &loops, &[]),
            Stays::Inside
        );
        let leaves = stays(&form(2, &[(0, 1)]), &form(10, &[]), &loops, &[]);
        assert_eq!(leaves, Stays::Leaves(10, vec![8, 9]));
    }

    /// Each loop is bounded by the two around it.
    #[test]
    fn many_combinations_of_bounds_need_isl() {
        let mut loops = vec![
            (0, span(form(0, &[]), form(100, &[]))),
            (1, span(form(0, &[]), form(100, &[]))),
        ];
        for v in 2..60 {
            let mut inner = span(form(0, &[]), form(100, &[]));
            inner.lower = vec![form(-1, &[(v - 1, 1)]), form(-2, &[(v - 2, 1)])];
            loops.push((v, inner));
        }
        let found = stays(&form(0, &[(59, 1)]), &form(100, &[]), &loops, &[]);
        match crate::poly::available() {
            // Each loop begins one before the loop around it.
            Ok(_) => assert!(matches!(found, Stays::Leaves(-58, _)), "{found:?}"),
            Err(_) => assert_eq!(found, Stays::Open),
        }
    }

    #[test]
    fn steps_and_several_bounds_count() {
        // i in 0..9 by 4: 0, 4, 8; j in max(0, i - 3)..min(9, i + 1).
        let mut i = span(form(0, &[]), form(9, &[]));
        i.step = 4;
        let mut j = span(form(0, &[]), form(9, &[]));
        j.lower.push(form(-3, &[(0, 1)]));
        j.upper.push(form(1, &[(0, 1)]));
        let loops = [(0, i), (1, j)];
        assert_eq!(
            stays(&form(0, &[(0, 1)]), &form(9, &[]), &loops, &[]),
            Stays::Inside
        );
        assert_eq!(
            stays(&form(0, &[(0, 1), (1, -1)]), &form(4, &[]), &loops, &[]),
            Stays::Inside
        );
        let leaves = stays(&form(0, &[(0, 1), (1, -1)]), &form(3, &[]), &loops, &[]);
        assert_eq!(leaves, Stays::Leaves(3, vec![4, 1]));
    }
}
