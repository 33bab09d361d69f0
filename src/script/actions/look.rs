//! Queries of scripts and the library, about values and about the command line.

use super::size;
use crate::analysis::bounds::Bounds;
use crate::analysis::position::Position;
use crate::analysis::program::reads;
use crate::analysis::{computation, facts, levels, position, shape};
use crate::binding::call::Call;
use crate::binding::conversion::unknown_option;
use crate::binding::function::{Effect, Function};
use crate::binding::param::{Argument, NEST, Names, Param, Words, arguments, held};
use crate::binding::takes::{Takes, Type};
use crate::ir::{Affine, Expr, Loop, Name, Nest, Program, Tensor, Variable};
use crate::lang::{self, Notation};
use crate::messages::fail::Failure;
use crate::values;
use crate::verbs::Size;
use rhai::{Array, Dynamic, Map};

const TREE: Param<Notated> = Param::new("tree");
const LANGUAGE: Param<Option<Notation>> = Param::new("language");
const TENSOR: Param<Expr> = Param::new("tensor");
const OF: Param<Dynamic> = Param::new("of");
const COUNT: Param<i64> = Param::new("of").being("a tensor expression or a number");
const LOOP: Param<Position> = Param::new("loop");
const INNERMOST: Param<Option<Position>> = Param::new("loop");
const NAMED: Param<Moved> = Param::new("loop");
const INDEX: Param<values::Index> = Param::new("index");
const NUMBER: Param<i64> = Param::new("number");
const ARGUMENT: Param<i64> = Param::new("argument");
const WHAT: Param<String> = Param::new("what");
const HELP: Param<Option<String>> = Param::new("help");
const OPTIONS: Param<Dynamic> = Param::new("options");
const NAMES: Param<Names> = Param::new("names");
const NAME: Param<String> = Param::new("name");
const DEFAULT: Param<Dynamic> = Param::new("default");
const MINI: Param<Option<Dynamic>> = Param::new("mini");

/// A tree that the notation of TeML can show.
enum Notated {
    Program(Program),
    Nest(Nest),
    Expr(Expr),
}

/// A loop that moves an index, by its name or its handle.
struct Moved(Name);

arguments! {
    Notated, "a tensor, a nest or a program", Takes::Value(Type::Nest), |p| p.read(|v| {
        let program = held(v).map(Notated::Program);
        program.or_else(|| held(v).map(Notated::Nest)).or_else(|| held(v).map(Notated::Expr))
    });
    Moved, "the name or the handle of a loop", Takes::Loops, |p| p.read(|v| {
        let handle = v.read_lock::<values::Handle>().map(|handle| handle.name().clone());
        let index = || v.read_lock::<values::Index>()?.affine.as_iterator().cloned();
        let text = || Name::new(&v.clone().into_string().ok()?).ok();
        handle.or_else(index).or_else(text).map(Moved)
    });
}

impl Words for Notation {
    const WORDS: &'static [(&'static str, Notation)] = &[
        ("model", Notation::Model),
        ("teil", Notation::Teil),
        ("sac", Notation::Sac),
        ("teml", Notation::Teml),
    ];
}

