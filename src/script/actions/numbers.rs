//! `close`, `difference` and `norm`: computed numbers, compared and reduced to one.

use crate::binding::call::Call;
use crate::binding::function::{Effect, Function};
use crate::binding::operand_names;
use crate::binding::param::{Param, Place, Words, arguments, held};
use crate::binding::takes::{Takes, Type};
use crate::ir::{self, Affine, BinaryOp, Domain, Elem, Expr, Reduction, Shape};
use crate::messages::fail::Failure;
use crate::runtime::{Agreement, Scalar, Values, compare, default_tolerance};
use crate::transform::tensor::vfunction::{Unary, vfunction};
use crate::transform::tensor::vop::vop;
use crate::transform::tensor::vreduce::vreduce;
use crate::values::{Numbers, number};
use rhai::{Array, Dynamic};

const A: Param<Numbers> = Param::new("a");
const B: Param<Numbers> = Param::new("b");
const TOLERANCE: Param<Option<Scalar>> = Param::new("tolerance");
const WHICH: Param<Option<Largest>> = Param::new("which");

#[derive(Clone, Copy)]
struct Largest;

impl Words for Largest {
    const WORDS: &'static [(&'static str, Largest)] = &[("max", Largest)];
}

pub(super) static CLOSE: Function = Function {
    name: "close",
    topic: "results",
    effect: Effect::None,
    params: &[A.any(), B.any(), TOLERANCE.any()],
    returns: "truth value",
    doc: "\
Whether two arrays of numbers agree, up to rounding: `close(run(plan).C, run(naive).C)`.

They agree if their `difference` is at most the tolerance: 1e-9, 1e-4 if one of them has elements of
type f32, and 0 for integers, as in `compare`, which grants long sums in f32 more. Each argument is
what `run` or `load` gives, a number, or lists as deep as the rank.

```rhai
let x = tensor([3]);
let y = eq(x / 3, [i] -> [i]);
init(x, [1, 2, 3]);
let out = run(build(y));
print(close(out.y, [0.333333, 0.666667, 1]));
print(close(out.y, [0.333333, 0.666667, 1], 1e-6));
```

```text
false
true
```

Where nothing runs, as with `teml emit`, everything agrees.",
    call: |call| {
        let Some((elem, agreement)) = compared(call)? else {
            return Ok(true.into());
        };
        let tolerance = call.arg(&TOLERANCE)?.map(Scalar::as_f64);
        let tolerance = tolerance.unwrap_or_else(|| default_tolerance(elem));
        Ok((agreement.relative_error <= tolerance).into())
    },
};

pub(super) static DIFFERENCE: Function = Function {
    name: "difference",
    topic: "results",
    effect: Effect::None,
    params: &[A.any(), B.any()],
    returns: "number",
    doc: "\
How far an array of numbers is from another one: the largest absolute difference of two elements,
over the largest magnitude in `b`.

A NaN agrees with a NaN, an infinity with the same infinity; anything else beside them is infinitely
far. The arguments are those of `close`.

```rhai
let x = tensor([2, 2]);
let y = eq(2 * x, [i, j] -> [j, i]);
init(x, [[1, 2], [3, 4]]);
print(difference(run(build(y)).y, [[2, 6], [4, 10]]));
```

```text
0.2
```",
    call: |call| {
        let error = compared(call)?.map_or(0.0, |(_, agreement)| agreement.relative_error);
        Ok(error.into())
    },
};

pub(super) static NORM: Function = Function {
    name: "norm",
    topic: "results",
    effect: Effect::None,
    params: &[A.any(), WHICH.any()],
    returns: "number",
    doc: "\
The norm of all elements of an array of numbers, or of a tensor: the root of the sum of their
squares, or with `\"max\"` the largest magnitude. That of a tensor is an expression.

```rhai
let x = tensor([2]);
let y = eq(2 * x, [i] -> [i]);
init(x, [3, -4]);
let out = run(build(y));
print(norm(out.y)); print(norm(out.y, \"max\"));
```

```text
10.0
8.0
```",
    call: |call| {
        let is_max = call.arg(&WHICH)?.is_some();
        if let Ok(tensor) = call.expr(0) {
            return of_tensor(call, &tensor, is_max).map(Dynamic::from);
        }
        let numbers = call.arg(&A)?;
        Ok(if is_max {
            numbers.largest().into()
        } else {
            numbers.norm().into()
        })
    },
};

