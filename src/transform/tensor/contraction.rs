//! Splits sums of products into several assignments, by the algebra of contractions.
//!
//! If some factors of a product (`rest`) are not indexed by the iterators `l`:
//!
//! ```text
//! sum(k, l: inner * rest) = sum(k: sum(l: inner) * rest)
//! ```
//!
//! Products are associative and commutative, and distribute over sums. Integers obey these laws
//! exactly. Floating-point numbers are rounded in other places, so the caller has to allow splits
//! of their sums. The assignments are another definition, which `compare` compares with the first
//! one.

use super::eq::{ITERATORS, assign};
use super::infer::{binary, reduce};
use crate::Error;
use crate::analysis::shape;
use crate::ir::{Affine, BinaryOp, Domain, Expr, Index, Name, Node, Reduction, Tensor};
use crate::lower::flatten::flatten;
use crate::lower::in_steps;
use thiserror::Error as Described;

/// More factors than this have too many orders to try them all.
const MAX_FACTORS: usize = 12;

/// Why an assignment is not split.
#[derive(Debug, Described)]
pub enum NoSplit {
    /// Its value is not a product.
    #[error("must assign a sum of products of several factors")]
    NoProduct,
    /// Its value is not computed from reductions.
    #[error("has no sum from which a value is computed")]
    NoSum,
    /// Its reductions compute nothing again.
    #[error("has no sum that computes a value again and again")]
    NoOperand,
    /// Its value changes if both iterators are exchanged.
    #[error(
        "must assign all elements of a square matrix, a value that stays the same if both iterators are exchanged"
    )]
    Asymmetric,
    /// It multiplies no tensors of more than two dimensions.
    #[error(
        "must assign all elements of a sum of products of two tensors, one of which has several indices of rows, of columns or of terms"
    )]
    NoMatrices,
    /// It does not have this factor.
    #[error("is not a factor of the assignment")]
    NoFactor,
    /// Every sum iterates over the factor.
    #[error("stays in the sums: the other factors have none of their own")]
    Bound,
    /// Numbers would be rounded in other places.
    #[error("is a sum of floating-point numbers, which would be rounded in other places")]
    Rounding,
    /// Without the factors that leave, an iterator has another range.
    #[error("has other ranges of iterators without some of its factors")]
    Ranges,
    /// The definition gives the ranges of iterators.
    #[error("has iterators whose ranges are given, which it would lose")]
    Given,
    /// There are too many orders.
    #[error("has more than {MAX_FACTORS} factors")]
    TooMany,
    /// The error of an operation.
    #[error("{0}")]
    Operation(Error),
}

impl<E: Into<Error>> From<E> for NoSplit {
    fn from(error: E) -> NoSplit {
        NoSplit::Operation(error.into())
    }
}

/// `target = sum(over: factors)`.
#[derive(Clone)]
struct Product {
    assignment: Expr,
    over: Vec<Name>,
    factors: Vec<Expr>,
}

impl Product {
    fn of(assignment: &Expr) -> Result<Product, NoSplit> {
        let Node::Assign { value, within, .. } = assignment.node() else {
            return Err(NoSplit::NoProduct);
        };
        let mut taken = assignment.iterators();
        let flat = flatten(value, &mut taken).map_err(|_| NoSplit::NoProduct)?;
        if !within.is_empty() || !flat.within.is_empty() {
            return Err(NoSplit::Given);
        }
        let mut factors = Vec::new();
        collect(&flat.body, &mut factors);
        match flat.reduction {
            None | Some(Reduction::Sum) if factors.len() > 1 => Ok(Product {
                assignment: assignment.clone(),
                over: flat.over,
                factors,
            }),
            _ => Err(NoSplit::NoProduct),
        }
    }

    /// Whether a split rounds in other places.
    fn rounds(&self) -> bool {
        self.assignment.elem().is_float()
    }

    /// The iterators that index the chosen factors, in order of appearance.
    fn moving(&self, chosen: impl Fn(usize) -> bool) -> Vec<Name> {
        let mut found = Vec::new();
        for (_, factor) in self.factors.iter().enumerate().filter(|(k, _)| chosen(*k)) {
            let new = factor.iterators().into_iter();
            found.extend(new.filter(|n| !found.contains(n)).collect::<Vec<_>>());
        }
        found
    }

