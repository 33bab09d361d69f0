//! Transformations: one file each, one pure function each, and one table of them all.

mod error;
mod failure;
pub mod nest;
mod op;
pub mod tensor;
pub mod trace;

pub use crate::ir::{Arg, Arrow, Iters, LoopRef};
pub use error::{Class, ErrorKind};
pub use failure::Error;
pub use op::{Kind, Op, Param, Returns, Value, apply};

/// All operations, in the order in which help lists them.
pub static OPS: &[&Op] = &[
    &tensor::declare::TENSOR,
    &tensor::declare::SCALAR,
    &tensor::vat::VAT,
    &tensor::eq::EQ,
    &tensor::veq::VEQ,
    &tensor::vop::VADD,
    &tensor::vop::VSUB,
    &tensor::vop::VMUL,
    &tensor::vop::VDIV,
    &tensor::op::ADD,
    &tensor::op::SUB,
    &tensor::op::MUL,
    &tensor::op::DIV,
    &tensor::vcontract::VCONTRACT,
    &tensor::vsum::VSUM,
    &nest::build::BUILD,
    &nest::stripmine::STRIPMINE,
    &nest::interchange::INTERCHANGE,
    &nest::reorder::REORDER,
    &nest::reverse::REVERSE,
    &nest::shift::SHIFT,
    &nest::skew::SKEW,
    &nest::peel::PEEL,
    &nest::distribute::DISTRIBUTE,
    &nest::fuse::FUSE,
    &nest::fuse_outer::FUSE_OUTER,
    &nest::fuse_inner::FUSE_INNER,
    &nest::unroll::UNROLL,
    &nest::unroll_and_jam::UNROLL_AND_JAM,
    &nest::place_init::PLACE_INIT,
    &nest::mode::PARALLELIZE,
    &nest::mode::VECTORIZE,
    &nest::at::AT,
];
