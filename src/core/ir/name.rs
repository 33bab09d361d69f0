//! Names of tensors, iterators, loops and sizes.
//!
//! A name is checked once, at its entry, and trusted from then on. `codegen::symbol` renames names
//! that the language of the generated code reserves. Derived names (`i_o`, `i_i`, `i4`) are
//! deterministic. They are built from checked names and need no second check.
//!
//! A size is a number that a kernel gets when it is called. Wherever an affine expression may have
//! an iterator, it may have a size. The name of a size carries the facts about it ([`Size`]), so
//! that shapes, ranges and nests need no list of sizes beside them.

use super::integer::gcd;
use std::any::Any;
use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// An identifier: ASCII letters, digits and `_`, at most 63. Cheap to clone. Equal by its text.
#[derive(Clone, Debug)]
pub struct Name {
    text: Arc<str>,
    size: Option<Arc<Size>>,
    read: Option<Arc<Read>>,
}

/// An element of a tensor of integers, where an index expression has it in place of an iterator. The
/// operation that takes the index gives it an iterator.
#[derive(Debug)]
pub(super) struct Read {
    /// The tensor, which is built from names.
    pub tensor: Arc<dyn Any + Send + Sync>,
    /// For each dimension, iterators with their factors, and a number.
    pub index: Vec<(Vec<(Name, i64)>, i64)>,
}

/// The facts about a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// The least value, at least 0.
    pub least: i64,
    /// The greatest value.
    pub most: i64,
    /// All values are multiples of it.
    pub multiple: i64,
    /// The value that schedules and cost models assume. It decides no meaning.
    pub likely: i64,
    /// The sizes that it is derived from, if it is a quotient.
    pub of: Option<Quotient>,
}

/// (terms + offset) / divisor, rounded down: a derived size. Nothing else in a nest divides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quotient {
    /// Sizes with their factors.
    pub terms: Vec<(Name, i64)>,
    /// A number.
    pub offset: i64,
    /// At least 2.
    pub divisor: i64,
}

impl Default for Size {
    fn default() -> Size {
        Size {
            least: 0,
            most: i32::MAX.into(),
            multiple: 1,
            likely: 1000,
            of: None,
        }
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        self.text == other.text
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Name) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Name) -> Ordering {
        self.text.cmp(&other.text)
    }
}

/// Why a text is not a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The text is empty.
    #[error("a name cannot be empty")]
    Empty,
    /// The text contains a character that names cannot have.
    #[error("`{name}` is not a name: {}", describe(*.bad, *.first))]
    NotAnIdentifier {
        name: String,
        /// The first character at fault.
        bad: char,
        /// Whether it is the first character of the text.
        first: bool,
    },
    /// The text starts like the names that [`Name::generated`] makes.
    #[error("`{0}` is reserved: a name cannot start with `_`")]
    Reserved(String),
    /// The text is longer than a name may be.
    #[error("a name of {0} characters is too long: at most 63 are allowed")]
    TooLong(usize),
}

fn describe(bad: char, first: bool) -> String {
    match (bad, first) {
        (c, true) if c.is_ascii_digit() => format!("it starts with the digit `{c}`"),
        (' ', _) => "it holds a space".to_owned(),
        (c, _) if c.is_control() => format!("it holds the control character {c:?}"),
        (c, _) => format!("a name cannot contain `{c}`"),
    }
}

impl Name {
    /// Checks that `text` can name a tensor, an iterator or a kernel.
    ///
    /// # Errors
    /// [`NameError`] says what is wrong with it.
    pub fn new(text: &str) -> Result<Name, NameError> {
        let Some(first) = text.chars().next() else {
            return Err(NameError::Empty);
        };
        let bad = if first.is_ascii_alphabetic() || first == '_' {
            text.chars()
                .find(|c| !c.is_ascii_alphanumeric() && *c != '_')
        } else {
            Some(first)
        };
        if let Some(bad) = bad {
            let name = text.chars().take(40).collect();
            let first = bad == first;
            return Err(NameError::NotAnIdentifier { name, bad, first });
        }
        if text.len() > 63 {
            return Err(NameError::TooLong(text.len()));
        }
        if text.starts_with('_') {
            return Err(NameError::Reserved(text.to_owned()));
        }
        Ok(Name::trusted(text.to_owned()))
    }

    /// The size with this name.
    #[must_use]
    pub fn with_size(&self, size: Size) -> Name {
        Name {
            text: self.text.clone(),
            size: Some(Arc::new(size)),
            read: None,
        }
    }

    /// The name of an element, which no script can write as a name.
    pub(super) fn of_read(text: String, read: Read) -> Name {
        Name {
            read: Some(Arc::new(read)),
            ..Name::trusted(text)
        }
    }

    /// Whether it is the name of an element of a tensor.
    pub fn is_read(&self) -> bool {
        self.read.is_some()
    }

    /// The element that has this name, if it is not an iterator.
    pub(super) fn read(&self) -> Option<&Read> {
        self.read.as_deref()
    }

