//! `tree` and `untree`: expressions and nests as maps and lists, and back.

use crate::binding::call::Call;
use crate::binding::function::{Effect, Function};
use crate::binding::param::Param;
use crate::ir::{Affine, Expr, Nest};
use crate::messages::fail::Failure;
use crate::transform::nest::text::NEST;
use crate::transform::{self, Arg, Error};
use crate::trees::{self, Closed, Replacement};
use crate::values::Index;
use crate::verbs::namesake;
use rhai::Dynamic;

const OF: Param<Dynamic> = Param::new("of");
const OF_TREE: Param<Dynamic> = Param::new("tree");
const X: Param<Dynamic> = Param::new("x");
const OLD: Param<Dynamic> = Param::new("old");
const PART: Param<Expr> = Param::new("old");
const NEW: Param<Dynamic> = Param::new("new");

pub(super) static TREE: Function = Function {
    name: "tree",
    topic: "trees",
    effect: Effect::None,
    params: &[OF.any()],
    returns: "map",
    doc: "\
A tensor expression or a nest as a map, which a script can read, take apart and change. `untree`
makes the expression or the nest of it again. `tree` of a map makes trees of the tensor expressions
and numbers in it.

```rhai
let A = tensor([4, 5]);
let x = tensor([5]);
let y = eq(vsum(vmul(A, x, [[i, j], [j]]) * 2, [j]), [i]);
let t = tree(y);
print(`${t.kind} of ${t.target.name}: ${t.value.op} over ${t.value.iterators}`);
let product = t.value.operands[0];
print(`${product.kind} ${product.op} of ${product.operands.map(|o| o.kind)}`);
let l = tree(build(y)).body[1];
print(`${l.kind} ${l.name} in ${l.lower}..${l.upper}, ${l.mode}`);
```

```text
assignment of y: sum over [j]
op * of [\"op\", \"number\"]
loop i in [0]..[4], serial
```

Each map has a `kind`. Expressions:

- `access`: the `indices` of an element of a tensor, `()` for a tensor without iterators. Its
  `name`, `elem` and `shape` describe the tensor, and `tensor` is the tensor itself.
- `number`: its `value` and `elem`. `index`: an `index` expression as a value.
- `op`: an element-wise operation: `op` is `+`, `-`, `*`, `/`, `min`, `max`, `pow`, `mod`, a function
  such as `sqrt`, an element type for a conversion, or `select`, whose `comparison` compares the
  first two of its `operands`.
- `reduction`: `op` is `sum`, `prod`, `min` or `max` over `iterators`, some of which have `ranges`.
- `virtual`: an expression whose `iterators` are placeholders.
- `assignment`: a `target`, which is like an access, its `value`, the `ranges` given to iterators,
  and the number `elsewhere`. `pieces`: a list of assignments, and the assignment `otherwise`.

Reductions and virtual expressions have one item in `operands`. `elem` and `shape` of operations,
reductions and virtual expressions are those of the result.

A `nest` has a `body`: a list of loops and statements, in order. `of` is the nest itself.

- `loop`: its `name`, the lists `lower` and `upper` of its bounds, `step`, `mode` (`serial`,
  `parallel`, `vector` or `parallel vector`) and `body`. Parallel loops have `collapse`, `schedule`,
  `chunk`, `threshold`, `work` and `atomic`, vector loops `lanes`. Loops with hints have `prefetch`, `stream`, `remark`.
- `statement`: a `target`, a `value`, and the operation of an `update` such as `+=`.
- `fill`: the tensor, a `region` with `first` and `extent` for each dimension, and a `value`.
- `local`: a tensor that lives to the end of the list.",
    call: |call| {
        let value = call.arg(&OF)?;
        let is_tree = value.is_map() || value.is_int() || value.is_float();
        if is_tree || value.is::<Expr>() || value.is::<Nest>() {
            Ok(opened(&value))
        } else {
            Err(call.expected(&OF, "a tensor expression or a nest"))
        }
    },
};

pub(super) static REPLACE: Function = Function {
    name: "replace",
    topic: "trees",
    effect: Effect::None,
    params: &[X.any(), OLD.any(), NEW.any()],
    returns: "what x is",
    doc: "\
An expression, a nest, a tree or an index in which `new` takes the place of `old`: an iterator, a
tensor, or another expression. A tensor without indices is replaced wherever it is read.

```rhai
let A = tensor([4, 4]);
let B = eq(vat(A, [i, j]) + 1, [i, j]);
print(replace(B.value, i, 2*j));
print(replace(B, vat(A, [i, j]), vat(A, [j, i])));
print(replace([i, i + j], i, 3));
```

```text
f64 A[4][4]
A[2*j][j] + 1
f64 B[4][4], A[4][4]
B[i][j] = A[j][i] + 1
[3, j + 3]
```

Loops, reductions and virtual expressions with an iterator of the name of `old` hide it: they stay
as they are. A nest that changed is its own definition, as with `untree`.

Refuses: what `untree` refuses.",
    call: |call| {
        let (old, new) = (call.arg(&OLD)?, call.arg(&NEW)?);
        let by = if let Some(index) = old.read_lock::<Index>() {
            let name = index.affine.as_iterator().cloned();
            let name = name.ok_or_else(|| call.expected(&OLD, "an iterator or an expression"))?;
            let value = new.read_lock::<Index>().map(|index| index.affine.clone());
            let value = value.or_else(|| new.as_int().ok().map(Affine::constant));
            let value = value.ok_or_else(|| call.expected(&NEW, "an index or an integer"))?;
            Replacement::Iterator(name, value)
        } else {
            Replacement::of_part(&call.arg(&PART)?, &new)
        };
        let of = call.arg(&X)?;
        let is_whole = of.is::<Expr>() || of.is::<Nest>();
        let made = trees::replaced(&opened(&of), &by);
        if is_whole {
            closed(call, &made)
        } else {
            Ok(made)
        }
    },
};

