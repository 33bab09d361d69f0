//! Programs: texts in the notations of other papers, as values of scripts.

use crate::analysis::program;
use crate::analysis::work::flops;
use crate::binding::call::Call;
use crate::binding::function::{Effect, Function};
use crate::binding::operand_names;
use crate::binding::param::{Names, Param, arguments};
use crate::binding::takes::{Takes, Type};
use crate::ir::{Expr, Name, Nest, Program};
use crate::lang::{self, Notation, Setting};
use crate::legality::{Reductions, is_compatible};
use crate::messages::fail::{Failure, Unread};
use crate::transform::lift;
use crate::transform::memory;
use crate::transform::padding::{self, NotPadded};
use crate::transform::program as steps;
use crate::verbs;
use rhai::{Array, Dynamic, Identifier, Map};
use std::collections::BTreeMap;
use std::path::Path;

const TEXT: Param<String> = Param::new("text");
const PATH: Param<String> = Param::new("path");
const SIZES: Param<Option<Sizes>> = Param::new("sizes");
const PROGRAM_OF: Param<Program> = Param::new("program");
const MULTIPLE: Param<Option<i64>> = Param::new("multiple").being("a vector length, such as 8");
const COUNTED: Param<Expr> =
    Param::new("program").being("a program, an assignment or a list of assignments");
const ASSIGNMENT: Param<Expr> = Param::new("assignment").being("an assignment or a program");
const OUTPUTS: Param<Expr> = Param::new("outputs");
const OF: Param<Program> = Param::new("of");
const NAMES: Param<Names> = Param::new("names");

/// The numbers that a map gives to names.
struct Sizes(BTreeMap<String, u64>);

arguments! {
    Sizes, "a map of sizes, such as `#{n: 100}`", Takes::Value(Type::Map), |p| {
        let size = |(name, value): (&Identifier, &Dynamic)| {
            let size = u64::try_from(value.as_int().unwrap_or(0)).ok();
            let size = size.filter(|size| *size > 0).ok_or_else(|| p.expected(Some(value)))?;
            Ok((name.to_string(), size))
        };
        Map::of(p)?.iter().map(size).collect::<Result<_, _>>().map(Sizes)
    };
}

pub(super) static MODEL: Function = Function {
    name: "model",
    topic: "programs",
    effect: Effect::None,
    params: &[TEXT.any(), SIZES.any()],
    returns: "program",
    doc: "\
Reads a program in the model language (Rink 2018).

    model(`
      var input A : [300 400]
      var input B : [400 500]
      var output C : [300 500]
      C = (A # B).[2 3]
    `)

`u # v` is the tensor product, `u.[m n]` a contraction, `u.[[2 9] [4 8]]` several, and `u^[m n]` a
transposition; `+ - * /` work element by element, `*` with a scalar on its left, `/` with one on its
right. All operators associate to the left: `A - B * C` is `(A - B) * C`. Dimensions are counted
from 1. Extents are numbers, or names, which get values from the map. `input` and `output` say what
is set before and read afterwards.",
    call: |call| of_text(call, Notation::Model),
};

