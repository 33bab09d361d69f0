//! A contraction as a product of matrices, which are copies of its operands.
//!
//! ```text
//! C[a][b][c] = sum(e, f: A[a][e][b][f] * B[f][c][e])    A2[5*a + b][7*e + f] = A[a][e][b][f]
//!                                                       B2[7*e + f][c] = B[f][c][e]
//!                                                       C2[a][c] = sum(e: A2[a][e] * B2[e][c])
//!                                                       C[a][b][c] = C2[5*a + b][c]
//! ```
//!
//! Several indices become one, in mixed radix. Rows have the indices that the result shares with one
//! operand, and columns the ones that it shares with the other operand. Terms have the summed ones. The
//! last index of the result is one of the columns. Operands that are such matrices already are not
//! copied, and neither is such a result. Terms keep their order, so numbers are rounded as before.
//!
//! Source: Springer and Bientinesi, Design of a High-Performance GEMM-like Tensor-Tensor Multiplication,
//! 2018, which compares such copies with other ways.

use super::contraction::{NoSplit, name_after};
use super::eq::{ITERATORS, assign};
use super::infer::{binary, reduce};
use crate::ir::{Affine, BinaryOp, Domain, Expr, Index, Name, Node, Reduction, Tensor};
use crate::legality::assigns_all;

/// The assignments of the copies, of the product, and of the result.
///
/// # Errors
/// [`NoSplit::NoMatrices`].
pub fn as_matrices(assignment: &Expr) -> Result<Vec<Expr>, NoSplit> {
    let contraction = Contraction::of(assignment).ok_or(NoSplit::NoMatrices)?;
    contraction.steps()
}

/// An element whose indices are different iterators. Each takes all values of its dimension.
struct Element<'a> {
    tensor: &'a Tensor,
    iterators: Vec<Name>,
}

impl<'a> Element<'a> {
    fn of(value: &'a Expr) -> Option<Element<'a>> {
        let Node::Access {
            tensor,
            index: Index::At(index),
        } = value.node()
        else {
            return None;
        };
        let iterators: Vec<Name> = index
            .iter()
            .map(|at| at.as_iterator().cloned())
            .collect::<Option<_>>()?;
        let differ = (1..iterators.len()).all(|k| !iterators[..k].contains(&iterators[k]));
        let is_numbered = tensor.shape().numbers().is_some();
        (differ && is_numbered).then_some(Element { tensor, iterators })
    }

    fn extent(&self, name: &Name) -> Option<i64> {
        let at = self.iterators.iter().position(|own| own == name)?;
        i64::try_from(*self.tensor.shape().extents().get(at)?).ok()
    }

    fn read(&self) -> Expr {
        let index = self.iterators.iter().cloned().map(Affine::iterator);
        Expr::element(self.tensor, index.collect())
    }
}

/// Iterators that become one.
struct Group {
    /// The iterator of the matrices.
    first: Name,
    iterators: Vec<Name>,
    extents: Vec<i64>,
}

impl Group {
    fn index(&self) -> Affine {
        let all = self.iterators.iter().zip(&self.extents);
        all.fold(Affine::constant(0), |index, (name, extent)| {
            let iterator = Affine::iterator(name.clone());
            index.times(*extent).plus(&iterator)
        })
    }
}

/// An element of a matrix.
fn entry(rows: &Group, columns: &Group) -> [Affine; 2] {
    [rows, columns].map(|group| Affine::iterator(group.first.clone()))
}

/// `target = sum(terms: left * right)`. The left operand has the rows, and the right one the columns.
struct Contraction<'a> {
    assignment: &'a Expr,
    target: Element<'a>,
    left: Element<'a>,
    right: Element<'a>,
    /// Whether the operands are written the other way around.
    is_exchanged: bool,
    rows: Group,
    columns: Group,
    terms: Group,
}

