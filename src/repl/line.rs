//! Lines, which are commands or parts of a script.

use super::{Outcome, Repl, Reply, commands};

impl Repl {
    /// Handles a line, which may hold line ends.
    pub fn handle_line(&mut self, line: &str) -> Outcome {
        let line = line.trim();
        self.session.begin();
        let reply = match line.strip_prefix(':') {
            Some(command) => commands::run(self, command),
            None if line.is_empty() => Ok(Outcome::Nothing),
            None => match self.words(line) {
                Some(reply) => reply,
                None => self.evaluate(line),
            },
        };
        let outcome = reply.unwrap_or_else(Outcome::Failed);
        self.failed |= matches!(outcome, Outcome::Failed(_));
        match outcome {
            Outcome::Failed(_) | Outcome::Leave => outcome,
            outcome => self.with_next_lesson(line, outcome),
        }
    }

    /// Lines that people type for commands.
    fn words(&mut self, line: &str) -> Option<Reply> {
        if let Some(name) = line.strip_prefix('?') {
            return Some(commands::run(self, &format!("help {name}")));
        }
        let bare = line.trim_end_matches(';').trim_end_matches("()");
        let is_variable = |name: &str| self.session.variables().iter().any(|v| v == name);
        match bare {
            "quit" | "exit" | "help" if !is_variable(bare) => Some(commands::run(self, bare)),
            _ => {
                let rest = bare.strip_prefix("help")?;
                let inner = rest.strip_prefix('(').and_then(|r| r.strip_suffix(')'));
                let name = inner.or(rest.strip_prefix(' '))?;
                let name = name.trim().trim_matches('"');
                let is_name = |c: char| c.is_alphanumeric() || "_:".contains(c);
                let asks = !name.is_empty() && name.chars().all(is_name);
                asks.then(|| commands::run(self, &format!("help {name}")))
            }
        }
    }
}
