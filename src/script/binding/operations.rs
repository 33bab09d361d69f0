//! The operations of [`crate::transform::OPS`] as functions and methods of scripts.

use crate::binding::call::{self, Call, Callee};
use crate::binding::conversion::{as_loop, convert};
use crate::binding::operand_names;
use crate::binding::ranges;
use crate::binding::state::Shared;
use crate::ir::{Affine, Constant, Elem, Expr, Name, Nest, Node};
use crate::messages::fail::{Failure, Unread};
use crate::transform::nest::build::BUILD;
use crate::transform::nest::fuse::FUSE;
use crate::transform::nest::fuse_outer::FUSE_OUTER;
use crate::transform::nest::interchange::INTERCHANGE;
use crate::transform::nest::pad::PAD;
use crate::transform::nest::text::NEST;
use crate::transform::tensor::declare::{SCALAR, TENSOR};
use crate::transform::tensor::eq::EQ;
use crate::transform::tensor::pad::PAD_TENSOR;
use crate::transform::{self, Arg, Kind, LoopRef, Number, Op, Value};
use crate::values;
use crate::verbs;
use rhai::{Array, Dynamic, Engine, Map};

/// Another form of an operation: other arguments under the same name.
pub struct Form {
    /// The operation.
    pub op: &'static Op,
    params: &'static [&'static str],
    /// The call.
    pub signature: &'static str,
    /// The operation that it is if its arguments and its help are its own.
    pub other: Option<&'static Op>,
    /// Whether a call of the operation means this form.
    is_meant: fn(&Call) -> bool,
    call: fn(&Call) -> Result<Dynamic, Failure>,
}

/// All other forms.
pub static FORMS: &[Form] = &[
    // Without loops, the arguments are two nests.
    Form {
        op: &FUSE,
        params: &["first", "second"],
        signature: "fuse(first, second, level?) -> nest",
        other: None,
        is_meant: |call| call.get::<Nest>(1, "").is_ok(),
        call: fuse_nests,
    },
    Form {
        op: &PAD,
        params: &["tensor", "multiple"],
        signature: "pad(tensor, multiple) -> tensor",
        other: Some(&PAD_TENSOR),
        is_meant: |call| call.nest(0).is_err(),
        call: |call| apply(&PAD_TENSOR, call, &args(&PAD_TENSOR, call)?),
    },
    // The paper gives both loops in a list.
    Form {
        op: &INTERCHANGE,
        params: &["nest", "loops"],
        signature: "interchange(nest, [first, second]) -> nest",
        other: None,
        is_meant: |_| false,
        call: interchange_list,
    },
];

/// The other forms of the operation of this name.
pub fn forms(name: &str) -> impl Iterator<Item = &'static Form> {
    FORMS.iter().filter(move |form| form.op.name == name)
}

/// Registers every operation and its other forms.
pub fn register(engine: &mut Engine, shared: &Shared) {
    for op in transform::OPS {
        let callee = Callee {
            name: op.name,
            params: op.params.iter().map(|p| p.name).collect(),
            signature: op.signature(),
            writes: false,
        };
        call::register_raw(engine, shared, callee, op.required(), |call| {
            match forms(op.name).find(|form| (form.is_meant)(call)) {
                Some(form) => (form.call)(call),
                None => apply(op, call, &args(op, call)?),
            }
        });
    }
    for form in FORMS {
        let callee = Callee {
            name: form.op.name,
            params: form.params.to_vec(),
            signature: form.signature.to_owned(),
            writes: false,
        };
        call::register_raw(engine, shared, callee, form.params.len(), form.call);
    }
}

