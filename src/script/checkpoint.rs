//! States of a session: what lines have defined so far, to go back to.

use super::session::Session;
use super::stack::on_large_stack;
use crate::legality::Reductions;
use crate::trial::Inputs;
use rhai::{AST, Dynamic, Scope};

/// The state of a session between two lines: variables, functions, imports, the order of
/// reductions and the contents of inputs. Files that lines wrote are no part of it.
pub struct Checkpoint {
    scope: Scope<'static>,
    /// The values of variables that closures share with the scope: those are changed in place.
    shared: Vec<(String, Dynamic)>,
    functions: AST,
    imports: String,
    reductions: Reductions,
    inputs: Inputs,
    /// The number of kernels that `codegen` had made.
    generated: usize,
    /// The number of kernels that `export_kernel` had made.
    exported: usize,
}

impl Session {
    /// The state as it is.
    pub fn checkpoint(&self) -> Checkpoint {
        let shared = self
            .scope
            .iter_raw()
            .filter(|(_, _, value)| value.is_shared())
            .map(|(name, _, value)| (name.to_owned(), value.flatten_clone()))
            .collect();
        let state = self.shared().lock();
        let bench = &state.workbench;
        Checkpoint {
            scope: self.scope.clone(),
            shared,
            functions: self.functions.clone(),
            imports: self.imports.clone(),
            reductions: bench.settings.reductions,
            inputs: bench.inputs.clone(),
            generated: bench.generated.len(),
            exported: bench.exported.len(),
        }
    }

    /// Goes back, or forward, to a state.
    pub fn restore(&mut self, to: &Checkpoint) {
        let left = std::mem::replace(&mut self.scope, to.scope.clone());
        for (name, old) in &to.shared {
            let place = self.scope.get_mut(name);
            if let Some(mut place) = place.and_then(|p| p.write_lock::<Dynamic>()) {
                *place = old.clone();
            }
        }
        self.functions = to.functions.clone();
        self.attempted = to.functions.clone();
        self.imports.clone_from(&to.imports);
        {
            let mut state = self.shared().lock();
            let bench = &mut state.workbench;
            bench.settings.reductions = to.reductions;
            bench.inputs = to.inputs.clone();
            bench.generated.truncate(to.generated);
            bench.exported.truncate(to.exported);
        }
        // Values can be nested so deeply that dropping them needs the large stack.
        let _ = on_large_stack(move || drop(left));
    }
}

impl Drop for Checkpoint {
    fn drop(&mut self) {
        let scope = std::mem::take(&mut self.scope);
        let shared = std::mem::take(&mut self.shared);
        let _ = on_large_stack(move || drop((scope, shared)));
    }
}
