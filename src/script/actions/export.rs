//! `bundle`: a comparison as files (`export` is a word of Rhai).

use super::compare::VARIANTS;
use super::writing;
use crate::binding::function::{Effect, Function};
use crate::binding::param::Param;
use crate::verbs;
use rhai::Dynamic;

const DIRECTORY: Param<String> = Param::new("directory");

pub(super) static EXPORT: Function = Function {
    name: "bundle",
    topic: "results",
    effect: Effect::Writes,
    params: &[VARIANTS.any(), DIRECTORY.any()],
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
        let variants = call.arg(&VARIANTS)?;
        let directory = writing::target(call, &DIRECTORY)?;
        let written = verbs::bundle(call.bench(), &variants, &directory);
        match written.map_err(|refusal| call.refused(refusal))? {
            Ok(()) => Ok(Dynamic::UNIT),
            Err(error) => {
                let directory = directory.display();
                Err(call.fail(
                    &DIRECTORY,
                    &format!("cannot be written: {directory}: {error}"),
                ))
            }
        }
    },
};
