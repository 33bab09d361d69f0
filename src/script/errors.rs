//! Errors of scripts: Rhai's and our own, in plain words, at the right place of the right text.

use super::fail::{Cause, Failure};
use super::frames::{self, Frame};
use super::places::Places;
use super::suggest::{Known, closest, did_you_mean};
use super::{syntax, values};
use crate::diag::{self, CallPlace, Diagnostic, Sources};
use crate::transform;
use rhai::{Dynamic, EvalAltResult, Position};

/// Why a script ended early.
#[derive(Clone, Debug)]
pub struct ScriptError {
    /// What to tell the user.
    pub diagnostic: Diagnostic,
    /// The texts that it refers to.
    pub sources: Sources,
    /// Whether somebody asked it to end.
    pub interrupted: bool,
}

impl ScriptError {
    /// The message with its places, in color if `color` is set.
    pub fn render(&self, color: bool) -> String {
        self.diagnostic.render(&self.sources, color)
    }
}

impl std::fmt::Display for ScriptError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.diagnostic.message)
    }
}

impl std::error::Error for ScriptError {}

/// Translates an error of the engine.
pub(super) fn translate(error: EvalAltResult, known: &Known, places: &Places) -> ScriptError {
    let (frames, error) = frames::unwind(error);
    let position = match &error {
        EvalAltResult::ErrorRuntime(value, position) => value
            .read_lock::<Failure>()
            .map(|failure| failure.position())
            .unwrap_or(*position),
        other => other.position(),
    };
    let position = match (position.is_none(), frames.first()) {
        (true, Some(frame)) => frame.position,
        _ => position,
    };
    let interrupted = matches!(error, EvalAltResult::ErrorTerminated(..));
    // What goes wrong inside of the library is shown where a script calls the library.
    let inside = frames::in_library(&frames, position, &error, places);
    let translator = Translator {
        known,
        places,
        position: inside.map_or(position, |k| frames[k].position),
        caller: inside.map(|k| &frames[k]),
        in_function: !frames.is_empty(),
    };
    let mut diagnostic = translator.leaf(&error);
    if let Some(outer) = inside {
        diagnostic = frames::note_library(diagnostic, &frames[..=outer], position, places);
    }
    let shown = inside.map_or(frames.as_slice(), |k| &frames[k + 1..]);
    let diagnostic = frames::show_calls(diagnostic, shown, places);
    ScriptError {
        diagnostic,
        sources: places.texts(),
        interrupted,
    }
}

struct Translator<'a> {
    known: &'a Known,
    places: &'a Places,
    position: Position,
    /// The call to blame, if it is not at `position` that something is wrong.
    caller: Option<&'a Frame>,
    in_function: bool,
}

