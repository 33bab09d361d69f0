//! Lines of a dialog: what they define persists, and a line that fails leaves no trace.

use super::actions;
use super::errors::ScriptError;
use super::session::Session;
use super::stack::on_large_stack;
use super::unused::Last;
use super::{lex, values};
use crate::ir::{Expr, Nest};
use rhai::{Dynamic, Scope};
use std::sync::atomic::Ordering;

impl Session {
    /// Evaluates a line of a dialog and returns what is to be shown for it.
    ///
    /// # Errors
    /// The line fails; then the session is as it was before.
    pub fn eval_line(&mut self, line: &str) -> Result<Option<String>, ScriptError> {
        self.interrupt.store(false, Ordering::Relaxed);
        self.lines += 1;
        let name = format!("<line {}>", self.lines);
        let before = Snapshot::of(&self.scope);
        let result = self.run(&name, line, None, Last::Unwatched, |value| display(&value));
        match &result {
            Ok(_) => self.keep_imports(line),
            Err(_) => {
                let failed = before.restore(&mut self.scope);
                let _ = on_large_stack(move || drop(failed));
                self.attempted = self.functions.clone();
                self.shared().lock().places.forget(&name);
            }
        }
        result
    }

    fn keep_imports(&mut self, line: &str) {
        for import in top_level_imports(line) {
            if !self.imports.contains(&import) {
                self.imports.push_str(&import);
            }
        }
    }

    /// The variable that was declared last of those that hold a nest.
    pub fn last_nest(&self) -> Option<String> {
        let nests = self.scope.iter().filter(|(_, _, value)| value.is::<Nest>());
        nests.last().map(|(name, ..)| name.to_owned())
    }

    /// The value of a variable on one line.
    pub fn show_variable(&self, name: &str) -> Option<String> {
        let value = self.scope.get(name)?;
        on_large_stack(|| values::show(value)).ok()
    }
}

/// The variables as they were.
struct Snapshot {
    scope: Scope<'static>,
    /// The values of variables that closures share with the scope: those are changed in place.
    shared: Vec<(String, Dynamic)>,
}

impl Snapshot {
    fn of(scope: &Scope<'static>) -> Snapshot {
        let shared = scope
            .iter_raw()
            .filter(|(_, _, value)| value.is_shared())
            .map(|(name, _, value)| (name.to_owned(), value.flatten_clone()))
            .collect();
        Snapshot {
            scope: scope.clone(),
            shared,
        }
    }

    /// Restores the variables and returns what they were replaced by.
    fn restore(self, scope: &mut Scope<'static>) -> Scope<'static> {
        let failed = std::mem::replace(scope, self.scope);
        for (name, old) in self.shared {
            let place = scope.get_mut(&name);
            if let Some(mut place) = place.and_then(|p| p.write_lock::<Dynamic>()) {
                *place = old;
            }
        }
        failed
    }
}

/// What a dialog shows for a value: nothing for `()`, and for what was printed already.
fn display(value: &Dynamic) -> Option<String> {
    if value.is_unit() || value.tag() == values::SHOWN {
        return None;
    }
    if let Some(expr) = value.read_lock::<Expr>() {
        return Some(expr.to_string());
    }
    if let Some(nest) = value.read_lock::<Nest>() {
        return Some(nest.to_string());
    }
    if let Some(shown) = actions::shown(value, true) {
        return Some(shown);
    }
    Some(format!("=> {}", values::show(value)))
}

/// The import statements of a line, each with its semicolon.
fn top_level_imports(line: &str) -> Vec<String> {
    let scanned = lex::scan(line);
    let mut imports = Vec::new();
    let mut depth = 0usize;
    let mut start = None;
    for (k, token) in scanned.tokens.iter().enumerate() {
        let text = scanned.text(line, k);
        match text {
            "{" | "(" | "[" | "#{" => depth += 1,
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            "import" if depth == 0 => start = Some(token.range.start),
            _ => {}
        }
        let is_last = k + 1 == scanned.tokens.len();
        if let (true, Some(from)) = (text == ";" || is_last, start) {
            let statement = line[from..token.range.end].trim_end_matches(';');
            imports.push(format!("{}; ", statement.replace(['\n', '\r'], " ")));
            start = None;
        }
    }
    imports
}
