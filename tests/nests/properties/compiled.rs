//! The C of random nests: free of warnings, and equal to the definition when it runs.

use super::generator::{recipe, store};
use super::moves::{built, moves, reproduction, step};
use super::worker::{control, view};
use proptest::prelude::*;
use std::process::Command;
use std::sync::Arc;
use teml::codegen::{self, Kernel};
use teml::interp::definition;
use teml::interp::store::Store;
use teml::ir::{Elem, Expr, Nest, Tensor, parse_nest};
use teml::legality::Reductions;
use teml::runtime::{self, Data, Options};

pub fn compiles_without_warnings(kernel: &Kernel) -> Result<(), TestCaseError> {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("kernel.c");
    std::fs::write(&file, kernel.source()).expect("a file");
    let output = Command::new("cc")
        .args([
            "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-fopenmp", "-c", "-o",
        ])
        .arg(dir.path().join("kernel.o"))
        .arg(&file)
        .output()
        .expect("a C compiler");
    let errors = String::from_utf8_lossy(&output.stderr);
    prop_assert!(output.status.success(), "{}\n{}", errors, kernel.source());
    Ok(())
}

/// Flags that stop the kernel if it computes with undefined elements of local tensors, or with
/// `0 / 0`.
pub const POISONED: &[&str] = &["-Wall", "-Wextra", "-Werror", "-DTEML_POISON=1"];

/// Runs the kernel, compiled with `flags`, on `old` and compares with the definition, up to
/// `tolerance` for floating point.
pub fn runs_as_defined(
    definition: &[Expr],
    kernel: Kernel,
    flags: &[&str],
    old: Store<'static>,
    tolerance: impl Fn(&Tensor) -> f64,
) -> Result<(), TestCaseError> {
    let mut expected = old.clone();
    definition::run(definition, &mut expected).expect("a value");
    let source = kernel.source();
    let data: Vec<Data> = kernel
        .params
        .iter()
        .map(|p| match p.role {
            codegen::Role::Out => Data::Unset,
            _ => Data::Values(Arc::new(
                view(&old[p.tensor.name().expect("a name")]).into(),
            )),
        })
        .collect();
    let control = control();
    let options = Options {
        extra: flags.iter().map(|flag| (*flag).to_owned()).collect(),
        ..Options::default()
    };
    let compiled = runtime::compile(&kernel, &options, &control)
        .map_err(|e| TestCaseError::fail(format!("{e}\n{source}")))?;
    let run = runtime::run_once(&compiled, &data, &control)
        .map_err(|e| TestCaseError::fail(format!("{e}\n{source}")))?;
    for (name, values) in &expected {
        let Some(buffer) = run.outputs.get(name.as_str()) else {
            continue;
        };
        let tensor: &Tensor = buffer.tensor();
        let tolerance = tolerance(tensor);
        let comparison = runtime::compare(view(values), buffer.view(), tensor.shape(), tolerance)
            .expect("comparable");
        prop_assert!(comparison.agrees(), "{}: {}\n{}", name, comparison, source);
    }
    Ok(())
}

proptest! {
    #![proptest_config(super::config(40))]

    #[test]
    fn generated_code_computes_the_definition(recipe in recipe(), moves in moves(1..=12)) {
        let mut nest = built(&recipe.assignment(""));
        for chosen in &moves {
            // Loops that would race are not marked, so that most nests have code.
            if let Ok(after) = step(&nest, chosen)
                && teml::legality::independence::first_race(&after).is_none()
            {
                nest = after;
            }
        }
        compiles_and_runs(&nest)?;
    }
}

/// The C of a nest without races.
pub fn compiles_and_runs(nest: &Nest) -> Result<(), TestCaseError> {
    match codegen::generate(
        std::slice::from_ref(nest),
        "kernel",
        Reductions::Reassociate,
    ) {
        Ok(kernel) => {
            let rounding = |tensor: &Tensor| match tensor.elem() {
                Elem::F32 => 1e-6,
                _ => 1e-12,
            };
            let old = store(nest.definition());
            runs_as_defined(nest.definition(), kernel, POISONED, old, rounding)
        }
        Err(why) => {
            let script = reproduction(nest);
            Err(TestCaseError::fail(format!("{why}\n{script}")))
        }
    }
}

#[test]
fn local_tensors_that_nothing_reads_are_no_reason_for_warnings() {
    let lines = [
        "local f64 t[3]",
        "for i in 0..3",
        "  local i32 u[]",
        "  t[i] = 1",
        "  u[] = 2",
    ];
    let nest = parse_nest(&lines.join("\n")).expect("a nest");
    let kernel = codegen::generate(&[nest], "kernel", Reductions::Strict).expect("code");
    compiles_without_warnings(&kernel).expect("no warnings");
}
