//! Splits iterators that are read by quotient or remainder: `A[i/5] * B[i%5]` over `i` becomes
//! `A[i_q] * B[i_r]` over `i_q` and `i_r`, with `5*i_q + i_r` in place of `i`.
//!
//! The new iterators take exactly the values of `i`, in their order. Where blocks are cut off, the
//! range of `i_r` depends on `i_q`. An iterator within one block stays, and its digits become
//! affine.

use crate::analysis::shape;
use crate::ir::{
    Affine, BinaryOp, Digit, Domain, Expr, Name, Node, Range, Shape, ceil_div, fresh_name,
};
use crate::{Error, refusal};

/// A definition or a reduction.
pub(super) struct Definition {
    pub(super) value: Expr,
    /// The indices of the target.
    pub(super) to: Vec<Affine>,
    /// The iterators of the reduction.
    pub(super) over: Vec<Name>,
    /// The given ranges.
    pub(super) within: Domain,
}

impl Definition {
    /// An assignment.
    pub(super) fn of(value: Expr, to: &[Affine], within: Domain) -> Definition {
        Definition {
            value,
            to: to.to_vec(),
            over: Vec::new(),
            within,
        }
    }
}

/// The definition with iterators split that are read by digits, and the values that they took. A
/// reduction splits its own iterators, and an assignment all. `target` is a target with extents.
///
/// # Errors
/// The range of such an iterator is unknown or has a step, or its divisors do not nest.
pub(super) fn split(
    mut definition: Definition,
    target: Option<&Expr>,
) -> Result<(Definition, Vec<Values>), Error> {
    let mut split = Vec::new();
    loop {
        let digits = digits(&definition);
        let is_own = |d: &Digit| definition.over.is_empty() || definition.over.contains(&d.of);
        let given = |d: &Digit| definition.within.get(&d.of).is_some();
        let mut own = digits.iter().filter(|d| is_own(d));
        let first = own.clone().find(|d| given(d)).or_else(|| own.next());
        let Some(of) = first.map(|digit| digit.of.clone()) else {
            return Ok((definition, split));
        };
        let digits: Vec<Digit> = digits.into_iter().filter(|d| d.of == of).collect();
        let values = Values::of(&definition, &of, &digits, target)?;
        definition = replaced(definition, &values, &digits)?;
        split.push(values);
    }
}

/// Checks that no iterator of a value is read by digits, where none can be split.
pub(super) fn check_whole(value: &Expr) -> Result<(), Error> {
    let definition = Definition::of(value.clone(), &[], Domain::default());
    let Some(digit) = digits(&definition).into_iter().next() else {
        return Ok(());
    };
    let text = format!(
        "the other elements have one iterator for each dimension, and this value is read at \
         `{digit}`"
    );
    let help = "assign the value to a tensor first, as `stored` does, and read that";
    Err(refusal(text).help(help))
}

/// The digits of iterators that are not bound.
fn digits(definition: &Definition) -> Vec<Digit> {
    fn collect(expr: &Expr, names: &mut Vec<Name>) {
        if let Node::Reduce { within, .. } = expr.node() {
            names.extend(within.mentioned().cloned());
        }
        expr.children()
            .into_iter()
            .for_each(|child| collect(child, names));
    }
    let mut names: Vec<Name> = Vec::new();
    let mut add = |index: &Affine| names.extend(index.terms().iter().map(|(name, _)| name.clone()));
    definition.value.for_each_index(&mut add);
    definition.to.iter().for_each(add);
    collect(&definition.value, &mut names);
    names.extend(definition.within.mentioned().cloned());
    let mut found: Vec<Digit> = Vec::new();
    for digit in names.iter().filter_map(Digit::named) {
        if !found.contains(&digit) {
            found.push(digit);
        }
    }
    found
}

/// The values of an iterator.
pub(super) struct Values {
    pub(super) name: Name,
    /// From `low` to before `high`.
    pub(super) low: i64,
    pub(super) high: i64,
    /// The range that the definition gives.
    given: Option<Range>,
}

