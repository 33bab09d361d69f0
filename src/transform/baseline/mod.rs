//! The baseline: Pluto's algorithm. The result is a nest with a path of operations, so it can be
//! printed, checked, edited and timed like any other.
//!
//! 1. `problem`: the statements of the definition, and their dependences. `legality` computes them
//!    as for proofs. Extents of loops are parameters here, so that all sizes get the same loops.
//!    All dependences count: Pluto does not know associativity.
//! 2. `hyperplane`: one loop for several statements, by Farkas' lemma and an integer program. It is
//!    legal for all dependences, has the least bound on their distances, and is linearly
//!    independent of the previous loops. `scheduler`, with `carried`: all permutable loops form a
//!    band. If there is none, the fusion policy decides how to cut statements apart, in the order
//!    of components that `order` finds as Pluto does. Initializations count as statements there.
//! 3. `unfused`: the hyperplanes as steps, for each statement by itself: `reorder`, `skew`,
//!    `shift`. Then come `fuse` steps, with guards if ranges differ, so that bands stay perfect. At
//!    the end `separated` takes the guards out of all loops, as Pluto's code generator does.
//!    `diamond`: the alternative for stencils whose tiles can start at the same time.
//! 4. `leaves`, `apart`: statements that part inside of a band part among its tiles. `tiles`,
//!    `jam`, `finish`: tiles, unroll and jam, the order within tiles, vectors, and threads. Threads
//!    share the outermost parallel loop, or else a wavefront of tiles. `vector` counts accesses as
//!    Pluto does.
//! 5. `kept`: threads and vectors for loops that have to stay as they are.
//!
//! Every step goes through `transform::apply`, and the result through `legality::check`. A schedule
//! without a path is refused.
//!
//! Differences from Pluto:
//! - Initializations come before all loops, even if `maxfuse` would put them into loops.
//! - Loops whose bounds contain multiples of other iterators are refused: no step makes them.
//! - Unroll and jam takes at most three loops, whose ranges are independent of others, and factors
//!   that divide the tile sizes.
//! - Sizes are numbers here: loops with large constants are rejected.
//! - Diamonds have concurrent start along one dimension, which is Pluto's default, sizes in whole
//!   time steps, and no second level.
//! - With teml's own code generator, the statements of a diamond share only the time loop, so that
//!   each has its own vector loop.
//! - Loops over tiles are also separated, and tiles that alone run some statements are cut off.
//! - Bounds that need division are none: threads share such loops iteration by iteration.
//!
//! Source: Bondhugula, Hartono, Ramanujam and Sadayappan, A Practical Automatic Polyhedral
//! Parallelizer and Locality Optimizer, PLDI 2008; Bondhugula et al., Automatic Transformations for
//! Communication-Minimized Parallelization and Locality Optimization in the Polyhedral Model, CC
//! 2008; for the steps after tiling, Pluto's code.

mod apart;
mod carried;
mod diamond;
mod error;
mod finish;
mod hyperplane;
mod jam;
mod kept;
mod leaves;
mod linear;
mod options;
mod order;
mod problem;
mod schedule;
mod scheduler;
mod separated;
mod sizes;
mod tiles;
mod unfused;
mod vector;
mod work;

pub use diamond::Diamond;
pub use error::NoSchedule;
pub use options::{Code, Fuse, NAMES, Options, Setting};
pub use problem::Row;
pub use schedule::{Band, Level, Schedule};
pub use sizes::Sizes;

use crate::ir::{Arg, Nest};
use crate::legality::Verdict;
use crate::nest::fuse::FUSE;
use crate::nest::move_before::MOVE_BEFORE;
use crate::nest::plain_loops::PLAIN_LOOPS;
use crate::poly::bounded;
use finish::{Around, Finish};
use kept::kept;
use problem::Problem;
use sizes::Tiling;
use work::{Work, built, done, named};

/// The budget of a schedule, in operations of the polyhedral library.
const OPERATIONS: u64 = 200_000_000;

