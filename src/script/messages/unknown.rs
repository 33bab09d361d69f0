//! Help on unknown names, functions and elements: the likely intention, and how to write it.

use crate::binding::captured;
use crate::diag::Diagnostic;
use crate::messages::errors::{Translator, parameters};
use crate::messages::habits;
use crate::messages::syntax::lowered;
use crate::reader::operands;
use crate::trees;
use crate::values;

impl Translator<'_> {
    pub fn unknown_name(&self, name: &str) -> Diagnostic {
        let diagnostic = self.error(format!("nothing is named `{name}` here"));
        if let Some(help) = habits::name(name) {
            return diagnostic.help(Some(help.to_owned()));
        }
        if self.is_outside(name) {
            return self.undeclared(diagnostic, name);
        }
        let reads = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !self.places.is_in_list(self.position) || !name.chars().all(reads) {
            return diagnostic.help(self.known.similar(name));
        }
        let diagnostic = diagnostic.note(
            "iterators that need no declaration have one or two letters, then digits: `i`, `kh`, `j2`",
        );
        let suggestion = self.known.similar_variable(name);
        diagnostic.help(suggestion.or(Some(format!(
            "`iter(\"{name}\")` is an iterator of this name"
        ))))
    }

    /// Whether a variable of the script has this name, and a function runs, which does not see it.
    fn is_outside(&self, name: &str) -> bool {
        self.in_function && self.known.variables.iter().any(|v| v == name)
    }

    /// Adds help about a name that no function or variable has where it is used.
    pub fn undeclared(&self, diagnostic: Diagnostic, name: &str) -> Diagnostic {
        if self.is_outside(name) {
            return diagnostic
                .note("functions see only their parameters and their own variables")
                .help(Some(format!(
                    "give `{name}` to the function as an argument"
                )));
        }
        if let Some(help) = habits::name(name) {
            return diagnostic.help(Some(help.to_owned()));
        }
        diagnostic.help(if operands::is_iterator_name(name) {
            self.known.similar_variable(name)
        } else {
            self.known.similar(name)
        })
    }

    /// A value that `for` does not take.
    pub fn not_looped(&self) -> Diagnostic {
        let bound = (0..2).find_map(|k| self.places.variable(self.position, k));
        match bound.and_then(|v| captured::name(self.places, v)) {
            Some(name) => {
                let diagnostic = self.error("`for` needs numbers as bounds");
                let undeclared = format!("`{name}` is declared nowhere here, so it is an iterator");
                self.undeclared(diagnostic.note(undeclared), &name)
            }
            None => self.error("this cannot be looped over").help(Some(
                "`for` takes a list, a range such as 0..4, or a string".into(),
            )),
        }
    }

    /// A value that has no elements in brackets.
    pub fn not_indexed(&self, types: &str) -> Diagnostic {
        let owner = types.split(" [").next().unwrap_or(types);
        let owner = values::type_in_words(owner);
        if owner != "a tensor" {
            return self.error(format!("{owner} cannot be indexed with `[...]`"));
        }
        let diagnostic = self.error("a tensor cannot be indexed with `[...]`");
        let name = self.places.word_before(self.position);
        let name = name.as_deref().unwrap_or("A");
        if types.matches("Expr").count() + types.matches("tensor").count() > 1 {
            return diagnostic
                .note("an index is made of iterators, integers and entries, which are declared")
                .help(Some(format!(
                    "`let B = indices([9], n)` declares integers from 0 to n - 1, and `{name}[B[e]]` \
                     is the element that entry e names"
                )));
        }
        diagnostic.help(Some(if self.places.is_assigned(self.position) {
            format!(
                "`{name} = eq(value, [i, j])` assigns to all elements what `build` computes; \
             `init({name}, |i, j| i + j)` says what an input holds"
            )
        } else {
            format!(
                "`{name}[[0, 1]]` and `{name}[[i, j]]` are elements in an expression; \
             `run(plan).{name}` is what a nest computes"
            )
        }))
    }

    /// A variable beside a number or an iterator, whose name reads as an iterator, may be meant as
    /// one.
    fn instead_of_an_iterator(&self, diagnostic: Diagnostic, given: &[String]) -> Diagnostic {
        let is_index = |words: &String| words == "an integer" || words == "an iterator";
        let other = given.iter().position(|words| !is_index(words));
        let (Some(other), true) = (other, given.iter().any(is_index)) else {
            return diagnostic;
        };
        let variable = self.places.variable(self.position, other);
        let Some(name) = variable.and_then(|v| captured::name(self.places, v)) else {
            return diagnostic;
        };
        let held = &given[other];
        let note = format!("`{name}` reads as an iterator, but the variable `{name}` is {held}");
        let help = format!("write `iter(\"{name}\")` for the iterator, or rename the variable");
        diagnostic.note(note).help(Some(help))
    }

    pub fn unknown_function(&self, signature: &str) -> Diagnostic {
        let (name, types) = match signature.split_once(" (") {
            Some((name, rest)) => (name, rest.trim_end_matches(')')),
            None => (signature, ""),
        };
        let given: Vec<String> = match types {
            "" => Vec::new(),
            types => types.split(", ").map(values::type_in_words).collect(),
        };
        if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            let diagnostic = self.error(match given.as_slice() {
                [a] => format!("`{name}` cannot be applied to {a}"),
                _ => format!("`{name}` cannot be applied to {}", given.join(" and ")),
            });
            let iterator = given.iter().position(|words| words == "an iterator");
            let variable = iterator.and_then(|k| self.places.variable(self.position, k));
            let Some(name) = variable.and_then(|v| captured::name(self.places, v)) else {
                return self.instead_of_an_iterator(diagnostic, &given);
            };
            let undeclared = format!("`{name}` is declared nowhere here, so it is an iterator");
            return self.undeclared(diagnostic.note(undeclared), &name);
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
                    format!(
                        "an element of a tensor is `vat({name}, [i, j])`; a closure is called with \
                         `{name}.call(...)`"
                    ),
                ));
            }
            let field = format!(
                "expressions and nests have fields: `x.{name}`, or `tree(x).{name}` of the whole tree"
            );
            let help = trees::is_field(name).then_some(field);
            let help = help.or_else(|| habits::function(name).map(str::to_owned));
            return error(format!("there is no function `{name}`"))
                .help(help.or_else(|| self.known.similar(name)));
        }
        let mut counts: Vec<usize> = Vec::new();
        for signature in &signatures {
            let parameters = parameters(signature);
            let optional = parameters.iter().filter(|p| p.ends_with('?')).count();
            counts.extend(parameters.len() - optional..=parameters.len());
        }
        let habit = habits::function(name);
        if counts.contains(&given.len()) || habit.is_some() {
            return error(format!(
                "`{name}` cannot be applied to {}",
                given.join(" and ")
            ))
            .help(habit.map(str::to_owned));
        }
        let least = counts.iter().copied().min().unwrap_or(0);
        let most = counts.iter().copied().max().unwrap_or(0);
        let takes = if least == most {
            number_of(most, "argument")
        } else {
            format!("{least} to {most} arguments")
        };
        let message = format!("{name} takes {takes}, but {} given", were(given.len()));
        error(message).note(format!("signature: {}", signatures.join(", ")))
    }

    pub fn property(&self, message: &str) -> Diagnostic {
        let mut quoted = message.split('\'').skip(1).step_by(2);
        let (Some(name), Some(owner)) = (quoted.next(), quoted.next()) else {
            return self.error(lowered(message));
        };
        let owner = values::type_in_words(owner);
        let diagnostic = self.error(format!("{owner} has no property `{name}`"));
        let field = trees::similar_field(name).map(|field| format!("did you mean `{field}`?"));
        match self.known.signatures(name).next() {
            Some(_) => diagnostic.help(Some(format!("a method is called with `.{name}(...)`"))),
            None => {
                let help = habits::property(name).map(str::to_owned);
                diagnostic.help(help.or(field).or_else(|| self.known.similar(name)))
            }
        }
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
