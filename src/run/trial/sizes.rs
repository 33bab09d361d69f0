//! The numbers at which nests with sizes are checked and timed.

use super::{Inputs, Variant};
use crate::ir::{Accepted, Name, Nest, Size, Tensor};
use crate::runtime::{Data, Scalar, Values, are_possible};
use std::sync::Arc;

/// The sizes of nests, without derived ones, in the order of their first use.
pub fn sizes(nests: &[Nest]) -> Vec<Name> {
    let mut found: Vec<Name> = Vec::new();
    for name in nests.iter().flat_map(Nest::sizes) {
        let is_derived = name.size().is_some_and(|size| size.of.is_some());
        if !is_derived && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// The sizes of all variants, with the facts that hold for each of them.
pub fn of_variants(variants: &[Variant]) -> Vec<Name> {
    let nests: Vec<Nest> = variants.iter().flat_map(|v| v.nests.clone()).collect();
    let sizes = sizes(&nests).into_iter();
    let narrowed = sizes.map(|name| {
        let conditions = nests.iter().map(Nest::condition);
        let own = conditions.filter_map(|condition| condition.of_size(&name));
        let all = nests
            .iter()
            .flat_map(Nest::sizes)
            .filter(|other| *other == name);
        let facts = all.filter_map(|other| Some(Accepted::of(other.size()?)));
        let size = own
            .chain(facts)
            .try_fold(name.size()?.clone(), |size, of| of.within(&size));
        // Without a common value, the results of variants differ, and the check says so.
        Some(size.map_or_else(|| name.clone(), |size| name.with_size(size)))
    });
    narrowed.flatten().collect()
}

/// The likely sizes of variants, which all of them are for.
pub fn likely(variants: &[Variant]) -> Vec<(Name, i64)> {
    let sizes = of_variants(variants).into_iter();
    let likely = sizes.filter_map(|name| Some((name.clone(), name.size()?.likely)));
    likely.collect()
}

/// Whether variants are checked at other sizes or scalars, or with gaps between rows, before they
/// are timed.
pub fn are_awkward(variants: &[Variant]) -> bool {
    let mut nests = variants.iter().flat_map(|v| &v.nests);
    let is_strided = |nest: &Nest| nest.tensors().iter().any(Tensor::is_strided);
    nests.any(|nest| nest.is_sized() || is_strided(nest) || !nest.variants().is_empty())
}

/// The inputs at a point: scalars have its values, or else the values in the conditions of
/// variants. Elements that were given for the likely sizes are given again at others.
pub fn inputs_at(given: &Inputs, variants: &[Variant], values: &[(Name, i64)]) -> Inputs {
    let mut inputs = given.clone();
    let nests: Vec<&Nest> = variants.iter().flat_map(|v| &v.nests).collect();
    let own = nests.iter().flat_map(|nest| nest.condition().scalars());
    let own = own.map(|(name, value)| (name.clone(), value));
    let tensors: Vec<Tensor> = nests.iter().flat_map(|nest| nest.tensors()).collect();
    for (name, value) in own.chain(values.iter().cloned()) {
        let mut known = tensors.iter().filter(|tensor| tensor.shape().rank() == 0);
        if let Some(tensor) = known.find(|tensor| tensor.name() == Some(&name)) {
            let value = match tensor.elem().is_float() {
                true => Scalar::Float(value as f64),
                false => Scalar::Integer(value),
            };
            inputs.set(name, Data::Constant(value));
        }
    }
    let sized: Vec<Tensor> = nests
        .iter()
        .flat_map(|n| n.with_sizes().tensors())
        .collect();
    for tensor in &tensors {
        let fits = |of: &&Tensor| of.name() == tensor.name() && of.shape() != tensor.shape();
        let likely = sized.iter().find(fits).filter(|of| of.entries().is_none());
        if let (Some(name), Some(likely)) = (tensor.name(), likely)
            && let Some(data) = given.get(name)
            && let Some(data) = again(data, likely.shape().extents(), tensor)
        {
            inputs.set(name.clone(), data);
        }
    }
    inputs
}

/// The elements of an array with these extents as those of a tensor: each dimension begins again at
/// its end. `None` for other contents.
fn again(data: &Data, extents: &[u64], tensor: &Tensor) -> Option<Data> {
    let Data::Values(values) = data else {
        return None;
    };
    if values.view().len() as u64 != extents.iter().product::<u64>() {
        return None;
    }
    let dims = tensor.shape().extents();
    let element = |mut place: u64| {
        let (mut flat, mut step) = (0, 1);
        for (dim, extent) in dims.iter().zip(extents).rev() {
            flat += place % dim % extent.max(&1) * step;
            place /= dim;
            step *= extent;
        }
        data.value(tensor.elem(), flat)
    };
    let elements: Option<Vec<Scalar>> = (0..tensor.shape().elements()).map(element).collect();
    let values = Values::new(tensor, &elements?).ok()?;
    Some(Data::Values(Arc::new(values)))
}

/// The number of elements between rows in that check.
pub const GAP: i64 = 3;

/// The variants at these sizes. Sizes that are left out are the likely ones.
pub fn at(variants: &[Variant], values: &[(Name, i64)]) -> Vec<Variant> {
    let at = variants.iter().map(|variant| Variant {
        label: variant.label.clone(),
        nests: variant
            .nests
            .iter()
            .map(|nest| nest.at_sizes(values))
            .collect(),
    });
    at.collect()
}

/// Numbers that no tile divides.
const PRIMES: [i64; 6] = [7, 13, 5, 11, 3, 17];

/// Naive code is quick enough up to this size, also where a condition begins or ends there.
const LARGEST: i64 = 4096;

/// Sizes at which every plan is checked before it is timed: none, one, primes on both sides of
/// usual tiles, and numbers beside each divisor of the variants. Each condition of a plan adds
/// numbers on both of its sides, and gives scalars the numbers that it is about.
pub fn awkward(variants: &[Variant]) -> Vec<Vec<(Name, i64)>> {
    let nests = || variants.iter().flat_map(|v| &v.nests);
    let sizes = of_variants(variants);
    let mut divisors: Vec<i64> = Vec::new();
    let plans = || nests().flat_map(|nest| nest.variants().iter().chain([nest]));
    for name in plans().flat_map(Nest::sizes) {
        let of = name.size().and_then(|size| size.of.as_ref());
        divisors.extend(of.map(|quotient| quotient.divisor));
    }
    divisors.sort_unstable();
    divisors.dedup();
    let mut points: Vec<Vec<(Name, i64)>> = Vec::new();
    let mut add = |value: &dyn Fn(usize) -> i64| {
        let fitted = sizes.iter().enumerate().filter_map(|(k, name)| {
            let size = name.size()?;
            Some((name.clone(), fit(size, value(k))))
        });
        let point: Vec<(Name, i64)> = fitted.collect();
        if !points.contains(&point) {
            points.push(point);
        }
    };
    add(&|_| 0);
    add(&|_| 1);
    add(&|k| PRIMES[k % PRIMES.len()]);
    add(&|k| PRIMES[(k + 1) % PRIMES.len()] * 3 + 2);
    for by in divisors.iter().rev().take(2) {
        for point in beside(*by, sizes.len()) {
            add(&|k| point[k]);
        }
    }
    for condition in nests().flat_map(Nest::variants).map(Nest::condition) {
        let near = |name: &Name, at: fn(Accepted) -> i64, other: i64| {
            condition.of_size(name).map_or(other, at)
        };
        let least = |of: Accepted| of.least.max(of.multiple);
        let most = |of: Accepted| of.most.unwrap_or(of.least.max(2 * of.multiple));
        let beyond = |of: Accepted| of.most.map_or(of.least - 1, |most| most + 1);
        for at in [least, most, beyond] {
            if condition.of().iter().all(|(_, of)| at(*of) <= LARGEST) {
                add(&|k| near(&sizes[k], at, PRIMES[k % PRIMES.len()]));
            }
        }
    }
    for condition in nests().flat_map(Nest::variants).map(Nest::condition) {
        let scalars: Vec<(Name, i64)> = condition
            .scalars()
            .map(|(name, value)| (name.clone(), value))
            .collect();
        if scalars.is_empty() {
            continue;
        }
        let numbers = sizes.iter().enumerate().filter_map(|(k, name)| {
            let of = condition.of_size(name);
            let value = of.map_or(PRIMES[k % PRIMES.len()], |of| of.least.max(of.multiple));
            Some((name.clone(), fit(name.size()?, value)))
        });
        points.push(numbers.chain(scalars).collect());
    }
    points.retain(|point| {
        let nests = at(variants, point).into_iter().flat_map(|v| v.nests);
        let tensors: Vec<Tensor> = nests.flat_map(|nest| nest.tensors()).collect();
        let mut facts = tensors.iter().filter_map(|t| Some((t, t.entries()?)));
        facts.all(|(tensor, entries)| are_possible(tensor, entries))
    });
    points
}

/// Numbers beside a divisor for so many sizes: for all of them at once, or for one at a time if tensors
/// would take too much memory otherwise.
fn beside(by: i64, sizes: usize) -> Vec<Vec<i64>> {
    let dimensions = u32::try_from(sizes).unwrap_or(u32::MAX);
    if by.saturating_pow(dimensions) <= LARGEST.pow(2) {
        let in_turns =
            |even: i64, odd: i64| (0..sizes).map(move |k| if k % 2 == 0 { even } else { odd });
        return vec![
            in_turns(by - 1, by + 1).collect(),
            in_turns(2 * by, 2 * by - 1).collect(),
        ];
    }
    let alone = |one: usize, number: i64| {
        let all = (0..sizes).map(move |k| {
            if k == one {
                number
            } else {
                PRIMES[k % PRIMES.len()]
            }
        });
        all.collect()
    };
    (0..sizes)
        .flat_map(|one| [alone(one, by + 1), alone(one, 2 * by)])
        .collect()
}

/// The value of a size that is closest to a number.
fn fit(size: &Size, number: i64) -> i64 {
    let multiple = number / size.multiple * size.multiple;
    multiple.max(size.least).min(size.most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Elem, Shape};

    #[test]
    fn large_divisors_are_for_one_size_at_a_time() {
        assert_eq!(beside(64, 2), [[63, 65], [128, 127]]);
        let alone = [[65_537, 13], [131_072, 13], [7, 65_537], [7, 131_072]];
        assert_eq!(beside(65_536, 2), alone);
        assert_eq!(beside(65_536, 1), [[65_535], [131_072]]);
    }

    #[test]
    fn elements_are_given_again_in_each_dimension() {
        let of = |extents: [u64; 2]| Tensor::new(Shape::of_extents(extents), Elem::I64);
        let given = Values::I64(vec![0, 1, 2, 10, 11, 12]);
        let given = Data::Values(Arc::new(given));
        let at = |extents| match again(&given, &[2, 3], &of(extents)) {
            Some(Data::Values(values)) => (*values).clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(at([1, 2]), Values::I64(vec![0, 1]));
        assert_eq!(at([0, 3]), Values::I64(vec![]));
        assert_eq!(
            at([3, 4]),
            Values::I64(vec![0, 1, 2, 0, 10, 11, 12, 10, 0, 1, 2, 0])
        );
        assert!(again(&given, &[3, 3], &of([2, 2])).is_none());
    }
}
