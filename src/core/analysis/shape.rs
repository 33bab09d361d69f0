//! Shape and range inference: the values of each iterator, or why there are none.
//!
//! TeML infers the range of an iterator "from how it is used in the tensor expression" (§2,
//! eq. 19). The same rules hold in all notations: operators, `v…` and their lists, `vat`, `eq`.
//!
//! 1. **Alone.** An iterator that is alone in a dimension of extent N takes the values 0..N.
//! 2. **Inside.** In an index with one iterator (`x - 1`, `2*i`), the iterator takes the values
//!    that keep the index inside of its dimension. If several indices have an iterator, it takes
//!    the values that all of them allow. So a stencil gets the interior as its range.
//! 3. **One index, one extent.** Dimensions with the same index (`i` and `i`, `i - 1` and `i - 1`)
//!    have the same extent. Otherwise the other indices of the iterator must leave the same values
//!    in both. `A[i] + B[i]`, `A[i - 1] + B[i - 1]` and `X[i][i]` need equal extents. In
//!    `u[i + 1] - u[i] + v[i]`, `u` may have one element more than `v`: `u[i + 1]` ends `i` at the
//!    end of `v`.
//! 4. **Windows that fit.** An index of several iterators (`h + kh`) may have a single one without
//!    a range from the rules above. That iterator takes the values that stay inside for all values
//!    of the others. Otherwise such an index narrows nothing and must stay inside.
//! 5. **Reductions are whole.** A reduction iterator takes all values that every access to it
//!    allows, or all values of a dimension that it indexes alone. If accesses would omit some of
//!    them, or if rule 4 would, the expression is refused. Nothing in the result would show which
//!    terms are missing.
//! 6. **Elsewhere.** A target with a value `elsewhere` may be larger than the value. In it, an
//!    iterator that is alone is narrowed, as in rule 2, and takes its range from the value.
//! 7. **Given.** A range that the definition gives wins. Rules 1 to 5 do not narrow it, and every
//!    index must stay inside of its dimension in every iteration. Its bounds may depend on other
//!    iterators. So an expression is judged at its assignment, when all ranges are known. Before,
//!    it is refused only if no range can repair it (see [`ranges_so_far`]).
//!
//! Accepted expressions never read or write out of bounds.

pub use super::iterator_range::{IteratorRange, extreme};
pub use super::mismatch::{Allowed, Dimension, Mismatch};
use super::solver::Solver;
use crate::ir::{Affine, Domain, Expr, Index, Node, Shape, Tensor};

/// The ranges of the free iterators of `expr`, in order of first appearance. The formals of a
/// virtual tensor are free.
///
/// # Errors
/// [`Mismatch`] names the iterator, dimension and tensor that do not fit.
pub fn ranges(expr: &Expr) -> Result<Vec<IteratorRange>, Mismatch> {
    Solver::of(expr).solve()
}

/// The ranges of all iterators of `expr`, including reduction iterators.
///
/// # Errors
/// As [`ranges`].
pub fn all_ranges(expr: &Expr) -> Result<Vec<IteratorRange>, Mismatch> {
    Solver::of(expr).solve_for_all()
}

/// The ranges of the free iterators of the value of an assignment over `domain`.
///
/// # Errors
/// As [`ranges`].
pub fn ranges_within(expr: &Expr, domain: &Domain) -> Result<Vec<IteratorRange>, Mismatch> {
    Solver::of(expr).within(domain).solve()
}

/// The ranges of the free iterators of an expression to which an assignment may still give ranges.
/// These are the ranges inferred so far. An iterator without one has no values.
///
/// # Errors
/// Errors that no range of a free iterator can repair: indices without iterators that leave their
/// dimension, and incomplete reductions.
pub fn ranges_so_far(expr: &Expr) -> Result<Vec<IteratorRange>, Mismatch> {
    Ok(of_iterators(Solver::of(expr).so_far().solve()?))
}

/// Like [`ranges_so_far`], including reduction iterators.
///
/// # Errors
/// As [`ranges_so_far`].
pub fn all_ranges_so_far(expr: &Expr) -> Result<Vec<IteratorRange>, Mismatch> {
    Ok(of_iterators(Solver::of(expr).so_far().solve_for_all()?))
}

/// Like [`ranges_so_far`], given the ranges of some iterators. Digits have ranges of their own.
///
/// # Errors
/// As [`ranges_so_far`].
pub fn ranges_of_digits(expr: &Expr, domain: &Domain) -> Result<Vec<IteratorRange>, Mismatch> {
    Solver::of(expr).so_far().given(domain).solve()
}

/// The ranges of iterators whose digits have ranges: the values that all of them allow. Remainders
/// allow all values.
fn of_iterators(ranges: Vec<IteratorRange>) -> Vec<IteratorRange> {
    let mut merged: Vec<IteratorRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        let range = range.of_base();
        match merged.iter_mut().find(|known| known.name == range.name) {
            Some(known) => known.narrow(&range),
            None => merged.push(range),
        }
    }
    merged
}

/// The extents of the target of an assignment, and of any other expression.
pub fn extents(expr: &Expr) -> Vec<Affine> {
    let of_iterators = match expr.node() {
        Node::Access {
            index: Index::At(_),
            ..
        } => virtual_shape(expr).ok(),
        _ => None,
    };
    let of_tensor = expr.tensor().map(Tensor::shape);
    let shape = of_iterators.as_ref().or(of_tensor).or(expr.shape());
    shape.map_or_else(Vec::new, Shape::dims)
}

