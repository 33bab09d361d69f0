//! A nest as its own definition.

use super::{Loop, Nest, Part, Tree};
use crate::ir::affine::Affine;
use crate::ir::expr::{Expr, Node};
use crate::ir::name::Name;
use crate::ir::range::Range;
use crate::ir::statement::{Fill, Origin, Stmt};
use std::sync::Arc;

impl Nest {
    /// The nest whose definition is to execute these trees, in order: each statement is an assignment
    /// of its own. A proof about it says that others compute what this nest does, whatever that is.
    #[must_use]
    pub fn as_definition(&self) -> Nest {
        let mut leaves = Leaves::default();
        leaves.collect(self.trees(), 0);
        let (fills, without) = leaves.pairs();
        let mut own = Own {
            fills: fills.into_iter(),
            statements: 0,
            around: Vec::new(),
        };
        let trees = own.sequence(self.trees());
        let mut definition = trees.clone();
        for (fill, depth) in without {
            if self.locals().contains(&&fill.target) {
                definition.push(Tree::Local(fill.target.clone()));
            }
            definition.push(never(fill, depth, own.statements));
            own.statements += 1;
        }
        let part = Part {
            assignments: self.definition().len(),
            trees: definition.into(),
            in_order: true,
            is_program: true,
        };
        self.with_parts(trees, vec![part])
    }
}

/// The statements and fills of a nest in textual order, with the numbers of loops around them.
#[derive(Default)]
struct Leaves<'a> {
    statements: Vec<(&'a Stmt, usize)>,
    /// And the number of statements before each fill.
    fills: Vec<(&'a Fill, usize, usize)>,
}

impl<'a> Leaves<'a> {
    fn collect(&mut self, trees: &'a [Tree], depth: usize) {
        for tree in trees {
            match tree {
                Tree::Loop(l) => self.collect(&l.body, depth + 1),
                Tree::Stmt(s) => self.statements.push((s, depth)),
                Tree::Fill(fill) => self.fills.push((fill, depth, self.statements.len())),
                Tree::Local(_) => {}
            }
        }
    }

    /// The assignment of each fill. It is the next statement that sets the tensor, in more loops, if
    /// no other fill has it. The remaining fills have assignments after all statements.
    fn pairs(&self) -> (Vec<usize>, Vec<(&'a Fill, usize)>) {
        let (mut pairs, mut without) = (Vec::new(), Vec::new());
        for (fill, depth, before) in &self.fills {
            let fits = |k: &usize| {
                let (s, inside) = self.statements[*k];
                s.target == fill.target && inside > *depth && !pairs.contains(k)
            };
            let own = (*before..self.statements.len()).find(fits);
            pairs.push(own.unwrap_or_else(|| {
                without.push((*fill, *depth));
                self.statements.len() + without.len() - 1
            }));
        }
        (pairs, without)
    }
}

/// A statement without iterations that a fill can belong to, in more loops than the fill.
fn never(fill: &Fill, depth: usize, assignment: usize) -> Tree {
    let zero = || Affine::constant(0);
    let names: Vec<Name> = (0..=depth).map(Name::of_level).collect();
    let statement = Tree::Stmt(Arc::new(Stmt {
        target: fill.target.clone(),
        index: fill.region.iter().map(|_| zero()).collect(),
        update: None,
        value: Expr::new(Node::Constant(fill.value)),
        origin: Some(Origin {
            assignment,
            point: names.iter().cloned().map(Affine::iterator).collect(),
        }),
    }));
    names.into_iter().rev().fold(statement, |body, name| {
        Tree::of_loop(Loop::serial(
            name,
            Range::between(zero(), zero()),
            vec![body],
        ))
    })
}

struct Own<'a> {
    /// The assignments of the next fills.
    fills: std::vec::IntoIter<usize>,
    /// The number of statements before.
    statements: usize,
    around: Vec<&'a Name>,
}

impl<'a> Own<'a> {
    fn sequence(&mut self, trees: &'a [Tree]) -> Vec<Tree> {
        trees.iter().map(|tree| self.tree(tree)).collect()
    }

    fn tree(&mut self, tree: &'a Tree) -> Tree {
        match tree {
            Tree::Loop(l) => {
                self.around.push(&l.name);
                let body = self.sequence(&l.body);
                self.around.pop();
                Tree::of_loop(Loop {
                    body,
                    ..(**l).clone()
                })
            }
            Tree::Stmt(s) => {
                self.statements += 1;
                Tree::Stmt(Arc::new(Stmt {
                    origin: self.origin(Some(self.statements - 1)),
                    ..(**s).clone()
                }))
            }
            Tree::Fill(fill) => {
                let assignment = self.fills.next();
                Tree::Fill(Arc::new(Fill {
                    origin: self.origin(assignment),
                    ..(**fill).clone()
                }))
            }
            Tree::Local(tensor) => Tree::Local(tensor.clone()),
        }
    }

    fn origin(&self, assignment: Option<usize>) -> Option<Origin> {
        let around = self.around.iter();
        let point = around.map(|name| Affine::iterator((*name).clone()));
        Some(Origin {
            assignment: assignment?,
            point: point.collect(),
        })
    }
}
