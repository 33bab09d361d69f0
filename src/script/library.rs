//! The library that comes with the tool.

use super::places::LIBRARY;
use super::state::Shared;
use super::{methods, modules};
use include_dir::{Dir, File, include_dir};
use rhai::{AST, Engine, EvalAltResult, Module, Scope};
use std::collections::BTreeMap;

static STDLIB: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/stdlib");

/// A file of the library.
pub struct Part {
    /// What `import` calls it after `std/`.
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

/// The files of the library, compiled, with the namespace of each.
#[derive(Default)]
pub struct Library {
    files: Vec<(Option<&'static str>, AST)>,
}

/// How the names of the library's helpers start. They are not private: Rhai remembers what a
/// name means without regard to where it is visible, so that a function which the library calls
/// itself would afterwards miss its private helpers when a script calls it.
const INTERNAL: &str = "std_";

/// How Rhai names closures.
const CLOSURE: &str = "anon$";

impl Library {
    /// Makes the library available without import: helpers and functions of files without a
    /// namespace by their names, the others behind that of their namespace.
    ///
    /// # Errors
    /// It does not compile.
    pub fn add(engine: &mut Engine, shared: &Shared) -> Result<Library, Box<EvalAltResult>> {
        let mut library = Library::default();
        let mut namespaces: BTreeMap<&str, Module> = BTreeMap::new();
        for part in parts() {
            let name = format!("{LIBRARY}{}", part.name);
            let ast = modules::compile(engine, shared, &name, part.text, None)?;
            let is_global = |name: &str| part.namespace.is_none() || name.starts_with(INTERNAL);
            let only = |global: bool| {
                let mut functions = ast.clone();
                functions.retain_functions(|_, _, name, _| {
                    name.starts_with(CLOSURE) || is_global(name) == global
                });
                functions
            };
            let functions = only(true);
            let mut module = Module::eval_ast_as_new(Scope::new(), &functions, engine)?;
            methods::add(&mut module, &functions);
            engine.register_global_module(module.into());
            if let Some(namespace) = part.namespace {
                let module = Module::eval_ast_as_new(Scope::new(), &only(false), engine)?;
                namespaces.entry(namespace).or_default().merge(&module);
            }
            library.files.push((part.namespace, ast));
        }
        for (name, module) in namespaces {
            engine.register_static_module(name, module.into());
        }
        Ok(library)
    }

    /// The functions, as scripts call them: name and signature.
    pub fn functions(&self) -> impl Iterator<Item = (String, String)> {
        self.files.iter().flat_map(|(namespace, ast)| {
            let functions = script_functions(ast).into_iter();
            functions.map(|(name, signature)| match namespace {
                Some(space) => (format!("{space}::{name}"), format!("{space}::{signature}")),
                None => (name, signature),
            })
        })
    }

    /// What is known about the function that scripts call `name`.
    pub fn help(&self, name: &str) -> Option<String> {
        let (namespace, called) = match name.rsplit_once("::") {
            Some((namespace, called)) => (Some(namespace), called),
            None => (None, name),
        };
        if called.starts_with(INTERNAL) {
            return None;
        }
        let files = self.files.iter().filter(|(space, _)| *space == namespace);
        let mut found = files.filter_map(|(_, ast)| documentation(ast, called));
        let text = found.next()?;
        Some(namespace.map_or(text.clone(), |space| format!("{space}::{text}")))
    }
}

/// The functions of a script: name and signature; closures left out.
pub fn script_functions(ast: &AST) -> Vec<(String, String)> {
    let of_user = |name: &str| !name.starts_with(CLOSURE) && !name.starts_with(INTERNAL);
    let mut functions: Vec<_> = ast.iter_functions().filter(|f| of_user(f.name)).collect();
    // Rhai has them in no order.
    functions.sort_by_key(|f| (f.name, f.params.len()));
    let signed = functions.into_iter().map(|f| {
        let signature = format!("{}({})", f.name, f.params.join(", "));
        (f.name.to_owned(), signature)
    });
    signed.collect()
}

/// The signature of a function of a script, and the comment above it, which stands above the first
/// of several functions of one name.
pub fn documentation(script: &AST, name: &str) -> Option<String> {
    let named = script.iter_functions().filter(|f| f.name == name);
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
