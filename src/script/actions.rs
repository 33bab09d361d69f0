//! Functions that act on nests rather than transform them: `codegen`, `compare`, `save`, `init`;
//! and those that the library needs to look at values.

use super::call::{Call, Function, Parameter};
use super::fail::Failure;
use super::values::{self, Index};
use super::workbench::Mode;
use crate::codegen::{self, Kernel, NoCode};
use crate::diag;
use crate::ir::{Expr, Name, Nest, Tensor};
use crate::report;
use crate::runtime::Data;
use crate::trial::{self, Candidate, TrialError};
use rhai::{Array, Dynamic, FnPtr, ImmutableString};
use std::sync::Arc;

/// All of them.
pub static ACTIONS: &[&Function] = &[
    &CODEGEN, &COMPARE, &SAVE, &INIT, &NOTATION, &SHAPE, &ITERATORS, &PARAM,
];

/// The C of a kernel, as scripts see it.
#[derive(Clone, Debug)]
pub struct Code(pub Arc<Kernel>);

const MORE: [Parameter; 7] = [const { Parameter::optional("more") }; 7];

static CODEGEN: Function = Function {
    name: "codegen",
    params: &{
        let [a, b, c, d, e, f, g] = MORE;
        [Parameter::new("nests"), a, b, c, d, e, f, g]
    },
    returns: "code",
    doc: "\
The C function that runs nests in order: `codegen(l)`, `codegen(l1, l2)`, `codegen([l1, l2])`.

A string at the end names the function; otherwise it has the name of the last nest. Parallel and
vector loops are proved to have independent iterations, or refused. Printing the result shows
the C; `save(code, path)` writes it. Source: TeML §2.",
    call: |call| {
        let (nests, name) = nests_and_name(call)?;
        let label = nests
            .iter()
            .rev()
            .find_map(Nest::label)
            .map(Name::to_string);
        let symbol = name.or(label).unwrap_or_else(|| "kernel".to_owned());
        let symbol = unused(symbol, &call.state().workbench.generated);
        let kernel = codegen::generate(&nests, &symbol).map_err(|e| no_code(call, e, &nests))?;
        call.state().workbench.generated.push(kernel.clone());
        Ok(Dynamic::from(Code(Arc::new(kernel))))
    },
};

/// `symbol`, with a number where a kernel has that name: all of them may end up in one file.
fn unused(symbol: String, kernels: &[Kernel]) -> String {
    let taken = |name: &str| kernels.iter().any(|k| k.symbol == name);
    let numbered = (2..).map(|number| format!("{symbol}_{number}"));
    let mut names = std::iter::once(symbol.clone()).chain(numbered);
    names.find(|name| !taken(name)).unwrap_or(symbol)
}

fn nests_and_name(call: &Call) -> Result<(Vec<Nest>, Option<String>), Failure> {
    let mut nests = Vec::new();
    let mut name = None;
    for k in 0..call.count() {
        let is_last = k > 0 && k + 1 == call.count();
        match is_last.then(|| call.text(k)) {
            Some(Ok(text)) => name = Some(text),
            _ => nests.extend(call.nests(k)?),
        }
    }
    Ok((nests, name))
}

fn no_code(call: &Call, error: NoCode, nests: &[Nest]) -> Failure {
    let help = error.help();
    let failure = call.refuse(&error.to_string());
    let failure = match &error {
        NoCode::Race { nest, race } => match nests.get(*nest) {
            Some(nest) => failure.note(diag::in_nest(nest, std::slice::from_ref(&race.name))),
            None => failure,
        },
        _ => failure,
    };
    match help {
        Some(help) => failure.help(help),
        None => failure,
    }
}

