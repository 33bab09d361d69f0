//! The values of REPL lines, for tests that begin with a script.

use teml::ir::Nest;
use teml::script::Session;
use teml::transform::trace;
use teml::verbs::Workbench;

/// The value of an expression after a script, as the REPL prints it, or the message.
pub fn shown(script: &str, expression: &str) -> Result<String, String> {
    let session = Session::new(Box::new(std::io::sink()), Workbench::default());
    let mut session = session.map_err(|e| e.render(false))?;
    let mut value = |text: &str| session.eval_line(text).map_err(|e| e.render(false));
    value(script).unwrap_or_else(|error| panic!("{error}"));
    value(expression).map(Option::unwrap_or_default)
}

/// The string value of an expression.
pub fn string(script: &str, expression: &str) -> String {
    let shown = shown(script, expression).unwrap_or_else(|error| panic!("{error}"));
    let json = shown.trim_start_matches("=> ");
    serde_json::from_str(json).unwrap_or_else(|_| panic!("{shown}"))
}

/// The nest that an expression of a script evaluates to.
pub fn nest(script: &str, expression: &str) -> Nest {
    let steps = string(script, &format!("json({expression})"));
    trace::from_json(&steps).unwrap_or_else(|error| panic!("{error}"))
}
