//! Plans with one mistake: the proof of plans finds each one that changes a result.
//!
//! `TEML_CASES` is the number of mutants of each script, and of random nests.

use super::generator::recipe;
use super::machine::{Memory, inputs, reference, results};
use super::moves::{built, moves, reproduction, step};
use super::mutants::mutants;
use crate::dialog;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use teml::analysis::bounds::Bounds;
use teml::analysis::levels::executions;
use teml::codegen::{self, Plan};
use teml::ir::{Name, Nest, Tensor};
use teml::legality::{self, Reductions, Verdict};
use teml::script::Session;
use teml::target::Target;
use teml::trial::Collect;
use teml::verbs::{Size, Workbench};

fn target() -> Target {
    Target::named("avx512").unwrap()
}

/// How many mutants were refused, and how many compute the same.
#[derive(Default, Debug)]
struct Count {
    refused: usize,
    same: usize,
    /// Executed mutants that were refused, and those of them that compute the same.
    harmless: usize,
    executed: usize,
    /// The changes of refused mutants.
    kinds: BTreeMap<String, usize>,
}

/// A computation and its plan.
struct Case {
    nests: Vec<Nest>,
    reductions: Reductions,
    plan: Plan,
    expected: Memory,
    /// The tensors whose final contents matter.
    compared: Vec<Name>,
}

impl Case {
    /// `None` for what the machine does not execute: integers, read bounds, devices.
    fn of(nests: &[Nest], reductions: Reductions) -> Option<Case> {
        let tensors = || nests.iter().flat_map(Nest::tensors);
        let locals = nests.iter().flat_map(Nest::locals);
        let is_float = |t: &Tensor| t.elem().is_float() && t.shape().numbers().is_some();
        let simple = tensors().all(|t| is_float(&t)) && locals.into_iter().all(is_float);
        let mut loops = nests.iter().flat_map(Nest::loops);
        let plain = loops.all(|(_, l)| l.range.within.is_none() && l.axis().is_none());
        let fixed = nests
            .iter()
            .all(|n| n.variants().is_empty() && !n.is_left_to_compiler());
        let is_legal = || legality::check(nests, reductions) == Verdict::Legal;
        if !simple || !plain || !fixed || work(nests) > 200_000.0 || !is_legal() {
            return None;
        }
        let plan = codegen::stages(nests, &target()).unwrap().pop()?.after;
        let donated: Vec<&Name> = nests.iter().flat_map(Nest::donated).collect();
        let compared = tensors().filter_map(|t| t.name().cloned());
        let expected = reference(nests).ok()?;
        let compared = compared.filter(|name| !donated.contains(&name));
        let compared = compared.filter(|name| expected.contains_key(name));
        let case = Case {
            nests: nests.to_vec(),
            reductions,
            plan,
            compared: compared.collect(),
            expected,
        };
        let shown = || {
            nests
                .iter()
                .map(reproduction)
                .collect::<Vec<_>>()
                .join("\n")
        };
        if let Err(why) = case.proof(&case.plan) {
            panic!("{why}\n{}\n{}", case.plan, shown());
        }
        if let Some(difference) = case.difference(&case.plan) {
            panic!("{difference}\n{}\n{}", case.plan, shown());
        }
        Some(case)
    }

    fn proof(&self, plan: &Plan) -> Result<(), codegen::NoCode> {
        codegen::prove_plan(plan, &self.nests, self.reductions, &target())
    }

    /// The difference of a plan's results, on wide or on narrow vectors.
    fn difference(&self, plan: &Plan) -> Option<String> {
        [64, 16].into_iter().find_map(|bytes| {
            let found = match results(plan, inputs(&self.nests), bytes) {
                Ok(found) => found,
                Err(fault) => return Some(fault),
            };
            let differs = |name: &&Name| {
                let mut both = self.expected[*name].iter().zip(&found[*name]);
                let near = |(a, b): (&f64, &f64)| {
                    a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-9 * a.abs().max(1.0)
                };
                !both.all(near)
            };
            let name = self.compared.iter().find(differs)?;
            Some(format!("{name} differs on vectors of {bytes} bytes"))
        })
    }

