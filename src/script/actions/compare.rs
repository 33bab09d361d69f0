//! `compare` and `measure`: variants checked, then timed.

use super::code::no_code;
use super::order;
use super::provenance::{self, examine};
use super::recorded::applied;
use crate::call::{Call, Function, Parameter};
use crate::captured;
use crate::codegen::{self, NoCode};
use crate::fail::Failure;
use crate::ir::{Expr, Name, Nest};
use crate::report::{self, Bar, Growing};
use crate::target::Target;
use crate::trial::{
    self, Blame, Comparison, Equality, Failed, Measured, Ranking, RunContext, Runner, TrialError,
    Variant,
};
use crate::values;
use rhai::{Array, Dynamic, Map};

pub(super) static COMPARE: Function = Function {
    name: "compare",
    params: &[Parameter::new("variants")],
    returns: "rows",
    doc: "\
Checks and times variants of a computation: `compare([naive, plan])`.

A variant is a nest, a list of nests that run in order, or a tensor, which is computed with all
that it needs (`nests`). It is named by `named`, or after the variable of its last nest or of its list. All variants must compute the same tensors.

Every element of every result is compared with the reference before anything is timed. A wrong
element is shown with its indices, and nothing is timed. Then all variants are timed in turn, in
one run. Inputs are a pattern of numbers unless `init` says otherwise. The table shows speed-ups
over the first variant; a row appears as soon as its times are known.

All variants are compiled with the same flags: `-O3 -march=native -mtune=generic -fwrapv
-fno-math-errno`, never `-ffast-math`. GFLOP/s count the operations of the definition.

Each variant runs 5 to 30 times, about 3 seconds in all. Two long runs are enough if they take a
second together and their spread is 3 % or less. Runs that others disturb, on cores that they share,
are repeated within limits. A very short kernel is called many times per run. One that reads what it
writes is called once, between copies of its inputs that are not timed, so that its time is only known
to some 10 ns. The lines below the table say how often variants ran, and how many runs
others disturbed all the same, if those are many.

The result is a list with a map per variant: `name`, `min` and `median` in seconds, `spread` (the
interquartile range over the median), `disturbed` (the share of disturbed runs), `gflops` (of the
median), `error` (the largest difference over the largest value), and `ok`, which is `true`.",
    call: |call| {
        let variants = applied(call, variants(call)?)?;
        let labels = variants.iter().map(|v| v.label.as_str());
        let flops = variants.first().map_or(0.0, trial::flops);
        let mut table = Growing::new(labels, flops);
        let mut show = |row: &Measured| table.add(row);
        let ranking = on_stage(call, variants.clone(), &mut show, Runner::compare)?;
        let Some(ranking) = ranking else {
            return Ok(Dynamic::from_array(not_run(&variants)));
        };
        call.state().print(&report::footer(&ranking));
        note_outer_vectors(call, &variants);
        compare_definitions(call, &variants);
        order::hint(call, &variants, &ranking);
        let mut rows = Dynamic::from_array(rows(&ranking));
        rows.set_tag(values::SHOWN);
        Ok(rows)
    },
};

pub(super) static MEASURE: Function = Function {
    name: "measure",
    params: &[Parameter::new("variants")],
    returns: "rows",
    doc: "\
Checks and times many variants of a computation, to choose among them: `measure(variants)`.

Variants and the result are those of `compare`, but no table is printed. Each variant runs by
itself 3 to 10 times, about half a second in all, or fewer times if a run takes a second.
`compare` tells more precisely which of the best variants is the best.

Variants are compiled in parallel. A variant that has no code, does not compile, fails or
computes something wrong is reported in a line, and the others go on. Its row has `ok` false
and `why`, and no numbers.",
    call: |call| {
        let variants = variants(call)?;
        let ranking = on_stage(call, variants.clone(), &mut |_| Vec::new(), Runner::measure)?;
        let Some(ranking) = ranking else {
            return Ok(Dynamic::from_array(not_run(&variants)));
        };
        for Failed { label, error } in ranking.tried.iter().filter_map(|t| t.as_ref().err()) {
            let why = error.to_string();
            let first = why.lines().next().unwrap_or_default();
            call.state().print(&format!("skipped {label}: {first}"));
        }
        Ok(Dynamic::from_array(rows(&ranking)))
    },
};

