//! Random programs and random steps.
//!
//! Data are small integers, so that sums are exact in every element type and reassociating a
//! reduction changes nothing. Programs are such that every step that is accepted is legal:
//! targets are written through distinct indices, and nothing reads what another iteration
//! writes.

use proptest::prelude::*;
use teml::analysis::bounds::extent;
use teml::interp::store::{Data, Store};
use teml::ir::{
    Affine, BinaryOp, Comparison, Elem, Expr, Function, Index, Loop, Name, Nest, Number, Reduction,
    Schedule, Shape, Tensor, Tree,
};
use teml::transform::nest::{
    distribute::distribute,
    fuse::fuse,
    fuse_inner::fuse_inner,
    fuse_outer::fuse_outer,
    interchange::interchange,
    mode,
    peel::{End, peel},
    place_init::place_init,
    reorder::reorder,
    reverse::reverse,
    shift::shift,
    skew::skew,
    stripmine::{Tail, stripmine},
    unroll::{unroll, unroll_by},
    unroll_and_jam::unroll_and_jam,
};
use teml::transform::tensor::select::vselect;
use teml::transform::tensor::vfunction::{Unary, vfunction};
use teml::transform::tensor::{eq, vop::vop, vreduce::vreduce};
use teml::transform::{Arrow, Error, LoopRef};

/// What a program is made from: plain numbers, so that failures shrink.
#[derive(Clone, Debug)]
pub struct Recipe {
    pub elem: Elem,
    /// Extents of the target's iterators.
    pub extents: Vec<i64>,
    /// Extents of the iterators that are reduced over.
    pub summed: Vec<i64>,
    /// Which reduction.
    pub reduction: Reduction,
    /// What is done with the value after each operand, and a number for it.
    pub touches: Vec<(Touch, i64)>,
    /// For each operand: which iterators index it (by bits), an offset, and how they are rotated.
    pub operands: Vec<(u16, i64, usize)>,
    /// Operations between operands; products where there is a reduction.
    pub ops: Vec<usize>,
    /// Whether the target accumulates onto itself.
    pub accumulates: bool,
    /// How the target's dimensions are rotated.
    pub rotation: usize,
    /// Whether the first two of them are one dimension, in which two iterators count like digits.
    pub joined: bool,
}

/// Something done with a value element by element, exact for small integers.
#[derive(Clone, Copy, Debug)]
pub enum Touch {
    Nothing,
    /// An operation with a number on its right.
    Number(BinaryOp),
    /// A number minus the value.
    NumberFirst,
    Function(Unary),
    /// The value where the last operand compares like this with a number, and else that operand:
    /// operands are exact where values may have been rounded.
    Select(Comparison),
}

const TOUCHES: [Touch; 12] = [
    Touch::Nothing,
    Touch::Number(BinaryOp::Add),
    Touch::Number(BinaryOp::Mul),
    Touch::Number(BinaryOp::Min),
    Touch::Number(BinaryOp::Max),
    Touch::NumberFirst,
    Touch::Function(Unary::Function(Function::Neg)),
    Touch::Function(Unary::Function(Function::Abs)),
    Touch::Function(Unary::Relu),
    Touch::Select(Comparison::LessEqual),
    Touch::Select(Comparison::Greater),
    Touch::Select(Comparison::NotEqual),
];

impl Touch {
    fn on(self, value: &Expr, leaf: &Expr, number: i64) -> Expr {
        let number = Number::Int(number);
        let touched = match self {
            Touch::Nothing => Ok(value.clone()),
            Touch::Number(op) => vop(op, value, number, &[]),
            Touch::NumberFirst => vop(BinaryOp::Sub, number, value, &[]),
            Touch::Function(function) => vfunction(function, value, &None),
            Touch::Select(comparison) => {
                let compared = [leaf.into(), number.into()];
                vselect(compared, comparison, [value.into(), leaf.into()], &[])
            }
        };
        touched.expect("operands fit")
    }
}

