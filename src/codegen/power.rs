//! Powers whose exponents are known and small, as products and roots.
//!
//! `pow(x, 2)` is one multiplication, and `pow(x, -1.5)` a root, a division and two multiplications.
//! Each of them rounds once, so that the result is off by less than 5 units in the last place, as
//! functions of vectors are. Exponents beyond are left to the C library, whose functions of vectors
//! take up to a hundred times as long.

use super::kernel::Header;
use super::value::{ATOM, Values};
use crate::ir::{BinaryOp, Constant, Elem, Expr, Node};

/// The most factors that replace a call.
const MAX_FACTORS: i64 = 8;

/// Twice the exponent of a power that products and roots compute.
pub(super) fn halves(exponent: &Expr) -> Option<i64> {
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
    // Roots and quotients are off before they are multiplied.
    let (factors, most) = match (halves % 2, halves > 0) {
        (0, true) => (halves / 2, MAX_FACTORS),
        (0, false) => (halves / 2, MAX_FACTORS / 2),
        _ => (halves, MAX_FACTORS / 2),
    };
    (1..=most).contains(&factors.abs()).then_some(halves)
}

/// Whether the power is infinite at zero, or has no value there.
pub(super) fn has_pole(exponent: &Expr) -> bool {
    halves(exponent).is_none_or(|halves| halves < 0)
}

impl Values {
    /// The power of `base`, an atom, and how tightly its text binds.
    pub(super) fn power(
        &mut self,
        base: String,
        halves: i64,
        elem: Elem,
        lanes: bool,
    ) -> (String, u8) {
        let is_root = halves % 2 != 0;
        let factors = if is_root { halves } else { halves / 2 }.abs();
        self.headers.extend([Header::Math, Header::Powers]);
        let base = match (is_root, lanes) {
            (false, _) => base,
            (true, true) => format!("{}({base})", self.vector_function("root")),
            (true, false) => {
                let suffix = if elem == Elem::F32 { "f" } else { "" };
                format!("teml_root{suffix}({base})")
            }
        };
        let base = match halves < 0 {
            true => format!("{} / {base}", self.constant(Constant::small(elem, 1))),
            false => base,
        };
        let own = match (factors, halves < 0) {
            (1, true) => BinaryOp::Div.precedence().unwrap_or(0),
            _ => ATOM,
        };
        match factors {
            1 => (base, own),
            n => (format!("teml_pow{n}({base})"), own),
        }
    }
}
