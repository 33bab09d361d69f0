//! `fuse_outer` joins two nests into one in which they share their outer loops.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = eq(A, [i, j] -> [i, j]);
//! let C = eq(B, [i, j] -> [i, j]);
//! print(fuse_outer(build(B), build(C), 1));
//! ```
//!
//! ```text
//! f64 B[4][5], A[4][5], C[4][5]
//! for i in 0..4
//!   for j in 0..5
//!     B[i][j] = A[i][j]
//!   for j_2 in 0..5
//!     C[i][j_2] = B[i][j_2]
//! ```
//!
//! `fuse_outer(first, second, level)` fuses levels 1 to `level`, whose ranges must be equal. The
//! fused loops keep the names of the first nest. Remaining loops of the second nest get a number if
//! their names are in use. The initializations of both come first. At level 0 the nests share no
//! loop and run one after the other; `fuse` can then merge loops whose ranges differ.
//!
//! Legal when the second nest depends on no later iteration of the first. `check` proves it.
//!
//! Refuses: negative levels; levels that are not perfectly nested; ranges that differ; loops that
//! are parallel or vector in one nest only; a second nest that initializes what the first one uses.
//!
//! Source: TeML eq. 22.

use crate::ir::{Affine, Fill, Loop, Name, Nest, Range, Tensor, Tree};
use crate::refusals::negative;
use crate::{Error, Op, Param, Returns, Value, refusal};
use std::sync::Arc;

const FIRST: Param<Nest> = Param::new("first");
const SECOND: Param<Nest> = Param::new("second");
const LEVEL: Param<i64> = Param::new("level");

/// `fuse_outer(first, second, level)`.
pub static FUSE_OUTER: Op = Op {
    name: "fuse_outer",
    params: &[FIRST.any(), SECOND.any(), LEVEL.any()],
    returns: Returns::Nest,
    file: include_str!("fuse_outer.rs"),
    call: |args| {
        fuse_outer(args.get(&FIRST)?, args.get(&SECOND)?, args.get(&LEVEL)?).map(Value::Nest)
    },
};

/// The nest that runs both nests' bodies under their common outer loops.
///
/// # Errors
/// As the header says.
pub fn fuse_outer(first: &Nest, second: &Nest, level: i64) -> Result<Nest, Error> {
    let Ok(levels) = usize::try_from(level) else {
        return Err(negative(level, &LEVEL));
    };
    if levels == 0 {
        return Ok(first.followed_by(second));
    }
    let one =
        Outer::of(first, levels).map_err(|found| not_perfect(first, &FIRST, level, &found))?;
    let follower = following(first, second);
    let two = Outer::of(&follower, levels)
        .map_err(|found| not_perfect(second, &SECOND, level, &found))?;
    check_fills(first, second, &two)?;

    let renamed = rename_second(first, &one, second, &two);
    let rename = |name: &Name| {
        let (_, new) = renamed.iter().find(|(old, _)| old == name)?;
        Some(new.clone())
    };
    let as_index = |name: &Name| rename(name).map(Affine::iterator);
    for (a, b) in one.loops.iter().zip(&two.loops) {
        let range = b.range.substitute(&as_index);
        check_same(a, b, &range).map_err(|error| {
            let error = if a.range == range {
                error
            } else {
                error.help(SIDE_BY_SIDE)
            };
            error.at(&SECOND).on(second, [b.name.clone()])
        })?;
    }

    let innermost = levels - 1;
    let tail = two.loops[innermost]
        .body
        .iter()
        .map(|t| t.rename_loops(&rename));
    let mut body: Vec<Tree> = one.loops[innermost]
        .body
        .iter()
        .cloned()
        .chain(tail)
        .collect();
    for (a, b) in one.loops.iter().zip(&two.loops).rev() {
        body = vec![Tree::of_loop(Loop {
            body,
            lineage: a.lineage.fused(&b.lineage),
            ..(***a).clone()
        })];
    }
    let before = one.before.iter().chain(two.before);
    let trees = before.cloned().chain(body).collect();
    Ok(first.joined(second, trees))
}

/// The help for nests whose ranges differ.
const SIDE_BY_SIDE: &str = "only loops over the same range fuse; `fuse_outer` at level 0 leaves them \
                            side by side, and `fuse` of these two loops peels what does not \
                            coincide where bounds differ by constants and overlap";

/// Prepares the second nest to run after the first: its statements execute later assignments, and
/// its local tensors get names of their own.
pub(super) fn following(first: &Nest, second: &Nest) -> Nest {
    let second = second.counted_from(first.steps());
    let tensors = first.tensors();
    let mut taken: Vec<&Name> = tensors.iter().filter_map(Tensor::name).collect();
    taken.extend(first.locals().iter().filter_map(|t| t.name()));
    let locals = second.locals();
    let rename = |name: &Name| {
        let own = locals.iter().any(|t| t.name() == Some(name));
        let numbered = (2..).map(|number| name.derived(number));
        let free = |n: &Name| !taken.contains(&n) && locals.iter().all(|t| t.name() != Some(n));
        (own && taken.contains(&name))
            .then(|| numbered.into_iter().find(free))
            .flatten()
    };
    let trees = second.trees().iter().map(|t| t.rename_tensors(&rename));
    second.with_trees(trees.collect())
}

