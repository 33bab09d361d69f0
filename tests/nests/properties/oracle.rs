//! Translation validation against random programs. It accepts all legal steps, finds every kind of
//! damage, and agrees with numbers and with brute force on races.

use super::generator::{consumer, recipe};
use super::moves::{built, fused, moves, reproduction, step};
use super::races::conflicts;
use proptest::prelude::*;
use std::cell::Cell;
use std::sync::Arc;
use teml::analysis::verify::verify;
use teml::interp::store::{Data, Store};
use teml::interp::symbolic::{Answer, Policy, compare};
use teml::interp::{Fault, definition, execute};
use teml::ir::{Expr, Loop, Mode, Nest, Tree};

pub(super) fn answer(nest: &Nest) -> Result<Answer, Fault> {
    compare(std::slice::from_ref(nest), Policy::Reassociate, &|| false)
}

/// The trees without parallel and vector loops.
fn unmarked(trees: &[Tree]) -> Vec<Tree> {
    let plain = |tree: &Tree| match tree {
        Tree::Loop(l) => Tree::of_loop(Loop {
            mode: Mode::Serial,
            body: unmarked(&l.body),
            ..(**l).clone()
        }),
        other => other.clone(),
    };
    trees.iter().map(plain).collect()
}

fn is_equal(nest: &Nest) -> Result<(), TestCaseError> {
    let plain = nest.with_trees(unmarked(nest.trees()));
    match answer(&plain) {
        Ok(Answer::Equal { .. }) => {}
        Ok(other) => {
            return Err(TestCaseError::fail(format!(
                "{other}\n{}",
                reproduction(nest)
            )));
        }
        Err(fault) => {
            return Err(TestCaseError::fail(format!(
                "{fault}\n{}",
                reproduction(nest)
            )));
        }
    }
    let found = answer(nest).map_err(|e| TestCaseError::fail(e.to_string()))?;
    let races = matches!(found, Answer::Conflict(_));
    prop_assert_eq!(races, conflicts(nest), "{}\n{}", found, reproduction(nest));
    Ok(())
}

proptest! {
    #![proptest_config(super::config(300))]

    #[test]
    fn legal_steps_change_no_value(recipe in recipe(), moves in moves(0..=12)) {
        let mut nest = built(&recipe.assignment(""));
        for chosen in &moves {
            if let Ok(after) = step(&nest, chosen) {
                nest = after;
            }
        }
        is_equal(&nest)?;
    }

    #[test]
    fn legal_fusions_change_no_value(mut recipe in recipe(), level in 1..5i64) {
        let (one, two) = (recipe.assignment("a"), recipe.assignment("b"));
        let nests = [built(&one), built(&two)];
        if let Ok(nest) = fused(&nests[0], &nests[1], level) {
            is_equal(&nest)?;
        }
        recipe.summed.clear();
        recipe.rotation = 0;
        let one = recipe.assignment("a");
        let nests = [&one, &consumer(&one, "b")].map(built);
        if let Ok(nest) = fused(&nests[0], &nests[1], level) {
            is_equal(&nest)?;
        }
    }
}

/// A way to break a nest; the number chooses where.
#[derive(Clone, Copy, Debug)]
pub enum Damage {
    /// A statement or fill is left out.
    Drop,
    /// It is there twice.
    Double,
    /// It comes after the next tree.
    Later,
    /// A statement writes the element before.
    Nudge,
    /// A loop ends an iteration early.
    Short,
}

pub const DAMAGES: [Damage; 5] = [
    Damage::Drop,
    Damage::Double,
    Damage::Later,
    Damage::Nudge,
    Damage::Short,
];

