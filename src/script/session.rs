//! Sessions: scripts that run one after the other and share their definitions.

use crate::actions::ACTIONS;
use crate::binding::arithmetic;
use crate::binding::function;
use crate::binding::function_values;
use crate::binding::methods;
use crate::binding::names;
use crate::binding::operations;
use crate::binding::operators;
use crate::binding::ranges;
use crate::binding::state::{Shared, State};
use crate::codegen;
use crate::diag::Diagnostic;
use crate::ir::{Name, Nest};
use crate::lang::Notation;
use crate::library::Library;
use crate::machine::Machine;
use crate::messages::errors::{self, ScriptError};
use crate::messages::fail;
use crate::messages::habits;
use crate::modules;
use crate::reader::dropped::Last;
use crate::reader::rewrite::Kind;
use crate::runtime::{Data, is_lack};
use crate::saved::Saved;
use crate::sleep;
use crate::stack::{Failed, lacking, on_large_stack};
use crate::trees;
use crate::values;
use crate::verbs::{Bench, Workbench};
use crate::versions::Version;
use rhai::{AST, Array, Dynamic, Engine, EvalAltResult, FnPtr, OptimizationLevel, Scope};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An engine with the variables and functions that scripts have defined.
pub struct Session {
    pub(super) engine: Engine,
    pub(super) shared: Shared,
    pub(super) scope: Scope<'static>,
    /// The functions of the lines that succeeded.
    pub(super) functions: AST,
    /// The same functions, line by line, as the states of the session share them.
    pub(super) defined: Version<AST>,
    /// The variables of the last state.
    pub(super) kept: Version<Saved>,
    /// The contents of inputs of the last state.
    pub(super) inputs: Version<(Name, Data)>,
    /// The texts that ran since then: they change only the variables that they name.
    pub(super) since: String,
    /// The functions of the script that ran last, whether it succeeded or not.
    pub(super) attempted: AST,
    /// The imports of the lines that succeeded, as text.
    pub(super) imports: String,
    pub(super) lines: usize,
    pub(super) interrupt: Arc<AtomicBool>,
    pub(super) library: Library,
}

const MAX_CALLS: usize = 1000;
const MAX_EXPRESSION_DEPTH: usize = 200;
const MAX_STRING: usize = 64 << 20;
// Lists can hold lists, and dropping them recurses.
const MAX_LIST: usize = 100_000;
// A full table is searched for each new name. It has room for those of the library and of scripts.
const MAX_INTERNED: usize = 1 << 14;

impl Session {
    /// A session that prints to `output` and tries kernels on `workbench`. The interrupt flag of
    /// the workbench also stops scripts.
    ///
    /// # Errors
    /// The library that comes with the tool does not compile.
    pub fn new(
        output: Box<dyn Write + Send>,
        mut workbench: Workbench,
    ) -> Result<Session, ScriptError> {
        let root = PathBuf::from(".");
        let interrupt = workbench.control.interrupt.clone();
        let target = &mut workbench.settings.options.target;
        if target.is_native() {
            let device = target.device.clone();
            *target = Machine::known(&workbench.control).target();
            target.device = device;
        }
        workbench.output = output;
        let state = State {
            places: Default::default(),
            root: root.canonicalize().unwrap_or(root),
            given_root: PathBuf::new(),
            warnings: Vec::new(),
            invocations: Vec::new(),
            runs: 0,
        };
        let shared = Shared::new(state, Bench::from(workbench));
        let mut session = Session {
            engine: Engine::new(),
            shared,
            scope: Scope::new(),
            functions: AST::empty(),
            defined: Version::default(),
            kept: Version::default(),
            inputs: Version::default(),
            since: String::new(),
            attempted: AST::empty(),
            imports: String::new(),
            lines: 0,
            interrupt,
            library: Library::default(),
        };
        session.set_up().map_err(|e| session.translate(*e))?;
        Ok(session)
    }

