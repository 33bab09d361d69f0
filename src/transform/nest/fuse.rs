//! `fuse` merges two adjacent loops into one, and peels off the iterations that only one of them
//! has; with two nests, it merges their outermost loops.
//!
//! ```rhai
//! let A = tensor([4, 10]);
//! let B = tensor([4, 8]);
//! let C = eq(A, [i, j] -> [i, j]);
//! let D = eq(B, [i, j] -> [i, j]);
//! let apart = fuse_outer(build(C), build(D), 1);
//! print(apart.shift("j_2", 1).fuse("j", "j_2"));
//! ```
//!
//! ```text
//! f64 C[4][10], A[4][10], D[4][8], B[4][8]
//! for i in 0..4
//!   for j_f in 0..1
//!     C[i][j_f] = A[i][j_f]
//!   for j in 1..9
//!     C[i][j] = A[i][j]
//!     D[i][j - 1] = B[i][j - 1]
//!   for j_b in 9..10
//!     C[i][j_b] = A[i][j_b]
//! ```
//!
//! The fused loop keeps the name of the first one. Iterations of either loop before the common ones
//! become a loop `j_f`, and those after them a loop `j_b`, as with `peel`. Loops inside are copied
//! there under the first free numbers.
//!
//! Ends may have sizes. Ranges of unknown length fuse if their starts and ends differ by numbers, and
//! if they meet at all sizes.
//!
//! The third argument says how to treat ranges that differ. `"peel"`, the default, takes off the
//! ends. With `"guard"`, the fused loop runs over both ranges and any gap between them. A loop
//! `j_g` of one iteration or none then guards each body that does not run in every iteration. The
//! surrounding loops stay perfectly nested, so that fused nests can be skewed, interchanged and
//! tiled.
//!
//! ```rhai
//! let A = tensor([4, 10]);
//! let B = tensor([4, 8]);
//! let C = eq(A, [i, j] -> [i, j]);
//! let D = eq(B, [i, j] -> [i, j]);
//! let apart = fuse_outer(build(C), build(D), 1);
//! print(apart.shift("j_2", 1).fuse("j", "j_2", "guard"));
//! ```
//!
//! ```text
//! f64 C[4][10], A[4][10], D[4][8], B[4][8]
//! for i in 0..4
//!   for j in 0..10
//!     C[i][j] = A[i][j]
//!     for j_g in max(j, 1)..min(j + 1, 9)
//!       D[i][j_g - 1] = B[i][j_g - 1]
//! ```
//!
//! `fuse(first, second)` of two nests fuses their outermost loops, and `fuse(first, second, level)`
//! levels 1 to `level`: it is `fuse_outer`, with level 1 unless another one is given. The ranges must
//! be equal. If they differ, `fuse_outer` at level 0 leaves the loops side by side, where `fuse`
//! peels or guards.
//!
//! ```rhai
//! let A = tensor([4, 10]);
//! let C = eq(A, [i, j] -> [i, j]);
//! let D = eq(2 * C, [i, j] -> [i, j]);
//! print(fuse(build(C), build(D)));
//! print(fuse(build(C), build(D), 2));
//! ```
//!
//! ```text
//! f64 C[4][10], A[4][10], D[4][10]
//! for i in 0..4
//!   for j in 0..10
//!     C[i][j] = A[i][j]
//!   for j_2 in 0..10
//!     D[i][j_2] = 2 * C[i][j_2]
//! f64 C[4][10], A[4][10], D[4][10]
//! for i in 0..4
//!   for j in 0..10
//!     C[i][j] = A[i][j]
//!     D[i][j] = 2 * C[i][j]
//! ```
//!
//! Legal when no iteration of the second loop depends on a later iteration of the first: it needs
//! no value computed there, and overwrites none used there. `check` proves it.
//!
//! Refuses: loops that are not adjacent in one body; loops only one of which is parallel, or
//! vector; new names that are in use; other words for the ends; with `"peel"`, ranges that differ
//! by more than constants, redundant bounds aside, or that have no iteration in common; with
//! `"guard"`, steps other than 1 in ranges that differ.
//!
//! Source: TeML eq. 23 for equal ranges; the peeling is that of Allen and Kennedy, Optimizing
//! Compilers for Modern Architectures, 2001.