pub(super) static UNTREE: Function = Function {
    name: "untree",
    topic: "trees",
    effect: Effect::None,
    params: &[OF_TREE.any()],
    returns: "tensor or nest",
    doc: "\
The expression or the nest of a tree, such as `tree` makes: `untree(tree(x))` is `x`.

```rhai
let A = tensor([4]);
let B = eq(A * 2, [i] -> [i]);
let t = tree(B);
t.value.op = \"+\";
t.value.operands[1] = t.value.operands[0];
t.target.name = \"C\";
print(untree(t));
let nest = tree(build(B));
nest.body[0].mode = \"parallel\";
print(untree(nest));
```

```text
f64 C[4], A[4]
C[i] = A[i] + A[i]
f64 B[4], A[4]
parallel for i in 0..4
  B[i] = A[i] * 2
```

Tensor expressions and numbers can take the place of trees in `operands` and in `value`. `elem` and
`shape` of operations, reductions and virtual expressions are not read: they follow from the
operands. An access, a target, a fill or a local tensor is that of `tensor` if `name`, `elem` and
`shape` are those of it, or left out, and of another tensor otherwise.

A nest that was not changed is the nest that was opened, with its definition and its path. A nest
that was changed is its own definition, as if `nest` had read its text, and is proved likewise:
`check(changed, nest)` compares both definitions.

Refuses: what does not fit its kind, with the place in the tree, such as `operands[1].name`; what
the operations that make such expressions refuse; what `nest` refuses.",
    call: |call| {
        let value = call.arg(&OF_TREE)?;
        if value.is::<Nest>() || value.is::<Expr>() {
            return Ok(value);
        }
        closed(call, &value)
    },
};

/// The tree of an expression or a nest.
fn opened(value: &Dynamic) -> Dynamic {
    match value.read_lock::<Nest>() {
        Some(nest) => trees::of_nest(&nest),
        None => trees::opened(value),
    }
}

/// The expression or the nest of a tree.
fn closed(call: &Call, tree: &Dynamic) -> Result<Dynamic, Failure> {
    let elem = call.workbench().elem;
    let closed = trees::closed(tree, elem).map_err(|wrong| {
        let failure = call.fail(0, &wrong.what);
        wrong.help.into_iter().fold(failure, Failure::help)
    })?;
    match closed {
        Closed::Nest(nest) => Ok(Dynamic::from(nest)),
        Closed::Text { text, places } => written(call, text, &places),
        Closed::Expr(expr) => {
            noted(call, &expr)?;
            Ok(Dynamic::from(expr))
        }
    }
}

/// Notes an assignment, so that what needs its tensor computes it.
fn noted(call: &Call, expr: &Expr) -> Result<(), Failure> {
    if !expr.is_assignment() || expr.tensor().is_none_or(|tensor| tensor.name().is_none()) {
        return Ok(());
    }
    if let Some((tensor, _)) = namesake(expr) {
        let what = format!("has two tensors named `{}`", tensor.label());
        return Err(call.fail(0, &what));
    }
    let site = call.site();
    let mut bench = call.workbench();
    if !bench.definitions.has(expr) {
        bench.definitions.made(expr, site);
    }
    Ok(())
}

/// The nest of a text whose lines have these places in the tree.
fn written(call: &Call, text: String, places: &[String]) -> Result<Dynamic, Failure> {
    let lines = text.lines().count();
    let made = transform::apply(&NEST, &[Arg::Word(text.clone())], call.site());
    let nest = made.and_then(transform::Value::nest);
    nest.map(Dynamic::from)
        .map_err(|error| misplaced(call, &error, &text, lines - places.len().min(lines), places))
}

/// The failure for a text that does not describe a nest, with the places in the tree.
fn misplaced(
    call: &Call,
    error: &Error,
    text: &str,
    declarations: usize,
    places: &[String],
) -> Failure {
    let Some(first) = error.places.first() else {
        let failure = call.fail(0, &format!("makes no nest: {error}"));
        return error.help.iter().fold(failure, |f, help| f.help(help));
    };
    let before = text.get(..first.span.start).unwrap_or_default();
    let line = before.matches('\n').count();
    let place = line.checked_sub(declarations).and_then(|k| places.get(k));
    let what = match place {
        Some(place) => format!("is wrong: `{place}`: {}", first.message),
        None => format!("makes no nest: {}", first.message),
    };
    let failure = call.fail(0, &what);
    first.help.iter().fold(failure, |f, help| f.help(help))
}