/// Interchanges the two loops of a list.
fn interchange_list(call: &Call) -> Result<Dynamic, Failure> {
    let nest = call.nest(0)?;
    let wrong = || {
        let failure = call.expected(1, "a list of two loops such as `[2, 3]`");
        failure.help("without a list, each loop is an argument: interchange(nest, 2, 3)")
    };
    let list: Array = call.get(1, "").map_err(|_| wrong())?;
    let loops = list.iter().map(|item| as_loop(call, 1, item));
    let loops: Vec<Option<LoopRef>> = loops.collect::<Result<_, _>>()?;
    let [Some(first), Some(second)] = loops.as_slice() else {
        return Err(wrong());
    };
    let [first, second] = [first, second].map(|l| Arg::Loop(l.clone()));
    apply(&INTERCHANGE, call, &[Arg::Nest(nest), first, second])
}

/// Fuses the outer loops of two nests: the outermost one, or as many as the level says.
fn fuse_nests(call: &Call) -> Result<Dynamic, Failure> {
    let first = call.nest(0)?;
    let second = call.nest(1).map_err(|failure| match call.expr(1) {
        Ok(_) => failure,
        Err(_) => failure.help("two loops of a nest fuse as fuse(nest, \"i\", \"j\")"),
    })?;
    if call.count() > 3 {
        return Err(call.refuse("takes two nests and a level, or a nest and two of its loops"));
    }
    let level = if call.count() == 3 { call.int(2)? } else { 1 };
    let nests = [Arg::Nest(first), Arg::Nest(second), Arg::Int(level)];
    apply(&FUSE_OUTER, call, &nests)
}

/// The arguments of a call, in the order of the parameters.
fn args(op: &'static Op, call: &Call) -> Result<Vec<Arg>, Failure> {
    let is_list = |k: usize| call.value(k).is_some_and(|value| value.is_array());
    if op.name == TENSOR.name && is_list(1) && !is_list(0) {
        // The paper has the element type first.
        let mut args = vec![
            convert(call, 1, Kind::Extents)?,
            convert(call, 0, Kind::Elem)?,
        ];
        if call.count() > 2 {
            args.push(convert(call, 2, Kind::Text)?);
        }
        return Ok(args);
    }
    let last = call.count().saturating_sub(1);
    let takes_ranges = op.params.last().is_some_and(|p| p.kind == Kind::Ranges);
    let map = call.value(last).and_then(Dynamic::try_cast::<Map>);
    let options = map.as_ref().and_then(|map| options_of(op, map));
    let ranged = takes_ranges && map.is_some() && options.is_none();
    let of_map = ranged || (takes_ranges && options.is_some());
    let params = op.params[..call.count() - usize::from(of_map)]
        .iter()
        .enumerate();
    let args: Result<Vec<Arg>, Failure> = params
        .map(|(k, param)| convert(call, k, param.kind))
        .collect();
    let mut args = args?;
    // The element type comes after the extents, and a scalar has none.
    let declares =
        (op.name == TENSOR.name && args.len() == 1) || (op.name == SCALAR.name && args.is_empty());
    if declares {
        args.push(Arg::Elem(call.workbench().elem));
    }
    if let (true, Some(Arg::Number(number))) = (op.name == EQ.name, args.first())
        && let Some(constant) = constant(*number, call.workbench().elem)
    {
        args[0] = Arg::Expr(Expr::new(Node::Constant(constant)));
    }
    if let (true, Some(Arg::Word(text))) = (op.name == NEST.name, args.first()) {
        let text = with_sizes(text, &call.workbench().sizes);
        args[0] = Arg::Word(text);
    }
    if let (Some(kind), true) = (options, of_map) {
        args.push(convert(call, last, kind)?);
    }
    if ranged {
        let domain = ranges::ranges(call, last, &in_play(&args))?;
        args.push(Arg::Ranges(domain));
    }
    Ok(args)
}

