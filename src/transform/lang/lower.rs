//! Lowers terms to trees: the value of a term at indices.
//!
//! Source: the model language, Fig. 12; TeIL, Fig. 6. A sum over the indices of a dimension in
//! these rules becomes a reduction over a new iterator.

use super::term::{Kind, Term};
use super::typing::Context;
use crate::ir::{Affine, Domain, Expr, Name, Node, Range, Reduction, Shape, Tensor};
use std::collections::BTreeMap;

/// Generates names of iterators.
pub(super) struct Iterators {
    letter: char,
    count: usize,
}

impl Iterators {
    /// A generator of names that no tensor has.
    pub fn beside<'n>(names: impl Iterator<Item = &'n str> + Clone) -> Iterators {
        let is_free = |letter: &char| {
            let numbered = |name: &str| {
                let rest = name.strip_prefix(*letter);
                rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
            };
            !names.clone().any(numbered)
        };
        let letter = "ijklpqrst".chars().find(is_free).unwrap_or('i');
        Iterators { letter, count: 0 }
    }

    /// A generator with the same letter that counts from 1 again.
    pub fn again(&self) -> Iterators {
        Iterators { count: 0, ..*self }
    }

    /// The next name.
    pub fn fresh(&mut self) -> Option<Name> {
        self.count += 1;
        Name::new(&format!("{}{}", self.letter, self.count)).ok()
    }
}

/// Lowers the terms of a program.
pub(super) struct Lowering<'c> {
    pub context: &'c Context,
    pub tensors: &'c BTreeMap<String, Tensor>,
    pub iterators: Iterators,
}

