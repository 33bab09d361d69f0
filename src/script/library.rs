//! The library that comes with the tool.

use crate::binding::invocations::enter;
use crate::binding::methods;
use crate::binding::state::Shared;
use crate::reader::lex;
use crate::reader::places::{LIBRARY, Places};
use crate::reader::rewrite::{self, INTERNAL, Kind};
use include_dir::{Dir, File, include_dir};
use rhai::{
    AST, Dynamic, Engine, EvalAltResult, FuncRegistration, Module, NativeCallContext, Scope,
};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

static STDLIB: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../stdlib");

/// A file of the library.
pub struct Part {
    /// Its name in `import`, after `std/`.
    pub name: String,
    /// The name before `::` under which scripts find its functions: that of its folder, if it is
    /// in one.
    pub namespace: Option<&'static str>,
    /// The script.
    pub text: &'static str,
}

/// The files of the library.
pub fn parts() -> Vec<Part> {
    let part = |file: &'static File<'static>, folder: Option<&'static str>| {
        let stem = file.path().file_stem()?.to_str()?;
        let is_script = file.path().extension()? == "rhai";
        let text = file.contents_utf8().filter(|_| is_script)?;
        Some(Part {
            name: folder.map_or(stem.to_owned(), |folder| format!("{folder}/{stem}")),
            namespace: folder,
            text,
        })
    };
    let top = STDLIB.files().filter_map(|file| part(file, None));
    let inner = STDLIB.dirs().flat_map(|directory| {
        let folder = directory.path().to_str();
        directory.files().filter_map(move |file| part(file, folder))
    });
    top.chain(inner).collect()
}

/// The library as sessions see it.
#[derive(Default)]
pub struct Library {
    files: &'static [Compiled],
}

/// A file of the library, compiled.
struct Compiled {
    part: Part,
    ast: AST,
    /// Its functions, and methods of their names.
    module: Arc<Module>,
    /// Name and number of parameters of the functions that scripts call.
    public: Vec<(&'static str, usize)>,
}

/// All files of the library, compiled, and the places of their lines. They are the same in every
/// session.
static COMPILED: OnceLock<(Vec<Compiled>, Places)> = OnceLock::new();

/// How the names of its public functions start, which scripts call through native ones that know
/// where they were called; behind it and two more underscores the namespace, if there is one, then
/// the name: `std_public__schedules__gemm`.
const PUBLIC: &str = "std_public__";

/// The prefix of the public functions of a file.
fn prefix(part: &Part) -> String {
    let space = part.namespace.map(|space| format!("{space}__"));
    format!("{PUBLIC}{}", space.unwrap_or_default())
}

/// The name by which scripts call a function, without its namespace.
pub fn public_name(name: &str) -> &str {
    match name.strip_prefix(PUBLIC) {
        Some(public) => public.rsplit("__").next().unwrap_or(public),
        None => name,
    }
}

/// How Rhai names closures.
const CLOSURE: &str = "anon$";

impl Library {
    /// Makes the library available without import: helpers and functions of files without a
    /// namespace by their names, the others behind that of their namespace. No other text of the
    /// session was compiled before.
    ///
    /// # Errors
    /// It does not compile.
    pub fn add(engine: &mut Engine, shared: &Shared) -> Result<Library, Box<EvalAltResult>> {
        let (files, places) = match COMPILED.get() {
            Some(compiled) => compiled,
            None => {
                let files = compile(engine, shared)?;
                let places = shared.lock().places.clone();
                COMPILED.get_or_init(|| (files, places))
            }
        };
        shared.lock().places = places.clone();
        let mut namespaces: BTreeMap<&str, Module> = BTreeMap::new();
        for file in files {
            engine.register_global_module(file.module.clone());
            let callable = file.callable(shared);
            match file.part.namespace {
                Some(namespace) => {
                    namespaces.entry(namespace).or_default().merge(&callable);
                }
                None => {
                    engine.register_global_module(callable.into());
                }
            }
        }
        for (name, module) in namespaces {
            engine.register_static_module(name, module.into());
        }
        Ok(Library { files })
    }

    /// The functions, as scripts call them: name and signature.
    pub fn functions(&self) -> impl Iterator<Item = (String, String)> {
        self.files.iter().flat_map(|file| {
            let functions = signed(&file.ast, |name| name.starts_with(PUBLIC)).into_iter();
            functions.map(|(name, signature)| match file.part.namespace {
                Some(space) => (format!("{space}::{name}"), format!("{space}::{signature}")),
                None => (name, signature),
            })
        })
    }

