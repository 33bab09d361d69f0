//! `neg`, `abs`, `sqrt`, `exp`, `log`, `tanh`, `sin`, `cos`, `floor`, `ceil`, `round`, `erf`, `relu`
//! apply a function to every element and assign the result.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = tanh(A, [i, j] -> [j, i]);
//! print(build(B));
//! ```
//!
//! ```text
//! f64 B[5][4], A[4][5]
//! for j in 0..5
//!   for i in 0..4
//!     B[j][i] = tanh(A[i][j])
//! ```
//!
//! `f(operand, I0 -> I1)` is `vf(operand, I0)` followed by `eq(…, () -> I1)`. Without iterators,
//! `f(operand)` keeps the dimensions in their order. An operand that carries iterators keeps them:
//! `exp(vat(x, [i])) + vat(y, [i])` stores nothing. `exp(2.0)` and the like are functions of
//! numbers, as in any script.
//!
//! Refuses: what `vneg` and `eq` refuse.
//!
//! Source: beyond the paper, in the form of TeML eq. 16.

use super::eq::{arrow_or_all, assign, both_sides, only_list, places, with_arrow};
use super::operand::carried;
use super::vfunction::{Unary, of_indexed, vfunction};
use crate::ir::{Expr, Function};
use crate::{Arrow, Error, Op, Param, Returns, Value};

const OPERAND: Param<Expr> = Param::new("operand");
const ITERATORS: Param<Option<Arrow>> = Param::new("iterators");

macro_rules! function {
    ($name:literal, $function:expr) => {
        Op {
            name: $name,
            params: &[OPERAND.any(), ITERATORS.any()],
            returns: Returns::Expr,
            file: include_str!("function.rs"),
            call: |args| {
                let operand = args.get(&OPERAND)?;
                let made = match args.get(&ITERATORS)? {
                    None if !carried(operand).is_empty() => vfunction($function, operand, &None),
                    given => function($function, operand, &arrow_or_all(given, operand)),
                };
                made.map(Value::Expr)
            },
        }
    };
}

/// `neg(operand, iterators?)`.
pub static NEG: Op = function!("neg", Unary::Function(Function::Neg));
/// `abs(operand, iterators?)`.
pub static ABS: Op = function!("abs", Unary::Function(Function::Abs));
/// `sqrt(operand, iterators?)`.
pub static SQRT: Op = function!("sqrt", Unary::Function(Function::Sqrt));
/// `exp(operand, iterators?)`.
pub static EXP: Op = function!("exp", Unary::Function(Function::Exp));
/// `log(operand, iterators?)`.
pub static LOG: Op = function!("log", Unary::Function(Function::Log));
/// `tanh(operand, iterators?)`.
pub static TANH: Op = function!("tanh", Unary::Function(Function::Tanh));
/// `sin(operand, iterators?)`.
pub static SIN: Op = function!("sin", Unary::Function(Function::Sin));
/// `cos(operand, iterators?)`.
pub static COS: Op = function!("cos", Unary::Function(Function::Cos));
/// `floor(operand, iterators?)`.
pub static FLOOR: Op = function!("floor", Unary::Function(Function::Floor));
/// `ceil(operand, iterators?)`.
pub static CEIL: Op = function!("ceil", Unary::Function(Function::Ceil));
/// `round(operand, iterators?)`.
pub static ROUND: Op = function!("round", Unary::Function(Function::Round));
/// `erf(operand, iterators?)`.
pub static ERF: Op = function!("erf", Unary::Function(Function::Erf));
/// `relu(operand, iterators?)`.
pub static RELU: Op = function!("relu", Unary::Relu);

/// The assignment of `function(operand)` to a tensor named □.
///
/// # Errors
/// As the header says.
pub fn function(function: Unary, operand: &Expr, arrow: &Arrow) -> Result<Expr, Error> {
    let arrow = &both_sides(operand, arrow);
    let given = only_list(arrow, &ITERATORS)?;
    let value = of_indexed(function, operand, &given);
    let value = value.map_err(|error| with_arrow(error, operand, arrow))?;
    let to = places(operand, &value, &given, &arrow.to);
    assign(value, &to, &ITERATORS)
}
