//! `export_kernel`: kernels for other people's programs.

use crate::binding::call::{Call, Effect, Function, Parameter};
use crate::messages::fail::Failure;
use crate::verbs;
use rhai::Dynamic;

pub(super) static EXPORT_KERNEL: Function = Function {
    name: "export_kernel",
    topic: "results",
    effect: Effect::None,
    params: &[
        Parameter::new("nests"),
        Parameter::new("name"),
        Parameter::optional("outputs"),
    ],
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
        let (nests, name) = (call.nests(0)?, call.text(1)?);
        let outputs = outputs(call)?;
        let exported = verbs::export(call.bench(), nests, &name, &outputs);
        let exported = exported.map_err(|refusal| call.refused(refusal))?;
        exported.map_err(|why| call.fail(1, &why))?;
        Ok(Dynamic::UNIT)
    },
};

/// The names of tensors that are results, even if a later nest reads them.
fn outputs(call: &Call) -> Result<Vec<String>, Failure> {
    if call.count() < 3 {
        return Ok(Vec::new());
    }
    call.names_of_tensors(2)
}
