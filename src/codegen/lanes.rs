//! Which vector loops are explicit vectors.
//!
//! Where all that a vector loop touches are neighbors or does not move with it, it is written with
//! the vector types of gcc and clang, so that what becomes of it is not left to the compiler, which
//! calls the functions of the C library element by element. Other vector loops are left to it
//! (`#pragma omp simd`).
//!
//! Loops that copy between a local tensor and another one are written likewise: no two of their
//! iterations have anything to do with each other. And around what works on a local tensor that
//! fits into registers, loops whose iterators index it are unrolled: registers have no index. What
//! only holds copies there is loaded once (`registers.h`).

use crate::ir::{
    Affine, BinaryOp, Constant, Elem, Expr, Function, Index, Loop, Name, Node, Stmt, Tensor, Tree,
};
use crate::target::Target;
use std::collections::HashSet;

/// The most copies of a statement that unrolling for registers makes.
const MAX_UNROLLED: i64 = 256;

/// The loops of trees that are written with explicit vectors, and those that are unrolled.
pub(super) struct Chosen {
    /// What they are chosen for.
    target: Target,
    /// The loops whose iterations threads share. OpenMP wants them as plain loops: collapsed ones
    /// may have nothing between them.
    shared: HashSet<Name>,
    vectors: HashSet<Name>,
    unrolled: HashSet<Name>,
    held: HashSet<(Name, Name)>,
}

impl Chosen {
    /// None, for no trees.
    pub(super) fn none(target: &Target) -> Chosen {
        Chosen {
            target: target.clone(),
            shared: HashSet::new(),
            vectors: HashSet::new(),
            unrolled: HashSet::new(),
            held: HashSet::new(),
        }
    }

    pub(super) fn of(trees: &[Tree], target: &Target) -> Chosen {
        let mut chosen = Chosen::none(target);
        chosen.shared(trees, 0);
        chosen.vectors(trees, &mut Vec::new());
        chosen.registers(trees);
        chosen
    }

    pub(super) fn target(&self) -> &Target {
        &self.target
    }

    pub(super) fn is_vector(&self, l: &Loop) -> bool {
        self.vectors.contains(&l.name)
    }

    pub(super) fn is_shared(&self, l: &Loop) -> bool {
        self.shared.contains(&l.name)
    }

    pub(super) fn is_unrolled(&self, l: &Loop) -> bool {
        self.unrolled.contains(&l.name)
    }

    pub(super) fn unrolled(&self) -> &HashSet<Name> {
        &self.unrolled
    }

    /// The local tensors that are copies in registers, each with a loop that copies: another scope may
    /// have a tensor of that name.
    pub(super) fn held(&self) -> &HashSet<(Name, Name)> {
        &self.held
    }

    /// `band` more loops share their iterations with a parallel one around.
    fn shared(&mut self, trees: &[Tree], band: usize) {
        for tree in trees {
            let Tree::Loop(l) = tree else { continue };
            let band = if l.parallel { l.sharing.collapse } else { band };
            if band > 0 {
                self.shared.insert(l.name.clone());
            }
            self.shared(&l.body, band.saturating_sub(1));
        }
    }

    fn vectors(&mut self, trees: &[Tree], locals: &mut Vec<Name>) {
        let outside = locals.len();
        for tree in trees {
            match tree {
                Tree::Local(tensor) => locals.extend(tensor.name().cloned()),
                Tree::Loop(l) => {
                    let marked = l.vector || copies(l, locals);
                    if marked && !self.is_shared(l) && elem_of(l, &self.target).is_some() {
                        self.vectors.insert(l.name.clone());
                    }
                    self.vectors(&l.body, locals);
                }
                Tree::Stmt(_) | Tree::Fill(_) => {}
            }
        }
        locals.truncate(outside);
    }

    fn registers(&mut self, trees: &[Tree]) {
        for (k, tree) in trees.iter().enumerate() {
            match tree {
                Tree::Local(tensor) => self.tile(tensor, &trees[k + 1..]),
                Tree::Loop(l) => self.registers(&l.body),
                Tree::Stmt(_) | Tree::Fill(_) => {}
            }
        }
    }

