//! Random programs through random transformations: every nest computes its definition, by two
//! independent interpreters and by the C.

use crate::config;
use crate::worker;

// Requirements of recipes and of the machine, without which the test says nothing.

mod advice;
mod baseline;
mod buffers;
mod collapsed;
mod compatible;
mod compiled;
mod consumers;
mod detours;
mod functions;
mod generator;
mod in_order;
mod machine;
mod moves;
mod mutants;
pub mod operators;
mod optimized;
mod oracle;
mod orders;
mod overwrites;
mod partitions;
mod plans;
mod producers;
mod programs;
mod races;
mod recomputes;
mod reuses;
mod sizes;
mod texts;
mod verdicts;

use config::config;
use consumers::finished;
use generator::{consumer, recipe, stencil, store};
use moves::{Move, built, fused, moves, reproduction, step};
use producers::combine;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;
use teml::analysis::verify::verify;
use teml::codegen::{self, NoCode};
use teml::interp::store::Data;
use teml::interp::{definition, execute};
use teml::ir::{Elem, Expr, Name, Nest, Tensor, parse_expr, parse_nest};
use teml::legality::{Reductions, Violation};
use teml::script::trees::{Closed, closed, of_expr, of_nest};
use teml::transform::tensor::with_shapes;
use teml::transform::{OPS, Returns};

/// The elements as text, so that NaN equals NaN, and 0 equals -0: the minimum of zeros of both
/// signs is the last one.
fn comparable(data: &Data<'_>) -> String {
    match data {
        Data::F64(d) => format!("{:?}", d.iter().map(|x| x + 0.0).collect::<Vec<_>>()),
        Data::F32(d) => format!("{:?}", d.iter().map(|x| x + 0.0).collect::<Vec<_>>()),
        integers => format!("{integers:?}"),
    }
}

/// Runs nests in order and compares every tensor with the definition. A failure shows the scripts
/// that make the nests.
fn check(nests: &[Nest]) -> Result<(), TestCaseError> {
    let fail = |what: String| {
        let nests: Vec<String> = nests.iter().map(reproduction).collect();
        TestCaseError::fail(format!("{what}\n{}", nests.join("\n\n")))
    };
    let definition: Vec<Expr> = nests.iter().flat_map(|n| n.definition().to_vec()).collect();
    let mut expected = store(&definition);
    let mut actual = expected.clone();
    definition::run(&definition, &mut expected).map_err(|e| fail(e.to_string()))?;
    for nest in nests {
        verify(nest).map_err(|e| fail(e.to_string()))?;
        execute::run(nest, &mut actual).map_err(|e| fail(e.to_string()))?;
    }
    let arguments: Vec<Tensor> = nests.iter().flat_map(Nest::tensors).collect();
    let is_argument = |name: &Name| arguments.iter().any(|t| t.name() == Some(name));
    for (name, data) in expected.iter().filter(|(name, _)| is_argument(name)) {
        let [expected, actual] = [data, &actual[name]].map(comparable);
        if expected != actual {
            return Err(fail(format!(
                "{name} is\n  {actual}\nand not\n  {expected}"
            )));
        }
    }
    Ok(())
}

/// Applies moves until this many are accepted, with a check after each.
fn advance(
    mut nest: Nest,
    moves: &[Move],
    accepted: usize,
    check: impl Fn(&Nest) -> Result<(), TestCaseError>,
) -> Result<Nest, TestCaseError> {
    let mut taken = 0;
    for chosen in moves {
        if taken == accepted {
            break;
        }
        let before = nest.to_string();
        if let Ok(after) = step(&nest, chosen) {
            check(&after)?;
            check_births(&nest, &after)?;
            prop_assert_eq!(before, nest.to_string(), "an argument was changed");
            nest = after;
            taken += 1;
        }
    }
    Ok(nest)
}

