//! The reference: what expressions and nests mean, evaluated directly.
//!
//! [`definition`] evaluates tensor expressions by definition, [`execute`] runs nests in order.
//! They share only the numbers in [`store`], so that each can catch the other's mistakes.
//! [`symbolic`] runs nests over expressions instead of numbers and compares them with what they
//! were made from. All of them import nothing but `ir`: no inference, no lowering, no C.

mod code;
pub mod definition;
mod domain;
pub mod execute;
pub mod store;
pub mod symbolic;

/// Why something has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// An integer was divided by zero.
    #[error("integer division by zero")]
    DivisionByZero,
    /// An index left its tensor.
    #[error("{tensor} is accessed at {index}, outside of its extents")]
    OutOfBounds {
        /// The tensor.
        tensor: String,
        /// The index expression or its value.
        index: String,
    },
    /// A tensor without data, or with data of another type or size.
    #[error("{tensor} has no data that fits it")]
    NoData {
        /// The tensor.
        tensor: String,
    },
    /// Whoever asked for the value does not want it any more.
    #[error("stopped")]
    Stopped,
    /// A tensor with more elements than are looked at one by one.
    #[error("{tensor} has more than {limit} elements, which are too many to follow one by one")]
    TooLarge {
        /// The tensor.
        tensor: String,
        /// The most elements.
        limit: u64,
    },
    /// A nest that was read, or made by hand, has nothing to be compared with.
    #[error("what this nest should compute is not known:\n{0}")]
    Unknown(String),
    /// A tree that has no meaning by itself, such as a virtual expression.
    #[error("`{0}` cannot be evaluated")]
    Meaningless(String),
}
