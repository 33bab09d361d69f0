//! `veq` is a virtual tensor: `eq` without storing anything.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let At = veq(A, [i, j] -> [j, i]);
//! let x = tensor([4]);
//! print(At);
//! print(vmul(At, x, [[i, j], [j]]));
//! ```
//!
//! ```text
//! f64 A[4][5]
//! [j, i] -> A[i][j]
//! f64 A[4][5], x[4]
//! A[j][i] * x[j]
//! ```
//!
//! `veq(value, I0 -> I1)`: `I0` indexes the value, and is left out if the value has iterators; `I1`
//! names the dimensions. The result has no iterators yet and can be used wherever a tensor can.
//!
//! Refuses: what `eq` refuses; dimensions that are not single iterators, or that repeat one;
//! iterators of the value that are not a dimension.
//!
//! Source: TeML §4.2.2, the virtual counterpart of eq. 14: it "simply causes TeML to reorganize
//! iterator lists".

use super::eq::only_list;
use super::infer::abstraction;
use super::operand::indexed;
use crate::analysis::shape::Mismatch;
use crate::ir::{Expr, Name};
use crate::refusals::repeated;
use crate::{Arrow, Error, Op, Param, Returns, Value, mistake};

const VALUE: Param<Expr> = Param::new("value");
const ITERATORS: Param<Arrow> = Param::new("iterators");

/// `veq(value, iterators)`.
pub static VEQ: Op = Op {
    name: "veq",
    params: &[VALUE.any(), ITERATORS.any()],
    returns: Returns::Expr,
    file: include_str!("veq.rs"),
    call: |args| veq(args.get(&VALUE)?, args.get(&ITERATORS)?).map(Value::Expr),
};

/// The virtual tensor with the element `value` at the iterators on the right of the arrow.
///
/// # Errors
/// As the header says.
pub fn veq(value: &Expr, arrow: &Arrow) -> Result<Expr, Error> {
    let given = only_list(arrow, &ITERATORS)?;
    let body = indexed(value, &given).map_err(|error| error.at(&VALUE))?;
    let has = body.iterators();
    let mut formals: Vec<Name> = Vec::with_capacity(arrow.to.len());
    for index in &arrow.to {
        let error = match index.as_iterator().cloned() {
            None => mistake(format!(
                "`{index}` is not a single iterator, and a virtual tensor has one per dimension"
            )),
            Some(iterator) if formals.contains(&iterator) => repeated(&iterator),
            Some(iterator) if !has.contains(&iterator) => Mismatch::Unbound { iterator }.into(),
            Some(iterator) => {
                formals.push(iterator);
                continue;
            }
        };
        return Err(error.at(&ITERATORS));
    }
    if let Some(iterator) = has.into_iter().find(|name| !formals.contains(name)) {
        let error = mistake(format!(
            "`{iterator}` indexes the value but is not a dimension of the virtual tensor"
        ));
        let error = error.help("list it after `->`, or sum over it with `vsum`");
        return Err(error.at(&ITERATORS));
    }
    abstraction(formals, body).map_err(|unfit| Error::from(unfit).at(&ITERATORS))
}
