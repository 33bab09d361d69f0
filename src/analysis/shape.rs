//! Shape and range inference: which values each iterator takes, and why not.
//!
//! TeML infers the range of an iterator "from how it is used in the tensor expression" (§2,
//! eq. 19). The rules here:
//!
//! 1. An iterator that stands alone in a dimension of extent N takes the values 0..N. Standing
//!    alone in several dimensions, it must find the same extent in each.
//! 2. In a dimension with an affine index of one iterator (`x - 1`, `2*i`), the iterator is
//!    narrowed to the values that stay inside. A stencil so gets the interior as its range.
//! 3. In an index of several iterators (`h + kh`) of which a single one has no range from the
//!    first two rules, that one takes the values that stay inside whatever the others are: the
//!    windows that fit. Otherwise such an index narrows nothing and must stay inside.
//! 4. A target that is set elsewhere, too, may be larger than the value: there an iterator that
//!    stands alone is narrowed, as in rule 2, and takes its range from the value.
//!
//! What these rules accept never reads or writes out of bounds.

pub use super::mismatch::{Mismatch, Place};
use crate::ir::{Affine, Expr, Index, Name, Node, Shape, Tensor};

/// The half-open range of an iterator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IteratorRange {
    /// The iterator.
    pub name: Name,
    /// The first value.
    pub low: i64,
    /// One past the last value.
    pub high: i64,
    /// The extent of the dimensions in which the iterator stands alone, if it does in any.
    pub alone: Option<u64>,
}

impl IteratorRange {
    /// The number of values.
    pub fn extent(&self) -> u64 {
        (self.high - self.low).unsigned_abs()
    }
}

/// The ranges of the free iterators of `expr` (formals of a virtual tensor count as free), in
/// order of first appearance.
///
/// # Errors
/// [`Mismatch`] names the iterator, dimension and tensor that do not fit.
pub fn ranges(expr: &Expr) -> Result<Vec<IteratorRange>, Mismatch> {
    let mut solver = Solver::default();
    solver.collect(expr, &mut Vec::new());
    solver.solve()?;
    Ok(solver
        .vars
        .into_iter()
        .filter(|v| v.free)
        .map(|v| IteratorRange {
            name: v.name,
            low: v.low,
            high: v.high,
            alone: v.alone.map(|place| place.extent),
        })
        .collect())
}

/// The extents of the free iterators of `expr`, in order of first appearance: the shape S' that
/// TeML eq. 15 infers.
///
/// # Errors
/// As [`ranges`].
pub fn virtual_shape(expr: &Expr) -> Result<Shape, Mismatch> {
    let ranges = ranges(expr)?;
    Ok(Shape::of_extents(ranges.iter().map(IteratorRange::extent)))
}

/// Checks that an iterator list has one entry per dimension.
///
/// # Errors
/// [`Mismatch::Rank`].
pub fn check_rank(tensor: &str, rank: usize, list: &[Affine]) -> Result<(), Mismatch> {
    if list.len() == rank {
        return Ok(());
    }
    let texts: Vec<String> = list.iter().map(Affine::to_string).collect();
    Err(Mismatch::Rank {
        tensor: tensor.to_owned(),
        rank,
        given: list.len(),
        list: texts.join(", "),
    })
}

#[derive(Default)]
struct Solver {
    vars: Vec<Var>,
    uses: Vec<Use>,
}

struct Var {
    name: Name,
    free: bool,
    /// The dimension in which it stands alone.
    alone: Option<Place>,
    bounded: bool,
    low: i64,
    high: i64,
}

/// An index in a dimension; its iterators are named by their position in `Solver::vars`.
struct Use {
    index: Affine,
    vars: Vec<usize>,
    place: Place,
    /// Whether an iterator that stands alone in it takes all values.
    whole: bool,
}

