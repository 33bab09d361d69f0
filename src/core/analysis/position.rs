//! Positions of loops, by level counted from 1 or by name.
//!
//! A level is a position on the path from the root through loops that have no sibling loop.
//! Statements and fills beside a loop are not branches.

use crate::ir::{Loop, Name, Nest, Tree};
use std::sync::Arc;

/// The child numbers from the root to a loop.
pub type Position = Vec<usize>;

/// Why a loop was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoLoop {
    /// Levels count from 1.
    #[error("there is no level {level}: levels count from 1")]
    NoLevel { level: i64 },
    /// The nest is not that deep.
    #[error("there is no level {level}: the nest has {depth} level{}", if *.depth == 1 { "" } else { "s" })]
    TooDeep {
        level: i64,
        /// The number of levels.
        depth: usize,
    },
    /// Several loops are at this level.
    #[error("level {level} is ambiguous: the nest branches into {}", quoted(.candidates))]
    Ambiguous {
        level: i64,
        /// The loops at the first branch.
        candidates: Vec<Name>,
    },
    /// No loop has this name.
    #[error("no loop is named `{name}`: the nest has {}", quoted(.have))]
    NoName {
        name: String,
        /// The existing names.
        have: Vec<Name>,
    },
}

fn quoted(names: &[Name]) -> String {
    match names {
        [] => "no loops".to_owned(),
        _ => {
            let texts: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
            texts.join(", ")
        }
    }
}

/// The loop at nesting level `level`.
///
/// # Errors
/// [`NoLoop`] when the level does not exist or lies below a branch.
pub fn at_level(nest: &Nest, level: i64) -> Result<Position, NoLoop> {
    let wanted = usize::try_from(level).unwrap_or(0);
    if wanted == 0 {
        return Err(NoLoop::NoLevel { level });
    }
    let mut position = Position::new();
    let mut trees = nest.trees();
    while position.len() < wanted {
        let loops = loops_of(trees);
        match loops.as_slice() {
            [] => {
                let depth = position.len();
                return Err(NoLoop::TooDeep { level, depth });
            }
            [(k, l)] => {
                position.push(*k);
                trees = &l.body;
            }
            several => {
                let candidates = several.iter().map(|(_, l)| l.name.clone()).collect();
                return Err(NoLoop::Ambiguous { level, candidates });
            }
        }
    }
    Ok(position)
}

/// The loop at the last level before the nest branches or ends. Empty if there is no loop.
pub fn deepest_level(nest: &Nest) -> Position {
    let mut position = Position::new();
    let mut trees = nest.trees();
    while let [(k, l)] = loops_of(trees).as_slice() {
        position.push(*k);
        trees = &l.body;
    }
    position
}

/// The loop named `name`.
///
/// # Errors
/// [`NoLoop::NoName`].
pub fn named(nest: &Nest, name: &str) -> Result<Position, NoLoop> {
    fn search(trees: &[Tree], name: &str, position: &mut Position) -> bool {
        for (k, l) in loops_of(trees) {
            position.push(k);
            if l.name.as_str() == name || search(&l.body, name, position) {
                return true;
            }
            position.pop();
        }
        false
    }
    let mut position = Position::new();
    if search(nest.trees(), name, &mut position) {
        return Ok(position);
    }
    let have = nest.loops().iter().map(|(_, l)| l.name.clone()).collect();
    let name = name.to_owned();
    Err(NoLoop::NoName { name, have })
}

/// The loops from the root down to `position`, ending with the loop there.
pub fn chain<'a>(nest: &'a Nest, position: &[usize]) -> Vec<&'a Arc<Loop>> {
    let mut chain = Vec::with_capacity(position.len());
    let mut trees = nest.trees();
    for &k in position {
        let Some(l) = trees.get(k).and_then(Tree::as_loop) else {
            break;
        };
        chain.push(l);
        trees = &l.body;
    }
    chain
}

/// The trees with the tree at `position` replaced by `with`. A loop disappears if its whole body
/// does.
pub fn splice(trees: &[Tree], position: &[usize], with: Vec<Tree>) -> Vec<Tree> {
    let [k, rest @ ..] = position else {
        return trees.to_vec();
    };
    let with = match (trees.get(*k), rest) {
        (Some(Tree::Loop(l)), [_, ..]) => {
            let body = splice(&l.body, rest, with);
            if body.is_empty() {
                vec![]
            } else {
                vec![Tree::of_loop(Loop {
                    body,
                    ..(**l).clone()
                })]
            }
        }
        _ => with,
    };
    let mut result = trees.to_vec();
    result.splice(k..&(k + 1), with);
    result
}

/// Visits all trees in the order of the text, with their positions and the loops around them.
pub fn walk<'a, V>(trees: &'a [Tree], visit: &mut V)
where
    V: FnMut(&[usize], &[&'a Arc<Loop>], &'a Tree),
{
    fn sequence<'a, V>(
        trees: &'a [Tree],
        position: &mut Position,
        loops: &mut Vec<&'a Arc<Loop>>,
        visit: &mut V,
    ) where
        V: FnMut(&[usize], &[&'a Arc<Loop>], &'a Tree),
    {
        for (k, tree) in trees.iter().enumerate() {
            position.push(k);
            visit(position, loops, tree);
            if let Tree::Loop(l) = tree {
                loops.push(l);
                sequence(&l.body, position, loops, visit);
                loops.pop();
            }
            position.pop();
        }
    }
    sequence(trees, &mut Position::new(), &mut Vec::new(), visit);
}

fn loops_of(trees: &[Tree]) -> Vec<(usize, &Arc<Loop>)> {
    let loops = trees.iter().enumerate();
    loops.filter_map(|(k, t)| Some((k, t.as_loop()?))).collect()
}
