//! `separate` splits a loop where its guards start and stop to hold, so that its iterations need
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
//!   for j in 1..9
//!     C[i][j] = A[i][j]
//!     D[i][j - 1] = B[i][j - 1]
//!   for j_b in 9..10
//!     C[i][j_b] = A[i][j_b]
//! ```
//!
//! A guard is a loop of one iteration or none, as `fuse` makes it. Each part executes what its
//! guards let through, and has no guards. The part in which the most guards hold keeps the name of
//! the loop; those before are called `j_f`, `j_f_2` and so on, those after `j_b`. Loops inside are
//! copied there under the first free numbers. Parts without iterations are left out, and so are
//! bounds that others imply. `fuse` with `"guard"` keeps loops perfectly nested while you skew and
//! tile them; use `separate` after that, from the outermost loop to the innermost one.
//!
//! ```rhai
//! let p = nest(`
//!   f64 A[20], B[20]
//!   for k in 0..19
//!     for i in k..20
//!       for i_g in max(i, k)..min(i + 1, k + 2)
//!         A[i_g] += 1
//!       for i_h in max(i, k + 1)..min(i + 1, 20)
//!         B[i_h] += 1
//! `);
//! print(p.separate("i"));
//! ```
//!
//! ```text
//! f64 A[20], B[20]
//! for k in 0..19
//!   for i_f in k..k + 1
//!     A[i_f] += 1
//!   for i in k + 1..k + 2
//!     A[i] += 1
//!     B[i] += 1
//!   for i_b in k + 2..20
//!     B[i_b] += 1
//! ```
//!
//! Always legal: iterations keep their order.
//!
//! Refuses: a loop without guards; guards all of whose bounds depend on loops further in; steps
//! other than 1.
//!
//! Source: index-set splitting, Griebl, Feautrier and Lengauer, Index Set Splitting, 2000; what
//! CLooG does when it separates the domains of statements.

use super::parts::Names;
use super::resolve::{chain, check_step, find};
use crate::analysis::facts::is_nonnegative;
use crate::analysis::implied::simplified;
use crate::analysis::position::splice;
use crate::args::{LOOP, NEST};
use crate::ir::{Affine, Loop, Name, Nest, Range, Role, Tree};
use crate::{Error, LoopRef, Op, Returns, Value, refusal};

/// `separate(nest, loop)`.
pub static SEPARATE: Op = Op {
    name: "separate",
    params: &[NEST.any(), LOOP.any()],
    returns: Returns::Nest,
    file: include_str!("separate.rs"),
    call: |args| separate(args.get(&NEST)?, args.get(&LOOP)?).map(Value::Nest),
};

/// A part of a loop's iterations, entirely before or after the other parts.
struct Part {
    range: Range,
    /// The values that split it off, and whether the part is from the value on or before it.
    sides: Vec<(Affine, bool)>,
}

/// The code of a part.
struct Kept {
    range: Range,
    body: Vec<Tree>,
    /// The number of guards that hold in all of its iterations.
    held: usize,
}

