//! Lineage: which step made a loop, in which role, and from which loops.
//!
//! Handles follow loops through later steps by it. A step that changes a loop (its place, bounds,
//! body or name) keeps its birth. A step that makes loops states their roles. `apply` compares
//! births before and after a step, and keeps in the path which loops it made and ended.
//!
//! A handle is a birth. Its loop is found in a nest by a search for that birth. A replayed step
//! makes the same births, so handles also hold after `undo`.

use super::{Birth, Effects, Lineage, Loop, Nest, Step, Tree};
use crate::ir::name::Name;
use crate::ir::role::Role;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The identity of a birth. Names are unique after each step.
type Key = (*const Step, Name);

impl Birth {
    fn key(&self) -> Key {
        (Arc::as_ptr(&self.step), self.name.clone())
    }

    /// Whether both are the birth of the same loop.
    pub fn same(&self, other: &Birth) -> bool {
        Arc::ptr_eq(&self.step, &other.step) && self.name == other.name
    }

    /// The step to name to a reader. For a copy, it is the step of the copied loop.
    pub fn credit(&self) -> &Arc<Step> {
        match (self.role, self.of.first()) {
            (Role::Copy | Role::Fused, Some(first)) => first.credit(),
            _ => &self.step,
        }
    }

    /// Whether it continues a loop, directly or through others.
    fn continues(&self, other: &Birth) -> bool {
        let mut open: Vec<&Birth> = vec![self];
        while let Some(birth) = open.pop() {
            if birth.same(other) {
                return true;
            }
            if birth.role.continues() {
                open.extend(birth.of.iter().map(|b| &**b));
            }
        }
        false
    }
}

impl Drop for Birth {
    // Derived code would recurse once per generation.
    fn drop(&mut self) {
        let mut open = std::mem::take(&mut self.of);
        while let Some(birth) = open.pop() {
            if let Some(mut birth) = Arc::into_inner(birth) {
                open.append(&mut birth.of);
            }
        }
    }
}

impl Default for Lineage {
    fn default() -> Lineage {
        Lineage::of(Role::Loop)
    }
}

impl Lineage {
    /// The lineage of a loop made from no others.
    pub fn of(role: Role) -> Lineage {
        let of = Vec::new();
        Lineage::New { role, of }
    }

    /// The lineage of a loop made from this one.
    #[must_use]
    pub fn child(&self, role: Role) -> Lineage {
        let of = self.births();
        Lineage::New { role, of }
    }

    /// The lineage of the loop in which both are fused.
    #[must_use]
    pub fn fused(&self, other: &Lineage) -> Lineage {
        let mut of = match self {
            Lineage::New { role, of } if *role == Role::Fused => of.clone(),
            own => own.births(),
        };
        of.extend(other.births());
        let role = Role::Fused;
        Lineage::New { role, of }
    }

    fn births(&self) -> Vec<Arc<Birth>> {
        match self {
            Lineage::New { of, .. } => of.clone(),
            Lineage::Born(birth) => vec![birth.clone()],
        }
    }
}

impl Loop {
    /// The birth of the loop. `None` until its step is finished.
    pub fn birth(&self) -> Option<&Arc<Birth>> {
        match &self.lineage {
            Lineage::New { .. } => None,
            Lineage::Born(birth) => Some(birth),
        }
    }

    /// The step that made the loop, or the loop that it is a copy of.
    pub fn made_by(&self) -> Option<&Arc<Step>> {
        self.birth().map(|birth| birth.credit())
    }
}

impl Nest {
    /// Appends `step` to the path and gives its new loops their births. `before` are the nests that
    /// the step took.
    #[must_use]
    pub fn made_by(&self, step: &Arc<Step>, before: &[&Nest]) -> Nest {
        let (trees, effects) = born(&self.0.trees, step, before);
        let mut data = (*self.0).clone();
        data.path = data.path.then(step.clone(), effects);
        data.trees = trees;
        Nest(Arc::new(data))
    }

    /// The loop of this birth under its current name, or the single loop that continues it.
    pub fn born(&self, birth: &Birth) -> Option<&Loop> {
        let loops = self.loops();
        let born = |l: &Loop, test: &dyn Fn(&Birth) -> bool| l.birth().is_some_and(|b| test(b));
        let same = loops.iter().find(|(_, l)| born(l, &|b| b.same(birth)));
        if let Some((_, l)) = same {
            return Some(l);
        }
        let mut next = loops
            .iter()
            .filter(|(_, l)| born(l, &|b| b.continues(birth)));
        match (next.next(), next.next()) {
            (Some((_, l)), None) => Some(l),
            _ => None,
        }
    }
}

