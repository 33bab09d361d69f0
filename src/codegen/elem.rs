//! Element types in C.

use crate::ir::Elem;

/// The C11 type of elements.
pub fn c_type(elem: Elem) -> &'static str {
    match elem {
        Elem::F64 => "double",
        Elem::F32 => "float",
        Elem::I32 => "int32_t",
        Elem::I64 => "int64_t",
    }
}
