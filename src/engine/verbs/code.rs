//! `codegen`, `plan` and `export_kernel`: the C of nests that run in order.

use super::compare::label;
use super::provenance::examine;
use super::refusal::Refusal;
use super::workbench::Bench;
use crate::codegen::{self, Kernel};
use crate::ir::Nest;
use crate::package::{self, Exported};
use crate::trial::{self, Variant, sizes};

/// The C function that runs nests in order. Its name is `name`, or else that of the last nest with
/// a name. The workbench keeps it for `teml emit`.
///
/// # Errors
/// The nests are not legal, or read undefined elements.
pub fn generate(bench: &Bench, nests: &[Nest], name: Option<String>) -> Result<Kernel, Refusal> {
    let label = label(nests).map_or("kernel".to_owned(), |l| codegen::symbol::from_label(&l));
    let symbol = trial::free_symbol(name.unwrap_or(label), &bench.lock().generated);
    announce(bench, &symbol, nests)?;
    let kernel = kernel(bench, nests, &symbol, &[])?;
    bench.lock().generated.push(kernel.clone());
    Ok(kernel)
}

/// The plan of the C of nests, as pseudo-code.
///
/// # Errors
/// The nests are not legal.
pub fn plan(bench: &Bench, nests: &[Nest]) -> Result<String, Refusal> {
    Ok(kernel(bench, nests, "kernel", &[])?
        .plan
        .trim_end()
        .to_owned())
}

/// The C of nests for the target of the workbench. Tensors that a later nest reads are the function's
/// own, except for `outputs`.
///
/// # Errors
/// The nests are not legal.
pub fn kernel(
    bench: &Bench,
    nests: &[Nest],
    symbol: &str,
    outputs: &[String],
) -> Result<Kernel, Refusal> {
    let (reductions, target) = {
        let bench = bench.lock();
        (bench.reductions(), bench.target())
    };
    let variant = Variant {
        label: symbol.to_owned(),
        nests: nests.to_vec(),
    };
    let is_own = trial::is_own(&variant, outputs);
    let kernel = codegen::generate_with_own(nests, symbol, reductions, &target, &is_own);
    kernel.map_err(|error| Refusal::no_code(&error, nests, reductions))
}

/// Makes nests a function of the library that `teml build` makes. `outputs` are results even if a
/// later nest reads them.
///
/// # Errors
/// As [`generate`]. The inner error is one of the name.
pub fn export(
    bench: &Bench,
    nests: Vec<Nest>,
    name: &str,
    outputs: &[String],
) -> Result<Result<(), String>, Refusal> {
    announce(bench, name, &nests)?;
    if bench
        .lock()
        .exported
        .iter()
        .any(|e| e.kernel.symbol == name)
    {
        return Ok(Err(format!("is taken: `{name}` was exported before")));
    }
    let kernel = kernel(bench, &nests, name, outputs)?;
    let exported = Exported { kernel, nests };
    let mut bench = bench.lock();
    if let Some(error) = package::kernel_name_error(&exported, &bench.exported) {
        return Ok(Err(error));
    }
    bench.has_effect = true;
    bench.exported.push(exported);
    Ok(Ok(()))
}

/// Tells the runner that C of nests is generated.
fn announce(bench: &Bench, label: &str, nests: &[Nest]) -> Result<(), Refusal> {
    let variant = Variant {
        label: label.to_owned(),
        nests: nests.to_vec(),
    };
    examine(bench, std::slice::from_ref(&variant))?;
    let reductions = bench.lock().reductions();
    for variant in sizes::at(&[variant], &[]) {
        bench.act(&mut |_| Vec::new(), |runner, context| {
            runner.generates(&variant, reductions, context);
        });
    }
    Ok(())
}
