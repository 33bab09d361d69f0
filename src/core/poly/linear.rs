//! Integer expressions: sums of multiples of variables.

use super::names::escape;
use std::collections::BTreeMap;
use std::fmt;

/// An integer expression: multiples of variables, and a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Linear {
    pub(super) terms: Vec<(i64, String)>,
    pub(super) constant: i64,
}

impl Linear {
    /// The sum of the terms (a coefficient and a variable each) and of the constant.
    pub fn new<N: Into<String>>(
        terms: impl IntoIterator<Item = (i64, N)>,
        constant: i64,
    ) -> Linear {
        let terms = terms.into_iter().map(|(c, name)| (c, name.into()));
        Linear {
            terms: terms.collect(),
            constant,
        }
    }
}

impl Linear {
    /// Whether no variable occurs.
    pub fn is_constant(&self) -> bool {
        self.terms.is_empty()
    }

    /// The difference. Each variable occurs once, in alphabetical order.
    #[must_use]
    pub fn minus(&self, other: &Linear) -> Linear {
        let mut sum: BTreeMap<&str, i64> = BTreeMap::new();
        for (linear, sign) in [(self, 1), (other, -1)] {
            for (coefficient, name) in &linear.terms {
                *sum.entry(name).or_default() += sign * coefficient;
            }
        }
        sum.retain(|_, coefficient| *coefficient != 0);
        let terms = sum.into_iter().map(|(name, c)| (c, name));
        Linear::new(terms, self.constant - other.constant)
    }

    /// The multiples of variables, without the constant.
    pub fn terms(&self) -> &[(i64, String)] {
        &self.terms
    }

    pub fn constant(&self) -> i64 {
        self.constant
    }

    /// The canonical form of the equation that sets the expression to 0: equations with the same
    /// solutions have the same form. `None` if there is no solution.
    pub fn equation(mut self) -> Option<Linear> {
        let gcd = self
            .terms
            .iter()
            .fold(0, |gcd, (c, _)| gcd_of(gcd, c.unsigned_abs()))
            .cast_signed();
        if gcd == 0 {
            return (self.constant == 0).then_some(self);
        }
        if self.constant % gcd != 0 {
            return None;
        }
        let by = match self.terms.first() {
            Some((c, _)) if *c < 0 => -gcd,
            _ => gcd,
        };
        self.terms.iter_mut().for_each(|(c, _)| *c /= by);
        self.constant /= by;
        Some(self)
    }
}

pub(super) fn gcd_of(a: u64, b: u64) -> u64 {
    match b {
        0 => a,
        b => gcd_of(b, a % b),
    }
}

impl From<&str> for Linear {
    fn from(name: &str) -> Linear {
        Linear::new([(1, name)], 0)
    }
}

impl From<i64> for Linear {
    fn from(constant: i64) -> Linear {
        Linear {
            terms: Vec::new(),
            constant,
        }
    }
}

impl fmt::Display for Linear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signed =
            |f: &mut fmt::Formatter<'_>, first: bool, negative: bool| match (first, negative) {
                (true, false) => Ok(()),
                (true, true) => f.write_str("-"),
                (false, false) => f.write_str(" + "),
                (false, true) => f.write_str(" - "),
            };
        for (k, (coefficient, name)) in self.terms.iter().enumerate() {
            signed(f, k == 0, *coefficient < 0)?;
            // A variable that is alone in an entry of a tuple may be a new one.
            if *coefficient != 1 {
                write!(f, "{}*", coefficient.unsigned_abs())?;
            }
            f.write_str(&escape(name))?;
        }
        if self.constant == 0 && !self.terms.is_empty() {
            return Ok(());
        }
        signed(f, self.terms.is_empty(), self.constant < 0)?;
        write!(f, "{}", self.constant.unsigned_abs())
    }
}
