//! Lowers an assignment in pieces: finds the remaining elements and the order of the pieces.
//!
//! Values are computed from the contents before the assignment. So a piece runs before the pieces
//! that assign elements that it reads. The nest of the assignment runs the nests of the pieces in
//! this order.

use crate::analysis::shape::Mismatch;
use crate::ir::{Domain, Expr, Index, Name, Node, Tensor, point_text};
use crate::legality::complement::{Stuck, complement};
use crate::legality::partition::{Assigned, assigned, hole, overlap, reads};

/// Why assignments are not pieces of one assignment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPartition {
    /// There are no pieces.
    #[error("there are no pieces")]
    Empty,
    /// A piece is not an assignment.
    #[error("piece {piece} is not an assignment")]
    NotAnAssignment {
        /// Counted from 1.
        piece: usize,
    },
    /// A piece that also sets all other elements.
    #[error("piece {piece} says what other elements get")]
    Elsewhere {
        /// Counted from 1.
        piece: usize,
    },
    /// Two pieces assign one element.
    #[error("pieces {} and {} both assign {element}: at {}, and at {}", .pieces[0], .pieces[1], .iterations[0], .iterations[1])]
    Overlap {
        /// Counted from 1.
        pieces: [usize; 2],
        element: String,
        /// The iteration of each piece.
        iterations: [String; 2],
    },
    /// Pieces of different ranks.
    #[error("piece {piece} has a target with {}, and that of piece 1 has {}", dimensions(*.rank), dimensions(*.first))]
    Ranks {
        /// Counted from 1.
        piece: usize,
        /// The rank of its target.
        rank: usize,
        /// The rank of the target of the first piece.
        first: usize,
    },
    /// No piece assigns an element.
    #[error("no piece assigns {element}")]
    Hole { element: String },
    /// Pieces that read each other's elements, in a cycle.
    #[error("each piece reads elements of {tensor} that another one assigns")]
    Circle {
        /// The target.
        tensor: String,
    },
    /// The remaining elements cannot be enumerated by loops.
    #[error("the elements that piece {piece} leaves form no loops")]
    NoLoops {
        /// Counted from 1.
        piece: usize,
    },
    /// The remaining elements need too many loops.
    #[error("the elements that the pieces leave form too many loops")]
    TooMany,
    /// The polyhedral library did not decide it.
    #[error("whether the pieces share elements is not known: {why}")]
    Unknown {
        /// Its message.
        why: String,
    },
    /// Shapes and ranges that do not fit.
    #[error(transparent)]
    Shape(#[from] Mismatch),
}

impl NoPartition {
    /// Whether it is a limitation: the pieces may be right, but are not supported.
    pub fn is_limitation(&self) -> bool {
        matches!(
            self,
            NoPartition::NoLoops { .. }
                | NoPartition::TooMany
                | NoPartition::Circle { .. }
                | NoPartition::Unknown { .. }
        )
    }

    /// The text to write instead.
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            NoPartition::Empty | NoPartition::NotAnAssignment { .. } => {
                "each piece is `eq(value, …)`: `partition([eq(A, [i] -> [i]), eq(B, [i] -> [i + 4])])`"
            }
            NoPartition::Elsewhere { .. } => {
                "give that number to `partition`, after the list of pieces"
            }
            NoPartition::Overlap { .. } => {
                "give one of them less: `eq(value, [i] -> [i], #{i: 1..9})`"
            }
            NoPartition::Hole { .. } => {
                "say what other elements get, after the list of pieces: a number, a tensor of this shape, or the target itself, which keeps them"
            }
            NoPartition::NoLoops { .. } => {
                "indices of one iterator each, such as `2*i + 1`, leave elements that form loops; or write these elements as pieces of their own"
            }
            NoPartition::TooMany => "write the elements that are left as pieces of their own",
            NoPartition::Circle { .. } => "assign to another tensor",
            NoPartition::Ranks { .. } => "the pieces are parts of one tensor",
            NoPartition::Unknown { .. } | NoPartition::Shape(_) => return None,
        })
    }
}