pub fn recipe() -> impl Strategy<Value = Recipe> {
    let extents = prop::collection::vec(prop_oneof![Just(1i64), 2..5i64, Just(7)], 0..=4);
    let long = prop::collection::vec(1..=2i64, 5..=6);
    let summed = prop::collection::vec(1..=5i64, 0..=2);
    (
        prop::sample::select(Elem::ALL.to_vec()),
        prop_oneof![4 => extents, 1 => long],
        summed,
        prop::collection::vec((any::<u16>(), 0..=1i64, 0..6usize), 1..=3),
        prop::collection::vec(0..4usize, 3),
        any::<bool>(),
        0..6usize,
        prop::sample::select(Reduction::ALL.to_vec()),
        prop::collection::vec((prop::sample::select(TOUCHES.to_vec()), -3..=3i64), 3),
        prop::bool::weighted(0.2),
    )
        .prop_map(
            |(
                elem,
                extents,
                summed,
                operands,
                ops,
                accumulates,
                rotation,
                reduction,
                touches,
                joined,
            )| {
                Recipe {
                    elem,
                    extents,
                    summed,
                    reduction,
                    touches,
                    operands,
                    ops,
                    accumulates,
                    rotation,
                    joined,
                }
            },
        )
}

fn tensor(name: &str, extents: &[i64], elem: Elem) -> Tensor {
    let shape = Shape::new(extents, elem).expect("small extents");
    Tensor::new(shape, elem).named(Name::new(name).expect("a name"))
}

fn iterator(name: &str) -> Affine {
    Affine::iterator(Name::new(name).expect("a name"))
}

impl Recipe {
    /// The assignment; its tensors and iterators are named after `tag`.
    pub fn assignment(&self, tag: &str) -> Expr {
        let all: Vec<i64> = self.extents.iter().chain(&self.summed).copied().collect();
        let names: Vec<Affine> = (0..all.len())
            .map(|k| iterator(&format!("x{tag}{k}")))
            .collect();
        let own = 0..self.extents.len();
        let mut value: Option<Expr> = None;
        let mut seen = 0u16;
        for (k, (bits, offset, rotation)) in self.operands.iter().enumerate() {
            // The last operand takes what no other one has, so that all iterators occur.
            let last = k + 1 == self.operands.len();
            let bits = if last { bits | !seen } else { *bits };
            seen |= bits;
            let mut used: Vec<usize> = (0..all.len()).filter(|k| bits >> k & 1 == 1).collect();
            if !used.is_empty() {
                let by = rotation % used.len();
                used.rotate_left(by);
            }
            // An operand larger by one in each direction takes the offset without narrowing.
            let extents: Vec<i64> = used.iter().map(|d| all[*d] + 2).collect();
            let operand = tensor(&format!("T{tag}{k}"), &extents, self.elem);
            let index = used
                .iter()
                .map(|d| names[*d].plus_constant(1 + offset))
                .collect();
            let leaf = Expr::access(operand, Index::At(index));
            let combined = match value {
                None => leaf.clone(),
                Some(value) => {
                    let op = match self.summed.is_empty() {
                        true => BinaryOp::ALL[self.ops[k % self.ops.len()]],
                        false => BinaryOp::Mul,
                    };
                    vop(op, &value, &leaf, &[]).expect("operands fit")
                }
            };
            let (touch, number) = self.touches[k % self.touches.len()];
            value = Some(touch.on(&combined, &leaf, number));
        }
        let mut value = value.expect("at least one operand");
        // A plain access bounds each iterator exactly.
        let exact = tensor(&format!("E{tag}"), &all, self.elem);
        let exact = Expr::access(exact, Index::At(names.clone()));
        let op = if self.summed.is_empty() {
            BinaryOp::Sub
        } else {
            BinaryOp::Mul
        };
        value = vop(op, &value, &exact, &[]).expect("operands fit");
        if self.reduction == Reduction::Prod && !self.summed.is_empty() {
            // Powers of two, so that products of many are exact, too.
            value = Touch::Number(BinaryOp::Max).on(&value, &value, -1);
            value = Touch::Number(BinaryOp::Min).on(&value, &value, 2);
        }
        let reduced = &names[self.extents.len()..];
        value = vreduce(self.reduction, &value, reduced).expect("iterators are free");

        let mut to: Vec<usize> = own.collect();
        if !to.is_empty() {
            let by = self.rotation % to.len();
            to.rotate_left(by);
        }
        let mut extents: Vec<i64> = to.iter().map(|d| all[*d]).collect();
        let mut to: Vec<Affine> = to.iter().map(|d| names[*d].clone()).collect();
        if self.joined && to.len() >= 2 {
            let index = to[0].times(extents[1]).plus(&to[1]);
            to.splice(..2, [index]);
            extents.splice(..2, [extents[0] * extents[1]]);
        }
        let target = tensor(&format!("R{tag}"), &extents, self.elem);
        if self.accumulates {
            let old = Expr::access(target.clone(), Index::At(to.clone()));
            let op = match self.summed.is_empty() {
                true => BinaryOp::Add,
                false => self.reduction.op(),
            };
            value = vop(op, &old, &value, &[]).expect("operands fit");
        }
        let assignment = eq::eq(&value, &Arrow { from: vec![], to }).expect("an assignment");
        eq::retarget(&assignment, &target).expect("the target fits")
    }
}

