//! The reference: what expressions and nests mean, evaluated directly.
//!
//! [`definition`] evaluates tensor expressions by definition, [`execute`] runs nests in order.
//! They share only the numbers in [`store`], so that each can catch the other's mistakes, and
//! import nothing but `ir`: no inference, no lowering, no C.

pub mod definition;
mod domain;
pub mod execute;
pub mod store;

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
    /// A tree that has no meaning by itself, such as a virtual expression.
    #[error("`{0}` cannot be evaluated")]
    Meaningless(String),
}
