//! The loops and tensors of a nest.

use super::{Loop, Nest, Tree};
use crate::ir::expr::{Expr, Node};
use crate::ir::name::Name;
use crate::ir::segment::Segment;
use crate::ir::tensor::Tensor;
use std::collections::HashSet;

impl Nest {
    /// Each loop of the nest with the loops around it, in depth-first order: (outer loops, loop).
    pub fn loops(&self) -> Vec<(Vec<&Loop>, &Loop)> {
        fn walk<'a>(
            trees: &'a [Tree],
            outer: &mut Vec<&'a Loop>,
            found: &mut Vec<(Vec<&'a Loop>, &'a Loop)>,
        ) {
            for tree in trees {
                if let Tree::Loop(l) = tree {
                    found.push((outer.clone(), l));
                    outer.push(l);
                    walk(&l.body, outer, found);
                    outer.pop();
                }
            }
        }
        let mut found = Vec::new();
        walk(self.trees(), &mut Vec::new(), &mut found);
        found
    }

    /// Whether a loop of the nest or around it has this name.
    pub fn has_loop(&self, name: &Name) -> bool {
        let around = self.context().iter().any(|l| l.name == *name);
        around || self.loops().iter().any(|(_, l)| l.name == *name)
    }

    /// The tensors that the nest does not declare itself, in order of first appearance: in the
    /// definition (targets first), then in the trees. An intermediate result of the definition is
    /// omitted if only local tensors hold it.
    pub fn tensors(&self) -> Vec<Tensor> {
        let locals: HashSet<Option<&Name>> = self.locals().iter().map(|l| l.name()).collect();
        let mut used = Vec::new();
        let mut add_used = |tensor: &Tensor| {
            if !locals.contains(&tensor.name()) {
                add(&mut used, tensor);
            }
        };
        for line in self.lines() {
            match line.tree {
                Tree::Loop(l) => {
                    let lookups = l.range.within.iter().flat_map(Segment::lookups);
                    lookups.for_each(|lookup| add_used(&lookup.tensor));
                }
                Tree::Local(_) => {}
                Tree::Fill(fill) => add_used(&fill.target),
                Tree::Stmt(s) => {
                    add_used(&s.target);
                    s.value.for_each_tensor(&mut |tensor| add_used(tensor));
                }
            }
        }
        let mut found = Vec::new();
        for expr in self.definition().iter() {
            expr.for_each_tensor(&mut |tensor| {
                let read = used
                    .iter()
                    .find(|t| t.is_joined() && t.name() == tensor.name());
                add(&mut found, read.unwrap_or(tensor));
            });
        }
        let own = self.originals().iter().flat_map(|part| part.trees.iter());
        let own: Vec<&Tensor> = own.flat_map(Tree::locals).collect();
        let needed = |t: &Tensor| !self.is_passed_on(t) && !own.contains(&t);
        found.retain(|tensor| used.contains(tensor) || needed(tensor));
        used.iter().for_each(|tensor| add(&mut found, tensor));
        found
    }

    /// The local tensors.
    pub fn locals(&self) -> Vec<&Tensor> {
        let mut found: Vec<&Tensor> = Vec::new();
        for tensor in self.trees().iter().flat_map(Tree::locals) {
            if !found.contains(&tensor) {
                found.push(tensor);
            }
        }
        found
    }

    /// Whether only later assignments of the definition read the last value of `tensor`, so that it
    /// is not a result.
    pub fn is_passed_on(&self, tensor: &Tensor) -> bool {
        let is_output = tensor.name().and_then(|name| self.is_output(name));
        if is_output == Some(true) {
            return false;
        }
        let of = |e: &Expr| e.tensor().is_some_and(|t| t.name() == tensor.name());
        let Some(last) = self.definition().iter().rposition(of) else {
            return false;
        };
        self.definition()[last + 1..].iter().any(|e| {
            let mut reads = false;
            if let Node::Assign { value, .. } = e.node() {
                value.for_each_tensor(&mut |t| reads |= t.name() == tensor.name());
            }
            reads
        })
    }
}

/// Adds a tensor. It may lie apart in memory if any access says so: steps may have made the others.
fn add(found: &mut Vec<Tensor>, tensor: &Tensor) {
    match found.iter_mut().find(|known| *known == tensor) {
        Some(known) => {
            if let Some(strides) = tensor.strided_in() {
                *known = known.strided(strides);
            }
        }
        None => found.push(tensor.clone()),
    }
}