/// Handles of loops are told apart, and each is followed to a loop or to the step that ended it.
fn check_births(before: &Nest, after: &Nest) -> Result<(), TestCaseError> {
    let loops = after.loops();
    for (k, (_, l)) in loops.iter().enumerate() {
        let birth = l.birth().expect("a step made it");
        prop_assert!(after.path().has(&birth.step), "{}", l.name);
        let alone = loops[..k]
            .iter()
            .all(|(_, other)| !other.birth().expect("likewise").same(birth));
        prop_assert!(alone, "{} is twice in\n{}", l.name, reproduction(after));
    }
    for (_, l) in before.loops() {
        let birth = l.birth().expect("a step made it");
        let is_known = after.born(birth).is_some() || after.path().ended(birth).is_some();
        prop_assert!(is_known, "{} is lost in\n{}", l.name, reproduction(after));
    }
    Ok(())
}

fn check_text(nest: &Nest) -> Result<(), TestCaseError> {
    if nest.trees().is_empty() {
        // Loops that never run may be gone, and nothing uses the tensors.
        return Ok(());
    }
    let text = nest.to_string();
    let parsed = parse_nest(&text).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
    if parsed.tensors().len() < nest.tensors().len() {
        // The same, with elements that take a default: only the trees are left to compare.
        prop_assert_eq!(parsed.trees(), nest.trees());
        return Ok(());
    }
    // Without a definition, tensors are declared in the order in which they are used.
    if nest.locals().is_empty() && nest.definition().len() == 1 {
        prop_assert_eq!(parsed.to_string(), text)
    } else {
        prop_assert_eq!(&parsed, nest)
    }
    Ok(())
}

fn check_expression_text(expr: &Expr) -> Result<(), TestCaseError> {
    let text = expr.to_string();
    let parsed = parse_expr(&text).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
    prop_assert_eq!(&with_shapes(&parsed).unwrap(), expr, "{}", text);
    Ok(())
}

