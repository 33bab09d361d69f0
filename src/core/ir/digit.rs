//! Digits: quotients and remainders of iterators, as iterators of their own.
//!
//! Indices are affine, and a quotient is not. Until a definition is complete, `i / 5` and `i % 5`
//! are iterators with the names `i/5` and `i%5`, which no script can write. The assignment or the
//! reduction over `i` replaces all three by iterators, with `5*i_q + i_r` for `i`. So assignments
//! and nests have no digits.

use super::name::Name;
use std::fmt;

/// (`of` + `offset`) mod `modulus` div `divisor`, rounded down. Without a modulus, it is a
/// quotient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digit {
    pub of: Name,
    /// From 0 on, below the modulus, or else below the divisor.
    pub offset: i64,
    /// At least 1.
    pub divisor: i64,
    /// A multiple of the divisor.
    pub modulus: Option<i64>,
}

impl Digit {
    /// The digit that has this name, if it is that of one.
    pub fn named(name: &Name) -> Option<Digit> {
        let text = name.as_str();
        let end = text.find(['/', '%'])?;
        let (of, digits) = text.split_at(end);
        let shifted = of.strip_prefix('(').and_then(|of| of.strip_suffix(')'));
        let (of, offset) = match shifted {
            Some(sum) => sum.split_once(" + ")?,
            None => (of, "0"),
        };
        let (modulus, divisor) = digits.split_once('/').unwrap_or((digits, "1"));
        Some(Digit {
            of: Name::trusted(of.to_owned()),
            offset: offset.parse().ok()?,
            divisor: divisor.parse().ok()?,
            modulus: modulus.strip_prefix('%').and_then(|m| m.parse().ok()),
        })
    }

    /// Its name as an iterator.
    pub fn name(&self) -> Name {
        Name::trusted(self.to_string())
    }

    /// The number after which it repeats or, for a quotient, that it divides by.
    pub fn period(&self) -> i64 {
        self.modulus.unwrap_or(self.divisor)
    }
}

impl fmt::Display for Digit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            0 => write!(f, "{}", self.of)?,
            offset => write!(f, "({} + {offset})", self.of)?,
        }
        if let Some(modulus) = self.modulus {
            write!(f, "%{modulus}")?;
        }
        match self.divisor {
            1 => Ok(()),
            divisor => write!(f, "/{divisor}"),
        }
    }
}

impl Name {
    /// The iterator that this is a digit of, or itself.
    pub fn base(&self) -> Name {
        Digit::named(self).map_or_else(|| self.clone(), |digit| digit.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_all_of_a_digit() {
        for (offset, divisor, modulus, text) in [
            (0, 5, None, "i/5"),
            (0, 1, Some(5), "i%5"),
            (3, 5, Some(15), "(i + 3)%15/5"),
        ] {
            let digit = Digit {
                of: Name::new("i").unwrap(),
                offset,
                divisor,
                modulus,
            };
            assert_eq!(digit.name().as_str(), text);
            assert_eq!(Digit::named(&digit.name()), Some(digit));
        }
        assert_eq!(Digit::named(&Name::new("i_o").unwrap()), None);
    }
}