    /// Help on the function that scripts call `name`.
    pub fn help(&self, name: &str) -> Option<String> {
        let (namespace, called) = match name.rsplit_once("::") {
            Some((namespace, called)) => (Some(namespace), called),
            None => (None, name),
        };
        if called.starts_with(INTERNAL) {
            return None;
        }
        let files = self.files.iter();
        let files = files.filter(|file| file.part.namespace == namespace);
        let space = namespace.map_or(String::new(), |space| format!("{space}__"));
        let hidden = format!("{PUBLIC}{space}{called}");
        let mut found = files.filter_map(|file| documentation(&file.ast, &hidden, called));
        let text = found.next()?;
        Some(namespace.map_or(text.clone(), |space| format!("{space}::{text}")))
    }
}

/// Compiles all files on all cores, since the user waits for the prompt.
fn compile(engine: &Engine, shared: &Shared) -> Result<Vec<Compiled>, Box<EvalAltResult>> {
    let parts = parts();
    let rewritten = on_all_cores(&parts, |part| {
        rewrite::rewrite(part.text, &|_| false, Kind::Library(&prefix(part)))
    });
    let mut texts = Vec::with_capacity(parts.len());
    for (part, rewritten) in parts.iter().zip(rewritten) {
        let name = format!("{LIBRARY}{}", part.name);
        let places = &mut shared.lock().places;
        let text = places.add_rewritten(&name, part.text, None, "", rewritten);
        texts.push((name, text.unwrap_or_default(), part));
    }
    let modules = on_all_cores(&texts, |(name, text, part)| {
        let mut ast = engine.compile(text)?;
        ast.set_source(name);
        let mut module = Module::eval_ast_as_new(Scope::new(), &ast, engine)?;
        methods::add(&mut module, &ast);
        let functions = rewrite::functions(part.text, &lex::scan(part.text)).into_iter();
        let public = functions.filter(|function| !function.name.starts_with(INTERNAL));
        let public = public.map(|f| (f.name, f.parameters)).collect();
        Ok::<_, Box<EvalAltResult>>((ast, Arc::new(module), public))
    });
    let mut compiled = Vec::with_capacity(parts.len());
    for (part, module) in parts.into_iter().zip(modules) {
        let (ast, module, public) = module?;
        shared.lock().places.compiled(&ast);
        compiled.push(Compiled {
            part,
            ast,
            module,
            public,
        });
    }
    Ok(compiled)
}

/// The stack of a thread that compiles a file.
const STACK: usize = 16 << 20;

/// Applies `work` to each of `all`; the results are in order.
pub(super) fn on_all_cores<T: Sync, R: Send>(all: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let some = || {
        let numbers = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)));
        let items = numbers.map_while(|k| Some((k, work(all.get(k)?))));
        items.collect::<Vec<(usize, R)>>()
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut done = std::thread::scope(|threads| {
        let others = (1..cores.min(all.len())).filter_map(|_| {
            let thread = std::thread::Builder::new().stack_size(STACK);
            thread.spawn_scoped(threads, some).ok()
        });
        let others: Vec<_> = others.collect();
        let mut done = some();
        for other in others {
            match other.join() {
                Ok(own) => done.extend(own),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|(k, _)| *k);
    done.into_iter().map(|(_, made)| made).collect()
}

/// The module that `import` calls `std/NAME`.
pub fn module(name: &str, shared: &Shared) -> Option<Module> {
    let (files, _) = COMPILED.get()?;
    let file = files.iter().find(|file| file.part.name == name)?;
    Some(file.callable(shared))
}

impl Compiled {
    /// The public functions as native ones, which know where they are called and run those of the
    /// file that was added.
    fn callable(&self, shared: &Shared) -> Module {
        let part = &self.part;
        let mut module = Module::new();
        let prefix = prefix(part);
        for &(name, parameters) in &self.public {
            let hidden = format!("{prefix}{name}");
            let space = part.namespace.map(|space| format!("{space}::"));
            let called = format!("{}{name}", space.unwrap_or_default());
            let shared = shared.clone();
            let body = move |context: Option<NativeCallContext>, args: &mut [&mut Dynamic]| {
                let Some(context) = context else {
                    return Ok(Dynamic::UNIT);
                };
                // The receiver of a method is the caller's variable: the function gets a copy.
                let mut values: Vec<Dynamic> = args.iter().map(|a| a.flatten_clone()).collect();
                let call = enter(&shared, &called, &values, context.call_position());
                let mut values: Vec<&mut Dynamic> = values.iter_mut().collect();
                let result = context.call_fn_raw(&hidden, false, false, &mut values);
                call.leave(result.as_ref().ok());
                result
            };
            let registration = FuncRegistration::new(name);
            let registration = match part.namespace {
                Some(_) => registration,
                None => registration.in_global_namespace(),
            };
            methods::set(&mut module, registration, parameters, body);
        }
        module
    }
}

/// The functions of a script: name and signature; closures left out.
pub fn script_functions(ast: &AST) -> Vec<(String, String)> {
    signed(ast, |name| {
        !name.starts_with(CLOSURE) && !name.starts_with(INTERNAL)
    })
}

/// Some functions of a script, by the names by which scripts call them.
fn signed(ast: &AST, is_wanted: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let mut functions: Vec<_> = ast.iter_functions().filter(|f| is_wanted(f.name)).collect();
    // Rhai has them in no order.
    functions.sort_by_key(|f| (f.name, f.params.len()));
    let signed = functions.into_iter().map(|f| {
        let name = public_name(f.name);
        (name.to_owned(), format!("{name}({})", f.params.join(", ")))
    });
    signed.collect()
}

/// The signature of a function of a script that is called `name`, and the comment above it. If
/// several functions have that name, the comment is above the first one.
pub fn documentation(script: &AST, function: &str, name: &str) -> Option<String> {
    let named = script.iter_functions().filter(|f| f.name == function);
    let function = named.min_by_key(|f| (f.comments.is_empty(), f.params.len()))?;
    let comments = function.comments.iter().flat_map(|c| c.lines());
    let doc: Vec<&str> = comments
        .map(|line| line.trim_start_matches('/'))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    let signature = format!("{name}({})", function.params.join(", "));
    let text = format!("{signature}\n\n{}", doc.join("\n"));
    Some(text.trim_end().to_owned())
}

/// The files of the library, as `import` calls them.
pub fn library_modules() -> Vec<String> {
    parts()
        .into_iter()
        .map(|part| format!("{LIBRARY}{}", part.name))
        .collect()
}
