//! Counts the least work of a kernel, exactly, from its definition: arithmetic operations, and
//! bytes of inputs and results. Of several variants' definitions, the one with the fewest
//! operations counts.

use super::count::total;
use super::footprint::{AccessKind, Use, footprint, uses};
use super::position::walk;
use crate::ir::{Affine, Expr, Function, Loop, Name, Nest, Node, Stmt, Tree};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The arithmetic operations of a nest before any step. Each element-wise operation or function and
/// each update counts as one, a conversion or a fill as none. `None` if the count exceeds its
/// budget.
pub fn flops(nest: &Nest) -> Option<f64> {
    total(nest.trees(), &|tree| match tree {
        Tree::Stmt(s) => statement_operations(s),
        Tree::Loop(_) | Tree::Fill(_) | Tree::Local(_) => 0.0,
    })
}

/// Bytes moved from and to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    pub read: u64,
    pub written: u64,
}

/// The least number of bytes that nests, as `build` makes them, read or write in sequence. Counted
/// are inputs, and results that no later nest reads, each element once.
pub fn moved(nests: &[Nest]) -> Moved {
    let mut inputs: BTreeMap<String, u64> = BTreeMap::new();
    let mut results: BTreeMap<String, u64> = BTreeMap::new();
    for (k, nest) in nests.iter().enumerate() {
        for tensor in nest.tensors() {
            let name = tensor.label();
            let all = uses(nest, name);
            let has = |access: AccessKind| all.iter().any(|u| u.access == access);
            let size = touched(nest, &all) * tensor.elem().size() as u64;
            let is_read =
                has(AccessKind::Read) || has(AccessKind::Update) && !has(AccessKind::Fill);
            let is_set = has(AccessKind::Set) || has(AccessKind::Update);
            let set_before = nests[..k].iter().any(|n| sets(n, name));
            if is_read && !set_before {
                let known = inputs.entry(name.to_owned()).or_default();
                *known = size.max(*known);
            }
            if is_read {
                results.remove(name);
            }
            if is_set {
                results.insert(name.to_owned(), size);
            }
        }
    }
    Moved {
        read: inputs.values().sum(),
        written: results.values().sum(),
    }
}

/// The number of elements that `uses` touch.
fn touched(nest: &Nest, uses: &[Use]) -> u64 {
    let sides = footprint(nest, uses, 0).unwrap_or_default();
    sides.iter().map(|side| side.extent).product()
}

fn sets(nest: &Nest, name: &str) -> bool {
    uses(nest, name)
        .iter()
        .any(|u| u.access != AccessKind::Read)
}

/// The work of a nest before any step, in terms of sizes: a sum of products, each a number of
/// multiply-adds or moved elements and the extents of loops that have sizes. Statements in fewer such
/// loops than others have are left out.
///
/// A loop whose bounds depend on other loops counts as if these were in the middle of their ranges.
/// Loops whose bounds are read are left out.
pub fn by_sizes(nest: &Nest) -> Vec<(f64, Vec<Affine>)> {
    let originals = nest.untransformed();
    // A nest without a definition is what it should compute.
    let own = originals.is_empty().then_some(nest);
    let mut found: Vec<(f64, Vec<Affine>)> = Vec::new();
    for original in originals.iter().chain(own) {
        walk(original.trees(), &mut |_, loops, tree| {
            let Tree::Stmt(s) = tree else { return };
            let (number, extents) = middle_extents(loops);
            let number = number * weight(s);
            match found.iter_mut().find(|(_, known)| *known == extents) {
                Some((known, _)) => *known += number,
                None => found.push((number, extents)),
            }
        });
    }
    let most = found.iter().map(|(_, extents)| extents.len()).max();
    found.retain(|(_, extents)| Some(extents.len()) == most);
    found
}

pub(super) fn statement_operations(s: &Stmt) -> f64 {
    operations(&s.value) + f64::from(u8::from(s.update.is_some()))
}

/// The work of one execution of a statement, in multiply-adds or moved elements.
pub(super) fn weight(s: &Stmt) -> f64 {
    f64::max(1.0, statement_operations(s) / 2.0)
}

