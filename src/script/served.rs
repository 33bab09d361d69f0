//! A session whose values another program holds: the Python package `teml`.
//!
//! Each request is a line of JSON, and so is each answer. `run` evaluates one statement, as if it
//! were a line of a script, with names for values that earlier answers gave out. Numbers, texts,
//! lists and maps travel as they are. Any other value stays here: the program gets its number and
//! says when it drops it. So every operation, check and message is that of scripts.

use crate::analysis::shape::extents;
use crate::binding::operand_names::is_virtual;
use crate::binding::takes::Type;
use crate::catalog::Entry;
use crate::diag::{Diagnostic, Severity};
use crate::dialog::display;
use crate::ir::{Expr, Nest};
use crate::messages::errors::ScriptError;
use crate::package::{self, Exported, Package, Parameter};
use crate::reader::dropped::Last;
use crate::session::Session;
use crate::stack::on_large_stack;
use crate::trial::Collect;
use crate::values::{self, Index, Numbers};
use crate::verbs;
use rhai::{Array, Dynamic, Map, Scope};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A session with the values that another program holds.
pub struct Served {
    session: Session,
    held: BTreeMap<u64, Dynamic>,
    next: u64,
}

#[derive(Deserialize)]
struct Request {
    /// The values that the program dropped.
    #[serde(default)]
    drop: Vec<u64>,
    #[serde(flatten)]
    what: What,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum What {
    /// Evaluates a statement.
    Run(Statement),
    /// A value as text.
    Show(u64),
    /// The extents of a tensor: numbers, and expressions of sizes.
    Extents(u64),
    /// Help on a function.
    Help(String),
    /// All functions.
    Catalog {},
    /// Writes an array that a kernel computed to a file.
    Save { numbers: u64, path: PathBuf },
    /// Makes a library of nests that run in order.
    Library {
        name: String,
        nests: Vec<u64>,
        outputs: Vec<String>,
        /// Where it goes if there is no cache.
        otherwise: PathBuf,
    },
    /// Makes a library of the kernels that a script exports.
    Load {
        file: PathBuf,
        name: String,
        settings: Vec<(String, String)>,
        otherwise: PathBuf,
    },
}

#[derive(Deserialize)]
struct Statement {
    text: String,
    /// The variable that the statement binds, which is the value; the expression otherwise.
    variable: Option<String>,
    /// The file and the line that people read.
    file: String,
    line: usize,
    /// The names of values.
    names: BTreeMap<String, u64>,
}

impl Served {
    /// Serves a session.
    pub fn new(session: Session) -> Served {
        Served {
            session,
            held: BTreeMap::new(),
            next: 1,
        }
    }

    /// The answer to a request, each on one line.
    pub fn answer(&mut self, request: &str) -> String {
        let answered = match serde_json::from_str::<Request>(request) {
            Ok(request) => {
                let dropped = request.drop.iter().filter_map(|id| self.held.remove(id));
                let dropped: Vec<Dynamic> = dropped.collect();
                // Values can be nested so deeply that dropping them needs the large stack.
                let _ = on_large_stack(move || drop(dropped));
                self.session.begin();
                self.answered(request.what)
            }
            Err(error) => Err(ScriptError::of(Diagnostic::bug(error.to_string()))),
        };
        let warnings = self.warnings();
        let mut answer = match answered {
            Ok(value) => json!({ "value": value }),
            Err(error) => json!({ "error": told(error) }),
        };
        if !warnings.is_empty() {
            answer["warnings"] = warnings.into();
        }
        answer.to_string()
    }

