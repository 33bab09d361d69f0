//! The reference semantics of expressions and nests, evaluated directly.
//!
//! [`definition`] evaluates tensor expressions by definition. [`execute`] runs nests in order. They
//! share only the numbers in [`store`], so that each can reveal the other's errors. [`symbolic`]
//! runs nests over expressions instead of numbers, and compares the results with the definition.
//! All of them import only `ir`: no inference, no lowering, no C.

mod code;
pub mod definition;
mod domain;
mod erf;
pub mod execute;
pub mod store;
pub mod symbolic;
pub mod threads;

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// An integer was divided by zero.
    #[error("integer division by zero")]
    DivisionByZero,
    /// An index left its tensor.
    #[error("{tensor} is accessed at {index}, outside of its extents")]
    OutOfBounds {
        tensor: String,
        /// The index expression or its value.
        index: String,
    },
    /// A tensor without data, or with data of another type or size.
    #[error("{tensor} has no data that fits it")]
    NoData { tensor: String },
    /// Bounds are read from a tensor whose entries are not given.
    #[error("which iterations run depends on the entries of {tensor}, which are not known here")]
    NoEntries { tensor: String },
    /// The caller requested a stop.
    #[error("stopped")]
    Stopped,
    /// A tensor with too many elements for symbolic execution.
    #[error("{tensor} has more than {limit} elements, which are too many to follow one by one")]
    TooLarge {
        tensor: String,
        /// The limit of elements.
        limit: u64,
    },
    /// A parsed or hand-made nest has no definition to compare with.
    #[error("what this nest should compute is not known:\n{0}")]
    Unknown(String),
    /// A tree without a value of its own, such as a virtual expression.
    #[error("`{0}` cannot be evaluated")]
    Meaningless(String),
}