impl Values {
    fn of(
        definition: &Definition,
        name: &Name,
        digits: &[Digit],
        target: Option<&Expr>,
    ) -> Result<Values, Error> {
        let given = definition.within.get(name).cloned();
        if let Some(step) = given.as_ref().map(|range| range.step).filter(|s| *s != 1) {
            let text = format!(
                "`{name}` has the step {step}, and quotients and remainders need all values"
            );
            let help = "count the steps: `2*i` in place of `i`, without a step";
            return Err(refusal(text).help(help));
        }
        let values = |low, high| Values {
            name: name.clone(),
            low,
            high,
            given: given.clone(),
        };
        if let Some((low, high)) = given.as_ref().and_then(Range::as_constant) {
            return Ok(values(low, high.max(low)));
        }
        let value = &definition.value;
        let mut ranges = shape::ranges_of_digits(value, &definition.within)?;
        let is_it = |r: &&shape::IteratorRange| r.name == *name && !r.is_unknown();
        if ranges.iter().find(is_it).is_none()
            && let Some(target) = target
        {
            // Only the index of the target may say how long it is.
            let both = Expr::new(Node::Binary {
                op: BinaryOp::Add,
                shape: Shape::of_extents([]),
                left: target.clone(),
                right: value.clone(),
            });
            ranges = shape::ranges_of_digits(&both, &definition.within)?;
        }
        let direct = ranges.iter().find(is_it);
        let mut all = direct.map(|r| (r.low, r.high));
        if given.is_some()
            && let Some((low, high)) = all
        {
            return Ok(values(low, high));
        }
        for digit in digits.iter().filter(|d| d.modulus.is_none()) {
            let of_digit = digit.name();
            let Some(found) = ranges
                .iter()
                .find(|r| r.name == of_digit && !r.is_unknown())
            else {
                continue;
            };
            let first = |value: i64| {
                value
                    .saturating_mul(digit.divisor)
                    .saturating_sub(digit.offset)
            };
            let allowed = (first(found.low), first(found.high));
            if let Some((low, high)) = direct.map(|r| (r.low, r.high))
                && direct.is_some_and(|r| r.alone.is_some())
                && found.alone.is_some()
            {
                let quotient = |value: i64| (value + digit.offset).div_euclid(digit.divisor);
                let needed = (quotient(low), quotient(high - 1) + 1);
                if needed != (found.low, found.high) {
                    let text = format!(
                        "`{name}` takes the values {low}..{high}, so that `{digit}` takes {}..{}, \
                         and its dimension has {}..{}",
                        needed.0, needed.1, found.low, found.high
                    );
                    let help = format!("a given range wins: `#{{{name}: {low}..{high}}}`");
                    return Err(refusal(text).help(help));
                }
            }
            let (low, high) = all.unwrap_or(allowed);
            all = Some((low.max(allowed.0), high.min(allowed.1)));
        }
        match all {
            Some((low, high)) => Ok(values(low, high.max(low))),
            None => Err(refusal(format!(
                "the range of `{name}` is unknown, since only remainders of it index tensors"
            ))
            .help(format!("give it one: `#{{{name}: 0..10}}`"))),
        }
    }
}

