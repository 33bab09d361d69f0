//! Indices that are read from tensors: `x[col[e]]` is the sum of `x[c]` over `c = col[e]`.
//!
//! A sum of one term is that term, so that the rules of sums hold for elements that are gathered.

use crate::analysis::shape;
use crate::ir::{
    Affine, Domain, Expr, Index, Lookup, Name, Node, Range, Reduction, Segment, Shape, fresh_name,
};
use crate::{Error, refusal};
use std::cell::Cell;

/// Whether an index has elements of tensors.
pub(super) fn reads(list: &[Affine]) -> bool {
    let mut names = list.iter().flat_map(Affine::terms);
    names.any(|(name, _)| name.is_read())
}

/// Indices with iterators in place of entries.
pub(super) struct Gathered {
    pub(super) index: Vec<Affine>,
    /// The new iterators and their entries, each after the ones that its entry depends on.
    over: Vec<(Name, Lookup)>,
}

/// The indices with a new iterator for each element that they read. None is in `taken`.
///
/// # Errors
/// Nothing is known of the entries of a tensor.
pub(super) fn gathered(list: &[Affine], taken: &[Name]) -> Result<Gathered, Error> {
    let mut found = Gathered {
        index: Vec::new(),
        over: Vec::new(),
    };
    let own = list.iter().flat_map(Affine::terms);
    let taken: Vec<Name> = taken
        .iter()
        .chain(own.map(|(name, _)| name))
        .cloned()
        .collect();
    for index in list {
        let index = found.without_reads(index, &taken)?;
        found.index.push(index);
    }
    Ok(found)
}

impl Gathered {
    fn without_reads(&mut self, index: &Affine, taken: &[Name]) -> Result<Affine, Error> {
        let mut sum = Affine::constant(index.offset());
        for (name, c) in index.terms() {
            let iterator = match Lookup::named(name) {
                None => name.clone(),
                Some(lookup) => self.iterator(&lookup, taken)?,
            };
            sum = sum.plus(&Affine::iterator(iterator).times(*c));
        }
        Ok(sum)
    }

    /// The iterator whose only value is an element.
    fn iterator(&mut self, lookup: &Lookup, taken: &[Name]) -> Result<Name, Error> {
        let index: Result<Vec<Affine>, Error> = lookup
            .index
            .iter()
            .map(|index| self.without_reads(index, taken))
            .collect();
        let lookup = Lookup::new(lookup.tensor.clone(), index?);
        if lookup.tensor.entries().is_none() {
            return Err(unknown_entries(lookup.tensor.label()));
        }
        if let Some((name, _)) = self.over.iter().find(|(_, known)| *known == lookup) {
            return Ok(name.clone());
        }
        let is_taken =
            |name: &Name| taken.contains(name) || self.over.iter().any(|(own, _)| own == name);
        let of = lookup.index.iter().flat_map(Affine::iterators).next();
        let readable = lookup.tensor.name().zip(of).map(|(t, i)| t.derived(i));
        let readable = readable.filter(|name| !is_taken(name));
        let name = readable.unwrap_or_else(|| fresh_name(is_taken));
        self.over.push((name.clone(), lookup));
        Ok(name)
    }

    /// The sum of an element over the values that are read.
    ///
    /// # Errors
    /// An index leaves its tensor.
    pub(super) fn sum(self, body: Expr) -> Result<Expr, Error> {
        let within = self.ranges()?;
        let sum = |shape| {
            Expr::new(Node::Reduce {
                reduction: Reduction::Sum,
                over: self.over.iter().map(|(name, _)| name.clone()).collect(),
                within: within.clone(),
                shape,
                body: body.clone(),
            })
        };
        let shape = shape::virtual_shape(&sum(Shape::of_extents([])))?;
        Ok(sum(shape))
    }

    /// The only values of the new iterators.
    ///
    /// # Errors
    /// Nothing is known of the entries of a tensor.
    pub(super) fn ranges(&self) -> Result<Domain, Error> {
        let within = self.over.iter().map(|(name, lookup)| {
            let range = Range::of_segment(&Segment::at(lookup.clone()));
            let range = range.ok_or_else(|| unknown_entries(lookup.tensor.label()))?;
            Ok((name.clone(), range))
        });
        Ok(Domain::new(within.collect::<Result<Vec<_>, Error>>()?))
    }
}

/// The expression with a sum over its only value for each entry that an access reads. `None` if other parts
/// depend on entries, or if an index leaves its tensor.
pub(crate) fn with_gathers(expr: &Expr) -> Option<Expr> {
    let (taken, fits) = (expr.all_names(), Cell::new(true));
    let made = expr.map_accesses(&|tensor, index| {
        let Index::At(list) = index else { return None };
        if !reads(list) {
            return None;
        }
        let made = gathered(list, &taken).and_then(|mut found| {
            let index = Index::At(std::mem::take(&mut found.index));
            found.sum(Expr::access(tensor.clone(), index))
        });
        fits.set(fits.get() && made.is_ok());
        made.ok()
    });
    let is_whole = !made.all_names().iter().any(Name::is_read);
    (fits.get() && is_whole).then_some(made)
}

/// A bound or an index is read from a tensor without facts.
pub(crate) fn unknown_entries(tensor: &str) -> Error {
    refusal(format!(
        "nothing is known of the entries of {tensor}, and an index is read from it"
    ))
    .help(
        "`indices(extents, n)` declares a tensor of integers from 0 to n - 1; \
         `indices(extents, n, \"increasing\")` and `\"distinct\"` say more",
    )
}
