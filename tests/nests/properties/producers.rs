//! Random producers, inlined into random stencils that read them or computed in their loops.

use super::compiled::compiles_and_runs;
use super::generator::{Recipe, recipe, windows};
use super::moves::{Move, built, moves, step};
use super::{check, check_text};
use proptest::prelude::*;
use std::slice::from_ref;
use teml::analysis::verify::verify;
use teml::ir::Nest;
use teml::legality::independence::first_race;
use teml::transform::nest::compute_at::COMPUTE_AT;
use teml::transform::nest::inline::INLINE;
use teml::transform::{Arg, Error, LoopRef, apply};

/// A program of two statements.
#[derive(Clone, Debug)]
struct Program {
    producer: Recipe,
    distances: [i64; 2],
    reduced: usize,
}

fn program() -> impl Strategy<Value = Program> {
    // A bare iterator takes all values of its dimension, so 0 cannot be combined with another
    // distance.
    let distances = [[0, 0], [-1, 1], [1, -1], [1, 2], [2, 2], [-2, -1]];
    let distances = prop::sample::select(distances.to_vec());
    (recipe(), distances, 0..=1usize).prop_map(|(mut producer, distances, reduced)| {
        producer.accumulates = false;
        producer.joined = false;
        producer.border = None;
        (producer.around, producer.cut) = (None, None);
        Program {
            producer,
            distances,
            reduced,
        }
    })
}

impl Program {
    fn nests(&self) -> [Nest; 2] {
        let producer = self.producer.assignment("a");
        let consumer = windows(&producer, "b", self.distances, self.reduced);
        [producer, consumer].map(|e| built(&e))
    }
}

/// Inlines the producer, or computes it at a loop of the consumer; 0 means outside all loops.
pub fn combine([producer, consumer]: &[Nest; 2], place: Option<usize>) -> Result<Nest, Error> {
    let loops = consumer.loops();
    let reference = place.map(|place| match place % (loops.len() + 1) {
        0 => LoopRef::Level(0),
        k => LoopRef::Name(loops[k - 1].1.name.to_string()),
    });
    let op = if place.is_some() {
        &COMPUTE_AT
    } else {
        &INLINE
    };
    let nests = [producer, consumer].map(|nest| Arg::Nest(nest.clone()));
    let args: Vec<Arg> = nests.into_iter().chain(reference.map(Arg::Loop)).collect();
    apply(op, &args, None)?.nest()
}

/// The nest after those moves that are accepted; with `marks` none that races.
fn moved(nest: Nest, moves: &[Move], marks: bool) -> Result<Nest, TestCaseError> {
    moves.iter().try_fold(nest, |nest, chosen| {
        Ok(match step(&nest, chosen) {
            Ok(after) if verify(&after).is_ok() && !(marks && first_race(&after).is_some()) => {
                check(from_ref(&after))?;
                after
            }
            _ => nest,
        })
    })
}

fn place() -> impl Strategy<Value = Option<usize>> {
    prop::option::weighted(0.8, 0..6usize)
}

proptest! {
    #![proptest_config(super::config(500))]

    #[test]
    fn what_is_built_can_be_computed_where_it_is_read(program in program(), place in place()) {
        let nests = program.nests();
        let reduces = !program.producer.summed.is_empty();
        match combine(&nests, place) {
            Ok(nest) => {
                check(from_ref(&nest))?;
                check_text(&nest)?;
            }
            Err(error) => prop_assert!(reduces && place.is_none(), "{error}"),
        }
    }

    #[test]
    fn steps_before_and_after_keep_the_meaning(
        program in program(),
        place in place(),
        before in moves(1..=4),
        after in moves(1..=5),
    ) {
        let mut nests = program.nests();
        for chosen in &before {
            match step(&nests[1], chosen) {
                Ok(next) if verify(&next).is_ok() => nests[1] = next,
                _ => {}
            }
        }
        if let Some(nest) = combine(&nests, place).ok().filter(|nest| verify(nest).is_ok()) {
            check(from_ref(&nest))?;
            check_text(&nest)?;
            moved(nest, &after, false)?;
        }
    }
}

proptest! {
    #![proptest_config(super::config(40))]

    #[test]
    fn the_c_computes_the_definition(
        program in program(),
        place in place(),
        before in moves(1..=3),
        after in moves(1..=4),
    ) {
        let mut nests = program.nests();
        for chosen in &before {
            match step(&nests[1], chosen) {
                Ok(next) if verify(&next).is_ok() && first_race(&next).is_none() => nests[1] = next,
                _ => {}
            }
        }
        // Sums that several iterations recompute are proved only in their own order.
        let sums = !program.producer.summed.is_empty();
        let after: Vec<Move> = after.into_iter().filter(|m| !sums || !m.reverses()).collect();
        let combined = combine(&nests, place).ok();
        let legal = |nest: &Nest| verify(nest).is_ok() && first_race(nest).is_none();
        if let Some(nest) = combined.filter(legal) {
            compiles_and_runs(&moved(nest, &after, true)?)?;
        }
    }
}
