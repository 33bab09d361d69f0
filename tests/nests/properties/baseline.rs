//! The baseline's schedules of random programs are legal and compute their definition.

use super::check;
use super::generator::{Recipe, consumer, recipe, stencil, windows};
use super::in_order::{recurrences, results};
use super::moves::{built, reproduction};
use super::programs::program;
use proptest::prelude::*;
use teml::baseline::{NoSchedule, Options, Setting, pluto};
use teml::ir::{Expr, Nest};
use teml::legality::{Reductions, Verdict};
use teml::transform::trace;

fn options() -> impl Strategy<Value = Options> {
    let switches = prop::collection::vec(any::<bool>(), 8);
    let sizes = prop::collection::vec(1..5i64, 1..3);
    let fuse = prop::sample::select(vec![
        "nofuse",
        "smartfuse",
        "maxfuse",
        "typedfuse",
        "hybridfuse",
    ]);
    let diamonds = any::<bool>();
    let given = (switches, sizes, 1..6i64, fuse, diamonds);
    given.prop_map(|(switches, sizes, ufactor, fuse, diamonds)| {
        let names = [
            "tile",
            "second_level_tile",
            "parallel",
            "prevector",
            "intratileopt",
            "unrolljam",
            "multipar",
            "rar",
        ];
        let switches = names.into_iter().zip(switches);
        let mut settings: Vec<(&str, Setting)> =
            switches.map(|(n, on)| (n, Setting::Switch(on))).collect();
        settings.push(("tile_sizes", Setting::Numbers(sizes.clone())));
        settings.push(("second_level_tile_sizes", Setting::Numbers(sizes)));
        settings.push(("ufactor", Setting::Number(ufactor)));
        settings.push(("fuse", Setting::Word(fuse.to_owned())));
        // An explicit request for impossible diamonds is refused.
        if !diamonds {
            settings.push(("diamondtile", Setting::Switch(false)));
        }
        settings
            .iter()
            .try_fold(Options::default(), |o, (name, value)| o.with(name, value))
            .expect("these options exist")
    })
}

/// Asserts that the baseline's nest is legal, computes the definition, and equals the result of its
/// path.
fn holds(definition: &[Expr], options: &Options) -> Result<(), TestCaseError> {
    let nests: Vec<Nest> = definition.iter().map(built).collect();
    holds_for(&nests, options, |nest| check(std::slice::from_ref(nest)))
}

fn holds_for(
    nests: &[Nest],
    options: &Options,
    computes: impl Fn(&Nest) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let nest = match pluto(nests, options) {
        Ok(nest) => nest,
        // Loops over multiples of others have no affine bounds in another order.
        Err(error) if is_out_of_reach(&error) => return Ok(()),
        Err(error) => {
            let shown: Vec<String> = nests.iter().map(reproduction).collect();
            let shown = shown.join("\n\n");
            return Err(TestCaseError::fail(format!(
                "{error}\n{options:?}\n{shown}"
            )));
        }
    };
    let verdict = teml::legality::check(std::slice::from_ref(&nest), Reductions::Strict);
    prop_assert_eq!(verdict, Verdict::Legal, "{}", reproduction(&nest));
    computes(&nest)?;
    let json = trace::to_json(&nest).map_err(|e| TestCaseError::fail(e.to_string()))?;
    let again = trace::from_json(&json).map_err(|e| TestCaseError::fail(e.to_string()))?;
    prop_assert_eq!(&again, &nest);
    Ok(())
}

fn is_out_of_reach(error: &NoSchedule) -> bool {
    match error {
        NoSchedule::NoHyperplane { .. } | NoSchedule::Strided { .. } => true,
        NoSchedule::Local { .. } | NoSchedule::Steps { .. } => true,
        NoSchedule::NoPath(error) => error.text.ends_with("new bounds would need division"),
        _ => false,
    }
}

fn two(mut recipe: Recipe, kind: usize, distances: [i64; 2]) -> Vec<Expr> {
    recipe.rotation = 0;
    let first = recipe.assignment("a");
    let second = match kind {
        0 => consumer(&first, "b"),
        1 => stencil(&first, "b"),
        _ => windows(&first, "b", distances, kind - 2),
    };
    vec![first, second]
}

proptest! {
    #![proptest_config(super::config(60))]

    #[test]
    fn one_statement_is_scheduled(recipe in recipe(), options in options()) {
        holds(&[recipe.assignment("")], &options)?;
    }

    #[test]
    fn two_statements_are_scheduled(
        recipe in recipe(),
        kind in 0..5usize,
        distances in [0..3i64, 0..3i64],
        options in options(),
    ) {
        holds(&two(recipe, kind, distances), &options)?;
    }

    #[test]
    fn sweeps_and_time_steps_are_scheduled(source in recurrences(), options in options()) {
        let nest = source.nest();
        holds_for(std::slice::from_ref(&nest), &options, |scheduled| {
            prop_assert_eq!(results(scheduled), results(&nest));
            Ok(())
        })?;
    }

    #[test]
    fn statements_that_read_each_other_are_scheduled(program in program(), options in options()) {
        holds(&program.definition(), &options)?;
    }
}