    /// The summed iterators that only the chosen factors use: the sum over them can run as soon as
    /// these factors are multiplied.
    fn own(&self, chosen: impl Fn(usize) -> bool) -> Vec<Name> {
        let others = self.moving(|k| !chosen(k));
        let moving = self.moving(&chosen);
        let own = self.over.iter();
        let own = own.filter(|n| moving.contains(n) && !others.contains(n));
        own.cloned().collect()
    }

    /// The dimensions of the product of some factors, in the order of the factor that has the most.
    /// The dimensions of the others replace the summed ones, so that rows stay rows.
    fn dimensions(&self, chosen: impl Fn(usize) -> bool, summed: &[Name]) -> Vec<Name> {
        let all: Vec<Name> = self.moving(&chosen);
        let inside = self.factors.iter().enumerate().filter(|(k, _)| chosen(*k));
        let ranks = inside.map(|(_, factor)| factor.iterators());
        let Some(largest) = ranks.reduce(|a, b| if b.len() > a.len() { b } else { a }) else {
            return all;
        };
        let is_free = |name: &&Name| !summed.contains(name);
        let others = all.iter().filter(|n| !largest.contains(n)).filter(is_free);
        let others: Vec<Name> = others.cloned().collect();
        let place = largest.iter().position(|name| summed.contains(name));
        let (before, after) = largest.split_at(place.unwrap_or(largest.len()));
        let before = before.iter().filter(is_free).cloned();
        let after = after.iter().filter(is_free).cloned();
        before.chain(others).chain(after).collect()
    }

    /// Moves some factors into an assignment of their own. The remaining product has its target as
    /// a factor.
    fn split(&self, chosen: &dyn Fn(usize) -> bool) -> Result<(Expr, Product), NoSplit> {
        let summed = self.own(chosen);
        let numbered = || self.factors.iter().enumerate();
        let inside = numbered().filter(|(k, _)| chosen(*k)).map(|(_, f)| f);
        let body = multiplied(inside.clone().cloned())?;
        let free = self.dimensions(chosen, &summed);
        let ranges = shape::ranges(&body).map_err(|_| NoSplit::Ranges)?;
        let whole = shape::ranges(&multiplied(self.factors.iter().cloned())?)?;
        let range = |of: &[shape::IteratorRange], name: &Name| {
            let found = of.iter().find(|r| r.name == *name);
            found.map(|r| (r.low, r.high))
        };
        let index: Vec<Affine> = free
            .iter()
            .map(|name| {
                let low = range(&ranges, name).map_or(0, |(low, _)| low);
                Affine::iterator(name.clone()).plus_constant(-low)
            })
            .collect();
        let value = if summed.is_empty() {
            body
        } else {
            reduce(Reduction::Sum, summed.clone(), body)?
        };
        // Other factors may limit the range of a window, which would be larger without them.
        let narrower = |n: &Name| range(&ranges, n) != range(&whole, n);
        if self.moving(chosen).iter().any(narrower) {
            return Err(NoSplit::Ranges);
        }
        let inner = assign(value, &index, &ITERATORS)?.fill_placeholder(&self.name(inside));
        let Node::Assign { target, .. } = inner.node() else {
            return Err(NoSplit::NoProduct);
        };
        let mut factors = Vec::new();
        for (k, factor) in numbered() {
            match chosen(k) {
                true if factors.contains(target) => {}
                true => factors.push(target.clone()),
                false => factors.push(factor.clone()),
            }
        }
        let over = self.over.iter().filter(|n| !summed.contains(n));
        let rest = Product {
            assignment: self.assignment.clone(),
            over: over.cloned().collect(),
            factors,
        };
        Ok((inner, rest))
    }

    /// Assigns the product of the factors to the target.
    fn assigned(&self) -> Result<Expr, NoSplit> {
        let Node::Assign {
            target, elsewhere, ..
        } = self.assignment.node()
        else {
            return Err(NoSplit::NoProduct);
        };
        let body = multiplied(self.factors.iter().cloned())?;
        let value = if self.over.is_empty() {
            body
        } else {
            reduce(Reduction::Sum, self.over.clone(), body)?
        };
        Ok(Expr::new(Node::Assign {
            target: target.clone(),
            value,
            within: Domain::default(),
            elsewhere: *elsewhere,
        }))
    }

    /// A name composed of the factors' names, different from all tensors of the assignment.
    fn name<'a>(&self, factors: impl Iterator<Item = &'a Expr>) -> Name {
        let mut taken: Vec<String> = Vec::new();
        let all = self.factors.iter().chain([&self.assignment]);
        all.for_each(|e| e.for_each_tensor(&mut |t| taken.push(t.label().to_owned())));
        let parts: Vec<&Expr> = factors.collect();
        let parts = parts.iter().filter_map(|f| f.tensor().map(Tensor::label));
        name_after(parts, &taken)
    }
}