/// The definition with a sum of iterators in place of `values.name`.
fn replaced(
    definition: Definition,
    values: &Values,
    digits: &[Digit],
) -> Result<Definition, Error> {
    let Values {
        name, low, high, ..
    } = values;
    let (mut cuts, offset) = nested(digits)?;
    // All values may have the same quotient: 0, say.
    let mut fixed: Vec<(i64, i64)> = Vec::new();
    let (mut shift, mut first) = (offset, low + offset);
    while let Some(cut) = cuts.last().copied()
        && first.div_euclid(cut) == (high - 1 + shift).max(first).div_euclid(cut)
    {
        let quotient = first.div_euclid(cut);
        fixed.push((cut, quotient));
        shift -= cut * quotient;
        first = low + shift;
        cuts.pop();
    }
    let levels = parts(&definition, name, &cuts);
    let iterators: Vec<Affine> = match levels.as_slice() {
        [] => vec![Affine::iterator(name.clone()).plus_constant(shift)],
        levels => levels.iter().cloned().map(Affine::iterator).collect(),
    };
    let scales = || std::iter::once(1).chain(cuts.iter().copied());
    let mut all: Vec<(i64, Affine)> = scales().zip(iterators.iter().cloned()).collect();
    let sum = all.iter().map(|(scale, part)| part.times(*scale));
    let whole = sum.fold(Affine::constant(-shift), |sum, part| sum.plus(&part));
    all.extend(
        fixed
            .into_iter()
            .map(|(cut, quotient)| (cut, Affine::constant(quotient))),
    );
    let value_of = |digit: &Digit| {
        let own = |scale: i64| scale >= digit.divisor && digit.modulus.is_none_or(|m| scale < m);
        let of_quotient = match digit.modulus {
            None => (digit.offset - offset) / digit.divisor,
            Some(_) => 0,
        };
        let own = all.iter().filter(|(scale, _)| own(*scale));
        own.fold(Affine::constant(of_quotient), |sum, (scale, part)| {
            sum.plus(&part.times(scale / digit.divisor))
        })
    };
    let map = |found: &Name| match Digit::named(found) {
        Some(digit) if digit.of == *name => Some(value_of(&digit)),
        None if found == name => Some(whole.clone()),
        _ => None,
    };
    let others = definition
        .within
        .iter()
        .filter(|(of, _)| levels.is_empty() || of != name);
    let others = Domain::new(others.cloned()).substitute(&map);
    let value = definition.value.substitute(&map);
    let parts = ranges(values, &levels, &cuts, shift);
    let within = with_parts(&value, others, parts, !definition.over.is_empty());
    let mut over: Vec<Name> = Vec::with_capacity(definition.over.len());
    for found in definition.over {
        if found == *name && !levels.is_empty() {
            over.extend(levels.iter().rev().cloned());
        } else {
            over.push(found);
        }
    }
    Ok(Definition {
        value,
        to: definition
            .to
            .iter()
            .map(|index| index.substitute(&map))
            .collect(),
        over,
        within,
    })
}

/// The divisors and moduli of digits beside 1, in ascending order, each a divisor of the next one,
/// and the offset that all digits have.
fn nested(digits: &[Digit]) -> Result<(Vec<i64>, i64), Error> {
    let all = digits
        .iter()
        .flat_map(|d| d.modulus.into_iter().chain([d.divisor]));
    let mut cuts: Vec<i64> = all.filter(|cut| *cut > 1).collect();
    cuts.sort_unstable();
    cuts.dedup();
    if let Some([first, second]) = cuts.windows(2).find(|pair| pair[1] % pair[0] != 0) {
        let name = digits.first().map_or("", |d| d.of.as_str());
        let text = format!(
            "`{name}` is divided by {first} and by {second}, and neither divides the other"
        );
        let help = "assign one of the expressions to a tensor first, as `stored` does, and read \
                    that";
        return Err(refusal(text).help(help));
    }
    let Some(widest) = digits.iter().max_by_key(|d| d.period()) else {
        return Ok((cuts, 0));
    };
    let differs = |d: &&Digit| (d.offset - widest.offset) % d.period() != 0;
    if let Some(other) = digits.iter().find(differs) {
        let text = format!("`{widest}` and `{other}` count blocks from different places");
        let help = "assign one of the expressions to a tensor first, as `stored` does, and read \
                    that";
        return Err(refusal(text).help(help));
    }
    Ok((cuts, widest.offset))
}

