//! `sorted(entries, rows)` says that the entries of each row increase: none is as large as the next one.
//!
//! ```rhai
//! let ptr = indices([5], 9 + 1, "increasing");
//! let col = sorted(indices([9], 6), ptr);
//! let V = tensor([9]);
//! let A = scatter(V[e], [i, col[e]], #{e: ptr[i]..ptr[i + 1]});
//! print(build(A));
//! print(check(build(A).vectorize("e")).legal);
//! ```
//!
//! ```text
//! f64 A[4][6], V[9]
//! i64 ptr[5] increasing in 0..10, col[9] sorted(ptr) in 0..6
//! fill A[0..4][0..6] = 0
//! for i in 0..4
//!   for e in ptr[i]..ptr[i + 1]
//!     let col_e = col[e]
//!       A[i][col_e] += V[e]
//! true
//! ```
//!
//! `rows` has the bounds of rows: row i has the entries `rows[i]..rows[i + 1]`. So columns of a row are
//! distinct, and a row can be scattered in lanes or on threads. Proofs use this fact, and every run
//! checks it on the data, as those of `indices`.
//!
//! Refuses: tensors that `indices` did not make; entries, or rows, of several dimensions; rows that do not
//! increase, or have no name yet.
//!
//! Source: the properties of index arrays in sparse polyhedral compilers (Mohammadi et al., 2019).

use crate::ir::{Entries, Expr, Order, Tensor};
use crate::{Error, Op, Param, Returns, Value, mistake};

const ENTRIES: Param<Expr> = Param::new("entries");
const ROWS: Param<Expr> = Param::new("rows");

/// `sorted(entries, rows)`.
pub static SORTED: Op = Op {
    name: "sorted",
    params: &[ENTRIES.any(), ROWS.any()],
    returns: Returns::Expr,
    file: include_str!("sorted.rs"),
    call: |args| sorted(args.get(&ENTRIES)?, args.get(&ROWS)?).map(Value::Expr),
};

/// The tensor of `entries` with that fact.
///
/// # Errors
/// As the header says.
pub fn sorted(entries: &Expr, rows: &Expr) -> Result<Expr, Error> {
    let (tensor, own) = of_indices(entries, &ENTRIES)?;
    let (bounds, of_bounds) = of_indices(rows, &ROWS)?;
    if of_bounds.order != Order::Increasing {
        let error = mistake(format!(
            "the entries of {} need not increase",
            bounds.label()
        ));
        return Err(error.help("`indices(…, \"increasing\")`").at(&ROWS));
    }
    let name = bounds.name().filter(|name| !name.is_generated());
    let name = name.ok_or_else(|| {
        let error = mistake("this tensor has no name");
        error.help("`let ptr = indices(…)` names it").at(&ROWS)
    })?;
    let known = Entries {
        rows: Some(name.clone()),
        ..own.clone()
    };
    Ok(Expr::of_tensor(tensor.with_entries(known)))
}

/// A tensor of one dimension that `indices` made, with its facts.
fn of_indices<'a>(
    expr: &'a Expr,
    param: &'static Param<Expr>,
) -> Result<(&'a Tensor, &'a Entries), Error> {
    let tensor = expr.tensor().filter(|tensor| tensor.shape().rank() == 1);
    let found = tensor.and_then(|tensor| Some((tensor, tensor.entries()?)));
    found.ok_or_else(|| {
        let error = mistake("this is not a tensor of entries with one dimension");
        error.help("`indices([z], n)` declares one").at(param)
    })
}