    fn set_up(&mut self) -> Result<(), Box<EvalAltResult>> {
        let engine = &mut self.engine;
        engine
            .set_optimization_level(OptimizationLevel::None)
            .set_max_call_levels(MAX_CALLS)
            .set_max_expr_depths(MAX_EXPRESSION_DEPTH, MAX_EXPRESSION_DEPTH)
            .set_max_string_size(MAX_STRING)
            .set_max_array_size(MAX_LIST)
            .set_max_map_size(MAX_LIST)
            .set_max_strings_interned(MAX_INTERNED)
            .set_fail_on_invalid_map_property(true)
            // Code in strings has no place that a message could show.
            .disable_symbol("eval")
            .set_module_resolver(modules::Resolver::new(self.shared.clone()));
        engine.register_custom_operator("->", 25)?;
        // Weaker than `..`, as in `0..n by 2`.
        engine.register_custom_operator("by", 24)?;
        arithmetic::register(engine, &self.shared);
        function_values::register(engine, &self.shared);
        ranges::register(engine);
        fail::register(engine);
        names::register(engine, &self.shared)?;
        operators::register(engine, &self.shared);
        operations::register(engine, &self.shared);
        values::register(engine);
        trees::register(engine);
        for function in ACTIONS {
            function::register(engine, &self.shared, function);
        }

        sleep::register(engine, &self.interrupt);
        let interrupt = self.interrupt.clone();
        engine.on_progress(move |_| interrupt.load(Ordering::Relaxed).then_some(Dynamic::UNIT));
        let bench = self.shared.bench().clone();
        engine.on_print(move |text| bench.lock().print(text));
        let shared = self.shared.clone();
        engine.on_debug(move |text, _, position| {
            let site = shared.lock().places.site(position);
            let place = site.map_or(String::new(), |s| format!("[{}:{}] ", s.source, s.line));
            shared.bench().lock().print(&format!("{place}{text}"));
        });
        self.library = Library::add(engine, &self.shared)?;
        Ok(())
    }

    /// Set it to stop the running script.
    pub fn interrupt_flag(&self) -> Arc<AtomicBool> {
        self.interrupt.clone()
    }

    /// Where the session's kernels are made and tried.
    pub fn bench(&self) -> &Bench {
        self.shared.bench()
    }

    /// The state that native functions see.
    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Runs the script in a file.
    ///
    /// # Errors
    /// The file cannot be read, or the script fails.
    pub fn run_file(&mut self, path: &Path) -> Result<(), ScriptError> {
        let shown = path.display().to_string();
        let read = || -> std::io::Result<(PathBuf, String)> {
            let full = path.canonicalize()?;
            let text = script_text(std::fs::read(&full)?)?;
            Ok((full, text))
        };
        let (full, text) = read().map_err(|error| unreadable(&shown, &error))?;
        {
            let mut state = self.shared.lock();
            if let Some(directory) = full.parent() {
                state.root = directory.to_owned();
                state.given_root = path.parent().map(Path::to_owned).unwrap_or_default();
            }
        }
        if Notation::of_file(path).is_some() {
            return self.run_program(&shown);
        }
        self.run(&shown, &text, Some(full), Last::Dropped, drop)
    }

    /// Prints, optimizes, compares and exports the program in a file.
    fn run_program(&mut self, file: &str) -> Result<(), ScriptError> {
        let sizes = self.bench().lock().parameters.take_sizes();
        let sizes = sizes
            .into_iter()
            .map(|(name, size)| (name.into(), size.into()));
        let sizes = sizes.collect::<rhai::Map>();
        let stem = Path::new(file).file_stem().unwrap_or_default();
        let label = stem.to_string_lossy().to_lowercase().replace('-', "_");
        let symbol = codegen::symbol::from_label(&label);
        self.call(
            RUN_PROGRAM,
            vec![file.to_owned().into(), sizes.into(), symbol.into()],
            drop,
        )
    }

    /// Runs the script that comes from `input`, which messages call `<stdin>`.
    ///
    /// # Errors
    /// It cannot be read, or the script fails.
    pub fn run_input(&mut self, mut input: impl Read) -> Result<(), ScriptError> {
        let mut bytes = Vec::new();
        let read = input.read_to_end(&mut bytes);
        let text = read.and_then(|_| script_text(bytes));
        let text = text.map_err(|error| unreadable(INPUT, &error))?;
        self.run_text(INPUT, &text)
    }