pub(super) static NAMED: Function = Function {
    name: "named",
    params: &[Parameter::new("nest"), Parameter::new("name")],
    returns: "nest",
    doc: "\
The nest under another name, which tables and C show: `variants.push(named(plan, `tile_${n}`))`.
It is made of letters, digits and underscores. In a list of nests that run in order, the last one
gets the name.",
    call: |call| {
        let (mut nests, name) = (call.nests(0)?, call.text(1)?);
        let name = Name::new(&name);
        let name = name.map_err(|error| call.refuse(&error.to_string()).argument(1))?;
        let Some(last) = nests.pop().map(|nest| Dynamic::from(nest.labelled(name))) else {
            return Err(call.expected(0, "a nest or a list of nests"));
        };
        if call.nest(0).is_ok() {
            return Ok(last);
        }
        let others = nests.into_iter().map(Dynamic::from);
        Ok(others.chain([last]).collect::<Array>().into())
    },
};

/// Prints a line for each vector loop of the variants that is left to the compiler.
pub(super) fn note_outer_vectors(call: &Call, variants: &[Variant]) {
    for Variant { label, nests } in variants {
        for (name, why) in codegen::outer_vectors(nests, &Target::native()) {
            call.state().print(&format!(
                "{label}: loop `{name}` is marked vector, and is left to the compiler: {why}"
            ));
        }
    }
}

