//! `run`: what nests compute.

use super::code::no_code;
use super::compare::{at_bench, emit, failed_trial, label};
use super::data::Numbers;
use super::prove;
use crate::codegen::Role;
use crate::ir::Tensor;
use crate::runtime::{Array, Values};
use crate::script::call::{Function, Parameter};
use crate::script::workbench::Mode;
use crate::trial::{self, Candidate};
use rhai::{Dynamic, Map};
use std::sync::Arc;

pub(super) static RUN: Function = Function {
    name: "run",
    params: &[Parameter::new("nests")],
    returns: "results",
    doc: "\
Computes and checks a nest, or a list of nests that run in order: `run(plan)`.

The result is a map from the name of each written tensor to its elements, which are checked as
in `compare`: `let out = run(plan); save(out.C, \"c.npy\")`. Printed, they show their first
elements. `init(B, out.C)` makes them the contents of another tensor. Inputs are a pattern of
numbers unless `init` says otherwise. `teml emit` runs nothing, and results are empty there.",
    call: |call| {
        let nests = call.nests(0)?;
        let label = label(&nests).unwrap_or_else(|| "nest".to_owned());
        let candidate = Candidate { label, nests };
        if candidate.nests.is_empty() {
            return Err(call.expected(0, "a nest or a list of nests"));
        }
        let mut results = Map::new();
        let mut add = |tensor: &Tensor, values: Values| {
            let shape = tensor.shape().extents().to_vec();
            let values = Arc::new(values);
            let numbers = Numbers::of_result(Array { shape, values });
            results.insert(tensor.label().into(), Dynamic::from(numbers));
        };
        prove::report(call, &candidate.label, &candidate.nests);
        if call.state().workbench.mode != Mode::Run {
            let kernel = emit(call, &candidate).map_err(|e| no_code(call, e, &candidate.nests))?;
            for param in kernel.params.iter().filter(|p| p.role != Role::In) {
                add(&param.tensor, Values::none(param.tensor.elem()));
            }
            return Ok(results.into());
        }
        let outputs = at_bench(call, |inputs, settings, control, bar| {
            trial::run(&candidate, inputs, settings, control, &|p| bar.show(p))
        });
        let outputs = outputs.map_err(|error| failed_trial(call, error))?;
        for buffer in outputs.iter() {
            add(buffer.tensor(), Values::from(buffer.view()));
        }
        Ok(results.into())
    },
};