static COMPARE: Function = Function {
    name: "compare",
    params: &[Parameter::new("variants")],
    returns: "",
    doc: "\
Checks and times variants of a computation: `compare([naive, plan])`.

A variant is a nest, or a list of nests that run in order; its name is that of the variable that
holds its last nest. All variants must compute the same tensors. Every element of every result is
compared with the reference before anything is timed; a wrong one is shown with its indices, and
no times. Then all variants are timed in turn, in one run. Inputs are a pattern of numbers unless
`init` says otherwise. The table shows speed-ups over the first variant.",
    call: |call| {
        let candidates = candidates(call)?;
        let (mode, inputs, settings, control, shows_progress) = {
            let state = call.state();
            let bench = &state.workbench;
            (
                bench.mode,
                bench.inputs.clone(),
                bench.settings.clone(),
                bench.control.clone(),
                bench.shows_progress,
            )
        };
        if mode == Mode::Emit {
            for candidate in &candidates {
                let nests = &candidate.nests;
                let symbol = candidate.label.clone();
                let symbol = unused(symbol, &call.state().workbench.compared);
                let kernel = codegen::generate(nests, &symbol);
                let kernel = kernel.map_err(|e| no_code(call, e, nests))?;
                call.state().workbench.compared.push(kernel);
            }
            return Ok(Dynamic::UNIT);
        }
        let progress = |text: &str| {
            if shows_progress {
                // The line is overwritten by the next one.
                eprint!("\r\x1b[K{text} …");
            }
        };
        let outcome = trial::compare(&candidates, &inputs, &settings, &control, &progress);
        if shows_progress {
            eprint!("\r\x1b[K");
        }
        let outcome = outcome.map_err(|error| failed_trial(call, error))?;
        call.state().print(&report::table(&outcome));
        Ok(Dynamic::UNIT)
    },
};

fn candidates(call: &Call) -> Result<Vec<Candidate>, Failure> {
    let expected = "a nest or a list of variants, each a nest or a list of nests";
    let single = call
        .get::<Nest>(0, expected)
        .map(|nest| vec![Dynamic::from(nest)]);
    let items: Array = single.or_else(|_| call.get(0, expected))?;
    let mut candidates: Vec<Candidate> = Vec::with_capacity(items.len());
    for item in &items {
        let nests: Vec<Nest> = match item.read_lock::<Array>() {
            Some(list) => list.iter().filter_map(nest_of).collect(),
            None => nest_of(item).into_iter().collect(),
        };
        let count = item.read_lock::<Array>().map_or(1, |list| list.len());
        if nests.is_empty() || nests.len() != count {
            return Err(call.expected_but(0, expected, item));
        }
        let label = nests
            .iter()
            .rev()
            .find_map(Nest::label)
            .map(Name::to_string);
        let mut label = label.unwrap_or_else(|| format!("variant_{}", candidates.len() + 1));
        if candidates.iter().any(|c| c.label == label) {
            label = format!("{label}_{}", candidates.len() + 1);
        }
        candidates.push(Candidate { label, nests });
    }
    match candidates.is_empty() {
        true => Err(call.expected(0, expected)),
        false => Ok(candidates),
    }
}

fn nest_of(value: &Dynamic) -> Option<Nest> {
    value.read_lock::<Nest>().map(|n| n.clone())
}

fn failed_trial(call: &Call, error: TrialError) -> Failure {
    match error {
        TrialError::Code { label, nest, error } => {
            let nests: Vec<Nest> = nest.into_iter().collect();
            let error = match error {
                NoCode::Race { race, .. } => NoCode::Race { nest: 0, race },
                other => other,
            };
            no_code(call, error, &nests).note(format!("in the variant `{label}`"))
        }
        TrialError::Wrong { .. } => call
            .refuse(&error.to_string())
            .help("a step of this variant changes the meaning; compare shorter paths to find it"),
        other => call.refuse(&other.to_string()),
    }
}

static SAVE: Function = Function {
    name: "save",
    params: &[Parameter::new("code"), Parameter::new("path")],
    returns: "",
    doc: "Writes the C of `codegen` to a file, relative to the current directory.",
    call: |call| {
        let code: Code = call.get(0, "the result of codegen")?;
        let path = call.text(1)?;
        if call.state().workbench.mode == Mode::Emit {
            return Ok(Dynamic::UNIT);
        }
        match std::fs::write(&path, code.0.source()) {
            Ok(()) => Ok(Dynamic::UNIT),
            Err(error) => Err(call.fail(1, &format!("cannot be written: {path}: {error}"))),
        }
    },
};

