//! Moves the reduction of a value to the outside, so that a single perfect nest computes it.
//!
//! `B[i][j] * sum(k: C[i][k] * D[k][j])` becomes the sum over k of `B[i][j] * (C[i][k] * D[k][j])`.
//! A sum moves out of products, of `neg`, and out of the dividend of a floating-point quotient. A
//! reduction of one term, whose index is read from a tensor, is that term and moves out of all.
//! Below any other operation it needs a nest of its own. Products, minima and maxima move only out
//! of a reduction of the same kind.

use crate::ir::{
    Affine, BinaryOp, Domain, Expr, Function, Name, Node, Range, Reduction, Shape, fresh_name,
};

/// A value without reductions, and how its terms are reduced.
pub struct Flat {
    /// The reduction, if there is one. Without one, iterators have one value, which is read.
    pub reduction: Option<Reduction>,
    /// The reduction iterators, outermost first. They differ from each other and from all free
    /// iterators.
    pub over: Vec<Name>,
    /// The ranges given to some of them.
    pub within: Domain,
    /// The value: accesses, numbers and element-wise operations only.
    pub body: Expr,
}

/// A reduction that cannot be moved out of the operation around it.
pub struct Stuck(pub Expr);

/// Flattens `value`. Reduction iterators must not use the names in `taken`.
///
/// # Errors
/// [`Stuck`].
pub fn flatten(value: &Expr, taken: &mut Vec<Name>) -> Result<Flat, Stuck> {
    match value.node() {
        Node::Reduce {
            reduction,
            over,
            within,
            body,
            ..
        } => {
            let renamed: Vec<(Name, Name)> = over
                .iter()
                .map(|name| {
                    let fresh = if taken.contains(name) {
                        fresh_name(|n| taken.contains(n))
                    } else {
                        name.clone()
                    };
                    taken.push(fresh.clone());
                    (name.clone(), fresh)
                })
                .collect();
            let rename = |name: &Name| {
                let (_, fresh) = renamed.iter().find(|(old, _)| old == name)?;
                Some(fresh.clone())
            };
            let body = body.substitute(&|name| rename(name).map(Affine::iterator));
            let within = within.renamed(&rename);
            let flat = flatten(&body, taken)?;
            let is_single = |name: &Name| within.get(name).is_some_and(|r| r.single().is_some());
            if renamed.iter().all(|(_, name)| is_single(name)) {
                let own = renamed.into_iter().map(|(_, fresh)| fresh);
                return Ok(Flat {
                    over: own.chain(flat.over).collect(),
                    within: within.with(&flat.within),
                    ..flat
                });
            }
            let mut flat = flat.moved(&body, |inner| inner == *reduction)?;
            let own = renamed.into_iter().map(|(_, fresh)| fresh);
            flat.over = own.chain(flat.over).collect();
            flat.within = within.with(&flat.within);
            flat.reduction = Some(*reduction);
            Ok(flat)
        }
        Node::Binary {
            op, left, right, ..
        } => {
            let is_float = left.elem().is_float();
            let out = |of_dividend: bool| {
                move |reduction| match op {
                    BinaryOp::Mul => reduction == Reduction::Sum,
                    BinaryOp::Div => reduction == Reduction::Sum && of_dividend && is_float,
                    _ => false,
                }
            };
            let left = flatten(left, taken)?.moved(left, out(true))?;
            let right = flatten(right, taken)?.moved(right, out(false))?;
            let (op, reduction) = (*op, left.reduction.or(right.reduction));
            let over = left.over.into_iter().chain(right.over).collect();
            let within = left.within.with(&right.within);
            let body = Expr::new(Node::Binary {
                op,
                shape: shapeless(),
                left: left.body,
                right: right.body,
            });
            Ok(Flat {
                reduction,
                over,
                within,
                body,
            })
        }
        Node::Apply { function, args, .. } => {
            let mut flat = Flat {
                reduction: None,
                over: Vec::new(),
                within: Domain::default(),
                body: value.clone(),
            };
            let mut bodies = Vec::with_capacity(args.len());
            for arg in args {
                let arg = flatten(arg, taken)?.moved(arg, |reduction| {
                    // The negation of a sum is the sum of the negations, with the same rounding.
                    *function == Function::Neg && reduction == Reduction::Sum
                })?;
                flat.reduction = flat.reduction.or(arg.reduction);
                flat.over.extend(arg.over);
                flat.within = flat.within.with(&arg.within);
                bodies.push(arg.body);
            }
            flat.body = Expr::new(Node::Apply {
                function: *function,
                shape: shapeless(),
                args: bodies,
            });
            Ok(flat)
        }
        _ => Ok(Flat {
            reduction: None,
            over: Vec::new(),
            within: Domain::default(),
            body: value.clone(),
        }),
    }
}

impl Flat {
    /// The same value, in which each entry that is read as an index has one iterator.
    pub(super) fn with_each_entry_once(mut self) -> Flat {
        while let Some((kept, other)) = self.same_entries() {
            let replace = |name: &Name| (*name == other).then(|| Affine::iterator(kept.clone()));
            self.over.retain(|name| *name != other);
            self.body = self.body.substitute(&replace);
            let left = self.within.iter().filter(|(name, _)| *name != other);
            self.within = Domain::new(left.cloned()).substitute(&replace);
        }
        self
    }

    /// Two iterators that have the same entry as their only value.
    fn same_entries(&self) -> Option<(Name, Name)> {
        let entry = |name: &Name| self.within.get(name).and_then(Range::single);
        let mut pairs = self.over.iter().enumerate();
        pairs.find_map(|(k, other)| {
            let read = entry(other)?;
            let kept = self.over[..k].iter().find(|one| entry(one) == Some(read))?;
            Some((kept.clone(), other.clone()))
        })
    }

    /// The same value, if its reduction moves out of the operation around it. `of` is the
    /// expression.
    fn moved(self, of: &Expr, moves: impl Fn(Reduction) -> bool) -> Result<Flat, Stuck> {
        match self.reduction {
            Some(reduction) if !moves(reduction) => Err(Stuck(outermost(of))),
            _ => Ok(self),
        }
    }
}

/// The first outermost reduction in an expression that has one.
fn outermost(expr: &Expr) -> Expr {
    fn find(expr: &Expr) -> Option<&Expr> {
        match expr.node() {
            Node::Reduce { .. } => Some(expr),
            _ => expr.children().into_iter().find_map(find),
        }
    }
    find(expr).unwrap_or(expr).clone()
}

/// The shape of a virtual expression, which statements do not use.
fn shapeless() -> Shape {
    Shape::of_extents([])
}
