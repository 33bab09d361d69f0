//! `nest` reads a loop nest that is written as text: a program whose statements are executed in
//! the order of the text.
//!
//! ```rhai
//! let n = 6;
//! let L = tensor([n, n]);
//! let b = tensor([n]);
//! let x = tensor([n]);
//! let solve = nest(`
//!   ${L}
//!   ${b}
//!   ${x}
//!   for i in 0..${n}
//!     x[i] = b[i]
//!     for j in 0..i
//!       x[i] -= L[i][j] * x[j]
//!     x[i] /= L[i][i]
//! `);
//! print(solve);
//! ```
//!
//! ```text
//! f64 x[6], b[6], L[6][6]
//! for i in 0..6
//!   x[i] = b[i]
//!   for j in 0..i
//!     x[i] -= L[i][j] * x[j]
//!   x[i] /= L[i][i]
//! ```
//!
//! The text is what `print` shows of a nest. It declares its tensors first, as `f64 A[9][9], s[]`,
//! or as `${A}`, which is the declaration of the script's tensor `A`. A tensor of the text is the
//! script's tensor of that name, so that `init(A, …)` sets what it holds.
//!
//! - `size N` declares a size, with facts such as `size N least 1 likely 1000`. The script's sizes are
//!   known by name: `for i in 0..${n}`, or `for i in 0..N`.
//! - `for i in 0..9`, `for j in max(0, i - 2)..min(i + 1, 9) step 2`: bounds are affine in the
//!   iterators around, and `max` and `min` take several.
//! - `A[i][j] = value` and `A[i][j] += value`, likewise `-=`, `*=`, `/=`, `min=` and `max=`; values
//!   are accesses, numbers, `+ - * /` and functions such as `sqrt(x)`, `max(x, y)` and
//!   `select(x < y, a, b)`.
//! - `local f64 t[9]` declares a tensor whose value is dead afterwards. Each iteration of the loop
//!   around it has its own copy.
//! - `fill A[0..9][0..9] = 0` begins the reduction that follows, or sets elements that the
//!   statements after it omit.
//!
//! Statements in a loop are indented. Lines that begin with `//` are comments. Loops with the same
//! name get numbers: `i`, `i_2`.
//!
//! Conversions and comparisons mix element types: `s[] += f64(x[i])` reads `f32`, and
//! `k[i] += select(a[i] < 4, 1, 0)` compares `f64` to count in `i32`. A statement that combines its
//! target with another value is an update: `m[] = max(a[i], m[])` is `m[] max= a[i]`.
//!
//! The definition of the nest is the text, executed in order. All tensors that it assigns are
//! results, except local ones. Every later step is proved against this order, and so are loops that
//! the text calls `parallel` or `vector`.
//!
//! Refuses: lines that cannot be read; an access that leaves its tensor, with the iteration in
//! which it does; a loop with the name of a loop around it; operands of several element types; a
//! `fill` of a tensor that nothing after it assigns. All errors are shown at once, each at its place.
//! There are no conditions, no indices that are elements, and no loops without a range. The message says what to
//! write instead.
//!
//! Source: the canonical notation of nests; the sequential meaning of loops.

use super::faults::{Text, faults};
pub use super::no_program::{Fault, Faults, NoProgram};
use super::update::as_update;
use crate::analysis::position;
use crate::analysis::verify::verify;
use crate::ir::{
    Affine, Domain, Expr, Fill, Loop, Name, Nest, Node, Origin, Part, Stmt, Tree, read_nest,
};
use std::collections::HashSet;
use std::sync::Arc;

/// The nest of `text`, which is its own definition.
///
/// # Errors
/// The header lists them.
pub fn program(text: &str) -> Result<Nest, Faults> {
    let whole = Text::of(text);
    let read = read_nest(&canonical(text).join("\n"));
    let mut found = whole.unreadable(read.errors);
    found.extend(whole.faults(faults(read.nest.trees(), true), &read.lines));
    for (trees, lines) in &read.inside {
        found.extend(whole.faults(faults(trees, false), lines));
    }
    if !found.is_empty() {
        found.sort_by_key(|fault| fault.span.start);
        return Err(Faults(found));
    }
    let nest = Nest::of_trees(with_own_names(read.nest.trees()));
    verify(&nest).map_err(|invalid| whole.invalid(invalid, &nest, &read.lines))?;
    let mut count = Count::default();
    let trees = count.sequence(nest.trees(), &mut Vec::new());
    if !count.fills.is_empty() {
        return Err(Faults(whole.faults(idle(&nest, &count.fills), &read.lines)));
    }
    if count.definition.is_empty() {
        Err(whole.fault(NoProgram::Empty))
    } else {
        let parts = parts(&trees);
        Ok(Nest::program(trees, count.definition, parts))
    }
}

