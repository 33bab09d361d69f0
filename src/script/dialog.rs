//! Lines of the REPL: their definitions persist, and a line that fails leaves no trace.

use crate::actions;
use crate::advice::Moves;
use crate::diag::Diagnostic;
use crate::ir::{Expr, Nest};
use crate::legality;
use crate::messages::errors::ScriptError;
use crate::readable::readable;
use crate::reader::dropped::Last;
use crate::reader::lex;
use crate::session::{AUTOTUNE, Session, script_text, unreadable};
use crate::trial::Collect;
use crate::values;
use crate::verbs::{Bench, Refusal};
use rhai::{Dynamic, Map};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The value of a line, to be shown.
#[derive(Clone, Debug)]
pub enum Shown {
    Nest(Nest),
    /// C.
    Code(String),
    /// A path: the script that makes a nest.
    Script(String),
    /// Anything else, as text.
    Text(String),
}

impl Shown {
    /// The text without colors.
    pub fn text(self) -> String {
        match self {
            Shown::Nest(nest) => values::printed(&nest),
            Shown::Code(text) | Shown::Script(text) | Shown::Text(text) => text,
        }
    }
}

/// The winner of a search.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The fastest variant: nests that run in order.
    pub nests: Vec<Nest>,
    /// Its median time in seconds.
    pub median: f64,
}

impl Session {
    /// Evaluates a line of the REPL and returns the text to show for it. A list or a map is on one
    /// line.
    ///
    /// # Errors
    /// The line fails; then the session is as it was before.
    pub fn eval_line(&mut self, line: &str) -> Result<Option<String>, ScriptError> {
        let shown = self.eval_shown(line, usize::MAX)?;
        Ok(shown.map(Shown::text))
    }

    /// As [`Session::eval_line`], for windows of `width` columns.
    ///
    /// # Errors
    /// The line fails; then the session is as it was before.
    pub fn eval_shown(&mut self, line: &str, width: usize) -> Result<Option<Shown>, ScriptError> {
        self.lines += 1;
        let name = format!("<line {}>", self.lines);
        self.or_undone(|session| {
            let shown = session.run(&name, line, None, Last::Unwatched, |v| display(&v, width));
            match &shown {
                Ok(_) => session.keep_imports(line),
                Err(_) => session.shared().lock().places.forget(&name),
            }
            shown
        })
    }

    /// Evaluates an expression and undoes its changes.
    ///
    /// # Errors
    /// It fails.
    pub fn look(&mut self, expression: &str, width: usize) -> Result<Option<Shown>, ScriptError> {
        self.ask(expression, |value| display(&value, width))
    }

    /// The nests that an expression denotes: a nest, or a list of nests that run in order; none if
    /// it is something else.
    ///
    /// # Errors
    /// It fails.
    pub fn nests_of(&mut self, expression: &str) -> Result<Vec<Nest>, ScriptError> {
        self.ask(expression, |value| values::nests(&value))
    }

    /// Calls a verb on the workbench, on a stack for deep recursion. Refusals become errors of
    /// `verb`.
    ///
    /// # Errors
    /// The verb refuses, or somebody stopped it.
    pub fn verb<T: Send>(
        &mut self,
        verb: &str,
        act: impl FnOnce(&Bench) -> Result<T, Refusal> + Send,
    ) -> Result<T, ScriptError> {
        self.begin();
        let bench = self.bench().clone();
        self.on_stack(|_| act(&bench).map_err(|refusal| ScriptError::of(refusal.diagnostic(verb))))
    }

    /// The moves of a nest that are legal now; `which` is the script of a loop, of a list of
    /// operations or of a number of levels, as `moves` takes it.
    ///
    /// # Errors
    /// There is no such loop, or nothing is known of the nest.
    pub fn moves_of(&mut self, nest: &Nest, which: &str) -> Result<Arc<Moves>, ScriptError> {
        let which = self.ask(which, |value| value)?;
        let given = vec![Dynamic::from(nest.clone()), which];
        let moves = self.call(actions::MOVES.name, given, |value| {
            let listed = value.try_cast::<values::Listed>();
            listed.map(|listed| listed.all_moves())
        })?;
        moves.ok_or_else(|| failed("`moves` listed nothing"))
    }

    /// The fastest schedule that `autotune` finds for nests that run in order; `options` is the
    /// script of its options, or empty.
    ///
    /// # Errors
    /// Nothing was timed, the options are wrong, or somebody stopped the search.
    pub fn tuned(&mut self, nests: &[Nest], options: &str) -> Result<Tuned, ScriptError> {
        let mut given = vec![actions::as_given(nests.to_vec())];
        if !options.is_empty() {
            given.push(self.ask(options, |value| value)?);
        }
        let tuned = self.call(AUTOTUNE, given, |value| {
            let map = value.try_cast::<Map>()?;
            Some(Tuned {
                nests: values::nests(map.get("nest")?),
                median: map.get("median")?.as_float().ok()?,
            })
        })?;
        tuned.ok_or_else(|| failed("nothing was timed"))
    }

