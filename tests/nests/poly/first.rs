//! The first point of a piece by the simplex method equals isl's.

use proptest::prelude::*;
use teml::poly::{Linear, Piece, Relation, Set};

const NAMES: [&str; 4] = ["x", "y", "z", "n"];

/// A sum of multiples of the variables and a constant, which is at least 0, or 0.
type Demand = ([i64; 5], bool);

fn points(demands: &[Demand], least: [i64; 4]) -> Piece {
    let piece = Piece::set("S", NAMES);
    let piece = NAMES.iter().zip(least).fold(piece, |piece, (x, low)| {
        piece.constrain(low, Relation::LessOrEqual, *x)
    });
    demands.iter().fold(piece, |piece, (sum, is_equation)| {
        let terms = sum[..4].iter().copied().zip(NAMES);
        let relation = match is_equation {
            true => Relation::Equal,
            false => Relation::LessOrEqual,
        };
        piece.constrain(0, relation, Linear::new(terms, sum[4]))
    })
}

fn demand() -> impl Strategy<Value = Demand> {
    (prop::array::uniform5(-5_i64..6), prop::bool::weighted(0.2))
}

/// Numbers as loops over hundreds of iterations make them: large ones that differ little.
fn far() -> impl Strategy<Value = Demand> {
    let number = || prop::sample::select(vec![-999_i64, -998, -2, -1, 0, 1, 2, 998, 999]);
    let sum = [number(), number(), number(), number(), number()];
    (sum, prop::bool::weighted(0.1))
}

fn agree(piece: Piece) -> Result<(), TestCaseError> {
    let found = piece.first().unwrap();
    let expected = Set::new(&[piece])
        .unwrap()
        .lexmin()
        .unwrap()
        .sample()
        .unwrap();
    prop_assert_eq!(found, expected);
    Ok(())
}

proptest! {
    #[test]
    fn simplex_and_isl_agree(
        demands in prop::collection::vec(demand(), 1..7),
        least in prop::array::uniform4(-3_i64..4),
    ) {
        agree(points(&demands, least))?;
    }
}

proptest! {
    // isl takes long for these.
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn simplex_and_isl_agree_on_large_numbers(
        demands in prop::collection::vec(far(), 1..4),
        least in prop::array::uniform4(-3_i64..4),
    ) {
        agree(points(&demands, least))?;
    }
}
