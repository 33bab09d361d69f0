//! The contract of `schedules::optimize`: it ends in no error, and its result is legal and computes
//! the same. A nest makes a nest, and the cost model does not expect it to take longer.
//!
//! The scripts and the files in `cases` compare the nests.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use teml::interp::execute;
use teml::interp::store::{Data, Store};
use teml::ir::{Name, Nest, Tensor};
use teml::legality::{self, Reductions, Verdict};
use teml::script::{ScriptError, Session};
use teml::transform::trace;
use teml::trial::Collect;
use teml::verbs::{Size, Workbench};

/// Nests with more steps of execution than this are not executed.
const STEPS: u64 = 200_000;

fn session() -> Session {
    let workbench = Workbench {
        runner: Arc::new(Collect),
        size: Size::Mini,
        ..Workbench::default()
    };
    let session = Session::new(Box::new(io::sink()), workbench);
    session.unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// The first variants of the comparisons in a script at mini sizes, which are untransformed nests,
/// and the policy of reductions at its end.
fn compared(file: &Path) -> (Vec<Vec<Nest>>, Reductions) {
    let mut session = session();
    if let Err(error) = session.run_file(file) {
        panic!("{}", error.render(false));
    }
    let bench = session.bench().lock();
    let comparisons = bench.kept.comparisons.iter();
    let variants = comparisons.filter_map(|comparison| comparison.variants.first());
    let nests = variants.map(|variant| variant.nests.clone()).collect();
    (nests, bench.settings.reductions)
}

/// The nests that `schedules::optimize` makes of others.
fn optimized(nests: &[Nest], reductions: Reductions) -> Result<Vec<Nest>, String> {
    let mut session = session();
    session.bench().lock().settings.reductions = reductions;
    let texts = nests.iter().map(|nest| {
        let text = trace::to_json(nest).map_err(|error| error.to_string())?;
        Ok(format!("replay({text:?})"))
    });
    let texts: Vec<String> = texts.collect::<Result<_, String>>()?;
    let given = match texts.as_slice() {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    let rendered = |error: ScriptError| error.render(false);
    let call = format!("let given = {given}; let made = schedules::optimize(given);");
    session.eval_line(&call).map_err(rendered)?;
    let is_kept = session.eval_line(KEPT).map_err(rendered)?;
    match is_kept.as_deref() {
        Some("=> true") => session.nests_of("made").map_err(rendered),
        _ => Err("is of another kind, or expected to take longer".to_owned()),
    }
}

/// Whether the result has the type of the argument, and is not expected to take longer, beyond the
/// errors of the cost model. The model does not know all loops.
const KEPT: &str = "
    let kept = type_of(made) == type_of(given) || type_of(given) == \"array\";
    try { if predict(made).seconds > 1.21 * predict(given).seconds { kept = false; } } catch {}
    kept";

/// The results of nests that run in order.
fn results(nests: &[Nest], inputs: &Store<'static>) -> Option<Store<'static>> {
    let mut store = inputs.clone();
    for tensor in nests.iter().flat_map(Nest::tensors) {
        let name = tensor.name()?.clone();
        store
            .entry(name)
            .or_insert_with(|| Data::generate(&tensor, |_| 0.0));
    }
    for nest in nests {
        execute::run(nest, &mut store).ok()?;
    }
    Some(store)
}

/// The first tensor in which two lists of nests differ.
fn differing(given: &[Nest], made: &[Nest]) -> Option<Tensor> {
    let tensors: Vec<Tensor> = given.iter().flat_map(Nest::tensors).collect();
    let mut inputs: Store<'static> = HashMap::new();
    for (k, tensor) in tensors.iter().enumerate() {
        // No sum cancels, so that quotients are not of rounding errors.
        let value = move |x: u64| ((x * 7 + k as u64 * 5) % 9) as f64 + 1.0;
        let name = tensor.name().unwrap().clone();
        inputs
            .entry(name)
            .or_insert_with(|| Data::generate(tensor, value));
    }
    let (expected, found) = (results(given, &inputs)?, results(made, &inputs)?);
    let passed_on = |t: &Tensor| {
        let reads = |nest: &Nest| nest.tensors().contains(t);
        given.iter().filter(|nest| reads(nest)).count() > 1
    };
    let results = tensors.into_iter().filter(|t| !passed_on(t));
    let mut wrong = results.filter(|t| {
        let name = t.name().unwrap();
        !is_close(&expected[name], &found[name])
    });
    wrong.next()
}

/// Whether elements are equal, up to rounding.
fn is_close(expected: &Data<'_>, found: &Data<'_>) -> bool {
    let pairs: Vec<(f64, f64)> = match (expected, found) {
        (Data::F64(a), Data::F64(b)) => a.iter().copied().zip(b.iter().copied()).collect(),
        (Data::F32(a), Data::F32(b)) => {
            let wide = a.iter().map(|x| f64::from(*x));
            wide.zip(b.iter().map(|x| f64::from(*x))).collect()
        }
        (a, b) => return a == b,
    };
    let tolerance = match expected {
        Data::F32(_) => 1e-3,
        _ => 1e-9,
    };
    pairs.into_iter().all(|(a, b)| {
        let is_same = a == b || a.is_nan() && b.is_nan();
        is_same || (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0)
    })
}

/// Why nests break the contract.
fn broken(nests: &[Nest], reductions: Reductions) -> Option<String> {
    let made = match optimized(nests, reductions) {
        Ok(made) => made,
        Err(error) => return Some(error),
    };
    if made.len() > nests.len() {
        return Some(format!("{} nests of {}", made.len(), nests.len()));
    }
    if let Some(name) = made.iter().find_map(runs_once) {
        return Some(format!("the parallel loop `{name}` has one iteration"));
    }
    match legality::check(&made, reductions) {
        Verdict::Legal => {}
        other => return Some(format!("{other:?}")),
    }
    let steps = |nests: &[Nest]| nests.iter().map(executed).sum::<f64>();
    if steps(nests) > STEPS as f64 || nests.iter().any(|n| !n.sizes().is_empty()) {
        return None;
    }
    let wrong = differing(nests, &made)?;
    let shown = made.iter().map(Nest::to_string).collect::<Vec<_>>();
    Some(format!("{} differs\n{}", wrong.label(), shown.join("\n")))
}

/// A parallel loop with a single iteration.
fn runs_once(nest: &Nest) -> Option<Name> {
    let loops = nest.loops().into_iter().map(|(_, l)| l);
    let mut parallel = loops.filter(|l| l.is_parallel());
    let once = parallel.find(|l| {
        let range = l.range.as_constant();
        range.is_some_and(|(low, high)| high - low < 2)
    });
    once.map(|l| l.name.clone())
}

fn executed(nest: &Nest) -> f64 {
    teml::analysis::work::flops(nest).unwrap_or(f64::INFINITY)
}

/// The scripts in a directory and below it.
fn scripts(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    paths.sort();
    let below = paths.into_iter().flat_map(|path| match path.is_dir() {
        true => scripts(&path),
        false => vec![path],
    });
    below
        .filter(|path| path.extension().is_some_and(|e| e == "rhai"))
        .collect()
}

/// Asserts the contract for all that the scripts in a directory compare, and returns how many
/// variants these are.
fn kept_in(directory: &str, is_left_out: &dyn Fn(&Path) -> bool) -> usize {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let files = scripts(&directory).into_iter();
    let mut count = 0;
    for file in files.filter(|file| !is_left_out(file)) {
        let (variants, reductions) = compared(&file);
        let mut seen = BTreeSet::new();
        for nests in variants {
            let text = nests.iter().map(Nest::to_string).collect::<String>();
            let is_legal = legality::check(&nests, reductions) == Verdict::Legal;
            if !is_legal || !seen.insert(text.clone()) {
                continue;
            }
            count += 1;
            if let Some(why) = broken(&nests, reductions) {
                panic!("{}: {why}\nof\n{text}", file.display());
            }
        }
    }
    count
}

#[test]
fn optimize_keeps_its_contract_in_all_cases() {
    let count = kept_in("tests/nests/contract/cases", &|_| false);
    assert!(count > 80, "{count}");
}

#[test]
fn optimize_keeps_its_contract_in_all_scripts() {
    // These search for minutes.
    let searches = |path: &Path| {
        let text = path.to_string_lossy();
        text.contains("autotune") || text.ends_with("tune_tiles.rhai")
    };
    let count = kept_in("scripts", &searches);
    assert!(count > 70, "{count}");
}

#[test]
fn steps_whose_operands_have_no_names_are_scheduled() {
    let script = "reductions(\"reassoc\");
        let Q = tensor([2, 256, 64]); let K = tensor([2, 256, 64]); let V = tensor([2, 256, 64]);
        let S = 0.125 * einsum(\"hid,hjd->hij\", Q, K);
        let M = eq(where(vindex(j) <= vindex(i), vat(S, [h, i, j]), -1e30), [h, i, j]);
        let given = nests(einsum(\"hij,hjd->hid\", softmax(M), V));
        let made = schedules::optimize(given);";
    let mut session = session();
    let ran = session.eval_line(script).map_err(|e| e.render(false));
    ran.unwrap();
    let given = session.nests_of("given").map_err(|e| e.render(false));
    let made = session.nests_of("made").map_err(|e| e.render(false));
    let (given, made) = (given.unwrap(), made.unwrap());
    let same = given.iter().find(|nest| made.contains(nest));
    assert!(same.is_none(), "{}", same.unwrap());
    let verdict = legality::check(&made, Reductions::Reassociate);
    assert_eq!(verdict, Verdict::Legal);
}
