//! Queries of scripts and the library, about values and about the command line.

use super::size;
use crate::analysis::bounds::Bounds;
use crate::analysis::program::reads;
use crate::analysis::shape::virtual_shape;
use crate::analysis::{computation, facts, levels, position};
use crate::binding::call::{Call, Effect, Function, Parameter};
use crate::binding::conversion;
use crate::ir::{
    Affine, Expr, Index, Lookup, Loop, Name, Nest, Node, Program, Segment, Tensor, Variable,
};
use crate::lang::{self, Notation};
use crate::messages::fail::Failure;
use crate::values;
use crate::verbs::Size;
use rhai::{Array, Dynamic, Map};

pub(super) static NOTATION: Function = Function {
    name: "notation",
    topic: "queries",
    effect: Effect::None,
    params: &[Parameter::new("tree"), Parameter::optional("language")],
    returns: "string",
    doc: "\
The tree of a tensor expression or a nest as the TeML paper writes it (§3.1, Figs. 4–6).

With a program, or a tensor that an assignment computes, and `\"model\"`, `\"teil\"`, `\"sac\"` or `\"teml\"`: its text in that notation, which
`model`, `teil` and `sac` read; that of TeML is a script. A notation that has no such operation is an error.",
    call: |call| {
        if let Ok(program) = call.get::<Program>(0, "") {
            return in_notation(call, &program);
        }
        let tree = match call.get::<Nest>(0, "") {
            Ok(nest) => Err(nest),
            Err(_) => Ok(call.get::<Expr>(0, "a tensor, a nest or a program")?),
        };
        match (call.count(), tree) {
            (1, Ok(expr)) => Ok(expr.notation().into()),
            (1, Err(nest)) => Ok(nest.notation().into()),
            (_, Ok(expr)) if expr.is_assignment() => in_notation(call, &alone(&expr)),
            (_, tree) => {
                let what = match tree {
                    Ok(_) => "a tensor that nothing computes has no program to write",
                    Err(_) => "a nest has loops, which no notation of programs has",
                };
                // An unknown word is the first thing to say.
                language(call)?;
                let help = "leave it out for the tree, or give a program or an assignment such as `eq(…)`";
                Err(call.refuse(what).argument(1).help(help))
            }
        }
    },
};

/// The program of one assignment.
fn alone(assignment: &Expr) -> Program {
    let read = reads(assignment);
    let mut tensors: Vec<Tensor> = Vec::new();
    assignment.for_each_tensor(&mut |tensor| {
        if tensors.iter().all(|t| t.name() != tensor.name()) {
            tensors.push(tensor.clone());
        }
    });
    let variables = tensors.into_iter().map(|tensor| {
        let is_output = assignment.tensor().and_then(Tensor::name) == tensor.name();
        let is_input = tensor.name().is_some_and(|name| read.contains(name));
        Variable {
            tensor,
            is_input,
            is_output,
        }
    });
    Program::new(variables.collect(), vec![assignment.clone()])
}

/// Argument 1 as a notation of programs.
fn language(call: &Call) -> Result<Notation, Failure> {
    const LANGUAGES: [Notation; 4] = [
        Notation::Model,
        Notation::Teil,
        Notation::Sac,
        Notation::Teml,
    ];
    let expected = "one of \"model\", \"teil\", \"sac\" and \"teml\"";
    let name = match call.count() {
        2 => call.text(1)?,
        _ => return Err(call.expected(1, expected)),
    };
    let found = LANGUAGES.into_iter().find(|n| n.name() == name);
    found.ok_or_else(|| call.fail(1, &format!("must be {expected}, not `{name}`")))
}

fn in_notation(call: &Call, program: &Program) -> Result<Dynamic, Failure> {
    let written = lang::written(program, language(call)?);
    let written = written.map_err(|error| call.refuse(&error.to_string()).argument(0))?;
    Ok(written.into())
}

pub(super) static SHAPE: Function = Function {
    name: "shape",
    topic: "queries",
    effect: Effect::None,
    params: &[Parameter::new("tensor")],
    returns: "list",
    doc: "The extents of a tensor expression; for an assignment, the extents of its target.",
    call: |call| {
        let expr = call.expr(0)?;
        let of_iterators = match expr.node() {
            Node::Access {
                index: Index::At(_),
                ..
            } => virtual_shape(&expr).ok(),
            _ => None,
        };
        let of_tensor = expr.tensor().map(Tensor::shape);
        let shape = of_iterators.as_ref().or(of_tensor).or(expr.shape());
        let extents = shape.map_or(&[] as &[u64], |s| s.extents());
        let list: Array = extents
            .iter()
            .map(|e| Dynamic::from_int(e.cast_signed()))
            .collect();
        Ok(Dynamic::from_array(list))
    },
};

