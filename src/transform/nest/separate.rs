//! `separate` splits a loop where its guards start and stop to hold, so that most iterations need
//! none.
//!
//! ```rhai
//! let A = tensor([4, 10]);
//! let B = tensor([4, 8]);
//! let C = eq(A, [i, j] -> [i, j]);
//! let D = eq(B, [i, j] -> [i, j]);
//! let apart = fuse_outer(build(C), build(D), 1);
//! print(apart.shift("j_2", 1).fuse("j", "j_2", "guard").separate("j"));
//! ```
//!
//! ```text
//! f64 C[4][10], A[4][10], D[4][8], B[4][8]
//! for i in 0..4
//!   for j_f in 0..1
//!     C[i][j_f] = A[i][j_f]
//!     for j_g_2 in max(j_f, 1)..min(j_f + 1, 9)
//!       D[i][j_g_2 - 1] = B[i][j_g_2 - 1]
//!   for j in 1..9
//!     C[i][j] = A[i][j]
//!     D[i][j - 1] = B[i][j - 1]
//!   for j_b in 9..10
//!     C[i][j_b] = A[i][j_b]
//!     for j_g_3 in max(j_b, 1)..min(j_b + 1, 9)
//!       D[i][j_g_3 - 1] = B[i][j_g_3 - 1]
//! ```
//!
//! A guard is a loop of one iteration or none, as `fuse` makes it. The loop keeps the iterations in
//! which all of its guards hold. The iterations before and after become loops `j_f` and `j_b`, as
//! with `peel`, and keep their guards. `fuse` with `"guard"` keeps loops perfectly nested while you
//! skew and tile them; use `separate` after that.
//!
//! Always legal: iterations keep their order.
//!
//! Refuses: a loop without guards; guards whose common range is unknown, because their bounds
//! depend on loops further in, differ by more than constants, or may leave no such iteration; steps
//! other than 1; new names that are in use.
//!
//! Source: index-set splitting, Griebl, Feautrier and Lengauer, Index Set Splitting, 2000; what
//! CLooG does when it separates the domains of statements.

use super::parts::Names;
use super::peel::{End, part};
use super::resolve::{chain, check_step, find};
use crate::analysis::bounds::Bounds;
use crate::analysis::position::splice;
use crate::ir::{Affine, Loop, Name, Nest, Range, Tree};
use crate::transform::{Arg, Error, ErrorKind, Kind, LoopRef, Op, Param, Returns, Value};

/// `separate(nest, loop)`.
pub static SEPARATE: Op = Op {
    name: "separate",
    params: &[
        Param::new("nest", Kind::Nest),
        Param::new("loop", Kind::Loop),
    ],
    returns: Returns::Nest,
    file: include_str!("separate.rs"),
    call: |args| match args {
        [Arg::Nest(nest), Arg::Loop(l)] => separate(nest, l).map(Value::Nest),
        _ => Err(ErrorKind::Misdeclared.into()),
    },
};

/// The nest with the guarded iterations of a loop split off.
///
/// # Errors
/// As the header says.
pub fn separate(nest: &Nest, reference: &LoopRef) -> Result<Nest, Error> {
    let position = find(nest, reference, 1)?;
    let loops = chain(nest, &position);
    let l = loops[position.len() - 1];
    check_step(nest, l)?;
    let refuse = |kind: ErrorKind| Error::from(kind).on(nest, [l.name.clone()]);
    let mut guards = Vec::new();
    collect(&l.body, &l.name, &mut guards);
    if guards.is_empty() {
        let name = l.name.clone();
        return Err(refuse(ErrorKind::NotGuarded { name }));
    }
    let around = Bounds::around(nest, loops[..position.len() - 1].iter().map(|l| &***l));
    let ends = ends(&guards, &l.name, &around).filter(|(first, end)| {
        let apart = around.interval(&end.minus(first));
        apart.is_some_and(|(least, _)| least >= 0)
    });
    let Some((first, end)) = ends else {
        let name = l.name.clone();
        return Err(refuse(ErrorKind::Inseparable { name }));
    };

    let mut names = Names::of(nest);
    let mut trees = Vec::new();
    let [lower, upper] = [
        tightened(&l.range.lower, &first, 1),
        tightened(&l.range.upper, &end, -1),
    ];
    if lower != l.range.lower {
        let range = Range {
            upper: tightened(&l.range.upper, &first, -1),
            ..l.range.clone()
        };
        trees.push(part(&mut names, l, range, End::Front)?);
    }
    trees.push(Tree::of_loop(Loop {
        range: Range {
            lower,
            upper: upper.clone(),
            step: 1,
        },
        body: unguarded(&l.body, &l.name),
        ..(**l).clone()
    }));
    if upper != l.range.upper {
        let range = Range {
            lower: tightened(&l.range.lower, &end, 1),
            ..l.range.clone()
        };
        trees.push(part(&mut names, l, range, End::Back)?);
    }
    Ok(nest.with_trees(splice(nest.trees(), &position, trees)))
}

