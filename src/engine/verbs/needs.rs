//! `needs`: the sizes at which nests are legal.

use super::provenance::examine;
use super::refusal::Refusal;
use super::workbench::Bench;
use crate::codegen::NoCode;
use crate::ir::{Condition, Nest};
use crate::legality::{self, Undecided, Verdict};
use crate::trial::Variant;

/// A condition on sizes under which nests compute their definition, found and proved. It is empty
/// if they always do.
///
/// # Errors
/// No condition is found: the nests are illegal, or undecided.
pub fn needs(bench: &Bench, nests: &[Nest]) -> Result<Condition, Refusal> {
    let reductions = bench.lock().reductions();
    let found = legality::needs(nests, reductions);
    let condition = found.map_err(|verdict| {
        let error = match verdict {
            Verdict::Illegal(violation) => NoCode::Illegal(violation),
            Verdict::Undecided(why) => NoCode::Undecided(why),
            Verdict::Legal => NoCode::Undecided(Undecided::NoDefinition),
        };
        Refusal::no_code(&error, nests, reductions)
    })?;
    let narrowed = nests.iter().map(|nest| nest.narrowed(&condition));
    let nests = narrowed.flatten().collect();
    let label = "needs".to_owned();
    examine(bench, &[Variant { label, nests }])?;
    Ok(condition)
}