/// The nest with a loop split into parts without guards.
///
/// # Errors
/// As the header says.
pub fn separate(nest: &Nest, reference: &LoopRef) -> Result<Nest, Error> {
    let position = find(nest, reference, &LOOP)?;
    let loops = chain(nest, &position);
    let l = loops[position.len() - 1];
    check_step(nest, l)?;
    let name = &l.name;
    let outer = loops[..position.len() - 1].iter().map(|l| &***l);
    let around: Vec<&Loop> = nest.context().iter().chain(outer).collect();
    let body = named_alike(&l.body, &l.name);
    let mut guards = Vec::new();
    collect(&body, &l.name, &mut guards);
    if guards.is_empty() {
        let text =
            format!("`{name}` holds no loop of one iteration or none that `fuse` made for it");
        return Err(refusal(text).on(nest, [name.clone()]));
    }
    let is_known = |bound: &Affine| {
        let mut terms = bound.terms().iter();
        terms.all(|(name, _)| around.iter().any(|l| l.name == *name))
    };
    let mut parts = vec![Part {
        range: l.range.clone(),
        sides: Vec::new(),
    }];
    for guard in &guards {
        let bounds = own_bounds(guard, &l.name);
        for bound in bounds.iter().flatten().filter(|b| is_known(b)) {
            let split = parts.into_iter().flat_map(|part| {
                if part.stops(&bounds) {
                    vec![part]
                } else {
                    part.split(bound, &around)
                }
            });
            parts = split.collect();
        }
    }
    let kept = parts.into_iter().map(|part| part.kept(l, &body));
    let kept: Vec<Kept> = kept.filter(|k| !k.body.iter().all(is_idle)).collect();
    let mut left = Vec::new();
    kept.iter()
        .for_each(|k| collect(&k.body, &l.name, &mut left));
    if kept.is_empty() || kept.len() == 1 && left.len() == guards.len() {
        let text = format!("all guards in `{name}` begin and end where loops further in say");
        return Err(refusal(text).on(nest, [name.clone()]));
    }

    let most = kept.iter().map(|k| k.held).max();
    let main = kept.iter().position(|k| Some(k.held) == most).unwrap_or(0);
    let mut names = Names::of(nest);
    let mut trees = Vec::with_capacity(kept.len());
    for (k, Kept { range, body, .. }) in kept.into_iter().enumerate() {
        let own = Loop {
            body,
            ..(**l).clone()
        };
        let end = if k < main { "f" } else { "b" };
        trees.push(if k == main {
            Tree::of_loop(Loop { range, ..own })
        } else {
            let name = names.free(&l.name.derived(end));
            names.part(&own, Role::Peeled, name, range)
        });
    }
    let trees = simplified(&trees, &around);
    Ok(nest.with_trees(splice(nest.trees(), &position, trees)))
}

impl Part {
    /// Whether the iterations are from a value on or before it; `None` if the part was not split
    /// there.
    fn side(&self, value: &Affine) -> Option<bool> {
        let mut sides = self.sides.iter();
        sides.find(|(at, _)| at == value).map(|(_, from)| *from)
    }

    /// Whether a guard with these bounds never holds in the part.
    fn stops(&self, [lower, upper]: &[Vec<&Affine>; 2]) -> bool {
        let before = lower.iter().any(|b| self.side(b) == Some(false));
        before || upper.iter().any(|b| self.side(b) == Some(true))
    }

    /// Whether a guard with these bounds always holds in the part.
    fn holds(&self, [lower, upper]: &[Vec<&Affine>; 2]) -> bool {
        let from = lower.iter().all(|b| self.side(b) == Some(true));
        from && upper.iter().all(|b| self.side(b) == Some(false))
    }

    /// Splits the part at a value, and drops a half that is empty.
    fn split(self, at: &Affine, around: &[&Loop]) -> Vec<Part> {
        if self.side(at).is_some() {
            return vec![self];
        }
        let Range { lower, upper, .. } = &self.range;
        let no_less = |a: &Affine, b: &Affine| is_nonnegative(&a.minus(b), around);
        if lower.iter().any(|b| no_less(b, at)) {
            return vec![self.at(at, true)];
        }
        if upper.iter().any(|b| no_less(at, b)) {
            return vec![self.at(at, false)];
        }
        let mut before = self.range.clone();
        before.upper = tightened(upper, at, &|a, b| no_less(b, a));
        let mut after = self.range.clone();
        after.lower = tightened(lower, at, &no_less);
        let halves = [(before, false), (after, true)].into_iter();
        let has_some = |range: &Range| {
            let ends = range
                .lower
                .iter()
                .flat_map(|l| range.upper.iter().map(move |u| (l, u)));
            !ends.clone().any(|(lower, upper)| no_less(lower, upper))
        };
        let halves = halves.filter(|(range, _)| has_some(range));
        let part = |(range, from)| {
            let sides = self.sides.clone();
            Part { range, sides }.at(at, from)
        };
        halves.map(part).collect()
    }

