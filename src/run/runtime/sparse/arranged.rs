//! The arrays of the formats of sparse tensors.

use super::coordinates::Coordinates;
use crate::runtime::{Array, Values};
use std::sync::Arc;

/// The formats, as scripts name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// An index in each dimension for each entry.
    Coo,
    /// A matrix, row by row.
    Csr,
    /// A matrix, column by column.
    Csc,
    /// A tree with a level for each dimension.
    Csf,
}

impl Layout {
    /// The names, as scripts give them.
    pub const WORDS: &[&str] = &["coo", "csr", "csc", "csf"];

    /// The format of that name.
    pub fn from_word(word: &str) -> Option<Layout> {
        match word {
            "coo" => Some(Layout::Coo),
            "csr" => Some(Layout::Csr),
            "csc" => Some(Layout::Csc),
            "csf" => Some(Layout::Csf),
            _ => None,
        }
    }
}

/// The arrays of a format, which [`Coordinates::arranged`] makes.
#[derive(Clone, Debug, PartialEq)]
pub struct Arranged {
    /// Indices: of the entries, or of the nodes at each level of a tree.
    pub nodes: Vec<Array>,
    /// Where the children of each node begin, and the end.
    pub pointers: Vec<Array>,
    pub values: Array,
}

impl Coordinates {
    /// The arrays of a format. `None` if a matrix is needed, and this is none.
    pub fn arranged(&self, layout: Layout) -> Option<Arranged> {
        let small = i32::MAX.unsigned_abs().into();
        // Smaller indices take less time to read.
        let is_small = self.shape.iter().all(|n| *n <= small) && (self.count() as u64) < small;
        let entries = |of: &[u64]| array(of, is_small);
        let values = Array {
            shape: vec![self.count() as u64],
            values: Arc::new(self.values.clone()),
        };
        match (layout, self.shape.as_slice()) {
            (Layout::Coo, _) => Some(Arranged {
                nodes: self.index.iter().map(|of| entries(of)).collect(),
                pointers: Vec::new(),
                values,
            }),
            (Layout::Csr, [rows, _]) => Some(Arranged {
                nodes: vec![entries(&self.index[1])],
                pointers: vec![entries(&ends(&self.index[0], *rows))],
                values,
            }),
            (Layout::Csc, [_, columns]) => {
                let mut order: Vec<usize> = (0..self.count()).collect();
                // Rows stay in order.
                order.sort_by_key(|e| self.index[1][*e]);
                let [row, column] =
                    [0, 1].map(|d| order.iter().map(|e| self.index[d][*e]).collect::<Vec<_>>());
                Some(Arranged {
                    nodes: vec![entries(&row)],
                    pointers: vec![entries(&ends(&column, *columns))],
                    values: Array {
                        values: Arc::new(taken(&self.values, &order)),
                        ..values
                    },
                })
            }
            (Layout::Csr | Layout::Csc, _) => None,
            (Layout::Csf, _) => {
                let (nodes, pointers) = self.tree();
                Some(Arranged {
                    nodes: nodes.iter().map(|of| entries(of)).collect(),
                    pointers: pointers.iter().map(|of| entries(of)).collect(),
                    values,
                })
            }
        }
    }

    /// The indices of the nodes of each level, and where the children of the nodes of each level but
    /// the last begin.
    fn tree(&self) -> (Vec<Vec<u64>>, Vec<Vec<u64>>) {
        let last = self.index.len().saturating_sub(1);
        let starts: Vec<Vec<usize>> = (0..=last)
            .map(|level| {
                let begins = |e: &usize| {
                    *e == 0 || self.index[..=level].iter().any(|of| of[*e] != of[*e - 1])
                };
                (0..self.count()).filter(begins).collect()
            })
            .collect();
        let nodes = starts.iter().zip(&self.index);
        let nodes = nodes.map(|(starts, of)| starts.iter().map(|e| of[*e]).collect());
        let pointers = starts.windows(2).map(|levels| {
            let (parents, children) = (&levels[0], &levels[1]);
            let begins = |e: &usize| children.partition_point(|child| child < e) as u64;
            let end = children.len() as u64;
            parents.iter().map(begins).chain([end]).collect()
        });
        (nodes.collect(), pointers.collect())
    }
}

/// Where each of `rows` rows begins in a list of rows in order, and the end.
fn ends(of: &[u64], rows: u64) -> Vec<u64> {
    let mut next = 0;
    let begins = (0..=rows).map(|row| {
        while of.get(next).is_some_and(|own| *own < row) {
            next += 1;
        }
        next as u64
    });
    begins.collect()
}

fn taken(values: &Values, order: &[usize]) -> Values {
    match values {
        Values::F64(v) => Values::F64(order.iter().map(|e| v[*e]).collect()),
        Values::F32(v) => Values::F32(order.iter().map(|e| v[*e]).collect()),
        Values::I32(v) => Values::I32(order.iter().map(|e| v[*e]).collect()),
        Values::I64(v) => Values::I64(order.iter().map(|e| v[*e]).collect()),
    }
}

/// Integers, of 32 bits if they fit.
fn array(of: &[u64], is_small: bool) -> Array {
    let values = match is_small {
        true => Values::I32(of.iter().map(|x| *x as i32).collect()),
        false => Values::I64(of.iter().map(|x| *x as i64).collect()),
    };
    Array {
        shape: vec![of.len() as u64],
        values: Arc::new(values),
    }
}
