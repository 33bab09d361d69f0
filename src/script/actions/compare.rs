//! `compare` and `measure`: variants checked, then timed.

use crate::binding::call::Call;
use crate::binding::captured;
use crate::binding::function::{Effect, Function};
use crate::binding::operand_names::is_virtual;
use crate::binding::param::{Options, Param, arguments};
use crate::binding::takes::{Takes, Type};
use crate::ir::{Expr, Name, Nest, Program};
use crate::messages::fail::Failure;
use crate::trial::{Failed, Measured, Ranking, Variant};
use crate::values;
use crate::verbs::{self, label};
use rhai::{Array, Dynamic, Identifier, Map};

pub(super) const VARIANTS: Param<Vec<Variant>> = Param::new("variants");
const OPTIONS: Param<Options> = Param::new("options").with(&[AT.any()]);
const AT: Param<Option<Points>> = Param::new("at");
const NEST: Param<Vec<Nest>> = Param::new("nest");
const NAME: Param<Name> = Param::new("name");

const VARIANT: &str = "a nest or a list of variants, each a nest or a list of nests";

/// Sizes at which variants are timed, one after the other.
struct Points(Vec<Vec<(Name, i64)>>);

arguments! {
    Points, "a list of maps of sizes, such as `[#{M: 100, N: 7}]`", Takes::Value(Type::List), |p| {
        let point = |v: &Dynamic| {
            let map = v.read_lock::<Map>().filter(|map| !map.is_empty())?;
            let size = |(name, value): (&Identifier, &Dynamic)| {
                Some((Name::new(name).ok()?, value.as_int().ok()?))
            };
            map.iter().map(size).collect()
        };
        let points = p.list(point)?;
        match points.is_empty() {
            true => Err(p.fail("has no sizes")),
            false => Ok(Points(points)),
        }
    };
    Vec<Variant>, VARIANT, Takes::Value(Type::Nest), |p| of_arguments(p.call, 1);
}

pub(super) static COMPARE: Function = Function {
    name: "compare",
    topic: "results",
    effect: Effect::Runs,
    params: &[VARIANTS.up_to(8).any(), OPTIONS.any()],
    returns: "rows",
    doc: "\
Checks and times variants of a computation: `compare(naive, plan)`, or `compare([naive, plan])`.

A variant is a nest, a list of nests that run in order, a tensor, which is computed with all that it
needs (`nests`), or a program. It is named by `named`, or after the variable of its last nest or of
its list. All variants must compute the same tensors.

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

Variants with sizes are timed at the likely ones, or at those of an option:
`compare([naive, plan], #{at: [#{M: 100}, #{M: 1000, N: 7}]})` makes a table for each map.

The result is a list with a map per variant: `name`, `min` and `median` in seconds, `spread` (the
interquartile range over the median), `disturbed` (the share of disturbed runs), `gflops` (of the
median), `error` (the largest difference over the largest value), and `ok`, which is `true`.",
    call: |call| {
        let count = given(call);
        let variants = of_arguments(call, count)?;
        let (mut all, mut is_shown) = (Array::new(), false);
        let points = call.options(&OPTIONS)?.get(&AT)?;
        for point in points.map_or_else(|| vec![Vec::new()], |Points(points)| points) {
            if !point.is_empty() {
                let values = point.iter().map(|(name, value)| format!("{name} = {value}"));
                let values: Vec<String> = values.collect();
                call.workbench().print(&format!("at {}:", values.join(", ")));
            }
            let compared = verbs::compare(call.bench(), variants.clone(), &point);
            let (variants, ranking) = compared.map_err(|refusal| call.refused(refusal))?;
            is_shown |= ranking.is_some();
            all.extend(ranking.map_or_else(|| not_run(&variants), |ranking| rows(&ranking)));
        }
        let mut all = Dynamic::from_array(all);
        if is_shown {
            all.set_tag(values::SHOWN);
        }
        Ok(all)
    },
};

pub(super) static MEASURE: Function = Function {
    name: "measure",
    topic: "results",
    effect: Effect::Runs,
    params: &[VARIANTS.any()],
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
        let variants = call.arg(&VARIANTS)?;
        let measured = verbs::measure(call.bench(), variants.clone());
        let Some(ranking) = measured.map_err(|refusal| call.refused(refusal))? else {
            return Ok(Dynamic::from_array(not_run(&variants)));
        };
        Ok(Dynamic::from_array(rows(&ranking)))
    },
};

pub(super) static NAMED: Function = Function {
    name: "named",
    topic: "results",
    effect: Effect::None,
    params: &[NEST.any(), NAME.any()],
    returns: "nest",
    doc: "\
The nest under another name, which tables and C show: `variants.push(named(plan, `tile_${n}`))`.
It is made of letters, digits and underscores. In a list of nests that run in order, the last one
gets the name.",
    call: |call| {
        let (mut nests, name) = (call.arg(&NEST)?, call.arg(&NAME)?);
        let Some(last) = nests.pop().map(|nest| Dynamic::from(nest.labelled(name))) else {
            return Err(call.expected(&NEST, "a nest or a list of nests"));
        };
        if call.nest(0).is_ok() {
            return Ok(last);
        }
        let others = nests.into_iter().map(Dynamic::from);
        Ok(others.chain([last]).collect::<Array>().into())
    },
};

/// The rows of a ranking, for scripts.
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

/// The number of arguments before the options.
fn given(call: &Call) -> usize {
    let last = call.count().saturating_sub(1);
    let has_options = call.value(last).is_some_and(|value| value.is_map());
    if has_options && last > 0 {
        last
    } else {
        call.count()
    }
}

/// The variants in the first arguments of a call: several, or one list.
fn of_arguments(call: &Call, count: usize) -> Result<Vec<Variant>, Failure> {
    let expected = VARIANT;
    let is_one = |value: &Dynamic| {
        let is_tensor = value.read_lock::<Expr>();
        let is_tensor = is_tensor.is_some_and(|e| e.is_assignment() || is_virtual(&e));
        value.is::<Nest>() || value.is::<Program>() || is_tensor
    };
    let items: Array = match call.value(0).filter(is_one) {
        _ if count > 1 => (0..count).filter_map(|k| call.value(k)).collect(),
        Some(one) => vec![one],
        None => call.get(0, expected)?,
    };
    let mut variants: Vec<Variant> = Vec::with_capacity(items.len());
    for (k, item) in items.iter().enumerate() {
        let k = if count > 1 { k } else { 0 };
        let tensor = item.read_lock::<Expr>().map(|expr| expr.clone());
        let tensor = tensor.map(|tensor| call.assignment(&tensor)).transpose()?;
        let tensor = tensor.flatten();
        let nests: Vec<Nest> = match (item.read_lock::<Array>(), &tensor) {
            (Some(list), _) => list.iter().filter_map(nest_of).collect(),
            (None, Some(tensor)) => call.nests_of(tensor)?,
            (None, None) => match item.read_lock::<Program>() {
                Some(program) => call.nests_of_program(&program)?,
                None => nest_of(item).into_iter().collect(),
            },
        };
        let listed = item.read_lock::<Array>().map(|list| list.len());
        if nests.is_empty() || listed.is_some_and(|count| nests.len() != count) {
            return Err(call.expected_but(k, expected, item));
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

fn nest_of(value: &Dynamic) -> Option<Nest> {
    value.read_lock::<Nest>().map(|n| n.clone())
}
