//! What can follow at the end of a text: names by the type before a dot, loops of the nest inside
//! of strings, words and options of a call, files, commands.

use super::Repl;
use super::commands::{self, Completes};
use crate::bench;
use crate::ir::Nest;
use crate::script::{Entry, TOPICS, Takes, TokenKind, Tokens, Type, scan};

/// What may replace the end of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Where the part to be replaced starts, in bytes.
    pub start: usize,
    /// The candidates.
    pub candidates: Vec<Candidate>,
}

/// A candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The text.
    pub text: String,
    /// Its signature, or what it is; may be empty.
    pub about: String,
}

/// The call whose arguments are being written.
struct OpenCall<'a> {
    function: &'a str,
    /// The text of the receiver of a method, or of the first argument.
    receiver: &'a str,
    /// Which argument, counted from 0, the receiver first.
    argument: usize,
    /// Whether the end is inside of a map.
    in_map: bool,
}

impl Repl {
    /// What may follow `text`. With `is_patient`, calls without effects are evaluated to know what
    /// they return.
    pub fn completion(&mut self, text: &str, is_patient: bool) -> Completion {
        if let Some(command) = text.trim_start().strip_prefix(':') {
            return self.of_command(text, command);
        }
        if let Some(name) = text.strip_prefix('?') {
            return of(text.len() - name.len(), name, self.topics());
        }
        self.of_script(text, is_patient)
    }

    /// What is shown behind the end of a text: the remainder of the only name that can follow, and
    /// its signature, or that of the call that is being written.
    pub fn hint(&mut self, text: &str) -> Option<(String, String)> {
        let Completion { start, candidates } = self.completion(text, false);
        let typed = text.get(start..)?;
        let least = usize::from(typed.is_empty()) + 1;
        let mut starts = candidates.iter().filter(|c| c.text.starts_with(typed));
        if let (Some(only), None) = (starts.next(), starts.next())
            && (typed.len() >= least || only.text.starts_with('"'))
        {
            let about = match only.about.is_empty() {
                true => String::new(),
                false => format!("  {}", only.about),
            };
            return Some((only.text[typed.len()..].to_owned(), about));
        }
        let tokens = scan(text);
        let call = open_call(text, &tokens)?;
        let entry = self
            .catalog()
            .iter()
            .find(|e| e.name == call.function)?
            .clone();
        Some((String::new(), format!("  {}", entry.signature)))
    }

    fn of_command(&mut self, text: &str, command: &str) -> Completion {
        let base = text.len() - command.len();
        let Some((name, rest)) = command.split_once(' ') else {
            let all = commands::all().map(|c| {
                let about = format!("{} {}", c.arguments, c.help);
                candidate(c.name, about.trim())
            });
            return of(base, command, all.collect());
        };
        let named = commands::named(name);
        let completes = named.first().map_or(Completes::Nothing, |c| c.completes);
        let start = text.len() - rest.len();
        let plain = |names: Vec<String>| names.iter().map(|n| candidate(n, "")).collect();
        match completes {
            Completes::Nothing => Completion::default(),
            Completes::File => of_files(start, rest),
            Completes::Branch => {
                let rows = self.timeline().rows();
                let names = rows.iter().map(|row| row.name.to_owned()).collect();
                of(start, rest, plain(names))
            }
            Completes::Kernel => {
                let all = bench::scripts().into_iter().chain(bench::polybench());
                of(start, rest, plain(all.map(|s| s.name).collect()))
            }
            Completes::Topic => of(start, rest, self.topics()),
            Completes::Nest => {
                let from = rest.rfind([',', ' ']).map_or(0, |k| k + 1);
                let nests = self.session.nests();
                let names = nests.into_iter().map(|(name, _)| name).collect();
                of(start + from, &rest[from..], plain(names))
            }
            Completes::Loop => match self.subject("") {
                Ok(subject) => of(start, rest, loops(&subject.nests)),
                Err(_) => Completion::default(),
            },
        }
    }

    fn topics(&self) -> Vec<Candidate> {
        let topics = TOPICS.iter().map(|(topic, about)| candidate(topic, about));
        let groups = commands::GROUPS.iter().map(|g| candidate(g.topic, g.about));
        let all = commands::all().map(|c| candidate(c.name, c.help));
        let catalog = self.catalog();
        let functions = catalog.iter().map(|e| candidate(&e.name, &e.signature));
        topics.chain(groups).chain(all).chain(functions).collect()
    }

