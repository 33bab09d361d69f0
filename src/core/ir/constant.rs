//! Numbers in expressions. They are exact and have the element type of the operand beside them.
//!
//! A script's number converts when it becomes an operand, or the call is an error. No tree holds a
//! NaN.

use super::elem::Elem;
use std::fmt;

/// A number of an element type, never a NaN. Equal by bits, so that 0 and -0 differ.
#[derive(Clone, Copy, Debug)]
pub enum Constant {
    F64(f64),
    F32(f32),
    I32(i32),
    I64(i64),
}

impl Constant {
    /// A small integer, which every element type represents.
    pub fn small(elem: Elem, value: i8) -> Constant {
        match elem {
            Elem::F64 => Constant::F64(value.into()),
            Elem::F32 => Constant::F32(value.into()),
            Elem::I32 => Constant::I32(value.into()),
            Elem::I64 => Constant::I64(value.into()),
        }
    }

    /// ∞, or the greatest integer.
    pub fn greatest(elem: Elem) -> Constant {
        match elem {
            Elem::F64 => Constant::F64(f64::INFINITY),
            Elem::F32 => Constant::F32(f32::INFINITY),
            Elem::I32 => Constant::I32(i32::MAX),
            Elem::I64 => Constant::I64(i64::MAX),
        }
    }

    /// -∞, or the least integer.
    pub fn least(elem: Elem) -> Constant {
        match elem {
            Elem::F64 => Constant::F64(f64::NEG_INFINITY),
            Elem::F32 => Constant::F32(f32::NEG_INFINITY),
            Elem::I32 => Constant::I32(i32::MIN),
            Elem::I64 => Constant::I64(i64::MIN),
        }
    }

    /// The integer `value`. `None` if the type does not represent it exactly.
    pub fn of_integer(elem: Elem, value: i64) -> Option<Constant> {
        // Compare in 128 bits: there a value that was rounded to 2^63 differs from the greatest
        // `i64`.
        let exact = |rounded: f64| rounded as i128 == i128::from(value);
        match elem {
            Elem::F64 => exact(value as f64).then_some(Constant::F64(value as f64)),
            Elem::F32 => exact(f64::from(value as f32)).then_some(Constant::F32(value as f32)),
            Elem::I32 => i32::try_from(value).ok().map(Constant::I32),
            Elem::I64 => Some(Constant::I64(value)),
        }
    }

    /// The number `value`, which `f32` rounds to nearest. `None` for a NaN, for a value out of
    /// range, and for a fraction if the type is an integer.
    pub fn of_float(elem: Elem, value: f64) -> Option<Constant> {
        let integer = || {
            let in_range = (-(2f64.powi(63))..2f64.powi(63)).contains(&value);
            (in_range && value.fract() == 0.0).then_some(value as i64)
        };
        let narrow = value as f32;
        match elem {
            _ if value.is_nan() => None,
            Elem::F64 => Some(Constant::F64(value)),
            Elem::F32 if narrow.is_infinite() && value.is_finite() => None,
            Elem::F32 => Some(Constant::F32(narrow)),
            Elem::I32 | Elem::I64 => Constant::of_integer(elem, integer()?),
        }
    }

    /// Parses the text that `Display` writes.
    pub fn parse(elem: Elem, text: &str) -> Option<Constant> {
        let infinite = match text {
            "∞" => Some(Constant::greatest(elem)),
            "-∞" => Some(Constant::least(elem)),
            _ => None,
        };
        if infinite.is_some() {
            return infinite.filter(|_| elem.is_float());
        }
        match elem {
            Elem::F64 => text
                .parse()
                .ok()
                .filter(|x: &f64| x.is_finite())
                .map(Constant::F64),
            Elem::F32 => text
                .parse()
                .ok()
                .filter(|x: &f32| x.is_finite())
                .map(Constant::F32),
            Elem::I32 => text.parse().ok().map(Constant::I32),
            Elem::I64 => text.parse().ok().map(Constant::I64),
        }
    }

    /// The element type.
    pub fn elem(self) -> Elem {
        match self {
            Constant::F64(_) => Elem::F64,
            Constant::F32(_) => Elem::F32,
            Constant::I32(_) => Elem::I32,
            Constant::I64(_) => Elem::I64,
        }
    }

    /// Whether all bits are 0.
    pub fn is_zero(self) -> bool {
        self == Constant::small(self.elem(), 0)
    }

    /// Whether it is printed with a minus.
    pub fn is_negative(self) -> bool {
        match self {
            Constant::F64(x) => x.is_sign_negative(),
            Constant::F32(x) => x.is_sign_negative(),
            Constant::I32(x) => x < 0,
            Constant::I64(x) => x < 0,
        }
    }

    /// Whether it is ∞ or -∞.
    pub fn is_infinite(self) -> bool {
        match self {
            Constant::F64(x) => x.is_infinite(),
            Constant::F32(x) => x.is_infinite(),
            Constant::I32(_) | Constant::I64(_) => false,
        }
    }
}

impl PartialEq for Constant {
    fn eq(&self, other: &Constant) -> bool {
        match (self, other) {
            (Constant::F64(a), Constant::F64(b)) => a.to_bits() == b.to_bits(),
            (Constant::F32(a), Constant::F32(b)) => a.to_bits() == b.to_bits(),
            (Constant::I32(a), Constant::I32(b)) => a == b,
            (Constant::I64(a), Constant::I64(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Constant {}

/// The shortest text that parses back exactly. A whole number has no decimals.
impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            _ if self.is_infinite() => if self.is_negative() { "-∞" } else { "∞" }.to_owned(),
            Constant::F64(x) => format!("{x:?}"),
            Constant::F32(x) => format!("{x:?}"),
            Constant::I32(x) => x.to_string(),
            Constant::I64(x) => x.to_string(),
        };
        f.write_str(text.strip_suffix(".0").unwrap_or(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_convert_where_the_type_holds_them() {
        for (elem, value, text) in [
            (Elem::F64, 0.1, Some("0.1")),
            (Elem::F32, 0.1, Some("0.1")),
            (Elem::F64, -0.0, Some("-0")),
            (Elem::F64, 1e300, Some("1e300")),
            (Elem::F32, 1e300, None),
            (Elem::F32, f64::NEG_INFINITY, Some("-∞")),
            (Elem::F64, f64::NAN, None),
            (Elem::I32, 1.5, None),
            (Elem::I32, -3.0, Some("-3")),
            (Elem::I32, 2147483648.0, None),
            (Elem::I64, 2147483648.0, Some("2147483648")),
            (Elem::I64, f64::INFINITY, None),
        ] {
            let constant = Constant::of_float(elem, value);
            assert_eq!(constant.map(|c| c.to_string()).as_deref(), text);
            if let Some(c) = constant {
                assert_eq!(Constant::parse(elem, &c.to_string()), Some(c));
            }
        }
        assert_eq!(Constant::of_integer(Elem::F64, (1 << 53) + 1), None);
        assert_eq!(Constant::of_integer(Elem::F64, i64::MAX), None);
        assert_eq!(Constant::of_integer(Elem::F32, (1 << 24) + 1), None);
        assert!(Constant::of_integer(Elem::F32, 1 << 62).is_some());
        assert_eq!(Constant::of_integer(Elem::I32, 1 << 31), None);
    }
}
