//! Errors of scripts: Rhai's and our own, in plain words, at the right place of the right text.

use crate::diag::{self, CallPlace, Diagnostic, Sources, Span};
use crate::messages::blame;
use crate::messages::fail::{Cause, Failure, Unread};
use crate::messages::frames::{self, Frame};
use crate::messages::habits;
use crate::messages::suggest::{Known, did_you_mean};
use crate::messages::syntax;
use crate::reader::places::Places;
use crate::transform;
use crate::transform::closest;
use crate::values;
use rhai::{Dynamic, EvalAltResult, Position};
use std::sync::Arc;

/// Why a script ended early.
#[derive(Clone, Debug)]
pub struct ScriptError {
    /// The message for the user.
    pub diagnostic: Diagnostic,
    /// Further problems of the same text.
    pub more: Vec<Diagnostic>,
    /// The texts that it refers to.
    pub sources: Sources,
    /// Whether somebody asked it to end.
    pub interrupted: bool,
}

impl ScriptError {
    /// An error that refers to no text.
    pub fn of(diagnostic: Diagnostic) -> ScriptError {
        ScriptError {
            diagnostic,
            more: Vec::new(),
            sources: Sources::default(),
            interrupted: false,
        }
    }

    /// The message with its places, in color if `color` is set.
    pub fn render(&self, color: bool) -> String {
        let all = [&self.diagnostic].into_iter().chain(&self.more);
        let rendered: Vec<String> = all.map(|d| d.render(&self.sources, color)).collect();
        rendered.join("\n")
    }
}

impl std::fmt::Display for ScriptError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.diagnostic.message)
    }
}

impl std::error::Error for ScriptError {}

/// Translates an error of the engine.
pub fn translate(error: EvalAltResult, known: &Known, places: &Places) -> ScriptError {
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
    // An error inside the library is shown at the script's call of the library.
    let inside = frames::in_library(&frames, position, &error, places);
    let (step, argument) = refused(&error);
    let blamed = argument.zip(inside);
    let blamed =
        blamed.and_then(|(k, outer)| blame::argument(places, &frames[..=outer], position, k));
    let translator = Translator {
        known,
        places,
        position: inside.map_or(position, |k| frames[k].position),
        caller: inside.map(|k| &frames[k]),
        blamed,
        in_function: !frames.is_empty(),
    };
    let mut diagnostic = translator.leaf(&error);
    if let Some(outer) = inside {
        let frames = &frames[..=outer];
        diagnostic = frames::note_library(diagnostic, frames, position, step.as_deref(), places);
    }
    let shown = inside.map_or(frames.as_slice(), |k| &frames[k + 1..]);
    let mut diagnostic = frames::show_calls(diagnostic, shown, places);
    let (mut sources, mut more) = (places.texts(), Vec::new());
    if let Some(unread) = unread(&error) {
        let call = places.call(position);
        let in_argument = || in_script(&unread, call.argument(Some(0)), &sources);
        let place = unread.place.clone().or_else(in_argument);
        sources.insert(unread.name.clone(), unread.text.clone());
        let mut all = unread.diagnostics(place.as_ref()).into_iter();
        if let Some(first) = all.next() {
            let context = diagnostic;
            diagnostic = first;
            if place.is_none() && !places.is_library(position) {
                let label = context.labels.into_iter().next();
                diagnostic = diagnostic.see(label.map(|l| l.span), "read here");
            }
        }
        more = all.collect();
    }
    ScriptError {
        diagnostic,
        more,
        sources,
        interrupted,
    }
}

/// The text that an error says is wrong.
fn unread(error: &EvalAltResult) -> Option<Arc<Unread>> {
    let EvalAltResult::ErrorRuntime(value, _) = error else {
        return None;
    };
    value.read_lock::<Failure>()?.text_at_fault()
}

/// Where a text is in the script, if the argument is that text in quotes.
fn in_script(
    unread: &Unread,
    argument: Option<Span>,
    sources: &Sources,
) -> Option<(Arc<str>, usize)> {
    let span = argument?;
    let written = sources.get(&span.source)?.get(span.range.clone())?;
    let mut start = span.range.start + 1;
    let inside = written.get(1..written.len().checked_sub(1)?)?;
    let inside = match (written.chars().next()?, inside.strip_prefix('\n')) {
        // The first line break after a backtick is not part of the text.
        ('`', Some(rest)) => {
            start += 1;
            rest
        }
        ('`' | '"', _) => inside,
        _ => return None,
    };
    (*inside == *unread.text).then_some((span.source, start))
}

pub(super) struct Translator<'a> {
    pub known: &'a Known,
    pub places: &'a Places,
    pub position: Position,
    /// The call to blame, if it is not at `position` that something is wrong.
    caller: Option<&'a Frame>,
    /// The argument of that call, counted from 0, if it is one that is at fault.
    blamed: Option<usize>,
    pub in_function: bool,
}

