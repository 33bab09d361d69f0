//! Loops that a transformation adds: parts of a loop, copies of its body, and their names.
//!
//! The name of a part is derived from the loop's. If it is taken, the user gets an error. Copies of
//! the loops inside get the first free number, since users do not expect them.

use crate::Error;
use crate::analysis::bounds::extent;
use crate::analysis::footprint::Side;
use crate::ir::{Affine, Loop, Name, Nest, Range, Role, Stmt, Tree};
use crate::refusals::name_clash;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The names of the loops in a nest and around it, and of added loops.
pub(super) struct Names<'a> {
    nest: &'a Nest,
    taken: HashSet<Name>,
}

impl Names<'_> {
    pub(super) fn of(nest: &Nest) -> Names<'_> {
        let inside = nest.loops();
        let around = nest.context().iter();
        let loops = inside.iter().map(|(_, l)| *l).chain(around);
        let taken = loops.map(|l| l.name.clone());
        let taken = taken.chain(nest.beside().iter().cloned()).collect();
        Names { nest, taken }
    }

    /// The name `of` with a suffix. An error if it is taken.
    pub(super) fn derive(&mut self, of: &Name, suffix: &str) -> Result<Name, Error> {
        let name = of.derived(suffix);
        if self.taken.insert(name.clone()) {
            Ok(name)
        } else {
            let clash = name_clash(&name);
            Err(clash.on(self.nest, [name, of.clone()]))
        }
    }

    /// The name `of` if it is free; otherwise with the first free number.
    pub(super) fn free(&mut self, of: &Name) -> Name {
        if self.taken.insert(of.clone()) {
            of.clone()
        } else {
            self.number(of)
        }
    }

    /// The name `of` with the first free number: no loop or part of a loop has it.
    pub(super) fn number(&mut self, of: &Name) -> Name {
        let mut number = 2;
        loop {
            let name = of.derived(number);
            let part = format!("{name}_");
            let parts = self.taken.iter().any(|n| n.as_str().starts_with(&part));
            if !parts && self.taken.insert(name.clone()) {
                return name;
            }
            number += 1;
        }
    }

    /// The iterations `range` of `l` as another loop `name`, which is the `role` part of it.
    pub(super) fn part(&mut self, l: &Loop, role: Role, name: Name, range: Range) -> Tree {
        let body = self.copy(&l.body);
        with_body(l, role, name, range, body)
    }

    fn copy(&mut self, trees: &[Tree]) -> Vec<Tree> {
        let old = trees.iter().flat_map(names);
        let renamed: HashMap<Name, Name> = old.map(|n| (n.clone(), self.number(n))).collect();
        let rename = |name: &Name| renamed.get(name).cloned();
        trees.iter().map(|t| t.rename_loops(&rename)).collect()
    }
}

/// A loop like `l` with another name, range and body, which is the `role` part of it. The body
/// still calls its iterator `l`.
pub(super) fn with_body(l: &Loop, role: Role, name: Name, range: Range, body: Vec<Tree>) -> Tree {
    let iterator = Affine::iterator(name.clone());
    let rename = |n: &Name| (*n == l.name).then(|| iterator.clone());
    Tree::of_loop(Loop {
        name,
        range,
        body: body.iter().map(|t| t.substitute(&rename)).collect(),
        lineage: l.lineage.child(role),
        ..l.clone()
    })
}

/// An assignment in `loops` over the elements of a box. Each dimension of `index` has one iterator
/// or none. `of` makes the assignment from the values of the iterators. A single element needs no
/// loop.
pub(super) fn over_box(
    loops: &[&Arc<Loop>],
    index: &[Affine],
    sides: &[Side],
    names: &mut Names,
    of: impl FnOnce(&dyn Fn(&Name) -> Option<Affine>) -> Stmt,
) -> Tree {
    let mut kept: Vec<(&Arc<Loop>, Name, Range)> = Vec::new();
    let mut images: Vec<(&Name, Affine)> = Vec::new();
    for l in loops {
        let mut dimensions = index.iter().zip(sides);
        let range = match dimensions.find(|(index, _)| index.mentions(&l.name)) {
            // If `i + 2` is the index x, then i is x - 2.
            Some((index, side)) => side
                .offsets
                .shifted(&side.low.plus_constant(-index.offset())),
            None => l.range.clone(),
        };
        if let Some((only, 1)) = extent(&range) {
            images.push((&l.name, only));
            continue;
        }
        let name = names.free(&l.name);
        images.push((&l.name, Affine::iterator(name.clone())));
        kept.push((l, name, range));
    }
    let image = |name: &Name| {
        let image = images.iter().find(|(old, _)| *old == name);
        image.map(|(_, image)| image.clone())
    };
    let stmt = Tree::Stmt(Arc::new(of(&image)));
    let around = kept.into_iter().rev();
    around.fold(stmt, |inside, (l, name, range)| {
        Tree::of_loop(Loop {
            name,
            range,
            body: vec![inside],
            lineage: l.lineage.child(Role::Placed),
            ..(**l).clone()
        })
    })
}

/// The names of all loops of a tree, the outermost first.
pub(super) fn names(tree: &Tree) -> Vec<&Name> {
    fn collect<'a>(tree: &'a Tree, found: &mut Vec<&'a Name>) {
        if let Tree::Loop(l) = tree {
            found.push(&l.name);
            l.body.iter().for_each(|t| collect(t, found));
        }
    }
    let mut found = Vec::new();
    collect(tree, &mut found);
    found
}