/// The hyperplanes that Pluto's algorithm finds for the definition of `nests`, in order.
///
/// # Errors
/// [`NoSchedule`].
pub fn schedule(nests: &[Nest], options: &Options) -> Result<Schedule, NoSchedule> {
    let nest = built(nests)?;
    scheduled(&Problem::of(&nest, options.rar)?, options.fuse)
}

fn scheduled(problem: &Problem, fuse: Fuse) -> Result<Schedule, NoSchedule> {
    limited(|| problem.schedule(fuse))
}

/// Runs `ask` with the budget of a schedule.
fn limited<T>(ask: impl FnOnce() -> Result<T, NoSchedule>) -> Result<T, NoSchedule> {
    let mut found = None;
    let mut failed = None;
    bounded(OPERATIONS, || match ask() {
        Ok(answer) => {
            found = Some(answer);
            Ok(())
        }
        Err(NoSchedule::Library(error)) => Err(error),
        Err(other) => {
            failed = Some(other);
            Ok(())
        }
    })?;
    match (found, failed) {
        (Some(answer), _) => Ok(answer),
        (None, Some(error)) => Err(error),
        (None, None) => Err(NoSchedule::Unknown),
    }
}

/// The bands of that schedule that have diamond tiles. Most bands of stencils do.
///
/// # Errors
/// [`NoSchedule`] if there is no schedule.
pub fn diamonds(nests: &[Nest], fuse: Fuse) -> Result<Vec<Diamond>, NoSchedule> {
    let nest = built(nests)?;
    let problem = Problem::of(&nest, false)?;
    let options = Options {
        fuse,
        diamondtile: Some(true),
        ..Options::default()
    };
    cut(&nest, &problem, &scheduled(&problem, fuse)?, &options)
}

/// The bands that get diamond tiles.
fn cut(
    nest: &Nest,
    problem: &Problem,
    schedule: &Schedule,
    options: &Options,
) -> Result<Vec<Diamond>, NoSchedule> {
    if !options.tile || options.second_level_tile || options.diamondtile == Some(false) {
        return match options.diamondtile {
            Some(true) => Err(NoSchedule::NoDiamond(
                "tiles are off, or have a second level",
            )),
            _ => Ok(Vec::new()),
        };
    }
    let (found, reasons) = limited(|| diamond::diamonds(problem, schedule, nest))?;
    match reasons.first() {
        Some(reason) if found.is_empty() && options.diamondtile == Some(true) => {
            Err(NoSchedule::NoDiamond(reason))
        }
        _ => Ok(found),
    }
}

/// The nest that Pluto's algorithm makes from the definition of `nests`, in order. Earlier steps of
/// the nests are ignored.
///
/// # Errors
/// [`NoSchedule`].
pub fn pluto(nests: &[Nest], options: &Options) -> Result<Nest, NoSchedule> {
    let nest = built(nests)?;
    let found = match Problem::of(&nest, options.rar) {
        Ok(problem) => {
            let schedule = scheduled(&problem, options.fuse)?;
            let diamonds = cut(&nest, &problem, &schedule, options)?;
            let with = |options: &Options| {
                let nest = nest.clone();
                transformed(nest, (&problem, &schedule), &diamonds, options)
            };
            match with(options) {
                // Steps may be unable to express the bounds of jammed loops.
                Err(_) if options.unrolljam => {
                    let unrolljam = false;
                    let options = options.clone();
                    with(&Options {
                        unrolljam,
                        ..options
                    })
                }
                found => found,
            }?
        }
        Err(error) if error.keeps_loops() && options.diamondtile != Some(true) => {
            kept(&nest, options)
        }
        Err(error) => return Err(error),
    };
    match options.code {
        Code::Teml => Ok(found),
        Code::Pluto => done(&PLAIN_LOOPS, vec![Arg::Nest(found)]),
    }
}