/// Initial data of all tensors: small integers, none zero, so that nothing divides by zero.
pub fn store(definition: &[Expr]) -> Store<'static> {
    let mut store = Store::new();
    let mut salt = 0u64;
    for expr in definition {
        expr.for_each_access(&mut |tensor, _| {
            salt += 1;
            let salt = salt;
            let value = move |x: u64| match ((x * 7 + salt * 13) % 11) as i64 - 5 {
                0 => 6.0,
                v => v as f64,
            };
            let name = tensor.name().expect("a name").clone();
            store
                .entry(name)
                .or_insert_with(|| Data::generate(tensor, value));
        });
    }
    store
}

/// A step, as numbers that are fitted to whatever nest it meets.
#[derive(Clone, Debug)]
pub enum Move {
    Stripmine(usize, i64, Tail),
    Interchange(usize, usize),
    Reorder(Vec<usize>),
    Reverse(usize),
    Shift(usize, i64),
    Skew(usize, usize, i64),
    Peel(usize, i64, End),
    Distribute(usize),
    /// A loop and the one after it, which is shifted to start so much later.
    Fuse(usize, i64),
    Unroll(usize),
    UnrollBy(usize, i64),
    /// Into a loop, or before all of them.
    PlaceInit(Option<usize>),
    Parallelize(usize),
    /// Several loops all together.
    Share(usize, i64, Option<Schedule>),
    Vectorize(usize),
    FuseInner(usize),
    UnrollAndJam(usize, i64),
    /// Unrolls in full, and fuses the copies of the loops inside.
    UnrollAndFuse(usize),
}

pub fn moves(count: usize) -> impl Strategy<Value = Vec<Move>> {
    let tail = prop_oneof![Just(Tail::Guard), Just(Tail::Cut), Just(Tail::Exact)];
    let end = prop_oneof![Just(End::Front), Just(End::Back)];
    let order = prop::collection::vec(0..12usize, 0..4);
    let l = 0..12usize;
    let schedule = prop::sample::select(vec![None, Some(Schedule::Dynamic)]);
    let one = prop_oneof![
        3 => (l.clone(), 1..6i64, tail).prop_map(|(l, f, t)| Move::Stripmine(l, f, t)),
        2 => (l.clone(), l.clone()).prop_map(|(a, b)| Move::Interchange(a, b)),
        2 => order.prop_map(Move::Reorder),
        2 => l.clone().prop_map(Move::Reverse),
        1 => (l.clone(), -3..4i64).prop_map(|(l, by)| Move::Shift(l, by)),
        2 => (l.clone(), l.clone(), -2..3i64).prop_map(|(a, b, by)| Move::Skew(a, b, by)),
        2 => (l.clone(), 1..4i64, end).prop_map(|(l, n, e)| Move::Peel(l, n, e)),
        2 => l.clone().prop_map(Move::Distribute),
        4 => (l.clone(), -2..3i64).prop_map(|(l, by)| Move::Fuse(l, by)),
        1 => l.clone().prop_map(Move::Unroll),
        2 => (l.clone(), 1..5i64).prop_map(|(l, f)| Move::UnrollBy(l, f)),
        2 => (l.clone(), 1..5i64).prop_map(|(l, f)| Move::UnrollAndJam(l, f)),
        3 => prop::option::weighted(0.8, l.clone()).prop_map(Move::PlaceInit),
        1 => l.clone().prop_map(Move::Parallelize),
        1 => (l.clone(), 1..4i64, schedule).prop_map(|(l, n, s)| Move::Share(l, n, s)),
        1 => l.clone().prop_map(Move::Vectorize),
        1 => (0..6usize).prop_map(Move::FuseInner),
        1 => l.prop_map(Move::UnrollAndFuse),
    ];
    prop::collection::vec(one, 1..=count)
}

