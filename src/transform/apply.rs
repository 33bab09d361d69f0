//! Applies operations: every transformation of a nest goes through `apply`.
//!
//! It compares the births of loops before and after a step, and keeps in the path the loops that
//! the step made and ended.

use super::args::Args;
use super::failure::{Error, bug, refusal};
use super::nest::{prefer::PREFER, specialize::SPECIALIZE};
use super::op::{Op, Value};
use super::operation;
use super::param::Kind;
use crate::analysis::verify::verify;
use crate::ir::{Arg, Nest, Path, Site, Step};
use std::sync::Arc;

/// Applies `op`. Scripts, tuners and the baseline all transform through this function.
///
/// `site` is where a script calls the operation. The step is recorded in the path of a resulting
/// nest, its new loops get the step as their birth, and the result is verified.
///
/// # Errors
/// The operation's own refusals and mistakes.
pub fn apply(op: &'static Op, args: &[Arg], site: Option<Site>) -> Result<Value, Error> {
    applied(op, args, &|op, args| {
        let args = args.iter().map(Arg::within_limits).collect();
        let site = site.clone();
        Arc::new(Step { op, args, site })
    })
}

/// Applies `op` as the recorded step `step`: new loops get the births that they had then.
///
/// # Errors
/// As [`apply`].
pub fn apply_again(op: &'static Op, args: &[Arg], step: &Arc<Step>) -> Result<Value, Error> {
    applied(op, args, &|_, _| step.clone())
}

fn applied(
    op: &'static Op,
    args: &[Arg],
    step: &dyn Fn(&'static str, &[Arg]) -> Arc<Step>,
) -> Result<Value, Error> {
    let of_several = args.iter().filter_map(Arg::as_nest);
    let mut of_several = of_several.filter(|nest| !nest.variants().is_empty());
    if ![PREFER.name, SPECIALIZE.name].contains(&op.name)
        && let Some(nest) = of_several.next()
    {
        let error = refusal("the nest has variants for some sizes, and each is a plan of its own");
        let error = error.help("take the steps on the plans, before `prefer` or `dispatch`");
        return Err(op.failed(error.on(nest, [])));
    }
    let called = Args::of(op.params, args, &replay).and_then(|args| (op.call)(&args));
    let value = called.map_err(|error| op.failed(error))?;
    let Value::Nest(nest) = value else {
        return Ok(value);
    };
    if let Err(invalid) = verify(&nest) {
        let culprits = invalid.culprits();
        let has_all = |nest: &&Nest| culprits.iter().all(|name| nest.has_loop(name));
        let given = args.iter().filter_map(Arg::as_nest).find(has_all);
        let error = op.failed(invalid.into());
        return Err(error.on(given.unwrap_or(&nest), culprits));
    }
    let receiver = usize::from(matches!(args, [Arg::Nest(_), ..]));
    let before: Vec<&Nest> = args.iter().filter_map(Arg::as_nest).collect();
    let step = step(op.name, &args[receiver..]);
    Ok(Value::Nest(nest.made_by(&step, &before)))
}

/// Replays one step of a path on `nest`; a step that builds needs no nest.
pub(super) fn take(nest: Option<Nest>, step: &Arc<Step>) -> Result<Nest, Error> {
    let op =
        operation(step.op).ok_or_else(|| bug(format!("there is no operation `{}`", step.op)))?;
    let receiver = nest.map(Arg::Nest).into_iter();
    let args: Vec<Arg> = receiver.chain(step.args.iter().cloned()).collect();
    apply_again(op, &args, step)?.nest()
}

/// Whether a step builds a nest instead of transforming one.
pub(super) fn builds(step: &Step) -> bool {
    let first = operation(step.op).and_then(|op| op.params.first());
    first.is_some_and(|first| first.kind != Kind::Nest)
}

/// Replays the steps of `path` on `base`, except for the steps that build.
fn replay(path: &Path, base: &Nest) -> Result<Nest, Error> {
    let steps = path.steps();
    let mut taken = steps.iter().filter(|step| !builds(step));
    taken.try_fold(base.clone(), |nest, step| take(Some(nest), step))
}
