//! Completion in a script: names by the type before a dot, loops and handles of the nest that a
//! call is about, words and options of the call, files.

use super::candidate::{Candidate, Completion, candidate, loops, of, of_entry, of_files};
use super::place::{OpenCall, last_call, open_call, open_string, receiver_start, word_start};
use crate::ir::Nest;
use crate::repl::Repl;
use crate::script::{Entry, HANDLES, Takes, Tokens, Type, scan};

impl Repl {
    pub(super) fn of_script(&mut self, text: &str, is_patient: bool) -> Completion {
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
        let taken = self.taken_as_loop(text, &tokens, is_patient);
        if word.is_empty() {
            return of(start, word, taken);
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
            .chain(taken)
            .chain(keywords);
        of(start, word, all.collect())
    }

    /// The members that can follow a dot.
    fn members(&self, receiver: &str) -> Vec<Candidate> {
        let own = &receiver[receiver_start(receiver)..];
        let fields = self.session.fields_of(own).into_iter();
        let fields = fields.map(|field| candidate(&field, ""));
        let known = self.session.type_of(own);
        if known == Some(Type::Map) {
            return fields.collect();
        }
        let held = known.unwrap_or_else(|| self.returned(own));
        match held {
            Type::Handles if known.is_some() => {
                let made = self.session.handles(own, &[]).into_iter();
                let part = |(text, name): (String, String)| {
                    let role = text.split_once('.').map_or("", |(_, role)| role);
                    candidate(role, &name)
                };
                return made.map(part).collect();
            }
            Type::Handles => return HANDLES.iter().map(|word| candidate(word, "")).collect(),
            Type::Handle => return vec![candidate("name", "its name"), candidate("iter", "")],
            _ => {}
        }
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
        fields
            .chain(catalog.iter().filter(fits).map(of_entry))
            .collect()
    }

    /// The type of an expression that ends with a call or a bracket.
    fn returned(&self, own: &str) -> Type {
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
        let entry = catalog.iter().find(|e| e.name == function);
        entry.map_or(Type::Other, |entry| entry.returns)
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
        let words = match entry.and_then(|e| e.arguments.get(call.argument)) {
            Some(Takes::Words(words)) => words.clone(),
            Some(Takes::Options(options)) => options
                .iter()
                .flat_map(|(_, words)| words.clone())
                .collect(),
            _ => {
                let nests = self.nests_behind(call.receiver, is_patient);
                return of(start + 1, typed, loops(&nests));
            }
        };
        let words = words.iter().map(|word| candidate(word, ""));
        of(start + 1, typed, words.collect())
    }

    /// The nests that a receiver denotes: those of a variable. With patience, also those of calls
    /// that only transform.
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
        if is_patient && only_transforms {
            self.session.nests_of(receiver).unwrap_or_default()
        } else {
            let first = tokens.text(receiver, 0);
            let known = known.into_iter().find(|(name, _)| name == first);
            known.map(|(_, nest)| nest).into_iter().collect()
        }
    }

    /// Where a call takes a loop: handles in variables, and the names of loops as strings.
    fn taken_as_loop(&mut self, text: &str, tokens: &Tokens, is_patient: bool) -> Vec<Candidate> {
        let Some(call) = open_call(text, tokens).filter(|call| !call.in_map) else {
            return Vec::new();
        };
        let catalog = self.catalog();
        let overloads = catalog.iter().filter(|e| e.name == call.function);
        let mut takes = overloads.map(|e| e.arguments.get(call.argument));
        if !takes.any(|takes| takes == Some(&Takes::Loops)) {
            return Vec::new();
        }
        let nests = self.nests_behind(call.receiver, is_patient);
        let variables = self.session.variables().into_iter();
        let handles = variables.flat_map(|name| self.session.handles(&name, &nests));
        let handles = handles.map(|(text, name)| candidate(&text, &format!("loop {name}")));
        let handles: Vec<Candidate> = handles.collect();
        let quoted = loops(&nests).into_iter();
        let quoted = quoted.map(|l| candidate(&format!("\"{}\"", l.text), ""));
        handles.into_iter().chain(quoted).collect()
    }

    fn options(&self, call: &OpenCall) -> Vec<Candidate> {
        let catalog = self.catalog();
        let entry = catalog.iter().find(|e| e.name == call.function);
        match entry.and_then(|e| e.arguments.get(call.argument)) {
            Some(Takes::Options(options)) => options
                .iter()
                .map(|(name, _)| candidate(name, ""))
                .collect(),
            _ => Vec::new(),
        }
    }
}
