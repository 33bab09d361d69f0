//! Functions that act on trees rather than transform them.

mod algebra;
mod check;
mod code;
mod compare;
mod computation;
mod data;
mod entries;
mod export;
mod export_kernel;
mod handles;
mod init;
mod look;
mod machine;
mod moves;
mod numbers;
mod operator;
mod paths;
mod pluto;
mod predict;
mod programs;
mod recorded;
mod run;
mod size;
mod space;
mod strategy;
mod trees;
mod tune;
mod writing;

pub use moves::MOVES;
pub use recorded::as_given;

use crate::binding::function::Function;

/// All of them.
pub static ACTIONS: &[&Function] = &[
    &algebra::FACTOR_OUT,
    &algebra::CONTRACTION_CHAIN,
    &algebra::SPLIT_SUMS,
    &algebra::SPLIT_OPERANDS,
    &algebra::LEAST_OPERATIONS,
    &algebra::MIRRORED,
    &algebra::AS_MATRICES,
    &algebra::COMPOSED,
    &algebra::SIMPLIFY,
    &check::CHECK,
    &check::NEEDS,
    &check::ELEM,
    &check::REDUCTIONS,
    &code::CODEGEN,
    &code::PLAN,
    &code::SAVE,
    &compare::COMPARE,
    &compare::MEASURE,
    &compare::NAMED,
    &run::RUN,
    &export::EXPORT,
    &export_kernel::EXPORT_KERNEL,
    &init::INIT,
    &data::LOAD,
    &data::RANDOM,
    &entries::READ_ENTRIES,
    &entries::RANDOM_ENTRIES,
    &numbers::CLOSE,
    &numbers::DIFFERENCE,
    &numbers::NORM,
    &look::NOTATION,
    &look::SHAPE,
    &look::ITERATORS,
    &handles::MADE,
    &handles::HANDLE,
    &look::LOOPS,
    &look::DEPTH,
    &look::BOUNDS,
    &look::ACCESSES,
    &look::COEFFICIENT,
    &look::OFFSET,
    &computation::COMPUTATION,
    &look::PARAM,
    &look::VALUE,
    &look::WRONG,
    &look::KNOWN_OPTIONS,
    &machine::MACHINE,
    &moves::MOVES,
    &moves::APPLY,
    &pluto::PLUTO,
    &paths::PATH,
    &paths::PAPER,
    &paths::JSON,
    &paths::REPLAY,
    &paths::UNDO,
    &paths::DIFF,
    &programs::MODEL,
    &programs::TEIL,
    &programs::SAC,
    &programs::OPERATORS,
    &programs::COMPATIBLE,
    &programs::LIFTED,
    &programs::PADDED,
    &programs::OPERATIONS,
    &programs::READ_PROGRAM,
    &programs::PROGRAM,
    &programs::NESTS,
    &programs::ONE_NEST,
    &programs::ASSIGNMENTS,
    &programs::VARIABLES,
    &programs::LIVE,
    &programs::COMMON,
    &programs::COPIED,
    &programs::OVER,
    &predict::PREDICT,
    &size::SIZE,
    &operator::OPERATOR,
    &tune::TUNE,
    &recorded::BEST,
    &recorded::RECORDED,
    &trees::TREE,
    &trees::UNTREE,
    &trees::REPLACE,
    &algebra::RULE,
    &algebra::EQUAL,
    &strategy::FIND_LOOPS,
    &strategy::REMARK,
    &strategy::UNLESS_REFUSED,
];