/// A name for a tensor that is computed from tensors of these labels, different from all in
/// `taken`.
pub(crate) fn name_after<'l>(labels: impl Iterator<Item = &'l str>, taken: &[String]) -> Name {
    // A name has at most 63 characters, and a number may follow.
    let base: String = labels.collect::<String>().chars().take(40).collect();
    let base = if base.is_empty() {
        "t".to_owned()
    } else {
        base
    };
    let numbers = std::iter::once(String::new()).chain((2..).map(|k: u32| k.to_string()));
    let names = numbers.map(|number| format!("{base}{number}"));
    let mut free = names.filter(|name| !taken.contains(name));
    let found = free.find_map(|name| Name::new(&name).ok());
    found.unwrap_or_else(|| Name::generated(0))
}

fn collect(value: &Expr, factors: &mut Vec<Expr>) {
    match value.node() {
        Node::Binary {
            op: BinaryOp::Mul,
            left,
            right,
            ..
        } => {
            collect(left, factors);
            collect(right, factors);
        }
        _ => factors.push(value.clone()),
    }
}

fn multiplied(factors: impl Iterator<Item = Expr>) -> Result<Expr, NoSplit> {
    let mut product = None;
    for factor in factors {
        product = Some(match product {
            None => factor,
            Some(left) => binary(BinaryOp::Mul, left, factor)?,
        });
    }
    product.ok_or(NoSplit::NoProduct)
}

/// Moves a factor out of the sums over iterators that do not index it. Returns the sums of the
/// others, and the assignment that multiplies them by the factor.
///
/// # Errors
/// [`NoSplit`]; sums of floating-point numbers are only split with `rounds`.
pub fn factor_out(assignment: &Expr, factor: &Name, rounds: bool) -> Result<[Expr; 2], NoSplit> {
    let product = Product::of(assignment)?;
    let is_factor = |k: usize| {
        let tensor = product.factors.get(k).and_then(Expr::tensor);
        tensor.and_then(|t| t.name()) == Some(factor)
    };
    let is_left = |k: usize| !is_factor(k);
    let count = product.factors.len();
    match (0..count).filter(|k| is_factor(*k)).count() {
        0 => return Err(NoSplit::NoFactor),
        n if n == count || product.own(is_left).is_empty() => {
            return Err(NoSplit::Bound);
        }
        _ if product.rounds() && !rounds => return Err(NoSplit::Rounding),
        _ => {}
    }
    let (inner, rest) = product.split(&is_left)?;
    Ok([inner, rest.assigned()?])
}

/// Assignments of the reductions from which a value is computed, then of the value. These are the
/// reductions for which `build` has temporaries. If it has none, reductions that are written as
/// operands of other operations are split off. Nothing is rounded differently from the assignment as
/// it is written.
///
/// # Errors
/// [`NoSplit`].
pub fn split_sums(assignment: &Expr) -> Result<Vec<Expr>, NoSplit> {
    let steps = in_steps(assignment)?;
    if steps.len() > 1 {
        return Ok(steps);
    }
    let Node::Assign { value, within, .. } = assignment.node() else {
        return Err(NoSplit::NoSum);
    };
    if !within.is_empty() {
        return Err(NoSplit::Given);
    }
    let mut found = Vec::new();
    operands(inside(value), &mut found);
    let mut steps = Separate::of(assignment)?;
    for sum in found {
        let own = assignment.iterators();
        let (mut index, rest): (Vec<Name>, Vec<Name>) =
            sum.iterators().into_iter().partition(|n| own.contains(n));
        index.sort_by_key(|n| own.iter().position(|o| o == n));
        index.extend(rest);
        steps.add(&sum, index)?;
    }
    let rest = steps.replaced(assignment);
    let rest = super::with_shapes(&rest).unwrap_or(rest);
    steps.then(rest).ok_or(NoSplit::NoSum)
}

/// The body of nested reductions of one kind, or the value itself.
fn inside(value: &Expr) -> &Expr {
    match value.node() {
        Node::Reduce { body, .. } => inside(body),
        _ => value,
    }
}

/// The outermost reductions in a value, each once.
fn operands(value: &Expr, found: &mut Vec<Expr>) {
    match value.node() {
        Node::Reduce { .. } if found.contains(value) => {}
        Node::Reduce { .. } => found.push(value.clone()),
        _ => value
            .children()
            .into_iter()
            .for_each(|e| operands(e, found)),
    }
}

