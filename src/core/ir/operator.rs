//! An operator of the user's own, which combines values of several components.
//!
//! Both operands are scalars, one for each component: `left` and `right`. The result is an
//! expression in them for each component. An accumulator that holds the identity and is combined with
//! a value holds that value.

use super::constant::Constant;
use super::elem::Elem;
use super::expr::{Expr, Index, Node};
use super::name::Name;
use super::tensor::{Shape, Tensor};
use super::text::Infix;
use std::fmt;

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
    /// The scalars that stand for the components of an operand: `a0`, `a1` … for the letter `a`.
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
        let is = |one: &Expr, other: &Expr| Infix(one).to_string() == Infix(other).to_string();
        match (form.node(), value.node()) {
            (Node::Access { tensor, .. }, _) => {
                if let Some(k) = self.left.iter().position(|own| own == tensor) {
                    return is(left.get(k)?, value).then_some(());
                }
                let k = self.right.iter().position(|own| own == tensor)?;
                if form.elem() != value.elem() {
                    return None;
                }
                let known = found[k].get_or_insert_with(|| value.clone());
                is(known, value).then_some(())
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
            (Node::Constant(_), Node::Constant(_)) => is(form, value).then_some(()),
            _ => None,
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operand = |tensors: &[Tensor]| {
            let parts = tensors
                .iter()
                .map(|t| format!("{} {}", t.elem(), t.label()));
            format!("({})", parts.collect::<Vec<_>>().join(", "))
        };
        let values: Vec<String> = self.values.iter().map(|v| Infix(v).to_string()).collect();
        let identity: Vec<String> = self.identity.iter().map(Constant::to_string).collect();
        write!(
            f,
            "{}({}, {}) = ({}), identity ({})",
            self.name,
            operand(&self.left),
            operand(&self.right),
            values.join(", "),
            identity.join(", ")
        )
    }
}