impl Lowering<'_> {
    /// `target = term`, before shapes are inferred; `None` for a term without a type.
    pub fn assignment(&mut self, target: &Tensor, term: &Term) -> Option<Expr> {
        let extents = target.shape().extents();
        let names = extents.iter().map(|_| self.iterators.fresh());
        let names: Vec<Name> = names.collect::<Option<_>>()?;
        let index: Vec<Affine> = names.iter().cloned().map(Affine::iterator).collect();
        let (mut to, mut from) = (index.clone(), index);
        let (mut within, mut elsewhere, mut value) = (Domain::default(), None, term);
        if let Kind::Shift(dimension, (by, _), of) = &term.kind {
            let place = zero_based(dimension)?;
            to[place] = to.get(place)?.plus_constant((*by).max(0));
            from[place] = from.get(place)?.plus_constant((*by).min(0).checked_neg()?);
            let count = i64::try_from(*extents.get(place)?).ok()? - by.checked_abs()?;
            within = Domain::new([(names.get(place)?.clone(), Range::constant(0, count))]);
            elsewhere = self.context.number(0.0).filter(|_| *by != 0);
            value = of;
        }
        Some(Expr::new(Node::Assign {
            target: Expr::element(target, to),
            value: self.at(value, &from)?,
            within,
            elsewhere,
        }))
    }

    /// The element of a term at `index`.
    fn at(&mut self, term: &Term, index: &[Affine]) -> Option<Expr> {
        match &term.kind {
            Kind::Number(value) => {
                let constant = self.context.number(*value)?;
                Some(Expr::new(Node::Constant(constant)))
            }
            Kind::Variable(name) => Some(Expr::element(self.tensors.get(name)?, index.to_vec())),
            Kind::Elementwise(op, left, right) => {
                let mut operand = |of: &Term| {
                    let is_scalar = self.context.type_of(of).ok()?.is_empty();
                    self.at(of, if is_scalar { &[] } else { index })
                };
                let (left, right) = (operand(left)?, operand(right)?);
                Some(binary(*op, left, right))
            }
            Kind::Product(left, right) => {
                let rank = self.context.type_of(left).ok()?.len();
                let (l, r) = index.split_at_checked(rank)?;
                let (left, right) = (self.at(left, l)?, self.at(right, r)?);
                Some(binary(crate::ir::BinaryOp::Mul, left, right))
            }
            Kind::Reduce(reduction, dimension, of) => {
                let place = zero_based(dimension)?;
                let extent = *self.context.type_of(of).ok()?.get(place)?;
                self.reduced(*reduction, &[extent], |this, over| {
                    let mut index = index.to_vec();
                    index.insert(place, over.first()?.clone());
                    this.at(of, &index)
                })
            }
            Kind::Transpose([m, n], of) => {
                let mut index = index.to_vec();
                let (m, n) = (zero_based(m)?, zero_based(n)?);
                index.get(m.max(n))?;
                index.swap(m, n);
                self.at(of, &index)
            }
            Kind::Diagonal([m, n], of) => {
                let mut index = index.to_vec();
                let on_diagonal = index.get(zero_based(m)?)?.clone();
                index.insert(zero_based(n)?, on_diagonal);
                self.at(of, &index)
            }
            Kind::Expand(dimension, _, of) => {
                let mut index = index.to_vec();
                index.remove(zero_based(dimension)?);
                self.at(of, &index)
            }
            Kind::Project(dimension, (at, _), of) => {
                let mut index = index.to_vec();
                let at = i64::try_from(*at).ok()? - 1;
                index.insert(zero_based(dimension)?, Affine::constant(at));
                self.at(of, &index)
            }
            // It is a statement of its own.
            Kind::Shift(..) => None,
            Kind::Contract(pairs, of) => {
                let extents = self.context.type_of(of).ok()?;
                let pairs = pairs
                    .iter()
                    .map(|[m, n]| Some([zero_based(m)?, zero_based(n)?]));
                let pairs: Vec<[usize; 2]> = pairs.collect::<Option<_>>()?;
                let summed = pairs.iter().map(|[m, _]| extents.get(*m).copied());
                let summed: Vec<u64> = summed.collect::<Option<_>>()?;
                self.reduced(Reduction::Sum, &summed, |this, over| {
                    let mut free = index.iter();
                    let full = (0..extents.len()).map(|place| {
                        match pairs.iter().position(|pair| pair.contains(&place)) {
                            Some(k) => over.get(k).cloned(),
                            None => free.next().cloned(),
                        }
                    });
                    let full: Vec<Affine> = full.collect::<Option<_>>()?;
                    this.at(of, &full)
                })
            }
        }
    }

    /// The reduction of a body over new iterators, one for each extent.
    fn reduced(
        &mut self,
        reduction: Reduction,
        extents: &[u64],
        body: impl FnOnce(&mut Self, &[Affine]) -> Option<Expr>,
    ) -> Option<Expr> {
        let names: Vec<Name> = extents
            .iter()
            .map(|_| self.iterators.fresh())
            .collect::<Option<_>>()?;
        let over: Vec<Affine> = names.iter().cloned().map(Affine::iterator).collect();
        let body = body(self, &over)?;
        // The range of an iterator that indexes nothing does not follow from the tensors (TeIL eq.
        // 5).
        let idle = names
            .iter()
            .zip(extents)
            .filter(|(name, _)| !body.mentions(name));
        let idle = idle.map(|(name, extent)| {
            let extent = i64::try_from(*extent).ok()?;
            Some((name.clone(), Range::constant(0, extent)))
        });
        let within = Domain::new(idle.collect::<Option<Vec<_>>>()?);
        Some(Expr::new(Node::Reduce {
            reduction,
            over: names,
            within,
            shape: Shape::of_extents([]),
            body,
        }))
    }
}

fn zero_based(dimension: &(u64, crate::problem::Span)) -> Option<usize> {
    usize::try_from(dimension.0).ok()?.checked_sub(1)
}

fn binary(op: crate::ir::BinaryOp, left: Expr, right: Expr) -> Expr {
    let shape = Shape::of_extents([]);
    Expr::new(Node::Binary {
        op,
        shape,
        left,
        right,
    })
}