/// The fills that begin no statement, with their numbers among all trees.
fn idle(nest: &Nest, fills: &[Fill]) -> Vec<(usize, NoProgram)> {
    let (mut number, mut found) = (0, Vec::new());
    position::walk(nest.trees(), &mut |_, _, tree| {
        if let Tree::Fill(fill) = tree
            && fills.contains(fill)
        {
            let (text, tensor) = (fill.to_string(), fill.target.label().to_owned());
            found.push((number, NoProgram::IdleFill { text, tensor }));
        }
        number += 1;
    });
    found
}

/// The lines of a text with two spaces per level, and without comment lines.
fn canonical(text: &str) -> Vec<String> {
    let mut levels: Vec<usize> = Vec::new();
    let lines = text.lines().map(|line| {
        let shown = line.trim();
        if shown.is_empty() || shown.starts_with("//") {
            return String::new();
        }
        let indent = line.len() - line.trim_start().len();
        let inner = levels.iter().take_while(|level| **level < indent).count();
        let known = levels.get(inner).is_none_or(|level| *level == indent);
        levels.truncate(inner);
        levels.push(indent);
        // An invalid depth, since levels are two spaces deep.
        let depth = if known { 2 * inner } else { 1 };
        format!("{:1$}{shown}", "", depth)
    });
    lines.collect()
}

/// Renames loops with the name of an earlier loop.
fn with_own_names(trees: &[Tree]) -> Vec<Tree> {
    let written = Nest::of_trees(trees.to_vec());
    let loops = written.loops();
    let all: HashSet<Name> = loops.iter().map(|(_, l)| l.name.clone()).collect();
    renamed(trees, &all, &mut HashSet::new())
}

fn renamed(trees: &[Tree], all: &HashSet<Name>, taken: &mut HashSet<Name>) -> Vec<Tree> {
    let each = trees.iter().map(|tree| {
        let Tree::Loop(l) = tree else {
            return tree.clone();
        };
        let mut numbered = (2..).map(|number| l.name.derived(number));
        let name = if !taken.contains(&l.name) {
            l.name.clone()
        } else {
            numbered
                .find(|n| !all.contains(n) && !taken.contains(n))
                .unwrap_or_else(|| l.name.clone())
        };
        taken.insert(name.clone());
        let own = tree.rename_loops(&|n| (*n == l.name).then(|| name.clone()));
        match own {
            Tree::Loop(l) => Tree::of_loop(Loop {
                body: renamed(&l.body, all, taken),
                ..(*l).clone()
            }),
            other => other,
        }
    });
    each.collect()
}

/// Numbers the statements in the order of the text.
#[derive(Default)]
struct Count {
    definition: Vec<Expr>,
    /// The fills without an update so far.
    fills: Vec<Fill>,
}

impl Count {
    /// Gives the statements and fills of `trees` their origins. `outer` are the loops around them.
    fn sequence(&mut self, trees: &[Tree], outer: &mut Vec<Loop>) -> Vec<Tree> {
        let mut done: Vec<Tree> = Vec::with_capacity(trees.len());
        for tree in trees {
            match tree {
                Tree::Loop(l) => {
                    outer.push(Loop {
                        body: Vec::new(),
                        ..(**l).clone()
                    });
                    let body = self.sequence(&l.body, outer);
                    outer.pop();
                    let l = Loop {
                        body,
                        ..(**l).clone()
                    };
                    done.push(Tree::of_loop(l));
                }
                Tree::Stmt(s) => {
                    let stmt = self.stmt(&as_update(s), outer);
                    done.push(Tree::Stmt(Arc::new(stmt)));
                }
                Tree::Fill(fill) => {
                    self.fills.push((**fill).clone());
                    done.push(tree.clone());
                }
                Tree::Local(_) => done.push(tree.clone()),
            }
            self.begin(&mut done, outer);
        }
        done
    }