pub(super) static ITERATORS: Function = Function {
    name: "iterators",
    topic: "queries",
    effect: Effect::None,
    params: &[Parameter::new("of")],
    returns: "list",
    doc: "\
The iterators of a tensor expression, in order of appearance. A tensor, an assignment, and a
virtual tensor without iterators have none. Those of an index expression likewise.

With a number: as many fresh iterators, as in TeML §4.2, for operations that name none. `build`
gives them readable names.",
    call: |call| {
        let iterator = |name| Dynamic::from(values::Index::iterator(name, false));
        if let Ok(expr) = call.get::<Expr>(0, "") {
            let carries = !expr.is_assignment();
            let names = if carries {
                expr.iterators()
            } else {
                Vec::new()
            };
            return Ok(names.into_iter().map(iterator).collect::<Array>().into());
        }
        if let Ok(index) = call.get::<values::Index>(0, "")
            && !index.undeclared
        {
            let terms = index.affine.terms().iter();
            let names = terms.map(|(name, _)| iterator(name.clone()));
            return Ok(names.collect::<Array>().into());
        }
        let count: i64 = call.get(0, "a tensor expression or a number")?;
        if !(0..=64).contains(&count) {
            return Err(call.fail(0, "must be between 0 and 64"));
        }
        let fresh = |k: i64| iterator(Name::generated(usize::try_from(k).unwrap_or(0)));
        Ok(Dynamic::from_array((1..=count).map(fresh).collect()))
    },
};

pub(super) static LOOPS: Function = Function {
    name: "loops",
    topic: "queries",
    effect: Effect::None,
    params: &[Parameter::new("nest"), Parameter::optional("loop")],
    returns: "list",
    doc: "\
The names of the loops of a nest by level, from the outermost loop down to where the nest
branches.

With a loop, by level or by name: the loops around it, and the loop itself.",
    call: |call| {
        let nest = call.nest(0)?;
        let position = match call.count() {
            1 => position::deepest_level(&nest),
            _ => conversion::position(call, &nest, 1)?,
        };
        let chain = position::chain(&nest, &position);
        let names = chain.into_iter().map(|l| Dynamic::from(l.name.to_string()));
        Ok(names.collect::<Array>().into())
    },
};

pub(super) static DEPTH: Function = Function {
    name: "depth",
    topic: "queries",
    effect: Effect::None,
    params: &[Parameter::new("nest")],
    returns: "integer",
    doc: "The number of levels of a nest, from the outermost loop down to where it branches.",
    call: |call| {
        let nest = call.nest(0)?;
        let levels = position::deepest_level(&nest).len();
        Ok(Dynamic::from_int(i64::try_from(levels).unwrap_or(i64::MAX)))
    },
};

