//! `export_kernel`: kernels for other people's programs.

use crate::binding::function::{Effect, Function};
use crate::binding::param::{NESTS, Names, Param};
use crate::verbs;
use rhai::Dynamic;

const NAME: Param<String> = Param::new("name");
const OUTPUTS: Param<Option<Names>> = Param::new("outputs");

pub(super) static EXPORT_KERNEL: Function = Function {
    name: "export_kernel",
    topic: "results",
    effect: Effect::None,
    params: &[NESTS.any(), NAME.any(), OUTPUTS.any()],
    returns: "",
    doc: "\
Exports a nest, a list of nests that run in order, or a program as the function `name` of the
library that `teml build` makes: `export_kernel(plan, \"gemm\")`.

`teml build FILE --out DIR` writes C, a header for C and C++, a shared and a static library, and a
Python package. Before it writes them, it runs each kernel as it was compiled, and compares the
results with the reference. Elsewhere the call only proves the nests and generates their C.

Tensors that a later nest of the list reads are not results, and callers do not see them, unless the
list `outputs` has their names. The outputs of a program are results, also in `nests(program)`.",
    call: |call| {
        let (nests, name) = (call.arg(&NESTS)?, call.arg(&NAME)?);
        // Tensors that are results, even if a later nest reads them.
        let outputs = call
            .arg(&OUTPUTS)?
            .map_or_else(Vec::new, |Names(names)| names);
        let exported = verbs::export(call.bench(), nests, &name, &outputs);
        let exported = exported.map_err(|refusal| call.refused(refusal))?;
        exported.map_err(|why| call.fail(&NAME, &why))?;
        Ok(Dynamic::UNIT)
    },
};
