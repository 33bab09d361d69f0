//! Random programs with sizes through random steps: what is proved for all sizes computes its
//! definition at each of them, instance by instance. A refused nest is wrong at the sizes that the
//! refusal names.
//!
//! `TEML_CASES` sets the number of cases.

use super::generator::recipe;
use super::moves::{moves, reproduction, step};
use super::oracle::answer;
use super::verdicts::cases;
use super::{check, config};
use proptest::prelude::*;
use teml::interp::Fault;
use teml::interp::symbolic::Answer;
use teml::ir::{Arg, Name, Nest};
use teml::legality::{self, Reductions, Undecided, Verdict, Violation};
use teml::transform::nest::build::BUILD;
use teml::transform::nest::prefer::PREFER;
use teml::transform::nest::specialize::SPECIALIZE;
use teml::transform::{Value, apply};

/// The nest at some sizes.
fn at(nest: &Nest, values: &[i64]) -> Nest {
    let fitted = own_sizes(nest)
        .into_iter()
        .zip(values)
        .map(|(name, value)| {
            let fitted = name.size().map(|size| size.with_likely(*value).likely);
            (name, fitted.unwrap_or(*value))
        });
    nest.at_sizes(&fitted.collect::<Vec<(Name, i64)>>())
}

/// The sizes that are not derived.
fn own_sizes(nest: &Nest) -> Vec<Name> {
    let sizes = nest.sizes().into_iter();
    let own = sizes.filter(|name| name.size().is_some_and(|size| size.of.is_none()));
    own.collect()
}

