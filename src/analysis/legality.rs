//! Whether loops may run in parallel or in vector lanes: the one authority.
//!
//! A loop is independent when no two of its iterations touch the same element of a tensor that
//! one of them writes. For each pair of accesses one dimension suffices in which their indices
//! differ for all pairs of iterations. An index there is written as c*x + (what both share) +
//! (what varies inside); inner iterators stand as their lower bound plus a bounded rest, so that
//! the blocks of a stripmined loop come out disjoint.
//!
//! The answer "independent" is a proof. The answer "race" names two iterations that the test
//! could not keep apart; indices that couple several iterators can make it too careful.

use super::bounds::Bounds;
use crate::ir::{Affine, BinaryOp, Index, Loop, Name, Nest, Stmt, Tensor, Tree};

/// Two iterations of a parallel or vector loop that touch one element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The loop.
    pub name: Name,
    /// Whether the loop is parallel; else it is vector.
    pub parallel: bool,
    /// What one iteration writes.
    pub write: String,
    /// What the other one writes or reads.
    pub other: String,
    /// Whether the other access writes, too.
    pub both_write: bool,
    /// The two values of the iterator.
    pub iterations: (i64, i64),
    /// The operation of the update that both are, if the loop carries a reduction.
    pub reduction: Option<BinaryOp>,
}

impl std::fmt::Display for Race {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Race {
            name,
            write,
            other,
            iterations: (a, b),
            ..
        } = self;
        let mode = if self.parallel { "parallel" } else { "vector" };
        let verb = if self.both_write { "writes" } else { "reads" };
        write!(
            f,
            "loop `{name}` cannot be {mode}: iteration {name} = {a} writes {write}, and \
             iteration {name} = {b} {verb} {other}, which can be the same element"
        )
    }
}

/// The first parallel or vector loop with dependent iterations, outermost first.
pub fn race(nest: &Nest) -> Option<Race> {
    let loops = nest.loops();
    loops
        .into_iter()
        .filter(|(_, l)| l.parallel || l.vector)
        .find_map(|(outer, l)| {
            let mut accesses = Vec::new();
            let outside = Bounds::around(nest, outer.iter().copied());
            let mut inside = outside.clone();
            inside.enter(l);
            collect(&l.body, &mut Vec::new(), &inside, &mut accesses);
            let (low, high) = inside.get(&l.name)?;
            let span = offset_form(l, &outside).map_or(high - low, |(_, rest)| rest);
            pair_race(l, span, low, &accesses)
        })
}

/// The largest distance between iterations up to which all are tried.
const MAX_DISTANCE: i64 = 1 << 20;

struct Access<'a> {
    tensor: &'a Tensor,
    /// For each dimension the index in terms of the loop under test, outer iterators and rests.
    index: Vec<Relative>,
    write: bool,
    update: Option<BinaryOp>,
    text: String,
}

/// An index: affine in iterators that are not inner ones, plus an interval.
struct Relative {
    base: Affine,
    low: i64,
    high: i64,
}

/// An iterator of a loop inside the one under test.
struct Inner {
    name: Name,
    /// Its lower bound and the most that it lies above it; `None` where that is not known.
    form: Option<(Affine, i64)>,
    /// The most that it lies above the base of its lower bound. All upper bounds count here, so
    /// that a block within a block stays within the outer one.
    cap: i64,
}

impl Inner {
    fn new(l: &Loop, inner: &[Inner], around: &Bounds) -> Inner {
        let (name, form) = (l.name.clone(), offset_form(l, around));
        let mut cap = i64::MAX;
        if let Some((lower, _)) = &form {
            let base = relative(lower, inner).base;
            for upper in l.range.upper.iter().map(|u| relative(u, inner)) {
                if let Some(apart) = upper.base.minus(&base).as_constant() {
                    cap = cap.min(apart.saturating_add(upper.high).saturating_sub(1));
                }
            }
        }
        Inner { name, form, cap }
    }
}

fn collect<'a>(
    trees: &'a [Tree],
    inner: &mut Vec<Inner>,
    bounds: &Bounds,
    found: &mut Vec<Access<'a>>,
) {
    for tree in trees {
        match tree {
            Tree::Loop(l) => {
                let mut inside = bounds.clone();
                inside.enter(l);
                inner.push(Inner::new(l, inner, bounds));
                collect(&l.body, inner, &inside, found);
                inner.pop();
            }
            Tree::Stmt(s) => collect_stmt(s, inner, found),
            Tree::Fill(fill) => {
                let index = fill.region.iter().map(|(low, extent)| {
                    let mut relative = relative(low, inner);
                    relative.high = relative.high.saturating_add_unsigned(extent - 1);
                    relative
                });
                found.push(Access {
                    tensor: &fill.target,
                    index: index.collect(),
                    write: true,
                    update: None,
                    text: fill.to_string(),
                });
            }
        }
    }
}

