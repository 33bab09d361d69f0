//! `run`: what nests compute.

use crate::binding::call::Call;
use crate::binding::function::{Effect, Function};
use crate::binding::param::NESTS;
use crate::ir::{Shape, Tensor};
use crate::messages::fail::Failure;
use crate::runtime::{Array, Scalar, Values};
use crate::values::Numbers;
use crate::verbs;
use rhai::{Dynamic, Map};
use std::sync::Arc;

pub(super) static RUN: Function = Function {
    name: "run",
    topic: "results",
    effect: Effect::Runs,
    params: &[NESTS.any()],
    returns: "results",
    doc: "\
Computes and checks a nest, or a list of nests that run in order: `run(plan)`.

The result is a map from the name of each written tensor to its elements, which are checked as
in `compare`: `let out = run(plan); save(out.C, \"c.npy\")`. `init(B, out.C)` makes them the contents
of another tensor. Inputs are a pattern of numbers unless `init` says otherwise.

```rhai
let A = tensor([2, 3]);
let B = eq(2 * A, [i, j] -> [i, j]);
init(A, |i, j| 10 * i + j);
let out = run(build(B));
print(out.B);
print(out.B[[1, 2]]);
let all = 0;
for x in out.B { all += x; }
print(all == sum(out.B));
```

```text
f64[2][3]:
   0.0   2.0   4.0
  20.0  22.0  24.0
24.0
true
```

- `out.B[[i, j]]` is an element, counted from 0; `y[i]` is one of an array with one dimension
- `for x in out.B` takes all elements in row-major order; `len` counts them
- `out.B.shape` and `out.B.elem` are the extents and the type
- `sum`, `mean`, `min`, `max` and `norm` reduce all elements to one number
- `close` and `difference` compare two arrays

Printed, matrices are rounded to 6 digits and large arrays shortened. `teml emit` runs nothing: there
every element is 0, and loops over elements have no iterations.",
    call: |call| {
        let nests = call.arg(&NESTS)?;
        if nests.is_empty() {
            return Err(call.expected(&NESTS, "a nest or a list of nests"));
        }
        let written = verbs::run(call.bench(), &nests);
        let written = written.map_err(|refusal| call.refused(refusal))?;
        let mut results = Map::new();
        for (tensor, values) in written {
            let shape = tensor.inner().unwrap_or(tensor.shape().extents());
            let shape = shape.to_vec();
            let values = before_zeros(call, &tensor, values)?;
            let values = Arc::new(values);
            let numbers = Numbers::of_result(Array { shape, values });
            results.insert(tensor.label().into(), Dynamic::from(numbers));
        }
        Ok(results.into())
    },
};

/// The elements of a result before the zeros of its storage.
fn before_zeros(call: &Call, tensor: &Tensor, values: Values) -> Result<Values, Failure> {
    let Some(inner) = tensor.inner() else {
        return Ok(values);
    };
    let view = values.view();
    let held = (0..view.len()).filter(|x| tensor.may_hold(*x as u64));
    let held: Vec<Scalar> = held.filter_map(|x| view.get(x)).collect();
    let inner = tensor.stored_as(Shape::of_extents(inner.iter().copied()));
    if view.is_empty() {
        return Ok(values);
    }
    Values::new(&inner, &held).map_err(|error| call.refuse(&error.to_string()))
}