    /// Tries so many mutants, chosen by a seed.
    fn try_mutants(&self, number: usize, seed: &mut u64, count: &mut Count) {
        let mut all = mutants(&self.plan);
        for tried in 0..number.min(all.len()) {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mutant = all.swap_remove((*seed >> 33) as usize % all.len());
            match self.proof(&mutant.plan) {
                Ok(()) => {
                    if let Some(difference) = self.difference(&mutant.plan) {
                        let nests = self.nests.iter().map(reproduction).collect::<Vec<_>>();
                        panic!(
                            "{}: {difference}\n{}\nof\n{}\nof\n{}",
                            mutant.change,
                            mutant.plan,
                            self.plan,
                            nests.join("\n")
                        );
                    }
                    count.same += 1;
                }
                Err(_) => {
                    count.refused += 1;
                    *count.kinds.entry(mutant.change).or_default() += 1;
                    // How much the proof refuses in vain is only counted.
                    if tried % 4 == 0 {
                        count.executed += 1;
                        count.harmless += usize::from(self.difference(&mutant.plan).is_none());
                    }
                }
            }
        }
    }
}

/// About how many statements nests execute.
fn work(nests: &[Nest]) -> f64 {
    let around = Bounds::default();
    let statements = |nest: &Nest| executions(nest.trees(), &around);
    nests.iter().map(statements).sum()
}

/// The nests that a script compares, with the policy of its reductions.
fn compared(script: &Path) -> Vec<(Vec<Nest>, Reductions)> {
    let mut workbench = Workbench {
        runner: Arc::new(Collect),
        size: Size::Mini,
        ..Workbench::default()
    };
    workbench.settings.options.target = target();
    let session = Session::new(Box::new(std::io::sink()), workbench);
    let mut session = session.unwrap_or_else(|e| panic!("{}", e.render(false)));
    let _ = session.run_file(script);
    let comparisons = std::mem::take(&mut session.bench().lock().kept.comparisons);
    let variants = comparisons.into_iter().flat_map(|comparison| {
        let reductions = comparison.settings.reductions;
        let variants = comparison.variants.into_iter();
        variants.map(move |variant| (variant.nests, reductions))
    });
    variants.collect()
}

fn scripts(names: &[&str]) -> Vec<PathBuf> {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let of = |name: &&str| scripts.join(name).with_extension("rhai");
    names.iter().map(of).collect()
}

/// The mutants of the variants of scripts, so many of each script.
fn try_scripts(scripts: &[PathBuf], number: u32) -> Count {
    let mut count = Count::default();
    let mut seed = 51;
    for script in scripts {
        let variants = compared(script);
        let cases = variants
            .iter()
            .filter_map(|(nests, reductions)| Case::of(nests, *reductions));
        let cases: Vec<Case> = cases.collect();
        for case in &cases {
            let each = (number as usize).div_ceil(cases.len());
            case.try_mutants(each, &mut seed, &mut count);
        }
    }
    count
}

#[test]
fn mistakes_in_plans_of_the_ten_kernels_are_found() {
    let kernels = [
        "mm", "tmm", "bmm", "gconv", "mttkrp", "sddmm", "interp", "helm", "blur", "coars",
    ];
    let count = try_scripts(&scripts(&kernels), super::config(12).cases);
    println!("{count:?}");
    assert!(count.refused > 10 * count.same.min(5), "{count:?}");
}

#[test]
fn mistakes_in_plans_of_polybench_are_found() {
    let names: Vec<String> = [
        "jacobi-2d",
        "atax",
        "gemver",
        "heat-3d",
        "trmm",
        "correlation",
    ]
    .map(|name| format!("polybench/{name}"))
    .into();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let count = try_scripts(&scripts(&names), super::config(8).cases);
    println!("{count:?}");
    assert!(count.refused > count.same, "{count:?}");
}

#[test]
fn mistakes_in_plans_of_random_nests_are_found() {
    let mut runner = TestRunner::new(super::config(20));
    let mut count = Count::default();
    let mut seed = 51;
    for _ in 0..super::config(20).cases {
        let recipe = recipe().new_tree(&mut runner).unwrap().current();
        let moves = moves(1..=12).new_tree(&mut runner).unwrap().current();
        let mut nest = built(&recipe.assignment(""));
        for chosen in &moves {
            if let Ok(after) = step(&nest, chosen)
                && legality::independence::first_race(&after).is_none()
            {
                nest = after;
            }
        }
        let Some(case) = Case::of(&[nest], Reductions::Reassociate) else {
            continue;
        };
        case.try_mutants(12, &mut seed, &mut count);
    }
    println!("{count:?}");
    assert!(count.refused > count.same, "{count:?}");
}

