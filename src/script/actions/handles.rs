//! `made` and `handle`: loops and local tensors as values.

use crate::analysis::position::{self, Position};
use crate::binding::function::{Effect, Function};
use crate::binding::param::{NEST, Param};
use crate::values::{Handle, Made};
use rhai::Dynamic;

const LOOP: Param<Position> = Param::new("loop");

pub(super) static MADE: Function = Function {
    name: "made",
    topic: "queries",
    effect: Effect::None,
    params: &[NEST.any()],
    returns: "handles",
    doc: "\
The loops and buffers that the last step made, as handles.

A handle is a loop or a local tensor as a value. It is accepted wherever a name is, follows its loop
through later steps, and prints as the name. If a step ends the loop, using the handle is an error
that names the step.

- `stripmine` makes `outer`, `inner` and, with the tail `\"cut\"`, `tail`; `split_at` makes `tail`.
- `peel`, `fuse` and `separate` make `peeled`; `fuse`, `fuse_inner` and `fuse_outer` make `fused`,
  which handles of the loops in it go on to; guards are `guards`.
- `pack` makes a `buffer` and `loads`, the loops that fill it; `stage` also makes `stores`.
- `distribute` makes `parts`. The loops of the other nest are `placed` by `compute_at` and
  `reverse_compute_at`, once for each place.
- Loops that a step copies along with others are `copies`.

`outer`, `inner`, `tail`, `peeled`, `fused` and `buffer` are one handle, `()` if there is none, and a
list if there are several; the others are lists, and so is `buffers`. `loops` lists all new loops in
the order of the text. `m.copy_of(h)` is the loop that was made of the one of the handle `h`.

A call of the library counts as one step.

```rhai
let A = tensor([40, 50]);
let B = eq(A, [i, j] -> [j, i]);
let blocks = build(B).stripmine(\"i\", 8);
let i = blocks.made();
let copied = blocks.reorder([i.outer, \"j\", i.inner]).pack(i.outer, A);
print(copied.vectorize(i.inner).parallelize(i.outer));
print(copied.made());
```

```text
f64 B[50][40], A[40][50]
parallel for i_o in 0..5
  local f64 A_pack[8][50]
  for A_pack_1 in 0..8
    for A_pack_2 in 0..50
      A_pack[A_pack_1][A_pack_2] = A[A_pack_1 + 8*i_o][A_pack_2]
  for j in 0..50
    vector for i_i in 8*i_o..8*i_o + 8
      B[j][i_i] = A_pack[i_i - 8*i_o][j]
buffer: A_pack, load: A_pack_1, load: A_pack_2
```",
    call: |call| {
        let nest = call.arg(&NEST)?;
        let is_inside = call.site().is_some_and(|site| site.invocation.is_some());
        let all = if is_inside { nest.path().last().map(|(_, effects)| effects).into_iter().collect() } else { nest.path().last_entry() };
        Ok(Dynamic::from(Made::of(&nest, &all)))
    },
};

pub(super) static HANDLE: Function = Function {
    name: "handle",
    topic: "queries",
    effect: Effect::None,
    params: &[NEST.any(), LOOP.any()],
    returns: "handle",
    doc: "\
The handle of a loop, by level or by name: see `made`. `h.name` is its name.

```rhai
let A = tensor([40, 50]);
let B = eq(A, [i, j] -> [j, i]);
let j = build(B).handle(\"j\");
print(build(B).interchange(1, 2).vectorize(2).loops().index_of(j.name));
```

```text
1
```",
    call: |call| {
        let nest = call.arg(&NEST)?;
        let chain = position::chain(&nest, &call.arg(&LOOP)?);
        let found = chain.last().and_then(|l| {
            let birth = l.birth()?.clone();
            let name = l.name.clone();
            Some(Handle::Loop { birth, name })
        });
        let found = found.ok_or_else(|| call.fail(&NEST, "must be made by a step"))?;
        Ok(Dynamic::from(found))
    },
};
