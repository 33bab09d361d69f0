//! `codegen` and `save`: C as a value, and results as files.

use super::writing;
use crate::binding::call::Call;
use crate::binding::function::{Effect, Function};
use crate::binding::param::{NESTS, Param, arguments, held};
use crate::binding::takes::{Takes, Type};
use crate::ir::Nest;
use crate::messages::fail::Failure;
use crate::values::{Code, Numbers};
use crate::verbs;
use rhai::Dynamic;
use std::sync::Arc;

pub(super) static CODEGEN: Function = Function {
    name: "codegen",
    topic: "results",
    effect: Effect::None,
    params: &[NESTS.up_to(8).any()],
    returns: "code",
    doc: "\
The C function that runs nests in order: `codegen(l)`, `codegen(l1, l2)`, `codegen([l1, l2])`.

A string at the end names the function; otherwise it has the name of the last nest. The nests
are proved to compute what their definition says. If that proof is out of reach, at least
parallel and vector loops are proved. Illegal nests are refused (see `check`, `assume`).
Printing the result shows the C; `save(code, path)` writes it.

The C compiles as C11 and as C++17, and allocates nothing: every tensor that is not local is a
parameter. Results come first, then inputs, each in the order in which the script declares them.
Buffers need no alignment. C that stores
past the caches (`stream`) asks whether they are aligned to 64 bytes; `-DTEML_ALIGNED_TENSORS`
promises it for all of them. Vector loops use the vector types of gcc and clang: `f64xn(x[i])` means
the elements from `x[i]` on that fill a vector register of the target. Link with `-lm`, and compile
with `-fwrapv` if integers may overflow.

Source: TeML §2.",
    call: |call| {
        let (nests, name) = nests_and_name(call)?;
        let kernel = verbs::generate(call.bench(), &nests, name);
        let kernel = kernel.map_err(|refusal| call.refused(refusal))?;
        Ok(Dynamic::from(Code(Arc::new(kernel))))
    },
};

pub(super) static PLAN: Function = Function {
    name: "plan",
    topic: "queries",
    effect: Effect::None,
    params: &[NESTS.up_to(4).any()],
    returns: "text",
    doc: "\
The plan of the C of nests, as pseudo-code: `print(plan(l))`.

It shows the mode of each loop: vectors, threads, unrolled for registers. It also shows where local
tensors are, and what is fetched or stored past the caches. Where a vector loop is left to the
compiler, it says why. Nests are refused as by `codegen`. `teml emit --plan` prints the plans of a
script.",
    call: |call| {
        let (nests, _) = nests_and_name(call)?;
        let plan = verbs::plan(call.bench(), &nests);
        Ok(plan.map_err(|refusal| call.refused(refusal))?.into())
    },
};

fn nests_and_name(call: &Call) -> Result<(Vec<Nest>, Option<String>), Failure> {
    let mut nests = Vec::new();
    let mut name = None;
    for k in 0..call.count() {
        let is_last = k > 0 && k + 1 == call.count();
        let text = call.value(k).filter(|_| is_last);
        match text.and_then(|value| value.into_string().ok()) {
            Some(text) => name = Some(text),
            None => nests.extend(call.nests(k)?),
        }
    }
    Ok((nests, name))
}

const WHAT: Param<Saved> = Param::new("what");
const PATH: Param<String> = Param::new("path");

enum Saved {
    Numbers(Numbers),
    Code(Code),
}

arguments! {
    Saved, "the result of codegen, or a tensor of run", Takes::Value(Type::Other),
        |p| p.read(|v| held(v).map(Saved::Numbers).or_else(|| held(v).map(Saved::Code)));
}

pub(super) static SAVE: Function = Function {
    name: "save",
    topic: "results",
    effect: Effect::Writes,
    params: &[WHAT.any(), PATH.any()],
    returns: "",
    doc: "\
Writes the C of `codegen` to a file, or a tensor that `run` computed to an `.npy` file:
`save(codegen(plan), \"plan.c\")`, `save(run(plan).C, \"c.npy\")`.

Paths are relative to the current directory, which imported modules may not leave. A file that
teml did not write is not overwritten (`:help import`).",
    call: |call| {
        let path = writing::target(call, &PATH)?;
        let emits = !call.workbench().runner.runs();
        let writer = call.workbench().writer();
        let written = match call.arg(&WHAT)? {
            Saved::Numbers(_) if path.extension().is_none_or(|end| end != "npy") => {
                return Err(call.fail(&PATH, "must end with `.npy`, the format of numbers"));
            }
            _ if emits => Ok(()),
            Saved::Numbers(numbers) => writer
                .check(&path)
                .and_then(|()| numbers.save(&path))
                .and_then(|()| writer.wrote(&path)),
            Saved::Code(code) => writer.write(&path, code.0.source()),
        };
        match written {
            Ok(()) => Ok(Dynamic::UNIT),
            Err(error) => Err(call.fail(
                &PATH,
                &format!("cannot be written: {}: {error}", path.display()),
            )),
        }
    },
};