/// The text of a nest with declarations of the script's sizes that it mentions and does not declare.
/// They come last, so that lines keep their numbers.
fn with_sizes(text: &str, sizes: &[Name]) -> String {
    let words = |line: &str| -> Vec<String> {
        let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.map(str::to_owned).collect()
    };
    let declarations = text
        .lines()
        .filter(|line| line.trim_start().starts_with("size "));
    let all = words(text);
    // The iterator of a loop is not the size of that name.
    let looped = all.windows(2).filter(|pair| pair[0] == "for");
    let own = declarations.flat_map(words);
    let own: Vec<String> = own.chain(looped.map(|pair| pair[1].clone())).collect();
    let has = |words: &[String], name: &Name| words.iter().any(|word| word == name.as_str());
    let missing = sizes
        .iter()
        .filter(|name| has(&all, name) && !has(&own, name));
    missing.fold(text.to_owned(), |text, name| {
        format!(
            "{}\nsize {}",
            text.trim_end_matches('\n'),
            declaration(name)
        )
    })
}

/// A size and its facts, as texts of nests declare it.
fn declaration(name: &Name) -> String {
    let facts = name.size().map(|size| size.facts()).unwrap_or_default();
    let facts = facts
        .into_iter()
        .map(|(fact, value)| format!(" {fact} {value}"));
    format!("{name}{}", facts.collect::<String>())
}

/// The kind of the options of an operation, if a map names one of them rather than an iterator.
fn options_of(op: &Op, map: &Map) -> Option<Kind> {
    op.params.iter().map(|p| p.kind).find(|kind| match kind {
        Kind::Options(known) => known.iter().any(|option| map.contains_key(option.name)),
        _ => false,
    })
}

/// A number that no tensor gives a type, as a value of the script's element type.
fn constant(number: Number, elem: Elem) -> Option<Constant> {
    match number {
        Number::Int(value) => Constant::of_integer(elem, value),
        Number::Float(value) => Constant::of_float(elem, value),
    }
}

/// The iterators that arguments mention.
fn in_play(args: &[Arg]) -> Vec<Name> {
    let of_index = |index: &[Affine]| -> Vec<Name> {
        let terms = index.iter().flat_map(Affine::terms);
        terms.map(|(name, _)| name.clone()).collect()
    };
    let names = args.iter().flat_map(|arg| match arg {
        Arg::Expr(expr) => expr.iterators(),
        Arg::Iters(list) => of_index(list),
        Arg::Arrow(arrow) => {
            let lists = arrow.from.iter().flatten().chain([&arrow.to]);
            lists.flat_map(|list| of_index(list)).collect()
        }
        _ => Vec::new(),
    });
    names.collect()
}

fn apply(op: &'static Op, call: &Call, args: &[Arg]) -> Result<Dynamic, Failure> {
    let mut args = operand_names::ready(op, args.to_vec(), call.shared())?;
    if let (true, [Arg::Expr(tensor)]) = (op.name == BUILD.name, args.as_mut_slice())
        && let Some(stored) = call.assignment(tensor)?
    {
        *tensor = stored;
    }
    let site = call.site();
    let made = match args.as_slice() {
        [Arg::Expr(assignment)] if op.name == BUILD.name => {
            let nest = verbs::built_with_operands(call.bench(), assignment, site.as_ref());
            nest.map(Value::Nest)
        }
        _ => transform::apply(op, &args, site.clone()),
    };
    match made {
        Ok(Value::Nest(nest)) => Ok(Dynamic::from(nest)),
        Ok(Value::Expr(expr)) => {
            let expr = operand_names::noted(expr, site, call.shared());
            let mut value = Dynamic::from(expr);
            let declares = [TENSOR.name, SCALAR.name].contains(&op.name);
            if declares && matches!(args.last(), Some(Arg::Word(_))) {
                value.set_tag(values::NAMED);
            }
            Ok(value)
        }
        Err(error) => Err(unread(error, &args)),
    }
}

/// The failure of an operation. If its argument is a text, the problems keep their places in it.
fn unread(error: transform::Error, args: &[Arg]) -> Failure {
    let text = error.argument.and_then(|k| args.get(k));
    let (Some(Arg::Word(text)), false) = (text, error.places.is_empty()) else {
        return Failure::operation(error);
    };
    let unread = Unread::new(error.op, text, error.places.clone());
    Failure::operation(error).reading(unread)
}
