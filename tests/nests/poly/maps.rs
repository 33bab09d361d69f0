//! Operations on relations.

use super::config::config;
use super::regions::{Pairs, Points, RandomMap, S, T, Tuple, map, point, set};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use teml::poly::{Error, Map, Point, Set, UnionMap, UnionSet};

const LIMIT: usize = 100_000;

/// Only the first or last partner of each point, of each tuple.
fn extreme(pairs: &Pairs, last: bool) -> Pairs {
    let mut found: BTreeMap<(&Point, &Option<String>), &Point> = BTreeMap::new();
    for (one, two) in pairs {
        let entry = found.entry((one, &two.tuple)).or_insert(two);
        if last {
            *entry = two;
        }
    }
    let pairs = found.into_iter().map(|((one, _), two)| (one, two));
    pairs.map(|(one, two)| (one.clone(), two.clone())).collect()
}

fn reverse(pairs: &Pairs) -> Pairs {
    let pairs = pairs.iter().cloned();
    pairs.map(|(one, two)| (two, one)).collect()
}

fn compose(first: &Pairs, second: &Pairs) -> Pairs {
    let pairs = first.iter().flat_map(|(one, middle)| {
        let on = second.iter().filter(move |(from, _)| from == middle);
        on.map(move |(_, two)| (one.clone(), two.clone()))
    });
    pairs.collect()
}

fn firsts(pairs: &Pairs) -> Points {
    pairs.iter().map(|(one, _)| one.clone()).collect()
}

fn seconds(pairs: &Pairs) -> Points {
    pairs.iter().map(|(_, two)| two.clone()).collect()
}

fn only(pairs: &Pairs, keep: impl Fn(&Point, &Point) -> bool) -> Pairs {
    let kept = pairs.iter().filter(|(one, two)| keep(one, two));
    kept.cloned().collect()
}

/// The differences within tuples.
fn deltas(pairs: &Pairs) -> Points {
    let within = pairs.iter().filter(|(one, two)| one.tuple == two.tuple);
    let points = within.map(|(one, two)| {
        let both = one.coordinates.iter().zip(&two.coordinates);
        let coordinates = both.map(|(x, y)| y - x).collect();
        let tuple = one.tuple.clone();
        Point { tuple, coordinates }
    });
    points.collect()
}

/// Checks what maps and unions of maps have in common.
macro_rules! check {
    ($map:ident, $set:ident, $a:expr, $b:expr, $s:expr) => {{
        let (model_a, model_b): (&RandomMap, &RandomMap) = ($a, $b);
        let (a, b) = ($map::new(&model_a.pieces)?, $map::new(&model_b.pieces)?);
        let (in_a, in_b) = (&model_a.pairs, &model_b.pairs);
        let (s, in_s) = ($set::new(&$s.pieces)?, &$s.points);
        let listed = |map: $map| -> Result<Pairs, Error> {
            let pairs = map.pairs(LIMIT)?;
            let sorted: Pairs = pairs.iter().cloned().collect();
            assert!(pairs.iter().eq(&sorted), "neither in order nor once each");
            assert_eq!(map.count(LIMIT)?, pairs.len());
            Ok(sorted)
        };
        let points =
            |set: $set| -> Result<Points, Error> { Ok(set.points(LIMIT)?.into_iter().collect()) };
        prop_assert_eq!(&listed(a.clone())?, in_a);
        prop_assert_eq!(listed(a.intersect(&b)?)?, in_a & in_b);
        prop_assert_eq!(listed(a.union(&b)?)?, in_a | in_b);
        prop_assert_eq!(listed(a.subtract(&b)?)?, in_a - in_b);
        prop_assert_eq!(listed(a.gist(&b)?.intersect(&b)?)?, in_a & in_b);
        prop_assert_eq!(listed(a.reverse()?)?, reverse(in_a));
        prop_assert_eq!(listed(a.apply_range(&b)?)?, compose(in_a, in_b));
        prop_assert_eq!(listed(a.apply_domain(&b)?)?, compose(&reverse(in_b), in_a));
        let expected = only(in_a, |one, _| in_s.contains(one));
        prop_assert_eq!(listed(a.intersect_domain(&s)?)?, expected);
        let expected = only(in_a, |_, two| in_s.contains(two));
        prop_assert_eq!(listed(a.intersect_range(&s)?)?, expected);
        let expected = seconds(&only(in_a, |one, _| in_s.contains(one)));
        prop_assert_eq!(points(s.apply(&a)?)?, expected);
        prop_assert_eq!(points(a.domain()?)?, firsts(in_a));
        prop_assert_eq!(points(a.range()?)?, seconds(in_a));
        prop_assert_eq!(points(a.deltas()?)?, deltas(in_a));
        prop_assert_eq!(listed(a.lexmin()?)?, extreme(in_a, false));
        prop_assert_eq!(listed(a.lexmax()?)?, extreme(in_a, true));
        prop_assert_eq!(&listed($map::read(&a.text()?)?)?, in_a);
        prop_assert_eq!(a.is_empty()?, in_a.is_empty());
        prop_assert_eq!(a.is_subset(&b)?, in_a.is_subset(in_b));
        prop_assert!(a.intersect(&b)?.is_subset(&a)?);
        prop_assert_eq!(a.is_equal(&b)?, in_a == in_b);
        prop_assert!(a.union(&b)?.subtract(&b)?.is_equal(&a.subtract(&b)?)?);
        for map in [&a, &a.lexmin()?, &a.reverse()?.lexmax()?.reverse()?] {
            let pairs = listed(map.clone())?;
            let single = firsts(&pairs).len() == pairs.len();
            let injective = seconds(&pairs).len() == pairs.len();
            prop_assert_eq!(map.is_single_valued()?, single);
            prop_assert_eq!(map.is_injective()?, injective);
            prop_assert_eq!(map.is_bijective()?, single && injective);
        }
        match a.sample()? {
            Some(pair) => prop_assert!(in_a.contains(&pair)),
            None => prop_assert!(in_a.is_empty()),
        }
        (a, in_a.clone())
    }};
}

