//! `run`: what nests compute.

use crate::binding::call::{Effect, Function, Parameter};
use crate::runtime::Array;
use crate::values::Numbers;
use crate::verbs;
use rhai::{Dynamic, Map};
use std::sync::Arc;

pub(super) static RUN: Function = Function {
    name: "run",
    topic: "results",
    effect: Effect::Runs,
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
        if nests.is_empty() {
            return Err(call.expected(0, "a nest or a list of nests"));
        }
        let written = verbs::run(call.bench(), &nests);
        let written = written.map_err(|refusal| call.refused(refusal))?;
        let mut results = Map::new();
        for (tensor, values) in written {
            let shape = tensor.shape().extents().to_vec();
            let values = Arc::new(values);
            let numbers = Numbers::of_result(Array { shape, values });
            results.insert(tensor.label().into(), Dynamic::from(numbers));
        }
        Ok(results.into())
    },
};
