//! Conditions on sizes and scalars: which values of them a nest is for.
//!
//! A condition says of each size separately what it accepts: `N <= 32 && M % 8 == 0`. Of a scalar
//! it says which integer it is: `beta == 0`. Its text is that of scripts and of C.

use super::integer::gcd;
use super::name::{Name, Size};
use std::fmt;

/// Comparisons of sizes and scalars with numbers. All of them have to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    of: Vec<(Name, Accepted)>,
}

/// The values that are accepted of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The least one.
    pub least: i64,
    /// The greatest one. `None` if all large ones are accepted.
    pub most: Option<i64>,
    /// All are multiples of it.
    pub multiple: i64,
}

impl Accepted {
    /// Every value.
    pub const ALL: Accepted = Accepted {
        least: 0,
        most: None,
        multiple: 1,
    };

    /// The values of a size.
    pub fn of(size: &Size) -> Accepted {
        Accepted {
            least: size.least,
            most: Some(size.most),
            multiple: size.multiple,
        }
    }

    /// The values that both accept. `None` if 64 bits do not suffice.
    fn and(self, other: Accepted) -> Option<Accepted> {
        let most = match (self.most, other.most) {
            (Some(own), Some(other)) => Some(own.min(other)),
            (own, other) => own.or(other),
        };
        let common = gcd(self.multiple, other.multiple);
        let multiple = self.multiple.checked_mul(other.multiple / common)?;
        let up = self.least.max(other.least).checked_add(multiple - 1)?;
        let least = up.div_euclid(multiple) * multiple;
        let most = most.map(|most| most.div_euclid(multiple) * multiple);
        // One value needs no divisor, so that equal sets are equal.
        let multiple = if most == Some(least) { 1 } else { multiple };
        Some(Accepted {
            least,
            most,
            multiple,
        })
    }

    /// The only value.
    pub fn single(self) -> Option<i64> {
        let value = self.most.filter(|most| *most == self.least)?;
        self.has(value).then_some(value)
    }

    fn has(self, value: i64) -> bool {
        let is_small = self.most.is_none_or(|most| value <= most);
        self.least <= value && is_small && value % self.multiple == 0
    }

    /// The facts about a size that has only these values. `None` if it has no value then.
    pub fn within(self, size: &Size) -> Option<Size> {
        let both = self.and(Accepted::of(size))?;
        // Then the limit of the size is still the usual one.
        let is_limited = both.most? < size.most / both.multiple * both.multiple;
        let last = if is_limited { both.most? } else { size.most };
        let size = Size {
            least: both.least,
            most: last,
            multiple: both.multiple,
            ..size.clone()
        };
        (both.least <= both.most?).then(|| size.with_likely(size.likely))
    }
}

impl Condition {
    /// The condition that is written so.
    ///
    /// # Errors
    /// The text says what is wrong with it.
    pub fn parse(text: &str) -> Result<Condition, String> {
        let mut condition = Condition::default();
        for part in text.split("&&") {
            let (name, accepted) = comparison(part.trim())?;
            condition = condition
                .and(&Condition::on(name, accepted))
                .ok_or_else(|| format!("`{text}` has numbers that are too large"))?;
        }
        Ok(condition)
    }

    /// A condition on one size.
    pub fn on(name: Name, accepted: Accepted) -> Condition {
        Condition {
            of: vec![(name, accepted)],
        }
    }

    /// The values of a size. Its greatest one is left out if it is the usual one.
    pub fn of_facts(name: Name, size: &Size) -> Condition {
        let all = Accepted::of(size);
        let usual = Size::default().most;
        let most = all.most.filter(|most| *most != usual);
        Condition::on(name, Accepted { most, ..all })
    }

    /// Both conditions. `None` if 64 bits do not suffice.
    pub fn and(&self, other: &Condition) -> Option<Condition> {
        let mut of = self.of.clone();
        for (name, accepted) in &other.of {
            match of.iter_mut().find(|(known, _)| known == name) {
                Some((_, own)) => *own = own.and(*accepted)?,
                None => of.push((name.clone(), *accepted)),
            }
        }
        Some(Condition { of })
    }

