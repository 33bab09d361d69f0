//! Calls of the library that are under way. Their steps are recorded as steps of the call, at the
//! place where a script made it.

use crate::binding::state::Shared;
use crate::ir::{Expr, Given, Invocation, Nest};
use crate::values::Handle;
use rhai::{Dynamic, ImmutableString, Position};
use std::sync::Arc;

/// A call that has not returned.
pub struct Open<'s> {
    shared: &'s Shared,
    call: Option<Arc<Invocation>>,
    /// How often kernels had been run.
    runs: usize,
}

/// Says that `function` of the library is called at a position. `leave` has to follow.
pub fn enter<'s>(
    shared: &'s Shared,
    function: &str,
    args: &[Dynamic],
    position: Position,
) -> Open<'s> {
    let args = args.iter().map(given).collect();
    let call = Arc::new(Invocation::new(function.to_owned(), args));
    let mut state = shared.lock();
    let site = state.places.site(position);
    let call = site.map(|mut site| {
        site.invocation = Some(call.clone());
        state.invocations.push(site);
        call
    });
    let runs = state.runs;
    drop(state);
    Open { shared, call, runs }
}

impl Open<'_> {
    /// Ends the call and records its result.
    pub fn leave(self, value: Option<&Dynamic>) {
        let Some(call) = self.call else {
            return;
        };
        let mut state = self.shared.lock();
        let is_call = |invocation: &Option<Arc<Invocation>>| {
            invocation.as_ref().is_some_and(|i| Arc::ptr_eq(i, &call))
        };
        let at = state
            .invocations
            .iter()
            .rposition(|site| is_call(&site.invocation));
        state.invocations.truncate(at.unwrap_or(0));
        let has_text = call.args.iter().all(Given::has_text);
        // A choice based on times may turn out differently in a replay.
        let is_same_again = has_text && state.runs == self.runs;
        if let Some(nest) = value.and_then(|v| v.read_lock::<Nest>())
            && is_same_again
        {
            call.returned(&nest);
        }
    }
}

/// An argument as a script writes it.
fn given(value: &Dynamic) -> Given {
    if let Some(nest) = value.read_lock::<Nest>() {
        return Given::Nest(nest.clone());
    }
    if let Some(list) = value.read_lock::<rhai::Array>() {
        return Given::List(list.iter().map(given).collect());
    }
    text(value).map_or(Given::Other, Given::Text)
}

fn text(value: &Dynamic) -> Option<String> {
    if let Some(text) = value.read_lock::<ImmutableString>() {
        return Some(format!("{:?}", text.as_str()));
    }
    if let Some(handle) = value.read_lock::<Handle>() {
        return Some(format!("{:?}", handle.name().as_str()));
    }
    if let Some(expr) = value.read_lock::<Expr>() {
        return Some(expr.tensor()?.name()?.to_string());
    }
    if let Some(map) = value.read_lock::<rhai::Map>() {
        let entries = map
            .iter()
            .map(|(key, value)| Some(format!("{key}: {}", text(value)?)));
        let entries: Option<Vec<String>> = entries.collect();
        return Some(format!("#{{{}}}", entries?.join(", ")));
    }
    if let Some(list) = value.read_lock::<rhai::Array>() {
        let items: Option<Vec<String>> = list.iter().map(text).collect();
        return Some(format!("[{}]", items?.join(", ")));
    }
    let is_plain = value.is_int() || value.is_bool() || value.is_unit();
    match value.as_float() {
        Ok(number) => number.is_finite().then(|| format!("{number:?}")),
        Err(_) => is_plain.then(|| value.to_string()),
    }
}
