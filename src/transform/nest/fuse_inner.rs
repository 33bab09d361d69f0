//! `fuse_inner` fuses all loops at one level of a nest into one.
//!
//! ```rhai
//! let A = tensor([4, 5]);
//! let B = eq(A, [i, j] -> [i, j]);
//! let C = eq(B, [i, j] -> [i, j]);
//! print(fuse_outer(build(B), build(C), 1).fuse_inner(2));
//! ```
//!
//! ```text
//! f64 B[4][5], A[4][5], C[4][5]
//! for i in 0..4
//!   for j in 0..5
//!     B[i][j] = A[i][j]
//!     C[i][j] = B[i][j]
//! ```
//!
//! The adjacent loops at `level` (or beside the loop named) must have equal ranges. The fused loop
//! keeps the name of the first one. Initializations before the loops stay before them. Copies that
//! `unroll` made (`j_u0`, `j_u1` …) fuse back into `j`: `unroll` followed by `fuse_inner` is
//! unroll-and-jam.
//!
//! Legal when no loop depends on a later iteration of a loop before it. `check` proves it.
//!
//! Refuses: a body with anything but adjacent loops; ranges that differ; loops only some of which
//! are parallel or vector; a single loop.
//!
//! Source: TeML eq. 23.

use super::fuse_outer::check_same;
use super::resolve::{chain, find};
use crate::analysis::position::{self, splice};
use crate::args::NEST;
use crate::ir::{Affine, Loop, Name, Nest, Tree};
use crate::{Error, LoopRef, Op, Param, Returns, Value, refusal};
use std::sync::Arc;

const LEVEL: Param<LoopRef> = Param::new("level");

/// `fuse_inner(nest, level)`.
pub static FUSE_INNER: Op = Op {
    name: "fuse_inner",
    params: &[NEST.any(), LEVEL.any()],
    returns: Returns::Nest,
    file: include_str!("fuse_inner.rs"),
    call: |args| fuse_inner(args.get(&NEST)?, args.get(&LEVEL)?).map(Value::Nest),
};

/// The nest with the loops at `level` fused.
///
/// # Errors
/// As the header says.
pub fn fuse_inner(nest: &Nest, level: &LoopRef) -> Result<Nest, Error> {
    let parent = parent(nest, level)?;
    let siblings = match chain(nest, &parent).last() {
        Some(l) => l.body.as_slice(),
        None => nest.trees(),
    };
    if siblings.iter().all(|t| t.as_loop().is_none()) {
        // There is no loop at this level: the search for one reports how deep the nest is.
        find(nest, level, &LEVEL)?;
    }
    let fills = siblings
        .iter()
        .take_while(|t| matches!(t, Tree::Fill(_) | Tree::Local(_)))
        .count();
    let mut loops: Vec<&Arc<Loop>> = Vec::with_capacity(siblings.len());
    for tree in &siblings[fills..] {
        let Some(l) = tree.as_loop() else {
            let culprits = loops.iter().map(|l| l.name.clone());
            let text = format!(
                "`{}` is beside the loops at this level and is not a loop",
                one_line(tree)
            );
            return Err(refusal(text).at(&LEVEL).on(nest, culprits));
        };
        loops.push(l);
    }
    let (Some((first, others)), 2..) = (loops.split_first(), loops.len()) else {
        let culprits = loops.iter().map(|l| l.name.clone());
        let text = "there is only one loop at this level, so there is nothing to fuse";
        return Err(refusal(text).at(&LEVEL).on(nest, culprits));
    };
    for other in others {
        check_same(first, other, &other.range)
            .map_err(|error| error.on(nest, [first.name.clone(), other.name.clone()]))?;
    }

    let name = fused_name(nest, &loops);
    let mut body = Vec::new();
    for l in &loops {
        let rename = |n: &Name| (*n == l.name).then(|| Affine::iterator(name.clone()));
        body.extend(l.body.iter().map(|t| t.substitute(&rename)));
    }
    let lineage = others.iter().fold(first.lineage.clone(), |lineage, other| {
        lineage.fused(&other.lineage)
    });
    let fused = Tree::of_loop(Loop {
        name,
        body,
        lineage,
        ..(***first).clone()
    });
    let kept = siblings[..fills].iter().cloned().chain([fused]).collect();
    let trees = match chain(nest, &parent).last() {
        Some(l) => {
            let parent_loop = Tree::of_loop(Loop {
                body: kept,
                ..(***l).clone()
            });
            splice(nest.trees(), &parent, vec![parent_loop])
        }
        None => kept,
    };
    Ok(nest.with_trees(trees))
}

/// The position of the loop whose children are at `level`; empty for the root.
fn parent(nest: &Nest, level: &LoopRef) -> Result<Vec<usize>, Error> {
    let above = match level {
        LoopRef::Level(1) => return Ok(Vec::new()),
        LoopRef::Level(level) if *level > 1 => position::at_level(nest, level - 1),
        _ => return find(nest, level, &LEVEL).map(|p| p[..p.len() - 1].to_vec()),
    };
    above.map_err(|why| Error::from(why).at(&LEVEL).on(nest, []))
}

/// `j` for copies `j_u0`, `j_u1` …, if that name is free; otherwise the first loop's name.
fn fused_name(nest: &Nest, loops: &[&Arc<Loop>]) -> Name {
    let stem = |l: &Loop| -> Option<String> {
        let (stem, number) = l.name.as_str().rsplit_once("_u")?;
        number.parse::<usize>().ok().map(|_| stem.to_owned())
    };
    let first = stem(loops[0]);
    let same = loops.iter().all(|l| stem(l) == first);
    match first.filter(|_| same).and_then(|s| Name::new(&s).ok()) {
        Some(name) if !nest.has_loop(&name) => name,
        _ => loops[0].name.clone(),
    }
}

/// Prints a tree in one line.
pub(super) fn one_line(tree: &Tree) -> String {
    match tree {
        Tree::Loop(l) => l.to_string(),
        Tree::Stmt(s) => s.to_string(),
        Tree::Fill(fill) => fill.to_string(),
        Tree::Local(tensor) => format!("local {tensor}"),
    }
}