/// Whether a loop has the iteration of `iterator` and no other, at most.
fn is_guard(l: &Loop, iterator: &Affine) -> bool {
    l.range.lower.contains(iterator) && l.range.upper.contains(&iterator.plus_constant(1))
}

/// The loops in `trees` that are guards of the loop `name`.
fn collect<'a>(trees: &'a [Tree], name: &Name, guards: &mut Vec<&'a Loop>) {
    let iterator = Affine::iterator(name.clone());
    for l in trees.iter().filter_map(Tree::as_loop) {
        if is_guard(l, &iterator) {
            guards.push(l);
        }
        collect(&l.body, name, guards);
    }
}

/// From where on all guards hold, and until when, in terms of the loops around.
fn ends(guards: &[&Loop], l: &Name, around: &Bounds) -> Option<(Affine, Affine)> {
    let iterator = Affine::iterator(l.clone());
    let next = iterator.plus_constant(1);
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    for g in guards {
        lower.extend(g.range.lower.iter().filter(|b| **b != iterator).cloned());
        upper.extend(g.range.upper.iter().filter(|b| **b != next).cloned());
    }
    let known = |b: &Affine| around.interval(b).is_some();
    let all_known = lower.iter().chain(&upper).all(known);
    let (first, end) = (tightest(&lower, 1)?, tightest(&upper, -1)?);
    all_known.then_some((first, end))
}

/// The greatest of the bounds with the sign 1, the least with -1, if they are constants apart.
fn tightest(bounds: &[Affine], sign: i64) -> Option<Affine> {
    let (first, rest) = bounds.split_first()?;
    rest.iter().try_fold(first.clone(), |best, bound| {
        let apart = bound.minus(&best).as_constant()?;
        Some(match apart.signum() == sign {
            true => bound.clone(),
            false => best,
        })
    })
}

/// The bounds with another one; those that are no tighter, constants apart, are left out.
fn tightened(bounds: &[Affine], with: &Affine, sign: i64) -> Vec<Affine> {
    let no_tighter = |b: &Affine, than: &Affine| {
        let apart = b.minus(than).as_constant();
        apart.is_some_and(|apart| apart.signum() != sign)
    };
    if bounds.iter().any(|b| no_tighter(with, b)) {
        return bounds.to_vec();
    }
    let others = bounds.iter().filter(|b| !no_tighter(b, with)).cloned();
    others.chain([with.clone()]).collect()
}

/// The trees without the guards of a loop.
fn unguarded(trees: &[Tree], name: &Name) -> Vec<Tree> {
    let iterator = Affine::iterator(name.clone());
    let trees = trees.iter().flat_map(|tree| match tree {
        Tree::Loop(l) if is_guard(l, &iterator) => {
            let old = |n: &Name| (*n == l.name).then(|| iterator.clone());
            let body: Vec<Tree> = l.body.iter().map(|t| t.substitute(&old)).collect();
            unguarded(&body, name)
        }
        Tree::Loop(l) => vec![Tree::of_loop(Loop {
            body: unguarded(&l.body, name),
            ..(**l).clone()
        })],
        other => vec![other.clone()],
    });
    trees.collect()
}
