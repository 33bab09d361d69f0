//! `bundle`: a comparison as files (`export` is a word of Rhai).

use super::compare::variants;
use super::writing;
use crate::binding::call::{Effect, Function, Parameter};
use crate::verbs;
use rhai::Dynamic;

pub(super) static EXPORT: Function = Function {
    name: "bundle",
    topic: "results",
    effect: Effect::Writes,
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
        let directory = writing::target(call, 1)?;
        let written = verbs::bundle(call.bench(), &variants, &directory);
        match written.map_err(|refusal| call.refused(refusal))? {
            Ok(()) => Ok(Dynamic::UNIT),
            Err(error) => {
                let directory = directory.display();
                Err(call.fail(1, &format!("cannot be written: {directory}: {error}")))
            }
        }
    },
};
