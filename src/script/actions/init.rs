//! `init`: the contents of tensors before anything runs.

use crate::binding::call::Call;
use crate::binding::formula::{Formula, indices};
use crate::binding::function::{Effect, Function};
use crate::binding::param::Param;
use crate::ir::{Expr, Name, Shape, Tensor};
use crate::messages::fail::Failure;
use crate::runtime::{Data, Random, Scalar, Values};
use crate::values;
use crate::values::{Numbers, number};
use rhai::{Array, Dynamic, FnPtr};
use std::sync::Arc;

const TENSOR: Param<Expr> = Param::new("tensor");
const VALUE: Param<Dynamic> = Param::new("value");
const ELEMENT: Param<Option<Scalar>> = Param::new("element");

pub(super) static INIT: Function = Function {
    name: "init",
    topic: "results",
    effect: Effect::None,
    params: &[TENSOR.any(), VALUE.any(), ELEMENT.any()],
    returns: "",
    doc: "\
Sets the contents of a tensor before `compare` runs anything.

- `init(A, 2.0)`: the same value everywhere
- `init(A, |i, j| i + 0.5 * j)`: computed from the indices, counted from 0
- `init(A, [[1, 2], [3, 4]])`: listed
- `init(A, load(\"a.npy\"))`: the contents of a file
- `init(A, random(42))`: numbers from a seed
- `init(A, [0, 1], 2.0)`: one element; the others keep their values

Without `init`, tensor number k, in order of appearance and from 0, holds
`((7*x + 13*k) % 101) / 101.0 - 0.5` at flat index x, or `(7*x + 13*k) % 101 - 50` for integers.

A tensor with sizes gets its elements at the likely ones. At larger ones, each dimension begins
again at its end.

If nothing runs, as with `teml check`, a function is called once, for the first element.
Source: TeML §2, Fig. 1.",
    call: |call| {
        let expr = call.arg(&TENSOR)?;
        let Some((tensor, name)) = named_tensor(&expr) else {
            return Err(call.expected(&TENSOR, "a tensor that is bound to a variable"));
        };
        let data = match call.arg(&ELEMENT)? {
            Some(value) => one_element(call, tensor, &name, value)?,
            None => match tensor.inner() {
                Some(inner) => padded(call, tensor, inner)?,
                None => whole(call, tensor)?,
            },
        };
        if call.workbench().runner.needs_inputs() {
            data.check(tensor)
                .map_err(|error| call.refuse(&error.to_string()))?;
        }
        let mut bench = call.workbench();
        bench.definitions.given(&name);
        bench.inputs.set(name, data);
        Ok(Dynamic::UNIT)
    },
};

fn named_tensor(expr: &Expr) -> Option<(&Tensor, Name)> {
    let tensor = expr.tensor()?;
    Some((tensor, tensor.name()?.clone()))
}

/// Tensors that scripts fill element by element stay below this many elements.
const MAX_LISTED: u64 = 1 << 24;

fn elements(call: &Call, tensor: &Tensor) -> Result<usize, Failure> {
    let count = tensor.shape().elements();
    match usize::try_from(count) {
        Ok(n) if count <= MAX_LISTED => Ok(n),
        _ => Err(call.fail(
            &TENSOR,
            &format!("has {count} elements; scripts set up to {MAX_LISTED} one by one"),
        )),
    }
}

fn whole(call: &Call, tensor: &Tensor) -> Result<Data, Failure> {
    let expected = "a number, a function of the indices, a list of numbers, or what `load` or \
                    `random` gives";
    let value = call.arg(&VALUE)?;
    if let Some(array) = value.read_lock::<Numbers>() {
        return held(call, tensor, &array);
    }
    if let Some(random) = value.read_lock::<Random>() {
        return Ok(Data::Random(*random));
    }
    if let Some(number) = number(&value) {
        return Ok(Data::Constant(number));
    }
    if let Some(closure) = value.clone().try_cast::<FnPtr>() {
        return computed(call, tensor, &closure);
    }
    let Ok(list) = value.into_array() else {
        return Err(call.expected(&VALUE, expected));
    };
    let mut values = Vec::new();
    flatten(call, &list, tensor.shape().extents(), &mut values)?;
    listed(call, tensor, &values)
}

/// The elements of an array that has the shape and the type of the tensor.
fn held(call: &Call, tensor: &Tensor, array: &Numbers) -> Result<Data, Failure> {
    let (shape, elem) = (tensor.shape().extents(), tensor.elem());
    if array.shape() == shape && array.elem() == elem {
        Ok(Data::Values(array.values()))
    } else {
        let extents: String = shape.iter().map(|e| format!("[{e}]")).collect();
        let what = format!("is {array}, and `{}` is {elem}{extents}", tensor.label());
        let fits = "`let a = load(..); let A = tensor(a.shape, a.elem);` makes a tensor that fits";
        Err(call.fail(&VALUE, &what).help(fits))
    }
}