    pub(super) fn ask<T: Send>(
        &mut self,
        expression: &str,
        finish: impl FnOnce(Dynamic) -> T + Send,
    ) -> Result<T, ScriptError> {
        const NAME: &str = "<command>";
        self.begin();
        let before = self.checkpoint();
        let asked = self.run(NAME, expression, None, Last::Unwatched, finish);
        self.restore(&before);
        self.shared().lock().places.forget(NAME);
        asked
    }

    /// Runs the script in a file as one line, and returns its text. With `is_quiet`, kernels are
    /// neither run nor timed.
    ///
    /// # Errors
    /// It cannot be read, or it fails; then the session is as it was before.
    pub fn load(&mut self, path: &Path, is_quiet: bool) -> Result<String, ScriptError> {
        let read = std::fs::read(path).and_then(script_text);
        let text = read.map_err(|error| unreadable(&path.display().to_string(), &error))?;
        self.quietly(is_quiet, |session| {
            session.run_file(path)?;
            session.keep_imports(&text);
            Ok(())
        })?;
        Ok(text)
    }

    /// Runs a text called `name`, as [`Session::load`] does a file.
    ///
    /// # Errors
    /// It fails; then the session is as it was before.
    pub fn load_text(&mut self, name: &str, text: &str, is_quiet: bool) -> Result<(), ScriptError> {
        self.quietly(is_quiet, |session| {
            session.run_text(name, text)?;
            session.keep_imports(text);
            Ok(())
        })
    }

    fn quietly<T>(
        &mut self,
        is_quiet: bool,
        work: impl FnOnce(&mut Session) -> Result<T, ScriptError>,
    ) -> Result<T, ScriptError> {
        if !is_quiet {
            return self.or_undone(work);
        }
        let runner = {
            let bench = &mut self.bench().lock();
            std::mem::replace(&mut bench.runner, Arc::new(Collect))
        };
        let done = self.or_undone(work);
        let bench = &mut self.bench().lock();
        bench.runner = runner;
        bench.kept.comparisons.clear();
        done
    }

    /// Clears an earlier interrupt, so that scripts and proofs run again.
    pub fn begin(&self) {
        self.interrupt.store(false, Ordering::Relaxed);
        legality::resume();
    }

    /// Does some work, and undoes it if it fails.
    fn or_undone<T>(
        &mut self,
        work: impl FnOnce(&mut Session) -> Result<T, ScriptError>,
    ) -> Result<T, ScriptError> {
        self.begin();
        let before = self.checkpoint();
        let done = work(self);
        if done.is_err() {
            self.restore(&before);
        }
        done
    }

    fn keep_imports(&mut self, line: &str) {
        for import in top_level_imports(line) {
            if !self.imports.contains(&import) {
                self.imports.push_str(&import);
            }
        }
    }

    /// The variables that hold nests, in the order of their declaration.
    pub fn nests(&self) -> Vec<(String, Nest)> {
        let values = self.scope.iter();
        let nests = values.filter_map(|(name, _, value)| Some((name, value.try_cast::<Nest>()?)));
        let mut found: Vec<(String, Nest)> = Vec::new();
        for (name, nest) in nests {
            // A later declaration hides an earlier one.
            found.retain(|(known, _)| known != name);
            found.push((name.to_owned(), nest));
        }
        found
    }

    /// The value of a variable on one line.
    pub fn show_variable(&self, name: &str) -> Option<String> {
        let value = self.scope.get(name)?;
        crate::stack::on_large_stack(|| values::show(value)).ok()
    }
}

/// The value as the REPL shows it: nothing for `()`, and nothing for a value that was already
/// printed.
pub(super) fn display(value: &Dynamic, width: usize) -> Option<Shown> {
    if value.is_unit() || value.tag() == values::SHOWN {
        return None;
    }
    if let Some(expr) = value.read_lock::<Expr>() {
        return Some(Shown::Text(expr.to_string()));
    }
    if let Some(nest) = value.read_lock::<Nest>() {
        return Some(Shown::Nest(nest.clone()));
    }
    if let Some(shown) = values::shown(value, true) {
        return Some(match values::name_of(value) {
            Some("code") => Shown::Code(shown),
            Some("path") => Shown::Script(shown),
            _ => Shown::Text(shown),
        });
    }
    Some(Shown::Text(format!("=> {}", readable(value, width))))
}

fn failed(why: impl Into<String>) -> ScriptError {
    ScriptError::of(Diagnostic::error(why))
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