pub(super) static BOUNDS: Function = Function {
    name: "bounds",
    topic: "queries",
    effect: Effect::None,
    params: &[Parameter::new("nest"), Parameter::new("loop")],
    returns: "map",
    doc: "\
The range of a loop, as a map.

`lower` and `upper` list its bounds as index expressions; the greatest lower and the least upper
bound apply; bounds that are read from tensors are in their place. Where they are numbers, `first` is the first value, `end` the one after the last, and
`extent` how many there are; otherwise these are `()`. `step` is its step, and `iterators` lists
the loops that the bounds depend on.

`likely` is the `extent`, and for bounds with sizes the one at the likely sizes; `least` is the fewest
iterations that it has, and `limit` the most, for all sizes. Of bounds that are read, `likely` is an
average. `most` is how many iterations it has at most
each time that it runs, at the likely sizes, or `()` where that is not seen. `work` is how much these
compute: so many products that are added, or elements that are moved.",
    call: |call| {
        let nest = call.nest(0)?;
        let position = conversion::position(call, &nest, 1)?;
        let chain = position::chain(&nest, &position);
        let Some(range) = chain.last().map(|l| &l.range) else {
            return Ok(Dynamic::UNIT);
        };
        let depends = chain.iter().filter(|l| range.mentions(&l.name));
        let depends = depends.map(|l| Dynamic::from(l.name.to_string()));
        let mut map = Map::new();
        let read = |lookup: fn(&Segment) -> &Lookup, affine: &[Affine]| match &range.within {
            Some(segment) => expressions(&[lookup(segment).as_index()]),
            None => expressions(affine),
        };
        map.insert("lower".into(), read(|s| &s.lower, &range.lower));
        map.insert("upper".into(), read(|s| &s.upper, &range.upper));
        let is_affine = range.within.is_none();
        let numbers = |bounds: &[Affine]| -> Option<Vec<i64>> {
            let numbers = bounds.iter().map(Affine::as_constant);
            is_affine.then(|| numbers.collect()).flatten()
        };
        let first = numbers(&range.lower).and_then(|all| all.into_iter().max());
        let end = numbers(&range.upper).and_then(|all| all.into_iter().min());
        let number = |n: Option<i64>| n.map_or(Dynamic::UNIT, Dynamic::from_int);
        map.insert("first".into(), number(first));
        map.insert("end".into(), number(end));
        let extent = first.zip(end).map(|(first, end)| (end - first).max(0));
        map.insert("extent".into(), number(extent));
        let likely = range.likely().map(|(first, end)| (end - first).max(0));
        let usual = |most: i64| range.within.as_ref().map_or(most, |read| read.usual(most));
        let likely = likely.map(usual);
        map.insert("likely".into(), number(likely));
        if let Some((of, outer)) = chain.split_last() {
            let around = Bounds::around(&nest, outer.iter().map(|l| &***l));
            let spans = range.upper.iter().flat_map(|end| range.lower.iter().map(|l| end.minus(l)));
            let least = spans.filter_map(|span| Some(around.interval(&span)?.0.max(0))).min();
            map.insert("least".into(), number(least));
            let outer: Vec<&Loop> = outer.iter().map(|l| &***l).collect();
            let spans = range.upper.iter().flat_map(|end| range.lower.iter().map(|l| end.minus(l)));
            let all: Vec<&Loop> = nest.context().iter().chain(outer.iter().copied()).collect();
            let limits = spans.filter_map(|span| facts::most(&span, &all));
            map.insert("limit".into(), number(limits.min().map(|limit| limit.max(0))));
            let likely = Bounds::likely(&nest, outer.iter().copied());
            map.insert("most".into(), number(levels::trips(of, &likely)));
            let work = levels::work(of, &likely).min(i64::MAX as f64);
            map.insert("work".into(), Dynamic::from_int(work as i64));
        }
        map.insert("step".into(), range.step.into());
        map.insert("iterators".into(), depends.collect::<Array>().into());
        Ok(map.into())
    },
};

pub(super) static ACCESSES: Function = Function {
    name: "accesses",
    topic: "queries",
    effect: Effect::None,
    params: &[Parameter::new("nest")],
    returns: "list",
    doc: "\
The reads and writes of a nest, statement by statement, each with its write first: a list of
maps.

`tensor` is the name of the tensor, `bytes` the size of an element, and `extents` lists its extents.
For each dimension, `index` has the index expression and `loops` the list of the loops that move it. `coefficient` and
`offset` take an index apart. `write` says whether the access is a write. `update` says whether it
is an update such as `+=`, which also reads the element. `local` says whether the tensor is local to
the nest.",
    call: |call| {
        let nest = call.nest(0)?;
        let locals = nest.locals();
        let found = computation::accesses(nest.trees()).into_iter().map(|a| {
            let mut map = access(&a.tensor, &a.index, a.write, a.update);
            map.insert("local".into(), locals.contains(&&a.tensor).into());
            Dynamic::from(map)
        });
        Ok(found.collect::<Array>().into())
    },
};

/// An access as a map.
pub(super) fn access(tensor: &Tensor, index: &[Affine], write: bool, update: bool) -> Map {
    let loops = index.iter().map(|one| -> Dynamic {
        let names = one
            .terms()
            .iter()
            .map(|(name, _)| Dynamic::from(name.to_string()));
        names.collect::<Array>().into()
    });
    let mut map = Map::new();
    let name = tensor.name().map(ToString::to_string).unwrap_or_default();
    map.insert("tensor".into(), name.into());
    map.insert("bytes".into(), (tensor.elem().size() as i64).into());
    map.insert("extents".into(), expressions(&tensor.shape().dims()));
    map.insert("loops".into(), loops.collect::<Array>().into());
    map.insert("index".into(), expressions(index));
    map.insert("write".into(), write.into());
    map.insert("update".into(), update.into());
    map
}

fn expressions(list: &[Affine]) -> Dynamic {
    let list = list.iter().map(|affine| {
        Dynamic::from(values::Index {
            affine: affine.clone(),
            undeclared: false,
        })
    });
    list.collect::<Array>().into()
}

