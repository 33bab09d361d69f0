//! `codegen` and `save`: C as a value, and results as files.

use super::check::illegal;
use super::compare::{generates, label};
use super::data::Numbers;
use super::writing;
use super::{Shown, register_shown};
use crate::call::{Call, Function, Parameter};
use crate::codegen::{self, Kernel, NoCode};
use crate::diag;
use crate::fail::Failure;
use crate::ir::Nest;
use crate::trial;
use rhai::Dynamic;
use std::sync::Arc;

/// The C of a kernel, as scripts see it.
#[derive(Clone, Debug)]
pub struct Code(pub Arc<Kernel>);

pub(super) static CODEGEN: Function = Function {
    name: "codegen",
    params: &[
        Parameter::new("nests"),
        Parameter::optional("nests"),
        Parameter::optional("nests"),
        Parameter::optional("nests"),
        Parameter::optional("nests"),
        Parameter::optional("nests"),
        Parameter::optional("nests"),
        Parameter::optional("nests"),
    ],
    returns: "code",
    doc: "\
The C function that runs nests in order: `codegen(l)`, `codegen(l1, l2)`, `codegen([l1, l2])`.

A string at the end names the function; otherwise it has the name of the last nest. The nests
are proved to compute what their definition says. If that proof is out of reach, at least
parallel and vector loops are proved. Illegal nests are refused (see `check`, `assume`).
Printing the result shows the C; `save(code, path)` writes it.

The C compiles as C11 and as C++17, and allocates nothing: every tensor that is not local is a
parameter, nest by nest, its result before its operands. Buffers need no alignment. C that stores
past the caches (`stream`) asks whether they are aligned to 64 bytes; `-DTEML_ALIGNED_TENSORS`
promises it for all of them. Vector loops use the vector types of gcc and clang: `f64xn(x[i])` means
the elements from `x[i]` on that fill a vector register of the target. Link with `-lm`, and compile
with `-fwrapv` if integers may overflow.

Source: TeML §2.",
    call: |call| {
        let (nests, name) = nests_and_name(call)?;
        let label = label(&nests).map_or("kernel".to_owned(), |l| codegen::symbol::from_label(&l));
        let symbol = name.unwrap_or(label);
        let symbol = trial::free_symbol(symbol, &call.state().workbench.generated);
        generates(call, &symbol, &nests)?;
        let settings = call.state().workbench.settings.clone();
        let (reductions, target) = (settings.reductions, &settings.options.target);
        let kernel = codegen::generate_for(&nests, &symbol, reductions, target);
        let kernel = kernel.map_err(|e| no_code(call, e, &nests))?;
        call.state().workbench.generated.push(kernel.clone());
        Ok(Dynamic::from(Code(Arc::new(kernel))))
    },
};

pub(super) static PLAN: Function = Function {
    name: "plan",
    params: &[
        Parameter::new("nests"),
        Parameter::optional("nests"),
        Parameter::optional("nests"),
        Parameter::optional("nests"),
    ],
    returns: "text",
    doc: "\
The plan of the C of nests, as pseudo-code: `print(plan(l))`.

It shows the mode of each loop: vectors, threads, unrolled for registers. It also shows where local
tensors are, and what is fetched or stored past the caches. Where a vector loop is left to the
compiler, it says why. Nests are refused as by `codegen`. `teml emit --plan` prints the plans of a
script.",
    call: |call| {
        let (nests, _) = nests_and_name(call)?;
        let settings = call.state().workbench.settings.clone();
        let (reductions, target) = (settings.reductions, &settings.options.target);
        let kernel = codegen::generate_for(&nests, "kernel", reductions, target);
        let kernel = kernel.map_err(|e| no_code(call, e, &nests))?;
        Ok(kernel.plan.trim_end().to_owned().into())
    },
};

pub(super) fn nests_and_name(call: &Call) -> Result<(Vec<Nest>, Option<String>), Failure> {
    let mut nests = Vec::new();
    let mut name = None;
    for k in 0..call.count() {
        let is_last = k > 0 && k + 1 == call.count();
        match is_last.then(|| call.text(k)) {
            Some(Ok(text)) => name = Some(text),
            _ => nests.extend(call.nests(k)?),
        }
    }
    Ok((nests, name))
}

pub(super) fn no_code(call: &Call, error: NoCode, nests: &[Nest]) -> Failure {
    let help = error.help();
    let failure = call.refuse(&error.to_string());
    let failure = match &error {
        NoCode::Race { nest, race } => match nests.get(*nest) {
            Some(nest) => failure.note(diag::in_nest(nest, std::slice::from_ref(&race.name))),
            None => failure,
        },
        NoCode::Undecided(why) => {
            let nest = why.nest().and_then(|k| nests.get(k));
            match nest.or(nests.first().filter(|_| nests.len() == 1)) {
                Some(nest) => failure.note(diag::in_nest(nest, &why.culprits())),
                None => failure,
            }
        }
        NoCode::Illegal(violation) => {
            let reductions = call.state().workbench.settings.reductions;
            return illegal(failure, violation, nests, reductions);
        }
        _ => failure,
    };
    match help {
        Some(help) => failure.help(help),
        None => failure,
    }
}

pub(super) static SAVE: Function = Function {
    name: "save",
    params: &[Parameter::new("what"), Parameter::new("path")],
    returns: "",
    doc: "\
Writes the C of `codegen` to a file, or a tensor that `run` computed to an `.npy` file:
`save(codegen(plan), \"plan.c\")`, `save(run(plan).C, \"c.npy\")`.

Paths are relative to the current directory, which imported modules may not leave. A file that
teml did not write is not overwritten (`:help import`).",
    call: |call| {
        let path = writing::target(call, 1)?;
        let emits = !call.state().workbench.runner.runs();
        let writer = call.state().workbench.writer();
        let written = match call.get::<Numbers>(0, "") {
            Ok(_) if path.extension().is_none_or(|end| end != "npy") => {
                return Err(call.fail(1, "must end with `.npy`, the format of numbers"));
            }
            Ok(_) if emits => Ok(()),
            Ok(numbers) => writer
                .check(&path)
                .and_then(|()| numbers.save(&path))
                .and_then(|()| writer.wrote(&path)),
            Err(_) => {
                let code: Code = call.get(0, "the result of codegen, or a tensor of run")?;
                if emits {
                    Ok(())
                } else {
                    writer.write(&path, code.0.source())
                }
            }
        };
        match written {
            Ok(()) => Ok(Dynamic::UNIT),
            Err(error) => Err(call.fail(
                1,
                &format!("cannot be written: {}: {error}", path.display()),
            )),
        }
    },
};

/// How code prints.
pub fn register(engine: &mut rhai::Engine) {
    register_shown::<Code>(engine);
}

impl Shown for Code {
    const NAME: &'static str = "code";

    fn full(&self) -> String {
        self.0.source().trim_end().to_owned()
    }

    fn brief(&self) -> String {
        format!("code {}", self.0.symbol)
    }
}
