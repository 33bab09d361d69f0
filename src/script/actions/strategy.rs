//! What strategies of the library are made from.

use crate::ir::{Loop, Nest, Tree};
use crate::script::call::{Function, Parameter};
use crate::script::fail::{Cause, Failure};
use crate::transform::Class;
use rhai::{Array, Dynamic, EvalAltResult, FnPtr};

pub(super) static FIND_LOOPS: Function = Function {
    name: "find_loops",
    params: &[Parameter::new("nest"), Parameter::optional("which")],
    returns: "list",
    doc: "\
The names of the loops of a nest, in the order in which they are printed: all loops, only the
`\"innermost\"` ones, which contain no loop, or only the `\"outermost\"` ones, which are inside
none.",
    call: |call| {
        let nest: Nest = call.nest(0)?;
        let which = if call.count() == 2 {
            call.text(1)?
        } else {
            "all".to_owned()
        };
        let wanted: fn(&[&Loop], &Loop) -> bool = match which.as_str() {
            "all" => |_, _| true,
            "innermost" => |_, l| !l.body.iter().any(|t| matches!(t, Tree::Loop(_))),
            "outermost" => |outer, _| outer.is_empty(),
            _ => return Err(call.expected(1, "\"all\", \"innermost\" or \"outermost\"")),
        };
        let loops = nest.loops();
        let found = loops.iter().filter(|(outer, l)| wanted(outer, l));
        let names: Array = found
            .map(|(_, l)| Dynamic::from(l.name.to_string()))
            .collect();
        Ok(Dynamic::from_array(names))
    },
};

pub(super) static UNLESS_REFUSED: Function = Function {
    name: "unless_refused",
    params: &[Parameter::new("step"), Parameter::new("nest")],
    returns: "nest",
    doc: "\
The result of a step on a nest, or `()` if an operation in it refuses this nest.

A refusal means that the operation is possible on another nest. Mistakes in calls and
limitations of the tool are not refusals: they end the script.",
    call: |call| {
        let step: FnPtr = call.get(0, "a step, which is a function from nest to nest")?;
        let nest = Dynamic::from(call.nest(1)?);
        match step.call_raw(call.context(), None, [nest]) {
            Ok(result) => Ok(result),
            Err(error) if is_refusal(&error) => Ok(Dynamic::UNIT),
            Err(error) => Err(Failure::inside(error)),
        }
    },
};

fn is_refusal(error: &EvalAltResult) -> bool {
    match error {
        EvalAltResult::ErrorInFunctionCall(_, _, inner, _) => is_refusal(inner),
        EvalAltResult::ErrorInModule(_, inner, _) => is_refusal(inner),
        EvalAltResult::ErrorRuntime(value, _) => {
            let failure = value.read_lock::<Failure>();
            failure.is_some_and(|failure| match failure.cause() {
                Cause::Operation(error) => error.kind.class() == Class::Refusal,
                _ => false,
            })
        }
        _ => false,
    }
}
