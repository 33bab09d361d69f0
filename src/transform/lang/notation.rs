//! The notations, with their names and the extensions of their files.

use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// The model language (Rink 2018).
    Model,
    /// TeIL (Rink and Castrillon 2019).
    Teil,
    /// Tensor comprehensions of SaC (Scholz and Šinkarovs 2019).
    Sac,
    /// The operator language of the TeIL paper (§5).
    Operators,
    /// TeML's calls, as scripts use them.
    Teml,
}

impl Notation {
    /// The notations that can be read.
    pub const ALL: [Notation; 4] = [
        Notation::Model,
        Notation::Teil,
        Notation::Sac,
        Notation::Operators,
    ];

    /// Its name in scripts.
    pub const fn name(self) -> &'static str {
        match self {
            Notation::Model => "model",
            Notation::Teil => "teil",
            Notation::Sac => "sac",
            Notation::Operators => "operators",
            Notation::Teml => "teml",
        }
    }

    /// The notation of a file, by the extension of its name.
    pub fn of_file(path: &Path) -> Option<Notation> {
        let extension = path.extension()?.to_str()?;
        Notation::ALL
            .into_iter()
            .find(|n| n.extension() == extension)
    }

    /// The extension of its files, without the dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Notation::Model => "tml",
            Notation::Teil => "teil",
            Notation::Sac => "sac",
            Notation::Operators => "op",
            Notation::Teml => "rhai",
        }
    }

    /// Its title in messages.
    pub const fn title(self) -> &'static str {
        match self {
            Notation::Model => "the model language",
            Notation::Teil => "TeIL",
            Notation::Sac => "SaC",
            Notation::Operators => "the operator language",
            Notation::Teml => "TeML",
        }
    }
}
