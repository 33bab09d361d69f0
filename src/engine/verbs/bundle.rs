//! `bundle`: a comparison as files.

use super::provenance::examine;
use super::refusal::Refusal;
use super::workbench::Bench;
use crate::trial::{self, TrialError, Variant};
use std::io;
use std::path::Path;

/// Writes a comparison to a directory, where `make run` reproduces it without teml. All variants
/// run first. Nothing is written if one is wrong, or if the runner runs nothing. The inner error is
/// the directory's.
///
/// # Errors
/// As [`compare`](fn@super::compare).
pub fn bundle(
    bench: &Bench,
    variants: &[Variant],
    directory: &Path,
) -> Result<io::Result<()>, Refusal> {
    examine(bench, variants)?;
    let (runs, inputs, settings, control, writer) = {
        let bench = bench.lock();
        (
            bench.runner.runs(),
            bench.inputs.clone(),
            bench.settings.clone(),
            bench.control.clone(),
            bench.writer(),
        )
    };
    if !runs {
        return Ok(Ok(()));
    }
    let refused = |error: TrialError| Refusal::of_trial(error, settings.reductions);
    let shipped = trial::rehearse(variants, &inputs, &settings, &control).map_err(refused)?;
    for remark in shipped.remarks {
        bench.lock().print(&format!("warning: {remark}"));
    }
    let files = trial::export(variants, &inputs, &settings, &shipped.preamble).map_err(refused)?;
    let write = || -> io::Result<()> {
        std::fs::create_dir_all(directory)?;
        let mut places = files.iter().map(|file| directory.join(&file.name));
        places.try_for_each(|place| writer.check(&place))?;
        files
            .iter()
            .try_for_each(|file| writer.write(&directory.join(&file.name), &file.contents))
    };
    Ok(write())
}
