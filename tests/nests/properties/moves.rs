//! Random steps.
//!
//! Tests that execute nests without proving them need sequences that are legal by construction. In
//! their programs, any order of the iterations of one statement computes the same. Moves that bring
//! loops together are left out if one statement reads what another one writes. All other moves keep
//! the order of statements in an iteration. Consumers read results of the same iteration or of an
//! earlier nest.

use proptest::prelude::*;
use teml::analysis::bounds::extent;
use teml::ir::{Expr, Loop, Nest, Schedule, Tensor, Tree};
use teml::transform::nest::annotate::ANNOTATE;
use teml::transform::nest::at::{AT, focus};
use teml::transform::nest::build::BUILD;
use teml::transform::nest::distribute::DISTRIBUTE;
use teml::transform::nest::fuse::FUSE;
use teml::transform::nest::fuse_inner::FUSE_INNER;
use teml::transform::nest::fuse_outer::FUSE_OUTER;
use teml::transform::nest::interchange::INTERCHANGE;
use teml::transform::nest::isolate::ISOLATE;
use teml::transform::nest::localize::LOCALIZE;
use teml::transform::nest::mode::{PARALLELIZE, VECTORIZE};
use teml::transform::nest::move_before::MOVE_BEFORE;
use teml::transform::nest::pack::PACK;
use teml::transform::nest::pad::PAD;
use teml::transform::nest::pad_buffer::PAD_BUFFER;
use teml::transform::nest::panels::PANELS;
use teml::transform::nest::peel::PEEL;
use teml::transform::nest::place_init::PLACE_INIT;
use teml::transform::nest::plain_loops::PLAIN_LOOPS;
use teml::transform::nest::prefetch::PREFETCH;
use teml::transform::nest::rename::RENAME;
use teml::transform::nest::reorder::REORDER;
use teml::transform::nest::reverse::REVERSE;
use teml::transform::nest::rfactor::RFACTOR;
use teml::transform::nest::scan::SCAN;
use teml::transform::nest::separate::SEPARATE;
use teml::transform::nest::shift::SHIFT;
use teml::transform::nest::skew::SKEW;
use teml::transform::nest::slabs::SLABS;
use teml::transform::nest::split_at::SPLIT_AT;
use teml::transform::nest::stage::STAGE;
use teml::transform::nest::stream::STREAM;
use teml::transform::nest::stripmine::STRIPMINE;
use teml::transform::nest::tighten::TIGHTEN;
use teml::transform::nest::unroll::UNROLL;
use teml::transform::nest::unroll_and_jam::UNROLL_AND_JAM;
use teml::transform::trace::{Calls, script};
use teml::transform::{Arg, Class, Error, LoopRef, Op, Value, apply};

