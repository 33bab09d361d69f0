//! Whether pieces have points: the quick test and isl against isl alone.

use super::config::config;
use proptest::prelude::*;
use teml::poly::{Linear, Map, Piece, Relation, Set};

const NAMES: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];

/// A constraint: coefficients, a constant, and how it compares with 0.
type Constraint = (Vec<i64>, i64, Relation);

fn constraints() -> impl Strategy<Value = Vec<Constraint>> {
    let coefficient =
        prop_oneof![4 => Just(0i64), 4 => -2..=2i64, 1 => -40..=40i64, 1 => Just(32i64)];
    let constant = prop_oneof![6 => -9..=9i64, 1 => -500..=500i64];
    let relation = prop_oneof![
        3 => Just(Relation::LessOrEqual),
        2 => Just(Relation::Less),
        1 => Just(Relation::Equal),
    ];
    let one = (
        prop::collection::vec(coefficient, NAMES.len()),
        constant,
        relation,
    );
    prop::collection::vec(one, 1..=16)
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn pieces_are_empty_where_isl_says_so(all in constraints(), hidden in 0..=2usize, is_map: bool) {
        let (own, others) = NAMES.split_at(NAMES.len() - hidden);
        let piece = if is_map {
            let to = own[3..].iter().map(|x| Linear::from(*x));
            Piece::set("S", own[..3].iter().copied()).to("T", to)
        } else { Piece::set("S", own.iter().copied()) };
        let piece = others.iter().fold(piece, |piece, x| piece.exists(x));
        let piece = all.iter().fold(piece, |piece, (coefficients, constant, relation)| {
            let terms = coefficients.iter().copied().zip(NAMES);
            piece.constrain(Linear::new(terms, *constant), *relation, 0)
        });
        let expected = if is_map { Map::new(std::slice::from_ref(&piece)).unwrap().is_empty() } else { Set::new(std::slice::from_ref(&piece)).unwrap().is_empty() };
        prop_assert_eq!(piece.is_empty().unwrap(), expected.unwrap(), "{}", piece);
    }
}
