//! An error in a line, before its position is known.

/// An error at the cursor.
#[derive(Debug)]
pub(super) struct Wrong(Box<(String, Option<String>)>);

impl Wrong {
    /// A construct that texts do not support, and its replacement.
    pub(super) fn unsupported(what: impl Into<String>, help: impl Into<String>) -> Wrong {
        let what = format!("{} is not supported", what.into());
        Wrong(Box::new((what, Some(help.into()))))
    }

    /// The message.
    pub(super) fn into_text(self) -> String {
        self.0.0
    }

    /// The message and the help.
    pub(super) fn into_parts(self) -> (String, Option<String>) {
        *self.0
    }
}

impl From<String> for Wrong {
    fn from(what: String) -> Wrong {
        Wrong(Box::new((what, None)))
    }
}