    /// The same condition with these sizes in place of their names.
    pub(super) fn naming(&self, sizes: &[Name]) -> Condition {
        let of = self.of.iter().map(|(name, accepted)| {
            let size = sizes.iter().find(|size| *size == name);
            (size.unwrap_or(name).clone(), *accepted)
        });
        Condition { of: of.collect() }
    }

    /// Of the condition of a nest, the scalars and their numbers.
    pub fn scalars(&self) -> impl Iterator<Item = (&Name, i64)> {
        let of = self.of.iter().filter(|(name, _)| name.size().is_none());
        of.filter_map(|(name, accepted)| Some((name, accepted.single()?)))
    }

    /// Its text with other names of scalars.
    #[must_use]
    pub fn renamed(&self, new: &dyn Fn(&Name) -> Option<Name>) -> Condition {
        let of = self.of.iter().map(|(name, accepted)| {
            let new = Some(name)
                .filter(|name| name.size().is_none())
                .and_then(new);
            (new.unwrap_or_else(|| name.clone()), *accepted)
        });
        Condition { of: of.collect() }
    }

    /// The values that it accepts, for each size and scalar that it is about.
    pub fn of(&self) -> &[(Name, Accepted)] {
        &self.of
    }

    /// The values of a size that it accepts. `None` if it is not about the size.
    pub fn of_size(&self, name: &Name) -> Option<Accepted> {
        let (_, accepted) = self.of.iter().find(|(known, _)| known == name)?;
        Some(*accepted)
    }

    /// Whether it holds at values of sizes. A size without a value fails it.
    pub fn holds(&self, value: &dyn Fn(&Name) -> Option<i64>) -> bool {
        let mut of = self.of.iter();
        of.all(|(name, accepted)| value(name).is_some_and(|value| accepted.has(value)))
    }

    /// Whether the other condition holds wherever this one does.
    pub fn implies(&self, other: &Condition) -> bool {
        self.and(other).as_ref() == Some(self)
    }

    /// The comparisons that do not hold wherever the other condition does.
    #[must_use]
    pub fn beyond(&self, other: &Condition) -> Condition {
        let of = self.of.iter();
        let of = of.filter(|(name, own)| !other.implies(&Condition::on(name.clone(), *own)));
        Condition {
            of: of.cloned().collect(),
        }
    }

    /// Whether it holds nowhere.
    pub fn is_never(&self) -> bool {
        let is_empty = |a: &Accepted| a.most.is_some_and(|most| most < a.least);
        self.of.iter().any(|(_, accepted)| is_empty(accepted))
    }

    /// Whether it accepts everything.
    pub fn is_empty(&self) -> bool {
        let mut of = self.of.iter();
        of.all(|(_, accepted)| *accepted == Accepted::ALL)
    }
}

/// `N - 1` and a number that it compares with: `N`, and the number that this compares with.
fn without_offset(text: &str, number: i64) -> Option<(&str, i64)> {
    let Some(at) = text.find(['+', '-']) else {
        return Some((text, number));
    };
    let (name, offset) = text.split_at(at);
    let (sign, offset) = offset.split_at(1);
    let offset: i64 = offset.trim().parse().ok().filter(|offset| *offset >= 0)?;
    let other = if sign == "+" { -offset } else { offset };
    Some((name.trim(), number.checked_add(other)?))
}