    fn of_script(&mut self, text: &str, is_patient: bool) -> Completion {
        let tokens = scan(text);
        if let Some(start) = open_string(text, &tokens) {
            return self.in_string(text, &tokens, start, is_patient);
        }
        let start = word_start(text);
        let (before, word) = text.split_at(start);
        let before = before.trim_end();
        if let Some(spaces) = before.strip_suffix("::") {
            let space = &spaces[word_start(spaces)..];
            let typed = format!("{space}::{word}");
            let start = spaces.len() - space.len();
            let catalog = self.catalog();
            let inside = catalog.iter().filter(|e| e.name.contains("::"));
            return of(start, &typed, inside.map(of_entry).collect());
        }
        let is_range = before.ends_with("..");
        if let Some(receiver) = before.strip_suffix('.').filter(|_| !is_range) {
            return of(start, word, self.members(receiver));
        }
        if before.ends_with("#{") || before.ends_with(',') {
            let call = open_call(text, &tokens).filter(|call| call.in_map);
            let options = call.map(|call| self.options(&call)).unwrap_or_default();
            if !options.is_empty() {
                return of(start, word, options);
            }
        }
        if word.is_empty() {
            return Completion::default();
        }
        let catalog = self.catalog();
        let variables = self.session.variables().into_iter();
        let variables = variables.map(|name| candidate(&name, ""));
        let keywords = [
            "let", "const", "for", "while", "if", "else", "import", "return", "print",
        ];
        let keywords = keywords.iter().map(|word| candidate(word, ""));
        let all = variables
            .chain(catalog.iter().map(of_entry))
            .chain(keywords);
        of(start, word, all.collect())
    }

    /// What can come behind a dot.
    fn members(&self, receiver: &str) -> Vec<Candidate> {
        let word = &receiver[word_start(receiver)..];
        let is_variable =
            !word.is_empty() && receiver_start(receiver) == receiver.len() - word.len();
        if is_variable && self.session.type_of(word) == Some(Type::Map) {
            let keys = self.session.keys_of(word);
            return keys.iter().map(|key| candidate(key, "")).collect();
        }
        let held = match is_variable {
            true => self.session.type_of(word).unwrap_or(Type::Other),
            false => self.returned(receiver),
        };
        let catalog = self.catalog();
        let fits = |entry: &&Entry| {
            let is_method = !entry.name.contains("::");
            let suits = match held {
                Type::Other => false,
                held => {
                    entry.receiver == held || entry.topic == "own" && entry.receiver == Type::Other
                }
            };
            is_method && suits
        };
        catalog.iter().filter(fits).map(of_entry).collect()
    }

    /// What an expression that ends with a call or a bracket is.
    fn returned(&self, expression: &str) -> Type {
        let own = &expression[receiver_start(expression)..];
        if own.ends_with(']') {
            return Type::List;
        }
        if own.ends_with(['"', '`']) {
            return Type::Text;
        }
        let Some(function) = last_call(own) else {
            return Type::Other;
        };
        let catalog = self.catalog();
        let Some(entry) = catalog.iter().find(|e| e.name == function) else {
            return Type::Other;
        };
        match entry
            .signature
            .rsplit_once("-> ")
            .map(|(_, returned)| returned)
        {
            Some("nest") => Type::Nest,
            Some("tensor") => Type::Tensor,
            Some("path") => Type::Path,
            Some("moves") => Type::Moves,
            Some("program") => Type::Program,
            Some("list" | "rows") => Type::List,
            Some("string") => Type::Text,
            Some(_) => Type::Other,
            None if entry.topic == "schedules" => Type::Nest,
            // Functions of the library return what they are called on.
            None => match entry.name.as_str() {
                "divisor" => Type::Other,
                _ => entry.receiver,
            },
        }
    }