/// Assignments of values to tensors of their own.
struct Separate {
    /// The ranges of all iterators.
    whole: Vec<shape::IteratorRange>,
    /// The names in use.
    taken: Vec<String>,
    assignments: Vec<Expr>,
    /// The values, and the elements that have them.
    read: Vec<(Expr, Expr)>,
}

impl Separate {
    fn of(assignment: &Expr) -> Result<Separate, NoSplit> {
        let mut taken = Vec::new();
        assignment.for_each_tensor(&mut |t| taken.push(t.label().to_owned()));
        Ok(Separate {
            whole: shape::all_ranges(assignment)?,
            taken,
            assignments: Vec::new(),
            read: Vec::new(),
        })
    }

    /// Assigns a value to a tensor with a dimension for each of its iterators.
    fn add(&mut self, value: &Expr, index: Vec<Name>) -> Result<(), NoSplit> {
        let own = shape::ranges(value).map_err(|_| NoSplit::Ranges)?;
        let range = |of: &[shape::IteratorRange], name: &Name| {
            let found = of.iter().find(|r| r.name == *name);
            found.map(|r| (r.low, r.high))
        };
        let is_whole = |n: &Name| {
            range(&own, n).is_some_and(|(low, _)| low == 0)
                && range(&own, n) == range(&self.whole, n)
        };
        if !index.iter().all(is_whole) {
            return Err(NoSplit::Ranges);
        }
        let mut parts = Vec::new();
        value.for_each_tensor(&mut |t| parts.push(t.label().to_owned()));
        let name = name_after(parts.iter().map(String::as_str), &self.taken);
        self.taken.push(name.to_string());
        let index: Vec<Affine> = index.into_iter().map(Affine::iterator).collect();
        let made = assign(value.clone(), &index, &ITERATORS)?.fill_placeholder(&name);
        let Node::Assign { target, .. } = made.node() else {
            return Err(NoSplit::NoOperand);
        };
        self.read.push((value.clone(), target.clone()));
        self.assignments.push(made);
        Ok(())
    }

    /// An expression that reads the tensors.
    fn replaced(&self, expr: &Expr) -> Expr {
        expr.replace(&|part| {
            let (_, made) = self.read.iter().find(|(value, _)| value == part)?;
            Some(made.clone())
        })
    }

    /// The assignments, and one that reads their tensors; `None` if there are none.
    fn then(mut self, rest: Expr) -> Option<Vec<Expr>> {
        let is_split = !self.assignments.is_empty();
        self.assignments.push(rest);
        is_split.then_some(self.assignments)
    }
}

/// Assignments of values that a reduction computes again in each iteration of a loop that they do not
/// depend on, then of the reduction. Nothing is rounded differently.
///
/// # Errors
/// [`NoSplit`].
pub fn split_operands(assignment: &Expr) -> Result<Vec<Expr>, NoSplit> {
    let Node::Assign {
        target,
        value,
        within,
        elsewhere,
    } = assignment.node()
    else {
        return Err(NoSplit::NoOperand);
    };
    let mut taken = assignment.iterators();
    let flat = flatten(value, &mut taken).map_err(|_| NoSplit::NoOperand)?;
    let Some(reduction) = flat.reduction else {
        return Err(NoSplit::NoOperand);
    };
    if !within.is_empty() || !flat.within.is_empty() {
        return Err(NoSplit::Given);
    }
    let mut found = Vec::new();
    repeated(&flat.body, &flat.body.iterators(), &mut found);
    let mut steps = Separate::of(assignment)?;
    steps.whole = shape::ranges(&flat.body)?;
    for operand in found {
        steps.add(&operand, operand.iterators())?;
    }
    let rest = Expr::new(Node::Assign {
        target: target.clone(),
        value: reduce(reduction, flat.over, steps.replaced(&flat.body))?,
        within: Domain::default(),
        elsewhere: *elsewhere,
    });
    steps.then(rest).ok_or(NoSplit::NoOperand)
}