/// A condition on some sizes of a nest.
fn condition(nest: &Nest, drawn: &[(u8, i64)]) -> Option<String> {
    let each = own_sizes(nest).into_iter().zip(drawn);
    let each = each.filter_map(|(name, (kind, number))| match kind {
        0 => Some(format!("{name} <= {number}")),
        1 => Some(format!("{name} >= {number}")),
        2 => Some(format!("{name} % {number} == 0")),
        3 => Some(format!("{name} == {number}")),
        _ => None,
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| each.join(" && "))
}

/// A choice of plans for some sizes, and as a variant of another plan, runs what it did.
fn keeps_choosing(
    built: &Nest,
    both: &Nest,
    narrower: &str,
    points: &[Vec<i64>],
) -> Result<(), TestCaseError> {
    let on = |nest: &Nest, arg: Arg| [Arg::Nest(nest.clone()), arg];
    let Ok(Value::Nest(some)) = apply(&SPECIALIZE, &on(both, Arg::Word(narrower.into())), None)
    else {
        return Ok(());
    };
    let chosen = apply(&PREFER, &on(built, Arg::Nest(some.clone())), None);
    // A condition may hold for all sizes.
    let chosen = chosen.and_then(|value| value.nest());
    let verdict =
        |nest: &Nest| legality::check(std::slice::from_ref(nest), Reductions::Reassociate);
    prop_assert_eq!(verdict(&some), Verdict::Legal);
    for point in points {
        let values: Vec<(Name, i64)> = own_sizes(both).into_iter().zip(point.clone()).collect();
        let value = |name: &Name| {
            let mut values = values.iter();
            values.find_map(|(known, value)| (known == name).then_some(*value))
        };
        let fits = some.condition().holds(&value);
        let expected = if fits { both } else { built }.at_sizes(&values);
        if fits {
            prop_assert_eq!(&some.at_sizes(&values), &expected, "at {:?}", point);
        }
        if let Ok(chosen) = &chosen {
            prop_assert_eq!(&chosen.at_sizes(&values), &expected, "at {:?}", point);
        }
    }
    Ok(())
}

/// Of two plans, the one for these sizes runs at each of them.
fn chooses(
    fallback: &Nest,
    variant: &Nest,
    points: &[Vec<i64>],
    narrower: Option<String>,
) -> Result<(), TestCaseError> {
    let args = [fallback, variant].map(|nest| Arg::Nest(nest.clone()));
    let both = apply(&PREFER, &args, None).and_then(|value| value.nest());
    let both = both.map_err(|error| {
        let shown = reproduction(variant);
        TestCaseError::fail(format!("{}: {}\n{shown}", error.text, variant.condition()))
    })?;
    let verdict = legality::check(std::slice::from_ref(&both), Reductions::Reassociate);
    prop_assert_eq!(verdict, Verdict::Legal);
    for point in points {
        let one = at(&both, point);
        let values: Vec<(Name, i64)> = own_sizes(&both).into_iter().zip(point.clone()).collect();
        let value = |name: &Name| {
            let mut values = values.iter();
            values.find_map(|(known, value)| (known == name).then_some(*value))
        };
        let fits = variant.condition().holds(&value);
        let chosen = if fits { variant } else { fallback };
        prop_assert_eq!(&one, &chosen.at_sizes(&values));
        let found = check(std::slice::from_ref(&one));
        found.map_err(|error| TestCaseError::fail(format!("at {point:?}: {error}")))?;
    }
    match narrower {
        Some(narrower) => keeps_choosing(fallback, &both, &narrower, points),
        None => Ok(()),
    }
}

fn has_partial_results(nest: &Nest) -> bool {
    // Also as a step on a part.
    let steps = nest.path().steps().into_iter();
    let mut steps = steps.map(|step| step.to_string());
    steps.any(|step| step.contains("rfactor"))
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
            let one = nest.at_sizes(values);
            let verdict = legality::check(all(&one), Reductions::Reassociate);
            prop_assert!(matches!(verdict, Verdict::Illegal(_)), "{verdict:?}");
            if matches!(answer(&one), Ok(Answer::Equal { .. })) {
                return Err(fail(format!("equal at {values:?}: {why}")));
            }
            return Ok(());
        }
        // Partial results without terms are not proved to add nothing.
        Verdict::Undecided(_) if has_partial_results(nest) => return Ok(()),
        // Each iteration of a sum copies its value, and nothing limits their number.
        Verdict::Undecided(Undecided::Copied) => return Ok(()),
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
        match answer(&one) {
            Ok(Answer::Equal { .. }) => {}
            // Tensors of eight dimensions may have more elements than symbolic execution follows.
            Err(Fault::TooLarge { .. }) => {}
            other => return Err(fail(format!("at {point:?}: {other:?}"))),
        }
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
        points in prop::collection::vec(prop::collection::vec(0..=12i64, 8), 3),
        drawn in prop::collection::vec((0..8u8, 1..6i64), 8),
        narrower in prop::collection::vec((0..8u8, 1..6i64), 8),
        when in 0..5usize,
    ) {
        recipe.sized = true;
        let assignment = recipe.assignment("");
        let built = apply(&BUILD, &[Arg::Expr(assignment)], None);
        let Ok(mut nest) = built.and_then(|value| value.nest()) else {
            return Ok(());
        };
        // Tensors of many dimensions have too many elements.
        let most = if own_sizes(&nest).len() > 2 { 5 } else { 12 };
        let fitted = |point: &Vec<i64>| point.iter().map(|value| value % (most + 1)).collect();
        let points: Vec<Vec<i64>> = points.iter().map(fitted).collect();
        is_right(&nest, &points)?;
        let built = nest.clone();
        let mut taken = 0;
        for chosen in &moves {
            if taken == 5 {
                break;
            }
            if taken == when && nest.condition().is_empty()
                && let Some(condition) = condition(&nest, &drawn)
                && let args = [Arg::Nest(nest.clone()), Arg::Word(condition)]
                && let Ok(Value::Nest(narrowed)) = apply(&SPECIALIZE, &args, None)
            {
                is_right(&narrowed, &points)?;
                nest = narrowed;
            }
            if let Ok(after) = step(&nest, chosen) {
                is_right(&after, &points)?;
                nest = after;
                taken += 1;
            }
        }
        let verdict = legality::check(std::slice::from_ref(&nest), Reductions::Reassociate);
        if !nest.condition().is_empty() && verdict == Verdict::Legal {
            chooses(&built, &nest, &points, condition(&built, &narrower))?;
        }
    }
}