    fn in_string(
        &mut self,
        text: &str,
        tokens: &Tokens,
        start: usize,
        is_patient: bool,
    ) -> Completion {
        let typed = &text[start + 1..];
        let before = text[..start].trim_end();
        if before.ends_with("import") {
            let mut found = of_files(start + 1, typed);
            let library = crate::script::library_modules().into_iter();
            let library = library.map(|name| candidate(&name, "of the library"));
            found
                .candidates
                .extend(of(start + 1, typed, library.collect()).candidates);
            return found;
        }
        let Some(call) = open_call(text, tokens) else {
            return Completion::default();
        };
        if ["load", "save", "read_program", "bundle"].contains(&call.function) {
            return of_files(start + 1, typed);
        }
        let catalog = self.catalog();
        let entry = catalog.iter().find(|e| e.name == call.function);
        let takes = entry.and_then(|e| e.arguments.get(call.argument).copied());
        match takes {
            Some(Takes::Words(words)) => of(
                start + 1,
                typed,
                words.iter().map(|w| candidate(w, "")).collect(),
            ),
            Some(Takes::Options(options)) => {
                let words = options.iter().filter_map(|option| match option.kind {
                    crate::transform::Kind::Word(words) => Some(words),
                    _ => None,
                });
                let words = words.flatten().map(|word| candidate(word, ""));
                of(start + 1, typed, words.collect())
            }
            _ => {
                let nests = self.nests_behind(call.receiver, is_patient);
                of(start + 1, typed, loops(&nests))
            }
        }
    }

    /// The nests that a receiver stands for: those of a variable, or, with patience, of calls that
    /// only transform.
    fn nests_behind(&mut self, receiver: &str, is_patient: bool) -> Vec<Nest> {
        let known = self.session.nests();
        if let Some((_, nest)) = known.iter().find(|(name, _)| name == receiver) {
            return vec![nest.clone()];
        }
        let catalog = self.catalog();
        let tokens = scan(receiver);
        let calls = (0..tokens.tokens.len()).filter(|k| tokens.text(receiver, k + 1) == "(");
        let only_transforms = calls.clone().count() > 0
            && calls.into_iter().all(|k| {
                let entry = catalog.iter().find(|e| e.name == tokens.text(receiver, k));
                entry.is_some_and(|e| matches!(e.topic, "transformations" | "tensors" | "library"))
            });
        match is_patient && only_transforms {
            true => self.session.nests_of(receiver).unwrap_or_default(),
            // The loops of the variable at its start are better than none.
            false => {
                let first = tokens.text(receiver, 0);
                let known = known.into_iter().find(|(name, _)| name == first);
                known.map(|(_, nest)| nest).into_iter().collect()
            }
        }
    }

    fn options(&self, call: &OpenCall) -> Vec<Candidate> {
        let catalog = self.catalog();
        let entry = catalog.iter().find(|e| e.name == call.function);
        match entry.and_then(|e| e.arguments.get(call.argument).copied()) {
            Some(Takes::Options(options)) => {
                let names = options.iter().map(|o| candidate(o.name, ""));
                names.collect()
            }
            _ => Vec::new(),
        }
    }
}

fn candidate(text: &str, about: &str) -> Candidate {
    Candidate {
        text: text.to_owned(),
        about: about.to_owned(),
    }
}

fn of_entry(entry: &Entry) -> Candidate {
    candidate(&entry.name, &entry.signature)
}

/// Those that begin with what is typed, in order of their names.
fn of(start: usize, typed: &str, all: Vec<Candidate>) -> Completion {
    let mut candidates: Vec<Candidate> = all;
    candidates.retain(|c| c.text.starts_with(typed) && !c.text.starts_with("std_"));
    candidates.sort_by(|a, b| a.text.cmp(&b.text));
    candidates.dedup_by(|a, b| a.text == b.text);
    Completion { start, candidates }
}

fn loops(nests: &[Nest]) -> Vec<Candidate> {
    let loops = nests.iter().flat_map(|nest| nest.loops());
    let loops = loops.map(|(_, l)| candidate(l.name.as_str(), ""));
    loops.collect()
}

/// Files whose path begins with what is typed; directories end with a slash.
fn of_files(start: usize, typed: &str) -> Completion {
    let folder = typed.rfind('/').map_or("", |k| &typed[..=k]);
    let place = if folder.is_empty() { "." } else { folder };
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let slash = if entry.path().is_dir() { "/" } else { "" };
        (!name.starts_with('.')).then(|| candidate(&format!("{folder}{name}{slash}"), ""))
    });
    of(start, typed, names.collect())
}