/// Names for the parts of an iterator, the fastest one first; none without cuts.
fn parts(definition: &Definition, name: &Name, cuts: &[i64]) -> Vec<Name> {
    if cuts.is_empty() {
        return Vec::new();
    }
    let mut taken = definition.value.all_names();
    let of_target = definition.to.iter().flat_map(Affine::terms);
    taken.extend(of_target.map(|(name, _)| name.base()));
    taken.extend(definition.within.iter().map(|(name, _)| name.clone()));
    taken.extend(definition.within.mentioned().cloned());
    let mut parts = Vec::with_capacity(cuts.len() + 1);
    for level in (0..=cuts.len()).rev() {
        let suffix = match level {
            0 => "r".to_owned(),
            level if level == cuts.len() => "q".to_owned(),
            level => format!("m{level}"),
        };
        let derived = name.derived(suffix);
        let part = if name.is_generated() || taken.contains(&derived) {
            fresh_name(|name| taken.contains(name))
        } else {
            derived
        };
        taken.push(part.clone());
        parts.push(part);
    }
    parts.reverse();
    parts
}

/// The ranges of the parts, so that their sum takes the values of the iterator. `shift` is what
/// the sum is ahead.
fn ranges(values: &Values, levels: &[Name], cuts: &[i64], shift: i64) -> Vec<(Name, Range)> {
    let (Some(last), [fastest, others @ ..]) = (cuts.last(), levels) else {
        return Vec::new();
    };
    let blocks = cuts.iter().zip(others);
    let before = blocks.fold(Affine::constant(-shift), |sum, (cut, part)| {
        sum.plus(&Affine::iterator(part.clone()).times(*cut))
    });
    let (first, end) = (values.low + shift, values.high + shift);
    let mut own = Range::constant(0, cuts[0]);
    let constant = |value: i64| vec![Affine::constant(value)];
    let given = values
        .given
        .clone()
        .filter(|range| range.as_constant().is_none());
    let (lower, upper) = match given {
        Some(range) => (range.lower, range.upper),
        None => (constant(values.low), constant(values.high)),
    };
    let cuts_block = |bound: &&Affine| {
        let fixed = bound.as_constant();
        fixed.is_none_or(|value| (value + shift) % last != 0)
    };
    let local = |bound: &Affine| bound.minus(&before);
    own.lower.extend(lower.iter().filter(cuts_block).map(local));
    own.upper.extend(upper.iter().filter(cuts_block).map(local));
    let mut ranges = vec![(fastest.clone(), own)];
    for (k, part) in others.iter().enumerate() {
        let range = match cuts.get(k + 1) {
            Some(next) => Range::constant(0, next / cuts[k]),
            None => Range::constant(first.div_euclid(*last), ceil_div(end, *last)),
        };
        ranges.push((part.clone(), range));
    }
    ranges
}

/// The domain with the ranges of parts. Those that follow from the tensors are left out. In a
/// reduction, only a dimension says that a range is whole.
fn with_parts(
    value: &Expr,
    others: Domain,
    parts: Vec<(Name, Range)>,
    is_reduction: bool,
) -> Domain {
    let inferred = |domain: &Domain, (name, range): &(Name, Range)| {
        let ranges = shape::ranges_of_digits(value, domain).unwrap_or_default();
        let found = ranges.iter().find(|r| r.name == *name && r.given.is_none());
        let found = found.filter(|r| r.alone.is_some() || !is_reduction);
        found.is_some_and(|r| range.as_constant() == Some((r.low, r.high)))
    };
    let is_stated = |part: &&(Name, Range)| !inferred(&others, part);
    let stated: Vec<_> = parts.iter().filter(is_stated).cloned().collect();
    let reduced = others.with(&Domain::new(stated));
    let is_left_out = |part: &&(Name, Range)| reduced.get(&part.0).is_none();
    if parts
        .iter()
        .filter(is_left_out)
        .all(|part| inferred(&reduced, part))
    {
        reduced
    } else {
        others.with(&Domain::new(parts))
    }
}