use super::fuse_outer::{check_modes, ranges_differ};
use super::guard::{around_of, guarded, hull};
use super::parts::Names;
use super::peel::{End, part};
use super::resolve::{chain, find};
use super::shift::SHIFT;
use crate::analysis::bounds::{Bounds, extent};
use crate::analysis::facts::is_nonnegative;
use crate::analysis::position::splice;
use crate::args::NEST;
use crate::ir::{Affine, Arg, Loop, Name, Nest, Range, Tree};
use crate::op::Alternatives;
use crate::words::words;
use crate::{Error, LoopRef, Op, Param, Returns, Value, refusal};

const FIRST: Param<LoopRef> = Param::new("first");
const SECOND: Param<LoopRef> = Param::new("second");
const ENDS: Param<Option<Ends>> = Param::new("ends");

/// `fuse(nest, first, second, ends?)`.
pub static FUSE: Op = Op {
    name: "fuse",
    params: &[NEST.any(), FIRST.any(), SECOND.any(), ENDS.any()],
    returns: Returns::Nest,
    file: include_str!("fuse.rs"),
    call: |args| {
        let ends = args.get(&ENDS)?.unwrap_or(Ends::Peel);
        fuse(
            args.get(&NEST)?,
            args.get(&FIRST)?,
            args.get(&SECOND)?,
            ends,
        )
        .map(Value::Nest)
    },
};

/// A shift may delay the second loop enough.
pub fn alternatives(_: &Nest, args: &[Arg]) -> Alternatives {
    let [_, second, ..] = args else {
        return Alternatives::default();
    };
    let by = |amount| (&SHIFT, vec![second.clone(), Arg::Int(amount)]);
    Alternatives {
        first: (1..=4).map(by).collect(),
        instead: None,
    }
}

words! {
    /// The treatment of iterations that only one of the loops has.
    pub enum Ends {
        /// They get loops of their own.
        Peel = "peel",
        /// They run in the fused loop, guarded.
        Guard = "guard",
    }
}

/// The nest with two adjacent loops fused.
///
/// # Errors
/// As the header says.
pub fn fuse(nest: &Nest, first: &LoopRef, second: &LoopRef, ends: Ends) -> Result<Nest, Error> {
    let place = find(nest, first, &FIRST)?;
    let next = find(nest, second, &SECOND)?;
    let loops = chain(nest, &place);
    let (a, b) = (loops[loops.len() - 1], chain(nest, &next)[next.len() - 1]);
    let culprits = [a.name.clone(), b.name.clone()];
    let refuse = |error: Error| error.on(nest, culprits.clone());
    let (k, around) = (place[place.len() - 1], &place[..place.len() - 1]);
    if next[..] != [around, &[k + 1]].concat() {
        let text = format!("`{}` and `{}` are not adjacent", a.name, b.name);
        let error = refusal(text).help("fuse_outer brings loops of two nests side by side");
        return Err(refuse(error));
    }
    check_modes(a, b).map_err(refuse)?;
    if ends == Ends::Guard && a.range != b.range {
        let Some(range) = hull(&around_of(nest, around), &a.range, &b.range) else {
            return Err(refuse(ranges_differ(a, b, &b.range)));
        };
        let fused = guarded(&mut Names::of(nest), [a, b], range);
        let rest = splice(nest.trees(), &next, Vec::new());
        return Ok(nest.with_trees(splice(&rest, &place, vec![fused])));
    }
    let outer = loops[..loops.len() - 1].iter().map(|l| &***l);
    let numbers = overlap(&a.range, &b.range, &Bounds::around(nest, outer.clone()));
    let all = || nest.context().iter().chain(outer).collect::<Vec<&Loop>>();
    let are_numbers = a.range.as_constant().and(b.range.as_constant()).is_some();
    let of_sizes = || overlap_of_sizes(&a.range, &b.range, &all());
    let found = numbers.or_else(|| (!are_numbers).then(of_sizes).flatten());
    let Some(Overlap {
        common,
        front,
        back,
    }) = found
    else {
        return Err(refuse(ranges_differ(a, b, &b.range)));
    };

    let mut names = Names::of(nest);
    let mut trees = Vec::new();
    for (l, range) in [a, b].into_iter().zip(front) {
        if let Some(range) = range {
            trees.push(part(&mut names, l, range, End::Front)?);
        }
    }
    let iterator = Affine::iterator(a.name.clone());
    let rename = |name: &Name| (*name == b.name).then(|| iterator.clone());
    let second = b.body.iter().map(|t| t.substitute(&rename));
    trees.push(Tree::of_loop(Loop {
        range: common,
        body: a.body.iter().cloned().chain(second).collect(),
        lineage: a.lineage.fused(&b.lineage),
        ..(**a).clone()
    }));
    for (l, range) in [a, b].into_iter().zip(back) {
        if let Some(range) = range {
            trees.push(part(&mut names, l, range, End::Back)?);
        }
    }
    let rest = splice(nest.trees(), &next, Vec::new());
    Ok(nest.with_trees(splice(&rest, &place, trees)))
}

