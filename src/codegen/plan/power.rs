//! Powers with small constant exponents, which are computed as products and roots.
//!
//! `pow(x, 2)` is one multiplication, and `pow(x, -1.5)` a root, a division and two
//! multiplications. Each of them rounds once, so that the error is below 5 units in the last place,
//! as with functions of vectors. Larger exponents are left to the C library, whose functions of
//! vectors take up to a hundred times as long.

use crate::ir::{Constant, Expr, Node};

/// The most factors that replace a call.
const MAX_FACTORS: i64 = 8;

/// Twice the exponent, if the power is computed as products and roots.
pub(crate) fn halves(exponent: &Expr) -> Option<i64> {
    let exponent = match exponent.node() {
        Node::Constant(Constant::F64(x)) => *x,
        Node::Constant(Constant::F32(x)) => f64::from(*x),
        _ => return None,
    };
    let halves = 2.0 * exponent;
    if halves.fract() != 0.0 || halves.abs() > 2.0 * MAX_FACTORS as f64 {
        return None;
    }
    let halves = halves as i64;
    // Roots and quotients already have an error before they are multiplied.
    let (factors, most) = match (halves % 2, halves > 0) {
        (0, true) => (halves / 2, MAX_FACTORS),
        (0, false) => (halves / 2, MAX_FACTORS / 2),
        _ => (halves, MAX_FACTORS / 2),
    };
    (1..=most).contains(&factors.abs()).then_some(halves)
}

/// Whether the power is infinite or undefined at zero.
pub(crate) fn has_pole(exponent: &Expr) -> bool {
    halves(exponent).is_none_or(|halves| halves < 0)
}