/// Applies a move. Loops are chosen by name and, every other time, by level.
pub fn step(nest: &Nest, chosen: &Move) -> Result<Nest, Error> {
    let loops = nest.loops();
    let pick = |k: usize| -> LoopRef {
        match loops.len() {
            0 => LoopRef::Level(1),
            n if k.is_multiple_of(2) => LoopRef::Name(loops[k / 2 % n].1.name.to_string()),
            n => LoopRef::Level((k / 2 % n) as i64 + 1),
        }
    };
    match chosen {
        Move::Stripmine(l, factor, tail) => stripmine(nest, &pick(*l), *factor, *tail),
        Move::Interchange(a, b) => interchange(nest, &pick(*a), &pick(*b)),
        Move::Reorder(order) => {
            let order: Vec<LoopRef> = order.iter().map(|l| pick(*l)).collect();
            reorder(nest, &order)
        }
        Move::Reverse(l) => reverse(nest, &pick(*l)),
        Move::Shift(l, amount) => shift(nest, &pick(*l), *amount),
        Move::Skew(inner, outer, factor) => skew(nest, &pick(*inner), &pick(*outer), *factor),
        Move::Peel(l, count, end) => peel(nest, &pick(*l), *count, *end),
        Move::Distribute(l) => {
            let several: Vec<&Loop> = loops.iter().map(|(_, l)| *l).collect();
            let several = several
                .into_iter()
                .filter(|l| l.body.len() > 1)
                .collect::<Vec<_>>();
            match several.get(l % several.len().max(1)) {
                Some(chosen) => distribute(nest, &LoopRef::Name(chosen.name.to_string())),
                None => distribute(nest, &pick(*l)),
            }
        }
        // An iteration that is shifted past another one's initialization loses what it wrote.
        Move::Fuse(..) if initializes_inside(nest.trees(), 0) => Ok(nest.clone()),
        Move::Fuse(l, later) => match neighbors(nest, *l) {
            Some([first, second]) => {
                let start = |l: &Loop| Some(extent(&l.range)?.0);
                let apart = start(first).zip(start(second)).map(|(a, b)| a.minus(&b));
                let by = apart.and_then(|a| a.as_constant()).unwrap_or(0) + later;
                let [first, second] = [first, second].map(|l| LoopRef::Name(l.name.to_string()));
                fuse(&shift(nest, &second, by)?, &first, &second)
            }
            None => fuse(nest, &pick(*l), &pick(l + 2)),
        },
        Move::Unroll(l) => unroll(nest, &pick(*l)),
        Move::UnrollBy(l, factor) => unroll_by(nest, &pick(*l), *factor),
        Move::PlaceInit(Some(l)) => place_init(nest, &pick(*l), None),
        Move::PlaceInit(None) => place_init(nest, &LoopRef::Level(0), None),
        Move::UnrollAndJam(l, factor) => unroll_and_jam(nest, &pick(*l), *factor),
        Move::Parallelize(l) => mode::parallelize(nest, &pick(*l)),
        Move::Share(l, collapse, schedule) => mode::share(nest, &pick(*l), *collapse, *schedule),
        Move::Vectorize(l) => mode::vectorize(nest, &pick(*l)),
        Move::FuseInner(level) => fuse_inner(nest, &LoopRef::Level(*level as i64)),
        Move::UnrollAndFuse(l) => {
            let LoopRef::Level(level) = pick(*l | 1) else {
                return unroll(nest, &pick(*l));
            };
            let unrolled = unroll(nest, &LoopRef::Level(level))?;
            fuse_inner(&unrolled, &LoopRef::Level(level))
        }
    }
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

/// Two programs side by side: the second one reads the first one's result element by element.
pub fn consumer(first: &Expr, tag: &str) -> Expr {
    let result = first.tensor().expect("an assignment").clone();
    let rank = result.shape().rank();
    let names: Vec<Affine> = (0..rank).map(|k| iterator(&format!("y{tag}{k}"))).collect();
    let old = Expr::access(result.clone(), Index::At(names.clone()));
    let doubled = vop(BinaryOp::Add, &old, &old, &[]).expect("operands fit");
    let arrow = Arrow {
        from: vec![],
        to: names,
    };
    let name = Name::new(&format!("S{tag}")).expect("a name");
    eq::eq(&doubled, &arrow)
        .expect("an assignment")
        .fill_placeholder(&name)
}

/// Fuses two nests at `level`.
pub fn fused(first: &Nest, second: &Nest, level: i64) -> Result<Nest, Error> {
    fuse_outer(first, second, level)
}
