//! Questions about vector lanes: which loops and values can be vectors, and which values are
//! uniform.
//!
//! A vector has as many lanes as a register has of the largest elements that the loop sets. Vectors of
//! smaller elements fill a part of a register then.
//!
//! In loops over elements of 32 bits, lanes of 64-bit integers are left to compilers, and so are lanes
//! of `f64` that integers depend on. Comparisons of two indices are an exception: their difference is a
//! constant plus a step per lane. So are indices that become numbers of 32 bits. Products of 64-bit
//! integers are left to compilers where processors have no instruction for them, and all lanes of integers
//! where these are not compared: accumulators beside each other would be in vectors and in memory.

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
    let has_lanes = tensor.elem().is_float() || target.instructions.compares_integers();
    bytes <= target.register_bytes() && has_lanes
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
            && without_operations(s, &l.name, &Lanes::of(elem, true, target)).is_none()
    };
    let is_short = lanes <= widest(target) / elem.size() as i64;
    let has_vectors = is_short && l.hints.prefetch.is_empty();
    (has_vectors && statements.iter().all(fits)).then_some(elem)
}

/// The type of the largest elements that a loop sets, which its vectors fill registers with; `None` if
/// it cannot run in vectors.
pub(crate) fn elem_of(l: &Loop, target: &Target) -> Option<Elem> {
    if let Some(lanes) = block_of_row(l) {
        return elem_of_block(l, lanes, target);
    }
    let elem = largest(&l.body)?;
    let is_affine = l.range.within.is_none() && l.range.step == 1;
    let plain = is_affine && l.hints.prefetch.is_empty();
    // Vectors are no longer than the longest register.
    let longest = (widest(target) / elem.size() as i64).min(16);
    let has_lanes = |n: i64| (2..=longest).contains(&n) && n.count_ones() == 1;
    let lanes = Lanes::of(elem, is_single(l, elem, target), target);
    let fits = |tree: &Tree| match tree {
        Tree::Stmt(s) => is_vector_statement(s, &l.name, &lanes),
        _ => false,
    };
    let fits = plain && l.lanes().is_none_or(has_lanes) && l.body.iter().all(fits);
    fits.then_some(elem)
}

/// The type of the largest elements that statements set: that of the first of these.
fn largest(trees: &[Tree]) -> Option<Elem> {
    let elems = trees.iter().filter_map(|tree| match tree {
        Tree::Stmt(s) => Some(s.target.elem()),
        _ => None,
    });
    elems.reduce(|a, b| if b.size() > a.size() { b } else { a })
}

/// Whether a loop has no more iterations than a register has lanes.
fn is_single(l: &Loop, elem: Elem, target: &Target) -> bool {
    trips(l).is_some_and(|trips| trips <= widest(target) / elem.size() as i64)
}

/// Why a loop does not run in vectors of the target, for readers.
pub(crate) fn why_not(l: &Loop, target: &Target) -> String {
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
    if let Some(elem) = largest(&l.body) {
        let lanes = Lanes::of(elem, is_single(l, elem, target), target);
        for tree in &l.body {
            if let Tree::Stmt(s) = tree
                && let Some(reason) = obstacle(s, &l.name, &lanes)
            {
                return reason;
            }
        }
    }
    let lanes = l.lanes().unwrap_or_default();
    format!(
        "{lanes} lanes do not fit a vector of {} bytes",
        widest(target)
    )
}

/// The lanes of a loop's vectors.
pub(super) struct Lanes {
    /// The largest elements that the loop sets.
    elem: Elem,
    /// Whether there is only one vector: its lanes may be apart in memory. They are then gathered and
    /// scattered.
    single: bool,
    /// Whether there are products of 64-bit integers.
    has_wide_products: bool,
    /// Whether there are lanes of integers.
    has_integers: bool,
}

impl Lanes {
    pub(super) fn of(elem: Elem, single: bool, target: &Target) -> Lanes {
        Lanes {
            elem,
            single,
            has_wide_products: target.instructions.has_wide_products(),
            has_integers: target.instructions.compares_integers(),
        }
    }
}

/// Whether a statement can run in vectors.
pub(super) fn is_vector_statement(s: &Stmt, lane: &Name, lanes: &Lanes) -> bool {
    obstacle(s, lane, lanes).is_none()
}