pub(super) static TEIL: Function = Function {
    name: "teil",
    topic: "programs",
    effect: Effect::None,
    params: &[TEXT.any(), SIZES.any()],
    returns: "program",
    doc: "\
Reads a program in TeIL (Rink and Castrillon 2019).

    teil(`
      alloc A : [l, m]
      alloc B : [m, n]
      alloc C : [l, n]
      C = red+ 2 (diag 2 3 (prod A B))
    `, #{l: 300, m: 400, n: 500})

The operations are `add`, `sub`, `mul`, `div`, `prod`, `red+`, `red*`, `redmin`, `redmax`, `transp`,
`diag`, `expa`, `proj` and `contr`, and beyond the paper, `shift`: element j of `shift i n e` is
element j - n of `e` along dimension i, or 0 outside. Dimensions and indices are counted from 1.
Extents are numbers, or names, which get values from the map. Core-TeIL leaves out the first dimensions: `red+ e`,
`diag e`, `transp i e`, `expa n e`, `proj m e`.",
    call: |call| of_text(call, Notation::Teil),
};

pub(super) static SAC: Function = Function {
    name: "sac",
    topic: "programs",
    effect: Effect::None,
    params: &[TEXT.any(), SIZES.any()],
    returns: "program",
    doc: "\
Reads a program in SaC's tensor comprehensions (Scholz and Šinkarovs 2019).

    sac(`
      double[300,400] A;
      double[400,500] B;
      C = { [i,j] -> sum({ [k] -> A[i,k] * B[k,j] }) };
    `)

`{ iv -> e | l <= iv < u; … }` has partitions: the first one that holds an index counts, and the last
one says the shape. Upper bounds that are missing are inferred from selections, also from such as
`a[i + 1]`, and elements that no partition holds are 0. Bounds may depend on index variables, and
`step [4] width [2]` takes the first 2 of every 4 indices. Index patterns are `iv`, `[i,j]`,
`[i,.,j]` and `[...,i]`. There are also with-loops, `take`, `drop`, `++`, `shape`, `sum`, functions
of elements, comparisons, `c ? x : y`, and functions of your own:
`double[*] f(double[*] a) { return a + 1; }`.

In a script, one array expression needs no quotes, and has the script's tensors and integers:
`let w = sac { [i] -> v[i - 1] + v[i] | [1] <= [i] < [n] };`.",
    call: |call| of_text(call, Notation::Sac),
};

pub(super) static OPERATORS: Function = Function {
    name: "operators",
    topic: "programs",
    effect: Effect::None,
    params: &[TEXT.any(), SIZES.any()],
    returns: "program",
    doc: "\
Reads a program in the operator language (TeIL, §5).

    operators(`
      auto A = Matrix(n, n), B = Matrix(n, n), C = Matrix(n, n);
      auto u = Tensor<3>(n, n, n);
      auto v = (A*B*C)(u);
    `, #{n: 16})

`A*B*C` is the tensor product of operators. There are also sums, multiples and quotients by numbers,
of operators and of tensors, and `auto L = A*B + B*A/2;` names an operator. A tensor may have further
dimensions, a batch, before or after the operands of an operator: `Tensor<4>(e, n, n, n)`.
`lifted` makes steps of two factors each.",
    call: |call| of_text(call, Notation::Operators),
};

pub(super) static LIFTED: Function = Function {
    name: "lifted",
    topic: "programs",
    effect: Effect::None,
    params: &[PROGRAM_OF.any()],
    returns: "program",
    doc: "\
The program with every sum of products in steps of two factors each, in the order with the fewest
operations (TeIL, §5): `(A*B*C)(u)` takes O(n⁴) operations instead of O(n⁶). Products have up to 12
factors. `operations` counts. Floating-point numbers are rounded differently, which needs
`reductions(\"reassoc\")`.",
    call: |call| {
        let program = call.arg(&PROGRAM_OF)?;
        let is_float = |e: &Expr| e.elem().is_float();
        let allowed = call.workbench().settings.reductions == Reductions::Reassociate;
        if program.assignments().iter().any(is_float) && !allowed {
            return Err(call
                .fail(
                    &PROGRAM_OF,
                    "has sums of floating-point numbers, which would be rounded in other places",
                )
                .help("`reductions(\"reassoc\")` before it allows that"));
        }
        match lift::lifted(&program) {
            Ok(lifted) => Ok(Dynamic::from(lifted)),
            Err(error) => Err(call.fail(&PROGRAM_OF, &error.to_string())),
        }
    },
};

pub(super) static PADDED: Function = Function {
    name: "padded_storage",
    topic: "programs",
    effect: Effect::None,
    params: &[PROGRAM_OF.any(), MULTIPLE.any()],
    returns: "program",
    doc: "\
The program over extents that are multiples of the vector length, with zeros beyond the old ones
(model language, §4).

    padded_storage(model(`
      var input A : [5 7]
      var input x : [7]
      var output y : [5]
      y = (A # x).[2 3]
    `), 8)

copies A and x between zeros, multiplies 8 x 8 elements, and copies 5 of them to y. All vectors of
the product are full. Operations must keep zeros: sums, differences, products and contractions do,
and divisions become controlled, so that 0 over anything is 0. Without `multiple`, the vector length
is the number of elements in a vector register of the machine that C is generated for.",
    call: |call| {
        let program = call.arg(&PROGRAM_OF)?;
        let multiple = match call.arg(&MULTIPLE)? {
            None => {
                let bytes = call.workbench().settings.options.target.vector_bytes();
                let all = program.variables().iter();
                let widest = all.map(|v| v.tensor.elem().size() as u64).max();
                (bytes / widest.unwrap_or(8).max(1)).max(1)
            }
            Some(given) => u64::try_from(given).unwrap_or(0),
        };
        padding::padded(&program, multiple)
            .map(Dynamic::from)
            .map_err(|error| match error {
                NotPadded::Multiple(_) => call.fail(&MULTIPLE, "must be 1 to 4096"),
                other => call.fail(&PROGRAM_OF, &format!("cannot be padded: {other}")),
            })
    },
};

pub(super) static OPERATIONS: Function = Function {
    name: "operations",
    topic: "programs",
    effect: Effect::None,
    params: &[PROGRAM_OF.any()],
    returns: "number",
    doc: "\
The number of arithmetic operations of a program, of an assignment, of a list of assignments, or of
the definition of a nest, as these say them.",
    call: |call| {
        if let Ok(nest) = call.get::<Nest>(0, "") {
            let definition = nest.definition().to_vec();
            return operations_of(call, &definition);
        }
        let assignments = match (call.arg(&PROGRAM_OF), call.get::<Array>(0, "a list")) {
            (Ok(program), _) => program.assignments().to_vec(),
            (_, Ok(list)) => {
                let all = list.into_iter().map(Dynamic::try_cast::<Expr>);
                let all = all.collect::<Option<Vec<Expr>>>();
                all.ok_or_else(|| call.fail(&COUNTED, "must be a list of assignments"))?
            }
            _ => vec![call.arg(&COUNTED)?],
        };
        operations_of(call, &assignments)
    },
};

/// The number of arithmetic operations of some assignments.
pub(super) fn operations_of(call: &Call, assignments: &[Expr]) -> Result<Dynamic, Failure> {
    let mut total = 0.0;
    for assignment in assignments {
        total += flops(&build(call, assignment)?).unwrap_or(0.0);
    }
    let whole = total.fract() == 0.0 && total < 2f64.powi(53);
    Ok(if whole {
        Dynamic::from_int(total as i64)
    } else {
        Dynamic::from_float(total)
    })
}

pub(super) static COMPATIBLE: Function = Function {
    name: "compatible",
    topic: "programs",
    effect: Effect::None,
    params: &[ASSIGNMENT.any()],
    returns: "bool",
    doc: "\
Whether an assignment is compatible: for each element of its target, no other element of it is read
(Ullrich 2018, definition 2). It then runs in place, in any order and in parallel.

    compatible(model(`
      var x : [9]
      var U : [9 9]
      x = (x # U).[2 3]
      x = (U # x).[2 3]
    `))

is `[true, false]`: the second assignment reads all of `x` for each element. With a program, the
answer is a list; with one assignment, as `eq` makes it, a bool.",
    call: |call| {
        let answer = |assignment: &Expr| match is_compatible(assignment) {
            Ok(Some(answer)) => Ok(Dynamic::from_bool(answer)),
            Ok(None) => Err(call.fail(
                &ASSIGNMENT,
                "must be an assignment of one piece, as `eq` makes it",
            )),
            Err(error) => Err(call.refuse(&error.to_string())),
        };
        if let Ok(program) = call.get::<Program>(0, "") {
            let answers = program.assignments().iter().map(answer);
            return Ok(answers.collect::<Result<Array, _>>()?.into());
        }
        answer(&call.arg(&ASSIGNMENT)?)
    },
};

pub(super) static READ_PROGRAM: Function = Function {
    name: "read_program",
    topic: "programs",
    effect: Effect::None,
    params: &[PATH.any(), SIZES.any()],
    returns: "program",
    doc: "\
The program in a file: `.tml` is the model language, `.teil` TeIL, `.sac` SaC, `.op` the operator
language. Paths are relative to the current directory.",
    call: |call| {
        let file = call.arg(&PATH)?;
        let Some(notation) = Notation::of_file(Path::new(&file)) else {
            let known = Notation::ALL.map(|n| format!(".{}", n.extension()));
            let what = format!("must end with one of {}, not `{file}`", known.join(", "));
            return Err(call.fail(&PATH, &what));
        };
        let text = std::fs::read_to_string(&file);
        let text = text.map_err(|e| call.blame(&PATH, &format!("cannot read {file}: {e}")))?;
        let read = lang::read(notation, &text, &setting(call)?);
        let program =
            read.map_err(|problems| Failure::unread(Unread::new(&file, &text, problems)))?;
        Ok(Dynamic::from(program))
    },
};

fn of_text(call: &Call, notation: Notation) -> Result<Dynamic, Failure> {
    let text = call.arg(&TEXT)?;
    let read = lang::read(notation, &text, &setting(call)?);
    let program = read.map_err(|problems| {
        Failure::unread(Unread::new(notation.name(), &text, problems)).argument(0)
    })?;
    Ok(Dynamic::from(program))
}

/// The sizes in the last argument, and the type that `elem` set.
fn setting(call: &Call) -> Result<Setting, Failure> {
    let elem = call.workbench().elem;
    let sizes = call
        .arg(&SIZES)?
        .map_or_else(BTreeMap::new, |Sizes(sizes)| sizes);
    Ok(Setting { sizes, elem })
}

fn build(call: &Call, assignment: &Expr) -> Result<Nest, Failure> {
    verbs::built(assignment, call.site().as_ref()).map_err(Failure::operation)
}

pub(super) static PROGRAM: Function = Function {
    name: "program",
    topic: "programs",
    effect: Effect::None,
    params: &[OUTPUTS.any()],
    returns: "program",
    doc: "\
The program that computes a tensor or a list of tensors, with all that they need.

```rhai
let A = tensor([4, 5]);
let x = tensor([5]);
let y = einsum(\"ij,j->i\", A, x);
let s = einsum(\"i,i->\", y, y);
let p = program(s);
print(p);
print(variables(p).temporaries);
```

```text
input f64 A[4][5]
input f64 x[5]
f64 y[4]
output f64 s[]
y[i] = sum(j: A[i][j] * x[j])
s[] = sum(i: y[i] * y[i])
[\"y\"]
```

Tensors that nothing assigns are inputs, the tensors of the list are outputs, and the others are
temporaries. `compare`, `check`, `codegen`, `export_kernel`, `run` and all functions on programs take
the result.

Refuses: tensors that nothing computes.",
    call: |call| {
        let outputs = match outputs(call)? {
            Some(list) => list,
            None => vec![call.arg(&OUTPUTS)?],
        };
        Ok(Dynamic::from(collected(call, &outputs)?))
    },
};

/// The program that computes tensors.
fn collected(call: &Call, outputs: &[Expr]) -> Result<Program, Failure> {
    let named = |output: &Expr| operand_names::operand(output.clone(), call.shared());
    let outputs = outputs
        .iter()
        .map(named)
        .collect::<Result<Vec<Expr>, _>>()?;
    operand_names::tell_apart(&outputs, call.shared());
    let current = |output: &Expr| call.workbench().definitions.current(output);
    let outputs: Vec<Expr> = outputs.iter().map(current).collect();
    let made = verbs::program(call.bench(), &outputs);
    made.map_err(|refusal| call.refused(refusal))
}

/// The tensors of a list that is the first argument. `None` if it is not a list.
fn outputs(call: &Call) -> Result<Option<Vec<Expr>>, Failure> {
    let Ok(list) = call.get::<Array>(0, "") else {
        return Ok(None);
    };
    if list.is_empty() {
        return Err(call.fail(0, "is an empty list"));
    }
    let expr = |item: &Dynamic| item.read_lock::<Expr>().map(|expr| expr.clone());
    let expr = |item| expr(item).ok_or_else(|| call.expected_but(0, "a list of tensors", item));
    list.iter().map(expr).collect::<Result<_, _>>().map(Some)
}

pub(super) static NESTS: Function = Function {
    name: "nests",
    topic: "programs",
    effect: Effect::None,
    params: &[OF.any()],
    returns: "list",
    doc: "\
A loop nest for each assignment of a program, in order, as `build` makes them. All tensors are
arguments of the kernel. Nests keep what the program declares: its outputs are results, even if a
later assignment reads them, and its temporaries are not.

Of a tensor, `nests(Y)` gives the nests of all assignments that it needs, back to tensors that
nothing assigns. Of a list of tensors, it gives those of `program(list)`. Where several of these tensors have one name, as after a loop of the script, those
after the first get names of their own.

Of a nest, as `build` makes it of a tensor with operands such as `exp(A)`, it gives a nest for each
assignment. The operands are then arguments.",
    call: |call| {
        if let Ok(nest) = call.get::<Nest>(0, "") {
            let list: Array = apart(call, &nest)?.into_iter().map(Dynamic::from).collect();
            return Ok(list.into());
        }
        let tensor = call.expr(0).ok();
        let stored = tensor.map(|tensor| call.assignment(&tensor)).transpose()?;
        let nests = match stored.flatten() {
            Some(stored) => call.nests_of(&stored)?,
            None => match outputs(call)? {
                Some(outputs) => call.nests_of_program(&collected(call, &outputs)?)?,
                None => call.nests_of_program(&call.arg(&OF)?)?,
            },
        };
        let list: Array = nests.into_iter().map(Dynamic::from).collect();
        Ok(list.into())
    },
};

/// A nest for each assignment of a nest that no step has changed.
fn apart(call: &Call, nest: &Nest) -> Result<Vec<Nest>, Failure> {
    let site = call.site();
    let assignments = nest.definition().iter();
    let nests = assignments.map(|one| verbs::built(one, site.as_ref()));
    let nests: Vec<Nest> = nests
        .collect::<Result<_, _>>()
        .map_err(Failure::operation)?;
    let locals = nest.locals().into_iter().filter_map(|local| local.name());
    let locals: Vec<Name> = locals.cloned().collect();
    let built = verbs::joined(nests.clone(), &locals).map_err(Failure::operation)?;
    match built == *nest {
        true => Ok(nests),
        false => Err(call.fail(&OF, "must be a nest as `build` makes it")),
    }
}

pub(super) static ONE_NEST: Function = Function {
    name: "one_nest",
    topic: "programs",
    effect: Effect::None,
    params: &[PROGRAM_OF.any()],
    returns: "nest",
    doc: "\
One loop nest for all assignments of a program, in order, whose temporaries are local to it.",
    call: |call| {
        let program = call.arg(&PROGRAM_OF)?;
        if program.assignments().is_empty() {
            return Err(call.fail(&PROGRAM_OF, "assigns nothing"));
        }
        let locals = program::temporaries(&program);
        let nest = verbs::joined(call.nests_of_program(&program)?, &locals);
        Ok(Dynamic::from(
            nest.map_err(Failure::operation)?.without_path(),
        ))
    },
};

pub(super) static ASSIGNMENTS: Function = Function {
    name: "assignments",
    topic: "programs",
    effect: Effect::None,
    params: &[PROGRAM_OF.any()],
    returns: "list",
    doc: "The assignments of a program, in order, as tensor expressions.",
    call: |call| {
        let program = call.arg(&PROGRAM_OF)?;
        let list = program.assignments().iter().cloned().map(Dynamic::from);
        Ok(list.collect::<Array>().into())
    },
};

pub(super) static VARIABLES: Function = Function {
    name: "variables",
    topic: "programs",
    effect: Effect::None,
    params: &[PROGRAM_OF.any()],
    returns: "map",
    doc: "\
The names of a program's tensors, by what they are for: `inputs`, `outputs`, `temporaries`, and
`unused`. Without qualifiers, inputs are used before anything assigns them, and all assigned tensors
are outputs.",
    call: |call| {
        let program = call.arg(&PROGRAM_OF)?;
        let list = |names: Vec<Name>| -> Dynamic {
            let names = names.iter().map(|name| name.to_string().into());
            names.collect::<Array>().into()
        };
        let mut map = Map::new();
        map.insert("inputs".into(), list(program::inputs(&program)));
        map.insert("outputs".into(), list(program::outputs(&program)));
        map.insert("temporaries".into(), list(program::temporaries(&program)));
        map.insert("unused".into(), list(program::unused(&program)));
        Ok(map.into())
    },
};

pub(super) static LIVE: Function = Function {
    name: "without_dead_code",
    topic: "programs",
    effect: Effect::None,
    params: &[PROGRAM_OF.any()],
    returns: "program",
    doc: "\
The program without assignments that no output depends on (model language, §5).",
    call: |call| {
        Ok(Dynamic::from(steps::without_dead_code(
            &call.arg(&PROGRAM_OF)?,
        )))
    },
};

pub(super) static COPIED: Function = Function {
    name: "without_copied_temporaries",
    topic: "programs",
    effect: Effect::None,
    params: &[PROGRAM_OF.any()],
    returns: "map",
    doc: "\
Computes temporaries in the tensors to which they are copied (avoid-copy; thesis, §6.1). The map has
the `program`, and where temporaries are `placed`: a list of a `temporary` and its `holder` each.

```rhai
let p = model(`
  var input x : [9] var output y : [9] var t : [9]
  t = x + x
  y = t
`);
print(without_copied_temporaries(p).program);
```

```text
input f64 x[9]
output f64 y[9]
y[i1] = x[i1] + x[i1]
```",
    call: |call| {
        Ok(placed(memory::without_copied_temporaries(
            &call.arg(&PROGRAM_OF)?,
        )))
    },
};

pub(super) static OVER: Function = Function {
    name: "over_last_operands",
    topic: "programs",
    effect: Effect::None,
    params: &[PROGRAM_OF.any(), NAMES.any()],
    returns: "map",
    doc: "\
Computes temporaries with these names over temporaries that they are the last to read, element by
element (reduce-cache-miss; thesis, §6.2.1). The map is that of `without_copied_temporaries`.",
    call: |call| {
        let program = call.arg(&PROGRAM_OF)?;
        let all = program::temporaries(&program);
        let mut names = Vec::new();
        for given in call.arg(&NAMES)?.0 {
            let Some(name) = all.iter().find(|name| name.as_str() == given) else {
                return Err(call.fail(
                    &NAMES,
                    &format!("has `{given}`, and the program has no such temporary"),
                ));
            };
            names.push(name.clone());
        }
        Ok(placed(memory::over_last_operands(&program, &names)))
    },
};

fn placed((program, placed): (Program, Vec<memory::Placed>)) -> Dynamic {
    let list = placed.into_iter().map(|one| {
        let names = [("temporary", one.temporary), ("holder", one.holder)];
        let names = names.map(|(key, name)| (key.into(), name.to_string().into()));
        Dynamic::from_map(Map::from(names))
    });
    let list: Array = list.collect();
    Dynamic::from_map(Map::from([
        ("program".into(), Dynamic::from(program)),
        ("placed".into(), list.into()),
    ]))
}

pub(super) static COMMON: Function = Function {
    name: "without_common_subexpressions",
    topic: "programs",
    effect: Effect::None,
    params: &[PROGRAM_OF.any()],
    returns: "program",
    doc: "\
The program in which a sum that occurs several times, with the values of its tensors unchanged in
between, is computed once, into a temporary (model language, §5).",
    call: |call| {
        Ok(Dynamic::from(steps::without_common_subexpressions(
            &call.arg(&PROGRAM_OF)?,
        )))
    },
};