    /// Adds the sizes from which the derived ones among `found` are made.
    pub(super) fn add_parts(found: &mut Vec<Name>) {
        let mut next = 0;
        while let Some(name) = found.get(next).cloned() {
            let of = name.size().and_then(|size| size.of.as_ref());
            for (part, _) in of.iter().flat_map(|quotient| &quotient.terms) {
                if !found.contains(part) {
                    found.push(part.clone());
                }
            }
            next += 1;
        }
    }

    /// How many quotients it takes to derive a size: 0 for any other name.
    pub(super) fn derivation(&self) -> usize {
        let of = self.size().and_then(|size| size.of.as_ref());
        of.map_or(0, |quotient| {
            let parts = quotient.terms.iter().map(|(part, _)| part.derivation());
            1 + parts.max().unwrap_or(0)
        })
    }

    /// The facts about the size, if it is one.
    pub fn size(&self) -> Option<&Size> {
        self.size.as_deref()
    }

    /// The iterator of an operation that names none, numbered from 1: `_1`, `_2` …
    ///
    /// `build` renames such iterators. Scripts cannot write them.
    pub fn generated(number: usize) -> Name {
        Name::trusted(format!("_{number}"))
    }

    /// A name that is built from checked names.
    pub(super) fn trusted(text: String) -> Name {
        Name {
            text: text.into(),
            size: None,
            read: None,
        }
    }

    pub fn is_generated(&self) -> bool {
        self.text.starts_with('_')
    }

    /// A name derived from this one: `i` and `o` give `i_o`.
    pub fn derived(&self, suffix: impl fmt::Display) -> Name {
        Name::trusted(format!("{}_{suffix}", self.text))
    }

    /// The iterator that TeML gives to nesting level `level` (§2): `i1`, `i2` …
    pub fn of_level(level: usize) -> Name {
        Name::trusted(format!("i{level}"))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.text
    }
}

impl Size {
    /// The same size with another likely value, or the closest to it that it has.
    #[must_use]
    pub fn with_likely(&self, likely: i64) -> Size {
        let multiple = likely / self.multiple * self.multiple;
        Size {
            likely: multiple.max(self.least).min(self.most),
            ..self.clone()
        }
    }

    /// The facts that were given, by their names in scripts.
    pub fn facts(&self) -> Vec<(&'static str, i64)> {
        let usual = Size::default();
        let facts = [
            ("least", self.least, usual.least),
            ("most", self.most, usual.most),
            ("multiple", self.multiple, usual.multiple),
            ("likely", self.likely, usual.likely),
        ];
        let given = facts.iter().filter(|(_, value, usual)| value != usual);
        given.map(|(fact, value, _)| (*fact, *value)).collect()
    }

    /// Whether a number is one of its values.
    pub fn has(&self, value: i64) -> bool {
        (self.least..=self.most).contains(&value) && value % self.multiple == 0
    }
}

impl fmt::Display for Quotient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sum = String::new();
        for (name, c) in &self.terms {
            let sign = if *c < 0 { "-" } else { "+" };
            let factor = match c.unsigned_abs() {
                1 => String::new(),
                c => format!("{c}*"),
            };
            sum.push_str(&format!(" {sign} {factor}{name}"));
        }
        match self.offset {
            0 => {}
            offset if offset < 0 => sum.push_str(&format!(" - {}", offset.unsigned_abs())),
            offset => sum.push_str(&format!(" + {offset}")),
        }
        let sum = match sum.strip_prefix(" + ") {
            Some(sum) => sum.to_owned(),
            None => sum.replacen(" - ", "-", 1),
        };
        match sum.contains(' ') {
            true => write!(f, "({sum}) / {}", self.divisor),
            false => write!(f, "{sum} / {}", self.divisor),
        }
    }
}

impl Quotient {
    /// The derived size with this value. `None` if a term is not a size.
    pub fn named(self) -> Option<Name> {
        let sizes: Option<Vec<(&Size, i64)>> = {
            let terms = self.terms.iter();
            terms.map(|(name, c)| Some((name.size()?, *c))).collect()
        };
        let likely = sizes?
            .into_iter()
            .map(|(size, c)| size.likely.saturating_mul(c));
        let likely = likely.fold(self.offset, i64::saturating_add);
        let (least, most) = ends_of_sum(&self.terms, self.offset)?;
        let size = Size {
            least: least.div_euclid(self.divisor),
            most: most.div_euclid(self.divisor),
            multiple: 1,
            likely: likely.div_euclid(self.divisor),
            of: Some(self.clone()),
        };
        let mut text = String::new();
        for (name, c) in &self.terms {
            match c {
                1 => {}
                -1 => text.push('m'),
                c if *c < 0 => text.push_str(&format!("m{}", c.unsigned_abs())),
                c => text.push_str(&c.to_string()),
            }
            text.push_str(name.as_str());
            text.push('_');
        }
        match self.offset {
            0 => {}
            offset if offset < 0 => text.push_str(&format!("m{}_", offset.unsigned_abs())),
            offset => text.push_str(&format!("p{offset}_")),
        }
        let starts_well = text.starts_with(|c: char| c.is_ascii_alphabetic());
        let letter = if starts_well { "" } else { "q" };
        let name = Name::trusted(format!("{letter}{text}{}", self.divisor));
        Some(name.with_size(size))
    }