/// Gives each new loop of `trees` its birth in `step`. Also returns the effects of the step on the
/// loops and local tensors of the nests `before`.
///
/// If several loops have one birth, the loop with the original name keeps it. The others are
/// copies.
pub(super) fn born(trees: &[Tree], step: &Arc<Step>, before: &[&Nest]) -> (Vec<Tree>, Effects) {
    let mut known: HashMap<Key, (Arc<Birth>, Vec<Name>)> = HashMap::new();
    let mut order: Vec<Key> = Vec::new();
    let mut tensors: Vec<Name> = Vec::new();
    for nest in before {
        for (_, l) in nest.loops() {
            let Some(birth) = l.birth() else { continue };
            let entry = known.entry(birth.key()).or_insert_with(|| {
                order.push(birth.key());
                (birth.clone(), Vec::new())
            });
            entry.1.push(l.name.clone());
        }
        tensors.extend(nest.locals().iter().filter_map(|t| t.name().cloned()));
    }
    let mut counts: HashMap<Key, usize> = HashMap::new();
    trees.iter().for_each(|tree| count(tree, &mut counts));
    let is_copy = |l: &Loop, birth: &Birth| {
        let key = birth.key();
        let is_old = |(_, names): &(_, Vec<Name>)| names.contains(&l.name);
        counts.get(&key).is_some_and(|n| *n > 1) && !known.get(&key).is_some_and(is_old)
    };
    let trees: Vec<Tree> = trees.iter().map(|t| settled(t, step, &is_copy)).collect();

    let mut effects = Effects::default();
    let mut alive: HashSet<Key> = HashSet::new();
    let after = Nest::of_trees(trees);
    for (_, l) in after.loops() {
        let Some(birth) = l.birth() else { continue };
        if alive.insert(birth.key()) && !known.contains_key(&birth.key()) {
            effects.made.push(birth.clone());
        }
    }
    let ended = order.iter().filter(|key| !alive.contains(key));
    effects.ended = ended
        .filter_map(|key| Some(known.get(key)?.0.clone()))
        .collect();
    let locals: Vec<Name> = after
        .locals()
        .iter()
        .filter_map(|t| t.name().cloned())
        .collect();
    effects.gone = tensors
        .iter()
        .filter(|t| !locals.contains(t))
        .cloned()
        .collect();
    effects.tensors = locals
        .into_iter()
        .filter(|t| !tensors.contains(t))
        .collect();
    (after.trees().to_vec(), effects)
}

fn count(tree: &Tree, counts: &mut HashMap<Key, usize>) {
    if let Tree::Loop(l) = tree {
        if let Some(birth) = l.birth() {
            *counts.entry(birth.key()).or_default() += 1;
        }
        l.body.iter().for_each(|t| count(t, counts));
    }
}

fn settled(tree: &Tree, step: &Arc<Step>, is_copy: &dyn Fn(&Loop, &Birth) -> bool) -> Tree {
    fn is_settled(tree: &Tree, is_copy: &dyn Fn(&Loop, &Birth) -> bool) -> bool {
        let Tree::Loop(l) = tree else { return true };
        let own = l.birth().is_some_and(|birth| !is_copy(l, birth));
        own && l.body.iter().all(|t| is_settled(t, is_copy))
    }
    let Tree::Loop(l) = tree else {
        return tree.clone();
    };
    if is_settled(tree, is_copy) {
        return tree.clone();
    }
    let birth = |role, of| {
        let (step, name) = (step.clone(), l.name.clone());
        Lineage::Born(Arc::new(Birth {
            step,
            name,
            role,
            of,
        }))
    };
    let lineage = match &l.lineage {
        Lineage::New { role, of } => birth(*role, of.clone()),
        Lineage::Born(old) if is_copy(l, old) => birth(Role::Copy, vec![old.clone()]),
        Lineage::Born(_) => l.lineage.clone(),
    };
    Tree::of_loop(Loop {
        lineage,
        body: l.body.iter().map(|t| settled(t, step, is_copy)).collect(),
        ..(**l).clone()
    })
}