/// The intersection of two ranges, and the rest of each before and after it.
struct Overlap {
    common: Range,
    front: [Option<Range>; 2],
    back: [Option<Range>; 2],
}

/// The overlap of two ranges; `bounds` has the ranges of the iterators around.
fn overlap(a: &Range, b: &Range, bounds: &Bounds) -> Option<Overlap> {
    if a == b {
        let (common, [front, back]) = (a.clone(), [[None, None], [None, None]]);
        return Some(Overlap {
            common,
            front,
            back,
        });
    }
    if (a.step, b.step) != (1, 1) {
        return None;
    }
    let (first, length) = extent(&bounds.needed(a))?;
    let (other, other_length) = extent(&bounds.needed(b))?;
    // Starts and ends, counted from the start of the first loop.
    let start = other.minus(&first).as_constant()?;
    let (starts, ends) = ([0, start], [length, start.saturating_add(other_length)]);
    let (low, high) = (starts[0].max(starts[1]), ends[0].min(ends[1]));
    let range = |low: i64, high: i64| {
        let lower = first.plus_constant(low);
        (low < high).then(|| Range::of_extent(&lower, high - low))
    };
    Some(Overlap {
        common: range(low, high)?,
        front: starts.map(|start| range(start, low)),
        back: ends.map(|end| range(high, end)),
    })
}

/// The same for ranges of unknown length whose starts and ends differ by numbers.
fn overlap_of_sizes(a: &Range, b: &Range, around: &[&Loop]) -> Option<Overlap> {
    let ([first], [end], [other], [other_end]) =
        (&a.lower[..], &a.upper[..], &b.lower[..], &b.upper[..])
    else {
        return None;
    };
    let low = match other.minus(first).as_constant()? {
        1.. => other,
        _ => first,
    };
    let high = match other_end.minus(end).as_constant()? {
        ..0 => other_end,
        _ => end,
    };
    if (a.step, b.step) != (1, 1) || !is_nonnegative(&high.minus(low), around) {
        return None;
    }
    let range = |from: &Affine, to: &Affine| Range::between(from.clone(), to.clone());
    let part = |from: &Affine, to: &Affine| (from != to).then(|| range(from, to));
    Some(Overlap {
        common: range(low, high),
        front: [first, other].map(|start| part(start, low)),
        back: [end, other_end].map(|end| part(high, end)),
    })
}
