//! Prints powers as products and roots.

use super::value::{ATOM, Values};
use crate::ir::{BinaryOp, Constant, Elem};
use crate::kernel::Header;

impl Values {
    /// The power of `base`, an atom, and the precedence of its text.
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
            (true, true) => format!("{}({base})", self.vector_function("root", elem)),
            (true, false) => {
                let suffix = if elem == Elem::F32 { "f" } else { "" };
                format!("teml_root{suffix}({base})")
            }
        };
        let base = if halves < 0 {
            format!("{} / {base}", self.constant(Constant::small(elem, 1)))
        } else {
            base
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
