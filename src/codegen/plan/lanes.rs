//! Questions about vector lanes: which loops and values can be vectors, and which values are
//! uniform.
//!
//! In loops over `f32`, lanes of 64-bit integers are left to compilers. Comparisons of two indices
//! are an exception: their difference is a constant plus a step per lane.

use crate::ir::{
    Affine, BinaryOp, Constant, Elem, Expr, Function, Index, Loop, Name, Node, Segment, Stmt,
    Tensor, Tree,
};
use crate::target::Target;

/// The bytes of a vector register.
pub(crate) fn widest(target: &Target) -> i64 {
    target.vector_bytes().cast_signed()
}

/// Whether a local tensor is small enough for registers.
pub(crate) fn may_be_registers(tensor: &Tensor, target: &Target) -> bool {
    let elements = tensor.shape().elements();
    let bytes = elements.saturating_mul(tensor.elem().size() as u64);
    bytes <= target.register_bytes() && tensor.elem().is_float()
}

/// The trip count, if it is the same for all outer iterations.
pub(crate) fn trips(l: &Loop) -> Option<i64> {
    if l.range.within.is_some() {
        return None;
    }
    match (
        l.range.lower.as_slice(),
        l.range.upper.as_slice(),
        l.range.step,
    ) {
        ([lower], [upper], 1) => Some(upper.minus(lower).as_constant()?.max(0)),
        _ => None,
    }
}

/// The most iterations of a loop over one block of a row, if they fill a vector.
pub(crate) fn block_of_row(l: &Loop) -> Option<i64> {
    let mut own = l.range.own_upper();
    let (Some(end), None) = (own.next(), own.next()) else {
        return None;
    };
    let begins = matches!(l.range.lower.as_slice(), [low] if low.as_constant() == Some(0));
    let lanes = end.as_constant().filter(|_| l.range.is_part() && begins)?;
    let is_power = lanes.count_ones() == 1 && (2..=16).contains(&lanes);
    (is_power && l.lanes().is_none_or(|n| n == lanes)).then_some(lanes)
}

/// The statements of a loop with entries that are read in place of their iterators. `None` if there is
/// anything else in it.
pub(crate) fn with_entries(trees: &[Tree]) -> Option<Vec<Stmt>> {
    let mut found = Vec::new();
    for tree in trees {
        match tree {
            Tree::Stmt(s) => found.push((**s).clone()),
            Tree::Loop(l) => {
                let entry = of_entry(l)?;
                let at = |name: &Name| (*name == l.name).then(|| entry.clone());
                found.extend(with_entries(&l.body)?.iter().map(|s| s.substitute(&at)));
            }
            Tree::Fill(_) | Tree::Local(_) => return None,
        }
    }
    Some(found)
}

/// The entry that is the only value of a loop, as an index. C reads it where it is used.
pub(crate) fn of_entry(l: &Loop) -> Option<Affine> {
    let lookup = l.range.single()?;
    let reads = lookup.index.iter().flat_map(Affine::terms);
    let is_read = |(name, _): &(Name, i64)| name.is_read();
    let is_row = lookup.index.len() == 1 && l.is_serial() && l.hints.prefetch.is_empty();
    (is_row && !reads.into_iter().any(is_read)).then(|| lookup.as_index())
}

/// The element type of the vectors of a loop over one block of a row.
fn elem_of_block(l: &Loop, lanes: i64, target: &Target) -> Option<Elem> {
    let statements = with_entries(&l.body)?;
    let elem = statements.first()?.target.elem();
    let fits = |s: &Stmt| {
        s.target.elem() == elem
            && neighbors(&s.index, &l.name) == Some(true)
            && is_vector_value(&s.value, &l.name, elem, true)
    };
    let is_short = lanes <= widest(target) / elem.size() as i64;
    let has_vectors = is_short && elem.is_float() && l.hints.prefetch.is_empty();
    (has_vectors && statements.iter().all(fits)).then_some(elem)
}

/// The element type of a loop's vectors; `None` if it cannot run in vectors.
pub(crate) fn elem_of(l: &Loop, target: &Target) -> Option<Elem> {
    if let Some(lanes) = block_of_row(l) {
        return elem_of_block(l, lanes, target);
    }
    let mut elem = None;
    let is_affine = l.range.within.is_none() && l.range.step == 1;
    let plain = is_affine && l.hints.prefetch.is_empty() && !l.body.is_empty();
    let lanes = l
        .lanes()
        .is_none_or(|n| (2..=16).contains(&n) && n & (n - 1) == 0);
    let fits = plain
        && lanes
        && l.body.iter().all(|tree| match tree {
            Tree::Stmt(s) => {
                let same = *elem.get_or_insert(s.target.elem()) == s.target.elem();
                same && is_vector_statement(s, &l.name, is_single(l, s.target.elem(), target))
            }
            _ => false,
        });
    let elem = elem.filter(|e| fits && e.is_float())?;
    // Vectors are no longer than the longest register.
    let longest = widest(target) / elem.size() as i64;
    l.lanes().is_none_or(|n| n <= longest).then_some(elem)
}

/// Whether a loop has no more iterations than a register has lanes.
fn is_single(l: &Loop, elem: Elem, target: &Target) -> bool {
    trips(l).is_some_and(|trips| trips <= widest(target) / elem.size() as i64)
}

