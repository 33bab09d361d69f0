//! Functions that act on trees rather than transform them.

mod check;
mod code;
mod compare;
mod data;
mod export;
mod init;
mod look;
mod moves;
mod paths;
mod prove;
mod run;
mod strategy;

pub use code::Code;
pub use moves::{Listed, One};
pub use paths::Path;

use super::call::Function;

/// How the values of these functions print.
pub(super) fn register(engine: &mut rhai::Engine) {
    check::register(engine);
    code::register(engine);
    data::register(engine);
    moves::register(engine);
    paths::register(engine);
}

/// All of them.
pub static ACTIONS: &[&Function] = &[
    &check::CHECK,
    &check::REDUCTIONS,
    &code::CODEGEN,
    &code::SAVE,
    &compare::COMPARE,
    &compare::MEASURE,
    &compare::NAMED,
    &run::RUN,
    &export::EXPORT,
    &init::INIT,
    &data::LOAD,
    &data::RANDOM,
    &look::NOTATION,
    &look::SHAPE,
    &look::ITERATORS,
    &look::LOOPS,
    &look::DEPTH,
    &look::BOUNDS,
    &look::PARAM,
    &look::WRONG,
    &moves::MOVES,
    &moves::APPLY,
    &paths::PATH,
    &paths::PAPER,
    &paths::JSON,
    &paths::REPLAY,
    &paths::UNDO,
    &paths::DIFF,
    &strategy::FIND_LOOPS,
    &strategy::UNLESS_REFUSED,
];
