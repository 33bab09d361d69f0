//! `library`: exported kernels as a package that has run.

use super::workbench::Bench;
use crate::codegen::Preamble;
use crate::package::{Exported, Package};
use crate::runtime::{self, Compiler, RuntimeError};
use crate::trial::{Cargo, Shipped, Source, TrialError, Variant};

/// A package of kernels, which does not say yet how it is to be compiled.
pub fn package(name: &str, kernels: Vec<Exported>) -> Package {
    Package {
        name: name.to_owned(),
        kernels,
        preamble: Preamble::default(),
        versions: Vec::new(),
    }
}

/// Compiles a package, runs each kernel as it was compiled, and compares its results with the
/// reference. The package then says which flags it needs.
///
/// # Errors
/// The C does not compile, it fails, or its results are wrong.
pub fn library(bench: &Bench, package: &mut Package) -> Result<Shipped, TrialError> {
    let (inputs, settings, control) = {
        let bench = bench.lock();
        (
            bench.inputs.clone(),
            bench.settings.clone(),
            bench.control.clone(),
        )
    };
    let computed = |exported: &Exported| {
        let (label, nests) = (exported.kernel.symbol.clone(), exported.nests.clone());
        (exported.kernel.clone(), Variant { label, nests })
    };
    let versions = package.versions.iter();
    let kernels: Vec<&Exported> = match package.versions.is_empty() {
        true => package.kernels.iter().collect(),
        false => versions.clone().flat_map(|v| &v.kernels).collect(),
    };
    let parts = versions.map(|version| {
        let source: Source<'_> = Box::new(|preamble| version.source(preamble));
        let name = format!("{}_{}", package.name, version.name);
        (name, version.target.clone(), source)
    });
    let cargo = Cargo {
        name: &package.name,
        source: &|preamble| package.source(preamble),
        header: package.header(),
        kernels: kernels.into_iter().map(computed).collect(),
        inputs: &inputs,
        settings: &settings,
        parts: parts.collect(),
    };
    let shipped = cargo.ship(&control);
    drop(cargo);
    let shipped = shipped?;
    package.preamble = shipped.preamble.clone();
    Ok(shipped)
}

/// A name for what [`library`] makes of a package: it depends on the C, the flags, the compiler and
/// the processor.
///
/// # Errors
/// There is no compiler.
pub fn key_of_library(bench: &Bench, package: &Package) -> Result<String, RuntimeError> {
    let (options, control) = {
        let bench = bench.lock();
        (bench.settings.options.clone(), bench.control.clone())
    };
    let compiler = Compiler::find(&control)?;
    let chooses = package.kernels.iter().any(|e| e.kernel.chooses());
    let flags = options.flags(compiler, chooses);
    let texts = package.files().into_iter().map(|file| file.text);
    let texts: Vec<String> = texts.collect();
    Ok(compiler.key(&texts.join("\n"), &flags))
}

/// Where the library of a key is kept, if anything is kept.
pub fn place_of_library(bench: &Bench, key: &str) -> Option<std::path::PathBuf> {
    let control = bench.lock().control.clone();
    runtime::cache_place(&control, &format!("python/{key}"))
}