    /// Whether all that scripts printed could be written.
    ///
    /// # Errors
    /// The first error since this was asked.
    pub fn written(&self) -> std::io::Result<()> {
        self.bench().lock().written()
    }

    /// Runs a text as the script `name`.
    ///
    /// # Errors
    /// The script fails.
    pub fn run_text(&mut self, name: &str, text: &str) -> Result<(), ScriptError> {
        self.run(name, text, None, Last::Dropped, drop)
    }

    /// Calls a function of the library on nests that run in order, with options as texts; `None` if
    /// the result is not a nest.
    ///
    /// # Errors
    /// The function refuses them.
    pub fn make(
        &mut self,
        function: &str,
        nests: &[Nest],
        options: &[(&str, &str)],
    ) -> Result<Option<Nest>, ScriptError> {
        let nests: Array = nests.iter().cloned().map(Dynamic::from).collect();
        let options = options.iter();
        let options = options.map(|(name, text)| ((*name).into(), (*text).into()));
        let options = options.collect::<rhai::Map>();
        let mut given = vec![nests.into()];
        if !options.is_empty() {
            given.push(options.into());
        }
        self.call(function, given, Dynamic::try_cast::<Nest>)
    }

    /// Calls a function by its name and hands its value to `finish`, all on a large stack.
    ///
    /// # Errors
    /// The function fails.
    pub(super) fn call<T: Send>(
        &mut self,
        function: &str,
        arguments: Vec<Dynamic>,
        finish: impl FnOnce(Dynamic) -> T + Send,
    ) -> Result<T, ScriptError> {
        self.bench().lock().begin();
        self.on_stack(|session| {
            let function = FnPtr::new(function);
            let value =
                function.and_then(|f| f.call(&session.engine, &session.functions, arguments));
            value.map(finish).map_err(|e| session.translate(*e))
        })
    }

    /// Whether a script tuned anything.
    pub fn tunes(&self) -> bool {
        self.bench().lock().tuning.calls > 0
    }

    /// Whether `tune` took a recorded winner, or a comparison got one.
    pub fn applies(&self) -> bool {
        self.tunes() || self.bench().lock().tuning.applied > 0
    }

