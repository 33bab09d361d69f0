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
//! types if every access is unit-stride in it or invariant to it, and otherwise becomes `#pragma
//! omp simd`. A loop may be both.
//!
//! A vector loop may have loops and local tensors inside. Each statement then runs in all lanes of a
//! block before the next one does. Local tensors have an element for each lane. Elements that are
//! apart in memory are gathered and scattered. That needs a constant number of iterations, and
//! bounds inside that do not depend on the lane. Other such loops are left to compilers, which
//! rarely vectorize them: printed nests, plans, and a line below tables then say why.
//!
//! `parallelize(nest, loop, how)` takes a map of options:
//!
//! - `collapse`: how many perfectly nested loops, from this one on, share their iterations all
//!   together; 1 is the loop alone. Loops are not joined into one, because indices would need
//!   division; OpenMP does that at run time.
//! - `schedule`: which iterations a thread gets. `"static"` deals them out beforehand, `"dynamic"`
//!   gives out the next ones on demand, and `"guided"` does so in ever smaller parts. `"balanced"` deals
//!   out rows so that each thread has about as many entries.
//! - `chunk`: how many iterations a thread gets at a time. Without a schedule they are dealt out
//!   beforehand.
//! - `threshold`: below this number of iterations, one thread runs all of them, since threads would
//!   cost more than they gain.
//! - `work`: the same for the multiply-adds or moved elements of the nest, as it was before any
//!   step, at the sizes of the call.
//! - `atomic`: iterations may add to the same elements, or multiply them. Each such update is one
//!   atomic operation. Vector loops around them run one iteration at a time.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = eq(A, [i, j] -> [i, j]);
//! let how = #{collapse: 2, schedule: "dynamic", chunk: 4, threshold: 1000, work: 8000};
//! print(build(B).parallelize("i", how));
//! ```
//!
//! ```text
//! f64 B[4][5], A[4][5]
//! parallel collapse(2) dynamic(4) from(1000) work(8000) for i in 0..4
//!   for j in 0..5
//!     B[i][j] = A[i][j]
//! ```
//!
//! A histogram on threads, with integers, whose sums are the same in any order:
//!
//! ```rhai
//! let bin = indices([900], 16);
//! let one = tensor([900], "i64");
//! let h = scatter(one[e], [bin[e]]);
//! print(build(h).parallelize("e", #{atomic: true}));
//! ```
//!
//! ```text
//! i64 h[16], bin[900] in 0..16, one[900]
//! fill h[0..16] = 0
//! parallel atomic for e in 0..900
//!   let bin_e = bin[e]
//!     h[bin_e] += one[e]
//! ```
//!
//! Rows of a sparse matrix, which may have very different lengths:
//!
//! ```rhai
//! let ptr = indices([401], 9000 + 1, "increasing");
//! let V = tensor([9000]);
//! let y = sum(V[e], [e], #{e: ptr[i]..ptr[i + 1]});
//! print(build(y).parallelize("i", #{schedule: "balanced"}));
//! ```
//!
//! ```text
//! f64 y[400], V[9000]
//! i64 ptr[401] increasing in 0..9001
//! fill y[0..400] = 0
//! parallel balanced for i in 0..400
//!   for e in ptr[i]..ptr[i + 1]
//!     y[i] += V[e]
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
//! Legal when no iteration writes an element that another one reads or writes. With `atomic`, several
//! may update it by sums, or by products, if nothing else touches it; sums of floating-point numbers
//! need `reductions("reassoc")`. `codegen` proves it, or refuses.
//!
//! Refuses: a parallel or vector loop inside a vector loop; collapsed loops that are not perfectly
//! nested, whose bounds depend on each other, or that contain other parallel or vector loops;
//! unknown schedules; `"balanced"` without rows whose entries increase, or with other options that
//! share iterations; options below 1; numbers of lanes other than 2, 4, 8, 16, 32 and 64.
//!
//! Source: TeML §3.3.3 and §7; OpenMP 4.5, §2.5, §2.7.1, §2.8.1 and
//! §2.13.6.

use super::resolve::{chain, check_positive, find};
use crate::analysis::position::splice;
use crate::analysis::row_starts::row_starts;
use crate::args::{LOOP, NEST, Options};
use crate::ir::{Arg, Loop, Nest, Schedule, Sharing, Tree};
use crate::op::Alternatives;
use crate::words::Word;
use crate::{Error, LoopRef, Op, Param, Returns, Value, mistake, refusal};

const HOW: Param<Option<Options>> = Param::new("how").with(&[
    COLLAPSE.any(),
    SCHEDULE.any(),
    CHUNK.any(),
    THRESHOLD.any(),
    WORK.any(),
    ATOMIC.any(),
]);
const COLLAPSE: Param<Option<i64>> = Param::new("collapse");
const SCHEDULE: Param<Option<Schedule>> = Param::new("schedule");
const CHUNK: Param<Option<i64>> = Param::new("chunk");
const THRESHOLD: Param<Option<i64>> = Param::new("threshold");
const WORK: Param<Option<i64>> = Param::new("work");
const ATOMIC: Param<Option<bool>> = Param::new("atomic");
const LANES: Param<Option<i64>> = Param::new("lanes");

