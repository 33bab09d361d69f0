//! The spelling of user names in generated C.
//!
//! A script may name a tensor, a loop or a variant as it likes. If C, C++, their libraries or
//! teml's own support code use that name, the C spells it with a prefix: the tensor `TEML_F64XN` is
//! `u_TEML_F64XN` there. Everything else is spelled as in the script.

use super::taken::{LIBRARY, OF_DEVICE, RESERVED, RESERVED_PREFIXES};
use crate::ir::{Name, NameError, Nest, Tensor, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// Whether C or C++ uses a name for something else, so that it cannot be a local name.
pub(super) fn is_taken(text: &str) -> bool {
    has_taken_prefix(text) || RESERVED.contains(&text)
}

fn has_taken_prefix(text: &str) -> bool {
    let mut prefixes = RESERVED_PREFIXES.iter();
    prefixes.any(|prefix| text.starts_with(prefix))
}

/// Why a function cannot have a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SymbolError {
    /// The text is not a name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// C, C++, their libraries or teml's own code use the name.
    #[error(
        "`{0}` is reserved in generated C (the compiler, its library or teml's own code uses it)"
    )]
    Taken(String),
}

/// Checks that a function can be called `text`.
///
/// # Errors
/// It is not a name, or C, C++, their libraries or teml's own code use it.
pub fn check(text: &str) -> Result<(), SymbolError> {
    Name::new(text)?;
    if text == "main" || is_taken(text) || LIBRARY.contains(&text) {
        Err(SymbolError::Taken(text.to_owned()))
    } else {
        Ok(())
    }
}

/// A name for the function of a script's `label`.
pub fn from_label(label: &str) -> String {
    match check(label) {
        Ok(()) => label.to_owned(),
        Err(SymbolError::Taken(_)) if has_taken_prefix(label) => format!("{PREFIX}{label}"),
        Err(SymbolError::Taken(_)) => format!("{label}_kernel"),
        Err(_) => "kernel".to_owned(),
    }
}

/// The prefix of taken names.
const PREFIX: &str = "u_";

/// The C spelling of names of some nests, if it differs from the script's.
#[derive(Default)]
pub(super) struct Spelling {
    /// Tensors and loops with names that C needs itself.
    taken: BTreeMap<Name, Name>,
    /// Loops with the name of a tensor: in C a name has one meaning.
    loops: BTreeMap<Name, Name>,
    /// Arguments whose dimensions are read as one, as code reads them.
    joined: BTreeMap<Name, Name>,
}

impl Spelling {
    pub(super) fn of<'a>(
        tensors: impl IntoIterator<Item = &'a Name>,
        loops: impl IntoIterator<Item = &'a Name>,
        on_device: bool,
    ) -> Spelling {
        let is_taken = |text: &str| is_taken(text) || on_device && OF_DEVICE.contains(&text);
        let tensors: BTreeSet<&Name> = tensors.into_iter().collect();
        let loops: BTreeSet<&Name> = loops.into_iter().collect();
        let names: BTreeSet<&Name> = tensors.union(&loops).copied().collect();
        let mut used: BTreeSet<Name> = names.iter().map(|name| (*name).clone()).collect();
        let mut spelling = Spelling::default();
        for name in names.iter().filter(|name| is_taken(name.as_str())) {
            let mut text = format!("{PREFIX}{name}");
            let spelled = loop {
                match Name::new(&text) {
                    Ok(free) if used.contains(&free) => text = format!("{PREFIX}{text}"),
                    other => break other,
                }
            };
            if let Ok(spelled) = spelled {
                used.insert(spelled.clone());
                spelling.taken.insert((*name).clone(), spelled);
            }
        }
        for name in loops.intersection(&tensors) {
            let own = spelling.taken.get(*name).unwrap_or(name).clone();
            let mut number = 2;
            while !used.insert(own.derived(number)) {
                number += 1;
            }
            spelling.loops.insert((*name).clone(), own.derived(number));
        }
        spelling
    }

    /// The same, with names for arguments whose dimensions are read as one.
    pub(super) fn joining<'a>(
        mut self,
        joined: impl IntoIterator<Item = &'a Name>,
        used: &[&Name],
    ) -> Spelling {
        for name in joined {
            let own = self.taken.get(name).unwrap_or(name).derived("rows");
            let is_used = |name: &Name| {
                let mut spelled = self.taken.values().chain(self.loops.values());
                used.contains(&name) || spelled.any(|known| known == name)
            };
            let numbered = (2..).map(|number| own.derived(number));
            let mut free = std::iter::once(own.clone()).chain(numbered);
            if let Some(free) = free.find(|name| !is_used(name)) {
                self.joined.insert(name.clone(), free);
            }
        }
        self
    }

    /// The names that differ: in the script, in C, and why.
    pub(super) fn changes(&self) -> impl Iterator<Item = (String, &Name, &'static str)> {
        let taken = self.taken.iter();
        let taken = taken.map(|(name, c)| (name.to_string(), c, "C needs the name itself"));
        let loops = self.loops.iter();
        let loops = loops.map(|(name, c)| (format!("for {name}"), c, "a tensor has the name"));
        let joined = self.joined.iter();
        let joined = joined.map(|(name, c)| (name.to_string(), c, "its rows are read as one"));
        taken.chain(loops).chain(joined)
    }

    /// An argument as callers know it.
    pub(super) fn given(&self, tensor: &Tensor) -> Tensor {
        let tensor = tensor.as_given();
        match tensor.name().and_then(|name| self.taken.get(name)) {
            Some(spelled) => tensor.named(spelled.clone()),
            None => tensor,
        }
    }

    pub(super) fn tensor(&self, tensor: &Tensor) -> Tensor {
        match tensor.name().and_then(|name| self.of_tensor(name)) {
            Some(spelled) => tensor.named(spelled.clone()),
            None => tensor.clone(),
        }
    }

    fn of_tensor(&self, name: &Name) -> Option<&Name> {
        self.joined.get(name).or(self.taken.get(name))
    }

    /// A nest with all names spelled as in C.
    pub(super) fn nest(&self, nest: &Nest) -> Nest {
        if self.taken.is_empty() && self.loops.is_empty() && self.joined.is_empty() {
            return nest.clone();
        }
        let tensor = |name: &Name| self.of_tensor(name).cloned();
        let of_loop = |name: &Name| self.loops.get(name).or(self.taken.get(name)).cloned();
        let tree = |tree: &Tree| tree.rename_loops(&of_loop).rename_tensors(&tensor);
        nest.with_trees(nest.trees().iter().map(tree).collect())
    }
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
            ("double", "double_kernel"),
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
        let names = ["exp", "u_exp", "A", "for"].map(|text| Name::new(text).unwrap());
        let spelling = Spelling::of(&names, [], false);
        let changes: Vec<_> = spelling.changes().map(|(name, c, _)| (name, c)).collect();
        let [exp, own] = ["u_u_exp", "u_for"].map(|text| Name::new(text).unwrap());
        let expected = [("exp".to_owned(), &exp), ("for".to_owned(), &own)];
        assert_eq!(changes, expected);
    }

    #[test]
    fn loops_and_tensors_have_names_of_their_own() {
        let [i, i_2, exp] = ["i", "i_2", "exp"].map(|text| Name::new(text).unwrap());
        let spelling = Spelling::of([&i, &i_2, &exp], [&i, &exp], false);
        let changes = spelling.changes();
        let changes: Vec<_> = changes.map(|(name, c, _)| format!("{name} {c}")).collect();
        assert_eq!(changes, ["exp u_exp", "for exp u_exp_2", "for i i_3"]);
    }
}