    /// Tunes the first variant that a script compared, if the script tuned nothing.
    ///
    /// # Errors
    /// No variant is legal, or none is right.
    pub fn tune_what_was_compared(&mut self) -> Result<(), ScriptError> {
        if self.tunes() {
            return Ok(());
        }
        let first = {
            let mut bench = self.bench().lock();
            let comparisons = std::mem::take(&mut bench.kept.comparisons);
            let variants = comparisons
                .into_iter()
                .flat_map(|comparison| comparison.variants);
            variants.map(|variant| variant.nests).next()
        };
        match first {
            Some(nests) => self.make(AUTOTUNE, &nests, &[]).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Runs a text and hands its value to `finish`, all on a large stack. `last` says which values
    /// of it are dropped.
    pub(super) fn run<T: Send>(
        &mut self,
        name: &str,
        text: &str,
        path: Option<PathBuf>,
        last: Last,
        finish: impl FnOnce(Dynamic) -> T + Send,
    ) -> Result<T, ScriptError> {
        self.on_stack(|session| match session.evaluate(name, text, path, last) {
            Ok(value) => Ok(finish(value)),
            Err(error) => Err(session.translate(*error)),
        })
    }

    /// Does some work on a large stack; a panic is an error.
    pub(super) fn on_stack<T: Send>(
        &mut self,
        work: impl FnOnce(&mut Session) -> Result<T, ScriptError> + Send,
    ) -> Result<T, ScriptError> {
        let ran = on_large_stack(|| work(self)).unwrap_or_else(|failed| {
            let diagnostic = match failed {
                Failed::Panic(panic) if is_lack(&panic) => Diagnostic::error(lacking(&panic)),
                Failed::Panic(panic) => Diagnostic::bug(format!("internal error: {panic}")),
                Failed::Start(error) => Diagnostic::error(lacking(&error)),
            };
            Err(ScriptError::of(diagnostic))
        });
        self.unless_stopped(ran)
    }

    /// Discards a result after an interrupt, since proofs were given up on the way.
    fn unless_stopped<T>(&self, ran: Result<T, ScriptError>) -> Result<T, ScriptError> {
        if !self.interrupt.load(Ordering::Relaxed) {
            return ran;
        }
        match ran {
            Err(error) if error.diagnostic.message.contains("interrupted") => Err(error),
            _ => Err(ScriptError {
                interrupted: true,
                ..ScriptError::of(Diagnostic::error("interrupted"))
            }),
        }
    }

    fn evaluate(
        &mut self,
        name: &str,
        text: &str,
        path: Option<PathBuf>,
        last: Last,
    ) -> Result<Dynamic, Box<EvalAltResult>> {
        let scope = &self.scope;
        let is_declared = |name: &str| scope.contains(name);
        self.bench().lock().begin();
        let mut state = self.shared.lock();
        let compiled = state.places.add(
            name,
            text,
            path,
            &self.imports,
            &is_declared,
            Kind::Script(last),
        );
        let warnings = [
            habits::floor_division(name, text),
            habits::lost_fraction(name, text),
        ];
        for (k, warning) in warnings.into_iter().flatten().enumerate() {
            // Warnings about the whole text come first.
            state.warn(
                rhai::Position::new(1, u16::try_from(k).unwrap_or(0)),
                warning,
            );
        }
        drop(state);
        let Some(compiled) = compiled else {
            let failure = fail::Failure::new(format!("{name} has too many lines"));
            return Err(failure.raise(rhai::Position::NONE));
        };
        let mut ast = self.engine.compile(compiled)?;
        ast.set_source(name);
        self.shared.lock().places.compiled(&ast);
        self.since.push_str(text);
        self.since.push('\n');
        let all = self.functions.merge(&ast);
        self.attempted = if ast.has_functions() {
            all.clone_functions_only()
        } else {
            self.functions.clone()
        };
        let result = self
            .engine
            .eval_ast_with_scope::<Dynamic>(&mut self.scope, &methods::with_methods(&all))?;
        self.functions = self.attempted.clone();
        if ast.has_functions() {
            let own = |_, old: Option<&AST>| old.is_none().then(|| ast.clone_functions_only());
            self.defined = self.defined.next(self.defined.len() + 1, own);
        }
        Ok(result)
    }

    fn translate(&self, error: EvalAltResult) -> ScriptError {
        let known = self.known();
        let mut error = errors::translate(error, &known, &self.shared.lock().places);
        // A failure caused by an interrupt has its own message.
        error.interrupted |= self.interrupt.load(Ordering::Relaxed);
        error
    }
}

/// Functions of the library that a session calls by itself.
pub(super) const AUTOTUNE: &str = "autotune";
const RUN_PROGRAM: &str = "std_run_program";

/// The name of a script that comes from standard input.
const INPUT: &str = "<stdin>";

pub(super) fn script_text(bytes: Vec<u8>) -> std::io::Result<String> {
    String::from_utf8(bytes).map_err(|_| {
        let reason = "it is not UTF-8 text";
        std::io::Error::new(std::io::ErrorKind::InvalidData, reason)
    })
}

pub(super) fn unreadable(name: &str, error: &std::io::Error) -> ScriptError {
    ScriptError::of(Diagnostic::error(format!("cannot read {name}: {error}")))
}

impl Drop for Session {
    fn drop(&mut self) {
        // Values can be nested so deeply that dropping them needs the large stack.
        let scope = std::mem::take(&mut self.scope);
        let kept = std::mem::take(&mut self.kept);
        let _ = on_large_stack(move || drop((scope, kept)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_internal_error_and_the_session_goes_on() {
        let mut session = Session::new(Box::new(std::io::sink()), Workbench::default()).unwrap();
        let boom = || -> i64 { panic!("it went boom") };
        session.engine.register_fn("boom", boom);
        let error = session.eval_line("let n = 1; boom()").unwrap_err();
        let shown = error.render(false);
        assert!(shown.contains("internal error: it went boom"), "{shown}");
        assert!(shown.contains("please report"), "{shown}");
        assert_eq!(session.eval_line("1 + 1").unwrap().as_deref(), Some("=> 2"));
    }
}
