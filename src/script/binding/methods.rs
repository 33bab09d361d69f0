//! Methods: `nest.f(x)` is `f(nest, x)` for functions of scripts as for native ones.
//!
//! Rhai calls a function of a script as a method only if it is written with `this`. So each
//! function gets a native one of the same name, which only method calls reach, since plain calls
//! find the script's first. It lives in the same module and is visible where the function is; and
//! unlike a callback for missing functions it knows where it was called. Private functions get
//! none: where only the native one is visible, it would find itself.

use rhai::{
    AST, Dynamic, EvalAltResult, FnAccess, FuncRegistration, Module, NativeCallContext, RhaiFunc,
};
use std::any::TypeId;
use std::sync::Arc;

/// The script with its functions callable as methods.
pub fn with_methods(ast: &AST) -> AST {
    if !ast.has_functions() {
        return ast.clone();
    }
    let mut library = Module::clone(ast.shared_lib());
    add(&mut library, ast);
    let statements = ast.statements().iter().cloned();
    AST::new_with_source(statements, library, ast.source().unwrap_or(""))
}

/// Makes the functions of `ast`, which `module` holds, callable as methods.
pub fn add(module: &mut Module, ast: &AST) {
    for function in ast.iter_functions() {
        let is_private = function.access == FnAccess::Private;
        if is_private || function.params.is_empty() || function.name.starts_with("anon$") {
            continue;
        }
        let name = function.name.to_owned();
        let body = move |context: Option<NativeCallContext>, args: &mut [&mut Dynamic]| {
            let Some(context) = context else {
                return Ok(Dynamic::UNIT);
            };
            // The receiver is the caller's variable: the function gets a copy.
            let mut values: Vec<Dynamic> = args.iter().map(|a| a.flatten_clone()).collect();
            let mut values: Vec<&mut Dynamic> = values.iter_mut().collect();
            context.call_fn_raw(&name, false, false, &mut values)
        };
        let registration = FuncRegistration::new(function.name).in_global_namespace();
        set(module, registration, function.params.len(), body);
    }
}

/// Adds a native function with so many parameters of any type to a module.
pub fn set(
    module: &mut Module,
    registration: FuncRegistration,
    parameters: usize,
    body: impl Fn(Option<NativeCallContext>, &mut [&mut Dynamic]) -> Result<Dynamic, Box<EvalAltResult>>
    + Send
    + Sync
    + 'static,
) {
    let types = vec![TypeId::of::<Dynamic>(); parameters];
    let function = RhaiFunc::Method {
        func: Arc::new(body),
        has_context: true,
        is_pure: true,
        is_volatile: true,
    };
    registration.set_into_module_raw(module, types, function);
}
