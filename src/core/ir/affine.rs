//! Affine index expressions: `i`, `i + kh`, `2*i - 1`, a constant.

use super::digit::Digit;
use super::name::{Name, Quotient, ends_of_sum};
use std::fmt;

/// A sum of iterators with integer coefficients and a constant.
///
/// Terms are sorted by name and have non-zero coefficients, so equality is structural. Arithmetic
/// saturates. [`Affine::is_in_limits`] tells whether a value is exact, and every index that enters
/// an expression or a nest is checked with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Affine {
    terms: Vec<(Name, i64)>,
    constant: i64,
}

/// Coefficients and constants stay below this in absolute value, so that no index computed from
/// them overflows 64 bits.
const LIMIT: u64 = 1 << 40;

impl Affine {
    /// The constant `value`.
    pub fn constant(value: i64) -> Affine {
        Affine {
            terms: Vec::new(),
            constant: value,
        }
    }

    /// The iterator `name` alone.
    pub fn iterator(name: Name) -> Affine {
        Affine {
            terms: vec![(name, 1)],
            constant: 0,
        }
    }

    /// The size `name`. Where it is a multiple of a number, that number is a factor.
    pub fn size(name: Name) -> Affine {
        let multiple = name.size().map_or(1, |size| size.multiple);
        let whole = Affine::iterator(name);
        let quotient = (multiple > 1).then(|| whole.quotient_of_sizes(multiple));
        quotient
            .flatten()
            .map_or(whole, |quotient| quotient.times(multiple))
    }

    /// The iterators and their coefficients, by name.
    pub fn terms(&self) -> &[(Name, i64)] {
        &self.terms
    }

    /// The constant part.
    pub fn offset(&self) -> i64 {
        self.constant
    }

    /// The coefficient of `name`, 0 if it does not occur.
    pub fn coefficient(&self, name: &Name) -> i64 {
        self.terms
            .binary_search_by(|(n, _)| n.cmp(name))
            .map_or(0, |k| self.terms[k].1)
    }

    /// Whether `name` occurs.
    pub fn mentions(&self, name: &Name) -> bool {
        self.coefficient(name) != 0
    }

    /// The least and the greatest value for all sizes. `None` if it has iterators.
    pub fn ends(&self) -> Option<(i64, i64)> {
        ends_of_sum(&self.terms, self.constant)
    }

    /// The quotient of an expression of sizes by a number of at least 2, rounded down: a derived
    /// size, or an expression where it divides evenly. `None` if it has iterators.
    pub fn quotient_of_sizes(&self, divisor: i64) -> Option<Affine> {
        if let Some(exact) = self.divided(divisor) {
            return Some(exact);
        }
        let (whole, rest) = self.parted(divisor);
        if !rest.is_fixed() {
            return None;
        }
        if rest.terms.is_empty() {
            return Some(whole);
        }
        let quotient = Quotient {
            terms: rest.terms.clone(),
            offset: rest.constant,
            divisor,
        };
        Some(whole.plus(&Affine::iterator(quotient.named()?)))
    }

    /// The iterators in it: its names, without sizes.
    pub fn iterators(&self) -> impl Iterator<Item = &Name> {
        let names = self.terms.iter().map(|(name, _)| name);
        names.filter(|name| name.size().is_none())
    }

    /// The sizes in it.
    pub fn sizes(&self) -> impl Iterator<Item = &Name> {
        let names = self.terms.iter().map(|(name, _)| name);
        names.filter(|name| name.size().is_some())
    }

    /// Whether it is the same in all iterations of all loops.
    pub fn is_fixed(&self) -> bool {
        self.iterators().next().is_none()
    }

    /// Its value if all sizes are the likely ones. `None` if it has iterators.
    pub fn likely(&self) -> Option<i64> {
        self.evaluate(&|name| Some(name.size()?.likely))
    }

    /// The value, if no iterator occurs.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The iterator, if the expression is a single iterator.
    pub fn as_iterator(&self) -> Option<&Name> {
        match (self.terms.as_slice(), self.constant) {
            ([(name, 1)], 0) => Some(name),
            _ => None,
        }
    }

    /// The sum.
    #[must_use]
    pub fn plus(&self, other: &Affine) -> Affine {
        self.plus_scaled(other, 1)
    }

    /// The difference.
    #[must_use]
    pub fn minus(&self, other: &Affine) -> Affine {
        self.plus_scaled(other, -1)
    }

    /// The sum with a constant.
    #[must_use]
    pub fn plus_constant(&self, value: i64) -> Affine {
        let mut sum = self.clone();
        sum.constant = sum.constant.saturating_add(value);
        sum
    }

    /// The product with a constant.
    #[must_use]
    pub fn times(&self, factor: i64) -> Affine {
        Affine::default().plus_scaled(self, factor)
    }

    fn plus_scaled(&self, other: &Affine, factor: i64) -> Affine {
        let mut sum = self.plus_constant(other.constant.saturating_mul(factor));
        for (name, c) in &other.terms {
            let c = c.saturating_mul(factor);
            match sum.terms.binary_search_by(|(n, _)| n.cmp(name)) {
                Ok(k) => sum.terms[k].1 = sum.terms[k].1.saturating_add(c),
                Err(k) => sum.terms.insert(k, (name.clone(), c)),
            }
        }
        sum.terms.retain(|(_, c)| *c != 0);
        sum
    }

