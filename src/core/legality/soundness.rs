//! Whether a plan runs the trees that it was raised to as they say.
//!
//! These trees have to compute the definition, as those of every nest ([`super::prove`]). Three more
//! questions are about what no nest has:
//! - Dead lanes compute with any numbers. They write only elements of local tensors that
//!   nothing reads, and touch no memory outside of a tensor.
//! - A team of threads runs several loops. Two threads may touch one element in different loops only
//!   if a barrier is always between them, or if both read it ([`super::phases`]).
//! - Stores past the caches are fenced before threads meet ([`super::fences`]).

use super::execution::{DeadLanes, Execution, Mark};
use super::fences::unfenced;
use super::limit::OPERATIONS;
use super::pairs::{Iteration, read_after};
use super::phases::unordered;
use super::program::{Leaf, Program, What};
use super::sizes::for_all_sizes;
use crate::analysis::outside::may_leave;
use crate::ir::{Affine, Constant, Expr, Loop, Name, Nest, Node, Stmt, Tensor, Tree};
use crate::poly;

/// Why a plan is not sound.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsound {
    /// Two threads touch one element.
    #[error("threads that run `{from}` and `{to}` share elements of {tensor} without a barrier")]
    Unordered {
        tensor: Name,
        from: String,
        to: String,
    },
    /// Another thread may not see a store.
    #[error("no fence follows `{0}`, which stores past the caches, before threads meet")]
    Unfenced(String),
    /// Dead lanes write what is read.
    #[error("dead lanes write {tensor} in loop `{name}`, and `{reader}` reads it")]
    Clobbered {
        tensor: String,
        name: Name,
        reader: String,
    },
    /// Dead lanes write a tensor that others see.
    #[error("dead lanes write {tensor} in loop `{name}`, and it is not local")]
    Visible { tensor: String, name: Name },
    /// Dead lanes leave a tensor.
    #[error("dead lanes leave {tensor} in loop `{name}`")]
    Outside { tensor: String, name: Name },
}

/// Whether threads and lanes run a nest as its trees say.
///
/// # Errors
/// [`Unsound`], also if that is undecided.
pub fn executes(nest: &Nest, execution: &Execution) -> Result<(), Unsound> {
    let trees = nest.trees();
    if let Some(at) = unfenced(trees, execution) {
        return Err(Unsound::Unfenced(text(trees, &at)));
    }
    let barriers = execution.marks.iter();
    let barriers = barriers.filter(|(_, mark)| *mark == Mark::Barrier);
    let barriers: Vec<Vec<usize>> = barriers.map(|(at, _)| at.clone()).collect();
    for team in &execution.teams {
        if let Some(open) = unordered(nest, trees, team, &barriers).into_iter().next() {
            return Err(Unsound::Unordered {
                tensor: open.tensor,
                from: text(trees, &open.from),
                to: text(trees, &open.to),
            });
        }
    }
    let dead = execution.dead.iter();
    let mut dead = dead.map(|dead| lanes_are_harmless(nest, dead));
    dead.try_for_each(|result| result)
}

/// Whether dead lanes touch only elements of their tensors, and write none that is
/// read.
fn lanes_are_harmless(nest: &Nest, dead: &DeadLanes) -> Result<(), Unsound> {
    let name = |lanes: &Loop| lanes.name.clone();
    let label = |tensor: &Tensor| tensor.label().to_owned();
    let mut touches: Vec<(Stmt, bool)> = Vec::new();
    for (tensor, index, is_written) in &dead.touched {
        touches.push((touch(tensor, index), *is_written));
    }
    let all = [nest.trees().to_vec()];
    let program = Program::of(std::slice::from_ref(nest), &all);
    let is_inside = |leaf: &&Leaf| leaf.place[1..].starts_with(&dead.position);
    let Some(live) = program.leaves.iter().find(is_inside) else {
        return Ok(());
    };
    for (lanes, (stmt, is_written)) in product(&dead.lanes, &touches) {
        let mut loops = live.loops.clone();
        loops.pop();
        loops.push(lanes);
        let around: Vec<&Loop> = nest.context().iter().chain(loops.iter().copied()).collect();
        if may_leave(&stmt.target, &stmt.index, &around) {
            let (tensor, name) = (label(&stmt.target), name(lanes));
            return Err(Unsound::Outside { tensor, name });
        }
        if !is_written {
            continue;
        }
        if !live.is_local(&stmt.target) {
            let (tensor, name) = (label(&stmt.target), name(lanes));
            return Err(Unsound::Visible { tensor, name });
        }
        let writer = Leaf {
            what: What::Stmt(stmt),
            loops,
            ..live.clone()
        };
        if let Some(reader) = reader(nest, &program, &writer) {
            return Err(Unsound::Clobbered {
                tensor: label(&stmt.target),
                name: name(lanes),
                reader,
            });
        }
    }
    Ok(())
}

fn product<'a, A, B>(these: &'a [A], those: &'a [B]) -> impl Iterator<Item = (&'a A, &'a B)> {
    these.iter().flat_map(|a| those.iter().map(move |b| (a, b)))
}

/// A statement that reads what `writer` writes, whenever; also if that is undecided.
fn reader(nest: &Nest, program: &Program, writer: &Leaf) -> Option<String> {
    let reads = |reader: &&Leaf| {
        let pair = Iteration::pair(writer, reader);
        let mut pieces = read_after(&pair).into_iter();
        pieces.any(|piece| !matches!(poly::bounded(OPERATIONS, || piece.is_empty()), Ok(true)))
    };
    let find = || program.leaves.iter().find(reads).map(Leaf::text);
    for_all_sizes(std::slice::from_ref(nest), find)
}

/// A statement that writes an element, and reads nothing.
fn touch(tensor: &Tensor, index: &[Affine]) -> Stmt {
    Stmt {
        target: tensor.clone(),
        index: index.to_vec(),
        update: None,
        value: Expr::new(Node::Constant(Constant::I64(0))),
        origin: None,
    }
}

/// The tree at a position, without its body.
fn text(trees: &[Tree], position: &[usize]) -> String {
    let Some((first, rest)) = position.split_first() else {
        return String::new();
    };
    match trees.get(*first) {
        Some(Tree::Loop(l)) => match rest {
            [] => format!("for {} in {}", l.name, l.range),
            _ => text(&l.body, rest),
        },
        Some(Tree::Stmt(s)) => s.to_string(),
        Some(Tree::Fill(fill)) => fill.to_string(),
        Some(Tree::Local(tensor)) => tensor.label().to_owned(),
        None => String::new(),
    }
}
