//! An operator of the user's own, which combines values of several components.
//!
//! Both operands are scalars, one for each component: `left` and `right`. The result is an
//! expression in them for each component. An accumulator that holds the identity and is combined with
//! a value holds that value.

use super::affine::Affine;
use super::constant::Constant;
use super::elem::Elem;
use super::expr::{Expr, Index, Node};
use super::name::Name;
use super::tensor::{Shape, Tensor};

/// `name(left, right)`, with one number of `identity` and one of `values` for each component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    /// Its name in messages.
    pub name: Name,
    /// The components of the left operand, the accumulator.
    pub left: Vec<Tensor>,
    /// The components of the right operand.
    pub right: Vec<Tensor>,
    /// The components of the result: element-wise operations on `left` and `right` only.
    pub values: Vec<Expr>,
    /// The components of the identity.
    pub identity: Vec<Constant>,
}

impl Operator {
    /// The scalars in place of the components of an operand: `a0`, `a1` … for the letter `a`.
    pub fn operand(letter: &str, elems: &[Elem]) -> Vec<Tensor> {
        let scalar = |(k, elem): (usize, &Elem)| {
            let shape = Shape::of_extents([]);
            Tensor::new(shape, *elem).named(Name::trusted(format!("{letter}{k}")))
        };
        elems.iter().enumerate().map(scalar).collect()
    }

    /// The components of the result for other operands.
    #[must_use]
    pub fn combined(&self, left: &[Expr], right: &[Expr]) -> Vec<Expr> {
        let operand = |tensor: &Tensor, _: &Index| {
            let of = |own: &[Tensor], given: &[Expr]| {
                let place = own.iter().position(|one| one == tensor)?;
                given.get(place).cloned()
            };
            of(&self.left, left).or_else(|| of(&self.right, right))
        };
        let values = self.values.iter();
        values.map(|value| value.map_accesses(&operand)).collect()
    }

    /// The values of the right operand with which components of the result are `results`, if the
    /// left operand is `left`. `None` if the results have another form, or leave a component of the
    /// right operand open.
    pub fn matched(&self, left: &[Expr], results: &[Expr]) -> Option<Vec<Expr>> {
        let mut found: Vec<Option<Expr>> = vec![None; self.right.len()];
        for (form, result) in self.values.iter().zip(results) {
            self.matches(form, result, left, &mut found)?;
        }
        found.into_iter().collect()
    }

    fn matches(
        &self,
        form: &Expr,
        value: &Expr,
        left: &[Expr],
        found: &mut [Option<Expr>],
    ) -> Option<()> {
        match (form.node(), value.node()) {
            (Node::Access { tensor, .. }, _) => {
                if let Some(k) = self.left.iter().position(|own| own == tensor) {
                    return is_same(left.get(k)?, value).then_some(());
                }
                let k = self.right.iter().position(|own| own == tensor)?;
                if form.elem() != value.elem() {
                    return None;
                }
                let known = found[k].get_or_insert_with(|| value.clone());
                is_same(known, value).then_some(())
            }
            (
                Node::Binary {
                    op,
                    left: l,
                    right: r,
                    ..
                },
                Node::Binary {
                    op: other,
                    left: x,
                    right: y,
                    ..
                },
            ) if op == other => {
                let before = found.to_vec();
                let in_order = self
                    .matches(l, x, left, found)
                    .and_then(|()| self.matches(r, y, left, found));
                if in_order.is_some() || !op.commutes() {
                    return in_order;
                }
                found.clone_from_slice(&before);
                self.matches(l, y, left, found)?;
                self.matches(r, x, left, found)
            }
            (
                Node::Apply { function, args, .. },
                Node::Apply {
                    function: other,
                    args: given,
                    ..
                },
            ) if function == other && args.len() == given.len() => {
                let mut pairs = args.iter().zip(given);
                pairs.try_for_each(|(form, value)| self.matches(form, value, left, found))
            }
            (Node::Constant(_), Node::Constant(_)) => is_same(form, value).then_some(()),
            _ => None,
        }
    }
}

/// Whether element-wise values are written alike, whatever shapes their nodes keep.
fn is_same(one: &Expr, other: &Expr) -> bool {
    fn entries(index: &Index) -> &[Affine] {
        match index {
            Index::At(index) => index,
            _ => &[],
        }
    }
    let (parts, others) = (one.children(), other.children());
    let is_same_node = match (one.node(), other.node()) {
        (
            Node::Access { tensor, index },
            Node::Access {
                tensor: other,
                index: at,
            },
        ) => tensor == other && entries(index) == entries(at),
        (Node::Constant(one), Node::Constant(other)) => one == other,
        (Node::Index(one), Node::Index(other)) => one == other,
        (Node::Binary { op: one, .. }, Node::Binary { op: other, .. }) => one == other,
        (
            Node::Apply { function: one, .. },
            Node::Apply {
                function: other, ..
            },
        ) => one == other,
        _ => false,
    };
    let mut pairs = parts.iter().zip(&others);
    is_same_node && parts.len() == others.len() && pairs.all(|(one, other)| is_same(one, other))
}
