//! Operations on sets.

use super::config::config;
use super::regions::{Points, RandomSet, S, T, point, set};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use teml::poly::{Condition, Error, Point, Set, UnionSet};

const LIMIT: usize = 10_000;

/// The first or last point of each tuple.
fn extreme(points: &Points, last: bool) -> Points {
    let mut found: BTreeMap<&Option<String>, &Point> = BTreeMap::new();
    for point in points {
        let entry = found.entry(&point.tuple).or_insert(point);
        if last {
            *entry = point;
        }
    }
    found.into_values().cloned().collect()
}

/// Checks what sets and unions of sets have in common.
macro_rules! check {
    ($type:ident, $a:expr, $b:expr) => {{
        let (model_a, model_b): (&RandomSet, &RandomSet) = ($a, $b);
        let (a, b) = ($type::new(&model_a.pieces)?, $type::new(&model_b.pieces)?);
        let (in_a, in_b) = (&model_a.points, &model_b.points);
        let listed = |set: $type| -> Result<Points, Error> {
            let points = set.points(LIMIT)?;
            let sorted: Points = points.iter().cloned().collect();
            assert!(points.iter().eq(&sorted), "neither in order nor once each");
            assert_eq!(set.count(LIMIT)?, points.len());
            Ok(sorted)
        };
        prop_assert_eq!(&listed(a.clone())?, in_a);
        prop_assert_eq!(listed(a.intersect(&b)?)?, in_a & in_b);
        prop_assert_eq!(listed(a.union(&b)?)?, in_a | in_b);
        prop_assert_eq!(listed(a.subtract(&b)?)?, in_a - in_b);
        prop_assert_eq!(listed(a.gist(&b)?.intersect(&b)?)?, in_a & in_b);
        prop_assert_eq!(listed(a.lexmin()?)?, extreme(in_a, false));
        prop_assert_eq!(listed(a.lexmax()?)?, extreme(in_a, true));
        prop_assert_eq!(&listed($type::read(&a.text()?)?)?, in_a);
        prop_assert_eq!(a.is_empty()?, in_a.is_empty());
        prop_assert_eq!(a.is_subset(&b)?, in_a.is_subset(in_b));
        prop_assert!(a.intersect(&b)?.is_subset(&a)?);
        prop_assert_eq!(a.is_equal(&b)?, in_a == in_b);
        prop_assert!(a.union(&b)?.subtract(&b)?.is_equal(&a.subtract(&b)?)?);
        match a.sample()? {
            Some(point) => prop_assert!(in_a.contains(&point)),
            None => prop_assert!(in_a.is_empty()),
        }
        let identity: Vec<_> = in_a.iter().map(|p| (p.clone(), p.clone())).collect();
        prop_assert_eq!(a.identity()?.pairs(LIMIT)?, identity);
        (a, in_a.clone())
    }};
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn sets(one in set(&[S]), two in set(&[S])) {
        let (a, points) = check!(Set, &one, &two);
        prop_assert_eq!(a.tuple(), Some("S".to_owned()));
        prop_assert!(a.is_bounded()?);
        for kept in 0..2 {
            let left: Vec<Point> = a.project_out(1 - kept..2 - kept)?.points(LIMIT)?;
            let expected: BTreeSet<i64> = points.iter().map(|p| p.coordinates[kept]).collect();
            let expected: Vec<Point> = expected.into_iter().map(|x| point("", &[x])).collect();
            prop_assert_eq!(left, expected);
        }
        let mut parts = Points::new();
        for part in a.parts()? {
            prop_assert!(part.parts()?.len() <= 1);
            parts.extend(part.points(LIMIT)?);
        }
        prop_assert_eq!(parts, points);
        let back = a.to_union()?.to_set();
        prop_assert!(back.is_ok() || a.is_empty()?);
        prop_assert!(back.map_or(Ok(true), |back| back.is_equal(&a))?);
    }

    #[test]
    fn unions_of_sets(one in set(&[S, T]), two in set(&[S, T])) {
        let (a, points) = check!(UnionSet, &one, &two);
        let mut sets = Points::new();
        for set in a.sets()? {
            sets.extend(set.points(LIMIT)?);
        }
        prop_assert_eq!(sets, points);
    }
}

/// Whether the coefficients satisfy all conditions.
fn satisfy(conditions: &[Condition], expression: &[i64]) -> bool {
    conditions.iter().all(|c| {
        let terms = c.coefficients.iter().zip(expression);
        let sum: i64 = terms.map(|(a, b)| a * b).sum();
        if c.is_equation { sum == 0 } else { sum >= 0 }
    })
}

#[test]
fn what_is_nowhere_negative() {
    // Of the constant, of the parameter and of both coordinates.
    let set = Set::read("[n] -> { S[i, j] : 0 <= i < n and i <= j <= 2i }").unwrap();
    let conditions = set.nowhere_negative().unwrap();
    for (expression, expected) in [
        ([0, 0, 1, 0], true),
        ([0, 0, -1, 1], true),
        ([-1, 1, -1, 0], true),
        ([-2, 2, 0, -1], true),
        ([-1, 1, 0, -1], false),
        ([0, 0, 1, -1], false),
        ([-1, 0, 1, 0], false),
        ([1, 0, -1, 0], false),
        // There is no point without parameters of at least 1.
        ([-1, 1, 0, 0], true),
    ] {
        assert_eq!(
            satisfy(&conditions, &expression),
            expected,
            "{expression:?}"
        );
    }
    let nothing = Set::read("{ S[i] : 0 <= i < 0 }").unwrap();
    assert!(satisfy(&nothing.nowhere_negative().unwrap(), &[-1, 1]));
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn what_is_nowhere_negative_is_so_at_all_points(
        a in set(&[S, T]),
        expression in prop::collection::vec(-3..4i64, 3),
    ) {
        for set in UnionSet::new(&a.pieces)?.sets()? {
            let least = set.points(LIMIT)?.iter().map(|p| {
                let terms = expression[1..].iter().zip(&p.coordinates);
                expression[0] + terms.map(|(c, x)| c * x).sum::<i64>()
            }).min();
            let count = set.sample()?.map_or(0, |p| p.coordinates.len());
            let conditions = set.nowhere_negative()?;
            let claimed = satisfy(&conditions, &expression[..=count]);
            prop_assert!(!claimed || least.is_none_or(|least| least >= 0));
        }
    }
}
