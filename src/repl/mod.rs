//! The dialog: lines in, results out.
//!
//! [`Repl`] is the dialog without a terminal: it takes lines and says what happened. The
//! terminal around it, with editing and history, is in [`run`].

mod terminal;

pub use terminal::run;

use crate::diag::Diagnostic;
use crate::script::{ScriptError, Session};

/// A dialog.
pub struct Repl {
    session: Session,
}

/// What a line led to.
#[derive(Debug)]
pub enum Outcome {
    /// There is nothing to show.
    Nothing,
    /// Text to show.
    Text(String),
    /// The line failed, and the session is as it was before.
    Failed(Box<ScriptError>),
    /// The user wants to leave.
    Leave,
}

const HELP: &str = "\
:help           this text
:help NAME      what a function does
:vars           the variables
:moves          the steps that are legal next on the nest declared last
:moves NEST     the same for another nest; `:moves NEST, 2` for one of its loops
:quit           leave (Ctrl-D does too)

Anything else is a line of a script. A line continues while a bracket or a string is open.

Errors: a refusal is not possible on this nest, a mistake is never possible, a limitation is not
supported yet.";

impl Repl {
    /// A dialog on `session`.
    pub fn new(session: Session) -> Repl {
        Repl { session }
    }

    /// The session behind the dialog.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Handles a line, which may hold line ends.
    pub fn handle_line(&mut self, line: &str) -> Outcome {
        let line = line.trim_end();
        match line.trim_start().strip_prefix(':') {
            Some(command) => self.command(command),
            None if line.trim().is_empty() => Outcome::Nothing,
            None => match self.session.eval_line(line) {
                Ok(Some(text)) => Outcome::Text(text),
                Ok(None) => Outcome::Nothing,
                Err(error) => Outcome::Failed(Box::new(error)),
            },
        }
    }

    fn command(&mut self, command: &str) -> Outcome {
        if let Some(nest) = command
            .strip_prefix("moves")
            .filter(|c| !c.starts_with(is_part))
        {
            return self.moves(nest.trim());
        }
        let mut words = command.split_whitespace();
        match (words.next().unwrap_or(""), words.next()) {
            ("quit" | "q" | "exit", None) => Outcome::Leave,
            ("help" | "h" | "?", None) => Outcome::Text(self.overview()),
            ("help" | "h" | "?", Some(name)) => match self.session.help(name) {
                Some(text) => Outcome::Text(text),
                None => failed(format!("there is no help on `{name}`")),
            },
            ("vars", None) => Outcome::Text(self.variables()),
            _ => failed(format!(
                "`:{command}` is not a command; :help lists all commands"
            )),
        }
    }

    fn moves(&mut self, nest: &str) -> Outcome {
        let last = || self.session.last_nest();
        match (nest, last()) {
            ("", None) => failed("no variable holds a nest".to_owned()),
            ("", Some(last)) => self.handle_line(&format!("moves({last})")),
            (nest, _) => self.handle_line(&format!("moves({nest})")),
        }
    }

    fn overview(&self) -> String {
        let mut names: Vec<String> = self.session.functions().into_iter().map(|f| f.0).collect();
        names.sort();
        names.dedup();
        let mut text = format!("{HELP}\n\nFunctions:");
        let mut width = usize::MAX;
        for name in names {
            if width > 70 {
                text.push_str("\n ");
                width = 1;
            }
            width += name.len() + 1;
            text.push(' ');
            text.push_str(&name);
        }
        text
    }

    fn variables(&self) -> String {
        let lines: Vec<String> = self
            .session
            .variables()
            .into_iter()
            .filter_map(|name| {
                let value = self.session.show_variable(&name)?;
                Some(format!("{name} = {value}"))
            })
            .collect();
        match lines.is_empty() {
            true => "no variables yet".to_owned(),
            false => lines.join("\n"),
        }
    }

    /// The names that start with `start`, for completion.
    pub fn completions(&self, start: &str) -> Vec<String> {
        let functions = self.session.functions().into_iter().map(|(name, _)| name);
        let mut names: Vec<String> = functions
            .chain(self.session.variables())
            .filter(|name| name.starts_with(start))
            .collect();
        names.sort();
        names.dedup();
        names
    }
}

