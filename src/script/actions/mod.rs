//! Functions that act on trees rather than transform them.

mod algebra;
mod check;
mod code;
mod compare;
mod computation;
mod data;
mod export;
mod export_kernel;
mod handles;
mod init;
mod look;
mod machine;
mod moves;
mod paths;
mod pluto;
mod predict;
mod programs;
mod recorded;
mod run;
mod space;
mod strategy;
mod tune;
mod writing;

pub use code::Code;
pub use handles::{HANDLES, Handle, found, handles_in};
pub use moves::{Listed, MOVES};
pub use paths::Path;
pub use recorded::as_given;

use super::call::Function;
use rhai::{Dynamic, Engine, Variant};

/// A value of these functions, as people see it.
trait Shown: Variant + Clone {
    /// Its type, in a user's words.
    const NAME: &'static str;

    /// All of it, for `print` and for the REPL if it is the only value shown.
    fn full(&self) -> String;

    /// One line, for use inside lists and maps.
    fn brief(&self) -> String;
}

/// Registers a type and how it prints.
fn register_shown<T: Shown>(engine: &mut Engine) {
    engine
        .register_type_with_name::<T>(T::NAME)
        .register_fn("to_string", |value: &mut T| value.full())
        .register_fn("to_debug", |value: &mut T| value.brief());
}

/// A type of values that is [`Shown`].
struct Shows {
    name: &'static str,
    /// A value of this type, in full or in brief.
    text: fn(&Dynamic, bool) -> Option<String>,
}

impl Shows {
    const fn of<T: Shown>() -> Shows {
        Shows {
            name: T::NAME,
            text: |value, full| {
                let value = value.read_lock::<T>()?;
                Some(if full { value.full() } else { value.brief() })
            },
        }
    }
}

static KINDS: &[Shows] = &[
    Shows::of::<crate::verbs::Checked>(),
    Shows::of::<code::Code>(),
    Shows::of::<data::Numbers>(),
    Shows::of::<handles::Handle>(),
    Shows::of::<handles::Made>(),
    Shows::of::<crate::runtime::Random>(),
    Shows::of::<moves::Listed>(),
    Shows::of::<moves::One>(),
    Shows::of::<paths::Path>(),
    Shows::of::<crate::tune::Prediction>(),
    Shows::of::<crate::ir::Program>(),
];

/// A value of these functions in full or in brief.
pub(super) fn shown(value: &Dynamic, full: bool) -> Option<String> {
    KINDS.iter().find_map(|kind| (kind.text)(value, full))
}

/// The type of a value of these functions, in a user's words.
pub(super) fn name_of(value: &Dynamic) -> Option<&'static str> {
    let is = |kind: &&Shows| (kind.text)(value, false).is_some();
    KINDS.iter().find(is).map(|kind| kind.name)
}

/// How the values of these functions print.
pub(super) fn register(engine: &mut Engine) {
    check::register(engine);
    code::register(engine);
    data::register(engine);
    handles::register(engine);
    moves::register(engine);
    paths::register(engine);
    predict::register(engine);
    programs::register(engine);
}

/// All of them.
pub static ACTIONS: &[&Function] = &[
    &algebra::FACTOR_OUT,
    &algebra::CONTRACTION_CHAIN,
    &algebra::SIMPLIFY,
    &check::CHECK,
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
    &programs::NESTS,
    &programs::ONE_NEST,
    &programs::ASSIGNMENTS,
    &programs::VARIABLES,
    &programs::LIVE,
    &programs::COMMON,
    &predict::PREDICT,
    &tune::TUNE,
    &recorded::BEST,
    &recorded::RECORDED,
    &strategy::FIND_LOOPS,
    &strategy::UNLESS_REFUSED,
];