impl Translator<'_> {
    pub fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(message).at(self.places.span(self.position), "")
    }

    fn leaf(&self, error: &EvalAltResult) -> Diagnostic {
        use EvalAltResult as E;
        match error {
            E::ErrorRuntime(value, _) => self.thrown(value),
            E::ErrorParsing(problem, _) => {
                if let Some((message, help)) = habits::syntax(self.places, self.position) {
                    return self.error(message).help(Some(help.to_owned()));
                }
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
            E::ErrorIndexingType(types, _) => self.not_indexed(types),
            E::ErrorArrayBounds(length, index, _) => self
                .error(out_of_bounds("list", "elements", *length, *index))
                .note("lists count from 0; loop levels and dimensions count from 1"),
            E::ErrorStringBounds(length, index, _) => {
                self.error(out_of_bounds("string", "characters", *length, *index))
            }
            E::ErrorBitFieldBounds(length, index, _) => {
                self.error(out_of_bounds("integer", "bits", *length, *index))
            }
            E::ErrorFor(_) => self.not_looped(),
            E::ErrorArithmetic(message, _) => self.error(syntax::lowered(message)),
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
                self.error(format!("this grows too large: {}", syntax::lowered(what)))
            }
            E::ErrorTerminated(..) => self.error("interrupted"),
            E::LoopBreak(..) => self.error("`break` and `continue` belong inside a loop"),
            other => self.error(syntax::lowered(&other.to_string())),
        }
    }

    /// A failure of this room, or a value that a script threw.
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
                let op = transform::operation(failure.op());
                diag::of_operation(error, op, &place)
            }
            // Its arguments are the library's.
            (Cause::Operation(error), Some(frame)) => {
                let op = transform::operation(failure.op());
                let parameter = error.argument.and_then(|k| Some(op?.params.get(k)?.name));
                let text = error.to_string();
                let what = parameter.and_then(|p| text.strip_prefix(&format!("`{p}` ")));
                let said = parameter.zip(what);
                let of_operation = diag::of_operation(error, None, &at_callee);
                self.of_library(of_operation, &text, said, failure.op(), frame, &place)
            }
            (Cause::Text(message), None) => {
                Diagnostic::error(message).at(place.argument(failure.argument_at_fault()), "")
            }
            (Cause::Text(message), Some(frame)) if failure.is_of_caller() => {
                return self.misuse(&failure, message, frame, &place);
            }
            (Cause::Text(message), Some(frame)) => {
                let at_callee = Diagnostic::error(message).at(at_callee.callee, "");
                let text = message.strip_prefix(&format!("{}: ", failure.op()));
                let text = text.unwrap_or(message);
                self.of_library(at_callee, text, failure.said(), failure.op(), frame, &place)
            }
            (Cause::Unread(unread), _) => {
                let message = unread.problems.first().map_or("", |p| p.message.as_str());
                Diagnostic::error(message).at(place.argument(failure.argument_at_fault()), "")
            }
            // The error of a closure is raised again as it is, and never gets here.
            (Cause::Closure(_), _) => Diagnostic::error(failure.message()),
        };
        if let (Some(name), None) = (failure.declared_name(), self.caller) {
            let declared = self.places.declaration(name, self.position);
            diagnostic = diagnostic.see(declared, format!("`{name}` is declared here"));
        }
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
        let diagnostic = diagnostic.help(failure.help_text().map(str::to_owned));
        match failure.misspelt_name() {
            Some(name) => self.undeclared(diagnostic, name),
            None => diagnostic,
        }
    }

    /// Words the error of a step in the library as an error of the script's call: `text`, or `said`
    /// about a parameter of the step.
    fn of_library(
        &self,
        mut diagnostic: Diagnostic,
        text: &str,
        said: Option<(&str, &str)>,
        step: &str,
        frame: &Frame,
        place: &CallPlace,
    ) -> Diagnostic {
        let called = frame.called(self.places);
        let given = place.arguments.len();
        let mut signatures = self.known.signatures(&called);
        let signature = signatures.find(|s| parameters(s).len() == given);
        let argument = self
            .blamed
            .and_then(|k| Some((k, parameters(signature?).get(k).copied()?)));
        diagnostic.message = match (argument, said) {
            (Some((k, parameter)), Some((_, what))) => {
                format!("{called}: argument {} `{parameter}` {what}", k + 1)
            }
            (None, Some((parameter, what))) => {
                format!("{called}: `{parameter}` of its step `{step}` {what}")
            }
            (_, None) => format!("{called}: {text}"),
        };
        let Some((k, parameter)) = argument else {
            return diagnostic;
        };
        diagnostic.labels.clear();
        let label = match said {
            Some(_) => String::new(),
            None => format!("argument {} `{parameter}`", k + 1),
        };
        let diagnostic = diagnostic.at(place.argument(Some(k)), label);
        diagnostic.note(format!("signature: {}", signature.unwrap_or_default()))
    }

    /// The called function's own message about its arguments.
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

    fn mismatch(&self, wanted: &str, given: &str) -> Diagnostic {
        let (wanted, given) = (values::type_in_words(wanted), values::type_in_words(given));
        let choose = "`where(A > 0, a, b)` chooses for each element; `&`, `|` and `!` combine comparisons \
                      of tensors, and `equal(a, b)` gives a truth value";
        let is_condition = wanted == "a truth value" && given == "a tensor";
        let help = is_condition.then_some(choose);
        self.error(format!("this must be {wanted}, but it is {given}"))
            .help(help.map(str::to_owned))
    }
}

/// The step that refuses, and the argument of its call, counted from 0.
fn refused(error: &EvalAltResult) -> (Option<String>, Option<usize>) {
    let EvalAltResult::ErrorRuntime(value, _) = error else {
        return (None, None);
    };
    let failure = value.read_lock::<Failure>();
    let Some(failure) = failure.filter(|failure| !failure.is_of_caller()) else {
        return (None, None);
    };
    let argument = match failure.cause() {
        Cause::Operation(error) => error.argument,
        _ => failure.argument_at_fault(),
    };
    let step = Some(failure.op().to_owned()).filter(|op| !op.is_empty());
    (step, argument)
}

/// The parameters in a signature.
pub fn parameters(signature: &str) -> Vec<&str> {
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
