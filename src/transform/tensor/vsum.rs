//! `vsum` sums an expression over some of its iterators, without storing the result.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let x = tensor([5]);
//! let y = eq(vsum(vmul(A, x, [[i, j], [j]]), [j]), [i]);
//! print(y);
//! ```
//!
//! ```text
//! f64 y[4], A[4][5], x[5]
//! y[i] = sum(j: A[i][j] * x[j])
//! ```
//!
//! The result denotes the sum, whatever the target held before. Terms are added in the order of
//! the iterators listed, the last one fastest.
//!
//! Refuses: names that are no iterators of the expression, or listed twice.
//!
//! Source: the reduction behind TeML's `vcontract` (§4.2.3: "other reduction operations").

use super::infer::sum;
use super::operand::indexed;
use crate::ir::{Affine, Expr, Name};
use crate::transform::{Arg, Error, ErrorKind, Kind, Op, Param, Returns, Value};

/// `vsum(summand, over)`.
pub static VSUM: Op = Op {
    name: "vsum",
    params: &[
        Param::new("summand", Kind::Expr),
        Param::new("over", Kind::Iters),
    ],
    returns: Returns::Expr,
    file: include_str!("vsum.rs"),
    call: |args| match args {
        [Arg::Expr(summand), Arg::Iters(over)] => vsum(summand, over).map(Value::Expr),
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// The virtual sum of `summand` over the iterators `over`.
///
/// # Errors
/// As the header says.
pub fn vsum(summand: &Expr, over: &[Affine]) -> Result<Expr, Error> {
    let body = indexed(summand, &None).map_err(|kind| Error::from(kind).at_argument(0))?;
    let has = body.iterators();
    let mut names: Vec<Name> = Vec::with_capacity(over.len());
    for iterator in over {
        let Some(name) = iterator.as_iterator().filter(|n| has.contains(n)) else {
            let kind = ErrorKind::NotFree {
                iterator: iterator.to_string(),
                has,
            };
            return Err(Error::from(kind).at_argument(1));
        };
        if names.contains(name) {
            let kind = ErrorKind::Repeated {
                iterator: name.clone(),
            };
            return Err(Error::from(kind).at_argument(1));
        }
        names.push(name.clone());
    }
    if names.is_empty() {
        return Ok(body);
    }
    Ok(sum(names, body)?)
}
