//! Random programs through random transformations: what every nest computes is what its
//! definition says, by two interpreters that know nothing of each other, and by the C.

// What recipes and the machine must provide for the test to say anything.
#![allow(clippy::expect_used)]

mod buffers;
mod compiled;
mod config;
mod functions;
mod generator;
mod races;

use config::config;
use generator::{consumer, fused, moves, recipe, step, store};
use proptest::prelude::*;
use teml::analysis::verify::verify;
use teml::codegen::{self, NoCode};
use teml::interp::store::Data;
use teml::interp::{definition, execute};
use teml::ir::{Expr, Name, Nest, parse_expr, parse_nest};
use teml::lower::build::build;
use teml::transform::Error;
use teml::transform::nest::localize::localize;
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
    let arguments = nest.tensors();
    let is_argument = |name: &Name| arguments.iter().any(|t| t.name() == Some(name));
    for (name, data) in expected.iter().filter(|(name, _)| is_argument(name)) {
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

/// What `apply` does with a result.
fn verified(nest: Nest) -> Result<Nest, Error> {
    match verify(&nest) {
        Ok(()) => Ok(nest),
        Err(invalid) => Err(invalid.into()),
    }
}

fn check_text(nest: &Nest) -> Result<(), TestCaseError> {
    let text = nest.to_string();
    let parsed = parse_nest(&text).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
    // Without a definition, tensors are declared in the order in which they are used.
    match nest.locals().is_empty() {
        true => prop_assert_eq!(parsed.to_string(), text),
        false => prop_assert_eq!(&parsed, nest),
    }
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
        level in 1..5i64,
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
    fn a_pointwise_consumer_fuses(
        mut recipe in recipe(),
        level in 1..5i64,
        moves in moves(3),
    ) {
        recipe.summed.clear();
        recipe.rotation = 0;
        let one = recipe.assignment("a");
        let two = consumer(&one, "b");
        let nests = [build(&one).expect("builds"), build(&two).expect("builds")];
        if let Ok(nest) = fused(&nests[0], &nests[1], level) {
            check(&nest)?;
            // Whatever is in common, an iteration sets what it reads, unless it reads old values.
            let local = localize(&nest, "Ra");
            if recipe.accumulates {
                prop_assert!(local.is_err(), "{}", nest);
                return Ok(());
            }
            let local = local.map_err(|e| TestCaseError::fail(format!("{}\n{nest}", e.kind)))?;
            check(&local)?;
            check_text(&local)?;
            let (mut nest, mut local) = (nest, local);
            for chosen in moves.iter().filter(|m| !m.brings_together()) {
                if let Ok(after) = step(&local, chosen).and_then(verified) {
                    check(&after)?;
                    local = after;
                }
                // After a move it may be refused.
                if let Ok(after) = step(&nest, chosen).and_then(verified) {
                    if let Ok(local) = localize(&after, "Ra").and_then(verified) {
                        check(&local)?;
                    }
                    nest = after;
                }
            }
        }
    }
}
