//! Random consumers in the loops of transformed random producers. Nests that are proved legal are
//! equal, instance by instance and in numbers. Refused nests are wrong, or compute something twice.

use super::config::config;
use super::generator::{consumer, recipe};
use super::moves::{built, call, moves, reproduction, step};
use super::{check, check_text};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use std::slice::from_ref;
use teml::analysis::position;
use teml::analysis::verify::verify;
use teml::interp::symbolic::{self, Answer, Policy};
use teml::ir::{Nest, Tree};
use teml::legality::{self, Reductions, Verdict, Violation};
use teml::transform::nest::reuse_buffer::REUSE_BUFFER;
use teml::transform::nest::reverse_compute_at::REVERSE_COMPUTE_AT;
use teml::transform::{Arg, Error, LoopRef, apply};

/// The second nest in a loop of the first one, or, for every fourth place, in two of them.
pub fn finished([producer, consumer]: &[Nest; 2], place: usize) -> Result<Nest, Error> {
    let all = producer.loops();
    let nth = |k: usize| match k % (all.len() + 1) {
        0 => LoopRef::Level(0),
        k => LoopRef::Name(all[k - 1].1.name.to_string()),
    };
    let at = match place % 4 {
        0 => Arg::Loops(vec![nth(place / 4), nth(place / 4 + 1)]),
        _ => Arg::Loop(nth(place / 4)),
    };
    let args = [Arg::Nest(producer.clone()), Arg::Nest(consumer.clone()), at];
    apply(&REVERSE_COMPUTE_AT, &args, None)?.nest()
}

/// The nest with the second assignment's tensor in the place of the first one's.
fn in_place(nest: &Nest) -> Option<Nest> {
    let [producer, consumer] = &**nest.definition() else {
        return None;
    };
    let word = |e: &teml::ir::Expr| Some(Arg::Word(e.tensor()?.label().to_owned()));
    let tensors = [word(producer)?, word(consumer)?];
    call(nest, &REUSE_BUFFER, tensors).ok()
}

/// How many statements assign the tensor that an instance, such as `Sb[0] = Ra[0]`, assigns.
fn assigned(nest: &Nest, instance: &str) -> usize {
    let mut count = 0;
    position::walk(nest.trees(), &mut |_, _, tree| {
        if let Tree::Stmt(s) = tree {
            let own = instance.strip_prefix(s.target.label());
            count += usize::from(own.is_some_and(|rest| rest.starts_with('[')));
        }
    });
    count
}

#[test]
fn what_finishes_elements_is_right_or_refused() {
    let counts: [Cell<u32>; 3] = Default::default();
    let [legal, kept, illegal] = &counts;
    let more = |count: &Cell<u32>| count.set(count.get() + 1);
    let mut runner = TestRunner::new(config(500));
    let cases = (recipe(), moves(0..=5), 0..40usize);
    let result = runner.run(&cases, |(mut first, moves, place)| {
        first.rotation = 0;
        let one = first.assignment("a");
        let nests = [built(&one), built(&consumer(&one, "b"))];
        let [mut producer, consumer] = nests;
        for chosen in moves.iter().filter(|m| !m.mixes_statements()) {
            match step(&producer, chosen) {
                Ok(next) if verify(&next).is_ok() => producer = next,
                _ => {}
            }
        }
        let Ok(placed) = finished(&[producer, consumer], place) else {
            return Ok(());
        };
        if verify(&placed).is_err() {
            return Ok(());
        }
        for nest in [Some(placed.clone()), in_place(&placed)]
            .into_iter()
            .flatten()
        {
            let nests = from_ref(&nest);
            let answer = symbolic::compare(nests, Policy::Reassociate, &|| false);
            let is_equal = matches!(answer, Ok(Answer::Equal { .. }));
            match legality::check(nests, Reductions::Reassociate) {
                Verdict::Legal => {
                    let text = || format!("{answer:?}\n{}", reproduction(&nest));
                    prop_assert!(is_equal, "{}", text());
                    check(nests)?;
                    check_text(&nest)?;
                    more(if nest == placed { legal } else { kept });
                }
                // Loops are marked whether they are independent or not.
                Verdict::Illegal(why) if matches!(*why, Violation::Concurrent { .. }) => {}
                Verdict::Illegal(why) => {
                    more(illegal);
                    // Loops within each other each finish all. Of two places, the second one may
                    // compute again what the first one computed too early.
                    let twice = match &*why {
                        Violation::Twice { .. } => true,
                        Violation::Operand { reader, .. } => assigned(&nest, &reader.text) > 1,
                        _ => false,
                    };
                    let text = || format!("harmless: {why}\n{}", reproduction(&nest));
                    prop_assert!(twice || !is_equal, "{}", text());
                }
                Verdict::Undecided(why) => {
                    let text = format!("{why}\n{}", reproduction(&nest));
                    return Err(TestCaseError::fail(text));
                }
            }
        }
        Ok(())
    });
    let [legal, kept, illegal] = counts.map(|c| c.get());
    println!("{legal} places are legal, {kept} of them in place; {illegal} are not");
    assert!(result.is_ok(), "{result:?}");
    assert!(legal > 100 && kept > 30);
}