/// The nest in the order of a schedule.
fn transformed(
    nest: Nest,
    (problem, schedule): (&Problem, &Schedule),
    diamonds: &[Diamond],
    options: &Options,
) -> Result<Nest, NoSchedule> {
    let together: Vec<usize> = diamonds.iter().flat_map(|d| d.statements.clone()).collect();
    let sizes = [&options.tile_sizes, &options.second_level_tile_sizes];
    let mut tiling = Tiling::of(problem, sizes, options.second_level_tile)?;
    let mut work = Work::on(nest, &together)?;
    arrange(&mut work, problem, &schedule.statements(), &together)?;
    for diamond in diamonds {
        diamond::tile(&mut work, (problem, diamond), options, &mut tiling)?;
    }
    let schedule = schedule.without(&together);
    for statement in schedule.statements() {
        let target = &problem.statements[statement].target;
        unfused::transform(&mut work, statement, &schedule.rows(statement), target)?;
    }
    fused(&mut work, problem, &schedule, (0, false), options)?;
    let mut finish = Finish {
        work: &mut work,
        problem,
        schedule: &schedule,
        options,
        tiling,
    };
    finish.part(&schedule, 0, Around::default())?;
    finish.tiling.fits()?;
    let mut parts = separated::separate(&mut work)?;
    // Tiles of diamonds are full.
    if diamonds.is_empty() {
        separated::tighten(&mut work, &mut parts)?;
    }
    let vectors = match (options.prevector, options.code) {
        (true, Code::Teml) => parts,
        _ => Vec::new(),
    };
    match separated::with_vectors(&mut work, &vectors)? {
        Verdict::Legal => Ok(work.nest),
        Verdict::Illegal(violation) => Err(NoSchedule::Illegal(violation)),
        Verdict::Undecided(why) => Err(NoSchedule::Undecided(why)),
    }
}

/// Brings the loops of statements into the order of the schedule. The statements `together` share a
/// loop.
fn arrange(
    work: &mut Work,
    problem: &Problem,
    then: &[usize],
    together: &[usize],
) -> Result<(), NoSchedule> {
    let one = |s: &usize| {
        if together.contains(s) {
            together[0]
        } else {
            *s
        }
    };
    let mut then: Vec<usize> = then.iter().map(one).collect();
    then.dedup();
    let mut now: Vec<usize> = (0..problem.statements.len()).collect();
    now = now.iter().map(one).collect();
    now.dedup();
    if now == then {
        return Ok(());
    }
    for statement in problem.statements.iter().filter(|s| s.fills) {
        work.begin_with(&statement.target)?;
    }
    for k in 0..then.len() {
        let (wanted, first) = (then[k], now[k]);
        if wanted == first {
            continue;
        }
        let loops = [wanted, first].map(|s| work.loops[s].first().cloned());
        let [Some(l), Some(before)] = loops else {
            return Err(NoSchedule::Order {
                first: problem.name(first),
                later: problem.name(wanted),
            });
        };
        work.step(&MOVE_BEFORE, vec![named(&l), named(&before)])?;
        now.retain(|s| *s != wanted);
        now.insert(k, wanted);
    }
    Ok(())
}

/// Fuses the loops that statements share; each statement has its own loops before. If statements
/// part in a tiled band, only statements that share all of its loops are fused.
fn fused(
    work: &mut Work,
    problem: &Problem,
    part: &Schedule,
    (depth, tiled): (usize, bool),
    options: &Options,
) -> Result<(), NoSchedule> {
    match part {
        Schedule::Statement(_) => Ok(()),
        Schedule::Sequence(parts) => parts
            .iter()
            .try_for_each(|part| fused(work, problem, part, (depth, tiled), options)),
        Schedule::Band(band) => {
            for other in band.inside.statements().into_iter().skip(1) {
                if depth == 0 && problem.statements[other].fills {
                    work.begin_with(&problem.statements[other].target)?;
                }
            }
            for leaf in options.leaves(band, tiled) {
                let end = depth + leaf.levels.len();
                let Some((first, others)) = leaf.statements.split_first() else {
                    continue;
                };
                for level in depth..end {
                    for &other in others {
                        let name = work.loops[*first][level].clone();
                        let second = named(&work.loops[other][level]);
                        let ends = Arg::Word("guard".to_owned());
                        work.step(&FUSE, vec![named(&name), second, ends])?;
                        work.loops[other][level] = name;
                    }
                }
                let tiled = tiled || leaf.levels.len() > 1;
                fused(work, problem, leaf.inside, (end, tiled), options)?;
            }
            Ok(())
        }
    }
}