/// A step, as numbers that are fitted to whatever nest it meets.
#[derive(Clone, Debug)]
pub enum Move {
    Stripmine(usize, i64, &'static str),
    Pad(usize, i64),
    Interchange(usize, usize),
    Reorder(Vec<usize>),
    Rename(usize),
    Reverse(usize),
    Shift(usize, i64),
    Skew(usize, usize, i64),
    /// Slabs: around a loop, along lines through it and an inner one, with this size.
    Slabs(usize, usize, i64, i64),
    Peel(usize, i64, &'static str),
    SplitAt(usize, i64),
    Distribute(usize),
    /// A loop after another one in the same body, which changes places with it.
    Before(usize),
    PlainLoops,
    /// A loop and the next one, which is shifted to start this much later.
    Fuse(usize, i64, bool),
    /// Of the loops that hold guards.
    Separate(usize),
    Isolate(usize),
    Tighten,
    Unroll(usize),
    UnrollBy(usize, i64),
    /// Into a loop, or before all of them.
    PlaceInit(Option<usize>),
    /// In a loop, or in the nest; which tensor, and how its dimensions are rotated.
    Pack(Option<usize>, usize, usize),
    /// In a loop, or in the nest; which tensor.
    Stage(Option<usize>, usize),
    /// Which tensor.
    Localize(usize),
    /// Which of the local tensors, the multiple and the extra elements of its rows.
    PadBuffer(usize, i64, i64),
    /// Which of the local tensors, which dimension, and the size of its panels.
    Panels(usize, i64, i64),
    /// Partial results of a reduction.
    Rfactor(usize),
    /// Blocks of a running reduction.
    Scan(usize),
    Parallelize(usize, Vec<(&'static str, Arg)>),
    Vectorize(usize, Option<i64>),
    /// One of the tensors.
    Prefetch(usize, usize, i64),
    /// One of the tensors.
    Stream(usize, usize),
    PrefetchShares(usize, usize, usize, i64),
    Annotate(usize),
    FuseInner(usize),
    UnrollAndJam(usize, i64),
    /// Unrolls in full, and fuses the copies of the loops inside.
    UnrollAndFuse(usize),
    /// A move on one loop as if it were a nest.
    At(usize, Box<Move>),
}

/// This many moves.
pub fn moves(count: impl Into<prop::collection::SizeRange>) -> impl Strategy<Value = Vec<Move>> {
    let tail = prop::sample::select(vec!["guard", "grid", "aligned", "cut", "exact"]);
    let end = prop::sample::select(vec!["front", "back", "rest"]);
    let order = prop::collection::vec(0..12usize, 0..4);
    let l = 0..12usize;
    let how = |collapse| {
        vec![
            ("collapse", Arg::Int(collapse)),
            ("schedule", word(Schedule::Dynamic.word())),
            ("chunk", Arg::Int(3)),
            ("threshold", Arg::Int(5)),
            ("work", Arg::Int(50)),
        ]
    };
    let how = (1..4i64).prop_flat_map(move |n| prop::sample::subsequence(how(n), 0..=5));
    let lanes = prop::sample::select(vec![None, Some(2), Some(8)]);
    let one = prop_oneof![
        3 => (l.clone(), 1..6i64, tail).prop_map(|(l, f, t)| Move::Stripmine(l, f, t)),
        2 => (l.clone(), 1..6i64).prop_map(|(l, n)| Move::Pad(l, n)),
        2 => (l.clone(), l.clone()).prop_map(|(a, b)| Move::Interchange(a, b)),
        2 => order.prop_map(Move::Reorder),
        1 => l.clone().prop_map(Move::Rename),
        2 => l.clone().prop_map(Move::Reverse),
        1 => (l.clone(), -3..4i64).prop_map(|(l, by)| Move::Shift(l, by)),
        2 => (l.clone(), l.clone(), -2..3i64).prop_map(|(a, b, by)| Move::Skew(a, b, by)),
        2 => (l.clone(), l.clone(), -2..3i64, 1..6i64)
            .prop_map(|(a, b, by, size)| Move::Slabs(a, b, by, size)),
        2 => (l.clone(), 1..4i64, end).prop_map(|(l, n, e)| Move::Peel(l, n, e)),
        2 => (l.clone(), -2..12i64).prop_map(|(l, at)| Move::SplitAt(l, at)),
        2 => l.clone().prop_map(Move::Distribute),
        2 => l.clone().prop_map(Move::Before),
        1 => Just(Move::PlainLoops),
        4 => (l.clone(), -2..3i64, any::<bool>())
            .prop_map(|(l, by, guard)| Move::Fuse(l, by, guard)),
        3 => l.clone().prop_map(Move::Separate),
        2 => l.clone().prop_map(Move::Isolate),
        2 => Just(Move::Tighten),
        1 => l.clone().prop_map(Move::Unroll),
        2 => (l.clone(), 1..5i64).prop_map(|(l, f)| Move::UnrollBy(l, f)),
        2 => (l.clone(), 1..5i64).prop_map(|(l, f)| Move::UnrollAndJam(l, f)),
        3 => prop::option::weighted(0.8, l.clone()).prop_map(Move::PlaceInit),
        4 => (prop::option::weighted(0.9, l.clone()), 0..6usize, 0..3usize)
            .prop_map(|(l, t, by)| Move::Pack(l, t, by)),
        4 => (prop::option::weighted(0.9, l.clone()), 0..6usize)
            .prop_map(|(l, t)| Move::Stage(l, t)),
        2 => (0..6usize).prop_map(Move::Localize),
        2 => (0..6usize, 1..6i64, 0..4i64).prop_map(|(t, n, by)| Move::PadBuffer(t, n, by)),
        2 => (0..6usize, 1..=3i64, 1..=4i64).prop_map(|(t, d, n)| Move::Panels(t, d, n)),
        3 => l.clone().prop_map(Move::Rfactor),
        2 => l.clone().prop_map(Move::Scan),
        2 => (l.clone(), how).prop_map(|(l, how)| Move::Parallelize(l, how)),
        1 => (l.clone(), lanes).prop_map(|(l, n)| Move::Vectorize(l, n)),
        1 => (l.clone(), 0..9usize, 1..9i64).prop_map(|(l, t, by)| Move::Prefetch(l, t, by)),
        1 => (l.clone(), 0..3usize).prop_map(|(l, t)| Move::Stream(l, t)),
        1 => (l.clone(), l.clone(), 0..9usize, 1..3i64)
            .prop_map(|(l, inner, t, by)| Move::PrefetchShares(l, inner, t, by)),
        1 => l.clone().prop_map(Move::Annotate),
        1 => (0..6usize).prop_map(Move::FuseInner),
        1 => l.prop_map(Move::UnrollAndFuse),
    ];
    let at = (0..12usize, one.clone()).prop_map(|(l, inner)| Move::At(l, Box::new(inner)));
    prop::collection::vec(prop_oneof![9 => one, 1 => at], count)
}

impl Move {
    /// Whether it may run iterations of different statements in another order.
    pub fn mixes_statements(&self) -> bool {
        match self {
            Move::Fuse(..) | Move::FuseInner(_) | Move::UnrollAndFuse(_) | Move::Before(_) => true,
            Move::At(_, inner) => inner.mixes_statements(),
            _ => false,
        }
    }
}

impl Move {
    /// Whether a loop runs backwards.
    pub fn reverses(&self) -> bool {
        match self {
            Move::Reverse(_) => true,
            Move::At(_, inner) => inner.reverses(),
            _ => false,
        }
    }

    /// Whether statements change places.
    fn reorders_statements(&self) -> bool {
        match self {
            Move::Distribute(_) | Move::Before(_) | Move::UnrollAndJam(..) => true,
            Move::At(_, inner) => inner.reorders_statements(),
            other => other.mixes_statements(),
        }
    }
}

fn word(text: &str) -> Arg {
    Arg::Word(text.to_owned())
}

/// A call that scripts write as `nest.op(args)`.
pub fn call<const N: usize>(nest: &Nest, op: &'static Op, args: [Arg; N]) -> Result<Nest, Error> {
    let args: Vec<Arg> = [Arg::Nest(nest.clone())].into_iter().chain(args).collect();
    as_nest(apply(op, &args, None))
}

fn as_nest(result: Result<Value, Error>) -> Result<Nest, Error> {
    match result {
        Ok(Value::Nest(nest)) => Ok(nest),
        Ok(Value::Expr(_)) => panic!("an expression"),
        Err(e) => {
            assert!(e.class != Class::Bug, "{e}");
            Err(e)
        }
    }
}

/// `build(assignment)`.
pub fn built(assignment: &Expr) -> Nest {
    as_nest(apply(&BUILD, &[Arg::Expr(assignment.clone())], None)).expect("recipes build")
}

/// `fuse_outer(first, second, level)`.
pub fn fused(first: &Nest, second: &Nest, level: i64) -> Result<Nest, Error> {
    call(
        first,
        &FUSE_OUTER,
        [Arg::Nest(second.clone()), Arg::Int(level)],
    )
}

/// The script that makes a nest, and the nest.
pub fn reproduction(nest: &Nest) -> String {
    let script = script(nest, Calls::Unfolded).unwrap_or_else(|e| e.to_string());
    format!("{script}\n\n{nest}")
}

/// Applies a move. Loops are chosen by name and, every other time, by level.
pub fn step(nest: &Nest, chosen: &Move) -> Result<Nest, Error> {
    let loops = nest.loops();
    let reference = |k: usize| -> LoopRef {
        match loops.len() {
            0 => LoopRef::Level(1),
            n if k.is_multiple_of(2) => LoopRef::Name(loops[k / 2 % n].1.name.to_string()),
            n => LoopRef::Level((k / 2 % n) as i64 + 1),
        }
    };
    let pick = |k: &usize| Arg::Loop(reference(*k));
    let int = |n: &i64| Arg::Int(*n);
    let scope = |l: &Option<usize>| Arg::Loop(l.map_or(LoopRef::Level(0), reference));
    let tensor = |k: &usize| -> Tensor {
        let locals = nest.locals().into_iter().cloned();
        let tensors: Vec<Tensor> = nest.tensors().into_iter().chain(locals).collect();
        tensors[k % tensors.len()].clone()
    };
    match chosen {
        // Loads and stores of buffers have to stay in order.
        moved if moved.reorders_statements() && !nest.locals().is_empty() => Ok(nest.clone()),
        Move::Pack(l, t, by) => {
            let tensor = tensor(t);
            let mut order: Vec<i64> = (1..=tensor.shape().rank() as i64).collect();
            let by = by % order.len().max(1);
            order.rotate_left(by);
            let args = [scope(l), word(tensor.label()), Arg::Order(order)];
            call(nest, &PACK, args)
        }
        Move::Stage(l, t) => call(nest, &STAGE, [scope(l), word(tensor(t).label())]),
        // Partial results without terms are not proved to add nothing.
        Move::Rfactor(_) if loops.iter().any(|(_, l)| l.name.as_str().contains("_g")) => {
            Ok(nest.clone())
        }
        Move::Rfactor(l) => call(nest, &RFACTOR, [pick(l)]),
        Move::Scan(l) => call(nest, &SCAN, [pick(l)]),
        Move::PadBuffer(t, multiple, extra) => {
            let locals = nest.locals();
            // Without any, it is refused.
            let label = locals
                .get(t % locals.len().max(1))
                .map_or("", |t| t.label());
            let how = [("multiple", *multiple), ("extra", *extra)];
            let how = how.map(|(name, value)| (name.to_owned(), Arg::Int(value)));
            call(nest, &PAD_BUFFER, [word(label), Arg::Options(how.to_vec())])
        }
        Move::Panels(t, dimension, size) => {
            let locals = nest.locals();
            let label = locals
                .get(t % locals.len().max(1))
                .map_or("", |t| t.label());
            call(nest, &PANELS, [word(label), int(dimension), int(size)])
        }
        Move::Localize(t) => call(nest, &LOCALIZE, [word(tensor(t).label())]),
        Move::Stripmine(l, factor, tail) => {
            call(nest, &STRIPMINE, [pick(l), int(factor), word(tail)])
        }
        Move::Pad(l, multiple) => call(nest, &PAD, [pick(l), int(multiple)]),
        Move::Interchange(a, b) => call(nest, &INTERCHANGE, [pick(a), pick(b)]),
        Move::Reorder(order) => {
            let order = order.iter().map(|l| reference(*l)).collect();
            call(nest, &REORDER, [Arg::Loops(order)])
        }
        Move::Rename(l) => call(nest, &RENAME, [pick(l)]),
        Move::Reverse(l) => call(nest, &REVERSE, [pick(l)]),
        Move::Shift(l, amount) => call(nest, &SHIFT, [pick(l), int(amount)]),
        Move::Skew(inner, outer, by) => call(nest, &SKEW, [pick(inner), pick(outer), int(by)]),
        Move::Slabs(outer, inner, by, size) => {
            let outer = loops.get(outer % loops.len().max(1));
            let outer = outer.map_or(String::new(), |(_, l)| l.name.to_string());
            let factors = Arg::Options(vec![(outer.clone(), int(by))]);
            let listed = Arg::Loops(vec![reference(*inner)]);
            let outer = Arg::Loop(LoopRef::Name(outer));
            call(nest, &SLABS, [outer, listed, factors, int(size)])
        }
        // Two of three iterations are a block that stays.
        Move::Peel(l, 3, "rest") => call(nest, &PEEL, [pick(l), int(&3), word("rest"), int(&2)]),
        Move::Peel(l, count, end) => call(nest, &PEEL, [pick(l), int(count), word(end)]),
        Move::SplitAt(l, at) => call(nest, &SPLIT_AT, [pick(l), word(&at.to_string())]),
        Move::Distribute(l) => {
            let several: Vec<&Loop> = loops.iter().map(|(_, l)| *l).collect();
            let several: Vec<&Loop> = several.into_iter().filter(|l| l.body.len() > 1).collect();
            match several.get(l % several.len().max(1)) {
                Some(chosen) => call(nest, &DISTRIBUTE, [by_name(chosen)]),
                None => call(nest, &DISTRIBUTE, [pick(l)]),
            }
        }
        // A loop's initialization has to stay in front of it.
        Move::Before(_) if initializes_inside(nest.trees(), 0) => Ok(nest.clone()),
        Move::Before(l) => match neighbors(nest, *l) {
            Some([first, second]) => call(nest, &MOVE_BEFORE, [by_name(second), by_name(first)]),
            None => call(nest, &MOVE_BEFORE, [pick(l), pick(&(l + 1))]),
        },
        Move::PlainLoops => call(nest, &PLAIN_LOOPS, []),
        Move::Isolate(l) => call(nest, &ISOLATE, [pick(l)]),
        Move::Tighten => call(nest, &TIGHTEN, []),
        // An iteration that is shifted past the initialization of another loses its result.
        Move::Fuse(..) if initializes_inside(nest.trees(), 0) => Ok(nest.clone()),
        Move::Fuse(l, later, guard) => match neighbors(nest, *l) {
            Some([first, second]) => {
                let start = |l: &Loop| Some(extent(&l.range)?.0);
                let apart = start(first).zip(start(second)).map(|(a, b)| a.minus(&b));
                let by = apart.and_then(|a| a.as_constant()).unwrap_or(0) + later;
                let shifted = call(nest, &SHIFT, [by_name(second), Arg::Int(by)])?;
                let ends = word(if *guard { "guard" } else { "peel" });
                call(&shifted, &FUSE, [by_name(first), by_name(second), ends])
            }
            None => call(nest, &FUSE, [pick(l), pick(&(l + 2))]),
        },
        Move::Separate(l) => {
            let guards = |name: &str| loops.iter().any(|(_, g)| g.name.as_str().starts_with(name));
            let guarded = |l: &Loop| guards(&format!("{}_g", l.name));
            let guarded: Vec<&Loop> = loops
                .iter()
                .map(|(_, l)| *l)
                .filter(|l| guarded(l))
                .collect();
            match guarded.get(l % guarded.len().max(1)) {
                Some(chosen) => call(nest, &SEPARATE, [by_name(chosen)]),
                None => call(nest, &SEPARATE, [pick(l)]),
            }
        }
        Move::Unroll(l) => call(nest, &UNROLL, [pick(l)]),
        Move::UnrollBy(l, factor) => call(nest, &UNROLL, [pick(l), int(factor)]),
        Move::PlaceInit(Some(l)) => call(nest, &PLACE_INIT, [pick(l)]),
        Move::PlaceInit(None) => call(nest, &PLACE_INIT, [Arg::Loop(LoopRef::Level(0))]),
        Move::UnrollAndJam(l, factor) => call(nest, &UNROLL_AND_JAM, [pick(l), int(factor)]),
        Move::Parallelize(l, how) if how.is_empty() => call(nest, &PARALLELIZE, [pick(l)]),
        Move::Parallelize(l, how) => {
            let how = how
                .iter()
                .map(|(name, arg)| ((*name).to_owned(), arg.clone()));
            call(nest, &PARALLELIZE, [pick(l), Arg::Options(how.collect())])
        }
        Move::Vectorize(l, None) => call(nest, &VECTORIZE, [pick(l)]),
        Move::Vectorize(l, Some(lanes)) => call(nest, &VECTORIZE, [pick(l), int(lanes)]),
        Move::Prefetch(l, tensor, distance) => {
            let tensors = nest.tensors();
            let tensor = Expr::of_tensor(tensors[tensor % tensors.len()].clone());
            call(nest, &PREFETCH, [pick(l), Arg::Expr(tensor), int(distance)])
        }
        Move::Stream(l, tensor) => {
            let tensors = nest.tensors();
            let tensor = Expr::of_tensor(tensors[tensor % tensors.len()].clone());
            call(nest, &STREAM, [pick(l), Arg::Expr(tensor)])
        }
        Move::PrefetchShares(l, inner, tensor, distance) => {
            let tensors = nest.tensors();
            let tensor = Expr::of_tensor(tensors[tensor % tensors.len()].clone());
            let args = [pick(l), Arg::Expr(tensor), int(distance), pick(inner)];
            call(nest, &PREFETCH, args)
        }
        Move::Annotate(l) => call(nest, &ANNOTATE, [pick(l), word("for (;;) // \"x\" * 2")]),
        // Loops may initialize what loops before or after them update, in another order.
        Move::FuseInner(_) if initializes_inside(nest.trees(), 0) => Ok(nest.clone()),
        Move::FuseInner(level) => call(
            nest,
            &FUSE_INNER,
            [Arg::Loop(LoopRef::Level(*level as i64))],
        ),
        Move::UnrollAndFuse(l) => {
            let level = pick(&(l | 1));
            let unrolled = call(nest, &UNROLL, [level.clone()])?;
            call(&unrolled, &FUSE_INNER, [level])
        }
        Move::At(l, inner) => {
            let part = step(&focus(nest, &reference(*l))?, inner)?;
            let steps = Arg::Steps(part.path().clone());
            call(nest, &AT, [pick(l), steps])
        }
    }
}

fn by_name(l: &Loop) -> Arg {
    Arg::Loop(LoopRef::Name(l.name.to_string()))
}

/// Whether a loop holds an initialization.
fn initializes_inside(trees: &[Tree], depth: usize) -> bool {
    trees.iter().any(|tree| match tree {
        Tree::Loop(l) => initializes_inside(&l.body, depth + 1),
        Tree::Fill(_) => depth > 0,
        Tree::Stmt(_) | Tree::Local(_) => false,
    })
}

/// Two loops next to each other, if there are such.
fn neighbors(nest: &Nest, chosen: usize) -> Option<[&Loop; 2]> {
    fn collect<'a>(trees: &'a [Tree], found: &mut Vec<[&'a Loop; 2]>) {
        for pair in trees.windows(2) {
            if let [Tree::Loop(a), Tree::Loop(b)] = pair {
                found.push([&**a, &**b]);
            }
        }
        let loops = trees.iter().filter_map(Tree::as_loop);
        loops.for_each(|l| collect(&l.body, found));
    }
    let mut found = Vec::new();
    collect(nest.trees(), &mut found);
    found.get(chosen % found.len().max(1)).copied()
}
