//! Random programs through random transformations: what every nest computes is what its
//! definition says, by two interpreters that know nothing of each other, and by the C.

// What recipes and the machine must provide for the test to say anything.
#![allow(clippy::expect_used)]

mod compiled;
mod config;
mod functions;
mod generator;
mod oracle;
mod programs;
mod races;
mod verdicts;

use config::config;
use generator::{consumer, fused, moves, recipe, step, store};
use proptest::prelude::*;
use teml::analysis::verify::verify;
use teml::codegen::{self, NoCode};
use teml::interp::store::Data;
use teml::interp::{definition, execute};
use teml::ir::{Expr, Nest, parse_expr, parse_nest};
use teml::lower::build::build;
use teml::transform::tensor::with_shapes;

/// The elements as text, which compares NaN with NaN, and 0 with -0: of zeros of both signs the
/// least is the one that comes last.
fn comparable(data: &Data<'_>) -> String {
    match data {
        Data::F64(d) => format!("{:?}", d.iter().map(|x| x + 0.0).collect::<Vec<_>>()),
        Data::F32(d) => format!("{:?}", d.iter().map(|x| x + 0.0).collect::<Vec<_>>()),
        integers => format!("{integers:?}"),
    }
}

/// Runs a nest and compares every tensor with the definition.
fn check(nest: &Nest) -> Result<(), TestCaseError> {
    verify(nest).map_err(|e| TestCaseError::fail(format!("{e}\n{nest}")))?;
    let mut expected = store(nest.definition());
    let mut actual = expected.clone();
    let fail = |e: teml::interp::Fault| TestCaseError::fail(format!("{e}\n{nest}"));
    definition::run(nest.definition(), &mut expected).map_err(fail)?;
    execute::run(nest, &mut actual).map_err(fail)?;
    for (name, data) in &expected {
        prop_assert_eq!(
            comparable(data),
            comparable(&actual[name]),
            "{}\n{}",
            name,
            nest
        );
    }
    Ok(())
}

fn check_text(nest: &Nest) -> Result<(), TestCaseError> {
    let text = nest.to_string();
    let parsed = parse_nest(&text).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
    prop_assert_eq!(parsed.to_string(), text);
    Ok(())
}

fn check_expression_text(expr: &Expr) -> Result<(), TestCaseError> {
    let text = expr.to_string();
    let parsed = parse_expr(&text).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
    prop_assert_eq!(with_shapes(&parsed), Ok(expr.clone()), "{}", text);
    Ok(())
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn every_accepted_step_keeps_the_meaning(recipe in recipe(), moves in moves(8)) {
        let assignment = recipe.assignment("");
        check_expression_text(&assignment)?;
        let mut nest = build(&assignment).expect("recipes build");
        check(&nest)?;
        for chosen in &moves {
            let before = nest.to_string();
            if let Ok(after) = step(&nest, chosen) {
                // A refusal by `verify` is the door's business, as in `apply`.
                if verify(&after).is_ok() {
                    check(&after)?;
                    check_text(&after)?;
                    prop_assert_eq!(before, nest.to_string(), "an argument was changed");
                    nest = after;
                }
            }
        }
        match codegen::generate(std::slice::from_ref(&nest), "kernel") {
            Ok(_) | Err(NoCode::Race { .. }) => {}
            Err(e) => return Err(TestCaseError::fail(format!("{e}\n{nest}"))),
        }
    }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn independent_nests_fuse(
        recipe in recipe(),
        level in 0..5i64,
        first in moves(2),
        moves in moves(3),
    ) {
        // The same extents, other tensors.
        let (one, two) = (recipe.assignment("a"), recipe.assignment("b"));
        let mut nests = [build(&one).expect("builds"), build(&two).expect("builds")];
        for nest in &mut nests {
            for chosen in &first {
                match step(nest, chosen) {
                    Ok(after) if verify(&after).is_ok() => *nest = after,
                    _ => {}
                }
            }
        }
        let fused = fused(&nests[0], &nests[1], level);
        if let Some(mut nest) = fused.ok().filter(|nest| verify(nest).is_ok()) {
            check(&nest)?;
            for chosen in &moves {
                match step(&nest, chosen) {
                    Ok(after) if verify(&after).is_ok() => {
                        check(&after)?;
                        nest = after;
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn a_pointwise_consumer_fuses(mut recipe in recipe(), level in 0..5i64) {
        recipe.summed.clear();
        recipe.rotation = 0;
        let one = recipe.assignment("a");
        let two = consumer(&one, "b");
        let nests = [build(&one).expect("builds"), build(&two).expect("builds")];
        if let Ok(nest) = fused(&nests[0], &nests[1], level) {
            check(&nest)?;
        }
    }
}