/// Why a statement cannot run in vectors, if anything prevents that.
fn obstacle(s: &Stmt, lane: &Name, lanes: &Lanes) -> Option<String> {
    match neighbors(&s.index, lane) {
        None if !lanes.single => Some(apart(&s.target, &s.index, lane)),
        Some(false) => Some(format!(
            "all iterations set {}",
            element(&s.target, &s.index)
        )),
        _ => without_operations(s, lane, lanes),
    }
}

/// Why what a statement computes has no vector instructions, if that is so.
fn without_operations(s: &Stmt, lane: &Name, lanes: &Lanes) -> Option<String> {
    if !s.target.elem().is_float() && !lanes.has_integers {
        return Some("its instructions do not compare vectors of i64".to_owned());
    }
    let own = |op| without_instruction(op, s.target.elem(), None, lanes);
    let own = s.update.and_then(own);
    own.or_else(|| missing(&s.value, (lane, s.target.elem()), lanes))
}

fn element(tensor: &Tensor, index: &[Affine]) -> String {
    let index: String = index.iter().map(|a| format!("[{a}]")).collect();
    format!("{}{index}", tensor.label())
}

fn apart(tensor: &Tensor, index: &[Affine], lane: &Name) -> String {
    format!("{} is not unit-stride in {lane}", element(tensor, index))
}

/// Why a value cannot be a vector in a statement that sets elements of type `set`, if anything prevents
/// that. Lanes of `i64` beside shorter elements are left to compilers, which know more about the values
/// of indices than their type says. Masks of `f64` beside shorter integers would fill two registers, and
/// compilers convert them one lane after the other. Integers do not depend on values computed in
/// parts of registers, since compilers fill whole ones.
fn missing(e: &Expr, (lane, set): (&Name, Elem), lanes: &Lanes) -> Option<String> {
    if is_uniform(e, lane) {
        return None;
    }
    let elem = e.elem();
    let is_left = elem == Elem::I64 || !set.is_float();
    if is_left && lanes.elem.size() < elem.size() {
        return Some(format!("its vectors of {set} have no lanes of {elem}"));
    }
    if !set.is_float() && elem.size() < set.size() && is_computed(e) {
        return Some(format!(
            "{elem} would fill a part of a register beside {set}"
        ));
    }
    let any = |args: &[Expr]| args.iter().find_map(|e| missing(e, (lane, set), lanes));
    match e.node() {
        Node::Access { tensor, index } => match index {
            Index::At(index) if !lanes.single && neighbors(index, lane).is_none() => {
                Some(apart(tensor, index, lane))
            }
            _ => None,
        },
        Node::Constant(_) | Node::Index(_) => None,
        Node::Binary {
            op, left, right, ..
        } => {
            let own = without_instruction(*op, elem, Some(right), lanes);
            own.or_else(|| {
                [left, right]
                    .into_iter()
                    .find_map(|e| missing(e, (lane, set), lanes))
            })
        }
        Node::Apply { function, args, .. } => match (function, args.as_slice()) {
            (Function::Select(_), [left, right, values @ ..])
                if affine(left).is_some() && affine(right).is_some() =>
            {
                any(values)
            }
            // Lanes of 32 bits count as well, and wrap.
            (Function::Cast(Elem::I32), [arg]) if affine(arg).is_some() => None,
            // Vector instructions do not saturate numbers beyond the range of integers.
            (Function::Cast(_), [arg]) if arg.elem().is_float() && !elem.is_float() => {
                Some(format!(
                    "no vector instruction converts {} to {elem} and saturates",
                    arg.elem()
                ))
            }
            _ => any(args),
        },
        _ => Some("its values have no vector operations".to_owned()),
    }
}

/// Whether a value is more than read, compared, chosen or converted.
fn is_computed(e: &Expr) -> bool {
    match e.node() {
        Node::Binary { .. } => true,
        Node::Apply { function, .. } => {
            !matches!(function, Function::Select(_) | Function::Cast(_))
        }
        _ => false,
    }
}

/// Why an operation on integers has no vector instruction, if that is so.
fn without_instruction(
    op: BinaryOp,
    elem: Elem,
    right: Option<&Expr>,
    lanes: &Lanes,
) -> Option<String> {
    let what = match op {
        _ if elem.is_float() => None,
        BinaryOp::Div => Some("divides"),
        BinaryOp::Mod if right.and_then(mask).is_none() => Some("computes remainders of"),
        BinaryOp::Mul if elem == Elem::I64 && !lanes.has_wide_products => Some("multiplies"),
        _ => None,
    }?;
    Some(format!(
        "no vector instruction {what} elements of type {elem}"
    ))
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