    /// The index divided by a number, if all its coefficients and its constant are multiples.
    pub fn divided(&self, by: i64) -> Option<Affine> {
        let exact = |x: i64| (by != 0 && x % by == 0).then(|| x / by);
        let terms = self.terms().iter();
        let terms: Option<Vec<Affine>> = terms
            .map(|(name, c)| Some(Affine::iterator(name.clone()).times(exact(*c)?)))
            .collect();
        let offset = Affine::constant(exact(self.offset())?);
        Some(terms?.iter().fold(offset, |sum, term| sum.plus(term)))
    }

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

    /// The expression with every iterator that `map` has a value for replaced, all at once. Digits
    /// of the iterator become those of the value if they are affine.
    #[must_use]
    pub fn substitute(&self, map: &dyn Fn(&Name) -> Option<Affine>) -> Affine {
        let mut result = Affine::constant(self.constant);
        for (name, c) in &self.terms {
            let of_digit = || {
                let Digit {
                    of,
                    offset,
                    divisor,
                    modulus,
                } = Digit::named(name)?;
                map(&of)?.plus_constant(offset).digit(divisor, modulus)
            };
            let image = map(name).or_else(of_digit);
            let image = image.unwrap_or_else(|| Affine::iterator(name.clone()));
            result = result.plus_scaled(&image, *c);
        }
        result
    }

    /// The value at a point. `None` if an iterator has no value or 64 bits do not suffice.
    pub fn evaluate(&self, point: &dyn Fn(&Name) -> Option<i64>) -> Option<i64> {
        self.terms.iter().try_fold(self.constant, |sum, (name, c)| {
            sum.checked_add(c.checked_mul(point(name)?)?)
        })
    }

    /// The least and the greatest value over a box, given each iterator's inclusive bounds. `None`
    /// if an iterator has no bounds.
    pub fn interval(&self, bounds: &dyn Fn(&Name) -> Option<(i64, i64)>) -> Option<(i64, i64)> {
        let mut result = (self.constant, self.constant);
        for (name, c) in &self.terms {
            let (low, high) = bounds(name)?;
            let (a, b) = (c.saturating_mul(low), c.saturating_mul(high));
            result.0 = result.0.saturating_add(a.min(b));
            result.1 = result.1.saturating_add(a.max(b));
        }
        Some(result)
    }

    /// Whether coefficients and constant are small enough for exact arithmetic.
    pub fn is_in_limits(&self) -> bool {
        self.constant.unsigned_abs() < LIMIT
            && self.terms.iter().all(|(_, c)| c.unsigned_abs() < LIMIT)
    }
}

/// The digit of an iterator, which may be a digit itself.
fn digit_of(name: &Name, offset: i64, divisor: i64, modulus: Option<i64>) -> Option<Affine> {
    if name.read().is_some() {
        return None;
    }
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

impl From<i64> for Affine {
    fn from(value: i64) -> Affine {
        Affine::constant(value)
    }
}

impl fmt::Display for Affine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Positive terms first: `i - j` and `3 - i` read better than `-j + i` and `-i + 3`.
        let (front, back): (Vec<_>, Vec<_>) = self.terms.iter().partition(|(_, c)| *c > 0);
        let number_first = front.is_empty() && self.constant > 0;
        let mut first = true;
        if number_first {
            write!(f, "{}", self.constant)?;
            first = false;
        }
        for (name, c) in front.into_iter().chain(back) {
            match (first, *c < 0) {
                (true, true) => f.write_str("-")?,
                (false, true) => f.write_str(" - ")?,
                (false, false) => f.write_str(" + ")?,
                (true, false) => {}
            }
            match c.unsigned_abs() {
                1 => write!(f, "{name}")?,
                c if Digit::named(name).is_some() => write!(f, "{c}*({name})")?,
                c => write!(f, "{c}*{name}")?,
            }
            first = false;
        }
        match self.constant {
            c if first => write!(f, "{c}"),
            0 => Ok(()),
            _ if number_first => Ok(()),
            c if c < 0 => write!(f, " - {}", c.unsigned_abs()),
            c => write!(f, " + {c}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn it(name: &str) -> Affine {
        Affine::iterator(Name::new(name).unwrap())
    }

    #[test]
    fn prints_as_people_write() {
        let i = it("i");
        let j = it("j");
        assert_eq!(i.times(2).plus_constant(-1).to_string(), "2*i - 1");
        assert_eq!(j.minus(&i).to_string(), "j - i");
        assert_eq!(i.minus(&i).to_string(), "0");
        assert_eq!(i.times(-3).plus_constant(4).to_string(), "4 - 3*i");
        assert_eq!(
            i.times(-3).minus(&j).plus_constant(4).to_string(),
            "4 - 3*i - j"
        );
        assert_eq!(i.times(-3).plus_constant(-4).to_string(), "-3*i - 4");
    }

    #[test]
    fn substitutes_all_at_once() {
        let sum = it("i").plus(&it("j").times(2));
        let swapped = sum.substitute(&|n| Some(it(if n.as_str() == "i" { "j" } else { "i" })));
        assert_eq!(swapped, it("j").plus(&it("i").times(2)));
    }

    #[test]
    fn overflow_is_noticed() {
        assert!(!it("i").times(i64::MAX).times(2).is_in_limits());
        assert!(it("i").times(1 << 30).is_in_limits());
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
    fn digits_print_as_scripts_write_them() {
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
        assert_eq!(it("i").plus(&it("k")).quotient(5), None);
    }
}
