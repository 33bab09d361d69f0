//! What is wrong with a part of a line, before it is known where that is.

/// What is wrong at the place where a cursor is.
#[derive(Debug)]
pub(super) struct Wrong(Box<(String, Option<String>)>);

impl Wrong {
    /// What texts do not say in this way, and how they do.
    pub(super) fn unsupported(what: impl Into<String>, help: impl Into<String>) -> Wrong {
        let what = format!("{} is not supported", what.into());
        Wrong(Box::new((what, Some(help.into()))))
    }

    /// What is wrong, in words.
    pub(super) fn into_text(self) -> String {
        self.0.0
    }

    /// What is wrong, in words, and what helps.
    pub(super) fn into_parts(self) -> (String, Option<String>) {
        *self.0
    }
}

impl From<String> for Wrong {
    fn from(what: String) -> Wrong {
        Wrong(Box::new((what, None)))
    }
}
