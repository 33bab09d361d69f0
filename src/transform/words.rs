//! Words for the values of an enumeration.

use super::args::Text;
use super::failure::Error;
use super::param::{Kind, Takes};
use super::refusals::not_one_of;
use crate::ir::Arg;

/// One of a few words.
pub trait Word: Sized + 'static {
    /// The words, in the order in which messages list them.
    const WORDS: &'static [&'static str];

    /// The value of the word.
    fn from_word(word: &str) -> Option<Self>;
}

impl<T: Word> Takes for T {
    const KIND: Kind = Kind::Word(T::WORDS);
    type Value<'a> = T;

    fn decode(arg: &Arg, parameter: &str) -> Result<T, Error> {
        let word = Text::decode(arg, parameter)?;
        T::from_word(word).ok_or_else(|| not_one_of(parameter, word, T::WORDS))
    }
}

/// Declares an enumeration whose values scripts pass as words.
macro_rules! words {
    ($(#[$of:meta])* $visible:vis enum $name:ident {
        $($(#[$each:meta])* $value:ident = $word:literal,)*
    }) => {
        $(#[$of])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visible enum $name {
            $($(#[$each])* $value,)*
        }

        impl $crate::words::Word for $name {
            const WORDS: &'static [&'static str] = &[$($word),*];

            fn from_word(word: &str) -> Option<$name> {
                match word {
                    $($word => Some($name::$value),)*
                    _ => None,
                }
            }
        }
    };
}
pub(super) use words;