/// Checks that two loops fuse; `range` is the second loop's in terms of the first one's iterators.
pub(super) fn check_same(first: &Loop, second: &Loop, range: &Range) -> Result<(), Error> {
    if first.range == *range {
        check_modes(first, second)
    } else {
        Err(ranges_differ(first, second, range))
    }
}

/// The refusal for loops with different ranges; `range` is the second loop's.
pub(super) fn ranges_differ(first: &Loop, second: &Loop, range: &Range) -> Error {
    let text = format!(
        "`{}` runs over {} and `{}` over {range}",
        first.name, first.range, second.name
    );
    refusal(text).help(
        "only loops over the same range fuse; `fuse` peels what does not coincide where bounds \
         differ by constants and overlap",
    )
}

/// Checks that two loops run in the same mode: serial, parallel, vector or on one axis.
pub(super) fn check_modes(first: &Loop, second: &Loop) -> Result<(), Error> {
    if first.runs_like(second) {
        return Ok(());
    }
    let text = format!(
        "`{}` and `{}` run in different modes, or have different hints",
        first.name, second.name
    );
    let help = "fuse first, then parallelize, vectorize, bind, prefetch and annotate";
    Err(refusal(text).help(help))
}

/// The fills and local tensors of a nest, and its perfectly nested outer loops.
struct Outer<'a> {
    before: &'a [Tree],
    loops: Vec<&'a Arc<Loop>>,
}

impl Outer<'_> {
    /// Takes the outer `levels` loops of a nest. The error describes a tree that is not a loop.
    fn of(nest: &Nest, levels: usize) -> Result<Outer<'_>, String> {
        let is_before = |t: &&Tree| matches!(t, Tree::Fill(_) | Tree::Local(_));
        let before = nest.trees().iter().take_while(is_before).count();
        let (before, mut trees) = nest.trees().split_at(before);
        let mut loops = Vec::with_capacity(levels);
        while loops.len() < levels {
            match trees {
                [Tree::Loop(l)] => {
                    loops.push(l);
                    trees = &l.body;
                }
                [] => return Err("the nest is empty".to_owned()),
                [_] => return Err(format!("it has {} levels", loops.len())),
                several => {
                    let (n, level) = (several.len(), loops.len() + 1);
                    return Err(format!("it has {n} trees side by side at level {level}"));
                }
            }
        }
        Ok(Outer { before, loops })
    }
}

/// The refusal for outer levels that are not perfectly nested; `found` is in the way.
fn not_perfect(nest: &Nest, which: &Param<Nest>, level: i64, found: &str) -> Error {
    let text = format!(
        "the {} nest is not perfect down to level {level}: {found}",
        which.name
    );
    refusal(text).at(which).on(nest, [])
}

/// Checks the fills of the second nest, which move before the first nest's loops.
fn check_fills(first: &Nest, second: &Nest, two: &Outer) -> Result<(), Error> {
    let mut used = Vec::new();
    for line in first.lines() {
        match line.tree {
            Tree::Loop(_) | Tree::Local(_) => {}
            Tree::Fill(fill) => used.push(fill.target.clone()),
            Tree::Stmt(s) => {
                used.push(s.target.clone());
                s.value.for_each_tensor(&mut |t| used.push(t.clone()));
            }
        }
    }
    let names = |f: &&Arc<Fill>| used.iter().any(|t| t.name() == f.target.name());
    let fills = two.before.iter().filter_map(|t| match t {
        Tree::Fill(fill) => Some(fill),
        _ => None,
    });
    match fills.into_iter().find(names) {
        None => Ok(()),
        Some(fill) => {
            let tensor = fill.target.label();
            let text = format!("the second nest initializes {tensor}, which the first one uses");
            let error = refusal(text).help("keep the nests apart and pass both to codegen");
            Err(error.at(&SECOND).on(second, []))
        }
    }
}

/// New names for the second nest's loops: the first one's for fused loops, free ones for others.
fn rename_second(first: &Nest, one: &Outer, second: &Nest, two: &Outer) -> Vec<(Name, Name)> {
    let fused = two.loops.iter().zip(&one.loops);
    let mut renamed: Vec<(Name, Name)> = fused
        .map(|(b, a)| (b.name.clone(), a.name.clone()))
        .collect();
    let own: Vec<Name> = second.loops().iter().map(|(_, l)| l.name.clone()).collect();
    for name in &own {
        if renamed.iter().any(|(old, _)| old == name) {
            continue;
        }
        let taken = |n: &Name| {
            first.has_loop(n)
                || renamed.iter().any(|(_, new)| new == n)
                || (n != name && own.contains(n))
        };
        let mut new = name.clone();
        let mut number = 2;
        while taken(&new) {
            new = name.derived(number);
            number += 1;
        }
        renamed.push((name.clone(), new));
    }
    renamed
}
