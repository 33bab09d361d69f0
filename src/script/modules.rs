//! Modules, which scripts import.

use crate::binding::methods;
use crate::binding::state::Shared;
use crate::library::{self, parts};
use crate::messages::fail::Failure;
use crate::reader::dropped::Last;
use crate::reader::rewrite::Kind;
use rhai::{AST, Engine, EvalAltResult, Module, ModuleResolver, Position, Scope};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The text of `:help import`.
pub const HELP: &str = "\
import \"PATH\" as NAME

Makes the functions of a module available as `NAME::f`: `import \"lib/tiles\" as tiles;`. The
path is relative to the importing file, and cannot leave the directory of the script. A path
without an ending gets `.rhai`. `std/NAME` is a module of the library.

Scripts can do only what their functions offer. They read files (`load`) and write files
(`save`, `bundle`). Their kernels run in a separate process. You trust the script that you run,
the lines that you type, and standard input: they write anywhere. Imported modules write only
below the working directory, and below directories that `--allow-write DIR` names. A function
value has the rights of the file that it was written in, wherever it is called: a closure or
`Fn(\"save\")` that you hand to a module writes anywhere, and one that a module hands to you
does not. Nobody overwrites a file that teml did not write, unless `--allow-write FILE` names it
or a directory around it.";

/// Finds what `import` names: `std/NAME`, or a file relative to the importing one.
///
/// A module is read once per session. Nothing outside the directory of the main script can be
/// imported.
pub struct Resolver {
    shared: Shared,
    loaded: Mutex<HashMap<PathBuf, Entry>>,
}

#[derive(Clone)]
enum Entry {
    Loading,
    Loaded(Arc<Module>),
}

impl Resolver {
    /// A resolver that has loaded nothing.
    pub fn new(shared: Shared) -> Resolver {
        Resolver {
            shared,
            loaded: Mutex::default(),
        }
    }

    /// The file that `path` means where it is imported.
    fn file(&self, path: &str, position: Position) -> Result<PathBuf, Failure> {
        let state = self.shared.lock();
        let importing = state.places.source(position).and_then(|s| s.path.clone());
        let directory = importing
            .as_deref()
            .and_then(Path::parent)
            .unwrap_or(&state.root);
        let mut wanted = directory.join(path);
        if wanted.extension().is_none() {
            wanted.set_extension("rhai");
        }
        let found = wanted.canonicalize().map_err(|error| {
            Failure::new(format!("cannot import \"{path}\": {error}"))
                .note(format!("looked for {}", state.shown(&wanted)))
                .help("paths are relative to the importing file; the library is under \"std/\"")
        })?;
        // A pipe would be waited for.
        if !found.is_file() {
            return Err(Failure::new(format!(
                "cannot import \"{path}\": it is not a file"
            )));
        }
        if found.starts_with(&state.root) {
            Ok(found)
        } else {
            Err(Failure::new(format!(
                "cannot import \"{path}\": it lies outside the directory of the script"
            )))
        }
    }

    fn load(
        &self,
        engine: &Engine,
        key: &Path,
        path: &str,
        position: Position,
    ) -> Result<Arc<Module>, Box<EvalAltResult>> {
        if let Some(wanted) = path.strip_prefix("std/") {
            return match library::module(wanted, &self.shared) {
                Some(module) => Ok(Arc::new(module)),
                None => {
                    let names: Vec<String> = parts().into_iter().map(|part| part.name).collect();
                    let failure = Failure::new(format!("the library has no module \"{wanted}\""))
                        .help(format!("it has {}", names.join(", ")))
                        .misspelt(wanted);
                    Err(failure.raise(position))
                }
            };
        }
        let text = std::fs::read_to_string(key).map_err(|error| {
            Failure::new(format!("cannot read {}: {error}", key.display())).raise(position)
        })?;
        let file = Some(key.to_owned());
        let name = self.shared.lock().shown(key);
        let kind = Kind::Script(Last::Dropped);
        let ast = compile(engine, &self.shared, &name, &text, file, kind)
            .map_err(|e| Box::new(EvalAltResult::ErrorInModule(path.to_owned(), e, position)))?;
        Module::eval_ast_as_new(Scope::new(), &methods::with_methods(&ast), engine)
            .map(Arc::new)
            .map_err(|e| Box::new(EvalAltResult::ErrorInModule(path.to_owned(), e, position)))
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Entry>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ModuleResolver for Resolver {
    fn resolve(
        &self,
        engine: &Engine,
        _source: Option<&str>,
        path: &str,
        position: Position,
    ) -> Result<Arc<Module>, Box<EvalAltResult>> {
        let key = if path.starts_with("std/") {
            PathBuf::from(path)
        } else {
            self.file(path, position).map_err(|f| f.raise(position))?
        };
        let known = self.entries().get(&key).cloned();
        match known {
            Some(Entry::Loaded(module)) => return Ok(module),
            Some(Entry::Loading) => {
                return Err(Failure::new(format!(
                    "cannot import \"{path}\": it is being imported already, so modules import each other in a circle"
                ))
                .raise(position));
            }
            None => {}
        }
        self.entries().insert(key.clone(), Entry::Loading);
        let loaded = self.load(engine, &key, path, position);
        match &loaded {
            Ok(module) => self.entries().insert(key, Entry::Loaded(module.clone())),
            // A line of the REPL may try again after the file was corrected.
            Err(_) => self.entries().remove(&key),
        };
        loaded
    }
}

/// Compiles a text of a module.
///
/// # Errors
/// It has too many lines, or is not a script.
pub fn compile(
    engine: &Engine,
    shared: &Shared,
    name: &str,
    text: &str,
    path: Option<PathBuf>,
    kind: Kind,
) -> Result<AST, Box<EvalAltResult>> {
    let mut state = shared.lock();
    let compiled = state.places.add(name, text, path, "", &|_| false, kind);
    state.places.import();
    drop(state);
    let Some(compiled) = compiled else {
        let failure = Failure::new(format!("{name} has too many lines"));
        return Err(failure.raise(Position::NONE));
    };
    let mut ast = engine.compile(compiled)?;
    ast.set_source(name);
    shared.lock().places.compiled(&ast);
    Ok(ast)
}