/// `parallelize(nest, loop, how?)`.
pub static PARALLELIZE: Op = Op {
    name: "parallelize",
    params: &[NEST.any(), LOOP.any(), HOW.any()],
    returns: Returns::Nest,
    file: include_str!("mode.rs"),
    call: |args| {
        let sharing = args
            .get(&HOW)?
            .map_or(Ok(Sharing::default()), |how| sharing(&how))?;
        parallelize(args.get(&NEST)?, args.get(&LOOP)?, sharing).map(Value::Nest)
    },
};

/// The options may be at fault, such as several loops that threads share.
pub fn alternatives(_: &Nest, args: &[Arg]) -> Alternatives {
    let instead = match args {
        [l, _] => Some((&PARALLELIZE, vec![l.clone()])),
        _ => None,
    };
    Alternatives {
        first: Vec::new(),
        instead,
    }
}

fn sharing(how: &Options) -> Result<Sharing, Error> {
    let positive = |option: &Param<Option<i64>>| -> Result<Option<i64>, Error> {
        let value = how.get(option)?;
        value.map_or(Ok(()), |value| check_positive(value, option))?;
        Ok(value)
    };
    let collapse = positive(&COLLAPSE)?.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    let (schedule, chunk) = (how.get(&SCHEDULE)?, positive(&CHUNK)?);
    Ok(Sharing {
        collapse: collapse.unwrap_or(Sharing::default().collapse),
        schedule: schedule.or(chunk.map(|_| Schedule::Static)),
        chunk,
        threshold: positive(&THRESHOLD)?,
        work: positive(&WORK)?,
        atomic: how.get(&ATOMIC)?.unwrap_or_default(),
    })
}

impl Word for Schedule {
    const WORDS: &'static [&'static str] = Schedule::WORDS;

    fn from_word(word: &str) -> Option<Schedule> {
        Schedule::from_word(word)
    }
}

/// `vectorize(nest, loop, lanes?)`.
pub static VECTORIZE: Op = Op {
    name: "vectorize",
    params: &[NEST.any(), LOOP.any(), LANES.any()],
    returns: Returns::Nest,
    file: include_str!("mode.rs"),
    call: |args| vectorize(args.get(&NEST)?, args.get(&LOOP)?, args.get(&LANES)?).map(Value::Nest),
};

/// Marks a loop parallel; `sharing` says how threads share its iterations.
///
/// # Errors
/// A loop that does not exist; as the header says of `"balanced"`.
pub fn parallelize(nest: &Nest, reference: &LoopRef, sharing: Sharing) -> Result<Nest, Error> {
    if sharing.schedule == Some(Schedule::Balanced) {
        let position = find(nest, reference, &LOOP)?;
        let l = chain(nest, &position)[position.len() - 1];
        if sharing.collapse > 1 || sharing.chunk.is_some() {
            let error = mistake("`\"balanced\"` decides how many rows each thread gets");
            return Err(error.help("leave out `collapse` and `chunk`").at(&SCHEDULE));
        }
        if row_starts(l).is_none() {
            let text = format!("no loop in `{}` has the entries of its rows", l.name);
            let help = format!(
                "entries of a row are `ptr[{0}]..ptr[{0} + 1]`, and `ptr` is `indices(…, \"increasing\")`; \
                 `\"dynamic\"` takes any loop",
                l.name
            );
            let error = refusal(text).help(help).at(&SCHEDULE);
            return Err(error.on(nest, [l.name.clone()]));
        }
    }
    mark(nest, reference, |l| Loop {
        mode: l.mode.with_threads(sharing),
        ..l
    })
}

/// Marks a loop vector, with a number of lanes; without one, the compiler chooses.
///
/// # Errors
/// A loop that does not exist; numbers of lanes that no vector has.
pub fn vectorize(nest: &Nest, reference: &LoopRef, lanes: Option<i64>) -> Result<Nest, Error> {
    find(nest, reference, &LOOP)?;
    if let Some(value) = lanes.filter(|n| ![2, 4, 8, 16, 32, 64].contains(n)) {
        let text = format!("`lanes` must be 2, 4, 8, 16, 32 or 64, not {value}");
        return Err(mistake(text).at(&LANES));
    }
    mark(nest, reference, |l| Loop {
        mode: l.mode.with_lanes(lanes),
        ..l
    })
}

/// The nest with a property of a loop changed, but not its body.
///
/// # Errors
/// A loop that does not exist.
pub fn mark(nest: &Nest, reference: &LoopRef, with: impl Fn(Loop) -> Loop) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    let l = chain(nest, &position)[position.len() - 1];
    let marked = Tree::of_loop(with((**l).clone()));
    Ok(nest.with_trees(splice(nest.trees(), &position, vec![marked])))
}
