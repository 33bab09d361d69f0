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
//! A dimension may be a sum of iterators that takes each value once, such as `5*i + k` with `k` in
//! 0..5. The value is then a function of the quotient and the remainder of its index. A definition
//! that reads it runs over both:
//!
//! ```rhai
//! let A = tensor([3]);
//! let B = tensor([5]);
//! let x = tensor([15]);
//! let K = veq(vmul(A, B, [[i], [k]]), [5*i + k]);
//! print(K); print(eq(vadd(K, x, [[n], [n]]), [n]));
//! ```
//!
//! ```text
//! f64 A[3], B[5]
//! [_1] -> A[_1/5] * B[_1%5]
//! f64 □[15], A[3], B[5], x[15]
//! □[5*n_q + n_r] = A[n_q] * B[n_r] + x[5*n_q + n_r]
//! ```
//!
//! Refuses: what `eq` refuses; dimensions that repeat an iterator, or do not take each value once;
//! iterators of the value that are not in a dimension; later indices of such a dimension whose
//! quotient is not affine, as that of `2*n` by 5.
//!
//! Source: TeML §4.2.2, the virtual counterpart of eq. 14: it "simply causes TeML to reorganize
//! iterator lists".

use super::eq::only_list;
use super::infer::abstraction;
use super::operand::indexed;
use crate::analysis::shape::{self, Mismatch};
use crate::ir::{Affine, Expr, Name, fresh_name};
use crate::refusals::repeated;
use crate::{Arrow, Error, Op, Param, Returns, Value, bug, mistake};

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
    // The iterators of the value, and what they are of the formals.
    let mut listed: Vec<(Name, Affine)> = Vec::with_capacity(has.len());
    for index in &arrow.to {
        let taken =
            |name: &Name| body.mentions(name) || has.contains(name) || formals.contains(name);
        let formal = match index.as_iterator() {
            Some(iterator) => iterator.clone(),
            None => fresh_name(taken),
        };
        let parts = parts(index, &formal, &body).map_err(|error| error.at(&ITERATORS))?;
        formals.push(formal);
        for (iterator, part) in parts {
            let error = if listed.iter().any(|(known, _)| *known == iterator) {
                repeated(&iterator)
            } else if !has.contains(&iterator) {
                Mismatch::Unbound { iterator }.into()
            } else {
                listed.push((iterator, part));
                continue;
            };
            return Err(error.at(&ITERATORS));
        }
    }
    let is_listed = |name: &Name| listed.iter().any(|(known, _)| known == name);
    if let Some(iterator) = has.into_iter().find(|name| !is_listed(name)) {
        let error = mistake(format!(
            "`{iterator}` indexes the value but is not a dimension of the virtual tensor"
        ));
        let error = error.help("list it after `->`, or sum over it with `vsum`");
        return Err(error.at(&ITERATORS));
    }
    let body = body.substitute(&|name| {
        let (_, part) = listed.iter().find(|(known, _)| known == name)?;
        Some(part.clone())
    });
    abstraction(formals, body).map_err(|unfit| Error::from(unfit).at(&ITERATORS))
}

/// The iterators of an index as functions of its value, which `formal` has.
fn parts(index: &Affine, formal: &Name, body: &Expr) -> Result<Vec<(Name, Affine)>, Error> {
    let refuse = |why: String| {
        let text = format!("a virtual tensor has one element for each value of `{index}`: {why}");
        let help = "sums such as `5*i + k` with `k` in 0..5 take each value once";
        Err(mistake(text).help(help))
    };
    let value = Affine::iterator(formal.clone()).plus_constant(-index.offset());
    if let [(name, sign @ (1 | -1))] = index.terms() {
        return Ok(vec![(name.clone(), value.times(*sign))]);
    }
    let ranges = shape::ranges_so_far(body)?;
    let range = |name: &Name| {
        let range = ranges.iter().find(|r| r.name == *name && !r.is_unknown());
        range.map(|r| (r.low, r.high))
    };
    let mut terms = index.terms().to_vec();
    terms.sort_by_key(|(name, c)| (*c, range(name).map(|(_, high)| high)));
    let mut factor = 1;
    let mut parts = Vec::with_capacity(terms.len());
    let mut terms = terms.iter().peekable();
    while let Some((name, c)) = terms.next() {
        if *c != factor {
            return refuse(format!(
                "`{name}` has the factor {c}, and {factor} takes each once"
            ));
        }
        let modulus = match (terms.peek(), range(name)) {
            (None, _) => None,
            (Some(_), Some((0, high @ 1..))) => Some(factor.saturating_mul(high)),
            (Some(_), Some((low, high))) => {
                return refuse(format!(
                    "`{name}` takes {low}..{high}, and has to begin at 0"
                ));
            }
            (Some(_), None) => return refuse(format!("the range of `{name}` is unknown")),
        };
        let Some(part) = value.digit(factor, modulus) else {
            return Err(bug("a single iterator has no digit"));
        };
        parts.push((name.clone(), part));
        factor = modulus.unwrap_or(factor);
    }
    if parts.is_empty() {
        return refuse("it has no iterator".to_owned());
    }
    Ok(parts)
}