impl Translator<'_> {
    fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(message).at(self.places.span(self.position), "")
    }

    fn leaf(&self, error: &EvalAltResult) -> Diagnostic {
        use EvalAltResult as E;
        match error {
            E::ErrorRuntime(value, _) => self.thrown(value),
            E::ErrorParsing(problem, _) => {
                let (message, help) = syntax::explain(problem);
                self.error(message).help(help)
            }
            E::ErrorVariableNotFound(name, _) => self.unknown_name(name),
            E::ErrorFunctionNotFound(signature, _) => self.unknown_function(signature),
            E::ErrorModuleNotFound(name, _) => {
                let import = || format!("import it first: import \"{name}\" as {name};");
                let similar = closest(name, self.known.namespaces());
                self.error(format!("there is no module `{name}` here"))
                    .help(Some(similar.map_or_else(import, did_you_mean)))
            }
            E::ErrorPropertyNotFound(name, _) => {
                self.error(format!("there is no property `{name}`"))
            }
            E::ErrorIndexNotFound(index, _) => {
                self.error(format!("there is nothing at index {}", values::show(index)))
            }
            E::ErrorDotExpr(message, _) => self.property(message),
            E::ErrorMismatchDataType(wanted, given, _) => self.mismatch(wanted, given),
            E::ErrorMismatchOutputType(wanted, given, _) => self.mismatch(wanted, given),
            E::ErrorIndexingType(types, _) => {
                let owner = types.split(" [").next().unwrap_or(types);
                let owner = values::type_in_words(owner);
                self.error(format!("{owner} cannot be indexed like this"))
            }
            E::ErrorArrayBounds(length, index, _) => self
                .error(out_of_bounds("list", "elements", *length, *index))
                .note("lists count from 0; loop levels and dimensions count from 1"),
            E::ErrorStringBounds(length, index, _) => {
                self.error(out_of_bounds("string", "characters", *length, *index))
            }
            E::ErrorBitFieldBounds(length, index, _) => {
                self.error(out_of_bounds("integer", "bits", *length, *index))
            }
            E::ErrorFor(_) => self.error("this cannot be looped over").help(Some(
                "`for` takes a list, a range such as 0..4, or a string".into(),
            )),
            E::ErrorArithmetic(message, _) => self.error(lowered(message)),
            E::ErrorAssignmentToConstant(name, _) => {
                self.error(format!("`{name}` cannot be changed")).help(Some(
                    "only variables declared with `let` can be assigned to".into(),
                ))
            }
            E::ErrorNonPureMethodCallOnConstant(name, _) => {
                self.error(format!("`{name}` would change a constant"))
            }
            E::ErrorDataRace(..) => self
                .error("a variable is used while it is being changed")
                .help(Some("copy it into another variable first".into())),
            E::ErrorUnboundThis(_) => {
                self.error("`this` means something only in a function that is called as a method")
            }
            E::ErrorStackOverflow(_) => self
                .error("function calls are nested too deeply")
                .help(Some("does a function call itself without end?".into())),
            E::ErrorDataTooLarge(what, _) => {
                self.error(format!("this grows too large: {}", lowered(what)))
            }
            E::ErrorTerminated(..) => self.error("interrupted"),
            E::LoopBreak(..) => self.error("`break` and `continue` belong inside a loop"),
            other => self.error(lowered(&other.to_string())),
        }
    }

    /// A failure of ours, or what a script threw itself.
    fn thrown(&self, value: &Dynamic) -> Diagnostic {
        let Some(failure) = value.read_lock::<Failure>() else {
            let message = match value.is_string() {
                true => value.to_string(),
                false if value.is_unit() => "the script ended itself with `throw`".to_owned(),
                false => values::shorten(values::show(value), 400),
            };
            let text = if self.caller.is_some() {
                ""
            } else {
                "thrown here"
            };
            return Diagnostic::error(message).at(self.places.span(self.position), text);
        };
        let place = self.places.call(self.position);
        let at_callee = CallPlace {
            arguments: Vec::new(),
            ..place.clone()
        };
        let mut diagnostic = match (failure.cause(), self.caller) {
            (Cause::Operation(error), None) => {
                let op = transform::OPS.iter().find(|op| op.name == failure.op());
                diag::of_operation(error, op.copied(), &place)
            }
            // Its arguments are the library's.
            (Cause::Operation(error), Some(_)) => diag::of_operation(error, None, &at_callee),
            (Cause::Text(message), None) => {
                Diagnostic::error(message).at(place.argument(failure.argument_at_fault()), "")
            }
            (Cause::Text(message), Some(frame)) if failure.is_of_caller() => {
                return self.misuse(&failure, message, frame, &place);
            }
            (Cause::Text(message), Some(_)) => Diagnostic::error(message).at(at_callee.callee, ""),
            // Raised again as what it is, and so never seen here.
            (Cause::Closure(_), _) => Diagnostic::error(failure.message()),
        };
        for note in failure.notes() {
            diagnostic = diagnostic.note(note);
        }
        let is_about_argument = failure.argument_at_fault().is_some();
        if let (Cause::Text(_), true, Some(signature), None) = (
            failure.cause(),
            is_about_argument,
            failure.signature(),
            self.caller,
        ) {
            diagnostic = diagnostic.note(format!("signature: {signature}"));
        }
        let suggestion = failure.misspelt_name().and_then(|n| self.known.similar(n));
        diagnostic.help(suggestion.or(failure.help_text().map(str::to_owned)))
    }

    /// What the called function itself says about its arguments.
    fn misuse(
        &self,
        failure: &Failure,
        what: &str,
        frame: &Frame,
        place: &CallPlace,
    ) -> Diagnostic {
        let name = &frame.called(self.places);
        let given = place.arguments.len();
        let fits = |signature: &&str| parameters(signature).len() == given;
        let signature = self.known.signatures(name).find(fits);
        let argument = failure.argument_at_fault();
        let parameter = argument.and_then(|k| parameters(signature?).get(k).copied());
        let message = match (argument, parameter) {
            (Some(k), Some(parameter)) => {
                format!("{name}: argument {} `{parameter}` {what}", k + 1)
            }
            (Some(k), None) => format!("{name}: operand {} {what}", k + 1),
            (None, _) => format!("{name}: {what}"),
        };
        let diagnostic = Diagnostic::error(message).at(place.argument(argument), "");
        let diagnostic = match signature {
            Some(signature) => diagnostic.note(format!("signature: {signature}")),
            None => diagnostic,
        };
        diagnostic.help(failure.help_text().map(str::to_owned))
    }

    fn unknown_name(&self, name: &str) -> Diagnostic {
        let diagnostic = self.error(format!("nothing is named `{name}` here"));
        if self.in_function && self.known.variables.iter().any(|v| v == name) {
            return diagnostic
                .note("functions see only their parameters and their own variables")
                .help(Some(format!(
                    "give `{name}` to the function as an argument"
                )));
        }
        diagnostic.help(self.known.similar(name))
    }

    fn unknown_function(&self, signature: &str) -> Diagnostic {
        let (name, types) = match signature.split_once(" (") {
            Some((name, rest)) => (name, rest.trim_end_matches(')')),
            None => (signature, ""),
        };
        let given: Vec<String> = match types {
            "" => Vec::new(),
            types => types.split(", ").map(values::type_in_words).collect(),
        };
        if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return self.error(match given.as_slice() {
                [a] => format!("`{name}` cannot be applied to {a}"),
                _ => format!("`{name}` cannot be applied to {}", given.join(" and ")),
            });
        }
        let place = self.places.call(self.position);
        let error = |message: String| Diagnostic::error(message).at(place.callee.clone(), "");
        if let Some((module, inner)) = name.rsplit_once("::") {
            let is_known = self.known.namespaces().any(|n| n == module);
            if !is_known {
                let count = number_of(given.len(), "argument");
                return error(format!(
                    "module `{module}` has no function `{inner}` that takes {count}"
                ));
            }
            if self.known.signatures(name).next().is_none() {
                return error(format!("`{module}` has no function `{inner}`"))
                    .help(self.known.similar_in(module, inner));
            }
        }
        if name.starts_with("anon$") {
            let count = number_of(given.len(), "argument");
            return error(format!("this closure cannot be called with {count}"));
        }
        let signatures: Vec<&str> = self.known.signatures(name).collect();
        if signatures.is_empty() {
            if self.known.variables.iter().any(|v| v == name) {
                return error(format!("`{name}` is a variable, not a function")).help(Some(
                    format!("a closure in it is called with `{name}.call(...)`"),
                ));
            }
            return error(format!("there is no function `{name}`")).help(self.known.similar(name));
        }
        let mut counts: Vec<usize> = Vec::new();
        for signature in &signatures {
            let parameters = parameters(signature);
            let optional = parameters.iter().filter(|p| p.ends_with('?')).count();
            counts.extend(parameters.len() - optional..=parameters.len());
        }
        if counts.contains(&given.len()) {
            return error(format!(
                "`{name}` cannot be applied to {}",
                given.join(" and ")
            ));
        }
        let least = counts.iter().copied().min().unwrap_or(0);
        let most = counts.iter().copied().max().unwrap_or(0);
        let takes = match least == most {
            true => number_of(most, "argument"),
            false => format!("{least} to {most} arguments"),
        };
        let message = format!("{name} takes {takes}, but {} given", were(given.len()));
        error(message).note(format!("signature: {}", signatures.join(", ")))
    }

    fn property(&self, message: &str) -> Diagnostic {
        let mut quoted = message.split('\'').skip(1).step_by(2);
        let (Some(name), Some(owner)) = (quoted.next(), quoted.next()) else {
            return self.error(lowered(message));
        };
        let owner = values::type_in_words(owner);
        let diagnostic = self.error(format!("{owner} has no property `{name}`"));
        match self.known.signatures(name).next() {
            Some(_) => diagnostic.help(Some(format!("a method is called with `.{name}(...)`"))),
            None => diagnostic.help(self.known.similar(name)),
        }
    }

    fn mismatch(&self, wanted: &str, given: &str) -> Diagnostic {
        let (wanted, given) = (values::type_in_words(wanted), values::type_in_words(given));
        self.error(format!("this must be {wanted}, but it is {given}"))
    }
}

/// The parameters in a signature.
fn parameters(signature: &str) -> Vec<&str> {
    let inside = signature.split_once('(').map_or("", |(_, rest)| rest);
    let inside = inside.split(')').next().unwrap_or("");
    inside.split(", ").filter(|p| !p.is_empty()).collect()
}

fn out_of_bounds(what: &str, parts: &str, length: usize, index: i64) -> String {
    match length {
        0 => format!("the {what} is empty: there is nothing at index {index}"),
        _ => format!("the {what} has {length} {parts}: there is nothing at index {index}"),
    }
}

fn number_of(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

fn were(count: usize) -> String {
    match count {
        0 => "none was".to_owned(),
        1 => "1 was".to_owned(),
        n => format!("{n} were"),
    }
}

/// Rhai's messages start in upper case, ours do not.
pub(super) fn lowered(message: &str) -> String {
    let mut chars = message.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => "something went wrong".to_owned(),
    }
}