static INIT: Function = Function {
    name: "init",
    params: &[
        Parameter::new("tensor"),
        Parameter::new("value"),
        Parameter::optional("element"),
    ],
    returns: "",
    doc: "\
Sets what a tensor holds before `compare` runs anything.

`init(A, 2.0)`: the same value everywhere. `init(A, |i, j| i + 0.5 * j)`: computed from the
indices, counted from 0. `init(A, [[1, 2], [3, 4]])`: listed. `init(A, [0, 1], 2.0)`: one element;
the others keep what they hold. Source: TeML §2, Fig. 1.",
    call: |call| {
        let expr = call.expr(0)?;
        let Some((tensor, name)) = named_tensor(&expr) else {
            return Err(call.expected(0, "a tensor that is bound to a variable"));
        };
        let data = match call.count() {
            3 => one_element(call, tensor, &name)?,
            _ => whole(call, tensor)?,
        };
        call.state().workbench.inputs.set(name, data);
        Ok(Dynamic::UNIT)
    },
};

fn named_tensor(expr: &Expr) -> Option<(&Tensor, Name)> {
    let tensor = expr.tensor()?;
    Some((tensor, tensor.name()?.clone()))
}

fn number(value: &Dynamic) -> Option<f64> {
    value
        .as_float()
        .ok()
        .or_else(|| Some(value.as_int().ok()? as f64))
}

/// Tensors that scripts fill element by element stay below this many elements.
const MAX_LISTED: u64 = 1 << 24;

fn elements(call: &Call, tensor: &Tensor) -> Result<usize, Failure> {
    let count = tensor.shape().elements();
    match usize::try_from(count) {
        Ok(n) if count <= MAX_LISTED => Ok(n),
        _ => Err(call.fail(
            0,
            &format!("has {count} elements; scripts set up to {MAX_LISTED} one by one"),
        )),
    }
}

fn whole(call: &Call, tensor: &Tensor) -> Result<Data, Failure> {
    let expected = "a number, a function of the indices, or a list of numbers";
    let value = call.value(1).unwrap_or(Dynamic::UNIT);
    if let Some(number) = number(&value) {
        return Ok(Data::Constant(number));
    }
    if let Some(closure) = value.clone().try_cast::<FnPtr>() {
        return computed(call, tensor, &closure);
    }
    let Ok(list) = value.into_array() else {
        return Err(call.expected(1, expected));
    };
    let mut values = Vec::new();
    flatten(call, &list, tensor.shape().extents(), &mut values)?;
    Ok(Data::Values(Arc::new(values)))
}

fn computed(call: &Call, tensor: &Tensor, closure: &FnPtr) -> Result<Data, Failure> {
    let count = elements(call, tensor)?;
    let extents = tensor.shape().extents();
    let mut values = Vec::with_capacity(count);
    for flat in 0..count as u64 {
        let mut rest = flat;
        let mut index: Vec<Dynamic> = Vec::with_capacity(extents.len());
        for extent in extents.iter().rev() {
            index.push(Dynamic::from_int((rest % extent).cast_signed()));
            rest /= extent;
        }
        index.reverse();
        let shown = values::show(&Dynamic::from_array(index.clone()));
        let value: Dynamic = closure
            .call_raw(call.context(), None, index)
            .map_err(|error| Failure::inside(*error))?;
        match number(&value) {
            Some(number) => values.push(number),
            None => {
                let given = values::describe(&value);
                return Err(call.fail(
                    1,
                    &format!("must give numbers, but at {shown} gives {given}"),
                ));
            }
        }
    }
    Ok(Data::Values(Arc::new(values)))
}

fn flatten(
    call: &Call,
    list: &Array,
    extents: &[u64],
    values: &mut Vec<f64>,
) -> Result<(), Failure> {
    let (extent, inner) = match extents {
        [] => (1, [].as_slice()),
        [extent, inner @ ..] => (*extent, inner),
    };
    if list.len() as u64 != extent {
        let (given, rest) = (list.len(), inner.len());
        let what = format!("has a list of {given} where the tensor has the extent {extent}");
        let failure = call.fail(1, &what);
        return Err(match rest {
            0 => failure,
            _ => failure.help("nest the lists as deep as the tensor has dimensions"),
        });
    }
    for item in list {
        match (inner, item.read_lock::<Array>()) {
            ([], None) => match number(item) {
                Some(number) => values.push(number),
                None => return Err(call.expected_but(1, "a list of numbers", item)),
            },
            ([_, ..], Some(list)) => flatten(call, &list, inner, values)?,
            _ => return Err(call.expected_but(1, "lists as deep as the tensor's rank", item)),
        }
    }
    Ok(())
}

