//! A kernel: C text and what is needed to call it.

use crate::ir::Tensor;

/// How a kernel uses one of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Only read.
    In,
    /// Written, and no element is read before it is written.
    Out,
    /// Read and then written: its contents before the call matter.
    InOut,
}

/// One argument of a kernel: a pointer to the tensor's elements, row-major, aligned to
/// [`ALIGNMENT`] bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Param {
    /// The tensor; it has a name.
    pub tensor: Tensor,
    /// How the kernel uses it.
    pub role: Role,
}

/// Alignment of every buffer that is passed to a kernel, in bytes.
pub const ALIGNMENT: usize = 64;

/// One C function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// The function's name.
    pub symbol: String,
    /// A whole C11 translation unit that defines it.
    pub source: String,
    /// The arguments, in order.
    pub params: Vec<Param>,
}
