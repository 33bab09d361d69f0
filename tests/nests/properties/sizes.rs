//! Random programs with sizes through random steps: what is proved for all sizes computes its
//! definition at each of them.
//!
//! `TEML_CASES` sets the number of cases.

use super::generator::recipe;
use super::moves::{moves, reproduction, step};
use super::verdicts::cases;
use super::{check, config};
use proptest::prelude::*;
use teml::ir::{Arg, Name, Nest};
use teml::legality::{self, Reductions, Verdict, Violation};
use teml::transform::apply;
use teml::transform::nest::build::BUILD;

/// The nest at some sizes.
fn at(nest: &Nest, values: &[i64]) -> Nest {
    let sizes = nest.sizes().into_iter();
    let own = sizes.filter(|name| name.size().is_some_and(|size| size.of.is_none()));
    let values: Vec<(Name, i64)> = own.zip(values.iter().copied()).collect();
    nest.at_sizes(&values).specialized()
}

fn has_partial_results(nest: &Nest) -> bool {
    nest.path().steps().iter().any(|step| step.op == "rfactor")
}

/// Compares a nest with its definition at several sizes, and its verdict with those at numbers.
fn is_right(nest: &Nest, points: &[Vec<i64>]) -> Result<(), TestCaseError> {
    let fail = |what: String| TestCaseError::fail(format!("{what}\n{}", reproduction(nest)));
    let all = std::slice::from_ref;
    match legality::check(all(nest), Reductions::Reassociate) {
        Verdict::Legal => {}
        Verdict::Illegal(why) => {
            // It is wrong at the sizes that it names.
            let Violation::AtSizes { at: values, .. } = &*why else {
                return Ok(());
            };
            let one = nest.at_sizes(values).specialized();
            let verdict = legality::check(all(&one), Reductions::Reassociate);
            prop_assert!(matches!(verdict, Verdict::Illegal(_)), "{verdict:?}");
            return Ok(());
        }
        // Partial results without terms are not proved to add nothing.
        Verdict::Undecided(_) if has_partial_results(nest) => return Ok(()),
        Verdict::Undecided(why) => return Err(fail(why.to_string())),
    }
    for point in points {
        let one = at(nest, point);
        // Sizes limit all loops.
        for (_, l) in one.loops() {
            let (first, end) = l.range.as_constant().unwrap_or_default();
            prop_assert!(
                end - first < 1000,
                "{} in {one}\n{}",
                l.name,
                reproduction(nest)
            );
        }
        let found = check(all(&one));
        found.map_err(|error| fail(format!("at {point:?}: {error}")))?;
        let verdict = legality::check(all(&one), Reductions::Reassociate);
        if verdict != Verdict::Legal {
            return Err(fail(format!("at {point:?}: {verdict:?}")));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(cases(60)))]

    #[test]
    fn what_is_proved_for_all_sizes_is_right_at_each(
        mut recipe in recipe(),
        moves in moves(16),
        points in prop::collection::vec(prop::collection::vec(0..6i64, 8), 3),
    ) {
        recipe.sized = true;
        let assignment = recipe.assignment("");
        let built = apply(&BUILD, &[Arg::Expr(assignment)], None);
        let Ok(mut nest) = built.and_then(|value| value.nest()) else {
            return Ok(());
        };
        is_right(&nest, &points)?;
        let mut taken = 0;
        for chosen in &moves {
            if taken == 5 {
                break;
            }
            if let Ok(after) = step(&nest, chosen) {
                is_right(&after, &points)?;
                nest = after;
                taken += 1;
            }
        }
    }
}
