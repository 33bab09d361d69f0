//! Values that say themselves how people see them.

use rhai::{Dynamic, Engine, Variant};

/// A value of these functions, as people see it.
pub trait Shown: Variant + Clone {
    /// Its type, in a user's words.
    const NAME: &'static str;

    /// All of it, for `print` and for the REPL if it is the only value shown.
    fn full(&self) -> String;

    /// One line, for use inside lists and maps.
    fn brief(&self) -> String;
}

/// Registers a type and how it prints.
pub fn register_shown<T: Shown>(engine: &mut Engine) {
    engine
        .register_type_with_name::<T>(T::NAME)
        .register_fn("to_string", |value: &mut T| value.full())
        .register_fn("to_debug", |value: &mut T| value.brief());
}

/// A type of values that is [`Shown`].
pub struct Shows {
    /// The name of the type.
    pub name: &'static str,
    /// A value of this type, in full or in brief.
    pub text: fn(&Dynamic, bool) -> Option<String>,
}

impl Shows {
    /// Of a type.
    pub const fn of<T: Shown>() -> Shows {
        Shows {
            name: T::NAME,
            text: |value, full| {
                let value = value.read_lock::<T>()?;
                Some(if full { value.full() } else { value.brief() })
            },
        }
    }
}

/// A text of at most `limit` characters.
pub fn shorten(text: String, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