pub(super) static NOTATION: Function = Function {
    name: "notation",
    topic: "queries",
    effect: Effect::None,
    params: &[TREE.any(), LANGUAGE.any()],
    returns: "string",
    doc: "\
The tree of a tensor expression or a nest as the TeML paper writes it (§3.1, Figs. 4–6).

With a program, or a tensor that an assignment computes, and `\"model\"`, `\"teil\"`, `\"sac\"` or `\"teml\"`: its text in that notation, which
`model`, `teil` and `sac` read; that of TeML is a script. A notation that has no such operation is an error.",
    call: |call| {
        let what = match (call.arg(&TREE)?, call.arg(&LANGUAGE)?) {
            (Notated::Program(_), None) => {
                return Err(call.expected(&LANGUAGE, &Notation::expected()));
            }
            (Notated::Program(program), Some(language)) => {
                return in_notation(call, &program, language);
            }
            (Notated::Expr(expr), None) => return Ok(expr.notation().into()),
            (Notated::Nest(nest), None) => return Ok(nest.notation().into()),
            (Notated::Expr(expr), Some(language)) if expr.is_assignment() => {
                return in_notation(call, &alone(&expr), language);
            }
            (Notated::Expr(_), _) => "a tensor that nothing computes has no program to write",
            (Notated::Nest(_), _) => "a nest has loops, which no notation of programs has",
        };
        let help = "leave it out for the tree, or give a program or an assignment such as `eq(…)`";
        Err(call.blame(&LANGUAGE, what).help(help))
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

fn in_notation(call: &Call, program: &Program, language: Notation) -> Result<Dynamic, Failure> {
    let written = lang::written(program, language);
    let written = written.map_err(|error| call.blame(&TREE, &error.to_string()))?;
    Ok(written.into())
}

pub(super) static SHAPE: Function = Function {
    name: "shape",
    topic: "queries",
    effect: Effect::None,
    params: &[TENSOR.any()],
    returns: "list",
    doc: "\
The extents of a tensor expression; for an assignment, the extents of its target. Extents are numbers,
or expressions of sizes.",
    call: |call| {
        let extents = shape::extents(&call.arg(&TENSOR)?).into_iter();
        let list = extents.map(|affine| match affine.as_constant() {
            Some(extent) => Dynamic::from_int(extent),
            None => index(affine),
        });
        Ok(list.collect::<Array>().into())
    },
};

pub(super) static ITERATORS: Function = Function {
    name: "iterators",
    topic: "queries",
    effect: Effect::None,
    params: &[OF.any()],
    returns: "list",
    doc: "\
The iterators of a tensor expression, in order of appearance. A tensor, an assignment, and a
virtual tensor without iterators have none. Those of an index expression likewise.

With a number: as many fresh iterators, as in TeML §4.2, for operations that name none. `build`
gives them readable names.",
    call: |call| {
        let iterator = |name| Dynamic::from(values::Index::iterator(name, false));
        let of = call.arg(&OF)?;
        if let Some(expr) = of.read_lock::<Expr>() {
            let carries = !expr.is_assignment();
            let names = if carries {
                expr.iterators()
            } else {
                Vec::new()
            };
            return Ok(names.into_iter().map(iterator).collect::<Array>().into());
        }
        if let Some(index) = of.read_lock::<values::Index>()
            && !index.undeclared
        {
            let terms = index.affine.terms().iter();
            let names = terms.map(|(name, _)| iterator(name.clone()));
            return Ok(names.collect::<Array>().into());
        }
        let count = call.arg(&COUNT)?;
        if !(0..=64).contains(&count) {
            return Err(call.fail(&OF, "must be between 0 and 64"));
        }
        let fresh = |k: i64| iterator(Name::generated(usize::try_from(k).unwrap_or(0)));
        Ok(Dynamic::from_array((1..=count).map(fresh).collect()))
    },
};

pub(super) static LOOPS: Function = Function {
    name: "loops",
    topic: "queries",
    effect: Effect::None,
    params: &[NEST.any(), INNERMOST.any()],
    returns: "list",
    doc: "\
The names of the loops of a nest by level, from the outermost loop down to where the nest
branches.

With a loop, by level or by name: the loops around it, and the loop itself.",
    call: |call| {
        let nest = call.arg(&NEST)?;
        let position = call.arg(&INNERMOST)?;
        let position = position.unwrap_or_else(|| position::deepest_level(&nest));
        let chain = position::chain(&nest, &position);
        let names = chain.into_iter().map(|l| Dynamic::from(l.name.to_string()));
        Ok(names.collect::<Array>().into())
    },
};

pub(super) static DEPTH: Function = Function {
    name: "depth",
    topic: "queries",
    effect: Effect::None,
    params: &[NEST.any()],
    returns: "integer",
    doc: "The number of levels of a nest, from the outermost loop down to where it branches.",
    call: |call| {
        let nest = call.arg(&NEST)?;
        let levels = position::deepest_level(&nest).len();
        Ok(Dynamic::from_int(i64::try_from(levels).unwrap_or(i64::MAX)))
    },
};

pub(super) static BOUNDS: Function = Function {
    name: "bounds",
    topic: "queries",
    effect: Effect::None,
    params: &[NEST.any(), LOOP.any()],
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
        let nest = call.arg(&NEST)?;
        let position = call.arg(&LOOP)?;
        let chain = position::chain(&nest, &position);
        let Some(range) = chain.last().map(|l| &l.range) else {
            return Ok(Dynamic::UNIT);
        };
        let depends = chain.iter().filter(|l| range.mentions(&l.name));
        let depends = depends.map(|l| Dynamic::from(l.name.to_string()));
        let mut map = Map::new();
        map.insert("lower".into(), expressions(&range.written_lower()));
        map.insert("upper".into(), expressions(&range.written_upper()));
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
        map.insert("step".into(), range.stride().into());
        map.insert("iterators".into(), depends.collect::<Array>().into());
        Ok(map.into())
    },
};

pub(super) static ACCESSES: Function = Function {
    name: "accesses",
    topic: "queries",
    effect: Effect::None,
    params: &[NEST.any()],
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
        let nest = call.arg(&NEST)?;
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
    list.iter().cloned().map(index).collect::<Array>().into()
}

fn index(affine: Affine) -> Dynamic {
    Dynamic::from(values::Index {
        affine,
        undeclared: false,
    })
}

pub(super) static COEFFICIENT: Function = Function {
    name: "coefficient",
    topic: "queries",
    effect: Effect::None,
    params: &[INDEX.any(), NAMED.any()],
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
        let (index, Moved(name)) = (call.arg(&INDEX)?, call.arg(&NAMED)?);
        Ok(index.affine.coefficient(&name).into())
    },
};

