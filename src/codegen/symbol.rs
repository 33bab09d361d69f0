//! What user names are called in generated C.
//!
//! A script may name a tensor, a loop or a variant as it likes. Where C, C++, their libraries or
//! teml's own support code use that name for something else, the C spells it with a prefix: the
//! tensor `TEML_F64XN` is `u_TEML_F64XN` there. Everything else is spelled as in the script.

use super::taken::{LIBRARY, RESERVED, RESERVED_PREFIXES};
use crate::ir::{Name, NameError, Nest, Tensor, Tree};
use std::collections::{BTreeSet, HashMap};

/// Whether C or C++ uses a name for something else, so that nothing local may have it.
fn is_taken(text: &str) -> bool {
    has_taken_prefix(text) || RESERVED.contains(&text)
}

fn has_taken_prefix(text: &str) -> bool {
    let mut prefixes = RESERVED_PREFIXES.iter();
    prefixes.any(|prefix| text.starts_with(prefix))
}

/// Checks that a function can be called `text`.
///
/// # Errors
/// It is not a name, or one that C, C++, their libraries or teml's own code uses.
pub fn check(text: &str) -> Result<(), NameError> {
    Name::new(text)?;
    match text == "main" || is_taken(text) || LIBRARY.contains(&text) {
        true => Err(NameError::Reserved(text.to_owned())),
        false => Ok(()),
    }
}

/// A name for a function that a script calls `label`.
pub fn from_label(label: &str) -> String {
    match check(label) {
        Ok(()) => label.to_owned(),
        Err(NameError::Reserved(_)) if label.starts_with('_') => "kernel".to_owned(),
        Err(NameError::Reserved(_)) if has_taken_prefix(label) => format!("{PREFIX}{label}"),
        Err(NameError::Reserved(_)) => format!("{label}_kernel"),
        Err(_) => "kernel".to_owned(),
    }
}

/// What precedes a name that is taken.
const PREFIX: &str = "u_";

/// How the names of some nests are spelled in C, where that differs from the script.
#[derive(Default)]
pub(super) struct Spelling(HashMap<Name, Name>);

impl Spelling {
    pub(super) fn of<'a>(names: impl IntoIterator<Item = &'a Name>) -> Spelling {
        let names: BTreeSet<&Name> = names.into_iter().collect();
        let mut spelling: HashMap<Name, Name> = HashMap::new();
        for name in names.iter().filter(|name| is_taken(name.as_str())) {
            let mut text = format!("{PREFIX}{name}");
            let spelled = loop {
                match Name::new(&text) {
                    Ok(free) if names.contains(&free) || is_used(&spelling, &free) => {
                        text = format!("{PREFIX}{text}");
                    }
                    other => break other,
                }
            };
            if let Ok(spelled) = spelled {
                spelling.insert((*name).clone(), spelled);
            }
        }
        Spelling(spelling)
    }

    /// What differs: the name in the script, and in C.
    pub(super) fn changes(&self) -> Vec<(&Name, &Name)> {
        let mut changes: Vec<_> = self.0.iter().collect();
        changes.sort();
        changes
    }

    pub(super) fn tensor(&self, tensor: &Tensor) -> Tensor {
        match tensor.name().and_then(|name| self.0.get(name)) {
            Some(spelled) => tensor.named(spelled.clone()),
            None => tensor.clone(),
        }
    }

    /// A nest with all names as in C.
    pub(super) fn nest(&self, nest: &Nest) -> Nest {
        if self.0.is_empty() {
            return nest.clone();
        }
        let rename = |name: &Name| self.0.get(name).cloned();
        let tree = |tree: &Tree| tree.rename_loops(&rename).rename_tensors(&rename);
        nest.with_trees(nest.trees().iter().map(tree).collect())
    }
}

fn is_used(spelling: &HashMap<Name, Name>, name: &Name) -> bool {
    spelling.values().any(|spelled| spelled == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_become_names_that_c_accepts() {
        for (label, name) in [
            ("plan", "plan"),
            ("log", "log_kernel"),
            ("class", "class_kernel"),
            ("TEML_F64XN", "u_TEML_F64XN"),
            ("variant 2", "kernel"),
        ] {
            assert_eq!(from_label(label), name);
            assert_eq!(check(name), Ok(()));
        }
        assert!(check("system").is_err());
    }

    #[test]
    fn spellings_are_free() {
        let names = ["exp", "u_exp", "A"].map(|text| Name::new(text).unwrap());
        let spelling = Spelling::of(&names);
        let [exp, u_exp, _] = &names;
        let [(from, to)] = spelling.changes()[..] else {
            panic!("one name changes");
        };
        assert_eq!((from, to.as_str()), (exp, "u_u_exp"));
        assert_ne!(to, u_exp);
    }
}