/// Nests whose plans have regions, barriers, streams, copies of blocks and vectors of all kinds.
const NESTS: &[&str] = &[
    "nest(`
f64 A[40], B[40]
for t in 0..5
  parallel for i in 1..39
    B[i] = A[i - 1] + A[i + 1]
  parallel for i_2 in 1..39
    A[i_2] = B[i_2]
`)",
    "nest(`
f64 A[40], B[40], C[40]
parallel for i in 0..20
  A[i] = B[i] * B[i]
parallel for i_2 in 20..40
  A[i_2] = B[i_2] + 1
parallel for i_3 in 0..40
  C[i_3] = A[i_3]
`)",
    "nest(`
f64 y[12], a[12], c[12]
for i in 0..12
  local f64 t[12]
  fill t[0..12] = 0
  for k in 0..3
    vector for j in 0..i
      t[j] += a[i] * c[j]
  vector for j_2 in 0..i
    y[j_2] += t[j_2]
`)",
    "nest(`
f64 y[12], a[12], c[12]
for i in 0..12
  local f64 t[12]
  fill t[0..12] = 0
  for k in 0..3
    vector for j in 0..i
      t[j] += a[i - 1] * c[j]
  vector for j_2 in 0..i
    y[j_2] += t[j_2]
`)",
    "nest(`
f64 y[37], a[37], c[37]
local f64 t[37]
fill t[0..37] = 0
for i in 0..37
  vector for j in 0..i
    t[j] += (a[i] - c[j]) * (a[i] - c[j])
vector for j_2 in 0..37
  y[j_2] = t[j_2]
`)",
    "nest(`
f64 C[18][22], A[18][9], B[9][22]
for i_o in 0..3
  for j_o in 0..3
    local f64 T[6][8]
    fill T[0..6][0..8] = 0
    for k in 0..9
      for i in 0..6
        vector for j in 0..min(8, 22 - 8*j_o)
          T[i][j] += A[6*i_o + i][k] * B[k][8*j_o + j]
    for i_2 in 0..6
      vector for j_2 in 0..min(8, 22 - 8*j_o)
        C[6*i_o + i_2][8*j_o + j_2] = T[i_2][j_2]
`)",
    "nest(`
f32 y[8][45], x[8][45], b[45]
parallel for i in 0..8
  local f32 t[45]
  vector for j in 0..45
    t[j] = x[i][j] * b[j]
  vector for j_2 in 0..45
    y[i][j_2] = t[j_2] + b[j_2]
`)",
    "nest(`
f64 y[20][3], x[20], z[20]
vector for i in 0..20
  local f64 s
  s = x[i]
  for k in 0..5
    s = s * 0.5 + z[i]
  for k_2 in 0..3
    y[i][k_2] = s + x[i]
`)",
    "nest(`
f64 y[30][30], x[30][30]
for i in 0..30
  vector for j in i..30
    y[i][j] = x[i][j] * 2
`)",
    "nest(`
f64 A[6][40], B[6][40]
for t in 0..3
  parallel for i in 0..6
    vector for j in 1..39
      B[i][j] = A[i][j - 1] + A[i][j + 1]
  parallel for i_2 in 0..6
    vector for j_2 in 1..39
      A[i_2][j_2] = B[i_2][j_2]
`).stream(\"i\", \"B\")",
    "{ let A = tensor([5, 6]); let B = tensor([6, 7]); let C = einsum(\"ik,kj->ij\", A, B); build(C) }",
    "{ let x = tensor([6, 8, 37]); let y = eq(x, [p, i, j] -> [p, i, j]);
       build(y).parallelize(\"p\").vectorize(\"j\").stream(\"p\", y) }",
];

/// Changes that the proof has to find in some plan.
const KINDS: &[&str] = &[
    "a copy of another length",
    "a copy of other elements",
    "a fill behind a loop",
    "a local tensor outside of its loop",
    "a fence behind a barrier",
    "a loop in lanes",
    "a loop on threads",
    "a loop that ends earlier",
    "a loop without one of its ends",
    "a shorter fill",
    "a shorter local tensor",
    "a statement that does not add",
    "a store past the caches",
    "a store under a mask",
    "a store without a mask",
    "no region",
    "other masked vectors",
    "other threads",
    "other vectors",
    "reads without a mask",
    "vectors without an end",
    "without a barrier",
    "without a fence",
    "without a local tensor",
];

#[test]
fn every_kind_of_mistake_is_found() {
    let mut count = Count::default();
    for expression in NESTS {
        let nest = dialog::nest("", expression);
        let case = Case::of(&[nest], Reductions::Reassociate);
        let case = case.unwrap_or_else(|| panic!("{expression}"));
        case.try_mutants(usize::MAX, &mut 51, &mut count);
    }
    println!("{count:?}");
    let missing: Vec<&&str> = KINDS
        .iter()
        .filter(|kind| !count.kinds.contains_key(**kind))
        .collect();
    assert!(missing.is_empty(), "{missing:?} {:?}", count.kinds);
}
