//! Bounds that are read from tensors of integers: `for e in ptr[i]..ptr[i + 1]`, `let c = col[e]`.
//!
//! Indices stay affine. An entry that is read becomes the value of an iterator, and that iterator
//! indexes other tensors. A range with such bounds also has affine ones, which the facts about the entries
//! promise ([`super::entries`]). Whoever knows nothing of the entries sees the affine bounds alone, and so
//! sees more iterations, never fewer.
//!
//! The entries of a row may run in blocks: `for b in ptr[i]..ptr[i + 1] step 4` has the first entry of
//! each, and `for e in b..min(b + 4, ptr[i + 1])` the entries of one.

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

/// The bounds of an iterator: every `step`-th value from `lower` to before `upper`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    /// `None` if the affine bounds of the range say where it begins: it is a part of a row.
    pub lower: Option<Lookup>,
    pub upper: Lookup,
    /// At least 1. The affine bounds of the range do not have it: they hold more values.
    pub step: i64,
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

impl Affine {
    /// Whether it depends on an iterator, or reads an entry whose place does.
    pub fn depends_on(&self, name: &Name) -> bool {
        self.mentions(name) || self.reads_at(name)
    }

    /// Whether it reads an entry whose place depends on an iterator.
    pub fn reads_at(&self, name: &Name) -> bool {
        let mut names = self.terms().iter();
        names.any(|(read, _)| {
            let lookup = Lookup::named(read);
            lookup.is_some_and(|lookup| lookup.parts().any(|part| part.depends_on(name)))
        })
    }

    /// The expression with iterators replaced, also where entries are read.
    #[must_use]
    pub fn substitute_all(&self, map: &dyn Fn(&Name) -> Option<Affine>) -> Affine {
        self.substitute(&|name| match Lookup::named(name) {
            Some(lookup) => Some(lookup.map(&|part| part.substitute_all(map)).as_index()),
            None => map(name),
        })
    }
}

impl Segment {
    /// All values between two bounds.
    pub fn between(lower: Lookup, upper: Lookup) -> Segment {
        Segment {
            lower: Some(lower),
            upper,
            step: 1,
        }
    }

    /// The bounds that leave the value of a lookup alone.
    pub fn at(lookup: Lookup) -> Segment {
        let upper = lookup.plus(&Affine::constant(1));
        Segment::between(lookup, upper)
    }

    /// The lookup, if its value is the only one.
    pub fn as_single(&self) -> Option<&Lookup> {
        let lower = self.lower.as_ref()?;
        let next = lower.plus(&Affine::constant(1));
        (next == self.upper).then_some(lower)
    }

    /// The first entry of a row, if all of its entries follow.
    pub fn of_row(&self) -> Option<&Lookup> {
        self.lower.as_ref().filter(|_| self.as_single().is_none())
    }

    /// An affine bound that all values are at least. `None` if nothing is known of the entries.
    pub fn low(&self) -> Option<Affine> {
        let lower = self.lower.as_ref()?;
        Some(lower.tensor.entries()?.low.plus(&lower.plus))
    }

    /// An affine bound that all values are below. `None` if nothing is known of the entries.
    pub fn high(&self) -> Option<Affine> {
        let upper = &self.upper;
        Some(
            upper
                .tensor
                .entries()?
                .high
                .plus_constant(-1)
                .plus(&upper.plus),
        )
    }

    /// How many values there are on average, of `most` in the affine range: one, all of a part of a
    /// row, or as many as rows share entries.
    pub fn usual(&self, most: i64) -> i64 {
        let Some(lower) = self.of_row() else {
            return if self.lower.is_some() { 1 } else { most };
        };
        let rows = lower.tensor.shape().elements().saturating_sub(1).max(1);
        let rows = i64::try_from(rows).unwrap_or(i64::MAX);
        let usual = (most + rows - 1).div_euclid(rows);
        (usual + self.step - 1).div_euclid(self.step).max(1)
    }

    /// The bounds.
    pub fn lookups(&self) -> impl Iterator<Item = &Lookup> {
        self.lower.iter().chain([&self.upper])
    }

    /// The affine expressions in it.
    pub fn parts(&self) -> impl Iterator<Item = &Affine> {
        self.lookups().flat_map(Lookup::parts)
    }

    /// Whether a bound depends on an iterator.
    pub fn mentions(&self, name: &Name) -> bool {
        self.parts().any(|part| part.mentions(name))
    }

    /// The segment with its affine expressions replaced.
    #[must_use]
    pub fn map(&self, map: &dyn Fn(&Affine) -> Affine) -> Segment {
        Segment {
            lower: self.lower.as_ref().map(|lower| lower.map(map)),
            upper: self.upper.map(map),
            step: self.step,
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
            lower: self.lower.as_ref().map(mapped),
            upper: mapped(&self.upper),
            step: self.step,
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