fn collect_stmt<'a>(s: &'a Stmt, inner: &[Inner], found: &mut Vec<Access<'a>>) {
    let mut add = |tensor: &'a Tensor, index: &[Affine], write: bool, update| {
        let shown: Vec<String> = index.iter().map(|a| format!("[{a}]")).collect();
        found.push(Access {
            tensor,
            index: index.iter().map(|a| relative(a, inner)).collect(),
            write,
            update,
            text: format!("{}{}", tensor.label(), shown.concat()),
        });
    };
    add(&s.target, &s.index, true, s.update);
    s.value.for_each_access(&mut |tensor, index| match index {
        Index::At(index) => add(tensor, index, false, None),
        _ => add(tensor, &[], false, None),
    });
}

/// The inner loop's iterator as its lower bound plus at most a constant.
fn offset_form(l: &Loop, around: &Bounds) -> Option<(Affine, i64)> {
    let [lower] = l.range.lower.as_slice() else {
        return None;
    };
    let extents = l.range.upper.iter().map(|u| u.minus(lower));
    let extent = extents.filter_map(|e| Some(around.interval(&e)?.1)).min()?;
    Some((lower.clone(), (extent - 1).max(0)))
}

/// Replaces inner iterators, the innermost first.
fn relative(index: &Affine, inner: &[Inner]) -> Relative {
    let (mut base, mut low, mut high) = (index.clone(), 0i64, 0i64);
    for Inner { name, form, .. } in inner.iter().rev() {
        let c = base.coefficient(name);
        if c == 0 {
            continue;
        }
        let (lower, rest) = match form {
            Some((lower, rest)) => (lower.clone(), *rest),
            None => (Affine::constant(0), i64::MAX / 4),
        };
        base = base.substitute(&|n| (n == name).then(|| lower.clone()));
        let reach = c.saturating_mul(rest);
        low = low.saturating_add(reach.min(0));
        high = high.saturating_add(reach.max(0));
        if form.is_none() {
            low = low.saturating_sub(i64::MAX / 4);
        }
    }
    let mut occurring = inner.iter().filter(|i| index.mentions(&i.name));
    if let (Some(Inner { name, cap, .. }), None) = (occurring.next(), occurring.next()) {
        let c = index.coefficient(name);
        let reach = c.saturating_mul(*cap);
        match c > 0 {
            true => high = high.min(reach),
            false => low = low.max(reach),
        }
    }
    Relative { base, low, high }
}

fn pair_race(l: &Loop, span: i64, first: i64, accesses: &[Access]) -> Option<Race> {
    for (k, write) in accesses.iter().enumerate().filter(|(_, a)| a.write) {
        for (m, other) in accesses.iter().enumerate() {
            let same_tensor = write.tensor.name() == other.tensor.name();
            if !same_tensor || (other.write && m < k) {
                continue;
            }
            let Some(distance) = common_distance(l, span, write, other) else {
                continue;
            };
            let start = if distance < 0 {
                first - distance
            } else {
                first
            };
            return Some(Race {
                name: l.name.clone(),
                parallel: l.parallel,
                write: write.text.clone(),
                other: other.text.clone(),
                both_write: other.write,
                iterations: (start, start + distance),
                reduction: write.update.filter(|_| k == m),
            });
        }
    }
    None
}

/// The least distance between two iterations that no dimension rules out.
fn common_distance(l: &Loop, span: i64, write: &Access, other: &Access) -> Option<i64> {
    let mut allowed: Vec<(i64, i64, i64)> = Vec::new();
    for (a, b) in write.index.iter().zip(&other.index) {
        let (ca, cb) = (a.base.coefficient(&l.name), b.base.coefficient(&l.name));
        let shared = |base: &Affine, c: i64| base.minus(&Affine::iterator(l.name.clone()).times(c));
        let apart = shared(&b.base, cb)
            .minus(&shared(&a.base, ca))
            .as_constant();
        // Indices that move differently rule nothing out.
        let (Some(apart), true) = (apart, ca == cb) else {
            continue;
        };
        let low = apart.saturating_add(b.low).saturating_sub(a.high);
        let high = apart.saturating_add(b.high).saturating_sub(a.low);
        allowed.push((ca, low, high));
    }
    // The elements can be the same at distance d when c*d + [low, high] contains 0 everywhere.
    let possible = |d: i64| {
        allowed.iter().all(|(c, low, high)| {
            let moved = c.saturating_mul(d);
            moved.saturating_add(*low) <= 0 && moved.saturating_add(*high) >= 0
        })
    };
    // Only distances up to where the narrowest moving dimension separates need to be tried.
    let reach = allowed
        .iter()
        .filter(|(c, ..)| *c != 0)
        .map(|(c, low, high)| low.saturating_abs().max(high.saturating_abs()) / c.abs())
        .min()
        .unwrap_or(1)
        .min(span);
    // Too many to try: not proved, hence a race.
    if reach > MAX_DISTANCE {
        return Some(1);
    }
    (1..=reach).flat_map(|d| [d, -d]).find(|d| possible(*d))
}