    fn stmt(&mut self, s: &Stmt, outer: &[Loop]) -> Stmt {
        let origin = Origin {
            assignment: self.definition.len(),
            point: outer
                .iter()
                .map(|l| Affine::iterator(l.name.clone()))
                .collect(),
        };
        self.definition.push(assignment(s, outer));
        Stmt {
            origin: Some(origin),
            ..s.clone()
        }
    }

    /// Lets each fill among `siblings`, in the loops `outer`, begin a statement after it. That is
    /// the first update of its tensor, or else the first statement that assigns some of its
    /// elements.
    fn begin(&mut self, siblings: &mut [Tree], outer: &[Loop]) {
        for k in 0..siblings.len() {
            let Tree::Fill(fill) = &siblings[k] else {
                continue;
            };
            if fill.origin.is_some() {
                continue;
            }
            let assigns = |s: &Stmt| s.target == fill.target;
            let updates = |s: &Stmt| assigns(s) && s.update.is_some();
            let after = &siblings[k + 1..];
            let Some(assignment) =
                first_stmt(after, &updates).or_else(|| first_stmt(after, &assigns))
            else {
                continue;
            };
            let taken = siblings[..k].iter().any(|tree| {
                let begun = |f: &Fill| {
                    f.origin
                        .as_ref()
                        .is_some_and(|o| o.assignment == assignment)
                };
                matches!(tree, Tree::Fill(f) if begun(f))
            });
            if taken {
                continue;
            }
            let point = outer.iter().map(|l| Affine::iterator(l.name.clone()));
            let begun = Fill {
                origin: Some(Origin {
                    assignment,
                    point: point.collect(),
                }),
                ..(**fill).clone()
            };
            if let Some(open) = self.fills.iter().position(|open| *open == **fill) {
                self.fills.remove(open);
            }
            siblings[k] = Tree::Fill(Arc::new(begun));
        }
    }
}

/// The number of the first statement that passes the test.
fn first_stmt(trees: &[Tree], is: &dyn Fn(&Stmt) -> bool) -> Option<usize> {
    trees.iter().find_map(|tree| match tree {
        Tree::Loop(l) => first_stmt(&l.body, is),
        Tree::Stmt(s) if is(s) => s.origin.as_ref().map(|o| o.assignment),
        _ => None,
    })
}

/// A statement as an assignment over the iterations of the loops around it.
fn assignment(s: &Stmt, outer: &[Loop]) -> Expr {
    let ranges = outer.iter().map(|l| (l.name.clone(), l.range.clone()));
    Expr::new(Node::Assign {
        target: Expr::element(&s.target, s.index.clone()),
        value: s.result(),
        within: Domain::new(ranges),
        elsewhere: None,
    })
}

/// The parts of the definition: each outermost loop is a part in order. Loops are serial in it,
/// even if the text calls them parallel.
fn parts(trees: &[Tree]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut own: Vec<Tree> = Vec::new();
    let mut first = 0;
    let shared = trees.iter().any(|tree| matches!(tree, Tree::Local(_)));
    for (k, tree) in trees.iter().enumerate() {
        own.push(serial(tree));
        let part = Part {
            assignments: 0,
            trees: Arc::from(own.as_slice()),
            in_order: true,
            is_program: true,
        };
        let assignments = part.steps();
        let begun = |tree: &Tree| match tree {
            Tree::Fill(fill) => fill.origin.as_ref().map_or(0, |o| o.assignment + 1),
            _ => 0,
        };
        let whole = own.iter().all(|tree| begun(tree) <= first + assignments);
        let last = k + 1 == trees.len();
        if last || (assignments > 0 && whole && !shared) {
            let trees: Vec<Tree> = own.iter().map(|t| t.counted_down(first)).collect();
            parts.push(Part {
                assignments,
                trees: trees.into(),
                in_order: true,
                is_program: true,
            });
            first += assignments;
            own.clear();
        }
    }
    parts
}

fn serial(tree: &Tree) -> Tree {
    match tree {
        Tree::Loop(l) => {
            let body = l.body.iter().map(serial).collect();
            Tree::of_loop(Loop::serial(l.name.clone(), l.range.clone(), body))
        }
        other => other.clone(),
    }
}
