//! `parallelize` runs the iterations of a loop on several threads, `vectorize` in vector lanes.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = eq(A, [i, j] -> [i, j]);
//! print(build(B).parallelize("i").vectorize("j"));
//! ```
//!
//! ```text
//! f64 B[4][5], A[4][5]
//! parallel for i in 0..4
//!   vector for j in 0..5
//!     B[i][j] = A[i][j]
//! ```
//!
//! In C, a parallel loop becomes `#pragma omp parallel for`. A vector loop is written with vector
//! types if every access is unit-stride in it or invariant to it, and otherwise becomes
//! `#pragma omp simd`. A loop may be both.
//!
//! `parallelize(nest, loop, how)` takes a map of options:
//!
//! - `collapse`: how many perfectly nested loops, from this one on, share their iterations all
//!   together; 1 is the loop alone. Loops are not joined into one, because indices would need
//!   division; OpenMP does that at run time.
//! - `schedule`: which iterations a thread gets. `"static"` deals them out beforehand, `"dynamic"`
//!   gives out the next ones on demand, and `"guided"` does so in ever smaller parts.
//! - `chunk`: how many iterations a thread gets at a time. Without a schedule they are dealt out
//!   beforehand.
//! - `threshold`: below this number of iterations, one thread runs all of them, since threads would
//!   cost more than they gain.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = eq(A, [i, j] -> [i, j]);
//! let how = #{collapse: 2, schedule: "dynamic", chunk: 4, threshold: 1000};
//! print(build(B).parallelize("i", how));
//! ```
//!
//! ```text
//! f64 B[4][5], A[4][5]
//! parallel collapse(2) dynamic(4) from(1000) for i in 0..4
//!   for j in 0..5
//!     B[i][j] = A[i][j]
//! ```
//!
//! `vectorize(nest, loop, lanes)` runs that many iterations at a time and never more. Iterations
//! further apart may then depend on each other.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = eq(A, [i, j] -> [i, j]);
//! print(build(B).vectorize("j", 4));
//! ```
//!
//! ```text
//! f64 B[4][5], A[4][5]
//! for i in 0..4
//!   vector lanes(4) for j in 0..5
//!     B[i][j] = A[i][j]
//! ```
//!
//! Legal when no iteration writes an element that another one reads or writes. `codegen` proves it,
//! or refuses.
//!
//! Refuses: a parallel or vector loop inside a vector loop; collapsed loops that are not perfectly
//! nested, whose bounds depend on each other, or that contain other parallel or vector loops;
//! unknown schedules; options below 1; numbers of lanes other than 2, 4, 8, 16, 32 and 64.
//!
//! Source: TeML §3.3.3 and §7; OpenMP 4.5, §2.5, §2.7.1 and §2.8.1.

use super::resolve::{chain, check_positive, find};
use crate::analysis::position::splice;
use crate::ir::{Loop, Nest, Schedule, Sharing, Tree};
use crate::transform::{Arg, Error, ErrorKind, Kind, LoopRef, Op, Param, Returns, Value};

/// `parallelize(nest, loop, how?)`.
pub static PARALLELIZE: Op = Op {
    name: "parallelize",
    params: &[
        Param::new("nest", Kind::Nest),
        Param::new("loop", Kind::Loop),
        Param::optional("how", Kind::Options(HOW)),
    ],
    returns: Returns::Nest,
    file: include_str!("mode.rs"),
    call: |args| match args {
        [Arg::Nest(nest), Arg::Loop(l)] => {
            parallelize(nest, l, Sharing::default()).map(Value::Nest)
        }
        [Arg::Nest(nest), Arg::Loop(l), Arg::Options(how)] => {
            parallelize(nest, l, sharing(how)?).map(Value::Nest)
        }
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

const HOW: &[Param] = &[
    Param::optional("collapse", Kind::Int),
    Param::optional("schedule", Kind::Word(Schedule::WORDS)),
    Param::optional("chunk", Kind::Int),
    Param::optional("threshold", Kind::Int),
];

fn sharing(how: &[(String, Arg)]) -> Result<Sharing, Error> {
    let mut sharing = Sharing::default();
    for (name, value) in how {
        match (name.as_str(), value) {
            ("collapse", Arg::Int(collapse)) => {
                check_positive("collapse", *collapse, 2)?;
                sharing.collapse = usize::try_from(*collapse).unwrap_or(usize::MAX);
            }
            ("schedule", Arg::Word(word)) => sharing.schedule = Some(from_word(word)?),
            ("chunk", Arg::Int(chunk)) => {
                check_positive("chunk", *chunk, 2)?;
                sharing.chunk = Some(*chunk);
                sharing.schedule.get_or_insert(Schedule::Static);
            }
            ("threshold", Arg::Int(threshold)) => {
                check_positive("threshold", *threshold, 2)?;
                sharing.threshold = Some(*threshold);
            }
            _ => return Err(ErrorKind::Misdeclared.into()),
        }
    }
    Ok(sharing)
}

fn from_word(word: &str) -> Result<Schedule, Error> {
    Schedule::from_word(word).ok_or_else(|| {
        let kind = ErrorKind::NotOneOf {
            parameter: "schedule",
            word: word.to_owned(),
            allowed: Schedule::WORDS,
        };
        Error::from(kind).at_argument(2)
    })
}

/// `vectorize(nest, loop, lanes?)`.
pub static VECTORIZE: Op = Op {
    name: "vectorize",
    params: &[
        Param::new("nest", Kind::Nest),
        Param::new("loop", Kind::Loop),
        Param::optional("lanes", Kind::Int),
    ],
    returns: Returns::Nest,
    file: include_str!("mode.rs"),
    call: |args| match args {
        [Arg::Nest(nest), Arg::Loop(l)] => vectorize(nest, l, None).map(Value::Nest),
        [Arg::Nest(nest), Arg::Loop(l), Arg::Int(lanes)] => {
            vectorize(nest, l, Some(*lanes)).map(Value::Nest)
        }
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// The nest with a loop marked parallel, and how its iterations are shared.
///
/// # Errors
/// A loop that does not exist.
pub fn parallelize(nest: &Nest, reference: &LoopRef, sharing: Sharing) -> Result<Nest, Error> {
    mark(nest, reference, |l| Loop {
        parallel: true,
        sharing,
        ..l
    })
}

/// The nest with a loop marked vector, with a number of lanes or what the compiler chooses.
///
/// # Errors
/// A loop that does not exist; numbers of lanes that no vector has.
pub fn vectorize(nest: &Nest, reference: &LoopRef, lanes: Option<i64>) -> Result<Nest, Error> {
    find(nest, reference, 1)?;
    if let Some(value) = lanes.filter(|n| ![2, 4, 8, 16, 32, 64].contains(n)) {
        return Err(Error::from(ErrorKind::NotLanes { value }).at_argument(2));
    }
    mark(nest, reference, |l| Loop {
        vector: true,
        lanes,
        ..l
    })
}

/// The nest with a loop changed, other than in what it runs.
pub(in crate::transform) fn mark(
    nest: &Nest,
    reference: &LoopRef,
    with: impl Fn(Loop) -> Loop,
) -> Result<Nest, Error> {
    let position = find(nest, reference, 1)?;
    let l = chain(nest, &position)[position.len() - 1];
    let marked = Tree::of_loop(with((**l).clone()));
    Ok(nest.with_trees(splice(nest.trees(), &position, vec![marked])))
}
