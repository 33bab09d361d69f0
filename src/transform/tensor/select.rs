//! `vselect` and `select` choose between two values by comparing two others.
//!
//! ```rhai
//! let A = tensor([4]);
//! let B = tensor([4]);
//! let C = select(A, "<", 0, B, A, [[i], (), [i], [i]] -> [i]);
//! print(C);
//! print(vselect(A, "==", B, 1, 0, [[i], [i]]));
//! ```
//!
//! ```text
//! f64 C[4], A[4], B[4]
//! C[i] = select(A[i] < 0, B[i], A[i])
//! f64 A[4], B[4]
//! select(A[i] == B[i], 1, 0)
//! ```
//!
//! `vselect(left, comparison, right, yes, no, lists)` is `yes` where the comparison of `left` with
//! `right` holds, and `no` elsewhere; `select(…, lists -> target)` assigns that. The comparisons
//! are the strings `<`, `<=`, `>`, `>=`, `==`, `!=`; with a NaN only `!=` holds. The lists index
//! `left`, `right`, `yes` and `no`, any of which may be a number. Without lists, entries are chosen
//! and broadcast as `A + B` adds them. `where(A > 0, A, 0)` says the same in NumPy's words. Both
//! values are ordinary accesses: their indices stay inside, whichever value is chosen. A selection
//! counts as one operation.
//!
//! The first two may be of another element type than the values, so that values are chosen by their
//! position:
//!
//! ```rhai
//! let S = tensor([6, 6]);
//! let M = eq(vselect(vindex(j), "<=", vindex(i), S, -1e30, [(), (), [i, j]]), [i, j]);
//! print(M);
//! ```
//!
//! ```text
//! f64 M[6][6], S[6][6]
//! M[i][j] = select(index(j) <= index(i), S[i][j], -1e30)
//! ```
//!
//! Where both values are numbers, they have the type of what is compared; `1.0` beside `0.0` are of
//! type `f64` if that is an integer type.
//!
//! Refuses: what `vadd` and `eq` refuse.
//!
//! Source: beyond the paper, in the form of TeML eqs. 15 and 16.

use super::eq::{assign, stored_or_carried};
use super::infer::apply;
use super::operand::{Operand, Operands};
use crate::args::{IterLists, ListsArrow};
use crate::ir::{Comparison, Expr, Function};
use crate::{Args, Error, Iters, Op, Param, Returns, Value};

const LEFT: Param<Operand> = Param::new("left");
const COMPARISON: Param<Comparison> = Param::new("comparison");
const RIGHT: Param<Operand> = Param::new("right");
const YES: Param<Operand> = Param::new("yes");
const NO: Param<Operand> = Param::new("no");
const LISTS: Param<Option<IterLists>> = Param::new("iterators");
const ITERATORS: Param<Option<ListsArrow>> = Param::new("iterators");

/// `vselect(left, comparison, right, yes, no, iterators?)`.
pub static VSELECT: Op = Op {
    name: "vselect",
    params: &[
        LEFT.any(),
        COMPARISON.any(),
        RIGHT.any(),
        YES.any(),
        NO.any(),
        LISTS.any(),
    ],
    returns: Returns::Expr,
    file: include_str!("select.rs"),
    call: |args| {
        let [left, right, yes, no] = operands(args)?;
        let lists = args.get(&LISTS)?.unwrap_or_default();
        vselect([left, right], args.get(&COMPARISON)?, [yes, no], lists).map(Value::Expr)
    },
};

/// `select(left, comparison, right, yes, no, iterators?)`.
pub static SELECT: Op = Op {
    name: "select",
    params: &[
        LEFT.any(),
        COMPARISON.any(),
        RIGHT.any(),
        YES.any(),
        NO.any(),
        ITERATORS.any(),
    ],
    returns: Returns::Expr,
    file: include_str!("select.rs"),
    call: |args| {
        let comparison = args.get(&COMPARISON)?;
        let [left, right, yes, no] = operands(args)?;
        let Some(arrow) = args.get(&ITERATORS)? else {
            let value = vselect([left, right], comparison, [yes, no], &[])?;
            return stored_or_carried(value, &ITERATORS).map(Value::Expr);
        };
        let operands = chosen([left, right, yes, no], &arrow.from);
        let value = operands.combined(|args| apply(Function::Select(comparison), &args))?;
        assign(value, &arrow.to, &ITERATORS).map(Value::Expr)
    },
};

fn operands<'a>(args: &Args<'a>) -> Result<[Operand<'a>; 4], Error> {
    let compared = [args.get(&LEFT)?, args.get(&RIGHT)?];
    let values = [args.get(&YES)?, args.get(&NO)?];
    Ok([compared[0], compared[1], values[0], values[1]])
}

fn chosen<'a>(operands: [Operand<'a>; 4], lists: &'a [Iters]) -> Operands<'a, 4> {
    Operands {
        operands,
        at: [&LEFT, &RIGHT, &YES, &NO],
        lists,
        lists_at: &ITERATORS,
        compared: 2,
    }
}

/// The virtual expression that is the first of `values` where the comparison of `compared` holds,
/// and the second one elsewhere.
///
/// # Errors
/// As the header says.
pub fn vselect<'a>(
    compared: [Operand<'a>; 2],
    comparison: Comparison,
    values: [Operand<'a>; 2],
    lists: &'a [Iters],
) -> Result<Expr, Error> {
    let operands = chosen([compared[0], compared[1], values[0], values[1]], lists);
    operands.combined_or_by_entry(|args| apply(Function::Select(comparison), &args))
}
