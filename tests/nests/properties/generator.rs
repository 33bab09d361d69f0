//! Random programs.
//!
//! Data are small integers, so that sums are exact in every element type and reassociating a
//! reduction changes nothing. Targets are written through distinct indices, and nothing reads what
//! another iteration writes; consumers read what another statement writes.

use proptest::prelude::*;
use teml::interp::store::{Data, Store};
use teml::ir::{
    Affine, BinaryOp, Comparison, Domain, Elem, Expr, Function, Index, Name, Number, Range,
    Reduction, Shape, Size, Tensor,
};
use teml::transform::Arrow;
use teml::transform::tensor::cast::vcast;
use teml::transform::tensor::select::vselect;
use teml::transform::tensor::vfunction::{Unary, vfunction};
use teml::transform::tensor::{eq, partition, vindex::vindex, vop::vop, vreduce::vreduce};

/// The description of a program: plain numbers, so that failures shrink.
#[derive(Clone, Debug)]
pub struct Recipe {
    pub elem: Elem,
    /// Extents of the target's iterators.
    pub extents: Vec<i64>,
    /// Extents of the iterators that are reduced over.
    pub summed: Vec<i64>,
    /// Which reduction.
    pub reduction: Reduction,
    /// The operation on the value after each operand, with a number for it.
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
    /// Numbers of elements of the target before and after the assigned ones, in each dimension;
    /// they get a constant.
    pub border: Option<[i64; 2]>,
    /// An operation on the reduction, which then has a temporary.
    pub around: Option<(Touch, i64)>,
    /// Ranges that are given.
    pub cut: Option<Cut>,
    /// Whether extents are sizes, which are known when a kernel is called.
    pub sized: bool,
}

/// Ranges that programs give to iterators that have them.
#[derive(Clone, Copy, Debug)]
pub enum Cut {
    /// Of each reduced iterator up to the target's first one.
    Below,
    /// Of the target's second iterator, up to the first one.
    Triangle,
    /// Of the target's second iterator, around the first one.
    Band,
    /// Of the target's first iterator: from here on, in steps.
    Steps(i64, i64),
}

const CUTS: [Cut; 6] = [
    Cut::Below,
    Cut::Triangle,
    Cut::Band,
    Cut::Steps(0, 2),
    Cut::Steps(1, 1),
    Cut::Steps(2, 3),
];

/// Operations on reductions: none reads tensors that only their operands have.
const AROUND: [Touch; 6] = [
    Touch::Nothing,
    Touch::Number(BinaryOp::Add),
    Touch::Number(BinaryOp::Max),
    Touch::NumberFirst,
    Touch::Function(Unary::Function(Function::Abs)),
    Touch::Function(Unary::Relu),
];

/// Something done with a value element by element, exact for small integers.
#[derive(Clone, Copy, Debug)]
pub enum Touch {
    Nothing,
    /// An operation with a number on its right.
    Number(BinaryOp),
    /// A number minus the value.
    NumberFirst,
    Function(Unary),
    /// The value if the last operand compares like this with a number, otherwise that operand:
    /// operands are exact, while values may be rounded.
    Select(Comparison),
    /// The value, combined with the remainder of an index.
    Position,
    /// The same choice, by the value of an index.
    SelectPosition(Comparison),
    /// The value and the last operand, converted to another type and back.
    Cast(Elem),
}

const TOUCHES: [Touch; 18] = [
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
    Touch::Position,
    Touch::SelectPosition(Comparison::Less),
    Touch::SelectPosition(Comparison::GreaterEqual),
    Touch::Cast(Elem::F32),
    Touch::Cast(Elem::I32),
    Touch::Cast(Elem::I64),
];