/// Why a loop does not run in vectors of the target, for readers.
pub(crate) fn why_not(l: &Loop, target: &Target) -> String {
    let elems = || {
        l.body.iter().filter_map(|tree| match tree {
            Tree::Stmt(s) => Some(s.target.elem()),
            _ => None,
        })
    };
    let is_stmt = |tree: &Tree| matches!(tree, Tree::Stmt(_));
    if l.body.is_empty() {
        return "it is empty".to_owned();
    }
    if let Some(Segment { upper, .. }) = &l.range.within {
        return format!("its bounds are read from {}", upper.tensor.label());
    }
    if l.range.step != 1 {
        return format!("its step is {}", l.range.step);
    }
    if !l.hints.prefetch.is_empty() {
        return "its iterations prefetch".to_owned();
    }
    if !l.body.iter().all(is_stmt) {
        return "there are other things than statements in it".to_owned();
    }
    if let Some(elem) = elems().find(|elem| !elem.is_float()) {
        return format!("it sets elements of type {elem}");
    }
    for tree in &l.body {
        if let Tree::Stmt(s) = tree
            && !is_vector_statement(s, &l.name, is_single(l, s.target.elem(), target))
        {
            return reason(s, &l.name);
        }
    }
    if elems().any(|elem| Some(elem) != elems().next()) {
        return "it sets elements of several types".to_owned();
    }
    let lanes = l.lanes().unwrap_or_default();
    format!(
        "{lanes} lanes do not fit a vector of {} bytes",
        widest(target)
    )
}

/// Why a statement cannot run in vectors.
fn reason(s: &Stmt, lane: &Name) -> String {
    let element = |tensor: &Tensor, index: &[Affine]| {
        let index: String = index.iter().map(|a| format!("[{a}]")).collect();
        format!("{}{index}", tensor.label())
    };
    match neighbors(&s.index, lane) {
        Some(true) => {}
        Some(false) => return format!("all iterations set {}", element(&s.target, &s.index)),
        None => {
            return format!(
                "{} is not unit-stride in {lane}",
                element(&s.target, &s.index)
            );
        }
    }
    let mut found = None;
    s.value.for_each_access(&mut |tensor, index| {
        if let Index::At(index) = index
            && neighbors(index, lane).is_none()
        {
            found.get_or_insert(format!(
                "{} is not unit-stride in {lane}",
                element(tensor, index)
            ));
        }
    });
    found.unwrap_or_else(|| "its values have no vector operations".to_owned())
}

/// Whether a statement can run in vectors. If there is only a `single` vector, its lanes may be
/// apart in memory: they are then gathered and scattered.
pub(super) fn is_vector_statement(s: &Stmt, lane: &Name, single: bool) -> bool {
    let lanes = match neighbors(&s.index, lane) {
        Some(moves) => moves,
        None => single,
    };
    lanes && is_vector_value(&s.value, lane, s.target.elem(), single)
}

/// Whether a value can be a vector next to vectors of `of`. Vectors of `i64` next to shorter
/// elements are left to compilers, which know more about the values of indices than their type
/// says.
fn is_vector_value(e: &Expr, lane: &Name, of: Elem, single: bool) -> bool {
    if is_uniform(e, lane) {
        return true;
    }
    let (elem, is_float) = (e.elem(), e.elem().is_float());
    if elem == Elem::I64 && of.size() < elem.size() {
        return false;
    }
    let all = |args: &[Expr]| args.iter().all(|a| is_vector_value(a, lane, of, single));
    match e.node() {
        Node::Access { index, .. } => match index {
            Index::At(index) => single || neighbors(index, lane).is_some(),
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
            let sides = [left, right];
            has_vectors && sides.iter().all(|e| is_vector_value(e, lane, of, single))
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
                // Vector instructions do not saturate numbers beyond the range of integers.
                Function::Cast(_) => is_float || args.iter().all(|a| !a.elem().is_float()),
                _ => is_float,
            };
            has_vectors && all(args)
        }
        _ => false,
    }
}

/// The bit mask that computes a remainder, if the divisor is a power of two.
pub(crate) fn mask(divisor: &Expr) -> Option<Constant> {
    let is_power = |x: i64| x > 0 && x & (x - 1) == 0;
    match divisor.node() {
        Node::Constant(Constant::I32(x)) if is_power((*x).into()) => Some(Constant::I32(x - 1)),
        Node::Constant(Constant::I64(x)) if is_power(*x) => Some(Constant::I64(x - 1)),
        _ => None,
    }
}

/// The index expression of a value, if it is one.
pub(crate) fn affine(value: &Expr) -> Option<Affine> {
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

/// Whether an index is unit-stride in the lane (true) or invariant to it (false); otherwise `None`.
pub(crate) fn neighbors(index: &[Affine], lane: &Name) -> Option<bool> {
    let (last, outer) = match index.split_last() {
        Some(split) => split,
        None => return Some(false),
    };
    if outer.iter().any(|a| a.depends_on(lane)) || last.reads_at(lane) {
        return None;
    }
    match last.coefficient(lane) {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

/// Whether a value of a vector statement is the same in all lanes.
pub(crate) fn is_uniform(value: &Expr, lane: &Name) -> bool {
    let mut reads = false;
    value.for_each_index(&mut |index| reads |= index.reads_at(lane));
    !reads && !value.mentions(lane)
}
