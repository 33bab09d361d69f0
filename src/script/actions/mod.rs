//! Functions that act on trees rather than transform them.

mod code;
mod compare;
mod init;
mod look;

pub use code::Code;
pub(super) use code::register;

use super::call::Function;

/// All of them.
pub static ACTIONS: &[&Function] = &[
    &code::CODEGEN,
    &code::SAVE,
    &compare::COMPARE,
    &init::INIT,
    &look::NOTATION,
    &look::SHAPE,
    &look::ITERATORS,
    &look::PARAM,
];