impl Solver {
    fn collect(&mut self, expr: &Expr, scope: &mut Vec<usize>) {
        let depth = scope.len();
        match expr.node() {
            Node::Access {
                tensor,
                index: Index::At(index),
            } => self.access(tensor, index, scope),
            Node::Assign {
                target,
                value,
                elsewhere: Some(_),
            } => {
                let first = self.uses.len();
                self.collect(target, scope);
                self.uses[first..].iter_mut().for_each(|u| u.whole = false);
                self.collect(value, scope);
                return;
            }
            Node::Reduce { over, .. } => {
                for name in over {
                    scope.push(self.declare(name, false));
                }
            }
            Node::Virtual { formals, .. } => {
                for name in formals {
                    scope.push(self.declare(name, true));
                }
            }
            _ => {}
        }
        for child in expr.children() {
            self.collect(child, scope);
        }
        scope.truncate(depth);
    }

    fn declare(&mut self, name: &Name, free: bool) -> usize {
        let (name, alone) = (name.clone(), None);
        let (low, high) = (i64::MIN / 4, i64::MAX / 4);
        self.vars.push(Var {
            name,
            free,
            alone,
            bounded: false,
            low,
            high,
        });
        self.vars.len() - 1
    }

    fn access(&mut self, tensor: &Tensor, index: &[Affine], scope: &[usize]) {
        for (d, (index, &extent)) in index.iter().zip(tensor.shape().extents()).enumerate() {
            let vars = index
                .terms()
                .iter()
                .map(|(name, _)| self.lookup(name, scope));
            let vars = vars.collect();
            // Operands have names, targets can be without.
            let tensor = tensor.name().map_or("the target", Name::as_str).to_owned();
            let dimension = d + 1;
            let place = Place {
                tensor,
                dimension,
                extent,
            };
            self.uses.push(Use {
                index: index.clone(),
                vars,
                place,
                whole: true,
            });
        }
    }

    fn lookup(&mut self, name: &Name, scope: &[usize]) -> usize {
        let bound = scope.iter().rev().find(|&&v| self.vars[v].name == *name);
        if let Some(&v) = bound {
            return v;
        }
        let known = self.vars.iter().position(|v| v.free && v.name == *name);
        known.unwrap_or_else(|| self.declare(name, true))
    }

    fn solve(&mut self) -> Result<(), Mismatch> {
        for u in &self.uses {
            if !u.index.is_in_limits() {
                let (index, place) = (u.index.clone(), u.place.clone());
                return Err(Mismatch::TooLarge { index, place });
            }
        }
        for u in &self.uses {
            if u.whole && u.index.as_iterator().is_some() {
                self.vars[u.vars[0]].stands_alone(&u.place)?;
            }
        }
        for u in &self.uses {
            if let ([(_, c)], [v]) = (u.index.terms(), u.vars.as_slice()) {
                self.vars[*v].narrow(*c, u, [0, 0])?;
            }
        }
        while self.fit_windows()? {}
        self.uses.iter().try_for_each(|u| self.stays_inside(u))
    }

    /// Rule 3, once around; says whether an iterator got its range.
    fn fit_windows(&mut self) -> Result<bool, Mismatch> {
        let mut fitted: Vec<usize> = Vec::new();
        for u in &self.uses {
            let mut open = u.vars.iter().filter(|&&v| !self.vars[v].bounded);
            let (Some(&v), None) = (open.next(), open.next()) else {
                continue;
            };
            let mut others = u.index.clone();
            let mut factor = 0;
            for ((name, c), &var) in u.index.terms().iter().zip(&u.vars) {
                if var == v {
                    factor = *c;
                    others = others.minus(&Affine::iterator(name.clone()).times(*c));
                }
            }
            let others = others.plus_constant(-u.index.offset());
            let bounds = |name: &Name| {
                let k = u.index.terms().iter().position(|(n, _)| n == name)?;
                let var = &self.vars[u.vars[k]];
                Some((var.low, var.high - 1))
            };
            let (low, high) = others.interval(&bounds).unwrap_or((0, 0));
            self.vars[v].narrow(factor, u, [low, high])?;
            // It stays open until all its windows were seen.
            self.vars[v].bounded = false;
            fitted.push(v);
        }
        for &v in &fitted {
            self.vars[v].bounded = true;
        }
        Ok(!fitted.is_empty())
    }