/// The pairs of points whose times compare like this.
fn ordered(first: &Pairs, second: &Pairs, holds: impl Fn(&[i64], &[i64]) -> bool) -> Pairs {
    let pairs = first.iter().flat_map(|(one, x)| {
        let holds = &holds;
        let on = second
            .iter()
            .filter(move |(_, y)| holds(&x.coordinates, &y.coordinates));
        on.map(move |(two, _)| (one.clone(), two.clone()))
    });
    pairs.collect()
}

const TIME: Tuple = ("", 2);

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn maps(one in map(&[(S, S)]), two in map(&[(S, S)]), within in set(&[S])) {
        let (a, pairs) = check!(Map, Set, &one, &two, &within);
        let rest = |p: &Point| point("", &p.coordinates[1..]);
        let expected: BTreeSet<_> = pairs.iter().map(|(x, y)| (rest(x), y.clone())).collect();
        let left = a.project_out_domain(0..1)?.pairs(LIMIT)?;
        prop_assert_eq!(left, expected.into_iter().collect::<Vec<_>>());
        let expected: BTreeSet<_> = pairs.iter().map(|(x, y)| (x.clone(), rest(y))).collect();
        let left = a.project_out_range(0..1)?.pairs(LIMIT)?;
        prop_assert_eq!(left, expected.into_iter().collect::<Vec<_>>());
        let mut parts = Pairs::new();
        for part in a.parts()? {
            prop_assert!(part.parts()?.len() <= 1);
            parts.extend(part.pairs(LIMIT)?);
        }
        prop_assert_eq!(&parts, &pairs);
        prop_assert_eq!(a.wrap()?.count(LIMIT)?, pairs.len());
        let back = a.to_union()?.to_map();
        prop_assert!(back.is_ok() || a.is_empty()?);
        prop_assert!(back.map_or(Ok(true), |back| back.is_equal(&a))?);
    }

    #[test]
    fn unions_of_maps(
        one in map(&[(S, S), (S, T), (T, S)]),
        two in map(&[(S, S), (S, T), (T, S)]),
        within in set(&[S, T]),
    ) {
        let (a, pairs) = check!(UnionMap, UnionSet, &one, &two, &within);
        let mut maps = Pairs::new();
        for map in a.maps()? {
            maps.extend(map.pairs(LIMIT)?);
        }
        prop_assert_eq!(maps, pairs);
    }

    #[test]
    fn orders(one in map(&[(S, TIME), (T, TIME)]), two in map(&[(S, TIME), (T, TIME)])) {
        let (a, b) = (UnionMap::new(&one.pieces)?, UnionMap::new(&two.pieces)?);
        let (in_a, in_b) = (&one.pairs, &two.pairs);
        let listed = |map: UnionMap| -> Result<Pairs, Error> {
            Ok(map.pairs(LIMIT)?.into_iter().collect())
        };
        prop_assert_eq!(listed(a.lex_lt(&b)?)?, ordered(in_a, in_b, |x, y| x < y));
        prop_assert_eq!(listed(a.lex_le(&b)?)?, ordered(in_a, in_b, |x, y| x <= y));
        prop_assert_eq!(listed(a.lex_gt(&b)?)?, ordered(in_a, in_b, |x, y| x > y));
        prop_assert_eq!(listed(a.lex_ge(&b)?)?, ordered(in_a, in_b, |x, y| x >= y));
    }
}
