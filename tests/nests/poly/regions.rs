//! Random sets and relations in a small box, as pieces for isl and as predicates.

use proptest::prelude::*;
use std::collections::BTreeSet;
use teml::poly::{Linear, Piece, Point, Relation};

/// A set of points, or of pairs of points, all of them listed.
pub type Points = BTreeSet<Point>;
pub type Pairs = BTreeSet<(Point, Point)>;

/// A tuple: its name and how many coordinates it has. One name is an escaped one.
pub type Tuple = (&'static str, usize);
pub const S: Tuple = ("S", 2);
pub const T: Tuple = ("or", 1);

pub fn point(tuple: &str, coordinates: &[i64]) -> Point {
    Point {
        tuple: Some(tuple.to_owned()).filter(|t| !t.is_empty()),
        coordinates: coordinates.to_vec(),
    }
}

/// A box, cut by half spaces and hyperplanes, on a lattice.
#[derive(Clone, Debug)]
struct Region {
    low: Vec<i64>,
    extent: Vec<i64>,
    cuts: Vec<(Vec<i64>, Relation, i64)>,
    /// Coefficients, and the modulus and the remainder of their sum.
    lattice: Option<(Vec<i64>, i64, i64)>,
}

fn dot(coefficients: &[i64], x: &[i64]) -> i64 {
    coefficients.iter().zip(x).map(|(c, x)| c * x).sum()
}

fn region(dimensions: usize, extent: i64) -> impl Strategy<Value = Region> {
    let vector = move |low: i64, high: i64| prop::collection::vec(low..=high, dimensions);
    let relation = prop_oneof![
        Just(Relation::LessOrEqual),
        Just(Relation::Less),
        Just(Relation::Equal),
    ];
    (
        vector(-2, 2),
        vector(1, extent),
        prop::collection::vec((vector(-2, 2), relation, -3..=3i64), 0..3),
        prop::option::weighted(0.3, (vector(-2, 2), 2..=3i64, 0..=1i64)),
    )
        .prop_map(|(low, extent, cuts, lattice)| Region {
            low,
            extent,
            cuts,
            lattice,
        })
}

impl Region {
    fn points(&self) -> Vec<Vec<i64>> {
        let mut points = vec![Vec::new()];
        for (low, extent) in self.low.iter().zip(&self.extent) {
            let longer = points.iter().flat_map(|p: &Vec<i64>| {
                let values = *low..low + extent;
                values.map(move |x| p.iter().copied().chain([x]).collect())
            });
            points = longer.collect();
        }
        points.retain(|x| {
            let inside = self.cuts.iter().all(|(c, relation, bound)| match relation {
                Relation::Equal => dot(c, x) == *bound,
                Relation::LessOrEqual => dot(c, x) <= *bound,
                Relation::Less => dot(c, x) < *bound,
            });
            let lattice = self.lattice.as_ref();
            inside && lattice.is_none_or(|(c, m, r)| dot(c, x).rem_euclid(*m) == *r)
        });
        points
    }

    fn constrain(&self, mut piece: Piece, names: &[String]) -> Piece {
        let sum = |c: &[i64], constant: i64| {
            Linear::new(c.iter().copied().zip(names.iter().cloned()), constant)
        };
        for ((name, low), extent) in names.iter().zip(&self.low).zip(&self.extent) {
            piece = piece
                .constrain(*low, Relation::LessOrEqual, name.as_str())
                .constrain(name.as_str(), Relation::Less, low + extent);
        }
        for (c, relation, bound) in &self.cuts {
            piece = piece.constrain(sum(c, 0), *relation, *bound);
        }
        match &self.lattice {
            None => piece,
            Some((c, m, r)) => piece.exists("k").constrain(
                sum(c, -r),
                Relation::Equal,
                Linear::new([(*m, "k")], 0),
            ),
        }
    }
}

fn names(letter: &str, count: usize) -> Vec<String> {
    (0..count).map(|k| format!("{letter}{k}")).collect()
}

/// A set in isl's pieces and listed.
#[derive(Clone, Debug)]
pub struct RandomSet {
    pub pieces: Vec<Piece>,
    pub points: Points,
}

pub fn set(tuples: &'static [Tuple]) -> impl Strategy<Value = RandomSet> {
    let piece = prop::sample::select(tuples)
        .prop_flat_map(|tuple| (Just(tuple), region(tuple.1, 6)))
        .prop_map(|((tuple, count), region)| {
            let names = names("i", count);
            let piece = Piece::set(tuple, names.iter().map(String::as_str));
            let points: Vec<Point> = region.points().iter().map(|x| point(tuple, x)).collect();
            (region.constrain(piece, &names), points)
        });
    prop::collection::vec(piece, 1..4).prop_map(|all| {
        let (pieces, points): (_, Vec<_>) = all.into_iter().unzip();
        let points = points.into_iter().flatten().collect();
        RandomSet { pieces, points }
    })
}

/// A relation in isl's pieces and listed.
#[derive(Clone, Debug)]
pub struct RandomMap {
    pub pieces: Vec<Piece>,
    pub pairs: Pairs,
}

pub fn map(tuples: &'static [(Tuple, Tuple)]) -> impl Strategy<Value = RandomMap> {
    let piece = prop::sample::select(tuples)
        .prop_flat_map(|(from, to)| (Just((from, to)), region(from.1 + to.1, 3)))
        .prop_map(|((from, to), region)| {
            let mut all = names("i", from.1);
            let piece = Piece::set(from.0, all.iter().map(String::as_str));
            let values = names("o", to.1);
            let piece = piece.to(to.0, values.iter().map(|n| Linear::from(n.as_str())));
            all.extend(values);
            let pairs = region.points().into_iter().map(|x| {
                let (one, two) = x.split_at(from.1);
                (point(from.0, one), point(to.0, two))
            });
            let pairs: Vec<_> = pairs.collect();
            (region.constrain(piece, &all), pairs)
        });
    prop::collection::vec(piece, 1..4).prop_map(|all| {
        let (pieces, pairs): (_, Vec<_>) = all.into_iter().unzip();
        let pairs = pairs.into_iter().flatten().collect();
        RandomMap { pieces, pairs }
    })
}
