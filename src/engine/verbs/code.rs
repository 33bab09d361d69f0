//! `codegen`, `plan` and `export_kernel`: the C of nests that run in order.

use super::compare::label;
use super::provenance::examine;
use super::refusal::Refusal;
use super::workbench::Bench;
use crate::codegen::{self, Kernel};
use crate::ir::{Nest, Strides};
use crate::package::{self, Exported, View};
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
/// later nest reads them. With `transposed`, the function of that name takes these tensors as
/// transposes as well, and the nests are what it computes then. Nests of tensors that are strided in
/// all dimensions are what a known function computes for all strides that it does not take itself.
///
/// # Errors
/// As [`generate`]. The inner error is one of the name.
pub fn export(
    bench: &Bench,
    nests: Vec<Nest>,
    name: &str,
    outputs: &[String],
    transposed: &[String],
) -> Result<Result<(), String>, Refusal> {
    announce(bench, name, &nests)?;
    let known = bench.lock().exported.clone();
    let of_name = |symbol: &str| known.iter().find(|e| e.kernel.symbol == symbol);
    let takes_all = |nests: &[Nest]| {
        let mut tensors = nests.iter().flat_map(Nest::tensors);
        tensors.any(|tensor| tensor.strided_in() == Some(Strides::All))
    };
    let is_view =
        |base: &&Exported| !transposed.is_empty() || takes_all(&nests) && !takes_all(&base.nests);
    let (symbol, base) = match (transposed.is_empty(), of_name(name).filter(is_view)) {
        (_, Some(base)) => (package::view_symbol(name, transposed), Some(base)),
        (true, None) => (name.to_owned(), None),
        (false, None) => {
            let text = format!("is not known: export `{name}` without transposes first");
            return Ok(Err(text));
        }
    };
    if of_name(&symbol).is_some() {
        return Ok(Err(format!("is taken: `{symbol}` was exported before")));
    }
    let kernel = kernel(bench, &nests, &symbol, outputs)?;
    let exported = Exported {
        kernel,
        nests,
        view: base.map(|base| View {
            of: base.kernel.symbol.clone(),
            transposed: transposed.to_vec(),
        }),
    };
    let misfit = base.and_then(|base| package::view_error(base, &exported, transposed));
    let layouts = match transposed.is_empty() {
        true => "all strides",
        false => "transposes",
    };
    let error = misfit.map(|why| format!("cannot be `{name}` for {layouts}: {why}"));
    if let Some(error) = error.or_else(|| package::kernel_name_error(&exported, &known)) {
        return Ok(Err(error));
    }
    let mut bench = bench.lock();
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
    let settings = bench.lock().settings.clone();
    for variant in sizes::at(&[variant], &[]) {
        bench.act(&mut |_| Vec::new(), |runner, context| {
            runner.generates(&variant, &settings, context);
        });
    }
    Ok(())
}
