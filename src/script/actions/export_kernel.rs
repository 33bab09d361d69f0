//! `export_kernel`: kernels for other people's programs.

use super::code::no_code;
use super::compare::generates;
use crate::call::{Function, Parameter};
use crate::codegen::{self, Role};
use crate::package::{self, Exported};
use crate::trial::{self, Variant};
use rhai::Dynamic;

pub(super) static EXPORT_KERNEL: Function = Function {
    name: "export_kernel",
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
        generates(call, &name, &nests)?;
        let settings = call.state().workbench.settings.clone();
        let (reductions, target) = (settings.reductions, &settings.options.target);
        if call
            .state()
            .workbench
            .exported
            .iter()
            .any(|e| e.kernel.symbol == name)
        {
            return Err(call.fail(1, &format!("is taken: `{name}` was exported before")));
        }
        let kernel = codegen::generate_for(&nests, &name, reductions, target);
        let kernel = kernel.map_err(|e| no_code(call, e, &nests))?;
        let label = name;
        let variant = Variant { label, nests };
        let results = trial::results(&variant);
        let written = kernel.params.iter().filter(|p| p.role == Role::Out);
        let names = written.map(|p| p.tensor.label().to_owned());
        let scratch = names.filter(|name| !results.contains(name)).collect();
        let mut state = call.state();
        let exported = Exported {
            kernel,
            nests: variant.nests,
            scratch,
        };
        if let Some(error) = package::kernel_name_error(&exported, &state.workbench.exported) {
            drop(state);
            return Err(call.fail(1, &error));
        }
        state.has_effect = true;
        state.workbench.exported.push(exported);
        Ok(Dynamic::UNIT)
    },
};