/// What the session's runner makes of variants, with the inputs and settings of the session. Shows
/// how far it is, and prints the lines that `show` makes of a variant with known times.
///
/// # Errors
/// The runner's, as failures of the call.
pub(super) fn on_stage<T>(
    call: &Call,
    variants: Vec<Variant>,
    show: &mut dyn FnMut(&Measured) -> Vec<String>,
    act: impl FnOnce(&(dyn Runner + 'static), Comparison, &mut RunContext<'_>) -> Result<T, TrialError>,
) -> Result<T, Failure> {
    examine(call, &variants)?;
    let comparison = comparison(call, variants);
    let made = staged(call, show, |runner, context| {
        act(runner, comparison, context)
    });
    made.map_err(|error| failed_trial(call, error))
}

/// Variants with the inputs and the settings of the session.
pub(super) fn comparison(call: &Call, variants: Vec<Variant>) -> Comparison {
    let state = call.state();
    Comparison {
        variants,
        inputs: state.workbench.inputs.clone(),
        settings: state.workbench.settings.clone(),
    }
}

/// Tells the session's runner that C of nests is generated.
///
/// # Errors
/// As [`examine`].
pub(super) fn generates(call: &Call, label: &str, nests: &[Nest]) -> Result<(), Failure> {
    let variant = Variant {
        label: label.to_owned(),
        nests: nests.to_vec(),
    };
    examine(call, std::slice::from_ref(&variant))?;
    let reductions = call.state().workbench.settings.reductions;
    staged(call, &mut |_| Vec::new(), |runner, context| {
        runner.generates(&variant, reductions, context);
    });
    Ok(())
}

/// Sets up the context of the session. The session is not locked while the runner acts.
pub(super) fn staged<T>(
    call: &Call,
    show: &mut dyn FnMut(&Measured) -> Vec<String>,
    act: impl FnOnce(&(dyn Runner + 'static), &mut RunContext<'_>) -> T,
) -> T {
    let (runner, control, visible, mut kept) = {
        let mut state = call.state();
        let bench = &mut state.workbench;
        (
            bench.runner.clone(),
            bench.control.clone(),
            bench.shows_progress,
            std::mem::take(&mut bench.kept),
        )
    };
    let bar = Bar::new(visible);
    let mut context = RunContext {
        control: &control,
        progress: &|progress| bar.show(progress),
        show: &mut |row| {
            let lines = show(row);
            bar.hidden(|| lines.iter().for_each(|line| call.state().print_now(line)));
        },
        say: &mut |line| call.state().print(line),
        kept: &mut kept,
    };
    let made = act(&*runner, &mut context);
    call.state().workbench.kept = kept;
    made
}

/// What scripts see of a ranking.
fn rows(ranking: &Ranking) -> Array {
    let tried = ranking.tried.iter();
    let row = |tried: &Result<Measured, Failed>| match tried {
        Ok(row) => measured(row, ranking.work.flops),
        Err(Failed { label, error }) => failed(label, &error.to_string()),
    };
    tried.map(row).collect()
}

fn measured(row: &Measured, flops: f64) -> Dynamic {
    let (min, median) = (
        row.timing.min.as_secs_f64(),
        row.timing.median.as_secs_f64(),
    );
    let gflops = if median > 0.0 {
        flops / median / 1e9
    } else {
        0.0
    };
    let mut map = Map::new();
    let numbers = [
        ("min", min),
        ("median", median),
        ("spread", row.timing.spread),
        ("disturbed", row.timing.disturbed),
        ("gflops", gflops),
        ("error", row.error),
    ];
    for (key, number) in numbers {
        map.insert(key.into(), Dynamic::from_float(number));
    }
    map.insert("name".into(), row.label.as_str().into());
    map.insert("ok".into(), true.into());
    map.into()
}

fn failed(label: &str, why: &str) -> Dynamic {
    let mut map = Map::new();
    map.insert("name".into(), label.into());
    map.insert("ok".into(), false.into());
    map.insert("why".into(), why.into());
    map.into()
}

fn not_run(variants: &[Variant]) -> Array {
    let rows = variants.iter();
    rows.map(|v| failed(&v.label, "nothing runs")).collect()
}

pub(super) fn variants(call: &Call) -> Result<Vec<Variant>, Failure> {
    let expected = "a nest or a list of variants, each a nest or a list of nests";
    let is_one = |value: &Dynamic| value.is::<Nest>() || is_assignment(value);
    let items: Array = match call.value(0).filter(is_one) {
        Some(one) => vec![one],
        None => call.get(0, expected)?,
    };
    let mut variants: Vec<Variant> = Vec::with_capacity(items.len());
    for item in &items {
        let tensor = item.read_lock::<Expr>().map(|expr| expr.clone());
        let tensor = tensor.filter(Expr::is_assignment);
        let nests: Vec<Nest> = match (item.read_lock::<Array>(), &tensor) {
            (Some(list), _) => list.iter().filter_map(nest_of).collect(),
            (None, Some(tensor)) => provenance::nests(call, tensor)?,
            (None, None) => nest_of(item).into_iter().collect(),
        };
        let listed = item.read_lock::<Array>().map(|list| list.len());
        if nests.is_empty() || listed.is_some_and(|count| nests.len() != count) {
            return Err(call.expected_but(0, expected, item));
        }
        let variable = || {
            let position = captured::position(item).filter(|_| item.is_array())?;
            captured::name(&call.state().places, position)
        };
        let of_tensor = || Some(tensor.as_ref()?.tensor()?.name()?.to_string());
        let mut label = label(&nests)
            .or_else(of_tensor)
            .or_else(variable)
            .unwrap_or_else(|| format!("variant_{}", variants.len() + 1));
        if variants.iter().any(|c| c.label == label) {
            label = format!("{label}_{}", variants.len() + 1);
        }
        variants.push(Variant { label, nests });
    }
    if variants.is_empty() {
        Err(call.expected(0, expected))
    } else {
        Ok(variants)
    }
}

/// The name of nests that run in order is that of the last one that has a name.
pub(super) fn label(nests: &[Nest]) -> Option<String> {
    nests
        .iter()
        .rev()
        .find_map(Nest::label)
        .map(Name::to_string)
}

fn is_assignment(value: &Dynamic) -> bool {
    let expr = value.read_lock::<Expr>();
    expr.is_some_and(|expr| expr.is_assignment())
}

fn nest_of(value: &Dynamic) -> Option<Nest> {
    value.read_lock::<Nest>().map(|n| n.clone())
}

/// What to say of a variant that has another definition than the first one, and other results.
fn other_definition(
    failure: Failure,
    label: &str,
    (first, is_text): (&str, bool),
    equality: &Equality,
) -> Failure {
    let failure = if is_text {
        failure.note(format!(
            "`{label}` is a text, and a text is its own definition"
        ))
    } else {
        failure
    };
    match equality {
        Equality::Proved(_) => failure,
        Equality::Refuted(why) => failure
            .note(format!("proved different from `{first}`: {why}"))
            .help(format!(
                "they are two computations; `check({label}, {first})` proves two definitions equal, \
                 and `compare({label})` checks each by its own"
            )),
        Equality::Open(why) => failure
            .note(format!("not proved different from `{first}`: {why}"))
            .help(format!(
                "at smaller sizes, `check({label}, {first})` proves two definitions equal or shows \
                 where they differ"
            )),
    }
}

/// Says of texts whether they are equal to the definition of the first variant: numbers that agree
/// prove nothing for others.
fn compare_definitions(call: &Call, variants: &[Variant]) {
    let [first, others @ ..] = variants else {
        return;
    };
    let (reductions, control) = {
        let state = call.state();
        let bench = &state.workbench;
        (bench.settings.reductions, bench.control.clone())
    };
    for other in others {
        if !(other.is_text() || first.is_text()) || other.is_defined_as(first) {
            continue;
        }
        let (label, of) = (&other.label, &first.label);
        let text = match trial::equality(&other.nests, &first.nests, reductions, &control) {
            Equality::Proved(elements) => {
                format!("proved equal to `{of}`, in each of {elements} elements")
            }
            Equality::Refuted(_) => format!(
                "the results agree with those of `{of}`, but are not the same operations in the \
                 same order (`check({label}, {of})`)"
            ),
            Equality::Open(why) => {
                format!("the results agree with those of `{of}`; nothing is proved, since {why}")
            }
        };
        call.state()
            .print(&format!("{label}: a definition of its own; {text}"));
    }
}

pub(super) fn failed_trial(call: &Call, error: TrialError) -> Failure {
    match error {
        TrialError::Code { label, nest, error } => {
            let nests: Vec<Nest> = nest.into_iter().collect();
            let error = match error {
                NoCode::Race { race, .. } => NoCode::Race { nest: 0, race },
                other => other,
            };
            no_code(call, error, &nests).note(format!("in the variant `{label}`"))
        }
        TrialError::Wrong {
            ref blame,
            ref label,
            ..
        } => {
            let failure = call.refuse(&error.to_string());
            match blame {
                Blame::Definition {
                    first,
                    is_text,
                    equality,
                } => other_definition(failure, label, (first, *is_text), equality),
                Blame::Path => failure.help(
                    "a step of this variant changes the meaning; compare shorter paths to find it",
                ),
                Blame::Compiler(version) => failure
                    .note(format!(
                        "the C compiler miscompiles it: with -O1 the result is right ({version})"
                    ))
                    .help("`CC=clang` takes another compiler, `CFLAGS=-O1` fewer optimizations"),
                Blame::Teml => failure.help(
                    "teml proved this nest, so the mistake is in teml: please report it with the script",
                ),
            }
        }
        other => call.refuse(&other.to_string()),
    }
}