/// The trees with damage done to the tree whose number `countdown` reaches 0 at.
pub fn broken(trees: &[Tree], damage: Damage, countdown: &Cell<usize>) -> Vec<Tree> {
    let mut result: Vec<Tree> = Vec::new();
    let mut rest = trees.iter();
    while let Some(tree) = rest.next() {
        let here = countdown.get() == 0;
        countdown.set(countdown.get().wrapping_sub(1));
        let inside = match tree {
            Tree::Loop(l) => {
                let mut l = (**l).clone();
                if here {
                    l.range.upper = l.range.upper.iter().map(|b| b.plus_constant(-1)).collect();
                }
                l.body = broken(&l.body, damage, countdown);
                Tree::of_loop(l)
            }
            other => other.clone(),
        };
        match (here, damage) {
            (true, Damage::Drop) => {}
            (true, Damage::Double) => result.extend([tree.clone(), tree.clone()]),
            (true, Damage::Later) => {
                result.extend(rest.next().cloned());
                result.push(tree.clone());
            }
            (true, Damage::Nudge) => result.push(match tree {
                Tree::Stmt(s) => {
                    let mut s = (**s).clone();
                    s.index = s.index.iter().map(|a| a.plus_constant(-1)).collect();
                    Tree::Stmt(Arc::new(s))
                }
                other => other.clone(),
            }),
            (true, Damage::Short) => result.push(inside),
            (false, _) => result.push(inside),
        }
    }
    result
}

/// Small integers by the seed, none zero.
fn random(definition: &[Expr], seed: u64) -> Store<'static> {
    let mut store = Store::new();
    for expr in definition {
        expr.for_each_access(&mut |tensor, _| {
            let name = tensor.name().expect("a name");
            let salt = name
                .as_str()
                .bytes()
                .fold(seed, |h, b| h ^ u64::from(b) << 7);
            let value = |k: u64| {
                let mixed = (k ^ salt)
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    .rotate_left(29);
                let mixed = mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40;
                let sign = if mixed & 1 == 0 { 1.0 } else { -1.0 };
                sign * (1 + (mixed >> 1) % 6) as f64
            };
            store.insert(name.clone(), Data::generate(tensor, value));
        });
    }
    store
}

/// Whether the nest computes its definition on random data.
fn computes(nest: &Nest, seed: u64) -> bool {
    let mut expected = random(nest.definition(), seed);
    let mut actual = expected.clone();
    definition::run(nest.definition(), &mut expected).expect("a value");
    let ran = execute::run(nest, &mut actual).is_ok();
    let same =
        |(name, data): (_, &Data)| super::comparable(data) == super::comparable(&actual[name]);
    ran && expected.iter().all(same)
}

#[test]
fn what_is_broken_is_found_whenever_numbers_show_it() {
    let (found, confirmed) = (Cell::new(0), Cell::new(0));
    let damage = prop::sample::select(DAMAGES.to_vec());
    let cases = (recipe(), moves(0..=8), damage, 0..20usize, any::<u64>());
    let mut runner = proptest::test_runner::TestRunner::new(super::config(600));
    let result = runner.run(&cases, |(recipe, moves, damage, place, seed)| {
        let mut nest = built(&recipe.assignment(""));
        for chosen in &moves {
            if let Ok(after) = step(&nest, chosen) {
                nest = after;
            }
        }
        let size: usize = nest.trees().iter().map(Tree::size).sum();
        let countdown = Cell::new(place % size.max(1));
        let trees = broken(&unmarked(nest.trees()), damage, &countdown);
        let nest = nest.with_trees(trees);
        if verify(&nest).is_err() {
            return Ok(());
        }
        match (answer(&nest), computes(&nest, seed)) {
            (Ok(Answer::Equal { .. }), computes) => {
                prop_assert!(computes, "{:?} was missed:\n{}", damage, nest);
            }
            (_, computes) => {
                found.set(found.get() + 1);
                confirmed.set(confirmed.get() + usize::from(!computes));
            }
        }
        Ok(())
    });
    let (found, confirmed): (usize, usize) = (found.get(), confirmed.get());
    println!("{found} nests were found broken; numbers show it for {confirmed}");
    assert!(result.is_ok(), "{result:?}");
    // Numbers are lost in minima, or multiplied by 0; most are not.
    assert!(found > 200 && 10 * confirmed > 8 * found);
}