/// The elements of a padded tensor: those before its zeros are given.
fn padded(call: &Call, tensor: &Tensor, inner: &[u64]) -> Result<Data, Failure> {
    let shape = Shape::of_extents(inner.iter().copied());
    let data = whole(call, &tensor.stored_as(shape.clone()))?;
    let count = usize::try_from(tensor.shape().elements()).unwrap_or(usize::MAX);
    if matches!(data, Data::Unset) {
        return Ok(data);
    }
    let mut values = vec![ZERO; count];
    let mut next = 0;
    for (x, value) in values.iter_mut().enumerate() {
        if tensor.may_hold(x as u64) {
            *value = data.value(tensor.elem(), next).unwrap_or(ZERO);
            next += 1;
        }
    }
    listed(call, tensor, &values)
}

fn listed(call: &Call, tensor: &Tensor, values: &[Scalar]) -> Result<Data, Failure> {
    let values = Values::new(tensor, values).map_err(|error| call.refuse(&error.to_string()))?;
    Ok(Data::Values(Arc::new(values)))
}

/// The elements that the closure computes. If nothing reads the contents, only the first element is
/// computed, which reveals most mistakes.
fn computed(call: &Call, tensor: &Tensor, closure: &FnPtr) -> Result<Data, Failure> {
    let all = elements(call, tensor)?;
    let needed = call.workbench().runner.needs_inputs();
    let count = if needed { all } else { 1 };
    let extents = tensor.shape().extents();
    if needed
        && let Some(formula) = Formula::of(call.context(), closure, extents.len())
        && let Some(values) = formula.numbers(extents)
    {
        return listed(call, tensor, &values);
    }
    let index = |place: u64| -> Array {
        let index = indices(place, extents).into_iter();
        index.map(Dynamic::from_int).collect()
    };
    let mut values = Vec::with_capacity(count);
    for place in 0..count as u64 {
        let value: Dynamic = closure
            .call_raw(call.context(), None, index(place))
            .map_err(Failure::inside)?;
        match number(&value) {
            Some(number) => values.push(number),
            None => {
                let shown = values::show(&Dynamic::from_array(index(place)));
                let given = values::describe(&value);
                return Err(call.fail(
                    &VALUE,
                    &format!("must give numbers, but at {shown} gives {given}"),
                ));
            }
        }
    }
    let data = listed(call, tensor, &values)?;
    Ok(if needed { data } else { Data::Unset })
}

fn flatten(
    call: &Call,
    list: &Array,
    extents: &[u64],
    values: &mut Vec<Scalar>,
) -> Result<(), Failure> {
    let (extent, inner) = match extents {
        [] => (1, [].as_slice()),
        [extent, inner @ ..] => (*extent, inner),
    };
    if list.len() as u64 != extent {
        let (given, rest) = (list.len(), inner.len());
        let what = format!("has a list of {given} where the tensor has the extent {extent}");
        let failure = call.fail(&VALUE, &what);
        return Err(match rest {
            0 => failure,
            _ => failure.help("nest the lists as deep as the tensor has dimensions"),
        });
    }
    for item in list {
        match (inner, item.read_lock::<Array>()) {
            ([], None) => match number(item) {
                Some(number) => values.push(number),
                None => return Err(call.expected_but(&VALUE, "a list of numbers", item)),
            },
            ([_, ..], Some(list)) => flatten(call, &list, inner, values)?,
            _ => return Err(call.expected_but(&VALUE, "lists as deep as the tensor's rank", item)),
        }
    }
    Ok(())
}

const ZERO: Scalar = Scalar::Integer(0);

fn one_element(call: &Call, tensor: &Tensor, name: &Name, value: Scalar) -> Result<Data, Failure> {
    let expected = "a list of indices such as `[0, 1]`, counted from 0";
    let index = call.arg(&VALUE)?.into_array();
    let index = index.map_err(|_| call.expected(&VALUE, expected))?;
    let count = elements(call, tensor)?;
    let extents = tensor.shape().extents();
    if index.len() != extents.len() {
        let (rank, given) = (extents.len(), index.len());
        return Err(call.fail(
            &VALUE,
            &format!("must have {rank} indices, and has {given}"),
        ));
    }
    let mut flat = 0u64;
    for (d, (item, &extent)) in index.iter().zip(extents).enumerate() {
        let x = item
            .as_int()
            .map_err(|_| call.expected_but(&VALUE, expected, item))?;
        match u64::try_from(x) {
            Ok(x) if x < extent => flat = flat * extent + x,
            _ => {
                let what = format!(
                    "is outside of the tensor: index {} is {x}, and the extent is {extent}",
                    d + 1
                );
                return Err(call.fail(&VALUE, &what));
            }
        }
    }
    if !call.workbench().runner.needs_inputs() {
        return listed(call, tensor, &[value]).map(|_| Data::Unset);
    }
    let old = call.workbench().inputs.get(name).cloned();
    let old = old.unwrap_or(Data::Constant(ZERO));
    let elem = tensor.elem();
    let mut values: Vec<Scalar> = (0..count as u64)
        .map(|x| old.value(elem, x).unwrap_or(ZERO))
        .collect();
    if let Some(place) = usize::try_from(flat).ok().and_then(|k| values.get_mut(k)) {
        *place = value;
    }
    listed(call, tensor, &values)
}
