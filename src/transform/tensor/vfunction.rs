//! `vneg`, `vabs`, `vsqrt`, `vexp`, `vlog`, `vtanh`, `vsin`, `vcos`, `vfloor`, `vceil`, `vround`,
//! `verf`, `vrelu` apply a function to every element, without storing the result.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! print(vexp(A, [i, j]));
//! print(vsqrt(vadd(vabs(A, [i, j]), 1)));
//! print(vrelu(A, [i, j]));
//! ```
//!
//! ```text
//! f64 A[4][5]
//! exp(A[i][j])
//! f64 A[4][5]
//! sqrt(abs(A[i][j]) + 1)
//! f64 A[4][5]
//! max(A[i][j], 0)
//! ```
//!
//! `vf(operand, iterators?)`; the iterators are left out if the operand has some. If it has none and
//! gets none, the function applies entry by entry, as in `vtanh(A) + 1`. The functions are those of
//! C's `<math.h>` for the element type. `vsqrt`, `vfloor`, `vceil` and `vround` are exact to the last
//! bit. The others may differ by a few units in the last place between C libraries, and in vector
//! lanes. A function gives NaN outside of its domain.
//!
//! `vround(x)` is the nearest whole number, and the even one of two that are as near: 2.5 becomes 2,
//! as in NumPy. `verf` is the error function.
//!
//! `vrelu(x)` is `vmaximum(x, 0)`. Integers have `vneg`, `vabs` and `vrelu`, which wrap at the
//! least integer. `flops` counts one for each function.
//!
//! In vector lanes on x86-64, functions come from glibc's libmvec if it has them. Their error is
//! less than 4 units in the last place, and `compare` shows it. Elsewhere, and with
//! `CFLAGS=-DTEML_MVEC=0`, each lane calls the function of `<math.h>`.
//!
//! Refuses: iterators that `eq` refuses; other functions of integers.
//!
//! Source: beyond the paper, in the form of TeML eq. 15.

use super::entries::each_entry;
use super::infer::{apply, binary};
use super::operand::{carried, constant, indexed, rank};
use super::unfit::Unfit;
use crate::args::Iterators;
use crate::ir::{Affine, BinaryOp, Expr, Function};
use crate::{Error, Iters, Number, Op, Param, Returns, Value};

/// A function of one argument.
#[derive(Clone, Copy, Debug)]
pub enum Unary {
    /// A function of expressions.
    Function(Function),
    /// The value if it is positive, otherwise 0.
    Relu,
}

const OPERAND: Param<Expr> = Param::new("operand");
const ITERATORS: Param<Option<Iterators>> = Param::new("iterators");

macro_rules! vfunction {
    ($name:literal, $function:expr) => {
        Op {
            name: $name,
            params: &[OPERAND.any(), ITERATORS.any()],
            returns: Returns::Expr,
            file: include_str!("vfunction.rs"),
            call: |args| {
                let given = args.get(&ITERATORS)?.map(<[Affine]>::to_vec);
                vfunction($function, args.get(&OPERAND)?, &given).map(Value::Expr)
            },
        }
    };
}

/// `vneg(operand, iterators?)`.
pub static VNEG: Op = vfunction!("vneg", Unary::Function(Function::Neg));
/// `vabs(operand, iterators?)`.
pub static VABS: Op = vfunction!("vabs", Unary::Function(Function::Abs));
/// `vsqrt(operand, iterators?)`.
pub static VSQRT: Op = vfunction!("vsqrt", Unary::Function(Function::Sqrt));
/// `vexp(operand, iterators?)`.
pub static VEXP: Op = vfunction!("vexp", Unary::Function(Function::Exp));
/// `vlog(operand, iterators?)`.
pub static VLOG: Op = vfunction!("vlog", Unary::Function(Function::Log));
/// `vtanh(operand, iterators?)`.
pub static VTANH: Op = vfunction!("vtanh", Unary::Function(Function::Tanh));
/// `vsin(operand, iterators?)`.
pub static VSIN: Op = vfunction!("vsin", Unary::Function(Function::Sin));
/// `vcos(operand, iterators?)`.
pub static VCOS: Op = vfunction!("vcos", Unary::Function(Function::Cos));
/// `vfloor(operand, iterators?)`.
pub static VFLOOR: Op = vfunction!("vfloor", Unary::Function(Function::Floor));
/// `vceil(operand, iterators?)`.
pub static VCEIL: Op = vfunction!("vceil", Unary::Function(Function::Ceil));
/// `vround(operand, iterators?)`.
pub static VROUND: Op = vfunction!("vround", Unary::Function(Function::Round));
/// `verf(operand, iterators?)`.
pub static VERF: Op = vfunction!("verf", Unary::Function(Function::Erf));
/// `vrelu(operand, iterators?)`.
pub static VRELU: Op = vfunction!("vrelu", Unary::Relu);

/// The virtual expression `function(operand)`.
///
/// # Errors
/// As the header says.
pub fn vfunction(function: Unary, operand: &Expr, given: &Iters) -> Result<Expr, Error> {
    if given.is_none() && carried(operand).is_empty() && rank(operand) > 0 {
        let value = each_entry(operand, |entry| of_entry(function, entry));
        return value.map_err(|error| error.at(&OPERAND));
    }
    of_indexed(function, operand, given)
}

/// The same for an operand that has iterators or gets some.
pub(super) fn of_indexed(function: Unary, operand: &Expr, given: &Iters) -> Result<Expr, Error> {
    let entry = indexed(operand, given).map_err(|error| error.at(&OPERAND))?;
    of_entry(function, entry).map_err(|unfit| match unfit {
        Unfit::Elem(error) => error.at(&OPERAND),
        Unfit::Shape(_) if given.is_some() => Error::from(unfit).at(&ITERATORS),
        unfit => unfit.into(),
    })
}

fn of_entry(function: Unary, entry: Expr) -> Result<Expr, Unfit> {
    match function {
        Unary::Function(function) => apply(function, &[entry]),
        Unary::Relu => {
            let zero = constant(Number::Int(0), entry.elem()).map_err(Unfit::Other)?;
            binary(BinaryOp::Max, entry, zero)
        }
    }
}