/// The disjoint assignments of `pieces`. They are in an order in which each reads the contents from
/// before all of them.
///
/// # Errors
/// As [`NoPartition`] says.
pub fn assignments(pieces: &Expr) -> Result<Vec<Expr>, NoPartition> {
    let Node::Pieces { pieces, otherwise } = pieces.node() else {
        return Ok(vec![pieces.clone()]);
    };
    let tensor = pieces.first().and_then(Expr::tensor);
    let tensor = tensor.ok_or(NoPartition::Empty)?;
    let mut known = Vec::with_capacity(pieces.len());
    for (k, piece) in pieces.iter().enumerate() {
        let not = NoPartition::NotAnAssignment { piece: k + 1 };
        known.push(assigned(piece)?.ok_or(not)?);
    }
    check_overlap(tensor, &known)?;
    let mut all = pieces.clone();
    match otherwise {
        None => {
            if let Some(element) = hole(tensor, &known).map_err(unknown)? {
                let element = shown(tensor, &element);
                return Err(NoPartition::Hole { element });
            }
        }
        Some(rest) => {
            for piece in others(tensor, rest, &known)? {
                let not = NoPartition::NotAnAssignment { piece: all.len() };
                known.push(assigned(&piece)?.ok_or(not)?);
                all.push(piece);
            }
        }
    }
    ordered(tensor, &all, &known)
}

fn check_overlap(tensor: &Tensor, known: &[Assigned]) -> Result<(), NoPartition> {
    for (second, b) in known.iter().enumerate() {
        for (first, a) in known[..second].iter().enumerate() {
            if let Some(found) = overlap(a, b).map_err(unknown)? {
                return Err(NoPartition::Overlap {
                    pieces: [first + 1, second + 1],
                    element: shown(tensor, &found.element),
                    iterations: found.iterations.map(|at| iteration(&at)),
                });
            }
        }
    }
    Ok(())
}

/// The assignment `otherwise`, restricted to the remaining elements. Elements that keep their
/// contents are omitted.
fn others(tensor: &Tensor, otherwise: &Expr, known: &[Assigned]) -> Result<Vec<Expr>, NoPartition> {
    let Node::Assign { target, value, .. } = otherwise.node() else {
        return Err(NoPartition::NotAnAssignment {
            piece: known.len() + 1,
        });
    };
    if target == value {
        return Ok(Vec::new());
    }
    let names: Vec<Name> = match target.node() {
        Node::Access {
            index: Index::At(index),
            ..
        } => index
            .iter()
            .filter_map(|a| a.as_iterator().cloned())
            .collect(),
        _ => Vec::new(),
    };
    let parts = complement(tensor, &names, known).map_err(|stuck| match stuck {
        Stuck::Piece(k) => NoPartition::NoLoops { piece: k + 1 },
        Stuck::Many => NoPartition::TooMany,
    })?;
    let part = |within: Domain| {
        Expr::new(Node::Assign {
            target: target.clone(),
            value: value.clone(),
            within,
            elsewhere: None,
        })
    };
    Ok(parts.into_iter().map(part).collect())
}

/// The assignments in order: each comes before the assignments that overwrite elements that it
/// reads.
fn ordered(tensor: &Tensor, all: &[Expr], known: &[Assigned]) -> Result<Vec<Expr>, NoPartition> {
    let mut left: Vec<usize> = (0..all.len()).collect();
    let mut order = Vec::with_capacity(all.len());
    while !left.is_empty() {
        let mut next = None;
        for (at, &k) in left.iter().enumerate() {
            let mut free = true;
            for &other in left.iter().filter(|other| **other != k) {
                free = free && !reads(tensor, &known[other], &known[k]).map_err(unknown)?;
            }
            if free {
                next = Some(at);
                break;
            }
        }
        let Some(at) = next else {
            let tensor = tensor.label().to_owned();
            return Err(NoPartition::Circle { tensor });
        };
        order.push(all[left.remove(at)].clone());
    }
    Ok(order)
}

fn dimensions(rank: usize) -> String {
    match rank {
        1 => "1 dimension".to_owned(),
        rank => format!("{rank} dimensions"),
    }
}

fn unknown(error: impl std::fmt::Display) -> NoPartition {
    NoPartition::Unknown {
        why: error.to_string(),
    }
}

fn shown(tensor: &Tensor, element: &[i64]) -> String {
    let name = tensor.name().map_or("the element ", Name::as_str);
    let index = element.iter().map(|i| format!("[{i}]"));
    format!("{name}{}", index.collect::<String>())
}

fn iteration(at: &[(Name, i64)]) -> String {
    match point_text(at) {
        none if none.is_empty() => "its only iteration".to_owned(),
        values => values,
    }
}