fn one_element(call: &Call, tensor: &Tensor, name: &Name) -> Result<Data, Failure> {
    let expected = "a list of indices such as `[0, 1]`, counted from 0";
    let index: Array = call.get(1, expected)?;
    let value = call.value(2).unwrap_or(Dynamic::UNIT);
    let value = number(&value).ok_or_else(|| call.expected(2, "a number"))?;
    let count = elements(call, tensor)?;
    let extents = tensor.shape().extents();
    if index.len() != extents.len() {
        let (rank, given) = (extents.len(), index.len());
        return Err(call.fail(1, &format!("must have {rank} indices, and has {given}")));
    }
    let mut flat = 0u64;
    for (d, (item, &extent)) in index.iter().zip(extents).enumerate() {
        let x = item
            .as_int()
            .map_err(|_| call.expected_but(1, expected, item))?;
        match u64::try_from(x) {
            Ok(x) if x < extent => flat = flat * extent + x,
            _ => {
                let what = format!(
                    "is outside of the tensor: index {} is {x}, and the extent is {extent}",
                    d + 1
                );
                return Err(call.fail(1, &what));
            }
        }
    }
    let old = call.state().workbench.inputs.get(name).cloned();
    let old = old.unwrap_or(Data::Constant(0.0));
    let elem = tensor.elem();
    let mut values: Vec<f64> = (0..count as u64)
        .map(|x| old.value(elem, x).unwrap_or(0.0))
        .collect();
    if let Some(place) = usize::try_from(flat).ok().and_then(|k| values.get_mut(k)) {
        *place = value;
    }
    Ok(Data::Values(Arc::new(values)))
}

static NOTATION: Function = Function {
    name: "notation",
    params: &[Parameter::new("tree")],
    returns: "string",
    doc: "The tree of a tensor expression or a nest as the TeML paper writes it (§3.1, Figs. 4–6).",
    call: |call| {
        let text = match call.get::<Nest>(0, "") {
            Ok(nest) => nest.notation(),
            Err(_) => call.get::<Expr>(0, "a tensor or a nest")?.notation(),
        };
        Ok(text.into())
    },
};

static SHAPE: Function = Function {
    name: "shape",
    params: &[Parameter::new("tensor")],
    returns: "list",
    doc: "The extents of a tensor expression; those of an assignment are its target's.",
    call: |call| {
        let expr = call.expr(0)?;
        let shape = match expr.tensor() {
            Some(tensor) => Some(tensor.shape()),
            None => expr.shape(),
        };
        let extents = shape.map_or(&[] as &[u64], |s| s.extents());
        let list: Array = extents
            .iter()
            .map(|e| Dynamic::from_int(e.cast_signed()))
            .collect();
        Ok(Dynamic::from_array(list))
    },
};

static ITERATORS: Function = Function {
    name: "iterators",
    params: &[Parameter::new("count")],
    returns: "list",
    doc: "\
Iterators for operations that name none, as TeML's fresh iterators of §4.2; `build` gives them
readable names.",
    call: |call| {
        let count = call.int(0)?;
        if !(0..=64).contains(&count) {
            return Err(call.fail(0, "must be between 0 and 64"));
        }
        let iterator = |k: i64| {
            let name = Name::generated(usize::try_from(k).unwrap_or(0));
            Dynamic::from(Index::iterator(name, false))
        };
        Ok(Dynamic::from_array((1..=count).map(iterator).collect()))
    },
};

static PARAM: Function = Function {
    name: "param",
    params: &[Parameter::new("name"), Parameter::new("default")],
    returns: "",
    doc: "\
What the command line sets with `--set NAME=VALUE`, or else the default. The value has the
default's type: an integer, a number, a truth value or a string.",
    call: |call| {
        let name = call.text(0)?;
        let default = call.value(1).unwrap_or(Dynamic::UNIT);
        let Some(text) = call.state().workbench.parameters.take(&name) else {
            return Ok(default);
        };
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
    },
};

/// How code prints.
pub(super) fn register(engine: &mut rhai::Engine) {
    engine
        .register_type_with_name::<Code>("code")
        .register_fn("to_string", |code: &mut Code| code.0.source())
        .register_fn("to_debug", |code: &mut Code| {
            ImmutableString::from(format!("code of {}", code.0.symbol))
        });
}