/// Where the last word of a text starts.
fn word_start(text: &str) -> usize {
    let ends = |c: char| !(c == '_' || c.is_alphanumeric());
    text.char_indices()
        .rfind(|(_, c)| ends(*c))
        .map_or(0, |(k, c)| k + c.len_utf8())
}

/// Where the string starts that a text ends in, if it does.
fn open_string(text: &str, tokens: &Tokens) -> Option<usize> {
    let last = tokens.tokens.last()?;
    let own = &text[last.range.clone()];
    let reaches = last.range.end == text.len() && last.kind == TokenKind::Text;
    let is_closed = own.len() > 1 && own.ends_with('"') && !own.ends_with("\\\"");
    (reaches && own.starts_with('"') && !is_closed).then_some(last.range.start)
}

/// The innermost call whose arguments a text ends in.
fn open_call<'a>(text: &'a str, tokens: &Tokens) -> Option<OpenCall<'a>> {
    let mut open: Vec<(usize, usize)> = Vec::new();
    for k in 0..tokens.tokens.len() {
        match tokens.text(text, k) {
            "(" | "[" | "{" | "#{" => open.push((k, 0)),
            ")" | "]" | "}" => drop(open.pop()),
            "," => open
                .iter_mut()
                .last()
                .into_iter()
                .for_each(|(_, n)| *n += 1),
            _ => {}
        }
    }
    let is_call = |k: usize| {
        let callee = k.checked_sub(1).and_then(|k| tokens.tokens.get(k));
        tokens.text(text, k) == "(" && callee.is_some_and(|t| t.kind == TokenKind::Word)
    };
    let at = open.iter().rposition(|(k, _)| is_call(*k))?;
    let (paren, commas) = open[at];
    let in_map = open[at + 1..]
        .iter()
        .any(|(k, _)| tokens.text(text, *k) == "#{");
    let callee = paren - 1;
    let starts = |k: usize| tokens.tokens[k].range.start;
    let before = callee.checked_sub(1).map_or("", |k| tokens.text(text, k));
    let mut function = &text[tokens.tokens[callee].range.clone()];
    if before == "::" && callee >= 2 {
        function = &text[starts(callee - 2)..tokens.tokens[callee].range.end];
    }
    let (receiver, extra) = match before {
        "." => {
            let end = starts(callee - 1);
            (&text[receiver_start(&text[..end])..end], 1)
        }
        _ => {
            let inside = &text[tokens.tokens[paren].range.end..];
            let first = commands::parts(inside).first().copied().unwrap_or("");
            (first, 0)
        }
    };
    Some(OpenCall {
        function,
        receiver: receiver.trim(),
        argument: commas + extra,
        in_map,
    })
}

/// Where the expression starts that a text ends with: names, dots, and balanced brackets.
fn receiver_start(text: &str) -> usize {
    let tokens = scan(text);
    let (mut depth, mut start, mut needs_value) = (0usize, text.len(), true);
    for k in (0..tokens.tokens.len()).rev() {
        let token = &tokens.tokens[k];
        match tokens.text(text, k) {
            ")" | "]" | "}" => depth += 1,
            "(" | "[" | "{" | "#{" if depth == 0 => break,
            "(" | "[" | "{" | "#{" => {
                depth -= 1;
                // A name may come directly before it.
                needs_value = depth == 0 || needs_value;
            }
            _ if depth > 0 => {}
            "." | "::" => needs_value = true,
            _ if token.kind != TokenKind::Mark && needs_value => needs_value = false,
            _ => break,
        }
        if depth == 0 {
            start = token.range.start;
        }
    }
    start
}

