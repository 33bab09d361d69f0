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
//! In C they become `#pragma omp parallel for` and `#pragma omp simd`. A loop may be both.
//!
//! `parallelize(nest, loop, collapse, schedule)` shares the iterations of `collapse` perfectly
//! nested loops all together, from this one on (1 is the loop alone), and says which of them a
//! thread gets: `"static"` parts that are decided beforehand, `"dynamic"`ally the next one, or
//! `"guided"`, the next ones, of which there are fewer and fewer. Loops are not joined into one,
//! because indices would need division; OpenMP does that at run time.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = eq(A, [i, j] -> [i, j]);
//! print(build(B).parallelize("i", 2, "dynamic"));
//! ```
//!
//! ```text
//! f64 B[4][5], A[4][5]
//! parallel collapse(2) dynamic for i in 0..4
//!   for j in 0..5
//!     B[i][j] = A[i][j]
//! ```
//!
//! Legal when no iteration writes an element that another one reads or writes; `codegen` proves
//! it and refuses otherwise.
//!
//! Refuses: a parallel or vector loop inside a vector loop; collapsed loops that are not nested
//! perfectly, whose bounds depend on each other, or of which others are parallel or vector; other
//! schedules; a `collapse` below 1.
//!
//! Source: TeML §3.3.3; OpenMP 4.5, §2.7.1.

use super::resolve::{chain, check_positive, find};
use crate::analysis::position::splice;
use crate::ir::{Loop, Nest, Schedule, Sharing, Tree};
use crate::transform::{Arg, Error, ErrorKind, Kind, LoopRef, Op, Param, Returns, Value};

/// `parallelize(nest, loop, collapse?, schedule?)`.
pub static PARALLELIZE: Op = Op {
    name: "parallelize",
    params: &[
        Param::new("nest", Kind::Nest),
        Param::new("loop", Kind::Loop),
        Param::optional("collapse", Kind::Int),
        Param::optional("schedule", Kind::Word(Schedule::WORDS)),
    ],
    returns: Returns::Nest,
    file: include_str!("mode.rs"),
    call: |args| match args {
        [Arg::Nest(nest), Arg::Loop(l)] => parallelize(nest, l).map(Value::Nest),
        [Arg::Nest(nest), Arg::Loop(l), Arg::Int(collapse)] => {
            share(nest, l, *collapse, None).map(Value::Nest)
        }
        [
            Arg::Nest(nest),
            Arg::Loop(l),
            Arg::Int(collapse),
            Arg::Word(schedule),
        ] => share(nest, l, *collapse, Some(from_word(schedule)?)).map(Value::Nest),
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

fn from_word(word: &str) -> Result<Schedule, Error> {
    Schedule::from_word(word).ok_or_else(|| {
        let kind = ErrorKind::NotOneOf {
            parameter: "schedule",
            word: word.to_owned(),
            allowed: Schedule::WORDS,
        };
        Error::from(kind).at_argument(3)
    })
}

/// `vectorize(nest, loop)`.
pub static VECTORIZE: Op = Op {
    name: "vectorize",
    params: &[
        Param::new("nest", Kind::Nest),
        Param::new("loop", Kind::Loop),
    ],
    returns: Returns::Nest,
    file: include_str!("mode.rs"),
    call: |args| match args {
        [Arg::Nest(nest), Arg::Loop(l)] => vectorize(nest, l).map(Value::Nest),
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// The nest with a loop marked parallel.
///
/// # Errors
/// A loop that does not exist.
pub fn parallelize(nest: &Nest, reference: &LoopRef) -> Result<Nest, Error> {
    mark(nest, reference, |l| Loop {
        parallel: true,
        ..l
    })
}

/// The nest with a loop marked parallel, and how `collapse` loops from it on are shared.
///
/// # Errors
/// A loop that does not exist, or a `collapse` below 1.
pub fn share(
    nest: &Nest,
    reference: &LoopRef,
    collapse: i64,
    schedule: Option<Schedule>,
) -> Result<Nest, Error> {
    find(nest, reference, 1)?;
    check_positive("collapse", collapse, 2)?;
    let sharing = Sharing {
        collapse: usize::try_from(collapse).unwrap_or(usize::MAX),
        schedule,
    };
    mark(nest, reference, |l| Loop {
        parallel: true,
        sharing,
        ..l
    })
}

/// The nest with a loop marked vector.
///
/// # Errors
/// A loop that does not exist.
pub fn vectorize(nest: &Nest, reference: &LoopRef) -> Result<Nest, Error> {
    mark(nest, reference, |l| Loop { vector: true, ..l })
}

fn mark(nest: &Nest, reference: &LoopRef, with: impl Fn(Loop) -> Loop) -> Result<Nest, Error> {
    let position = find(nest, reference, 1)?;
    let l = chain(nest, &position)[position.len() - 1];
    let marked = Tree::of_loop(with((**l).clone()));
    Ok(nest.with_trees(splice(nest.trees(), &position, vec![marked])))
}
