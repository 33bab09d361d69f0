//! Bounds that are read from tensors of integers: `for e in ptr[i]..ptr[i + 1]`, `let c = col[e]`.
//!
//! Indices stay affine. An entry that is read becomes the value of an iterator, and that iterator
//! indexes other tensors. A range with such bounds also has affine ones, which the facts about the entries
//! promise ([`super::entries`]). Whoever knows nothing of the entries sees the affine bounds alone, and so
//! sees more iterations, never fewer.

use super::affine::Affine;
use super::name::{Name, Read};
use super::tensor::Tensor;
use std::fmt;
use std::sync::Arc;

/// An element of a tensor of integers, with an affine expression added.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lookup {
    /// Facts about its entries are known.
    pub tensor: Tensor,
    /// One expression per dimension.
    pub index: Vec<Affine>,
    pub plus: Affine,
}

/// The bounds of an iterator: from `lower` to before `upper`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    pub lower: Lookup,
    pub upper: Lookup,
}

impl Lookup {
    /// The element at an index.
    pub fn new(tensor: Tensor, index: Vec<Affine>) -> Lookup {
        Lookup {
            tensor,
            index,
            plus: Affine::default(),
        }
    }

    /// The element as an index expression. [`Lookup::named`] gives it back.
    pub fn as_index(&self) -> Affine {
        let read = Read {
            tensor: Arc::new(self.tensor.clone()),
            index: self
                .index
                .iter()
                .map(|a| (a.terms().to_vec(), a.offset()))
                .collect(),
        };
        let element = Lookup::new(self.tensor.clone(), self.index.clone());
        Affine::iterator(Name::of_read(element.to_string(), read)).plus(&self.plus)
    }

    /// The element that has this name, unless it is the name of an iterator.
    pub fn named(name: &Name) -> Option<Lookup> {
        let read = name.read()?;
        let tensor = read.tensor.downcast_ref::<Tensor>()?.clone();
        let index = read.index.iter().map(|(terms, number)| {
            let terms = terms.iter();
            terms.fold(Affine::constant(*number), |sum, (name, c)| {
                sum.plus(&Affine::iterator(name.clone()).times(*c))
            })
        });
        Some(Lookup::new(tensor, index.collect()))
    }

    /// The element that an index expression is, with what is added to it. `None` if it has no
    /// element, or several, or a multiple.
    pub fn of(index: &Affine) -> Option<Lookup> {
        let mut read = index
            .terms()
            .iter()
            .filter(|(name, _)| name.read().is_some());
        let ((name, 1), None) = (read.next()?, read.next()) else {
            return None;
        };
        let rest = index.minus(&Affine::iterator(name.clone()));
        Some(Lookup::named(name)?.plus(&rest))
    }

    #[must_use]
    pub fn plus(&self, by: &Affine) -> Lookup {
        Lookup {
            plus: self.plus.plus(by),
            ..self.clone()
        }
    }

    /// The index and what is added.
    fn parts(&self) -> impl Iterator<Item = &Affine> {
        self.index.iter().chain([&self.plus])
    }

    fn map(&self, map: &dyn Fn(&Affine) -> Affine) -> Lookup {
        Lookup {
            tensor: self.tensor.clone(),
            index: self.index.iter().map(map).collect(),
            plus: map(&self.plus),
        }
    }
}

impl Segment {
    /// The bounds that leave the value of a lookup alone.
    pub fn at(lookup: Lookup) -> Segment {
        let upper = lookup.plus(&Affine::constant(1));
        Segment {
            lower: lookup,
            upper,
        }
    }

    /// The lookup, if its value is the only one.
    pub fn as_single(&self) -> Option<&Lookup> {
        let next = self.lower.plus(&Affine::constant(1));
        (next == self.upper).then_some(&self.lower)
    }

    /// The affine bounds of all values. `None` if nothing is known of the entries.
    pub(super) fn ends(&self) -> Option<[Affine; 2]> {
        let (lower, upper) = (self.lower.tensor.entries()?, self.upper.tensor.entries()?);
        let low = lower.low.plus(&self.lower.plus);
        let high = upper.high.plus_constant(-1).plus(&self.upper.plus);
        Some([low, high])
    }

    /// How many values there are on average, of `most` in the affine range: one, or as many as rows
    /// share entries.
    pub fn usual(&self, most: i64) -> i64 {
        if self.as_single().is_some() {
            return 1;
        }
        let rows = self
            .lower
            .tensor
            .shape()
            .elements()
            .saturating_sub(1)
            .max(1);
        let rows = i64::try_from(rows).unwrap_or(i64::MAX);
        (most + rows - 1).div_euclid(rows).max(1)
    }

    /// The lower and the upper bound.
    pub fn lookups(&self) -> [&Lookup; 2] {
        [&self.lower, &self.upper]
    }

    /// The affine expressions in it.
    pub fn parts(&self) -> impl Iterator<Item = &Affine> {
        self.lookups().into_iter().flat_map(Lookup::parts)
    }

    /// Whether a bound depends on an iterator.
    pub fn mentions(&self, name: &Name) -> bool {
        self.parts().any(|part| part.mentions(name))
    }

    /// The segment with its affine expressions replaced.
    #[must_use]
    pub fn map(&self, map: &dyn Fn(&Affine) -> Affine) -> Segment {
        Segment {
            lower: self.lower.map(map),
            upper: self.upper.map(map),
        }
    }

    /// The segment with its tensors replaced.
    #[must_use]
    pub fn map_tensors(&self, map: &dyn Fn(&Tensor) -> Tensor) -> Segment {
        let mapped = |lookup: &Lookup| Lookup {
            tensor: map(&lookup.tensor),
            ..lookup.clone()
        };
        Segment {
            lower: mapped(&self.lower),
            upper: mapped(&self.upper),
        }
    }
}

/// `ptr[i + 1]`, `col[e] + 1`.
impl fmt::Display for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.tensor.label())?;
        for index in &self.index {
            write!(f, "[{index}]")?;
        }
        match self.plus.to_string() {
            none if none == "0" => Ok(()),
            less if less.starts_with('-') => write!(f, " - {}", &less[1..]),
            more => write!(f, " + {more}"),
        }
    }
}
