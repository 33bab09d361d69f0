//! The trait of values that scripts print and take apart.

use rhai::{Dynamic, Engine, Variant};

/// A value of these functions, as people see it.
pub trait Shown: Variant + Clone {
    /// Its type, in a user's words.
    const NAME: &'static str;

    /// All of it, for `print` and for the REPL if it is the only value shown.
    fn full(&self) -> String;

    /// One line, for use inside lists and maps.
    fn brief(&self) -> String;

    /// Registers the properties and methods that scripts see.
    fn members(_engine: &mut Engine) {}
}

/// A type of values that is [`Shown`].
pub struct Shows {
    /// The name of the type.
    pub name: &'static str,
    /// A value of this type, in full or in brief.
    pub text: fn(&Dynamic, bool) -> Option<String>,
    /// Registers the type, how it prints, and its members.
    pub register: fn(&mut Engine),
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
            register: |engine| {
                engine
                    .register_type_with_name::<T>(T::NAME)
                    .register_fn("to_string", |value: &mut T| value.full())
                    .register_fn("to_debug", |value: &mut T| value.brief());
                T::members(engine);
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
