//! The C of variants.

use super::{Settings, TrialError, Variant};
use crate::codegen::{self, Kernel, NoCode};
use crate::ir::Condition;

/// The C of a variant, as a function named after its label.
pub(super) fn generate(variant: &Variant, settings: &Settings) -> Result<Kernel, TrialError> {
    let symbol = codegen::symbol::from_label(&variant.label);
    generate_as(&symbol, variant, settings)
}

/// The C of a variant, as a function named `symbol`.
pub(super) fn generate_as(
    symbol: &str,
    variant: &Variant,
    settings: &Settings,
) -> Result<Kernel, TrialError> {
    let (reductions, target) = (settings.reductions, &settings.options.target);
    let kernel = codegen::generate_for(&variant.nests, symbol, reductions, target);
    let kernel = kernel.map_err(|error| no_code(variant, error))?;
    let strides = kernel.strides().len();
    let sizes = kernel.sizes.iter().rev().skip(strides);
    for (name, value) in sizes {
        if let Some(size) = name.size().filter(|size| !size.has(*value)) {
            return Err(TrialError::OtherSizes {
                label: variant.label.clone(),
                accepted: Condition::of_facts(name.clone(), size),
                name: name.clone(),
                value: *value,
            });
        }
    }
    Ok(kernel.with_gaps(settings.gap))
}

/// The error that a variant has no code, with the nest at fault.
pub(super) fn no_code(variant: &Variant, error: NoCode) -> TrialError {
    let nest = match &error {
        NoCode::Race { nest, .. } | NoCode::Device { nest, .. } => {
            variant.nests.get(*nest).cloned()
        }
        NoCode::Illegal(violation) => {
            let nest = violation.nest();
            nest.and_then(|k| variant.nests.get(k)).cloned()
        }
        NoCode::Undecided(why) => why.nest().and_then(|k| variant.nests.get(k)).cloned(),
        _ => None,
    };
    TrialError::Code {
        label: variant.label.clone(),
        nest,
        error,
    }
}