    /// The loops in the scope of a tensor that index it.
    fn tile(&mut self, tensor: &Tensor, scope: &[Tree]) {
        if !may_be_registers(tensor, &self.target) {
            return;
        }
        let mut found = Vec::new();
        if self.indexing(tensor, scope, &mut Vec::new(), &mut found) {
            self.unrolled.extend(found);
            let mut loops = Vec::new();
            if let (Some(name), true) = (tensor.name(), copied(tensor, scope, None, &mut loops)) {
                let pairs = loops.into_iter().map(|l| (name.clone(), l));
                self.held.extend(pairs);
            }
        }
    }

    /// Collects the loops; false if one of them cannot be unrolled.
    fn indexing<'t>(
        &self,
        tensor: &Tensor,
        trees: &'t [Tree],
        around: &mut Vec<&'t Loop>,
        found: &mut Vec<Name>,
    ) -> bool {
        trees.iter().all(|tree| match tree {
            Tree::Loop(l) => {
                around.push(l);
                let all = self.indexing(tensor, &l.body, around, found);
                around.pop();
                all
            }
            Tree::Stmt(s) => {
                let mut copies = 1i64;
                let mut indices: Vec<&[Affine]> = Vec::new();
                if s.target.name() == tensor.name() {
                    indices.push(&s.index);
                }
                s.value.for_each_access(&mut |t, index| {
                    if let (true, Index::At(index)) = (t.name() == tensor.name(), index) {
                        indices.push(index);
                    }
                });
                // Threads have registers of their own.
                if !indices.is_empty() && around.iter().any(|l| self.is_shared(l)) {
                    return false;
                }
                for l in around.iter() {
                    if !indices
                        .iter()
                        .any(|i| i.iter().any(|a| a.mentions(&l.name)))
                    {
                        continue;
                    }
                    let lanes = match self.is_vector(l) {
                        true => widest(&self.target) / s.target.elem().size() as i64,
                        false if l.vector => return false,
                        false => 1,
                    };
                    let Some(trips) = trips(l) else { return false };
                    copies = copies.saturating_mul(trips / lanes + i64::from(trips % lanes != 0));
                    found.push(l.name.clone());
                }
                copies <= MAX_UNROLLED
            }
            Tree::Fill(fill) => fill.target.name() != tensor.name(),
            Tree::Local(_) => true,
        })
    }
}

/// Collects the loops that copy to a local tensor; false if it gets anything else.
fn copied(tensor: &Tensor, trees: &[Tree], around: Option<&Name>, loops: &mut Vec<Name>) -> bool {
    trees.iter().all(|tree| match tree {
        Tree::Loop(l) => copied(tensor, &l.body, Some(&l.name), loops),
        Tree::Stmt(s) if s.target.name() == tensor.name() => {
            loops.extend(around.cloned());
            s.update.is_none() && matches!(s.value.node(), Node::Access { .. })
        }
        Tree::Fill(fill) => fill.target.name() != tensor.name(),
        Tree::Stmt(_) | Tree::Local(_) => true,
    })
}

/// The bytes of a vector register.
pub(super) fn widest(target: &Target) -> i64 {
    target.vector_bytes().cast_signed()
}

/// Whether a local tensor is small enough for registers.
pub(super) fn may_be_registers(tensor: &Tensor, target: &Target) -> bool {
    let elements = tensor.shape().elements();
    let bytes = elements.saturating_mul(tensor.elem().size() as u64);
    bytes <= target.register_bytes() && tensor.elem().is_float()
}

/// The number of iterations, where it is the same whatever the outer iterators are.
pub(super) fn trips(l: &Loop) -> Option<i64> {
    match (
        l.range.lower.as_slice(),
        l.range.upper.as_slice(),
        l.range.step,
    ) {
        ([lower], [upper], 1) => Some(upper.minus(lower).as_constant()?.max(0)),
        _ => None,
    }
}

/// Whether a loop only copies between a local tensor and another one.
fn copies(l: &Loop, locals: &[Name]) -> bool {
    let is_local = |t: &Tensor| t.name().is_some_and(|name| locals.contains(name));
    l.body.iter().all(|tree| match tree {
        Tree::Stmt(s) => match s.value.node() {
            Node::Access { tensor, .. } => {
                s.update.is_none()
                    && tensor.name() != s.target.name()
                    && (is_local(tensor) || is_local(&s.target))
            }
            _ => false,
        },
        _ => false,
    })
}

