//! `export_kernel`: kernels for other people's programs.

use crate::binding::function::{Effect, Function};
use crate::binding::param::{NESTS, Names, Param};
use crate::verbs;
use rhai::Dynamic;

const NAME: Param<String> = Param::new("name");
const OUTPUTS: Param<Option<Names>> = Param::new("outputs");
const TRANSPOSED: Param<Option<Names>> = Param::new("transposed");

pub(super) static EXPORT_KERNEL: Function = Function {
    name: "export_kernel",
    topic: "results",
    effect: Effect::None,
    params: &[NESTS.any(), NAME.any(), OUTPUTS.any(), TRANSPOSED.any()],
    returns: "",
    doc: "\
Exports a nest, a list of nests that run in order, or a program as the function `name` of the
library that `teml build` makes: `export_kernel(plan, \"gemm\")`.

`teml build FILE --out DIR` writes C, a header for C and C++, a shared and a static library, and a
Python package. Before it writes them, it runs each kernel as it was compiled, and compares the
results with the reference. Elsewhere the call only proves the nests and generates their C.

Tensors that a later nest of the list reads are not results, and callers do not see them, unless the
list `outputs` has their names. The outputs of a program are results, also in `nests(program)`. If
such tensors have sizes, the function with checks takes a workspace for them, or allocates it.

A function takes arrays whose rows are adjacent. `export_kernel(plan, \"gemm\", [], [\"A\"])` after that
gives it a plan for an A that is a transpose, such as `A.T` of NumPy or a matrix of Fortran: there, A
is declared with reversed extents. A second plan whose tensors are `strided(all)` takes the strides
that no other plan takes, such as those of `A[::2]` or `x[::-1]`. The strides of a call decide which
plan runs.",
    call: |call| {
        let (nests, name) = (call.arg(&NESTS)?, call.arg(&NAME)?);
        let names = |list: Option<Names>| list.map_or_else(Vec::new, |Names(names)| names);
        let (outputs, transposed) = (names(call.arg(&OUTPUTS)?), names(call.arg(&TRANSPOSED)?));
        let exported = verbs::export(call.bench(), nests, &name, &outputs, &transposed);
        let exported = exported.map_err(|refusal| call.refused(refusal))?;
        exported.map_err(|why| call.fail(&NAME, &why))?;
        Ok(Dynamic::UNIT)
    },
};
