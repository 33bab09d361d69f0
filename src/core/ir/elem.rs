//! Element types of tensors.

use std::fmt;

/// The type of a tensor's elements. `f64` unless a script says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Elem {
    /// IEEE double precision.
    #[default]
    F64,
    /// IEEE single precision.
    F32,
    /// 32-bit two's complement; overflow wraps.
    I32,
    /// 64-bit two's complement; overflow wraps.
    I64,
}

impl Elem {
    /// All element types, in the order in which messages list them.
    pub const ALL: [Elem; 4] = [Elem::F64, Elem::F32, Elem::I32, Elem::I64];

    /// The name in scripts: `f64`, `f32`, `i32`, `i64`.
    pub fn name(self) -> &'static str {
        match self {
            Elem::F64 => "f64",
            Elem::F32 => "f32",
            Elem::I32 => "i32",
            Elem::I64 => "i64",
        }
    }

    /// Parses a name in scripts: `f64`, or `double` as in TeML.
    pub fn from_name(name: &str) -> Option<Elem> {
        Elem::ALL
            .into_iter()
            .find(|e| e.name() == name || e.name_in_teml() == name)
    }

    /// The name in TeML (§5.3), which scripts accept as well.
    pub fn name_in_teml(self) -> &'static str {
        match self {
            Elem::F64 => "double",
            Elem::F32 => "float",
            Elem::I32 => "int32_t",
            Elem::I64 => "int64_t",
        }
    }

    /// Size in bytes.
    pub fn size(self) -> usize {
        match self {
            Elem::F64 | Elem::I64 => 8,
            Elem::F32 | Elem::I32 => 4,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Elem::F64 | Elem::F32)
    }

    /// The type of operands with these types, once one of them is converted: a type of floating-point
    /// numbers if there is one.
    pub fn or_float(self, other: Elem) -> Elem {
        if other.is_float() && !self.is_float() {
            other
        } else {
            self
        }
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