    fn at(mut self, value: &Affine, from: bool) -> Part {
        self.sides.push((value.clone(), from));
        self
    }

    /// The code of the part: its share of the loop's body.
    fn kept(self, l: &Loop, body: &[Tree]) -> Kept {
        let mut held = 0;
        let body = self.without_guards(body, &l.name, &mut held);
        let range = self.range;
        Kept { range, body, held }
    }

    /// Dissolves guards that always hold in the part, which are counted, and drops the bodies of
    /// guards that never do.
    fn without_guards(&self, trees: &[Tree], name: &Name, held: &mut usize) -> Vec<Tree> {
        let mut left = Vec::with_capacity(trees.len());
        for tree in trees {
            let Tree::Loop(l) = tree else {
                left.push(tree.clone());
                continue;
            };
            let (is_guard, bounds) = (is_guard(l, name), own_bounds(l, name));
            if is_guard && self.stops(&bounds) {
                continue;
            }
            let body = self.without_guards(&l.body, name, held);
            if body.iter().all(is_idle) {
                continue;
            }
            if is_guard && self.holds(&bounds) {
                *held += 1;
                left.extend(body);
            } else {
                left.push(Tree::of_loop(Loop {
                    body,
                    ..(**l).clone()
                }))
            }
        }
        left
    }
}

/// Whether a tree executes nothing.
fn is_idle(tree: &Tree) -> bool {
    match tree {
        Tree::Local(_) => true,
        Tree::Loop(l) => l.body.iter().all(is_idle),
        _ => false,
    }
}

/// Whether a loop has at most one iteration, that of the loop `name` around it.
fn is_guard(l: &Loop, name: &Name) -> bool {
    let iterator = Affine::iterator(name.clone());
    l.range.upper.contains(&iterator.plus_constant(1)) && l.range.lower.contains(&iterator)
}

/// The bounds of a guard of the loop `name`, without the two bounds that make it a guard.
fn own_bounds<'a>(guard: &'a Loop, name: &Name) -> [Vec<&'a Affine>; 2] {
    let iterator = Affine::iterator(name.clone());
    let next = iterator.plus_constant(1);
    let Range { lower, upper, .. } = &guard.range;
    [(lower, iterator), (upper, next)]
        .map(|(bounds, own)| bounds.iter().filter(|b| **b != own).collect())
}

/// Replaces the iterators of a loop's guards by the loop's own.
fn named_alike(trees: &[Tree], name: &Name) -> Vec<Tree> {
    let iterator = Affine::iterator(name.clone());
    let one = |tree: &Tree| match tree {
        Tree::Loop(l) => {
            let alike = |n: &Name| (*n == l.name).then(|| iterator.clone());
            let body = if is_guard(l, name) {
                named_alike(
                    &l.body
                        .iter()
                        .map(|t| t.substitute(&alike))
                        .collect::<Vec<_>>(),
                    name,
                )
            } else {
                named_alike(&l.body, name)
            };
            Tree::of_loop(Loop {
                body,
                ..(**l).clone()
            })
        }
        other => other.clone(),
    };
    trees.iter().map(one).collect()
}

/// The loops in `trees` that are guards of the loop `name`.
fn collect<'a>(trees: &'a [Tree], name: &Name, guards: &mut Vec<&'a Loop>) {
    for l in trees.iter().filter_map(Tree::as_loop) {
        if is_guard(l, name) {
            guards.push(l);
        }
        collect(&l.body, name, guards);
    }
}

/// Adds a bound, and drops the bounds that it implies.
fn tightened(
    bounds: &[Affine],
    with: &Affine,
    is_tighter: &dyn Fn(&Affine, &Affine) -> bool,
) -> Vec<Affine> {
    let others = bounds.iter().filter(|b| !is_tighter(with, b)).cloned();
    others.chain([with.clone()]).collect()
}
