//! Transformations: each is one pure function in a file of its own. One table lists them all.
//!
//! An operation never touches its argument: trees are immutable, and it returns a new one.

pub mod advice;
pub mod baseline;
pub mod lang;

use teml_core::{analysis, ir, legality, lower, poly, target};

mod apply;
mod args;
mod failure;
mod findings;
pub mod lift;
pub mod memory;
pub mod nest;
mod op;
pub mod padding;
mod param;
mod problem;
pub mod program;
mod refusals;
mod repair;
pub mod simplify;
pub mod tensor;
pub mod trace;
mod words;

pub use crate::ir::{Arg, Arrow, Iters, LoopRef, Number, closest};
pub use apply::{apply, apply_again};
pub use args::Args;
pub use failure::{Class, Error, bug, limitation, mistake, refusal};
pub use op::{Op, Returns, Value};
pub use param::{Kind, Param};
pub use problem::{Problem, Span};
pub use repair::{Repair, repair};

/// All operations, in the order in which help lists them.
pub static OPS: &[&Op] = &[
    &tensor::declare::TENSOR,
    &tensor::declare::SCALAR,
    &tensor::indices::INDICES,
    &tensor::sorted::SORTED,
    &tensor::scatter::SCATTER,
    &tensor::vat::VAT,
    &tensor::triangular::TRIANGULAR,
    &tensor::aligned::ALIGNED,
    &tensor::strided::STRIDED,
    &tensor::eq::EQ,
    &tensor::partition::PARTITION,
    &tensor::veq::VEQ,
    &tensor::vop::VADD,
    &tensor::vop::VSUB,
    &tensor::vop::VMUL,
    &tensor::vop::VDIV,
    &tensor::vop::VMINIMUM,
    &tensor::vop::VMAXIMUM,
    &tensor::vop::VPOW,
    &tensor::vop::VMOD,
    &tensor::op::ADD,
    &tensor::op::SUB,
    &tensor::op::MUL,
    &tensor::op::DIV,
    &tensor::op::MINIMUM,
    &tensor::op::MAXIMUM,
    &tensor::op::POW,
    &tensor::op::MOD,
    &tensor::vfunction::VNEG,
    &tensor::vfunction::VABS,
    &tensor::vfunction::VSQRT,
    &tensor::vfunction::VEXP,
    &tensor::vfunction::VLOG,
    &tensor::vfunction::VTANH,
    &tensor::vfunction::VSIN,
    &tensor::vfunction::VCOS,
    &tensor::vfunction::VFLOOR,
    &tensor::vfunction::VCEIL,
    &tensor::vfunction::VROUND,
    &tensor::vfunction::VERF,
    &tensor::vfunction::VRELU,
    &tensor::function::NEG,
    &tensor::function::ABS,
    &tensor::function::SQRT,
    &tensor::function::EXP,
    &tensor::function::LOG,
    &tensor::function::TANH,
    &tensor::function::SIN,
    &tensor::function::COS,
    &tensor::function::FLOOR,
    &tensor::function::CEIL,
    &tensor::function::ROUND,
    &tensor::function::ERF,
    &tensor::function::RELU,
    &tensor::select::VSELECT,
    &tensor::select::SELECT,
    &tensor::masks::WHERE,
    &tensor::vindex::VINDEX,
    &tensor::cast::VCAST,
    &tensor::cast::CAST,
    &tensor::vcontract::VCONTRACT,
    &tensor::vreduce::VSUM,
    &tensor::vreduce::VPROD,
    &tensor::vreduce::VMIN,
    &tensor::vreduce::VMAX,
    &tensor::vreduce::VMEAN,
    &tensor::reduce::SUM,
    &tensor::reduce::PROD,
    &tensor::reduce::MIN,
    &tensor::reduce::MAX,
    &tensor::reduce::MEAN,
    &nest::build::BUILD,
    &nest::sweep::SWEEP,
    &nest::text::NEST,
    &tensor::fold::FOLD,
    &nest::repeat::REPEAT,
    &nest::rename::RENAME,
    &nest::stripmine::STRIPMINE,
    &nest::pad::PAD,
    &nest::interchange::INTERCHANGE,
    &nest::reorder::REORDER,
    &nest::reverse::REVERSE,
    &nest::shift::SHIFT,
    &nest::skew::SKEW,
    &nest::slabs::SLABS,
    &nest::peel::PEEL,
    &nest::split_at::SPLIT_AT,
    &nest::distribute::DISTRIBUTE,
    &nest::move_before::MOVE_BEFORE,
    &nest::collapse::COLLAPSE,
    &nest::fuse::FUSE,
    &nest::separate::SEPARATE,
    &nest::isolate::ISOLATE,
    &nest::tighten::TIGHTEN,
    &nest::fuse_outer::FUSE_OUTER,
    &nest::fuse_inner::FUSE_INNER,
    &nest::unroll::UNROLL,
    &nest::unroll_and_jam::UNROLL_AND_JAM,
    &nest::place_init::PLACE_INIT,
    &nest::rfactor::RFACTOR,
    &nest::scan::SCAN,
    &nest::regroup::REGROUP,
    &nest::inline::INLINE,
    &nest::compute_at::COMPUTE_AT,
    &nest::reverse_compute_at::REVERSE_COMPUTE_AT,
    &nest::pack::PACK,
    &nest::stage::STAGE,
    &nest::localize::LOCALIZE,
    &nest::pad_buffer::PAD_BUFFER,
    &nest::panels::PANELS,
    &nest::avoid_copy::AVOID_COPY,
    &nest::reduce_cache_miss::REDUCE_CACHE_MISS,
    &nest::reuse_buffer::REUSE_BUFFER,
    &nest::donate::DONATE,
    &nest::redefine::REDEFINE,
    &nest::mode::PARALLELIZE,
    &nest::mode::VECTORIZE,
    &nest::bind::BIND,
    &nest::prefetch::PREFETCH,
    &nest::double_buffer::DOUBLE_BUFFER,
    &nest::place::PLACE,
    &nest::stream::STREAM,
    &nest::annotate::ANNOTATE,
    &nest::plain_loops::PLAIN_LOOPS,
    &nest::specialize::SPECIALIZE,
    &nest::prefer::PREFER,
    &nest::assume::ASSUME,
    &nest::at::AT,
];

/// The operation that scripts call by this name.
pub fn operation(name: &str) -> Option<&'static Op> {
    OPS.iter().copied().find(|op| op.name == name)
}

/// The operations behind operators between tensors, by symbol. Scripts write the symbol between the
/// arguments.
pub static OPERATORS: &[&Op] = &[
    &tensor::entrywise::PLUS,
    &tensor::entrywise::MINUS,
    &tensor::entrywise::TIMES,
    &tensor::entrywise::OVER,
    &tensor::entrywise::MODULO,
    &tensor::entrywise::POWER,
    &tensor::entrywise::OPPOSITE,
    &tensor::masks::LESS,
    &tensor::masks::LESS_EQUAL,
    &tensor::masks::GREATER,
    &tensor::masks::GREATER_EQUAL,
    &tensor::masks::EQUAL,
    &tensor::masks::NOT_EQUAL,
    &tensor::masks::AND,
    &tensor::masks::OR,
    &tensor::masks::NOT,
];