/// Whether a character goes on with a word.
fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn failed(message: String) -> Outcome {
    Outcome::Failed(Box::new(ScriptError {
        diagnostic: Diagnostic::error(message),
        more: Vec::new(),
        sources: Default::default(),
        interrupted: false,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Workbench;

    fn repl() -> Repl {
        Repl::new(Session::new(Box::new(std::io::sink()), Workbench::default()).unwrap())
    }

    fn text(repl: &mut Repl, line: &str) -> String {
        match repl.handle_line(line) {
            Outcome::Text(text) => text,
            Outcome::Nothing => String::new(),
            Outcome::Failed(error) => panic!("{line}: {}", error.render(false)),
            Outcome::Leave => "leave".to_owned(),
        }
    }

    fn failure(repl: &mut Repl, line: &str) -> String {
        match repl.handle_line(line) {
            Outcome::Failed(error) => error.render(false),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn definitions_persist() {
        let mut repl = repl();
        for (line, shown) in [
            ("n = 40", ""),
            ("let f = |x| x + n", ""),
            ("f.call(2)", "=> 42"),
            ("fn g(x) { x * 2 }", ""),
            ("g(n)", "=> 80"),
            ("fn g(x) { x * 3 }", ""),
            ("g(n)", "=> 120"),
            ("n = 50; g(n)", "=> 150"),
            ("f.call(2)", "=> 52"),
            ("import \"std/strategies\" as s", ""),
            ("s::chain(1, [|x| g(x)])", "=> 3"),
            ("fn h(x) { s::chain(x, [|y| y + 1]) }", ""),
            ("h(1)", "=> 2"),
            ("\"a\\\"b\"", "=> \"a\\\"b\""),
            ("[1, \"x\", [i, 2.0]]", "=> [1, \"x\", [i, 2.0]]"),
            ("let A = tensor([4]);", ""),
            ("A", "f64 A[4]"),
            ("fn eq_of(t) { let B = eq(t, [i] -> [i]); B }", ""),
            (
                "build(eq_of(A))",
                "f64 B[4], A[4]\nfor i in 0..4\n  B[i] = A[i]",
            ),
        ] {
            assert_eq!(text(&mut repl, line), shown, "{line}");
        }
        assert!(text(&mut repl, ":vars").contains("n = 50"));
    }

    #[test]
    fn a_failed_line_changes_nothing() {
        let mut repl = repl();
        text(&mut repl, "let n = 1; let f = || n; let list = [1, 2];");
        for line in [
            "n = 2; list.push(3); let count = 4; fn bad() { 1 } nope",
            "n = 2; list[0] = 7; throw 1",
            "let n = ;",
            "import \"nowhere\" as x; n = 5",
        ] {
            failure(&mut repl, line);
            assert_eq!(text(&mut repl, "n"), "=> 1", "{line}");
            assert_eq!(text(&mut repl, "f.call()"), "=> 1", "{line}");
            assert_eq!(text(&mut repl, "list"), "=> [1, 2]", "{line}");
            assert!(failure(&mut repl, "count").contains("nothing is named `count`"));
            let shown = failure(&mut repl, "bad()");
            assert!(shown.contains("no function `bad`"), "{shown}");
        }
    }

    #[test]
    fn errors_point_into_the_line_that_holds_them() {
        let mut repl = repl();
        text(&mut repl, "import \"std/strategies\" as s");
        text(&mut repl, "fn f(x) {\n    x.nope()\n}");
        let shown = failure(&mut repl, "let y = 1; f(y)");
        assert!(shown.contains("<line 2>:2:7"), "{shown}");
        assert!(shown.contains("<line 3>:1:12"), "{shown}");
    }

    #[test]
    fn values_are_shown_in_words() {
        let mut repl = repl();
        text(
            &mut repl,
            "let A = tensor([3, 4]); let B = eq(A, [i, j] -> [i, j]);",
        );
        text(&mut repl, "let p = build(B).interchange(1, 2);");
        for (line, shown) in [
            (
                "[check(p), p.path(), random(3)]",
                "=> [legal, a path of 2 steps, random numbers with the seed 3]",
            ),
            ("random(3)", "random numbers with the seed 3"),
            ("#{a: codegen(p)}", "=> #{a: code p}"),
        ] {
            assert_eq!(text(&mut repl, line), shown);
        }
        assert!(text(&mut repl, "p.path()").ends_with("    .interchange(1, 2)"));
        assert!(text(&mut repl, "check(p)").starts_with("legal"));
        let wrong = failure(&mut repl, "build(check(p))");
        assert!(wrong.contains("what `check` says"), "{wrong}");
    }

    #[test]
    fn what_is_legal_next() {
        let mut repl = repl();
        text(&mut repl, "let A = tensor([4, 5]); let B = tensor([4])");
        text(&mut repl, "let B = eq(vsum(vat(A, [i, j]), [j]), [i])");
        text(&mut repl, "let l = build(B)");
        let table = text(&mut repl, ":moves");
        assert_eq!(text(&mut repl, ":moves l"), table);
        assert_eq!(text(&mut repl, "moves(l)"), table);
        let expected = "\
| loop | parallelize | vectorize | interchange | tile | reverse | unroll_and_jam |
|------|-------------|-----------|-------------|------|---------|----------------|
| i    | yes         | yes       | j           | i, j | yes     | yes            |
| · j  |             |           | i           |      |         |                |";
        assert_eq!(table, expected);
        let one = text(&mut repl, ":moves l, \"j\"");
        assert!(one.contains("| · j") && !one.contains("\n| i "), "{one}");
        assert!(failure(&mut repl, ":moves l, \"k\"").contains("`k`"));
        assert!(failure(&mut repl, ":moves A").contains("must be a nest"));
        assert!(failure(&mut repl, ":movesl").contains("not a command"));
    }

    #[test]
    fn commands() {
        let mut repl = repl();
        assert!(text(&mut repl, ":help").contains("interchange"));
        assert!(text(&mut repl, ":help interchange").starts_with("interchange(nest"));
        let scheduled = text(&mut repl, ":help schedules::gemm");
        assert!(scheduled.starts_with("schedules::gemm(nest"), "{scheduled}");
        for unknown in ["nothing", "gemm", "schedules::einsum", "std_roles"] {
            assert!(failure(&mut repl, &format!(":help {unknown}")).contains("no help"));
        }
        assert!(failure(&mut repl, ":x").contains("not a command"));
        assert_eq!(text(&mut repl, ":vars"), "no variables yet");
        assert!(failure(&mut repl, ":moves").contains("no variable holds a nest"));
        assert_eq!(text(&mut repl, ":quit"), "leave");
        for (start, name) in [
            ("interch", "interchange"),
            ("schedules::g", "schedules::gemm"),
            ("sch", "schedules::gemm"),
        ] {
            assert!(repl.completions(start).contains(&name.to_owned()));
        }
        assert!(repl.completions("std_").is_empty());
    }
}
