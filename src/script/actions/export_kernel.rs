//! `export_kernel`: kernels for other people's programs.

use crate::binding::call::{Effect, Function, Parameter};
use crate::verbs;
use rhai::Dynamic;

pub(super) static EXPORT_KERNEL: Function = Function {
    name: "export_kernel",
    topic: "results",
    effect: Effect::None,
    params: &[Parameter::new("nests"), Parameter::new("name")],
    returns: "",
    doc: "\
Exports a nest, or a list of nests that run in order, as the function `name` of the library that
`teml build` makes: `export_kernel(plan, \"gemm\")`.

`teml build FILE --out DIR` writes C, a header for C and C++, a shared and a static library, and a
Python package. Before it writes them, it runs each kernel as it was compiled, and compares the
results with the reference. Elsewhere the call only proves the nests and generates their C. Shapes
are fixed.
Tensors that a later nest of the list reads are memory for the kernel, not results.",
    call: |call| {
        let (nests, name) = (call.nests(0)?, call.text(1)?);
        let exported = verbs::export(call.bench(), nests, &name);
        let exported = exported.map_err(|refusal| call.refused(refusal))?;
        exported.map_err(|why| call.fail(1, &why))?;
        Ok(Dynamic::UNIT)
    },
};
