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
        if matches!(
            self.node(),
            Node::Access { .. } | Node::Constant(_) | Node::Index(_)
        ) {
            return self.clone();
        }
        self.changed(|node| match node {
            Node::Access { .. } | Node::Constant(_) | Node::Index(_) => {}
            Node::Binary { left, right, .. } => {
                *left = map(left);
                *right = map(right);
            }
            Node::Apply { args, .. } => args.iter_mut().for_each(|arg| *arg = map(arg)),
            Node::Reduce { body, .. } | Node::Virtual { body, .. } => *body = map(body),
            Node::Assign { target, value, .. } => {
                *target = map(target);
                *value = map(value);
            }
            Node::Pieces { pieces, otherwise } => {
                pieces
                    .iter_mut()
                    .chain(otherwise)
                    .for_each(|piece| *piece = map(piece));
            }
        })
    }

    /// The expression with its node changed.
    #[must_use]
    pub fn changed(&self, change: impl FnOnce(&mut Node)) -> Expr {
        let mut node = self.node().clone();
        change(&mut node);
        Expr::new(node)
    }

    /// An assignment with another value. Other expressions stay unchanged.
    #[must_use]
    pub fn with_value(&self, value: Expr) -> Expr {
        self.changed(|node| {
            if let Node::Assign { value: old, .. } = node {
                *old = value;
            }
        })
    }

    /// The expression with the ranges that are given to iterators replaced: `map` gets the node
    /// that has them.
    #[must_use]
    pub fn map_domains(&self, map: &dyn Fn(&Expr, &Domain) -> Domain) -> Expr {
        let parts = self.map_parts(&|part| part.map_domains(map));
        parts.with_domain(&|within| map(self, within))
    }

    /// The expression with the ranges at its root replaced, if it has some.
    #[must_use]
    pub fn with_domain(&self, map: &dyn Fn(&Domain) -> Domain) -> Expr {
        if !matches!(self.node(), Node::Reduce { .. } | Node::Assign { .. }) {
            return self.clone();
        }
        self.changed(|node| match node {
            Node::Reduce { within, .. } | Node::Assign { within, .. } => *within = map(within),
            _ => {}
        })
    }

    /// An assignment in pieces, with each piece replaced. Other expressions stay unchanged.
    #[must_use]
    pub fn map_pieces(&self, map: &dyn Fn(&Expr) -> Expr) -> Expr {
        match self.node() {
            Node::Pieces { .. } => self.map_parts(map),
            _ => self.clone(),
        }
    }

    /// The expression with the tensors that `map` matches replaced, as targets and operands.
    #[must_use]
    pub fn map_tensors(&self, map: &dyn Fn(&Tensor) -> Option<Tensor>) -> Expr {
        let all = self.map_domains(&|_, within| within.map_tensors(map));
        all.replace(&|part| match part.node() {
            Node::Access { tensor, index } => {
                map(tensor).map(|tensor| Expr::access(tensor, index.clone()))
            }
            _ => None,
        })
    }

    /// The same without the given ranges of iterators, which then follow from the tensors. Ranges that
    /// are read stay.
    #[must_use]
    pub fn without_ranges(&self) -> Expr {
        self.map_domains(&|_, within| {
            let read = within.iter().filter(|(_, range)| range.within.is_some());
            Domain::new(read.cloned())
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
            Node::Assign { .. } => self.changed(|node| {
                if let Node::Assign { target, .. } = node {
                    *target = target.fill_placeholder_with(named);
                }
            }),
            _ => self.map_pieces(&|piece| piece.fill_placeholder_with(named)),
        }
    }
}
