//! `bundle`: a comparison as files (`export` is a word of Rhai).

use super::compare::{failed_trial, variants};
use super::provenance::examine;
use super::writing;
use crate::call::{Function, Parameter};
use crate::trial;
use rhai::Dynamic;

pub(super) static EXPORT: Function = Function {
    name: "bundle",
    params: &[Parameter::new("variants"), Parameter::new("directory")],
    returns: "",
    doc: "\
Writes a comparison to a directory, where `make run` reproduces `compare(variants)` without
teml.

All variants run first, and nothing is written if one is wrong. The directory gets the C of all
variants, a header, data, a Makefile and a driver. The driver
checks every variant against the untransformed nest and times them in turn. Imported modules
may not leave the current directory, and files that teml did not write are not overwritten
(`:help import`).",
    call: |call| {
        let variants = variants(call)?;
        examine(call, &variants)?;
        let directory = writing::target(call, 1)?;
        let (runs, inputs, settings, control, writer) = {
            let state = call.state();
            let bench = &state.workbench;
            (
                bench.runner.runs(),
                bench.inputs.clone(),
                bench.settings.clone(),
                bench.control.clone(),
                bench.writer(),
            )
        };
        if !runs {
            return Ok(Dynamic::UNIT);
        }
        let shipped = trial::rehearse(&variants, &inputs, &settings, &control);
        let shipped = shipped.map_err(|error| failed_trial(call, error))?;
        for remark in shipped.remarks {
            call.state().print(&format!("warning: {remark}"));
        }
        let files = trial::export(&variants, &inputs, &settings, &shipped.preamble);
        let files = files.map_err(|error| failed_trial(call, error))?;
        let write = || -> std::io::Result<()> {
            std::fs::create_dir_all(&directory)?;
            let mut places = files.iter().map(|file| directory.join(&file.name));
            places.try_for_each(|place| writer.check(&place))?;
            files
                .iter()
                .try_for_each(|file| writer.write(&directory.join(&file.name), &file.contents))
        };
        match write() {
            Ok(()) => Ok(Dynamic::UNIT),
            Err(error) => {
                let directory = directory.display();
                Err(call.fail(1, &format!("cannot be written: {directory}: {error}")))
            }
        }
    },
};