/// The type of the elements that a loop treats as vectors, if it can.
pub(super) fn elem_of(l: &Loop, target: &Target) -> Option<Elem> {
    let mut elem = None;
    let plain = l.range.step == 1 && l.hints.prefetch.is_empty() && !l.body.is_empty();
    let lanes = l
        .lanes
        .is_none_or(|n| (2..=16).contains(&n) && n & (n - 1) == 0);
    let fits = plain
        && lanes
        && l.body.iter().all(|tree| match tree {
            Tree::Stmt(s) => {
                let same = *elem.get_or_insert(s.target.elem()) == s.target.elem();
                same && is_vector_statement(s, &l.name)
            }
            _ => false,
        });
    let elem = elem.filter(|e| fits && e.is_float())?;
    // No vector is longer than the longest register.
    let longest = widest(target) / elem.size() as i64;
    l.lanes.is_none_or(|n| n <= longest).then_some(elem)
}

fn is_vector_statement(s: &Stmt, lane: &Name) -> bool {
    neighbors(&s.index, lane) == Some(true) && is_vector_value(&s.value, lane, s.target.elem())
}

/// Whether a value has vectors where vectors of `of` are set. Compilers know more of the values of
/// indices than their type says: what would be vectors of `i64` beside shorter ones is left to them.
fn is_vector_value(e: &Expr, lane: &Name, of: Elem) -> bool {
    if is_uniform(e, lane) {
        return true;
    }
    let (elem, is_float) = (e.elem(), e.elem().is_float());
    if elem == Elem::I64 && of.size() < elem.size() {
        return false;
    }
    let all = |args: &[Expr]| args.iter().all(|a| is_vector_value(a, lane, of));
    match e.node() {
        Node::Access { index, .. } => match index {
            Index::At(index) => neighbors(index, lane).is_some(),
            _ => true,
        },
        Node::Constant(_) | Node::Index(_) => true,
        Node::Binary {
            op, left, right, ..
        } => {
            let has_vectors = match op {
                BinaryOp::Div => is_float,
                BinaryOp::Mod => mask(right).is_some(),
                _ => true,
            };
            has_vectors && is_vector_value(left, lane, of) && is_vector_value(right, lane, of)
        }
        Node::Apply { function, args, .. } => {
            if let (Function::Select(_), [left, right, values @ ..]) = (function, args.as_slice())
                && affine(left).is_some()
                && affine(right).is_some()
            {
                return all(values);
            }
            let has_vectors = match function {
                Function::Neg | Function::Select(_) => true,
                // Processors say nothing of integers that are too large.
                Function::Cast(_) => is_float || args.iter().all(|a| !a.elem().is_float()),
                _ => is_float,
            };
            has_vectors && all(args)
        }
        _ => false,
    }
}

/// The bits of a remainder, where the divisor is a power of two.
pub(super) fn mask(divisor: &Expr) -> Option<Constant> {
    let is_power = |x: i64| x > 0 && x & (x - 1) == 0;
    match divisor.node() {
        Node::Constant(Constant::I32(x)) if is_power((*x).into()) => Some(Constant::I32(x - 1)),
        Node::Constant(Constant::I64(x)) if is_power(*x) => Some(Constant::I64(x - 1)),
        _ => None,
    }
}

/// The index expression that a value is, if it is one.
pub(super) fn affine(value: &Expr) -> Option<Affine> {
    let found = match value.node() {
        Node::Index(index) => index.clone(),
        Node::Constant(Constant::I64(x)) => Affine::constant(*x),
        Node::Binary {
            op, left, right, ..
        } => {
            let (left, right) = (affine(left)?, affine(right)?);
            match (op, left.as_constant(), right.as_constant()) {
                (BinaryOp::Add, _, _) => left.plus(&right),
                (BinaryOp::Sub, _, _) => left.minus(&right),
                (BinaryOp::Mul, Some(by), _) => right.times(by),
                (BinaryOp::Mul, _, Some(by)) => left.times(by),
                _ => return None,
            }
        }
        _ => return None,
    };
    found.is_in_limits().then_some(found)
}

/// Whether lanes are neighbors (true) or the same element (false); `None` where they are neither.
fn neighbors(index: &[Affine], lane: &Name) -> Option<bool> {
    let (last, outer) = match index.split_last() {
        Some(split) => split,
        None => return Some(false),
    };
    if outer.iter().any(|a| a.mentions(lane)) {
        return None;
    }
    match last.coefficient(lane) {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

/// Whether the value of a vector statement is the same in all lanes.
pub(super) fn is_uniform(value: &Expr, lane: &Name) -> bool {
    !value.mentions(lane)
}
