//! "Did you mean …?"

use crate::transform::closest;

/// The names that a script could have meant.
pub struct Known {
    /// Functions: name and signature.
    pub functions: Vec<(String, String)>,
    /// Variables.
    pub variables: Vec<String>,
}

impl Known {
    /// Those of the functions of one name, which differ in their number of arguments.
    pub fn signatures(&self, name: &str) -> impl Iterator<Item = &str> {
        let found = self.functions.iter().filter(move |(n, _)| n == name);
        found.map(|(_, signature)| signature.as_str())
    }

    /// The names before `::` of functions.
    pub fn namespaces(&self) -> impl Iterator<Item = &str> {
        let names = self.functions.iter();
        names.filter_map(|(name, _)| Some(name.rsplit_once("::")?.0))
    }

    /// A name similar to `word`.
    pub fn similar(&self, word: &str) -> Option<String> {
        let functions = self.functions.iter().map(|(n, _)| n.as_str());
        let variables = self.variables.iter().map(String::as_str);
        let behind_namespace = functions
            .clone()
            .find(|name| name.rsplit_once("::").is_some_and(|(_, n)| n == word));
        behind_namespace
            .or_else(|| closest(word, variables.chain(functions)))
            .map(did_you_mean)
    }

    /// The variable that is similar to `word`.
    pub fn similar_variable(&self, word: &str) -> Option<String> {
        let variables = self.variables.iter().map(String::as_str);
        closest(word, variables).map(did_you_mean)
    }

    /// A name similar to `word` in a namespace.
    pub fn similar_in(&self, namespace: &str, word: &str) -> Option<String> {
        let names = self
            .functions
            .iter()
            .filter_map(|(name, _)| name.rsplit_once("::"));
        let inside = names.filter(|(space, _)| *space == namespace);
        let found = closest(word, inside.map(|(_, name)| name))?;
        Some(did_you_mean(&format!("{namespace}::{found}")))
    }
}

/// The suggestion of a name.
pub fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}