/// The product of the extents of nested loops, in the middle of the ranges of those around.
fn middle_extents(loops: &[&Arc<Loop>]) -> (f64, Vec<Affine>) {
    // The middle of each loop, times a power of two.
    let mut middles: Vec<(&Name, Affine, i64)> = Vec::new();
    let (mut number, mut extents) = (1.0, Vec::new());
    for l in loops {
        let (Some(lower), Some(upper)) = (l.range.lower.first(), l.range.upper.first()) else {
            continue;
        };
        let (mut ends, mut scale) = ([lower.clone(), upper.clone()], 1);
        for (name, middle, of_middle) in middles.iter().rev() {
            let [low, high] = &ends;
            if !low.mentions(name) && !high.mentions(name) {
                continue;
            }
            let map = |other: &Name| (other == *name).then(|| middle.clone());
            // Only the iterator is in units of its own.
            ends = ends.map(|end| {
                let own = Affine::iterator((*name).clone()).times(end.coefficient(name));
                let rest = end.minus(&own).times(*of_middle);
                rest.plus(&own.substitute(&map))
            });
            scale *= of_middle;
        }
        let [low, high] = ends;
        let extent = high.minus(&low);
        middles.push((&l.name, low.plus(&high), 2 * scale));
        if !extent.is_fixed() || l.range.within.is_some() {
            continue;
        }
        number /= scale as f64;
        match extent.as_constant() {
            Some(extent) => number *= extent.max(0) as f64,
            None => extents.push(extent),
        }
    }
    (number, extents)
}

/// The arithmetic operations of one evaluation.
pub(super) fn operations(expr: &Expr) -> f64 {
    let own = match expr.node() {
        Node::Apply { function, .. } => !matches!(function, Function::Cast(_)),
        Node::Binary { .. } => true,
        _ => false,
    };
    let own = f64::from(u8::from(own));
    own + expr.children().into_iter().map(operations).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved_by(texts: &[&str]) -> (u64, u64) {
        let nests: Vec<Nest> = texts
            .iter()
            .map(|t| crate::ir::parse_nest(t).unwrap())
            .collect();
        let Moved { read, written } = moved(&nests);
        (read, written)
    }

    const SUM: &str = "\
f64 s[4], A[4][6]
fill s[0..4] = 0
for i in 0..4
  for k in 1..6
    s[i] += A[i][k]
";

    #[test]
    fn inputs_and_results_move_once() {
        // One column of A is not read.
        assert_eq!(moved_by(&[SUM]), (8 * 4 * 5, 8 * 4));
    }

    #[test]
    fn what_stands_between_nests_need_not_move() {
        let scale = "\
f64 t[4], s[4], A[4][6]
for i in 0..4
  t[i] = s[i] * A[i][0]
";
        assert_eq!(moved_by(&[SUM, scale]), (8 * 4 * 5, 8 * 4));
    }

    #[test]
    fn triangles_count_as_if_loops_around_were_in_their_middle() {
        let text = "\
size N
f64 A[N][N], L[9][N]
for k in 0..N
  for i in k + 1..N
    for j in k..i + 1
      for m in 0..9
        A[i][j] += L[m][j]
";
        assert_eq!(sized(text), ["0.5625 N, N - 2, 2*N + 12"]);
    }

    #[test]
    fn all_statements_in_most_loops_count() {
        let text = "\
size M, N least 2
f64 A[M][N], B[M][N], x[M]
for i in 0..M
  x[i] = 0
  for j in 0..N
    A[i][j] = 0.25 * B[i][j] * x[i] + B[i][j] - 1
    B[i][j] = A[i][j]
  for k in 0..N - 2
    B[i][k] = A[i][k + 1]
";
        assert_eq!(sized(text), ["3.0 M, N", "1.0 M, N - 2"]);
    }

    fn sized(text: &str) -> Vec<String> {
        let products = by_sizes(&crate::ir::parse_nest(text).unwrap()).into_iter();
        let shown = products.map(|(number, extents)| {
            let extents: Vec<String> = extents.iter().map(Affine::to_string).collect();
            format!("{number:?} {}", extents.join(", "))
        });
        shown.collect()
    }

    #[test]
    fn what_is_updated_is_read_and_written() {
        let update = "\
f32 s[4], x[4]
for i in 0..4
  s[i] += x[i]
";
        assert_eq!(moved_by(&[update]), (4 * (4 + 4), 4 * 4));
    }
}