/// The largest values in a body that are computed from elements, and do not depend on all of its
/// iterators. Each iterator indexes a dimension alone, so that the values fill a tensor. Other
/// dimensions have a constant index.
fn repeated(value: &Expr, all: &[Name], found: &mut Vec<Expr>) {
    let own = value.iterators();
    let is_computed = !matches!(
        value.node(),
        Node::Access { .. } | Node::Constant(_) | Node::Reduce { .. }
    );
    let fits = |value: &Expr| {
        let mut is_plain = true;
        value.for_each_access(&mut |_, index| {
            is_plain &= matches!(index, Index::At(index)
                if index.iter().all(|a| a.as_iterator().is_some() || a.as_constant().is_some()));
        });
        is_plain
    };
    if is_computed && !own.is_empty() && own.len() < all.len() && fits(value) {
        if !found.contains(value) {
            found.push(value.clone());
        }
        return;
    }
    for part in value.children() {
        repeated(part, all, found);
    }
}

/// Assignments of two factors each that compute a sum of products with the fewest operations.
///
/// # Errors
/// [`NoSplit`]; sums of floating-point numbers are only split with `rounds`.
pub fn chain(assignment: &Expr, rounds: bool) -> Result<Vec<Expr>, NoSplit> {
    let mut product = Product::of(assignment)?;
    match product.factors.len() {
        2 => return Ok(vec![assignment.clone()]),
        n if n > MAX_FACTORS => return Err(NoSplit::TooMany),
        _ if product.rounds() && !rounds => return Err(NoSplit::Rounding),
        _ => {}
    }
    let mut steps = Vec::new();
    // Pairs are split off in the best order until two factors remain.
    while let [first, second] = cheapest(&product)?
        && product.factors.len() > 2
    {
        let (inner, rest) = product.split(&|k| k == first || k == second)?;
        steps.push(inner);
        product = rest;
    }
    steps.push(product.assigned()?);
    Ok(steps)
}

/// The two factors that the cheapest order multiplies first.
fn cheapest(product: &Product) -> Result<[usize; 2], NoSplit> {
    let ranges = shape::ranges(&multiplied(product.factors.iter().cloned())?)?;
    let extent = |name: &Name| {
        let range = ranges.iter().find(|r| r.name == *name);
        range.map_or(1.0, |r| r.extent() as f64)
    };
    let count = product.factors.len();
    let full = (1usize << count) - 1;
    let names = product.moving(|_| true);
    let in_limits = names.len() <= u128::BITS as usize;
    let mask = |of: Vec<Name>| -> u128 {
        let places = of
            .iter()
            .filter_map(|name| names.iter().position(|n| n == name));
        places.fold(0, |mask, place| mask | 1 << place)
    };
    let Some(names_of) = in_limits.then(|| -> Vec<u128> {
        (0..count)
            .map(|k| mask(product.moving(|c| c == k)))
            .collect()
    }) else {
        return Err(NoSplit::TooMany);
    };
    let extents: Vec<f64> = names.iter().map(extent).collect();
    let terms = |mask: u128| -> f64 {
        let inside = extents
            .iter()
            .enumerate()
            .filter(|(k, _)| mask & (1 << k) != 0);
        inside.map(|(_, extent)| extent).product()
    };
    let over = mask(product.over.clone());
    let moving = |set: usize| {
        let inside = (0..count).filter(|k| set & (1 << k) != 0);
        inside.fold(0, |mask, k| mask | names_of[k])
    };
    // For each set of factors, the iterators that index their result. A single factor is not
    // summed.
    let free: Vec<u128> = (0..=full)
        .map(|set| match set.count_ones() {
            1 => moving(set),
            _ => moving(set) & (!over | moving(full & !set)),
        })
        .collect();
    // For each set of factors, the fewest operations, and the pair that is multiplied first.
    let mut best: Vec<(f64, Option<[usize; 2]>)> = vec![(0.0, None); full + 1];
    for set in (1..=full).filter(|s| s.count_ones() > 1) {
        let mut found: Option<(f64, Option<[usize; 2]>)> = None;
        let mut left = (set - 1) & set;
        while left > 0 {
            let right = set & !left;
            if left < right {
                let around = free[left] | free[right];
                let work = terms(around) * if around == free[set] { 1.0 } else { 2.0 };
                let (a, b) = (best[left], best[right]);
                let pair = a.1.or(b.1);
                let pair = pair.unwrap_or([
                    left.trailing_zeros() as usize,
                    right.trailing_zeros() as usize,
                ]);
                let total = a.0 + b.0 + work;
                if found.is_none_or(|(least, _)| total < least) {
                    found = Some((total, Some(pair)));
                }
            }
            left = (left - 1) & set;
        }
        if let Some(found) = found {
            best[set] = found;
        }
    }
    best[full].1.ok_or(NoSplit::NoProduct)
}