pub(super) static COEFFICIENT: Function = Function {
    name: "coefficient",
    topic: "queries",
    effect: Effect::None,
    params: &[Parameter::new("index"), Parameter::new("loop")],
    returns: "integer",
    doc: "\
The factor of a loop in an index expression, 0 if it is not there: a loop by its name or its handle.

```rhai
let A = tensor([10]);
let B = eq(A, [2*i + 1] -> [i]);
let read = accesses(build(B))[1].index[0];
print(`${read}: ${read.coefficient(\"i\")} and ${read.offset()}`);
```

```text
2*i + 1: 2 and 1
```",
    call: |call| {
        let index: values::Index = call.get(0, INDEX)?;
        let name = match (
            call.get::<crate::values::Handle>(1, ""),
            call.get::<values::Index>(1, ""),
        ) {
            (Ok(handle), _) => Some(handle.name().clone()),
            (_, Ok(index)) => index.affine.as_iterator().cloned(),
            _ => Name::new(&call.text(1)?).ok(),
        };
        let name = name.ok_or_else(|| call.expected(1, "the name or the handle of a loop"))?;
        Ok(index.affine.coefficient(&name).into())
    },
};

pub(super) static OFFSET: Function = Function {
    name: "offset",
    topic: "queries",
    effect: Effect::None,
    params: &[Parameter::new("index")],
    returns: "integer",
    doc: "The number that is added in an index expression.",
    call: |call| {
        let index: values::Index = call.get(0, INDEX)?;
        Ok(index.affine.offset().into())
    },
};

const INDEX: &str = "an index expression such as `2*i + j`";

pub(super) static VALUE: Function = Function {
    name: "value",
    topic: "queries",
    effect: Effect::None,
    params: &[Parameter::new("number")],
    returns: "integer",
    doc: "\
The number in a variable, where iterators are expected: `[value(n), j]` is row `n` of a matrix, and
`i + value(k)` starts at `k`. A name that reads as an iterator (one or two lowercase letters, then
digits and suffixes) is refused there if the variable of that name holds a number: `[n, j]` could
also mean the iterator `n`, which is written `iter(\"n\")`. Numbers and other names, as in
`[2, j]` and `[N - 1, j]`, need no `value`.",
    call: |call| call.int(0).map(Dynamic::from_int),
};

pub(super) static WRONG: Function = Function {
    name: "wrong",
    topic: "queries",
    effect: Effect::None,
    params: &[
        Parameter::new("argument"),
        Parameter::new("what"),
        Parameter::optional("help"),
    ],
    returns: "",
    doc: "\
Refuses an argument, in functions that check their arguments: the script ends with an error at
the call of the function that calls `wrong`.

The message is \"argument 2 `name`\", followed by `what`. Argument 0 means no particular
argument.",
    call: |call| {
        let (argument, what) = (call.int(0)?, call.text(1)?);
        let failure = Failure::new(what).of_caller();
        let failure = match usize::try_from(argument)
            .ok()
            .and_then(|k| k.checked_sub(1))
        {
            Some(k) => failure.argument(k),
            None => failure,
        };
        Err(match call.count() {
            3 => failure.help(call.text(2)?),
            _ => failure,
        })
    },
};

pub(super) static PARAM: Function = Function {
    name: "param",
    topic: "queries",
    effect: Effect::None,
    params: &[
        Parameter::new("name"),
        Parameter::new("default"),
        Parameter::optional("mini"),
    ],
    returns: "",
    doc: "\
The value that the command line sets with `--set NAME=VALUE`, or otherwise a default:
`param(\"n\", 1024, 17)`.

With `--size mini`, the third argument is the default if there is one: a tiny size for tests. With
`--size any`, an integer with such a third argument is a size, named `size_n` here, and its value is
the likely one. Otherwise the value has the default's type: an integer, a number, a truth value or a
string.",
    call: |call| {
        let name = call.text(0)?;
        let default = match call.workbench().size {
            Size::Mini if call.count() == 3 => call.value(2),
            _ => call.value(1),
        };
        let default = default.unwrap_or(Dynamic::UNIT);
        let any = call.workbench().size == Size::Any && call.count() == 3;
        let value = match call.workbench().parameters.take(&name) {
            None => Ok(default),
            Some(text) => given(call, (&name, text), &default),
        }?;
        match value.as_int() {
            Ok(likely) if any => size::of_any_value(call, &format!("size_{name}"), likely),
            _ => Ok(value),
        }
    },
};

/// The value of a setting of the command line, of the type of a default.
fn given(call: &Call, (name, text): (&str, String), default: &Dynamic) -> Result<Dynamic, Failure> {
    let value = match default.type_name() {
        "i64" => text.parse().ok().map(Dynamic::from_int),
        "f64" => text.parse().ok().map(Dynamic::from_float),
        "bool" => text.parse().ok().map(Dynamic::from_bool),
        "string" => Some(text.clone().into()),
        _ => return Err(call.expected(1, "an integer, a number, a truth value or a string")),
    };
    value.ok_or_else(|| {
        let wanted = values::type_in_words(default.type_name());
        call.refuse(&format!("--set {name}={text} should be {wanted}"))
    })
}
