//! Functions that act on trees rather than transform them.

mod algebra;
mod check;
mod code;
mod compare;
mod computation;
mod data;
mod export;
mod handles;
