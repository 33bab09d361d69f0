//! Expressions whose scalars are replaced by numbers.
//!
//! Choices between numbers are made, and factors of 1 are left out: `select(0 == 0, a, b)` is `a`, and
//! `1 * a` is `a`. Nothing else is simplified: `0 * a` is not 0 where `a` is a NaN or infinite.

use super::constant::Constant;
use super::expr::{Expr, Node};
use super::function::{BinaryOp, Function};
use super::statement::Stmt;
use super::tensor::Tensor;
use super::{Loop, Tree};
use std::sync::Arc;

/// Scalars with their numbers.
pub(super) type Numbers = [(Tensor, Constant)];

impl Expr {
    /// The same expression with numbers in place of scalars.
    #[must_use]
    pub(super) fn at_numbers(&self, numbers: &Numbers) -> Expr {
        if let Node::Access { tensor, .. } = self.node() {
            let mut numbers = numbers.iter();
            let number = numbers.find(|(scalar, _)| scalar == tensor);
            return number.map_or_else(|| self.clone(), |(_, n)| Expr::new(Node::Constant(*n)));
        }
        let made = self.map_parts(&|part| part.at_numbers(numbers));
        made.decided().unwrap_or(made)
    }

    /// The operand that the expression is equal to, whatever the others are.
    fn decided(&self) -> Option<Expr> {
        let number = |e: &Expr| match e.node() {
            Node::Constant(number) => Some(*number),
            _ => None,
        };
        let is_one = |e: &Expr| number(e).is_some_and(|n| n == Constant::small(n.elem(), 1));
        match self.node() {
            Node::Binary {
                op: BinaryOp::Mul,
                left,
                right,
                ..
            } if is_one(left) => Some(right.clone()),
            Node::Binary {
                op: BinaryOp::Mul | BinaryOp::Div,
                left,
                right,
                ..
            } if is_one(right) => Some(left.clone()),
            Node::Apply {
                function: Function::Select(comparison),
                args,
                ..
            } => {
                let [a, b, yes, no] = &args[..] else {
                    return None;
                };
                let holds = match (number(a)?, number(b)?) {
                    (Constant::F64(a), Constant::F64(b)) => comparison.holds(a, b),
                    (Constant::F32(a), Constant::F32(b)) => comparison.holds(a, b),
                    (Constant::I32(a), Constant::I32(b)) => comparison.holds(a, b),
                    (Constant::I64(a), Constant::I64(b)) => comparison.holds(a, b),
                    _ => return None,
                };
                Some(if holds { yes } else { no }.clone())
            }
            _ => None,
        }
    }
}

impl Tree {
    /// The same tree with numbers in place of scalars.
    #[must_use]
    pub(super) fn at_numbers(&self, numbers: &Numbers) -> Tree {
        match self {
            Tree::Loop(l) => Tree::of_loop(Loop {
                body: l.body.iter().map(|tree| tree.at_numbers(numbers)).collect(),
                ..(**l).clone()
            }),
            Tree::Stmt(s) => Tree::Stmt(Arc::new(Stmt {
                value: s.value.at_numbers(numbers),
                ..(**s).clone()
            })),
            Tree::Fill(_) | Tree::Local(_) => self.clone(),
        }
    }
}
