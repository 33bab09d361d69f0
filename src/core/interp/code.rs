//! The compiled code of definitions, which evaluates one element.

use super::Fault;
use super::domain::{Linear, Span};
use super::store::{Number, Scalar};
use crate::ir::{BinaryOp, Comparison, Function};

/// A flat index, and the indices to check against their extents, because some iterations may leave
/// the dimension.
#[derive(Clone, Debug)]
pub(super) struct CheckedIndex {
    pub(super) flat: Linear,
    pub(super) watched: Vec<(Linear, i64)>,
    /// The tensor in messages.
    pub(super) tensor: String,
}

impl CheckedIndex {
    pub(super) fn at(&self, slots: &[i64]) -> Result<usize, Fault> {
        for (index, extent) in &self.watched {
            let value = index.at(slots);
            if value < 0 || value >= *extent {
                let (tensor, index) = (self.tensor.clone(), value.to_string());
                return Err(Fault::OutOfBounds { tensor, index });
            }
        }
        Ok(usize::try_from(self.flat.at(slots)).unwrap_or(usize::MAX))
    }
}

pub(super) enum Code<'s, T> {
    Load(&'s [T], CheckedIndex),
    Number(T),
    Index(Linear),
    Binary(BinaryOp, Box<Code<'s, T>>, Box<Code<'s, T>>),
    Apply(Function, Box<Code<'s, T>>),
    Cast(Box<AnyCode<'s>>),
    /// A choice between two values, with the compared operands.
    Select(Comparison, Box<[AnyCode<'s>; 2]>, Box<[Code<'s, T>; 2]>),
    Reduce(Reduce<'s, T>),
}

/// Code of any element type.
pub(super) enum AnyCode<'s> {
    F64(Code<'s, f64>),
    F32(Code<'s, f32>),
    I32(Code<'s, i32>),
    I64(Code<'s, i64>),
}

/// A reduction: its initial value, operation, ranges and body.
pub(super) struct Reduce<'s, T> {
    pub(super) identity: T,
    pub(super) op: BinaryOp,
    /// The first slot of the iterators.
    pub(super) first: usize,
    pub(super) ranges: Vec<Span>,
    /// The values that iterators around must have for a term to count.
    pub(super) limits: Vec<(usize, Span)>,
    pub(super) body: Box<Code<'s, T>>,
}

/// Polls whether to stop.
pub(super) type Stop<'s> = &'s (dyn Fn() -> bool + Sync);

pub(super) fn evaluate<T: Number>(
    code: &Code<'_, T>,
    slots: &mut Vec<i64>,
    stop: Stop<'_>,
) -> Result<T, Fault> {
    match code {
        Code::Load(array, place) => Ok(array[place.at(slots)?]),
        Code::Number(value) => Ok(*value),
        Code::Index(index) => Ok(T::converted(Scalar::I64(index.at(slots)))),
        Code::Binary(op, left, right) => {
            let left = evaluate(left, slots, stop)?;
            left.apply(*op, evaluate(right, slots, stop)?)
        }
        Code::Apply(function, arg) => {
            let name = || Fault::Meaningless(function.name().to_owned());
            T::call(*function, evaluate(arg, slots, stop)?).ok_or_else(name)
        }
        Code::Cast(arg) => Ok(T::converted(scalar(arg, slots, stop)?)),
        Code::Select(comparison, compared, values) => {
            let [left, right] = &**compared;
            let holds = match (scalar(left, slots, stop)?, scalar(right, slots, stop)?) {
                (Scalar::F64(x), Scalar::F64(y)) => comparison.holds(x, y),
                (Scalar::F32(x), Scalar::F32(y)) => comparison.holds(x, y),
                (Scalar::I32(x), Scalar::I32(y)) => comparison.holds(x, y),
                (Scalar::I64(x), Scalar::I64(y)) => comparison.holds(x, y),
                _ => return Err(Fault::Meaningless("select".to_owned())),
            };
            let [yes, no] = &**values;
            let (yes, no) = (evaluate(yes, slots, stop)?, evaluate(no, slots, stop)?);
            Ok(if holds { yes } else { no })
        }
        Code::Reduce(reduce) => {
            slots.truncate(reduce.first);
            let mut reduced = reduce.identity;
            for_each(&reduce.ranges, slots, stop, &mut |slots| {
                let mut limits = reduce.limits.iter();
                if !limits.all(|(slot, span)| span.has(slots, slots[*slot])) {
                    return Ok(());
                }
                reduced = reduced.apply(reduce.op, evaluate(&reduce.body, slots, stop)?)?;
                Ok(())
            })?;
            Ok(reduced)
        }
    }
}

fn scalar(code: &AnyCode<'_>, slots: &mut Vec<i64>, stop: Stop<'_>) -> Result<Scalar, Fault> {
    Ok(match code {
        AnyCode::F64(code) => evaluate(code, slots, stop)?.scalar(),
        AnyCode::F32(code) => evaluate(code, slots, stop)?.scalar(),
        AnyCode::I32(code) => evaluate(code, slots, stop)?.scalar(),
        AnyCode::I64(code) => evaluate(code, slots, stop)?.scalar(),
    })
}

pub(super) fn for_each(
    ranges: &[Span],
    slots: &mut Vec<i64>,
    stop: Stop<'_>,
    visit: &mut dyn FnMut(&mut Vec<i64>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let depth = slots.len();
    let [span, rest @ ..] = ranges else {
        let result = visit(slots);
        slots.truncate(depth);
        return result;
    };
    if stop() {
        return Err(Fault::Stopped);
    }
    for value in span.values(slots) {
        slots.truncate(depth);
        slots.push(value);
        for_each(rest, slots, stop, visit)?;
    }
    slots.truncate(depth);
    Ok(())
}

pub(super) fn cost<T>(code: &Code<'_, T>) -> f64 {
    match code {
        Code::Load(..) | Code::Number(_) | Code::Index(_) => 1.0,
        Code::Binary(_, left, right) => cost(left) + cost(right),
        Code::Apply(_, arg) => cost(arg),
        Code::Cast(arg) => cost_of_any(arg),
        Code::Select(_, compared, values) => {
            compared.iter().map(cost_of_any).sum::<f64>() + values.iter().map(cost).sum::<f64>()
        }
        Code::Reduce(reduce) => {
            cost(&reduce.body) * reduce.ranges.iter().map(Span::most).product::<f64>()
        }
    }
}

fn cost_of_any(code: &AnyCode<'_>) -> f64 {
    match code {
        AnyCode::F64(code) => cost(code),
        AnyCode::F32(code) => cost(code),
        AnyCode::I32(code) => cost(code),
        AnyCode::I64(code) => cost(code),
    }
}