impl Touch {
    fn on(self, value: &Expr, leaf: &Expr, number: i64) -> Expr {
        let names = leaf.iterators().into_iter().map(Affine::iterator);
        let place = (1..).zip(names).fold(Affine::default(), |sum, (by, name)| {
            sum.plus(&name.times(if by == 2 { -by } else { by }))
        });
        let place = vindex(&place.plus_constant(number)).expect("a small index");
        let elem = value.elem();
        let cast = |e: &Expr, elem| vcast(e, elem, &None).expect("operands fit");
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
            Touch::Position => {
                let place = vop(BinaryOp::Mod, &place, Number::Int(4), &[]);
                let place = cast(&place.expect("operands fit"), elem);
                vop(BinaryOp::Add, value, &place, &[])
            }
            Touch::SelectPosition(comparison) => {
                let compared = [(&place).into(), Number::Int(3).into()];
                vselect(compared, comparison, [value.into(), leaf.into()], &[])
            }
            Touch::Cast(other) => {
                let same = cast(&cast(leaf, other), elem);
                vop(BinaryOp::Sub, value, &same, &[])
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
        (
            prop::option::weighted(0.2, [0..=2i64, 0..=2i64]),
            prop::option::weighted(0.3, (prop::sample::select(AROUND.to_vec()), -3..=3i64)),
            prop::option::weighted(0.3, prop::sample::select(CUTS.to_vec())),
        ),
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
                (border, around, cut),
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
                    border,
                    around,
                    cut,
                    sized: false,
                }
            },
        )
}

fn tensor(name: &str, extents: &[Affine], elem: Elem) -> Tensor {
    let shape = Shape::of_dims(extents.to_vec(), elem).expect("small extents");
    Tensor::new(shape, elem).named(Name::new(name).expect("a name"))
}

fn iterator(name: &str) -> Affine {
    Affine::iterator(Name::new(name).expect("a name"))
}

impl Recipe {
    /// The extents of all iterators: numbers, or sizes that are likely to be these numbers.
    pub fn dims(&self) -> Vec<Affine> {
        let all = self.extents.iter().chain(&self.summed).enumerate();
        let dim = |(k, extent): (usize, &i64)| {
            let size = Name::new(&format!("N{k}")).expect("a name");
            let size = size.with_size(Size::default().with_likely(*extent));
            if self.sized {
                Affine::iterator(size)
            } else {
                Affine::constant(*extent)
            }
        };
        all.map(dim).collect()
    }