    fn answered(&mut self, what: What) -> Result<Value, ScriptError> {
        match what {
            What::Run(statement) => {
                let value = self.run(&statement)?;
                Ok(self.described(&value))
            }
            What::Show(id) => {
                let value = self.value(id)?;
                let shown = on_large_stack(|| display(value, usize::MAX).map(|s| s.text()));
                Ok(shown.ok().flatten().into())
            }
            What::Extents(id) => {
                let expr = self.value(id)?.clone().try_cast::<Expr>();
                let expr = expr.ok_or_else(|| failed("this value is not a tensor"))?;
                let dims = extents(&expr)
                    .into_iter()
                    .map(|dim| match dim.as_constant() {
                        Some(extent) => Dynamic::from_int(extent),
                        None => Dynamic::from(Index {
                            affine: dim,
                            undeclared: false,
                        }),
                    });
                let dims: Array = dims.collect();
                Ok(self.described(&Dynamic::from_array(dims)))
            }
            What::Help(name) => Ok(self.session.help(&name).into()),
            What::Catalog {} => {
                let entries = self.session.catalog().into_iter();
                Ok(entries.map(entry).collect())
            }
            What::Save { numbers, path } => {
                let numbers = self.value(numbers)?.clone().try_cast::<Numbers>();
                let numbers = numbers.ok_or_else(|| failed("there are no numbers to save"))?;
                let saved = numbers.save(&path);
                saved
                    .map_err(|error| failed(format!("cannot write {}: {error}", path.display())))?;
                Ok(Value::Null)
            }
            What::Library {
                name,
                nests,
                outputs,
                otherwise,
            } => {
                let nests = nests.iter().map(|id| self.value(*id).map(values::nests));
                let nests = nests.collect::<Result<Vec<_>, _>>()?.concat();
                let kernels = self.session.verb("kernel", |bench| {
                    let before = std::mem::take(&mut bench.lock().exported);
                    let exported = verbs::export(bench, nests, &name, &outputs, &[]);
                    let own = std::mem::replace(&mut bench.lock().exported, before);
                    exported.map(|named| named.map(|()| own))
                })?;
                let kernels = kernels.map_err(|why| failed(format!("kernel: `{name}` {why}")))?;
                // Tensors of these names may be others.
                let inputs = std::mem::take(&mut self.session.bench().lock().inputs);
                let made = self.library(&name, kernels, &otherwise);
                self.session.bench().lock().inputs = inputs;
                made
            }
            What::Load {
                file,
                name,
                settings,
                otherwise,
            } => {
                if let Some(error) = package::name_error(&name) {
                    return Err(failed(format!("load: {error}")));
                }
                let kernels = self.exports_of(&file, settings)?;
                if kernels.is_empty() {
                    let file = file.display();
                    let error = Diagnostic::error(format!("load: {file} exports nothing"));
                    let help = "`export_kernel(plan, \"name\")` in a script exports a nest";
                    return Err(ScriptError::of(error.help(Some(help.to_owned()))));
                }
                self.library(&name, kernels, &otherwise)
            }
        }
    }

    /// The value of a statement.
    fn run(&mut self, statement: &Statement) -> Result<Dynamic, ScriptError> {
        let mut scope = Scope::new();
        for (name, id) in &statement.names {
            scope.push_dynamic(name.as_str(), self.value(*id)?.clone());
        }
        self.session.scope = scope;
        let places = self.session.shared().clone();
        places.lock().places.next_is_on(statement.line);
        let (file, text) = (&statement.file, &statement.text);
        let ran = self.session.run(file, text, None, Last::Unwatched, |v| v);
        // A checkpoint would clear this text, and nothing goes back here.
        self.session.since.clear();
        let scope = std::mem::replace(&mut self.session.scope, Scope::new());
        let value = ran?;
        Ok(match &statement.variable {
            Some(name) => scope
                .get(name)
                .map_or(Dynamic::UNIT, Dynamic::flatten_clone),
            None => value,
        })
    }

    /// The kernels that a script exports. Its comparisons are not timed.
    fn exports_of(
        &mut self,
        file: &Path,
        settings: Vec<(String, String)>,
    ) -> Result<Vec<Exported>, ScriptError> {
        let (runner, exported, before) = {
            let bench = &mut self.session.bench().lock();
            (
                std::mem::replace(&mut bench.runner, Arc::new(Collect)),
                std::mem::take(&mut bench.exported),
                std::mem::replace(&mut bench.parameters, settings.into()),
            )
        };
        let ran = self.session.run_file(file);
        let unused = self.session.unused_parameter();
        self.session.scope = Scope::new();
        let bench = &mut self.session.bench().lock();
        bench.runner = runner;
        bench.kept.comparisons.clear();
        bench.parameters = before;
        let own = std::mem::replace(&mut bench.exported, exported);
        ran?;
        match unused {
            Some(name) => Err(failed(format!(
                "load: the script has no param(\"{name}\", …)"
            ))),
            None => Ok(own),
        }
    }

    /// The directory of a library's Python module, and the parameters of its kernels.
    fn library(
        &mut self,
        name: &str,
        kernels: Vec<Exported>,
        otherwise: &Path,
    ) -> Result<Value, ScriptError> {
        let mut package = verbs::package(name, kernels);
        let bench = self.session.bench().clone();
        let key = verbs::key_of_library(&bench, &package).map_err(|e| failed(e.to_string()))?;
        let place = verbs::place_of_library(&bench, &key);
        let place = place.unwrap_or_else(|| otherwise.join(&key));
        if !place.join(name).is_dir() {
            let made = self.session.on_stack(|_| {
                verbs::library(&bench, &mut package).map_err(|error| failed(error.to_string()))
            })?;
            for remark in &made.remarks {
                bench.lock().print(&format!("warning: {remark}"));
            }
            let library = made.library;
            let library = library.ok_or_else(|| failed("the library does not compile here"))?;
            let written = package::write_module(&package, &library, &place);
            written
                .map_err(|error| failed(format!("cannot write {}: {error}", place.display())))?;
        }
        Ok(json!({
            "directory": place.to_string_lossy(),
            "parameters": parameters(&package),
        }))
    }

