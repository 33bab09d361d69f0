//! Digits: quotients and remainders of iterators, as iterators of their own.
//!
//! Indices are affine, and a quotient is not. Until a definition is complete, `i / 5` and `i % 5`
//! are iterators with the names `i/5` and `i%5`, which no script can write. The assignment or the
//! reduction over `i` replaces all three by iterators of which `i` is a sum, `5*i_q + i_r`. So
//! assignments and nests have no digits.

use super::affine::Affine;
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

impl Affine {
    /// The quotient, rounded down, by a positive number. `None` if it is not affine in iterators
    /// and their digits.
    pub fn quotient(&self, divisor: i64) -> Option<Affine> {
        self.digit(divisor, None)
    }

    /// The remainder, from 0 on, of the division by a positive number. `None` if it is not affine
    /// in iterators and their digits.
    pub fn remainder(&self, modulus: i64) -> Option<Affine> {
        self.digit(1, Some(modulus))
    }

    /// The digit of an index. Multiples of the divisor leave a quotient, and multiples of the
    /// modulus leave a remainder. One iterator may be left over.
    pub fn digit(&self, divisor: i64, modulus: Option<i64>) -> Option<Affine> {
        let (whole, rest) = match modulus {
            None => self.parted(divisor),
            Some(modulus) => (Affine::default(), self.parted(modulus).1),
        };
        let left = match (rest.terms(), modulus) {
            ([], _) => Affine::constant(rest.offset() / divisor),
            ([(name, 1)], _) => digit_of(name, rest.offset(), divisor, modulus)?,
            (_, Some(modulus)) if divisor > 1 => {
                return rest.divided(divisor)?.remainder(modulus / divisor);
            }
            _ => return None,
        };
        Some(whole.plus(&left))
    }

    /// The part that is a multiple of a number, divided by it, and the rest.
    pub fn parted(&self, by: i64) -> (Affine, Affine) {
        let mut whole = Affine::constant(self.offset().div_euclid(by));
        let mut rest = Affine::constant(self.offset().rem_euclid(by));
        for (name, c) in self.terms() {
            let term = Affine::iterator(name.clone());
            if c % by == 0 {
                whole = whole.plus(&term.times(c / by));
            } else {
                rest = rest.plus(&term.times(*c));
            }
        }
        (whole, rest)
    }
}

/// The digit of an iterator, which may be a digit itself.
fn digit_of(name: &Name, offset: i64, divisor: i64, modulus: Option<i64>) -> Option<Affine> {
    let Some(outer) = Digit::named(name) else {
        let of = name.clone();
        let digit = Digit {
            of,
            offset,
            divisor,
            modulus,
        };
        return Some(Affine::iterator(digit.name()));
    };
    let scaled = |number: i64| outer.divisor.checked_mul(number);
    let (divisor, modulus) = (
        scaled(divisor)?,
        modulus.map_or(Some(None), |m| scaled(m).map(Some))?,
    );
    let modulus = match (outer.modulus, modulus) {
        (Some(of_outer), Some(own)) if own % of_outer == 0 => Some(of_outer),
        (Some(of_outer), Some(own)) if of_outer % own != 0 => return None,
        (of_outer, own) => own.or(of_outer),
    };
    if offset != 0 || modulus.is_some_and(|m| m % divisor != 0) {
        return None;
    }
    // An offset counts below the period.
    let (whole, offset) = match modulus {
        Some(modulus) => (0, outer.offset.rem_euclid(modulus)),
        None => (outer.offset / divisor, outer.offset % divisor),
    };
    let digit = Digit {
        of: outer.of,
        offset,
        divisor,
        modulus,
    };
    Some(Affine::iterator(digit.name()).plus_constant(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn it(name: &str) -> Affine {
        Affine::iterator(Name::new(name).unwrap())
    }

    /// The value of an index whose iterators are digits.
    fn value(index: &Affine, point: &dyn Fn(&Name) -> i64) -> i64 {
        let of = |name: &Name| match Digit::named(name) {
            None => Some(point(name)),
            Some(digit) => {
                let shifted = point(&digit.of) + digit.offset;
                let left = digit.modulus.map_or(shifted, |m| shifted.rem_euclid(m));
                Some(left.div_euclid(digit.divisor))
            }
        };
        index.evaluate(&of).unwrap()
    }

    #[test]
    fn digits_of_digits_are_what_they_say() {
        let (i, k) = (it("i"), it("k"));
        let indices = [
            i.clone(),
            i.plus_constant(-7),
            i.times(6).plus(&k).plus_constant(-1),
            i.times(4).plus_constant(9),
        ];
        let mut made = 0;
        for index in &indices {
            let firsts = [
                (1, Some(12)),
                (3, None),
                (2, Some(12)),
                (6, Some(12)),
                (12, None),
            ];
            for (divisor, modulus) in firsts {
                let Some(first) = index.digit(divisor, modulus) else {
                    continue;
                };
                for (by, within) in [
                    (1, None),
                    (2, None),
                    (1, Some(2)),
                    (1, Some(6)),
                    (3, Some(6)),
                ] {
                    let Some(second) = first.digit(by, within) else {
                        continue;
                    };
                    made += 1;
                    for n in -30..30 {
                        let point = |name: &Name| if name.as_str() == "i" { n } else { n / 7 + 2 };
                        let of_index = value(index, &point);
                        let part = |n: i64, divisor: i64, modulus: Option<i64>| {
                            modulus.map_or(n, |m| n.rem_euclid(m)).div_euclid(divisor)
                        };
                        let expected = part(part(of_index, divisor, modulus), by, within);
                        assert_eq!(
                            value(&second, &point),
                            expected,
                            "{index}: {first}: {second}"
                        );
                    }
                }
            }
        }
        assert!(made > 40, "{made}");
    }

    #[test]
    fn names_say_all_of_a_digit() {
        for (text, expected) in [
            (it("i").quotient(5), "i/5"),
            (it("i").remainder(5), "i%5"),
            (it("i").plus_constant(-1).quotient(5), "(i + 4)/5 - 1"),
            (it("i").remainder(15).and_then(|r| r.quotient(5)), "i%15/5"),
            (it("i").times(5).plus(&it("k")).remainder(5), "k%5"),
            (it("i").quotient(5).map(|q| q.times(2)), "2*(i/5)"),
        ] {
            assert_eq!(text.unwrap().to_string(), expected);
        }
        let digit = Digit {
            of: Name::new("i").unwrap(),
            offset: 3,
            divisor: 5,
            modulus: Some(15),
        };
        assert_eq!(Digit::named(&digit.name()), Some(digit));
        assert_eq!(it("i").plus(&it("k")).quotient(5), None);
    }
}