    fn stays_inside(&self, u: &Use) -> Result<(), Mismatch> {
        if let Some(&v) = u.vars.iter().find(|&&v| !self.vars[v].bounded) {
            let iterator = self.vars[v].name.clone();
            let (index, place) = (u.index.clone(), u.place.clone());
            return Err(Mismatch::NoRange {
                iterator,
                index,
                place,
            });
        }
        let bounds = |name: &Name| {
            let k = u.index.terms().iter().position(|(n, _)| n == name)?;
            let v = &self.vars[u.vars[k]];
            Some((v.low, v.high - 1))
        };
        let (low, high) = u.index.interval(&bounds).unwrap_or((0, 0));
        if low >= 0 && high.unsigned_abs() < u.place.extent {
            return Ok(());
        }
        let (index, place) = (u.index.clone(), u.place.clone());
        Err(Mismatch::OutOfBounds {
            index,
            low,
            high,
            place,
        })
    }
}

impl Var {
    fn stands_alone(&mut self, place: &Place) -> Result<(), Mismatch> {
        match &self.alone {
            Some(first) if first.extent != place.extent => Err(Mismatch::Extents {
                iterator: self.name.clone(),
                first: first.clone(),
                second: place.clone(),
            }),
            Some(_) => Ok(()),
            None => {
                self.alone = Some(place.clone());
                self.bounded = true;
                self.low = 0;
                self.high = i64::try_from(place.extent).unwrap_or(i64::MAX / 4);
                Ok(())
            }
        }
    }

    /// Narrows to the values with 0 <= c*x + offset + rest <= extent - 1 for any `rest` in the
    /// given interval.
    fn narrow(&mut self, c: i64, u: &Use, rest: [i64; 2]) -> Result<(), Mismatch> {
        let last = i64::try_from(u.place.extent).unwrap_or(i64::MAX / 4) - 1;
        let offset = u.index.offset();
        let (at_zero, at_last) = (-offset - rest[0], last - offset - rest[1]);
        let (low, high) = match c > 0 {
            true => (div_ceil(at_zero, c), at_last.div_euclid(c)),
            false => (div_ceil(-at_last, -c), (-at_zero).div_euclid(-c)),
        };
        self.low = self.low.max(low);
        self.high = self.high.min(high + 1);
        self.bounded = true;
        if self.low < self.high {
            return Ok(());
        }
        Err(Mismatch::Empty {
            iterator: self.name.clone(),
            index: u.index.clone(),
            place: u.place.clone(),
        })
    }
}

