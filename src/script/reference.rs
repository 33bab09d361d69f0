//! The reference as one page, and as definitions for Rhai's language server.

use crate::catalog::{Entry, TOPICS};
use crate::concepts::Concept;
use crate::report::{self, Article, Chapter};
use crate::session::Session;
use std::collections::BTreeMap;

impl Session {
    /// The whole reference as HTML: concepts, and every function by topic, with a search field.
    pub fn reference(&self) -> String {
        let catalog = self.catalog();
        // Each text, by the name of the first function that has it.
        let mut printed: BTreeMap<String, (&str, String)> = BTreeMap::new();
        let chapters = TOPICS.iter().map(|(topic, about)| {
            let mut articles: Vec<Article> = Vec::new();
            let mut places: BTreeMap<String, usize> = BTreeMap::new();
            for entry in catalog.iter().filter(|entry| entry.topic == *topic) {
                let help = match entry.topic {
                    // An operation may have the same name.
                    "library" => self.library_help(&entry.name),
                    _ => self.help(&entry.name),
                }
                .unwrap_or_default();
                let (signature, text) = help.split_once("\n\n").unwrap_or((&help, ""));
                let function = (entry.name.clone(), signature.to_owned());
                if let Some(place) = places.get(text).filter(|_| !text.is_empty()) {
                    let functions = &mut articles[*place].functions;
                    // Overloads are one entry.
                    if functions.iter().all(|(name, _)| *name != entry.name) {
                        functions.push(function);
                    }
                    continue;
                }
                places.insert(text.to_owned(), articles.len());
                let elsewhere = printed.get(text).filter(|(other, _)| other != topic);
                articles.push(Article {
                    title: None,
                    functions: vec![function],
                    text: match elsewhere {
                        Some((_, first)) => format!("See `{first}`."),
                        None => text.to_owned(),
                    },
                });
                let first = (*topic, entry.name.clone());
                printed.entry(text.to_owned()).or_insert(first);
            }
            Chapter {
                title: (*topic).to_owned(),
                about: (*about).to_owned(),
                articles,
            }
        });
        let concepts = Concept::all().map(|concept| Article {
            title: Some(concept.title.to_owned()),
            functions: Vec::new(),
            text: concept.text.to_owned(),
        });
        let concepts = Chapter {
            title: Concept::TOPIC.0.to_owned(),
            about: Concept::TOPIC.1.to_owned(),
            articles: concepts.collect(),
        };
        let chapters = std::iter::once(concepts).chain(chapters);
        let chapters: Vec<Chapter> = chapters.filter(|c| !c.articles.is_empty()).collect();
        report::reference(&chapters)
    }

    /// Definition files for Rhai's language server: their names, and their texts.
    pub fn definitions(&self) -> Vec<(String, String)> {
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        let mut last = String::new();
        for entry in self.catalog() {
            let (module, name) = match entry.name.split_once("::") {
                Some((space, name)) => (space.to_owned(), name),
                None => ("teml".to_owned(), entry.name.as_str()),
            };
            let heading = match module.as_str() {
                "teml" => "module static;\n".to_owned(),
                space => format!("module {space};\n"),
            };
            let text = files.entry(format!("{module}.d.rhai")).or_insert(heading);
            let help = self.help(&entry.name).unwrap_or_default();
            let body = help.split_once("\n\n").map_or("", |(_, body)| body);
            let comment: String = body
                .lines()
                .map(|l| format!("/// {l}").trim_end().to_owned() + "\n")
                .collect();
            for declaration in declarations(name, &entry) {
                // Overloads share a comment.
                let comment = if last == entry.name { "" } else { &comment };
                text.push_str(&format!("\n{comment}{declaration}\n"));
                last.clone_from(&entry.name);
            }
        }
        files.into_iter().collect()
    }
}

/// A declaration for each number of arguments.
fn declarations(name: &str, entry: &Entry) -> Vec<String> {
    let (call, returned) = match entry.signature.split_once(" -> ") {
        Some((call, returned)) => (call, returned),
        None => (entry.signature.as_str(), "?"),
    };
    let inside = call.split_once('(').map_or("", |(_, rest)| rest);
    let inside = inside.trim_end_matches(')');
    let all: Vec<&str> = inside.split(", ").filter(|p| !p.is_empty()).collect();
    let required = all.iter().filter(|p| !p.ends_with('?')).count();
    let plain = |parameter: &str| -> String {
        let name = parameter.trim_end_matches(['?', '.']);
        // Words of Rhai.
        match name {
            "loop" | "of" | "in" | "for" => format!("{name}_: ?"),
            name => format!("{name}: ?"),
        }
    };
    let counts = required..=all.len();
    counts
        .map(|count| {
            let parameters: Vec<String> = all[..count].iter().map(|p| plain(p)).collect();
            format!("fn {name}({}) -> {returned};", parameters.join(", "))
        })
        .collect()
}
