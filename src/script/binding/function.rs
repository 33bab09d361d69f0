//! Native functions that are not operations on trees, and how they are registered.

use crate::binding::call::{Call, Callee, Rights, register_raw};
use crate::binding::param::Parameter;
use crate::binding::state::Shared;
use crate::messages::fail::Failure;
use rhai::{Dynamic, Engine, EvalAltResult, FnPtr, NativeCallContext, Position};

/// A native function that is not an operation on trees.
pub struct Function {
    /// The name in scripts.
    pub name: &'static str,
    /// The parameters; the first one is the receiver in method form.
    pub params: &'static [Parameter],
    /// Its result, for the signature; empty for nothing.
    pub returns: &'static str,
    /// The topic of help.
    pub topic: &'static str,
    /// The visible effect of a call.
    pub effect: Effect,
    /// Its effect, for `:help`.
    pub doc: &'static str,
    /// The function.
    pub call: fn(&Call) -> Result<Dynamic, Failure>,
}

/// The effect of a call besides its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// No visible effect.
    None,
    /// Runs kernels and shows their results.
    Runs,
    /// Writes files as well. Values of such a function keep the rights of the code that made them.
    Writes,
}

impl Function {
    fn required(&self) -> usize {
        self.params.iter().filter(|p| !p.optional).count()
    }

    fn callee(&self) -> Callee {
        let names = self.params.iter();
        Callee {
            name: self.name,
            params: names.flat_map(|p| vec![p.name; p.times]).collect(),
            signature: self.signature(),
            writes: self.effect == Effect::Writes,
        }
    }

    fn perform(&self, call: &Call) -> Result<Dynamic, Failure> {
        if self.effect != Effect::None {
            call.workbench().has_effect = true;
            call.state().runs += 1;
        }
        (self.call)(call)
    }

    /// The signature, as messages and help show it.
    pub fn signature(&self) -> String {
        let params = self.params.iter().map(|p| match p {
            p if p.times > 1 => format!("{}...", p.name),
            p if p.optional => format!("{}?", p.name),
            p => p.name.to_owned(),
        });
        let call = format!("{}({})", self.name, params.collect::<Vec<_>>().join(", "));
        match self.returns {
            "" => call,
            returns => format!("{call} -> {returns}"),
        }
    }
}

/// Registers `function` for every number of arguments that it takes.
pub fn register(engine: &mut Engine, shared: &Shared, function: &'static Function) {
    let (callee, required) = (function.callee(), function.required());
    register_raw(engine, shared, callee, required, |call| {
        function.perform(call)
    });
}

/// A value of a function that writes, which keeps the rights of the code at `position`. Rhai's own
/// function values are names, which have the rights of their caller.
pub(super) fn value_of(
    function: &'static Function,
    position: Position,
    shared: &Shared,
) -> Result<FnPtr, Box<EvalAltResult>> {
    let (callee, shared) = (function.callee(), shared.clone());
    let rights = Rights::at(position, &shared);
    // Rhai marks unstable functions as deprecated.
    #[allow(deprecated)]
    FnPtr::from_fn(
        function.name,
        move |context: NativeCallContext, args: &mut [&mut Dynamic]| {
            let call = Call {
                context: &context,
                callee: &callee,
                args,
                shared: &shared,
                rights: Some(rights),
            };
            let fits = (function.required()..=callee.params.len()).contains(&args.len());
            let result = if fits {
                function.perform(&call)
            } else {
                Err(call.refuse(match args.len() {
                    1 => "does not take 1 argument",
                    _ => "does not take so many arguments",
                }))
            };
            result.map_err(|failure| call.raise(failure))
        },
    )
}