    /// The assignment; its tensors and iterators are named after `tag`.
    pub fn assignment(&self, tag: &str) -> Expr {
        let all = self.dims();
        let names: Vec<Affine> = (0..all.len())
            .map(|k| iterator(&format!("x{tag}{k}")))
            .collect();
        let own = 0..self.extents.len();
        let mut value: Option<Expr> = None;
        let mut seen = 0u16;
        for (k, (bits, offset, rotation)) in self.operands.iter().enumerate() {
            // The last operand takes the unused iterators, so that all of them occur.
            let last = k + 1 == self.operands.len();
            let bits = if last { bits | !seen } else { *bits };
            seen |= bits;
            let mut used: Vec<usize> = (0..all.len()).filter(|k| bits >> k & 1 == 1).collect();
            if !used.is_empty() {
                let by = rotation % used.len();
                used.rotate_left(by);
            }
            // An operand larger by one in each direction takes the offset without narrowing.
            let extents: Vec<Affine> = used.iter().map(|d| all[*d].plus_constant(2)).collect();
            let operand = tensor(&format!("T{tag}{k}"), &extents, self.elem);
            let index = used
                .iter()
                .map(|d| names[*d].plus_constant(1 + offset))
                .collect();
            let leaf = Expr::access(operand, Index::At(index));
            let combined = match value {
                None => leaf.clone(),
                Some(value) => {
                    let op = if self.summed.is_empty() {
                        BinaryOp::ALL[self.ops[k % self.ops.len()]]
                    } else {
                        BinaryOp::Mul
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
            // Powers of two, so that long products are also exact.
            value = Touch::Number(BinaryOp::Max).on(&value, &value, -1);
            value = Touch::Number(BinaryOp::Min).on(&value, &value, 2);
        }
        let reduced = &names[self.extents.len()..];
        if !reduced.is_empty() {
            let within = self.within(&names, true);
            value = vreduce(self.reduction, &value, reduced, within).expect("iterators are free");
            if let Some((touch, number)) = self.around {
                value = touch.on(&value, &value, number);
                if !self.extents.is_empty() {
                    let leaf = tensor(&format!("O{tag}"), &all[..self.extents.len()], self.elem);
                    let own = names[..self.extents.len()].to_vec();
                    let leaf = Expr::access(leaf, Index::At(own));
                    value = vop(BinaryOp::Add, &value, &leaf, &[]).expect("operands fit");
                }
            }
        }
        let within = self.within(&names, false);

        let mut to: Vec<usize> = own.collect();
        if !to.is_empty() {
            let by = self.rotation % to.len();
            to.rotate_left(by);
        }
        let mut extents: Vec<Affine> = to.iter().map(|d| all[*d].clone()).collect();
        let mut to: Vec<Affine> = to.iter().map(|d| names[*d].clone()).collect();
        if self.joined
            && let [first, second, ..] = &extents[..]
            && let Some(by) = second.as_constant()
        {
            let (index, extent) = (to[0].times(by).plus(&to[1]), first.times(by));
            to.splice(..2, [index]);
            extents.splice(..2, [extent]);
        }
        let label = format!("R{tag}");
        if let Some([before, after]) = self.border.filter(|_| self.can_have_a_border()) {
            to = to.iter().map(|a| a.plus_constant(before)).collect();
            extents = extents
                .iter()
                .map(|n| n.plus_constant(before + after))
                .collect();
            let number = if self.summed.is_empty() { 7 } else { 0 };
            let (from, number) = (vec![], Some(Number::Int(number)));
            return eq::eq_within(&value, &Arrow { from, to }, &extents, number, within)
                .expect("an assignment")
                .fill_placeholder(&Name::new(&label).expect("a name"));
        }
        let target = tensor(&label, &extents, self.elem);
        if self.accumulates {
            let old = Expr::access(target.clone(), Index::At(to.clone()));
            let op = if self.summed.is_empty() {
                BinaryOp::Add
            } else {
                self.reduction.op()
            };
            value = vop(op, &old, &value, &[]).expect("operands fit");
        }
        let arrow = Arrow { from: vec![], to };
        let assignment = eq::eq_over(&value, &arrow, within).expect("an assignment");
        partition::retarget(&assignment, &target).expect("the target fits")
    }
}

impl Recipe {
    /// The ranges that are given to reduced iterators, or to those of the target.
    fn within(&self, names: &[Affine], reduced: bool) -> Domain {
        let own = self.extents.len();
        // Two iterators in one index need all values.
        let Some(cut) = self.cut.filter(|_| own > 0 && !self.joined) else {
            return Domain::default();
        };
        let all = self.dims();
        let near = |k: usize, before: Option<i64>, after: i64| {
            let lower = before.map(|by| names[0].plus_constant(-by));
            let range = Range {
                lower: [Affine::constant(0)].into_iter().chain(lower).collect(),
                upper: vec![all[k].clone(), names[0].plus_constant(after)],
                step: 1,
                within: None,
            };
            (k, range)
        };
        let ranges = match (cut, reduced) {
            (Cut::Below, true) => (own..all.len()).map(|k| near(k, None, 1)).collect(),
            (Cut::Triangle, false) if own > 1 => vec![near(1, None, 1)],
            (Cut::Band, false) if own > 1 => vec![near(1, Some(1), 2)],
            (Cut::Steps(from, step), false) => {
                let range = Range {
                    upper: vec![all[0].clone()],
                    step,
                    ..Range::constant(from, 0)
                };
                vec![(0, range)]
            }
            _ => Vec::new(),
        };
        let name = |k: usize| names[k].as_iterator().expect("an iterator").clone();
        Domain::new(ranges.into_iter().map(|(k, range)| (name(k), range)))
    }

    /// Nothing may need the old contents of the target. Other reductions than sums start from
    /// numbers that no border has.
    fn can_have_a_border(&self) -> bool {
        let sums = self.summed.is_empty() || self.reduction == Reduction::Sum;
        !self.accumulates && sums
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

/// A program that adds the elements of another one's result to themselves.
pub fn consumer(first: &Expr, tag: &str) -> Expr {
    let (old, names) = reader(first, 0, tag);
    let doubled = vop(BinaryOp::Add, &old, &old, &[]).expect("operands fit");
    assignment(&doubled, names, tag)
}

/// A program that adds neighbors in the result of another one, in the dimensions that have room.
pub fn stencil(first: &Expr, tag: &str) -> Expr {
    let [(left, names), (right, _), (far, _)] = [1, 2, 3].map(|by| reader(first, by, tag));
    let sum = [right, far].iter().fold(left, |sum, old| {
        vop(BinaryOp::Add, &sum, old, &[]).expect("operands fit")
    });
    // A plain access bounds each iterator exactly.
    let extents = first.tensor().expect("an assignment").shape().extents();
    let extents: Vec<i64> = extents.iter().map(|n| room(*n as i64)).collect();
    let extents: Vec<Affine> = extents.into_iter().map(Affine::constant).collect();
    let exact = tensor(&format!("E{tag}"), &extents, first.elem());
    let exact = Expr::access(exact, Index::At(names.clone()));
    let value = vop(BinaryOp::Sub, &sum, &exact, &[]).expect("operands fit");
    assignment(&value, names, tag)
}

/// The number of elements that have three successors.
fn room(extent: i64) -> i64 {
    if extent > 3 { extent - 3 } else { extent }
}

/// The result of a program, read this many elements later if there is room, and its iterators.
fn reader(first: &Expr, by: i64, tag: &str) -> (Expr, Vec<Affine>) {
    let result = first.tensor().expect("an assignment").clone();
    let extents = result.shape().extents().to_vec();
    let names: Vec<Affine> = (0..extents.len())
        .map(|k| iterator(&format!("y{tag}{k}")))
        .collect();
    let index = names
        .iter()
        .zip(extents)
        .map(|(name, extent)| match extent {
            4.. => name.plus_constant(by),
            _ => name.clone(),
        });
    (Expr::access(result, Index::At(index.collect())), names)
}

fn assignment(value: &Expr, to: Vec<Affine>, tag: &str) -> Expr {
    let arrow = Arrow { from: vec![], to };
    let name = Name::new(&format!("S{tag}")).expect("a name");
    eq::eq(value, &arrow)
        .expect("an assignment")
        .fill_placeholder(&name)
}

/// A program that reads the first one's result at two distances in each dimension and adds the two.
/// It takes the maximum over the last `reduced` dimensions.
pub fn windows(first: &Expr, tag: &str, distances: [i64; 2], reduced: usize) -> Expr {
    let result = first.tensor().expect("an assignment").clone();
    let extents = result.shape().extents();
    let names: Vec<Affine> = (0..extents.len())
        .map(|k| iterator(&format!("y{tag}{k}")))
        .collect();
    let kept = names.len() - reduced.min(names.len());
    let reads = distances.map(|distance| {
        let index = names.iter().zip(extents).enumerate();
        let index = index.map(|(k, (name, extent))| {
            // Short dimensions have no room for distances, and reductions are never cut.
            let distance = if k < kept { distance } else { distances[0] };
            name.plus_constant(if *extent > 2 { distance } else { 0 })
        });
        Expr::access(result.clone(), Index::At(index.collect()))
    });
    let [left, right] = &reads;
    let sum = vop(BinaryOp::Add, left, right, &[]).expect("operands fit");
    let (to, reduced) = names.split_at(kept);
    let value = if reduced.is_empty() {
        sum
    } else {
        vreduce(Reduction::Max, &sum, reduced, teml::ir::Domain::default())
            .expect("iterators are free")
    };
    // Targets begin at 0.
    let first = distances[0].min(distances[1]);
    let to = to.iter().zip(extents);
    let to = to.map(|(name, extent)| name.plus_constant(if *extent > 2 { first } else { 0 }));
    let (from, to) = (vec![], to.collect());
    let name = Name::new(&format!("S{tag}")).expect("a name");
    eq::eq(&value, &Arrow { from, to })
        .expect("an assignment")
        .fill_placeholder(&name)
}
