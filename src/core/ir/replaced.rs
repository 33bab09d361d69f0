//! Expressions with replaced parts.

use super::affine::Affine;
use super::domain::Domain;
use super::expr::{Expr, Index, Node};
use super::name::Name;
use super::tensor::Tensor;

impl Expr {
    /// An element-wise value with its index expressions replaced, left to right.
    #[must_use]
    pub fn map_indices(&self, map: &dyn Fn(&Affine) -> Affine) -> Expr {
        let accesses = |tensor: &Tensor, index: &Index| match index {
            Index::At(index) => {
                let index = index.iter().map(map).collect();
                Some(Expr::access(tensor.clone(), Index::At(index)))
            }
            Index::Unset | Index::Forbidden => None,
        };
        self.map_leaves(&accesses, map)
    }

    /// An element-wise value with the accesses that `map` matches replaced.
    #[must_use]
    pub fn map_accesses(&self, map: &dyn Fn(&Tensor, &Index) -> Option<Expr>) -> Expr {
        self.map_leaves(map, &Affine::clone)
    }

    fn map_leaves(
        &self,
        map: &dyn Fn(&Tensor, &Index) -> Option<Expr>,
        values: &dyn Fn(&Affine) -> Affine,
    ) -> Expr {
        match self.node() {
            Node::Access { tensor, index } => map(tensor, index).unwrap_or_else(|| self.clone()),
            Node::Index(index) => Expr::new(Node::Index(values(index))),
            Node::Binary { .. } | Node::Apply { .. } => {
                self.map_parts(&|part| part.map_leaves(map, values))
            }
            Node::Constant(_)
            | Node::Reduce { .. }
            | Node::Virtual { .. }
            | Node::Assign { .. }
            | Node::Pieces { .. } => self.clone(),
        }
    }

    /// The expression with the parts that `map` matches replaced, the outermost first.
    #[must_use]
    pub fn replace(&self, map: &dyn Fn(&Expr) -> Option<Expr>) -> Expr {
        map(self).unwrap_or_else(|| self.map_parts(&|part| part.replace(map)))
    }

    /// The expression with each of its parts replaced, left to right. Indices and reduction
    /// iterators stay.
    #[must_use]
    pub fn map_parts(&self, map: &dyn Fn(&Expr) -> Expr) -> Expr {
        match self.node() {
            Node::Access { .. } | Node::Constant(_) | Node::Index(_) => self.clone(),
            Node::Binary {
                op,
                shape,
                left,
                right,
            } => Expr::new(Node::Binary {
                op: *op,
                shape: shape.clone(),
                left: map(left),
                right: map(right),
            }),
            Node::Apply {
                function,
                shape,
                args,
            } => Expr::new(Node::Apply {
                function: *function,
                shape: shape.clone(),
                args: args.iter().map(map).collect(),
            }),
            Node::Reduce {
                reduction,
                over,
                within,
                shape,
                body,
            } => Expr::new(Node::Reduce {
                reduction: *reduction,
                over: over.clone(),
                within: within.clone(),
                shape: shape.clone(),
                body: map(body),
            }),
            Node::Virtual {
                formals,
                shape,
                body,
            } => Expr::new(Node::Virtual {
                formals: formals.clone(),
                shape: shape.clone(),
                body: map(body),
            }),
            Node::Assign {
                target,
                value,
                within,
                elsewhere,
            } => Expr::new(Node::Assign {
                target: map(target),
                value: map(value),
                within: within.clone(),
                elsewhere: *elsewhere,
            }),
            Node::Pieces { .. } => self.map_pieces(map),
        }
    }

    /// An assignment in pieces, with each piece replaced. Other expressions stay unchanged.
    #[must_use]
    pub fn map_pieces(&self, map: &dyn Fn(&Expr) -> Expr) -> Expr {
        match self.node() {
            Node::Pieces { pieces, otherwise } => Expr::new(Node::Pieces {
                pieces: pieces.iter().map(map).collect(),
                otherwise: otherwise.as_ref().map(map),
            }),
            _ => self.clone(),
        }
    }

    /// The expression with the tensors that `map` matches replaced, as targets and operands.
    #[must_use]
    pub fn map_tensors(&self, map: &dyn Fn(&Tensor) -> Option<Tensor>) -> Expr {
        self.replace(&|part| match part.node() {
            Node::Access { tensor, index } => {
                map(tensor).map(|tensor| Expr::access(tensor, index.clone()))
            }
            Node::Reduce {
                reduction,
                over,
                within,
                shape,
                body,
            } => Some(Expr::new(Node::Reduce {
                reduction: *reduction,
                over: over.clone(),
                within: within.map_tensors(map),
                shape: shape.clone(),
                body: body.map_tensors(map),
            })),
            Node::Assign {
                target,
                value,
                within,
                elsewhere,
            } => Some(Expr::new(Node::Assign {
                target: target.map_tensors(map),
                value: value.map_tensors(map),
                within: within.map_tensors(map),
                elsewhere: *elsewhere,
            })),
            _ => None,
        })
    }

    /// The same without the given ranges of iterators, which then follow from the tensors.
    #[must_use]
    pub fn without_ranges(&self) -> Expr {
        self.replace(&|part| match part.node() {
            Node::Reduce {
                reduction,
                over,
                shape,
                body,
                ..
            } => Some(Expr::new(Node::Reduce {
                reduction: *reduction,
                over: over.clone(),
                within: Domain::default(),
                shape: shape.clone(),
                body: body.without_ranges(),
            })),
            Node::Assign {
                target,
                value,
                elsewhere,
                ..
            } => Some(Expr::new(Node::Assign {
                target: target.clone(),
                value: value.without_ranges(),
                within: Domain::default(),
                elsewhere: *elsewhere,
            })),
            _ => None,
        })
    }

    /// Fills □ with `name`: x\[id/□\] of TeML eqs. 17 and 18. An expression has at most one □.
    #[must_use]
    pub fn fill_placeholder(&self, name: &Name) -> Expr {
        self.fill_placeholder_with(&|tensor| tensor.named(name.clone()))
    }

    /// Fills □ with a tensor that `named` makes of it.
    #[must_use]
    pub fn fill_placeholder_with(&self, named: &dyn Fn(&Tensor) -> Tensor) -> Expr {
        match self.node() {
            Node::Access { tensor, index } if tensor.name().is_none() => {
                Expr::access(named(tensor), index.clone())
            }
            Node::Assign {
                target,
                value,
                within,
                elsewhere,
            } => Expr::new(Node::Assign {
                target: target.fill_placeholder_with(named),
                value: value.clone(),
                within: within.clone(),
                elsewhere: *elsewhere,
            }),
            _ => self.map_pieces(&|piece| piece.fill_placeholder_with(named)),
        }
    }
}