    fn value(&self, id: u64) -> Result<&Dynamic, ScriptError> {
        let held = self.held.get(&id);
        held.ok_or_else(|| failed("this value is no longer there"))
    }

    /// A value as JSON; if it has no such form, it is kept, and the program gets its number.
    fn described(&mut self, value: &Dynamic) -> Value {
        let value = value.flatten_clone();
        if value.is_unit() {
            return Value::Null;
        }
        if let Ok(flag) = value.as_bool() {
            return flag.into();
        }
        if let Ok(number) = value.as_int() {
            return number.into();
        }
        if let Ok(number) = value.as_float() {
            return match number.is_finite() {
                true => number.into(),
                false => json!({ "number": number.to_string() }),
            };
        }
        if value.is_string() {
            return value.to_string().into();
        }
        if let Some(list) = value.read_lock::<Array>() {
            let all: Vec<Value> = list.iter().map(|item| self.described(item)).collect();
            let is_of_nests = !list.is_empty() && list.iter().all(|item| item.is::<Nest>());
            return match is_of_nests {
                true => json!({ "nests": all }),
                false => all.into(),
            };
        }
        if let Some(map) = value.read_lock::<Map>() {
            let fields = map.iter();
            let fields: serde_json::Map<String, Value> = fields
                .map(|(name, item)| (name.to_string(), self.described(item)))
                .collect();
            return json!({ "map": fields, "shown": value.tag() == values::SHOWN });
        }
        let mut held = json!({ "held": self.next, "type": type_of(&value) });
        if let Some(name) = name_of(&value) {
            held["name"] = name.into();
        }
        if value
            .read_lock::<Expr>()
            .is_some_and(|expr| is_virtual(&expr))
        {
            held["virtual"] = true.into();
        }
        if let Some(numbers) = value.read_lock::<Numbers>() {
            held["shape"] = numbers.shape().into();
            held["elem"] = numbers.elem().to_string().into();
        }
        self.held.insert(self.next, value);
        self.next += 1;
        held
    }

    /// The warnings about the last text, which are forgotten.
    fn warnings(&mut self) -> Vec<String> {
        let state = &mut self.session.shared().lock();
        let all = std::mem::take(&mut state.warnings);
        all.into_iter().map(|(_, w)| without_places(w)).collect()
    }
}

/// The tensors of kernels, as their functions take them.
fn parameters(package: &Package) -> Value {
    let of = |p: Parameter| {
        json!({
            "label": p.label,
            "name": p.name,
            "given": p.is_given,
            "returned": p.is_returned,
        })
    };
    let kernels = package.parameters().into_iter();
    let kernels = kernels.map(|(symbol, all)| (symbol, all.into_iter().map(of).collect()));
    Value::Object(kernels.collect())
}

fn entry(entry: Entry) -> Value {
    let receiver = match entry.receiver {
        Type::Nest => "nest",
        Type::Tensor => "tensor",
        Type::Path => "path",
        Type::Program => "program",
        Type::Moves => "move",
        _ => "",
    };
    json!({
        "name": entry.name,
        "signature": entry.signature,
        "topic": entry.topic,
        "receiver": receiver,
    })
}

/// The type of a value, as the Python package names its classes.
fn type_of(value: &Dynamic) -> &'static str {
    match values::name_of(value) {
        Some(name) => name,
        None if value.is::<Nest>() => "nest",
        None if value.is::<Expr>() => "tensor",
        None if value.is::<Index>() => "index",
        None => "value",
    }
}

/// The name that a value goes by.
fn name_of(value: &Dynamic) -> Option<String> {
    if let Some(nest) = value.read_lock::<Nest>() {
        return nest.label().map(ToString::to_string);
    }
    let expr = value.read_lock::<Expr>()?.clone();
    Some(expr.tensor()?.name()?.to_string())
}

/// An error as the program raises it. Its own traceback shows the place.
fn told(error: ScriptError) -> Value {
    let class = match (error.diagnostic.severity, error.diagnostic.code) {
        (Severity::Bug, _) => "bug",
        (_, code) => code.unwrap_or("error"),
    };
    let message = error.diagnostic.message.clone();
    let interrupted = error.interrupted;
    let all = [error.diagnostic].into_iter().chain(error.more);
    let texts: Vec<String> = all.map(without_places).collect();
    json!({
        "class": class,
        "message": message,
        "text": texts.join("\n"),
        "interrupted": interrupted,
    })
}

fn without_places(diagnostic: Diagnostic) -> String {
    let sources = crate::diag::Sources::default();
    let text = Diagnostic {
        labels: Vec::new(),
        ..diagnostic
    };
    text.render(&sources, false).trim_end().to_owned()
}

fn failed(why: impl Into<String>) -> ScriptError {
    ScriptError::of(Diagnostic::error(why))
}
