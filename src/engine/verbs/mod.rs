//! The verbs: nests checked, run, compared, measured, generated and written, on a [`Workbench`].
//! Programs in Rust, scripts, the REPL and the command line call the same functions. A verb that
//! does nothing answers with a [`Refusal`], to which its callers add their places.

mod bundle;
mod check;
mod code;
mod compare;
mod definitions;
mod equal;
mod forecast;
mod library;
mod needs;
mod order;
mod program;
mod provenance;
mod records;
mod refusal;
mod workbench;

pub use crate::trial::sizes::sizes;
pub use bundle::bundle;
pub use check::{Checked, check};
pub use code::{export, generate, kernel, plan};
pub use compare::{compare, label, measure, run};
pub use definitions::{Definitions, namesake, namesakes};
pub use equal::{Equal, as_definition, equal};
pub use forecast::Forecast;
pub use library::{key_of_library, library, package, place_of_library};
pub use needs::needs;
pub use program::program;
pub use provenance::{built, built_with_operands, examine, joined, nests};
pub use records::{find, key, named, recorded, replay, winner};
pub use refusal::Refusal;
pub use workbench::{Bench, Parameters, Size, Tuning, Workbench};

use crate::ir::{Arg, Nest};
use crate::transform::{Error, apply, mistake, operation};

/// The loop nest that a text describes: tensors, loops and statements. The text is its definition.
///
/// # Errors
/// All errors in the text, with their lines.
///
/// Source: the canonical text of nests, which `print` writes.
pub fn nest(text: &str) -> Result<Nest, Error> {
    call("nest", &[Arg::Word(text.to_owned())])
}

/// The nest after a step: any operation that takes a nest first and returns one, by the name that
/// scripts use. The step becomes part of the nest's path.
///
/// # Errors
/// There is no such operation, an argument does not fit, or the operation refuses the nest.
pub fn step(nest: &Nest, name: &str, args: &[Arg]) -> Result<Nest, Error> {
    let nest = Arg::Nest(nest.clone());
    let args: Vec<Arg> = [nest].into_iter().chain(args.iter().cloned()).collect();
    call(name, &args)
}

fn call(name: &str, args: &[Arg]) -> Result<Nest, Error> {
    let known = operation(name);
    let op = known.ok_or_else(|| mistake(format!("there is no operation `{name}`")))?;
    apply(op, args, None)?.nest()
}
