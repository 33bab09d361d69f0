//! `Fn("name")`: function values.
//!
//! Rhai makes them names, which are looked up where they are called. A module that hands
//! `Fn("save")` to its importer would write with the importer's rights. So `Fn` is a function of
//! this project: values of functions that write keep the rights of the code that made them.

use crate::actions::ACTIONS;
use crate::binding::function::{Effect, Function, value_of};
use crate::binding::state::Shared;
use crate::messages::fail::Failure;
use rhai::{Dynamic, Engine, EvalAltResult, FnPtr, NativeCallContext, Token};
use std::any::TypeId;

/// The name of `Fn` in a rewritten script.
const MAKE: &str = "std_function_value";

/// Takes the place of Rhai's `Fn`.
pub fn register(engine: &mut Engine, shared: &Shared) {
    // Rhai marks callbacks as deprecated to say that their form may change. Only this callback sees
    // every token, including those in interpolated strings.
    #[allow(deprecated)]
    engine.on_parse_token(|token, _, _| match token {
        Token::Reserved(word) | Token::Identifier(word) if *word == "Fn" => {
            Token::Identifier(Box::new(MAKE.into()))
        }
        other => other,
    });
    let shared = shared.clone();
    engine.register_raw_fn(
        MAKE,
        [TypeId::of::<Dynamic>()],
        move |context: NativeCallContext, args: &mut [&mut Dynamic]| {
            let position = context.call_position();
            let name = args[0].flatten_clone().into_immutable_string();
            let name = name.map_err(|given| {
                let what = format!("Fn: must be given the name of a function, not {given}");
                Failure::new(what).raise(position)
            })?;
            let value: Result<FnPtr, Box<EvalAltResult>> = match writing(&name) {
                Some(function) => value_of(function, position, &shared),
                None => FnPtr::new(name),
            };
            value.map(Dynamic::from)
        },
    );
}

/// The function of this name, if it writes files.
fn writing(name: &str) -> Option<&'static Function> {
    let mut writing = ACTIONS.iter().filter(|f| f.effect == Effect::Writes);
    writing.find(|f| f.name == name).copied()
}

/// The error that a function of a script with such a name is used as a value.
///
/// Rhai's value of it is a name, which may mean the native function where it is called.
pub fn is_a_name(name: &str) -> Option<Box<EvalAltResult>> {
    let failure = || {
        Failure::new(format!(
            "`{name}` is also a function of teml, so that its name alone is not a value"
        ))
        .help(format!("a closure is one: `|x, y| {name}(x, y)`"))
        .raise(rhai::Position::NONE)
    };
    writing(name).map(|_| failure())
}