/// The function that the call at the end of an expression calls.
fn last_call(expression: &str) -> Option<&str> {
    let tokens = scan(expression);
    let mut depth = 0usize;
    for k in (0..tokens.tokens.len()).rev() {
        match tokens.text(expression, k) {
            ")" => depth += 1,
            "(" => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    let callee = k.checked_sub(1)?;
                    let end = tokens.tokens[callee].range.end;
                    let is_named = callee >= 2 && tokens.text(expression, callee - 1) == "::";
                    let first = if is_named { callee - 2 } else { callee };
                    return expression.get(tokens.tokens[first].range.start..end);
                }
            }
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Session, Workbench};

    fn repl() -> Repl {
        let session = Session::new(Box::new(std::io::sink()), Workbench::default()).unwrap();
        let mut repl = Repl::new(session);
        for line in [
            "let A = tensor([8, 8]); let B = tensor([8, 8]); let C = einsum(\"ik,kj->ij\", A, B);",
            "let naive = build(C); let options = #{width: 4, height: 2};",
            "fn twice(x) { x }",
        ] {
            repl.handle_line(line);
        }
        repl
    }

    fn texts(repl: &mut Repl, text: &str) -> Vec<String> {
        let found = repl.completion(text, true).candidates.into_iter();
        found.map(|c| c.text).collect()
    }

    #[test]
    fn the_type_before_the_dot_counts() {
        let mut repl = repl();
        let has = |found: &[String], name: &str| found.iter().any(|f| f == name);
        let nest = texts(&mut repl, "let x = naive.");
        assert!(has(&nest, "interchange") && has(&nest, "tile") && has(&nest, "check"));
        assert!(has(&nest, "twice") && !has(&nest, "vadd") && !has(&nest, "einsum"));
        let tensor = texts(&mut repl, "A.");
        assert!(has(&tensor, "vat") && has(&tensor, "transpose") && !has(&tensor, "interchange"));
        let chained = texts(&mut repl, "naive.tile(4).inter");
        assert_eq!(chained, ["interchange", "interchange_n"]);
        assert_eq!(texts(&mut repl, "build(C).inter"), chained);
        assert_eq!(texts(&mut repl, "options."), ["height", "width"]);
        assert_eq!(texts(&mut repl, "0.."), [] as [&str; 0]);
        assert_eq!(
            texts(&mut repl, "schedules::ge"),
            ["schedules::gemm", "schedules::gemm_at"]
        );
    }

    #[test]
    fn loops_and_words_in_strings() {
        let mut repl = repl();
        assert_eq!(texts(&mut repl, "naive.interchange(\""), ["i", "j", "k"]);
        assert_eq!(texts(&mut repl, "interchange(naive, \"i\", \"k"), ["k"]);
        let tiled = "naive.stripmine(\"i\", 4).interchange(\"i_";
        assert_eq!(texts(&mut repl, tiled), ["i_i", "i_o"]);
        let words = texts(&mut repl, "naive.stripmine(\"i\", 4, \"");
        assert!(words.contains(&"guard".to_owned()), "{words:?}");
        let options = texts(&mut repl, "naive.parallelize(\"i\", #{");
        assert!(options.contains(&"schedule".to_owned()), "{options:?}");
        let schedules = texts(&mut repl, "naive.parallelize(\"i\", #{schedule: \"d");
        assert_eq!(schedules, ["dynamic"]);
    }

    #[test]
    fn commands_and_their_arguments() {
        let mut repl = repl();
        assert_eq!(texts(&mut repl, ":comp"), ["compare"]);
        assert_eq!(texts(&mut repl, ":c na"), ["naive"]);
        assert_eq!(texts(&mut repl, ":asm "), ["i", "j", "k"]);
        assert_eq!(texts(&mut repl, ":kernels mt"), ["mttkrp"]);
        assert_eq!(texts(&mut repl, ":branch m"), ["main"]);
        assert_eq!(texts(&mut repl, ":load Cargo.t"), ["Cargo.toml"]);
        assert_eq!(texts(&mut repl, "?unroll_"), ["unroll_and_jam"]);
        assert!(texts(&mut repl, "import \"std/str").contains(&"std/strategies".to_owned()));
    }

    #[test]
    fn hints_are_what_remains_and_the_signature() {
        let mut repl = repl();
        let hint = repl.hint("naive.unroll_").unwrap();
        assert_eq!(hint.0, "and_jam");
        assert!(hint.1.contains("unroll_and_jam(nest"), "{hint:?}");
        let hint = repl.hint("naive.interchange(\"i\", ").unwrap();
        assert_eq!(
            (hint.0.as_str(), hint.1.contains("interchange(nest")),
            ("", true)
        );
        assert_eq!(repl.hint("let x = 4"), None);
    }
}
