//! `schedules::optimize` succeeds on random programs, and its results are legal and compute the
//! definition.

use super::check;
use super::generator::{consumer, recipe, stencil};
use super::in_order::{recurrences, results};
use super::moves::{built, reproduction};
use super::programs::program;
use proptest::prelude::*;
use std::cell::RefCell;
use std::mem::ManuallyDrop;
use teml::ir::{Expr, Nest};
use teml::legality::{self, Reductions, Verdict};
use teml::script::Session;
use teml::transform::trace;
use teml::verbs::Workbench;

thread_local! {
    /// It lives as long as the process: thread-local data that it needs to be dropped may be gone
    /// when its thread ends.
    static SESSION: RefCell<ManuallyDrop<Session>> = RefCell::new(session());
}

fn session() -> ManuallyDrop<Session> {
    let session = Session::new(Box::new(std::io::sink()), Workbench::default());
    ManuallyDrop::new(session.unwrap_or_else(|error| panic!("{}", error.render(false))))
}

/// The nests that the schedule makes of others.
fn optimized(nests: &[Nest]) -> Result<Vec<Nest>, TestCaseError> {
    let fail = |what: String| {
        let shown: Vec<String> = nests.iter().map(reproduction).collect();
        TestCaseError::fail(format!("{what}\n{}", shown.join("\n\n")))
    };
    let texts = nests.iter().map(|nest| match trace::to_json(nest) {
        Ok(text) => Ok(format!("replay({text:?})")),
        Err(error) => Err(fail(error.to_string())),
    });
    let texts: Vec<String> = texts.collect::<Result<_, _>>()?;
    let call = match texts.as_slice() {
        [one] => format!("schedules::optimize({one})"),
        several => format!("schedules::optimize([{}])", several.join(", ")),
    };
    let made = SESSION.with_borrow_mut(|session| session.nests_of(&call));
    let made = made.map_err(|error| fail(error.render(false)))?;
    let verdict = legality::check(&made, Reductions::Strict);
    let shown: Vec<String> = made.iter().map(reproduction).collect();
    prop_assert_eq!(verdict, Verdict::Legal, "{}", shown.join("\n\n"));
    Ok(made)
}

fn holds(definition: &[Expr]) -> Result<(), TestCaseError> {
    let nests: Vec<Nest> = definition.iter().map(built).collect();
    check(&optimized(&nests)?)
}

proptest! {
    #![proptest_config(super::config(30))]

    #[test]
    fn one_statement_is_optimized(recipe in recipe()) {
        holds(&[recipe.assignment("")])?;
    }

    #[test]
    fn statements_in_a_row_are_optimized(mut recipe in recipe(), with_stencil in any::<bool>()) {
        recipe.rotation = 0;
        let one = recipe.assignment("a");
        let two = consumer(&one, "b");
        let three = stencil(&two, "c");
        holds(&if with_stencil { vec![one, two, three] } else { vec![one, two] })?;
    }

    #[test]
    fn statements_that_read_each_other_are_optimized(program in program()) {
        holds(&program.definition())?;
    }

    #[test]
    fn sweeps_and_time_steps_are_optimized(source in recurrences()) {
        let nest = source.nest();
        let made = optimized(std::slice::from_ref(&nest))?;
        prop_assert_eq!(made.len(), 1);
        prop_assert_eq!(results(&made[0]), results(&nest));
    }
}