fn div_ceil(a: i64, positive: i64) -> i64 {
    -(-a).div_euclid(positive)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Elem;

    fn tensor(name: &str, extents: &[i64]) -> Tensor {
        Tensor::new(Shape::new(extents, Elem::F64).unwrap(), Elem::F64)
            .named(Name::new(name).unwrap())
    }

    fn it(name: &str) -> Affine {
        Affine::iterator(Name::new(name).unwrap())
    }

    fn of(accesses: &[(&Tensor, Vec<Affine>)]) -> Result<Vec<(i64, i64)>, Mismatch> {
        let mut expr: Option<Expr> = None;
        for (tensor, index) in accesses {
            let leaf = Expr::access((*tensor).clone(), Index::At(index.clone()));
            expr = Some(match expr {
                None => leaf,
                Some(left) => Expr::new(Node::Binary {
                    op: crate::ir::BinaryOp::Add,
                    shape: Shape::of_extents([]),
                    left,
                    right: leaf,
                }),
            });
        }
        let ranges = ranges(&expr.unwrap())?;
        Ok(ranges.into_iter().map(|r| (r.low, r.high)).collect())
    }

    #[test]
    fn a_stencil_gets_the_interior() {
        let a = tensor("a", &[10]);
        let x = it("x");
        let uses = [
            (&a, vec![x.plus_constant(-1)]),
            (&a, vec![x.plus_constant(2)]),
        ];
        assert_eq!(of(&uses), Ok(vec![(1, 8)]));
    }

    #[test]
    fn strides_and_reversals_are_narrowed_exactly() {
        let a = tensor("a", &[10]);
        assert_eq!(
            of(&[(&a, vec![it("x").times(3).plus_constant(-1)])]),
            Ok(vec![(1, 4)])
        );
        assert_eq!(
            of(&[(&a, vec![it("x").times(-1).plus_constant(9)])]),
            Ok(vec![(0, 10)])
        );
        assert_eq!(of(&[(&a, vec![it("x").times(-2)])]), Ok(vec![(-4, 1)]));
    }

    #[test]
    fn a_window_must_fit() {
        let (image, weights) = (tensor("image", &[7]), tensor("weights", &[3]));
        let out = tensor("out", &[5]);
        let (h, k) = (it("h"), it("k"));
        let fits = [
            (&out, vec![h.clone()]),
            (&image, vec![h.plus(&k)]),
            (&weights, vec![k.clone()]),
        ];
        assert_eq!(of(&fits), Ok(vec![(0, 5), (0, 3)]));
        let small = tensor("small", &[6]);
        let error = of(&[
            (&out, vec![h.clone()]),
            (&small, vec![h.plus(&k)]),
            (&weights, vec![k.clone()]),
        ]);
        assert!(
            matches!(
                error,
                Err(Mismatch::OutOfBounds {
                    low: 0,
                    high: 6,
                    ..
                })
            ),
            "{error:?}"
        );
    }

    #[test]
    fn windows_that_fit_give_an_iterator_its_range() {
        let (image, weights) = (tensor("image", &[7]), tensor("weights", &[3]));
        let (h, k) = (it("h"), it("k"));
        let by_two = h.times(2).plus(&k).plus_constant(-1);
        let window = |index: Affine| of(&[(&image, vec![index]), (&weights, vec![k.clone()])]);
        assert_eq!(window(h.plus(&k)), Ok(vec![(0, 5), (0, 3)]));
        assert_eq!(window(by_two), Ok(vec![(1, 3), (0, 3)]));
        assert_eq!(window(k.minus(&h)), Ok(vec![(-4, 1), (0, 3)]));
        let narrower = [
            (&image, vec![h.plus(&k)]),
            (&image, vec![h.plus(&k).plus_constant(1)]),
            (&weights, vec![k.clone()]),
        ];
        assert_eq!(of(&narrower), Ok(vec![(0, 4), (0, 3)]));
        let tiny = tensor("tiny", &[2]);
        let none = of(&[(&tiny, vec![h.plus(&k)]), (&weights, vec![k.clone()])]);
        assert!(matches!(none, Err(Mismatch::Empty { .. })), "{none:?}");
        let two_unknown = of(&[(&image, vec![h.plus(&k)])]);
        assert!(matches!(two_unknown, Err(Mismatch::NoRange { .. })));
    }

    #[test]
    fn disagreeing_extents_name_both_places() {
        let (a, b) = (tensor("a", &[4, 5]), tensor("b", &[5]));
        let error = of(&[(&a, vec![it("i"), it("j")]), (&b, vec![it("i")])]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "iterator `i` runs over dimension 1 of a (extent 4) and over dimension 1 of b (extent 5)"
        );
    }

    #[test]
    fn an_offset_beyond_the_extent_leaves_nothing() {
        let a = tensor("a", &[3]);
        let error = of(&[(&a, vec![it("i")]), (&a, vec![it("i").plus_constant(3)])]);
        assert!(matches!(error, Err(Mismatch::Empty { .. })));
    }
}
