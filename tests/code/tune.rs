//! Tuning: searches on known landscapes, and runs with stubbed times that are killed or have
//! failing candidates.

use std::collections::HashSet;
use teml::tune::{Domain, History, Outlook, Parameter, Point, Space, Strategy, Value};

fn listed<'a>(name: &str, values: impl IntoIterator<Item = i64>) -> Parameter<'a> {
    Parameter {
        name: name.to_owned(),
        domain: Domain::Listed(values.into_iter().map(Value::Int).collect()),
    }
}

fn int(point: &Point, name: &str) -> i64 {
    match point.get(name) {
        Some(Value::Int(n)) => *n,
        other => panic!("{name}: {other:?}"),
    }
}

/// Four parameters of 10 values each. One depends on another, and the sum of two is bounded.
fn landscape<'a>() -> Space<'a> {
    let of_a = |point: &Point| {
        let a = int(point, "a");
        Ok((0..10).map(|k| Value::Int(a + k)).collect())
    };
    let dependent = Parameter {
        name: "d".to_owned(),
        domain: Domain::Dependent(Box::new(of_a)),
    };
    let parameters = vec![
        listed("a", 0..10),
        listed("b", 0..10),
        listed("c", 0..10),
        dependent,
    ];
    let bounded = |point: &Point| Ok(int(point, "b") + int(point, "c") <= 14);
    Space::new(parameters, vec![Box::new(bounded)])
}

/// A valley with a wall in it: least where a is 7, b is 3, c is 5 and d is a + 2.
fn seconds(point: &Point) -> f64 {
    let far = |name: &str, best: i64| ((int(point, name) - best) as f64).powi(2);
    let wall = if int(point, "c") == 4 { 30.0 } else { 0.0 };
    1.0 + far("a", 7) + far("b", 3) + 2.0 * far("c", 5) + far("d", int(point, "a") + 2) + wall
}

/// The points that a strategy proposes, in order, with their times.
fn searched(strategy: Strategy, seed: u64, trials: usize, informed: bool) -> Vec<(Vec<u32>, f64)> {
    let space = landscape();
    let mut search = strategy.search(seed);
    let mut history = History::default();
    // A model that is right about one parameter, and wrong by a constant factor.
    let mut predict = |_: &Vec<u32>, point: &Point| {
        Ok(informed.then(|| 3.0 + ((int(point, "a") - 7) as f64).powi(2)))
    };
    let mut found = Vec::new();
    while found.len() < trials {
        let mut outlook = Outlook {
            space: &space,
            history: &history,
            predict: &mut predict,
            hurry: &|| false,
        };
        let batch = search.propose(&mut outlook, 8).unwrap();
        if batch.is_empty() {
            break;
        }
        for digits in batch {
            let (digits, point) = space.point(&digits).unwrap().expect("a point of the space");
            let time = seconds(&point);
            history.add(digits.clone(), Some(time));
            found.push((digits, time));
        }
    }
    found
}

fn best(found: &[(Vec<u32>, f64)]) -> f64 {
    found
        .iter()
        .map(|(_, time)| *time)
        .fold(f64::INFINITY, f64::min)
}

#[test]
fn no_point_is_proposed_twice_and_the_same_seed_proposes_the_same() {
    for (name, strategy) in Strategy::NAMES {
        let found = searched(strategy, 3, 200, true);
        let different: HashSet<&Vec<u32>> = found.iter().map(|(digits, _)| digits).collect();
        assert_eq!(different.len(), found.len(), "{name}");
        assert_eq!(found, searched(strategy, 3, 200, true), "{name}");
        if strategy != Strategy::Exhaustive {
            assert_ne!(found, searched(strategy, 4, 200, true), "{name}");
        }
    }
}

#[test]
fn exhaustive_and_random_reach_every_point() {
    // b + c <= 14 leaves 90 of 100 pairs.
    for strategy in [Strategy::Exhaustive, Strategy::Random] {
        let found = searched(strategy, 1, usize::MAX, false);
        assert_eq!(found.len(), 10 * 90 * 10, "{strategy:?}");
        assert!((best(&found) - 1.0).abs() < 1e-12);
    }
}

#[test]
fn guided_searches_come_closer_than_random_ones() {
    let typical = |strategy, informed| {
        let mut all: Vec<f64> = (0..9)
            .map(|seed| best(&searched(strategy, seed, 120, informed)))
            .collect();
        all.sort_by(f64::total_cmp);
        all[4]
    };
    let random = typical(Strategy::Random, false);
    for strategy in [Strategy::Hill, Strategy::Evolution, Strategy::Model] {
        let found = typical(strategy, true);
        assert!(found < random, "{strategy:?}: {found}, random: {random}");
    }
    assert!(typical(Strategy::Model, true) < 3.0);
}
