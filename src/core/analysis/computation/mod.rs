//! Classifies the computation of a nest for schedules: a product with the roles of its loops, a
//! window, a stencil, elements, another sum, or a recurrence.
//!
//! Answers depend on the structure alone: renamed iterators and tensors give the same roles.
//! [`computation`] returns the first class that fits. [`product()`] and the others test for one
//! class, and name the requirement that a nest fails.

mod assignment;
mod product;
mod triangle;
mod window;

pub use assignment::{Access, Assignment, accesses};
pub use product::{Interleaved, Product, interleaved, product};
pub use triangle::{Triangle, triangle};
pub use window::{Window, window};

use crate::ir::{Name, Nest};

/// The class of a computation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Computation {
    /// Any computation in loops whose bounds are read from tensors.
    Sparse {
        /// The loops whose bounds are read, outermost first.
        reads: Vec<Name>,
    },
    /// A sum of products below or above the diagonal of a matrix.
    Triangle(Triangle),
    /// A sum of terms of several tensors, some with rows and others with columns.
    Product(Product),
    /// Products side by side, counted by the last index.
    Interleaved(Interleaved),
    /// A sum over a window with a single filter.
    Window(Window),
    /// Another reduction, such as a matrix-vector product.
    Reduction {
        /// The sums, outermost first.
        sums: Vec<Name>,
    },
    /// Elements that depend on their neighbors, in rows.
    Stencil {
        /// The loop over rows.
        rows: Name,
        /// The loop over columns.
        columns: Name,
    },
    /// Other elements, each assigned once.
    Elementwise,
    /// Anything else: several statements, bounds that depend on loops, or elements that depend on
    /// other elements of the same tensor.
    Recurrence(Unlike),
}

impl Computation {
    /// The word for it in scripts.
    pub fn kind(&self) -> &'static str {
        match self {
            Computation::Sparse { .. } => "sparse",
            Computation::Triangle(_) => "triangle",
            Computation::Product(_) => "product",
            Computation::Interleaved(_) => "interleaved",
            Computation::Window(_) => "window",
            Computation::Reduction { .. } => "reduction",
            Computation::Stencil { .. } => "stencil",
            Computation::Elementwise => "elementwise",
            Computation::Recurrence(_) => "recurrence",
        }
    }
}

/// Why a nest does not belong to a class. The message follows "the nest".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unlike {
    /// The nest is empty.
    #[error("must have an assignment")]
    NoAssignment,
    /// There are several statements.
    #[error("has more than one assignment")]
    SeveralAssignments,
    /// The nest branches.
    #[error("must be perfect: each loop has only one other loop or the assignment in it")]
    Imperfect,
    /// The loop has a step or bounds that depend on other loops.
    #[error("has bounds of `{0}` that are not numbers")]
    NoNumbers(Name),
    /// The value reads other elements of the assigned tensor.
    #[error("must read no elements of `{0}` but the one that it assigns")]
    ReadsItself(String),
    /// There are fewer than two operands, or the last index of the result is not a single iterator.
    #[error("must be a sum of products of two tensors")]
    NoProduct,
    /// All operands have the columns, or none has.
    #[error("must have one operand that `{0}` indexes, and one that it does not")]
    NoColumns(Name),
    /// No operand has rows of its own, or there is no sum.
    #[error("must have rows, which one operand shares with the result, and a sum")]
    NoRows,
    /// The products do not lie side by side.
    #[error("must be products of two tensors that the last index counts")]
    NotInterleaved,
    /// There is no sum, or there are no columns.
    #[error("must be a sum over a window")]
    NoWindow,
    /// No operand or several operands have the columns, or one has them with a stride.
    #[error("must have one operand in which neighbors in the result are neighbors")]
    NoImage,
    /// The image is also read elsewhere, or twice along its rows.
    #[error("must have an image apart from filters")]
    NoFilter,
    /// No dimension of the image has rows of the result.
    #[error("must have a window, and several rows")]
    NoRowsOfWindow,
    /// The window is too large to unroll, or there is one row.
    #[error("must have a window of at most {0} elements, and several rows")]
    LargeWindow(i64),
    /// The nest is not a triangle of a product.
    #[error("must be a sum of products below or above the diagonal of a matrix")]
    NoTriangle,
}

/// The first class that fits the nest.
pub fn computation(nest: &Nest) -> Computation {
    let loops = nest.loops().into_iter().map(|(_, l)| l);
    let reads = loops.filter(|l| l.range.within.is_some());
    let reads: Vec<Name> = reads.map(|l| l.name.clone()).collect();
    if !reads.is_empty() {
        return Computation::Sparse { reads };
    }
    if let Ok(triangle) = triangle(nest) {
        return Computation::Triangle(triangle);
    }
    match Assignment::of(nest) {
        Ok(assignment) => of_assignment(&assignment),
        Err(unlike) => Computation::Recurrence(unlike),
    }
}

fn of_assignment(a: &Assignment) -> Computation {
    let sums = a.sums();
    if sums.is_empty() {
        return match rows_and_columns(a).filter(|_| has_neighbors(a)) {
            Some((rows, columns)) => Computation::Stencil { rows, columns },
            None => Computation::Elementwise,
        };
    }
    // A product with one row is memory-bound: it uses each operand once.
    let product = product(a).ok();
    let several = product.as_ref().filter(|p| a.trip_count(&p.rows) > 1);
    if several.is_none()
        && let Ok(window) = window(a)
    {
        return Computation::Window(window);
    }
    if product.is_none()
        && let Ok(interleaved) = interleaved(a)
    {
        return Computation::Interleaved(interleaved);
    }
    match several {
        Some(product) => Computation::Product(product.clone()),
        None => Computation::Reduction { sums },
    }
}

/// Whether an index is more than one iterator, so that it reads neighbors or a fixed element.
fn has_neighbors(a: &Assignment) -> bool {
    let is_plain = |index: &crate::ir::Affine| index.as_iterator().is_some();
    !a.reads.iter().all(|read| read.index.iter().all(is_plain))
}

/// The loops over rows and columns of the target, if each has an iterator of its own.
fn rows_and_columns(a: &Assignment) -> Option<(Name, Name)> {
    match a.target.index.as_slice() {
        [.., row, column] => match (row.terms(), column.terms()) {
            ([(row, _)], [(column, _)]) => Some((row.clone(), column.clone())),
            _ => None,
        },
        _ => None,
    }
}