impl<'a> Contraction<'a> {
    fn of(assignment: &'a Expr) -> Option<Contraction<'a>> {
        let Node::Assign {
            target,
            value,
            within,
            elsewhere: None,
        } = assignment.node()
        else {
            return None;
        };
        let Node::Reduce {
            reduction: Reduction::Sum,
            over,
            within: ranges,
            body,
            ..
        } = value.node()
        else {
            return None;
        };
        let Node::Binary {
            op: BinaryOp::Mul,
            left: first,
            right: second,
            ..
        } = body.node()
        else {
            return None;
        };
        let (first, second) = (Element::of(first)?, Element::of(second)?);
        let target = Element::of(target)?;
        let is_exchanged = first.iterators.contains(target.iterators.last()?);
        let (left, right) = if is_exchanged {
            (second, first)
        } else {
            (first, second)
        };
        let is_row = |name: &&Name| left.iterators.contains(name);
        let (rows, columns): (Vec<&Name>, Vec<&Name>) = target.iterators.iter().partition(is_row);
        let are_apart = rows.iter().all(|name| !right.iterators.contains(name));
        let are_terms = |of: &Element, own: &[&Name]| {
            of.iterators.len() == own.len() + over.len()
                && of
                    .iterators
                    .iter()
                    .all(|name| own.contains(&name) || over.contains(name))
        };
        let fit = are_apart && are_terms(&left, &rows) && are_terms(&right, &columns);
        let keeps_nothing = within.is_empty() && ranges.is_empty() && assigns_all(assignment);
        let reads_itself = [&left, &right]
            .iter()
            .any(|e| e.tensor.name() == target.tensor.name());
        if !fit || !keeps_nothing || reads_itself {
            return None;
        }
        let extent = |name: &Name| {
            let mut all = [&target, &left, &right]
                .into_iter()
                .filter_map(|e| e.extent(name));
            let first = all.next()?;
            all.all(|other| other == first).then_some(first)
        };
        let group = |of: Vec<&Name>| {
            let extents: Vec<i64> = of.iter().map(|name| extent(name)).collect::<Option<_>>()?;
            let iterators: Vec<Name> = of.into_iter().cloned().collect();
            Some(Group {
                first: iterators.first()?.clone(),
                iterators,
                extents,
            })
        };
        let (rows, columns) = (group(rows)?, group(columns)?);
        let terms = group(over.iter().collect())?;
        Some(Contraction {
            assignment,
            target,
            left,
            right,
            is_exchanged,
            rows,
            columns,
            terms,
        })
    }

    fn steps(&self) -> Result<Vec<Expr>, NoSplit> {
        let mut steps = Steps::default();
        self.assignment
            .for_each_tensor(&mut |t| steps.taken.push(t.label().to_owned()));
        let left = steps.matrix(&self.left, &self.rows, &self.terms)?;
        let right = steps.matrix(&self.right, &self.terms, &self.columns)?;
        if steps.made.is_empty() && self.is_matrix() {
            return Err(NoSplit::NoMatrices);
        }
        let (first, second) = if self.is_exchanged {
            (right, left)
        } else {
            (left, right)
        };
        let body = binary(BinaryOp::Mul, first, second)?;
        let product = reduce(Reduction::Sum, vec![self.terms.first.clone()], body)?;
        let value = if self.is_matrix() {
            product
        } else {
            let index = entry(&self.rows, &self.columns);
            let made = steps.assigned(product, &index, self.target.tensor.label())?;
            Expr::element(&made, vec![self.rows.index(), self.columns.index()])
        };
        steps.made.push(Expr::new(Node::Assign {
            target: self.target.read(),
            value,
            within: Domain::default(),
            elsewhere: None,
        }));
        Ok(steps.made)
    }

    /// Whether the result is a matrix as it is.
    fn is_matrix(&self) -> bool {
        self.target.iterators.len() == 2
    }
}

#[derive(Default)]
struct Steps {
    made: Vec<Expr>,
    /// The names in use.
    taken: Vec<String>,
}

impl Steps {
    /// An element of an operand as a matrix, which is a copy unless the operand is one.
    fn matrix(&mut self, of: &Element, rows: &Group, columns: &Group) -> Result<Expr, NoSplit> {
        if of.iterators.len() == 2 {
            return Ok(of.read());
        }
        let index = [rows.index(), columns.index()];
        let made = self.assigned(of.read(), &index, of.tensor.label())?;
        Ok(Expr::element(&made, entry(rows, columns).to_vec()))
    }

    /// Assigns a value to a tensor that is named after another one.
    fn assigned(&mut self, value: Expr, index: &[Affine], after: &str) -> Result<Tensor, NoSplit> {
        let name = name_after([after].into_iter(), &self.taken);
        self.taken.push(name.to_string());
        let made = assign(value, index, &ITERATORS)?.fill_placeholder(&name);
        let tensor = made.tensor().cloned().ok_or(NoSplit::NoMatrices)?;
        self.made.push(made);
        Ok(tensor)
    }
}