    /// Its value at values of the sizes. `None` if one is unknown.
    pub fn at(&self, value: &dyn Fn(&Name) -> Option<i64>) -> Option<i64> {
        let terms = self.terms.iter();
        let mut terms = terms.map(|(name, c)| value(name)?.checked_mul(*c));
        let sum = terms.try_fold(self.offset, |sum, term| sum.checked_add(term?));
        sum.map(|sum| sum.div_euclid(self.divisor))
    }
}

/// The least and the greatest value of a sum of sizes. Quotients move with what they are made of:
/// `M - 8*M_8` is in 0..8, and `4*M_4 - 8*M_8` is 0 or 4. `None` if a term is not a size.
pub(super) fn ends_of_sum(terms: &[(Name, i64)], offset: i64) -> Option<(i64, i64)> {
    let (mut least, mut most) = (offset, offset);
    for (name, c) in terms {
        let size = name.size()?;
        let ends = [size.least, size.most].map(|end| end.saturating_mul(*c));
        least = least.saturating_add(ends[0].min(ends[1]));
        most = most.saturating_add(ends[0].max(ends[1]));
    }
    for (k, (name, c)) in terms.iter().enumerate() {
        let Some(of) = name.size()?.of.as_ref().filter(|of| c % of.divisor == 0) else {
            continue;
        };
        // divisor*quotient is the dividend without a remainder in 0..divisor.
        let by = c / of.divisor;
        let mut left: Vec<(Name, i64)> = terms.to_vec();
        left.remove(k);
        for (part, own) in &of.terms {
            let more = own.saturating_mul(by);
            match left.iter_mut().find(|(known, _)| known == part) {
                Some((_, c)) => *c = c.saturating_add(more),
                None => left.push((part.clone(), more)),
            }
        }
        left.retain(|(_, c)| *c != 0);
        let offset = offset.saturating_add(of.offset.saturating_mul(by));
        let (low, high) = ends_of_sum(&left, offset)?;
        let rest = (of.divisor - 1).saturating_mul(by);
        least = least.max(low.saturating_sub(rest.max(0)));
        most = most.min(high.saturating_sub(rest.min(0)));
    }
    let common = terms.iter().fold(0, |common, (_, c)| gcd(common, c.abs()));
    if common > 1 {
        // It differs from the offset by multiples of this number.
        let up = |value: i64| value.saturating_add((offset - value).rem_euclid(common));
        let down = |value: i64| value.saturating_sub((value - offset).rem_euclid(common));
        (least, most) = (up(least), down(most));
    }
    Some((least, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_move_with_their_dividends() {
        let size = Name::trusted("M".to_owned()).with_size(Size::default());
        let quotient = |terms: &[(&Name, i64)], divisor| {
            let terms = terms
                .iter()
                .map(|(name, c)| ((*name).clone(), *c))
                .collect();
            let offset = 0;
            Quotient {
                terms,
                offset,
                divisor,
            }
        };
        let by = |divisor| quotient(&[(&size, 1)], divisor).named().unwrap();
        let (by_24, by_8, by_4) = (by(24), by(8), by(4));
        let rest = [(&size, 1), (&by_24, -24)];
        let of_rest = quotient(&rest, 16).named().unwrap();
        assert_eq!(
            of_rest.size().map(|size| (size.least, size.most)),
            Some((0, 1))
        );
        let cases = [
            (rest.to_vec(), (0, 23)),
            (vec![(&by_4, 4), (&by_8, -8)], (0, 4)),
            (vec![(&size, 1), (&by_24, -24), (&of_rest, -16)], (0, 15)),
            (vec![(&by_8, 8), (&by_24, -24), (&of_rest, -16)], (0, 8)),
        ];
        for (terms, ends) in cases {
            let terms: Vec<_> = terms.iter().map(|(n, c)| ((*n).clone(), *c)).collect();
            let found = ends_of_sum(&terms, 0).unwrap();
            assert_eq!(found, ends, "{terms:?}");
            for value in 0..500 {
                let known = |name: &Name| (*name == size).then_some(value);
                let at = |name: &Name| {
                    let of = name.size()?.of.as_ref();
                    let inner = |name: &Name| match &name.size()?.of {
                        None => known(name),
                        Some(of) => of.at(&known),
                    };
                    of.map_or_else(|| known(name), |of| of.at(&inner))
                };
                let sum: i64 = terms.iter().map(|(n, c)| at(n).unwrap() * c).sum();
                assert!(ends.0 <= sum && sum <= ends.1, "{value}: {sum}");
            }
        }
    }

    #[test]
    fn rejects_texts_that_are_not_identifiers() {
        for text in ["", "A; system(\"rm\")", "3x", "a b", "_x", "é", "a\nb"] {
            assert!(Name::new(text).is_err(), "{text:?} was accepted");
        }
        for text in ["A", "Dt", "i_o", "i1", "kh", "a_very_long_name"] {
            assert!(Name::new(text).is_ok(), "{text:?} was refused");
        }
    }
}