/// `N <= 32`, `2 <= N - 1`, `N % 8 == 0`.
fn comparison(text: &str) -> Result<(Name, Accepted), String> {
    let wrong = || {
        format!(
            "`{text}` is not a comparison of a size or a scalar with an integer, such as `N <= 32`, \
             `N % 8 == 0` or `beta == 0`"
        )
    };
    const SIGNS: [(&str, &str); 5] = [
        ("<=", ">="),
        (">=", "<="),
        ("==", "=="),
        ("<", ">"),
        (">", "<"),
    ];
    let (at, sign, mirrored) = SIGNS
        .iter()
        .find_map(|(sign, mirrored)| Some((text.find(sign)?, *sign, *mirrored)))
        .ok_or_else(wrong)?;
    let (left, right) = (text[..at].trim(), text[at + sign.len()..].trim());
    let (left, sign, right) = match left.parse::<i64>() {
        Ok(_) => (right, mirrored, left),
        Err(_) => (left, sign, right),
    };
    let number: i64 = right.parse().map_err(|_| wrong())?;
    let (left, number) = without_offset(left, number).ok_or_else(wrong)?;
    let (name, divisor) = match left.split_once('%') {
        Some((name, divisor)) => (name.trim(), Some(divisor.trim())),
        None => (left, None),
    };
    let name = Name::new(name).map_err(|_| wrong())?;
    let accepted = match (divisor, sign, number) {
        (Some(divisor), "==", 0) => {
            let multiple: i64 = divisor.parse().map_err(|_| wrong())?;
            let accepted = (multiple >= 1).then_some(Accepted {
                multiple,
                ..Accepted::ALL
            });
            accepted.ok_or_else(wrong)?
        }
        (Some(_), ..) => return Err(wrong()),
        (None, "==", _) => Accepted {
            least: number,
            most: Some(number),
            ..Accepted::ALL
        },
        (None, "<=", _) => Accepted {
            most: Some(number),
            ..Accepted::ALL
        },
        (None, "<", _) => Accepted {
            most: Some(number.saturating_sub(1)),
            ..Accepted::ALL
        },
        (None, ">=", _) => Accepted {
            least: number.max(0),
            ..Accepted::ALL
        },
        (None, ..) => Accepted {
            least: number.saturating_add(1).max(0),
            ..Accepted::ALL
        },
    };
    Ok((name, accepted))
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        for (name, accepted) in &self.of {
            let Accepted {
                least,
                most,
                multiple,
            } = accepted;
            if *most == Some(*least) {
                parts.push(format!("{name} == {least}"));
                continue;
            }
            if *least > 0 {
                parts.push(format!("{name} >= {least}"));
            }
            if let Some(most) = most {
                parts.push(format!("{name} <= {most}"));
            }
            if *multiple > 1 {
                parts.push(format!("{name} % {multiple} == 0"));
            }
        }
        f.write_str(&parts.join(" && "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_conditions_are_read_and_written() {
        let cases = [
            ("N <= 32", "N <= 32"),
            ("N<33&&N>=2", "N >= 2 && N <= 32"),
            ("32 >= N && 1 < N", "N >= 2 && N <= 32"),
            ("N == 4", "N == 4"),
            ("N - 1 >= 7 && 9 >= N + 1", "N == 8"),
            (
                "M % 8 == 0 && M % 12 == 0 && K > 0",
                "M % 24 == 0 && K >= 1",
            ),
        ];
        for (text, written) in cases {
            let read = Condition::parse(text).unwrap();
            assert_eq!(read.to_string(), written);
            assert_eq!(Condition::parse(written).unwrap(), read);
        }
        for text in [
            "",
            "N",
            "N <= M",
            "N % 8 == 3",
            "N - M <= 3",
            "N - 1 - 1 <= 3",
            "N % 8 - 8 == 0",
            "N % 0 == 0",
            "2*N <= 3",
            "N != 3",
            "3 <= 4",
        ] {
            assert!(Condition::parse(text).is_err(), "{text:?} was accepted");
        }
    }

    #[test]
    fn what_is_known_is_left_out() {
        let known = Condition::parse("N <= 32 && M == 8").unwrap();
        let condition = Condition::parse("M >= 4 && N <= 8 && K == 1").unwrap();
        assert_eq!(condition.beyond(&known).to_string(), "N <= 8 && K == 1");
        assert!(known.beyond(&known).is_empty());
        let condition = Condition::parse("M % 4 == 0 && N <= 32").unwrap();
        assert!(known.implies(&condition) && !condition.implies(&known));
    }

    #[test]
    fn facts_of_sizes_are_narrowed() {
        let condition = Condition::parse("N >= 3 && N <= 20 && N % 8 == 0").unwrap();
        let (_, accepted) = &condition.of()[0];
        let size = accepted.within(&Size::default()).unwrap();
        assert_eq!(
            (size.least, size.most, size.multiple, size.likely),
            (8, 16, 8, 16)
        );
        for value in 0..40 {
            assert_eq!(accepted.has(value), size.has(value), "{value}");
        }
        let all = Condition::parse("N >= 0 && N % 1 == 0").unwrap();
        assert!(all.is_empty() && all.to_string().is_empty());
        let none = Condition::parse("N >= 9 && N <= 15 && N % 8 == 0").unwrap();
        assert!(none.is_never() && !condition.is_never());
        assert_eq!(none.of()[0].1.within(&Size::default()), None);
    }
}