/// The extents of the free iterators of `expr`, in order of first appearance. This is the shape S'
/// of TeML eq. 15, as far as it is known before ranges are given.
///
/// # Errors
/// As [`ranges_so_far`].
pub fn virtual_shape(expr: &Expr) -> Result<Shape, Mismatch> {
    let ranges = ranges_so_far(expr)?;
    Ok(Shape::of_virtual_dims(
        ranges.iter().map(IteratorRange::dim).collect(),
    ))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Name;
    use crate::ir::{Elem, Index, Node, Tensor};

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
            "`i` indexes dimension 1 of a (extent 4) and dimension 1 of b (extent 5)"
        );
    }

    #[test]
    fn one_index_needs_one_extent_at_every_offset() {
        let (x, y) = (tensor("x", &[4, 5]), tensor("y", &[5]));
        let i = it("i");
        for offset in [-1, 0, 2] {
            let i = i.plus_constant(offset);
            let diagonal = of(&[(&x, vec![i.clone(), i.clone()])]);
            let extents = |error| matches!(error, Err(Mismatch::Extents { .. }));
            assert!(extents(diagonal), "{offset}");
            let beside = of(&[(&x, vec![i.clone(), it("j")]), (&y, vec![i])]);
            assert!(extents(beside), "{offset}");
        }
    }

    #[test]
    fn what_other_indices_limit_may_be_longer() {
        let (u, v) = (tensor("u", &[6]), tensor("v", &[5]));
        let i = it("i");
        let next = i.plus_constant(1);
        let range = |last: &[(&Tensor, Vec<Affine>)]| {
            let mut uses = vec![(&u, vec![next.clone()]), (&u, vec![i.clone()])];
            uses.extend_from_slice(last);
            of(&uses)
        };
        assert_eq!(range(&[(&v, vec![i.clone()])]), Ok(vec![(0, 5)]));
        // `u[i + 1]` leaves 0..5 of `u[i]`, and `v[i]` would leave fewer values.
        let short = tensor("w", &[4]);
        let error = range(&[(&short, vec![i.clone()])]);
        assert!(matches!(error, Err(Mismatch::Extents { .. })), "{error:?}");
        let error = range(&[(&v, vec![next.clone()])]);
        assert!(matches!(error, Err(Mismatch::Extents { .. })), "{error:?}");
    }

    /// The sum over `k` of the product of accesses.
    fn sum(accesses: &[(&Tensor, Vec<Affine>)]) -> Result<Vec<(i64, i64)>, Mismatch> {
        let factors = accesses
            .iter()
            .map(|(t, index)| Expr::access((*t).clone(), Index::At(index.clone())));
        let body = factors.reduce(|left, right| {
            Expr::new(Node::Binary {
                op: crate::ir::BinaryOp::Mul,
                shape: Shape::of_extents([]),
                left,
                right,
            })
        });
        let sum = Expr::new(Node::Reduce {
            reduction: crate::ir::Reduction::Sum,
            over: vec![Name::new("k").unwrap()],
            within: Domain::default(),
            shape: Shape::of_extents([]),
            body: body.unwrap(),
        });
        let ranges = ranges(&sum)?;
        Ok(ranges.into_iter().map(|r| (r.low, r.high)).collect())
    }

    #[test]
    fn a_reduction_takes_all_that_one_access_allows() {
        let (a, b) = (tensor("a", &[5]), tensor("b", &[5]));
        let (short, m) = (tensor("w", &[3]), tensor("m", &[5, 5]));
        let (h, k) = (it("h"), it("k"));
        let (next, before) = (k.plus_constant(1), k.plus_constant(-1));
        for whole in [
            vec![(&a, vec![k.clone()]), (&b, vec![k.clone()])],
            vec![(&a, vec![next.clone()]), (&short, vec![k.clone()])],
            vec![(&m, vec![k.clone(), next.clone()])],
            vec![
                (&a, vec![k.times(-1).plus_constant(4)]),
                (&b, vec![k.clone()]),
            ],
            vec![(&a, vec![k.times(2)]), (&short, vec![k.clone()])],
        ] {
            assert_eq!(sum(&whole), Ok(vec![]));
        }
        let windows = [(&a, vec![h.plus(&k)]), (&short, vec![k.clone()])];
        assert_eq!(sum(&windows), Ok(vec![(0, 3)]));
        for (cut, range) in [
            (
                vec![(&a, vec![k.clone()]), (&b, vec![before.clone()])],
                (1, 5),
            ),
            (
                vec![(&a, vec![next.clone()]), (&b, vec![k.clone()])],
                (0, 4),
            ),
            (
                vec![(&a, vec![k.times(2)]), (&b, vec![before.clone()])],
                (1, 3),
            ),
        ] {
            let error = sum(&cut).unwrap_err();
            assert!(
                matches!(error, Mismatch::Cut { range: found, .. } if found == range),
                "{error}"
            );
        }
        let fits = [(&m, vec![h.clone(), h.plus(&k)])];
        let error = sum(&fits).unwrap_err();
        assert!(
            matches!(error, Mismatch::Window { range: (0, 1), .. }),
            "{error}"
        );
        // A window at a single place omits nothing.
        let one = tensor("one", &[1, 5]);
        let fits = [(&one, vec![h.clone(), h.plus(&k)])];
        assert_eq!(sum(&fits), Ok(vec![(0, 1)]));
    }

    #[test]
    fn an_offset_beyond_the_extent_leaves_nothing() {
        let a = tensor("a", &[3]);
        let error = of(&[(&a, vec![it("i")]), (&a, vec![it("i").plus_constant(3)])]);
        assert!(matches!(error, Err(Mismatch::Empty { .. })));
    }
}
