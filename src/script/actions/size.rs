//! `size`: a number that a kernel gets when it is called.

use crate::binding::call::Call;
use crate::binding::function::{Effect, Function};
use crate::binding::param::{Options, Param};
use crate::ir::{Affine, Name, Size};
use crate::messages::fail::Failure;
use crate::values::Index;
use crate::verbs;
use rhai::Dynamic;

const NAME: Param<Name> = Param::new("name");
const FACTS: Param<Options> =
    Param::new("facts").with(&[LEAST.any(), MOST.any(), MULTIPLE.any(), LIKELY.any()]);
const LEAST: Param<Option<i64>> = Param::new("least");
const MOST: Param<Option<i64>> = Param::new("most");
const MULTIPLE: Param<Option<i64>> = Param::new("multiple");
const LIKELY: Param<Option<i64>> = Param::new("likely");

pub(super) static SIZE: Function = Function {
    name: "size",
    topic: "expressions",
    effect: Effect::None,
    params: &[NAME.any(), FACTS.any()],
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
them at the likely ones. `specialize` makes a plan for some sizes, and `dispatch` chooses one of
several when the kernel is called.",
    call: |call| {
        let name = call.arg(&NAME)?;
        let text = name.to_string();
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
        Ok(of_facts(call, name, size))
    },
};

fn of_facts(call: &Call, name: Name, size: Size) -> Dynamic {
    let name = name.with_size(size);
    let mut bench = call.workbench();
    bench.sizes.retain(|known| *known != name);
    bench.sizes.push(name.clone());
    let affine = Affine::size(name);
    let undeclared = false;
    Dynamic::from(Index { affine, undeclared })
}

/// A size without facts. `name` is the first argument.
pub(super) fn of_any_value(call: &Call, name: &str, likely: i64) -> Result<Dynamic, Failure> {
    let name = Name::new(name).map_err(|error| call.blame(0, &error.to_string()))?;
    Ok(of_facts(call, name, Size::default().with_likely(likely)))
}

/// The greatest number that a size can be.
const LIMIT: i64 = 1 << 40;

/// The tiny value of a size, for tests.
const MINI: i64 = 17;

/// The facts of a call.
fn facts(call: &Call) -> Result<Size, Failure> {
    let (given, known) = (call.options(&FACTS)?, Size::default());
    let facts = Size {
        least: given.get(&LEAST)?.unwrap_or(known.least),
        most: given.get(&MOST)?.unwrap_or(known.most),
        multiple: given.get(&MULTIPLE)?.unwrap_or(known.multiple),
        likely: given.get(&LIKELY)?.unwrap_or(known.likely),
        ..known
    };
    let is_range = 0 <= facts.least && facts.least <= facts.most && facts.most <= LIMIT;
    if !is_range || facts.multiple < 1 {
        let what = format!("needs 0 <= least <= most <= {LIMIT}, and a multiple of at least 1");
        return Err(call.fail(&FACTS, &what));
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