/// The norm of a tensor, as an expression.
fn of_tensor(call: &Call, tensor: &Expr, is_max: bool) -> Result<Expr, Failure> {
    let tensor = operand_names::operand(tensor.clone(), call.shared())?;
    let of = |reduction: Reduction, values: Expr| {
        let rank = virtual_rank(&values);
        let all: Vec<Affine> = (1..=rank).map(Affine::constant).collect();
        vreduce(reduction, &values, &all, Domain::default())
    };
    let made = if is_max {
        vfunction(Unary::Function(ir::Function::Abs), &tensor, &None)
            .and_then(|sizes| of(Reduction::Max, sizes))
    } else {
        vop(BinaryOp::Mul, &tensor, &tensor, &[])
            .and_then(|squares| of(Reduction::Sum, squares))
            .and_then(|sum| vfunction(Unary::Function(ir::Function::Sqrt), &sum, &None))
    };
    made.map_err(Failure::operation)
}

/// The number of dimensions of a virtual tensor; that of its iterators if it carries some.
fn virtual_rank(values: &Expr) -> i64 {
    let rank = values.shape().map_or(0, Shape::rank);
    i64::try_from(rank).unwrap_or(i64::MAX)
}

/// The agreement of two arrays and the type of elements that decides how much rounding
/// counts; `None` if nothing ran.
fn compared(call: &Call) -> Result<Option<(Elem, Agreement)>, Failure> {
    let (a, b) = (call.arg(&A)?, call.arg(&B)?);
    if a.shape() != b.shape() {
        let what = format!("is {b}, but the first one is {a}: both must have the same shape");
        return Err(call.fail(&B, &what));
    }
    let is_empty = |n: &Numbers| n.values().view().len() as u64 != n.count();
    if is_empty(&a) || is_empty(&b) {
        return Ok(None);
    }
    let shape = Shape::of_extents(a.shape().iter().copied());
    let elem = coarser(a.elem(), b.elem());
    let as_floats = |n: &Numbers| Values::F64(n.floats());
    let (actual, expected) = (a.values(), b.values());
    let found = if a.elem().is_float() == b.elem().is_float() {
        compare(expected.view(), actual.view(), &shape, 0.0)
    } else {
        compare(as_floats(&b).view(), as_floats(&a).view(), &shape, 0.0)
    };
    let found = found.map_err(|error| call.refuse(&error.to_string()))?;
    Ok(Some((elem, found)))
}

/// The type with the larger errors.
fn coarser(a: Elem, b: Elem) -> Elem {
    if default_tolerance(a) >= default_tolerance(b) {
        a
    } else {
        b
    }
}

arguments! {
    Numbers, "an array of numbers, such as a tensor of `run`, a number, or lists of numbers",
        Takes::Value(Type::Other), |p| p.read(held).or_else(|_| listed(p));
}

/// The array that lists are.
fn listed(place: &Place) -> Result<Numbers, Failure> {
    let (mut shape, mut found) = (Vec::new(), Vec::new());
    collect(
        place,
        &place.given.clone().unwrap_or_default(),
        0,
        &mut shape,
        &mut found,
    )?;
    let integer = |scalar: &Scalar| match scalar {
        Scalar::Integer(value) => Some(*value),
        Scalar::Float(_) => None,
    };
    let integers: Option<Vec<i64>> = found.iter().map(integer).collect();
    let values = match integers {
        Some(integers) => Values::I64(integers),
        None => Values::F64(found.into_iter().map(Scalar::as_f64).collect()),
    };
    Ok(Numbers::listed(shape, values))
}

/// Appends the numbers in a value, lists of the same length at each depth.
fn collect(
    place: &Place,
    value: &Dynamic,
    depth: usize,
    shape: &mut Vec<u64>,
    found: &mut Vec<Scalar>,
) -> Result<(), Failure> {
    const UNEVEN: &str = "has lists of different lengths or depths: each row needs as many numbers";
    if let Some(list) = value.read_lock::<Array>() {
        let length = list.len() as u64;
        if found.is_empty() && shape.len() == depth {
            shape.push(length);
        }
        if shape.get(depth) != Some(&length) {
            return Err(place.fail(UNEVEN));
        }
        let mut items = list.iter();
        return items.try_for_each(|item| collect(place, item, depth + 1, shape, found));
    }
    match number(value) {
        Some(_) if depth != shape.len() => Err(place.fail(UNEVEN)),
        Some(number) => {
            found.push(number);
            Ok(())
        }
        None => Err(place.expected(Some(value))),
    }
}
