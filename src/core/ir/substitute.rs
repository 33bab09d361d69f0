//! Capture-free substitution of iterators in expressions.

use super::affine::Affine;
use super::domain::Domain;
use super::expr::{Expr, Index, Node};
use super::name::Name;

impl Expr {
    /// The expression with free iterators replaced, all at once.
    ///
    /// A bound iterator that a replacement would capture is renamed to a fresh one.
    #[must_use]
    pub fn substitute(&self, map: &dyn Fn(&Name) -> Option<Affine>) -> Expr {
        match self.node() {
            Node::Access { tensor, index } => {
                let Index::At(index) = index else {
                    return self.clone();
                };
                let index = index.iter().map(|a| a.substitute(map)).collect();
                Expr::access(tensor.clone(), Index::At(index))
            }
            Node::Index(index) => Expr::new(Node::Index(index.substitute(map))),
            Node::Reduce { .. } | Node::Virtual { .. } => self.changed(|node| match node {
                Node::Reduce {
                    over, within, body, ..
                } => (*over, *within, *body) = substitute_under(over, within, body, map),
                Node::Virtual { formals, body, .. } => {
                    (*formals, _, *body) = substitute_under(formals, &Domain::default(), body, map);
                }
                _ => {}
            }),
            _ => {
                let parts = self.map_parts(&|part| part.substitute(map));
                match self.node() {
                    Node::Assign { .. } => parts.with_domain(&|within| {
                        within.renamed(&|name| map(name)?.as_iterator().cloned())
                    }),
                    _ => parts,
                }
            }
        }
    }
}

impl Expr {
    /// The expression with free and bound iterators renamed. No two get the same name.
    #[must_use]
    pub fn rename_iterators(&self, rename: &dyn Fn(&Name) -> Option<Name>) -> Expr {
        let new = |name: &Name| rename(name).unwrap_or_else(|| name.clone());
        let affine = |name: &Name| rename(name).map(Affine::iterator);
        self.replace(&|expr| match expr.node() {
            Node::Access { .. } | Node::Index(_) => Some(expr.substitute(&affine)),
            Node::Reduce { .. } | Node::Virtual { .. } | Node::Assign { .. } => {
                let parts = expr.map_parts(&|part| part.rename_iterators(rename));
                let renamed = parts.with_domain(&|within| within.renamed(rename));
                Some(renamed.changed(|node| match node {
                    Node::Reduce { over: names, .. } | Node::Virtual { formals: names, .. } => {
                        names.iter_mut().for_each(|name| *name = new(name));
                    }
                    _ => {}
                }))
            }
            _ => None,
        })
    }
}

fn substitute_under(
    bound: &[Name],
    within: &Domain,
    body: &Expr,
    map: &dyn Fn(&Name) -> Option<Affine>,
) -> (Vec<Name>, Domain, Expr) {
    let free = body.iterators();
    let free = free.iter().chain(within.mentioned());
    let images: Vec<Affine> = free
        .filter(|n| !bound.contains(n))
        .filter_map(map)
        .collect();
    let mut taken = body.all_names();
    taken.extend(within.mentioned().cloned());
    let fresh: Vec<Name> = bound
        .iter()
        .map(|name| {
            if !images.iter().any(|image| image.mentions(name)) {
                return name.clone();
            }
            let free = fresh_name(|n| taken.contains(n) || images.iter().any(|i| i.mentions(n)));
            taken.push(free.clone());
            free
        })
        .collect();
    let new_name = |name: &Name| {
        let k = bound.iter().position(|b| b == name)?;
        Some(fresh[k].clone())
    };
    let replace = |name: &Name| match new_name(name) {
        Some(fresh) => Some(Affine::iterator(fresh)),
        None => map(name),
    };
    let ranges = within.substitute(&replace);
    let ranges = ranges.iter().map(|(name, range)| {
        // An iterator that is limited here may be bound further out.
        let new = replace(name).and_then(|new| new.as_iterator().cloned());
        let name = new.unwrap_or_else(|| name.clone());
        (name, range.clone())
    });
    (
        fresh.clone(),
        Domain::new(ranges),
        body.substitute(&replace),
    )
}

/// The first generated iterator that is not `taken`.
pub fn fresh_name(taken: impl Fn(&Name) -> bool) -> Name {
    let mut number = 1;
    loop {
        let name = Name::generated(number);
        if !taken(&name) {
            return name;
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Domain, Elem, Reduction, Shape, Tensor};

    fn at(name: &str) -> Affine {
        Affine::iterator(Name::new(name).unwrap())
    }

    #[test]
    fn substitution_does_not_capture() {
        let shape = Shape::new(&[4, 4], Elem::F64).unwrap();
        let a = Tensor::new(shape.clone(), Elem::F64).named(Name::new("A").unwrap());
        let body = Expr::access(a, Index::At(vec![at("i"), at("k")]));
        let k = Name::new("k").unwrap();
        let sum = Expr::new(Node::Reduce {
            reduction: Reduction::Sum,
            over: vec![k],
            shape,
            body,
            within: Domain::default(),
        });
        let moved = sum.substitute(&|n| (n.as_str() == "i").then(|| at("k")));
        assert_eq!(moved.iterators(), vec![Name::new("k").unwrap()]);
        let Node::Reduce { over, .. } = moved.node() else {
            panic!("a sum stays a sum")
        };
        assert!(over[0].is_generated());
    }
}