pub(super) static OFFSET: Function = Function {
    name: "offset",
    topic: "queries",
    effect: Effect::None,
    params: &[INDEX.any()],
    returns: "integer",
    doc: "The number that is added in an index expression.",
    call: |call| Ok(call.arg(&INDEX)?.affine.offset().into()),
};

pub(super) static VALUE: Function = Function {
    name: "value",
    topic: "queries",
    effect: Effect::None,
    params: &[NUMBER.any()],
    returns: "integer",
    doc: "\
The number in a variable, where iterators are expected: `[value(n), j]` is row `n` of a matrix, and
`i + value(k)` starts at `k`. A name that reads as an iterator (one or two lowercase letters, then
digits and suffixes) is refused there if the variable of that name holds a number: `[n, j]` could
also mean the iterator `n`, which is written `iter(\"n\")`. Numbers and other names, as in
`[2, j]` and `[N - 1, j]`, need no `value`.",
    call: |call| call.arg(&NUMBER).map(Dynamic::from_int),
};

pub(super) static WRONG: Function = Function {
    name: "wrong",
    topic: "queries",
    effect: Effect::None,
    params: &[ARGUMENT.any(), WHAT.any(), HELP.any()],
    returns: "",
    doc: "\
Refuses an argument, in functions that check their arguments: the script ends with an error at
the call of the function that calls `wrong`.

The message is \"argument 2 `name`\", followed by `what`. Argument 0 means no particular
argument.",
    call: |call| {
        let failure = of_caller(call, call.arg(&WHAT)?)?;
        Err(call.arg(&HELP)?.into_iter().fold(failure, Failure::help))
    },
};

/// A failure of the function that calls this one, in the argument that it names.
fn of_caller(call: &Call, what: String) -> Result<Failure, Failure> {
    let failure = Failure::new(what).of_caller();
    let argument = usize::try_from(call.arg(&ARGUMENT)?).ok();
    let argument = argument.and_then(|k| k.checked_sub(1));
    Ok(argument.into_iter().fold(failure, Failure::argument))
}

pub(super) static KNOWN_OPTIONS: Function = Function {
    name: "known_options",
    topic: "queries",
    effect: Effect::None,
    params: &[ARGUMENT.any(), OPTIONS.any(), NAMES.any()],
    returns: "",
    doc: "\
Refuses options that have other names than these, in functions that check their arguments: `known_options(2, options, [\"rows\", \"columns\"])`.

The error is that of `wrong`. It names the option that is meant if one is alike.",
    call: |call| {
        let (options, Names(names)) = (call.arg(&OPTIONS)?, call.arg(&NAMES)?);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let wrong = match options.read_lock::<Map>() {
            Some(map) => unknown_option(&map, &names),
            None => Some((
                "must be a map of options".to_owned(),
                format!("it has {}", names.join(", ")),
            )),
        };
        match wrong {
            Some((what, help)) => Err(of_caller(call, what)?.help(help)),
            None => Ok(Dynamic::UNIT),
        }
    },
};

pub(super) static PARAM: Function = Function {
    name: "param",
    topic: "queries",
    effect: Effect::None,
    params: &[NAME.any(), DEFAULT.any(), MINI.any()],
    returns: "",
    doc: "\
The value that the command line sets with `--set NAME=VALUE`, or otherwise a default:
`param(\"n\", 1024, 17)`.

With `--size mini`, the third argument is the default if there is one: a tiny size for tests. With
`--size any`, an integer with such a third argument is a size, named `size_n` here, and its value is
the likely one. Otherwise the value has the default's type: an integer, a number, a truth value or a
string.",
    call: |call| {
        let (name, default, mini) = (call.arg(&NAME)?, call.arg(&DEFAULT)?, call.arg(&MINI)?);
        let size = call.workbench().size;
        let any = size == Size::Any && mini.is_some();
        let default = mini.filter(|_| size == Size::Mini).unwrap_or(default);
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
        _ => return Err(call.expected(&DEFAULT, "an integer, a number, a truth value or a string")),
    };
    value.ok_or_else(|| {
        let wanted = values::type_in_words(default.type_name());
        call.refuse(&format!("--set {name}={text} should be {wanted}"))
    })
}