/// Trees are values both ways.
fn check_tree(expr: &Expr, nest: &Nest) -> Result<(), TestCaseError> {
    match closed(&of_expr(expr), Elem::default()) {
        Ok(Closed::Expr(same)) => prop_assert_eq!(&same, expr),
        other => prop_assert!(false, "{:?}\n{}", other, expr),
    }
    match closed(&of_nest(nest), Elem::default()) {
        Ok(Closed::Nest(same)) => prop_assert!(same.is(nest)),
        other => prop_assert!(false, "{:?}\n{}", other, nest),
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn what_is_made_of_a_tree_is_what_the_tree_was_made_of(recipe in recipe(), moves in moves(24)) {
        let assignment = recipe.assignment("");
        let nest = built(&assignment);
        check_tree(&assignment, &nest)?;
        for child in assignment.children() {
            check_tree(child, &nest)?;
        }
        advance(nest, &moves, 8, |after| check_tree(&assignment, after))?;
    }

    #[test]
    fn every_accepted_step_keeps_the_meaning(recipe in recipe(), moves in moves(24)) {
        let assignment = recipe.assignment("");
        check_expression_text(&assignment)?;
        let nest = built(&assignment);
        check(std::slice::from_ref(&nest))?;
        let nest = advance(nest, &moves, 8, |after| {
            check(std::slice::from_ref(after))?;
            check_text(after)
        })?;
        match codegen::generate(std::slice::from_ref(&nest), "kernel", Reductions::Reassociate) {
            Ok(_) => {}
            // Loops are marked whether they are independent or not.
            Err(NoCode::Illegal(why)) if matches!(*why, Violation::Concurrent { .. }) => {}
            Err(e) => return Err(TestCaseError::fail(format!("{e}\n{}", reproduction(&nest)))),
        }
    }
}

proptest! {
    #![proptest_config(config(150))]

    /// A statement, one that reads its result element by element, and a stencil of that.
    #[test]
    fn programs_keep_their_meaning(
        mut recipe in recipe(),
        level in 0..5i64,
        moves in prop::collection::vec(moves(16), 3),
    ) {
        recipe.rotation = 0;
        let one = recipe.assignment("a");
        let two = consumer(&one, "b");
        let three = stencil(&two, "c");
        let [one, two, three] = [one, two, three].map(|assignment| built(&assignment));
        // Reduction loops are inside the loops that both nests share.
        let shared = usize::try_from(level).is_ok_and(|level| level <= recipe.extents.len());
        let mut program = match fused(&one, &two, level) {
            Ok(nest) if shared => vec![nest, three],
            _ => vec![one, two, three],
        };
        check(&program)?;
        for (k, moves) in moves.iter().enumerate().take(program.len()) {
            let moves: Vec<Move> = moves.iter().filter(|m| !m.mixes_statements()).cloned().collect();
            let nest = program[k].clone();
            program[k] = advance(nest, &moves, 8, |after| {
                let mut program = program.clone();
                program[k] = after.clone();
                check(&program)
            })?;
        }
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn independent_nests_fuse(
        recipe in recipe(),
        level in 0..5i64,
        first in moves(0..=2),
        moves in moves(0..=8),
    ) {
        // The same extents, other tensors.
        let assignments = [recipe.assignment("a"), recipe.assignment("b")];
        let mut nests = Vec::new();
        for assignment in &assignments {
            nests.push(advance(built(assignment), &first, 2, |_| Ok(()))?);
        }
        if let Ok(nest) = fused(&nests[0], &nests[1], level) {
            check(std::slice::from_ref(&nest))?;
            advance(nest, &moves, 8, |after| check(std::slice::from_ref(after)))?;
        }
    }
}

/// An operation needs its own move to occur in random sequences.
#[test]
fn every_operation_on_nests_has_a_move() {
    let mut runner = TestRunner::new(config(1));
    let mut taken = BTreeSet::new();
    let strategy = (recipe(), moves(40));
    for case in 0..300 {
        let (recipe, moves) = strategy.new_tree(&mut runner).expect("a value").current();
        let one = recipe.assignment("a");
        let nests = [&one, &consumer(&one, "b")].map(built);
        let both = match case % 5 {
            0 => fused(&nests[0], &nests[1], 1),
            1 => combine(&nests, None),
            2 => combine(&nests, Some(case)),
            3 => finished(&nests, case),
            _ => Ok(nests[0].clone()),
        };
        let mut nest = both.unwrap_or_else(|_| nests[0].clone());
        for chosen in &moves {
            nest = step(&nest, chosen).unwrap_or(nest);
        }
        taken.extend(nest.path().steps().iter().map(|step| step.op));
    }
    // `assume` changes no tree and suppresses proofs. The test of sizes takes the next two steps.
    // Dimensions are read as one before all other steps (`collapsed.rs`).
    // Programs in order begin with the three after them. Operations that move values to other buffers,
    // or that change the definition, are not always legal. Iterations that copy ahead of use stay in
    // order. Nests of devices have properties of their own (`device.rs`). Only texts (`texts.rs`) have
    // running sums.
    let apart = [
        "bind",
        "place",
        "double_buffer",
        "assume",
        "collapse",
        "specialize",
        "prefer",
        "sweep",
        "nest",
        "repeat",
        "avoid_copy",
        "reduce_cache_miss",
        "reuse_buffer",
        "donate",
        "redefine",
        "scan",
        "fold",
        "regroup",
    ];
    let tried = |op: &&&teml::transform::Op| !apart.contains(&op.name);
    let on_nests = OPS
        .iter()
        .filter(|op| op.returns == Returns::Nest)
        .filter(tried);
    let missing: Vec<&str> = on_nests
        .map(|op| op.name)
        .filter(|n| !taken.contains(n))
        .collect();
    assert_eq!(missing, [] as [&str; 0]);
}
