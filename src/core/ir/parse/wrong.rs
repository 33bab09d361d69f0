//! An error in a line, before its position is known.

/// An error at the cursor.
#[derive(Debug)]
pub(super) struct Wrong(Box<Parts>);

/// The message of an error, and its place.
#[derive(Debug)]
pub(super) struct Parts {
    /// The error: what was expected or found.
    pub(super) what: String,
    /// The message at its place; may be empty.
    pub(super) label: String,
    /// The text to write instead.
    pub(super) help: Option<String>,
}

impl Wrong {
    /// A construct that texts do not support, and its replacement.
    pub(super) fn unsupported(what: impl Into<String>, help: impl Into<String>) -> Wrong {
        let wrong = Wrong::from(format!("{} is not supported", what.into()));
        wrong.label("texts of nests do not have this").help(help)
    }

    /// Adds a message at the place.
    #[must_use]
    pub(super) fn label(mut self, label: impl Into<String>) -> Wrong {
        self.0.label = label.into();
        self
    }

    /// Says what to write instead.
    #[must_use]
    pub(super) fn help(mut self, help: impl Into<String>) -> Wrong {
        self.0.help = Some(help.into());
        self
    }

    /// Suggests the name `near`, or else says `otherwise`.
    #[must_use]
    pub(super) fn suggest(self, near: Option<&str>, otherwise: impl Into<String>) -> Wrong {
        match near {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None => self.help(otherwise),
        }
    }

    /// The message.
    pub(super) fn into_text(self) -> String {
        self.0.what
    }

    pub(super) fn into_parts(self) -> Parts {
        *self.0
    }
}

impl From<String> for Wrong {
    fn from(what: String) -> Wrong {
        Wrong(Box::new(Parts {
            what,
            label: String::new(),
            help: None,
        }))
    }
}
