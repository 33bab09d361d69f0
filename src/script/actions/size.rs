//! `size` and `specialize`: numbers that a kernel gets when it is called.

use crate::binding::call::{Call, Effect, Function, Parameter};
use crate::ir::{Affine, Name, Nest, Size};
use crate::messages::fail::Failure;
use crate::values::Index;
use crate::verbs;
use rhai::{Dynamic, Map};

pub(super) static SIZE: Function = Function {
    name: "size",
    topic: "expressions",
    effect: Effect::None,
    params: &[Parameter::new("name"), Parameter::optional("facts")],
    returns: "size",
    doc: "\
A number that a kernel gets when it is called: `size(\"M\")`. Extents and ranges take sizes and sums
of them.

```rhai
let m = size(\"M\"); let n = size(\"N\");
let A = tensor([m, n]);
let x = tensor([n]);
let y = einsum(\"ij,j->i\", A, x);
print(build(y));
print(check(build(y).parallelize(\"i\")));
```

```text
size M, N
f64 y[M], A[M][N], x[N]
fill y[0..M] = 0
for i in 0..M
  for j in 0..N
    y[i] += A[i][j] * x[j]
legal
```

A nest with sizes is proved for all of them at once, and its C is one function that has them as its
first arguments. A size is at least 0. Facts are `#{least: 1, most: 4096, multiple: 8, likely: 1000}`,
all optional. Proofs rely on the first three. Schedules and cost models assume the
likely size, and results do not depend on it. `--set M=100` sets it, and `--size mini` makes it tiny.

`compare` and `run` first check variants with sizes at small sizes that no tile divides, and then time
them at the likely ones. `specialize` gives the nest at given numbers.",
    call: |call| {
        let text = call.text(0)?;
        let name = Name::new(&text).map_err(|error| call.refuse(&error.to_string()).argument(0))?;
        let facts = facts(call)?;
        let mini = call.workbench().size == verbs::Size::Mini;
        let set = call.workbench().parameters.take(&text);
        let set = set.map(|text| text.parse::<i64>().map_err(|_| text)).transpose();
        let set = set.map_err(|given| {
            call.refuse(&format!("--set {text}={given} should be an integer"))
        })?;
        let size = match set {
            Some(likely) => Size { likely, ..facts },
            None if mini => facts.with_likely(MINI),
            None => facts.with_likely(facts.likely),
        };
        if !size.has(size.likely) {
            let what = format!("{} is not a value of `{text}`: it is in {}", size.likely, in_words(&size));
            return Err(call.refuse(&what));
        }
        let multiple = size.multiple;
        let size = name.with_size(size);
        let whole = Affine::iterator(size);
        let affine = match multiple {
            1 => whole,
            multiple => match whole.quotient_of_sizes(multiple) {
                Some(quotient) => quotient.times(multiple),
                None => whole,
            },
        };
        Ok(Dynamic::from(Index { affine, undeclared: false }))
    },
};

pub(super) static SPECIALIZE: Function = Function {
    name: "specialize",
    topic: "steps",
    effect: Effect::None,
    params: &[Parameter::new("nest"), Parameter::new("sizes")],
    returns: "nest",
    doc: "\
The nest with numbers for its sizes: `specialize(plan, #{M: 100, N: 200})`. Its C is for these alone.
Sizes that are left out are the likely ones.

```rhai
let n = size(\"N\");
let x = tensor([n]);
let y = eq(2 * x, [i]);
print(specialize(build(y), #{N: 10}));
```

```text
f64 y[10], x[10]
for i in 0..10
  y[i] = 2 * x[i]
```",
    call: |call| {
        let nest = call.nest(0)?;
        let values = values(call, 1, std::slice::from_ref(&nest))?;
        Ok(Dynamic::from(nest.at_sizes(&values).specialized()))
    },
};

/// The greatest number that a size can be.
const LIMIT: i64 = 1 << 40;

/// The tiny value of a size, for tests.
const MINI: i64 = 17;

/// The facts of a call.
fn facts(call: &Call) -> Result<Size, Failure> {
    let mut facts = Size::default();
    if call.count() < 2 {
        return Ok(facts);
    }
    let expected = "a map of facts such as `#{least: 1, likely: 1000}`";
    let map: Map = call.get(1, expected)?;
    for (key, value) in &map {
        let number = value
            .as_int()
            .map_err(|_| call.expected_but(1, expected, value))?;
        match key.as_str() {
            "least" => facts.least = number,
            "most" => facts.most = number,
            "multiple" => facts.multiple = number,
            "likely" => facts.likely = number,
            other => {
                let what =
                    format!("has no fact `{other}`: facts are least, most, multiple, likely");
                return Err(call.fail(1, &what));
            }
        }
    }
    let is_range = 0 <= facts.least && facts.least <= facts.most && facts.most <= LIMIT;
    if !is_range || facts.multiple < 1 {
        let what = format!("needs 0 <= least <= most <= {LIMIT}, and a multiple of at least 1");
        return Err(call.fail(1, &what));
    }
    Ok(facts)
}

/// The values of a size.
fn in_words(size: &Size) -> String {
    let multiples = match size.multiple {
        1 => String::new(),
        multiple => format!(", and a multiple of {multiple}"),
    };
    format!("{}..={}{multiples}", size.least, size.most)
}

/// Argument `k` as values of sizes of nests.
pub(super) fn values(call: &Call, k: usize, nests: &[Nest]) -> Result<Vec<(Name, i64)>, Failure> {
    let expected = "a map of sizes such as `#{M: 100}`";
    let map: Map = call.get(k, expected)?;
    values_of(call, k, &map, nests)
}

pub(super) fn values_of(
    call: &Call,
    k: usize,
    map: &Map,
    nests: &[Nest],
) -> Result<Vec<(Name, i64)>, Failure> {
    let expected = "a map of sizes such as `#{M: 100}`";
    let sizes = verbs::sizes(nests);
    let mut values = Vec::with_capacity(map.len());
    for (key, value) in map {
        let value = value
            .as_int()
            .map_err(|_| call.expected_but(k, expected, value))?;
        let Some(name) = sizes.iter().find(|name| name.as_str() == key.as_str()) else {
            let names: Vec<&str> = sizes.iter().map(Name::as_str).collect();
            let known = match names.as_slice() {
                [] => "the nest has no sizes".to_owned(),
                names => format!("the sizes are {}", names.join(", ")),
            };
            return Err(call.fail(k, &format!("has `{key}`, and {known}")));
        };
        if let Some(size) = name.size().filter(|size| !size.has(value)) {
            let what = format!("has {name} = {value}, but {name} is in {}", in_words(size));
            return Err(call.fail(k, &what));
        }
        values.push((name.clone(), value));
    }
    Ok(values)
}
